"""The solvers we add have the order they state, and keep it across impacts, cut steps, chunks and
derivatives.
"""

import dataclasses
import functools

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall import SimPlan, simulate
from footfall.engines import simulate as simulate_module
from footfall.engines.analysis.return_map import to_section
from footfall.engines.events import adams_bashforth
from footfall.engines.events.adams_bashforth import AdamsBashforth
from footfall.engines.events.multirate import Multirate
from footfall.engines.events.rosenbrock import Rodas4
from footfall.engines.events.runge_kutta import RungeKutta4
from footfall.engines.events.solvers import SOLVER_DOCS, SOLVERS, solver_by_name
from footfall.hybrid.fields import port, signal, store
from footfall.hybrid.system import Event, Jump, Rates
from footfall.scenario.schema import SimTable
from support.toys import AbstractToy, Ball, Count, Height, NoPower, NoWork

# --- on their own ---------------------------------------------------------------------------------


@functools.partial(jax.jit, static_argnames=("solver", "field"))
def _walk(solver, field, y0, steps, count, jump_before, told):
    term = diffrax.ODETerm(lambda s, y, at: field(at[0] + s, y, at[1]))

    def one(i, carry):
        t, y, state, seen = carry
        jumped, at = told & (i == jump_before), (t, i >= jump_before)
        y, _, _, state, _ = solver.step(term, jnp.zeros(()), steps[i], y, at, state, jumped)
        return t + steps[i], y, state, seen.at[i].set(y)

    state = solver.init(term, 0.0, steps[0], y0, (jnp.zeros(()), jnp.zeros((), bool)))
    seen = jnp.zeros((len(steps), len(y0)))
    return jax.lax.fori_loop(0, count, one, (jnp.zeros(()), y0, state, seen))[3]


def walk(solver, field, y0, steps, jump_before=10**6, told=True):
    """States after each of the steps, taken as the event engine takes them: the clock of every step
    starts at zero.

    The field is field(t, y, jumped): it may be another one from the step `jump_before` on, of which
    the solver is told or not."""
    steps = np.asarray(steps, float)
    room = 512 if len(steps) <= 512 else 20000  # so that few programs are compiled
    padded = np.concatenate([steps, np.zeros(room - len(steps))])
    return np.asarray(
        _walk(solver, field, jnp.asarray(y0, float), padded, len(steps), jump_before, told)
    )[: len(steps)]


def driven_pendulum(t, y, jumped=False):
    return jnp.stack([y[1], -jnp.sin(y[0]) - 0.1 * y[1] ** 3 + 0.3 * jnp.cos(2.0 * t)])


PENDULUM = (1.0, 0.5)


@functools.cache
def pendulum_at(t):
    """Tight Runge-Kutta: 4000 steps of 5e-4 have an error of about 1e-14."""
    return walk(RungeKutta4(), driven_pendulum, PENDULUM, np.full(4000, t / 4000))[-1]


def orders(errors):
    return np.log2(errors[:-1] / errors[1:])


@pytest.mark.parametrize("order", range(1, 6))
def test_adams_bashforth_is_exact_for_polynomials_of_its_order_whatever_the_steps(order):
    """Steps up to five times longer and shorter than the one before; the order - 1 Runge-Kutta
    steps of the start are left out.
    """
    steps = np.random.default_rng(order).uniform(0.02, 0.1, 30)
    ends = np.cumsum(steps)

    def gap(degree):
        """Between what the steps after the start add to t^degree, from its slope, and what they
        should.
        """
        y = walk(
            AdamsBashforth(order),
            lambda t, y, jumped: degree * t ** (degree - 1) + 0.0 * y,
            [0.0],
            steps,
        )[:, 0]
        first = order - 1
        return np.max(np.abs((y - y[first]) - (ends**degree - ends[first] ** degree))[first:])

    scale = ends[-1] ** order
    # Rounding, times the largest sum of weights (about 100) and 30 steps.
    assert gap(order) <= 1e-12 * scale
    assert gap(order + 1) > 1e-6 * scale  # and not by chance: a degree more is not exact


@pytest.mark.parametrize(
    ("solver", "order"),
    [*((AdamsBashforth(p), p) for p in range(1, 6)), (RungeKutta4(), 4), (Rodas4(), 4)],
    ids=str,
)
def test_error_falls_with_the_stated_order(solver, order):
    exact = pendulum_at(2.0)
    counts = np.array([80, 160, 320])
    errors = np.array(
        [
            np.max(np.abs(walk(solver, driven_pendulum, PENDULUM, np.full(n, 2.0 / n))[-1] - exact))
            for n in counts
        ]
    )
    # the next term of the error is a step, 0.0125 to 0.025, times a factor of up to ten smaller
    np.testing.assert_allclose(orders(errors), order, atol=0.25)


@pytest.mark.parametrize("order", [2, 4, 5])
def test_cut_steps_keep_the_order(order):
    """Every sixth step is cut to a third and the rest follows, as at a guard that arms or a tick
    that changes nothing.
    """
    exact = pendulum_at(2.0)
    errors = []
    for n in (80, 160, 320):
        steps = (
            np.concatenate([[1 / 3, 2 / 3] if i % 6 == 5 else [1.0] for i in range(n)]) * 2.0 / n
        )
        errors.append(
            np.max(
                np.abs(walk(AdamsBashforth(order), driven_pendulum, PENDULUM, steps)[-1] - exact)
            )
        )
    np.testing.assert_allclose(orders(np.array(errors)), order, atol=0.25)  # as for equal steps


def switched(t, y, jumped):
    """The pendulum before the jump, another one after it."""
    return jnp.where(jumped, jnp.stack([y[1], -9.0 * jnp.sin(y[0]) - 2.0]), driven_pendulum(t, y))


def test_slopes_of_before_a_jump_spoil_the_order_unless_the_solver_is_told():
    """The field changes half-way; `made_jump` says so, or (the mutant) never."""
    exact = walk(RungeKutta4(), switched, PENDULUM, np.full(4000, 5e-4), jump_before=2000)[-1]

    def errors(told):
        ends = [
            walk(AdamsBashforth(4), switched, PENDULUM, np.full(n, 2.0 / n), n // 2, told)[-1]
            for n in (80, 160, 320)
        ]
        return np.max(np.abs(np.array(ends) - exact), axis=1)

    np.testing.assert_allclose(orders(errors(told=True)), 4.0, atol=0.25)
    # A few steps with wrong slopes: an error of h.
    np.testing.assert_allclose(orders(errors(told=False)), 1.0, atol=0.25)


def slopes_taken(solver, steps, jump_before=10**6):
    """How often the field is evaluated in a compiled run."""
    seen = []

    def field(t, y, jumped):
        jax.debug.callback(lambda: seen.append(1))
        return driven_pendulum(t, y)

    walk(solver, field, PENDULUM, steps, jump_before)
    jax.effects_barrier()
    return len(seen)


def test_adams_bashforth_takes_one_slope_a_step_once_it_has_started():
    """One at the very start, one for each step's end, four more for each of three Runge-Kutta
    steps: at the start and at a jump.
    """
    solver, steps = AdamsBashforth(4), np.full(40, 0.01)
    assert slopes_taken(solver, steps) == 1 + 40 + 3 * 4
    assert slopes_taken(solver, steps, jump_before=20) == 1 + 40 + 6 * 4
    cut = np.where(np.arange(40) % 5 == 0, 0.003, 0.01)
    assert slopes_taken(solver, cut) == 1 + 40 + 3 * 4  # a cut step is no restart


def test_a_tiny_step_does_not_blow_up_the_next_one(monkeypatch):
    """A step of 1e-12 of the others bunches the history.

    Its slopes differ in their last digits only, and the weights are 1e12.
    """
    exact = pendulum_at(2.0)

    def error(solver, steps):
        return np.max(np.abs(walk(solver, driven_pendulum, PENDULUM, steps)[-1] - exact))

    steps = np.full(400, 0.005)
    broken = np.insert(steps, 200, 5e-15)
    plain = error(AdamsBashforth(4), steps)
    # A few Runge-Kutta steps in between change the error a little.
    assert error(AdamsBashforth(4), broken) < 1.5 * plain
    monkeypatch.setattr(adams_bashforth, "MOST_WEIGHT", np.inf)
    _walk.clear_cache()
    assert error(AdamsBashforth(4), broken) > 10 * plain
    _walk.clear_cache()


def test_adams_bashforth_of_order_one_is_euler_and_all_work_in_diffrax_itself():
    term = diffrax.ODETerm(lambda t, y, args: driven_pendulum(t, y))

    def solved(solver):
        return diffrax.diffeqsolve(term, solver, 0.0, 1.0, 0.02, jnp.asarray(PENDULUM)).ys[-1]

    # The same sums.
    np.testing.assert_allclose(solved(AdamsBashforth(1)), solved(diffrax.Euler()), rtol=1e-13)
    walked = walk(AdamsBashforth(4), driven_pendulum, PENDULUM, np.full(50, 0.02))[-1]
    # The same but for rounding of the clock.
    np.testing.assert_allclose(solved(AdamsBashforth(4)), walked, rtol=1e-12)


@pytest.mark.parametrize(
    "solver", [AdamsBashforth(4), Multirate(5e-3, fast=(False, True)), Rodas4()], ids=str
)
def test_lanes_and_forward_derivatives_go_through(solver):
    """A batch gives what each gives alone, and jvp what differences give."""
    steps = jnp.asarray(np.where(np.arange(30) % 4 == 0, 0.01, 0.04))

    def end(y0):
        term = diffrax.ODETerm(lambda s, y, base: driven_pendulum(base + s, y))

        def one(carry, length):
            t, y, state = carry
            y, _, _, state, _ = solver.step(term, jnp.zeros(()), length, y, t, state, t > 10.0)
            return (t + length, y, state), None

        state = solver.init(term, 0.0, 0.1, y0, jnp.zeros(()))
        return jax.lax.scan(one, (jnp.zeros(()), y0, state), steps)[0][1]

    y0, along = jnp.asarray(PENDULUM), jnp.array([0.6, -0.8])
    alone, tangent = jax.jit(lambda y: jax.jvp(end, (y,), (along,)))(y0)
    batch = jax.jit(jax.vmap(end))(jnp.stack([y0, y0 + 1e-5 * along, y0 - 1e-5 * along]))
    np.testing.assert_allclose(batch[0], alone, rtol=1e-13)  # rounding
    # Central difference: 1e-10 and rounding 1e-11.
    np.testing.assert_allclose((batch[1] - batch[2]) / 2e-5, tangent, rtol=1e-8)


# --- two time scales ------------------------------------------------------------------------------

RATE = 100.0


def two_scales(t, y, jumped=False):
    """A slow pendulum pushed by a fast follower: dz/dt = -100 (z - sin(2 x + t))."""
    return jnp.stack([y[1], -jnp.sin(y[0]) + 0.5 * y[2], -RATE * (y[2] - jnp.sin(2.0 * y[0] + t))])


#: The follower where it settles, up to its rate squared: no transient that a coarse step cannot
#: see.
SETTLED = (1.0, 0.5, np.sin(2.0) - 2.0 * np.cos(2.0) / RATE)


@pytest.mark.parametrize("slopes", [1, 2, 3])
def test_multirate_has_one_order_more_than_slopes_at_steps_the_fast_state_could_not_take(slopes):
    """Coarse steps of 0.04 to 0.01 s:

    Runge-Kutta is unstable above 2.8 / 100 s. Fine steps of 2e-4 s err by 1e-10.
    """
    exact = walk(RungeKutta4(), two_scales, SETTLED, np.full(20000, 1e-4))[-1]
    solver = Multirate(2e-4, slopes).for_states([False, False, True])
    counts = (50, 100, 200)
    errors = np.array(
        [np.abs(walk(solver, two_scales, SETTLED, np.full(n, 2.0 / n))[-1] - exact) for n in counts]
    )
    # 0.35: the follower's lag is not small against the coarser steps, so its terms of higher order
    # still show
    np.testing.assert_allclose(orders(errors[:, :2].max(axis=1)), slopes + 1, atol=0.35)
    unstable = walk(RungeKutta4(), two_scales, SETTLED, np.full(50, 0.04))[-1]
    assert not np.max(np.abs(unstable - exact)) < 1e3


def test_multirate_interpolates_with_fourth_order_through_the_middle_of_its_step():
    solver = Multirate(1e-3).for_states([False, False, True])
    term = diffrax.ODETerm(lambda t, y, args: two_scales(t, y))
    y0 = jnp.asarray(SETTLED)

    @jax.jit
    def inside(length):
        state = solver.init(term, 0.0, length, y0, None)
        y1, _, dense, _, _ = solver.step(term, jnp.zeros(()), length, y0, None, state, True)
        curve = solver.interpolation_cls(t0=jnp.zeros(()), t1=length, **dense)
        return (
            jnp.stack([curve.evaluate(f * length) for f in (0.0, 0.25, 0.5, 0.75, 1.0)]),
            dense["middle"],
            y1,
        )

    def error(length):
        seen, middle, y1 = inside(length)
        np.testing.assert_array_equal(seen[0], y0)
        np.testing.assert_allclose(seen[2], middle, rtol=1e-14)
        np.testing.assert_allclose(seen[4], y1, rtol=1e-14)
        exact = walk(RungeKutta4(), two_scales, SETTLED, np.full(64, float(length) / 64))
        return np.max(np.abs(seen[1:4] - exact[[15, 31, 47]]))

    # a cubic: 16 for a smooth curve; the follower's remaining transient takes part
    assert error(jnp.asarray(0.04)) / error(jnp.asarray(0.02)) > 10.0


def test_rodas_damps_what_is_infinitely_stiff_and_its_error_estimate_is_of_third_order():
    """L-stable: one step of 1e7 time constants lands on the slow solution, where a Runge-Kutta step
    would be at 1e26.
    """

    def follow(t, y, jumped):
        return -1e8 * (y - jnp.cos(t))

    end = walk(Rodas4(), follow, [5.0], [0.1])[-1]
    assert abs(end[0] - np.cos(0.1)) < 1e-5  # 4 / 1e7 times the coefficients, which are up to 34
    term = diffrax.ODETerm(lambda t, y, args: driven_pendulum(t, y))
    estimate = jax.jit(
        lambda h: Rodas4().step(term, jnp.zeros(()), h, jnp.asarray(PENDULUM), None, None, False)[1]
    )
    ratio = np.max(np.abs(estimate(0.1))) / np.max(np.abs(estimate(0.05)))
    assert 12.0 < ratio < 20.0  # the embedded method is of order 3: h^4


# --- in the event engine --------------------------------------------------------------------------


class Bouncer(Ball):
    """A ball on a spring in dense air.

    Smooth, and without a closed form, so that orders can be seen.
    """

    def flow(self, t, x, m):
        pull = -self.gravity - 4.0 * x.x - 0.3 * x.v * jnp.sqrt(1.0 + x.v**2)
        return Rates(Height(x=x.v, v=pull), NoPower(none=0.0 * x.v))


BOUNCER, DROPPED = Bouncer(restitution=0.8), Ball.begin(Height(x=1.0, v=0.0))


def bounced(solver, step, **more):
    return simulate(
        BOUNCER, DROPPED, SimPlan(duration=1.6, sample_rate=None, solver=solver, step=step), **more
    )


@pytest.fixture(scope="module")
def bounced_exactly():
    fine = simulate(
        BOUNCER, DROPPED, SimPlan(duration=1.6, sample_rate=None, rtol=1e-13, atol=1e-14)
    )
    assert len(fine.events) == 3
    return fine


def bounce_errors(solver, exact, counts):
    errors = []
    for n in counts:
        run = bounced(solver, 1.6 / n)
        assert len(run.events) == len(exact.events)
        times = [a.t - b.t for a, b in zip(run.events, exact.events, strict=True)]
        errors.append(
            np.max(
                np.abs([*times, *(run.ending.state[k] - exact.ending.state[k] for k in ("x", "v"))])
            )
        )
    return np.array(errors)


@pytest.mark.parametrize("order", [2, 4, 5])
def test_adams_bashforth_keeps_its_order_across_an_impact(order, bounced_exactly):
    """Three bounces, each inside a step that is cut there.

    Event times, height and speed at the end.
    """
    errors = bounce_errors(AdamsBashforth(order), bounced_exactly, (400, 800, 1600))
    # Where in its step a bounce falls differs from step to step, so that ratios scatter a little.
    np.testing.assert_allclose(orders(errors), order, atol=0.25)


def test_history_survives_the_boundaries_of_compiled_chunks(monkeypatch):
    whole = bounced(AdamsBashforth(4), 0.005)
    monkeypatch.setattr(simulate_module, "TRIES_PER_CALL", 7)
    calls = []
    pieces = bounced(AdamsBashforth(4), 0.005, progress=lambda t, jumps: calls.append(t))
    assert len(calls) > 30
    assert pieces.ending.state == whole.ending.state  # to the last bit
    assert [e.t for e in pieces.events] == [e.t for e in whole.events]


def test_forward_derivatives_of_an_adams_bashforth_run_equal_differences():
    """From a drop to just after the second bounce: through start steps, cut steps and events.

    The tangent of an event's time follows the field, not the formula of the step that led there;
    the two differ by the method's own error, about 1e-9 at this step."""
    plan = SimPlan(duration=3.0, solver=AdamsBashforth(4), step=0.002)

    def section(height):
        reached = to_section(BOUNCER, Ball.begin(Height(x=height, v=0.0)), "bounce", plan, count=2)
        return jnp.stack([reached.x.v, reached.t])

    d = 1e-5
    at, above, below = (
        jax.jvp(section, (jnp.asarray(h),), (jnp.ones(()),)) for h in (1.0, 1.0 + d, 1.0 - d)
    )
    # central difference: 1e-10 of truncation, and events known to 1e-12 over 2e-5
    np.testing.assert_allclose(at[1], (above[0] - below[0]) / (2 * d), rtol=3e-7)


class HopperState(eqx.Module):
    y: float = signal(unit="m", doc="height of the body")
    v: float = signal(unit="m/s", doc="its speed", rate_of="y")
    q: float = signal(unit="m", doc="length of the foot", fast=True)


class HopperPower(eqx.Module):
    damper: float = port(kind="loss", doc="in the foot's damper")


class HopperStores(eqx.Module):
    kinetic: float = store(doc="of the body")
    gravity: float = store(doc="its height")
    spring: float = store(doc="in the foot")


class Hopper(AbstractToy):
    """A body of 1 kg on a massless foot of length q: a spring k beside a damper c, with the time
    constant c/k = 1 ms.

    In the air the foot goes back to its own length. On the ground its tip, at height y - q, presses
    into a bed of stiffness K = 4 k; foot and bed carry the same force, c dq/dt = k (L - q) - K
    depth."""

    SPRING, DAMPER, BED, LENGTH = 2000.0, 2.0, 8000.0, 0.1

    @property
    def events(self):
        return (
            Event("touch", "the tip meets the ground", contact=True, restarts=("lift",)),
            Event("lift", "the tip leaves it", restarts=("touch",)),
        )

    def _push(self, x):
        """Force of the bed on the tip."""
        return self.BED * jnp.maximum(x.q - x.y, 0.0)

    def flow(self, t, x, m):
        shorten = (self._push(x) - self.SPRING * (self.LENGTH - x.q)) / self.DAMPER
        rates = HopperState(y=x.v, v=self._push(x) - 10.0, q=-shorten)
        return Rates(rates, HopperPower(damper=-self.DAMPER * shorten**2))

    def guards(self, t, x, m):
        return (x.y - x.q, x.q - x.y)

    def jump(self, t, x, m, k):
        return Jump(x, Count(n=m.n + 1), NoWork(none=0.0 * x.y))

    def stores(self, t, x, m):
        bed = 0.5 * self.BED * jnp.maximum(x.q - x.y, 0.0) ** 2
        return HopperStores(
            kinetic=0.5 * x.v**2,
            gravity=10.0 * x.y,
            spring=0.5 * self.SPRING * (self.LENGTH - x.q) ** 2 + bed,
        )

    def outputs(self, t, x, m):
        return Ball().outputs(t, Height(x=x.y, v=x.v), m)


def hopped(solver, step=None, **more):
    start = AbstractToy.begin(HopperState(y=0.15, v=0.0, q=0.1))
    return simulate(
        Hopper(), start, SimPlan(duration=0.5, sample_rate=None, solver=solver, step=step, **more)
    )


def test_multirate_takes_far_fewer_steps_than_its_fine_step_and_agrees():
    fine, coarse, halved = (
        hopped(RungeKutta4(), 2e-5),
        hopped(Multirate(2e-5), 1e-3),
        hopped(Multirate(2e-5), 5e-4),
    )
    assert len(fine.events) == len(coarse.events) == len(halved.events) >= 4
    # 25000 steps against 500; events, their start and their search take some more
    assert fine.ending.steps > 24000 and coarse.ending.tried < 800

    def gap(run):
        return max(abs(run.ending.state[k] - fine.ending.state[k]) for k in ("y", "v"))

    # third order: (1e-3)^3 times the cube of the bed's rate, sqrt(8000) = 90 1/s, over two contacts
    # at about 1 m/s
    assert gap(coarse) < 1e-3
    assert gap(halved) < gap(coarse) / 6.0  # 8, up to where in its step a touch-down falls
    assert halved.ledger.relative_residual < coarse.ledger.relative_residual / 6.0 < 1e-4


class Landing(Ball):
    """The ball with a floor that counts as ground."""

    @property
    def events(self):
        return (Event("bounce", "the ball meets the floor", contact=True),)


@pytest.mark.parametrize("step", [0.01, None], ids=["constant", "adaptive"])
def test_steps_are_short_while_a_tip_is_near_the_ground(step):
    """From 1 m, until the ball is up again.

    Below 0.2 m for the last part of the fall and the first of the rise.
    """
    room, near = 0.2, 1e-3
    fall, entered = np.sqrt(0.2), np.sqrt(0.16)
    up = np.sqrt(20.0) * 0.9
    left = (up - np.sqrt(up**2 - 20.0 * room)) / 10.0  # on the way up: up s - 5 s^2 = 0.2
    solver = diffrax.Bosh3() if step is None else AdamsBashforth(2)
    far = SimPlan(
        duration=fall + up / 10.0, sample_rate=None, solver=solver, step=step, max_step=0.01
    )
    plan = dataclasses.replace(far, near_room=room, near_step=near)
    run = simulate(Landing(restitution=0.9), DROPPED, plan)
    assert len(run.events) == 1
    expected = (fall - entered + left) / near + (plan.duration - (fall - entered + left)) / 0.01
    # ten near steps for the far one that reaches into the room, two for the cut at the floor; a few
    # to start an adaptive run
    assert expected - 11 <= run.ending.steps <= expected + (3 if step else 12)
    assert simulate(Landing(restitution=0.9), DROPPED, far).ending.steps < 0.6 * expected


class FootState(eqx.Module):
    x: float = signal(unit="m", doc="body")
    v: float = signal(unit="m/s", doc="its speed", rate_of="x")
    q: float = signal(unit="m", doc="foot")
    w: float = signal(unit="m/s", doc="its speed", rate_of="q")


class Slider(AbstractToy):
    """A shaken body drags a light foot over ground with regularised friction; every 0.1 s the foot
    is lifted or set down.
    """

    @property
    def events(self):
        return (Event("switch", "set down or lifted"),)

    def flow(self, t, x, m):
        spring = 400.0 * (x.x - x.q) + 2.0 * (x.v - x.w)
        friction = jnp.where(m.n % 2 == 0, -2.0, 0.0) * jnp.tanh(x.w / 0.01)
        rates = FootState(
            x=x.v, v=(1.5 * jnp.sin(20.0 * t) - spring) / 0.25, q=x.w, w=(spring + friction) / 2e-3
        )
        return Rates(rates, NoPower(none=friction * x.w))

    def guards(self, t, x, m):
        return (0.1 * (m.n + 1) - t,)

    def jump(self, t, x, m, k):
        return Jump(x, Count(n=m.n + 1), NoWork(none=0.0 * x.x))


@functools.cache
def slid(solver, rtol):
    start = AbstractToy.begin(FootState(x=0.0, v=0.1, q=0.0, w=0.1))
    return simulate(
        Slider(),
        start,
        SimPlan(duration=0.5, sample_rate=None, solver=solver, rtol=rtol, atol=1e-2 * rtol),
    )


def missed(run):
    exact = slid(diffrax.Tsit5(), 1e-10)
    return max(abs(run.ending.state[k] - exact.ending.state[k]) for k in ("x", "v", "q", "w"))


def test_rodas_takes_a_stiff_foot_with_friction_in_few_steps():
    """Friction's rate is 2 / 0.01 / 2e-3 = 1e5 1/s.

    An explicit method of order 5 needs a step every 3.3e-5 s to be stable.
    """
    stiff = slid(Rodas4(), 1e-6)
    assert slid(diffrax.Tsit5(), 1e-10).ending.tried > 3000 and stiff.ending.tried < 1500
    assert missed(stiff) < 1e-6  # an error of 1e-6 a step, damped by friction within milliseconds


def test_patient_newton_saves_the_steps_that_a_third_iteration_would_have_saved():
    hasty = slid(diffrax.Kvaerno5(root_finder=diffrax.VeryChord(rtol=1e-6, atol=1e-8)), 1e-6)
    patient = slid(solver_by_name("kvaerno5"), 1e-6)
    assert patient.ending.tried < 0.7 * hasty.ending.tried
    assert missed(patient) < 1e-6 and missed(hasty) < 1e-6


def test_newton_follows_the_tolerance_of_the_run_without_another_program():
    loose, tight = (missed(slid(solver_by_name("kvaerno5"), rtol)) for rtol in (1e-4, 1e-8))
    before = simulate_module._start_and_advance._cache_size()
    slid(solver_by_name("kvaerno5"), 1e-7)
    assert simulate_module._start_and_advance._cache_size() == before
    # Newton left at 1e-4 would leave an error of about that size in the tight run too.
    assert tight < 1e-2 * loose


# --- at the door ----------------------------------------------------------------------------------


def test_every_solver_has_a_name_a_meaning_and_a_plan():
    assert set(SOLVER_DOCS) == set(SOLVERS) and all(len(doc) > 10 for doc in SOLVER_DOCS.values())
    for name in SOLVERS:
        plan = SimTable(solver=name, step=1e-3, fine_step=2e-5).plan()
        assert plan.solver == solver_by_name(name, 2e-5)
    assert SimTable(
        solver="multirate", step=1e-3, fine_step="20 us"
    ).plan().solver.fine_step == pytest.approx(2e-5)
    assert SimTable(solver="adams-bashforth-3", step=1e-3).plan().solver == AdamsBashforth(3)
    plan = SimTable(near_room="5 mm", near_step=1e-4).plan()
    assert (plan.near_room, plan.near_step) == (5e-3, 1e-4)


def test_what_makes_no_sense_is_refused_with_a_reason():
    with pytest.raises(ValueError, match=r"cannot estimate its error: give a constant `step`"):
        SimPlan(solver=AdamsBashforth(4))
    with pytest.raises(ValueError, match=r"orders are 1 to 5"):
        AdamsBashforth(6)
    with pytest.raises(ValueError, match=r"fine_step = 0 s must be a positive"):
        Multirate(0.0)
    with pytest.raises(ValueError, match=r"slopes = 7 must be 1 to 3"):
        Multirate(slopes=7)
    for half in ({"near_room": 0.1}, {"near_step": 1e-4}):
        with pytest.raises(ValueError, match=r"give both or neither"):
            SimPlan(**half)
    with pytest.raises(ValueError, match=r"near_step = -1 s is out of range"):
        SimPlan(near_room=0.1, near_step=-1.0)
    with pytest.raises(ValueError, match=r'Did you mean "adams-bashforth-4"'):
        solver_by_name("adams-bashfort-4")
    with pytest.raises(ValueError, match=r"multirate: Ball has no fast states"):
        simulate(Ball(), DROPPED, SimPlan(solver=Multirate(), step=1e-3))
    with pytest.raises(ValueError, match=r"which of 2 states are fast"):
        walk(Multirate(), driven_pendulum, PENDULUM, [0.1])
