"""Toys and wheels for the step engine.

One compiled kernel serves many cases, because a case is a lane with its own numbers.
"""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import footfall as ff
from footfall.engines.kernels.targets.simd import compiler
from footfall.engines.lanes import batch, batch_results
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.hybrid.fields import param, signal
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import Event, HybridState, Jump, Rates
from footfall.numerics.scalar import Scalar
from support.toys import AbstractToy, Ball, Height, NoPower, NoWork, Scalar1

# --- guards that are cubics in time, with the lane's own coefficients -----------------------------


class Diary(eqx.Module):
    """What happened, as discrete state."""

    offset: float = signal(doc="added to guard b")
    order: float = signal(doc="events so far as decimal digits: 1 a, 2 b, 3 c")
    a: int = signal(doc="events a")
    b: int = signal(doc="events b")
    first_a: float = signal(unit="s", doc="time of the first a")
    last_a: float = signal(unit="s", doc="time of the last a")
    first_b: float = signal(unit="s", doc="time of the first b")
    last_b: float = signal(unit="s", doc="time of the last b")


class Curves(AbstractToy):
    """x(t) = t. Guards a and b are cubics in x, b with an offset that a and c may push; c fires
    once and restarts b. Jumps only write.
    """

    a0: float = param(1e3, doc="guard a")
    a1: float = param(0.0, doc="guard a")
    a2: float = param(0.0, doc="guard a")
    a3: float = param(0.0, doc="guard a")
    b0: float = param(1e3, doc="guard b")
    b1: float = param(0.0, doc="guard b")
    b2: float = param(0.0, doc="guard b")
    b3: float = param(0.0, doc="guard b")
    c0: float = param(1e3, doc="time of event c")
    push_a: float = param(0.0, doc="what a adds to the offset")
    push_c: float = param(0.0, doc="what c adds to the offset")

    @property
    def events(self):
        return (
            Event("a", "curve a at zero"),
            Event("b", "curve b at zero"),
            Event("c", "time", restarts=("b",)),
        )

    def flow(self, t, x, m):
        return Rates(Scalar1(x=1.0 + 0.0 * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        s = x.x
        a = self.a0 + s * (self.a1 + s * (self.a2 + s * self.a3))
        b = self.b0 + s * (self.b1 + s * (self.b2 + s * self.b3)) + m.offset
        return (a, b, self.c0 - s)

    def jump(self, t, x, m, k):
        order = 10.0 * m.order + (k + 1.0)
        if k == 0:
            m = Diary(
                m.offset + self.push_a,
                order,
                m.a + 1,
                m.b,
                jnp.where(m.a == 0, t, m.first_a),
                t,
                m.first_b,
                m.last_b,
            )
        elif k == 1:
            m = Diary(
                m.offset,
                order,
                m.a,
                m.b + 1,
                m.first_a,
                m.last_a,
                jnp.where(m.b == 0, t, m.first_b),
                t,
            )
        else:
            m = Diary(
                m.offset + self.push_c, order, m.a, m.b, m.first_a, m.last_a, m.first_b, m.last_b
            )
        return Jump(x, m, NoWork(none=0.0 * x.x))


def curve(roots, scale):
    """Coefficients of scale times the product of (x - root), lowest first, padded to a cubic."""
    coefficients = np.array([scale])
    for root in roots:
        coefficients = np.convolve(coefficients, [-root, 1.0])
    return np.concatenate([coefficients, np.zeros(4 - len(coefficients))])


def curves(cases):
    """A batch with one lane for each case:

    {a: (roots, scale), b: ..., c0: ..., push_a: ..., push_c: ...}.
    """
    columns = {
        name: []
        for name in ("a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3", "c0", "push_a", "push_c")
    }
    for case in cases:
        for letter in "ab":
            values = curve(*case[letter]) if letter in case else [1e3, 0.0, 0.0, 0.0]
            for n, value in enumerate(values):
                columns[f"{letter}{n}"].append(value)
        columns["c0"].append(case.get("c0", 1e3))
        for name in ("push_a", "push_c"):
            columns[name].append(case.get(name, 0.0))
    system = Curves(**{name: np.array(values) for name, values in columns.items()})
    nan = np.nan * np.ones(len(cases))
    empty = Diary(0.0 * nan, 0.0, np.int32(0), np.int32(0), -1.0, -1.0, -1.0, -1.0)
    empty = eqx.tree_at(lambda d: d.offset, empty, np.zeros(len(cases)))
    return system, HybridState(Scalar1(x=np.zeros(len(cases))), empty)


# --- lanes that go bad ----------------------------------------------------------------------------


class Ticks(eqx.Module):
    n: int = signal(doc="ticks of the first clock")
    slow: int = signal(doc="ticks of the second clock")
    events: int = signal(doc="events")


class Poison(AbstractToy):
    """x(t) = t, an event at 0.43, a clock of 0.1 s and one of 0.25 s; from a time of its own each
    piece gives NaN.
    """

    flow_from: float = param(1e3, doc="time from which the flow is not a number")
    guard_from: float = param(1e3, doc="the same for the guard")
    jump_from: float = param(1e3, doc="for the jump")
    tick_from: float = param(1e3, doc="for the tick")

    @property
    def events(self):
        return (
            Event("once", "x at 0.43"),
            Event("fast", "a clock", period=0.1),
            Event("slow", "another clock", period=0.25),
        )

    def flow(self, t, x, m):
        return Rates(
            Scalar1(x=1.0 + jnp.where(x.x > self.flow_from, np.nan, 0.0)), NoPower(none=0.0 * x.x)
        )

    def guards(self, t, x, m):
        room = 0.43 - x.x + jnp.where(x.x > self.guard_from, np.nan, 0.0)
        return (room, 0.1 * m.n - t, 0.25 * m.slow - t)

    def jump(self, t, x, m, k):
        since = (self.jump_from, self.tick_from, self.tick_from)[k]
        x = Scalar1(x=x.x + jnp.where(t > since, np.nan, 0.0))
        n, slow, events = m.n, m.slow, m.events
        m = (
            Ticks(n + 1, slow, events)
            if k == 1
            else Ticks(n, slow + 1, events)
            if k == 2
            else Ticks(n, slow, events + 1)
        )
        return Jump(x, m, NoWork(none=0.0 * x.x))

    @staticmethod
    def start(lanes):
        return HybridState(Scalar1(x=np.zeros(lanes)), Ticks(np.int32(0), np.int32(0), np.int32(0)))


class Pushed(AbstractToy):
    """A tick at 0.5 pushes an armed guard to -0.1, from where it rises at its own rate.

    Its event is due at the tick.
    """

    rise: float = param(0.0, doc="rate after the tick")

    @property
    def events(self):
        return (Event("tick", "a clock", period=0.5), Event("due", "below zero"))

    def flow(self, t, x, m):
        return Rates(Scalar1(x=1.0 + 0.0 * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (0.5 * m.n - t, jnp.where(m.n == 2, -0.1 + self.rise * (t - 0.5), 1.0 + 0.0 * x.x))

    def jump(self, t, x, m, k):
        ticked = Ticks(m.n + 1, m.slow, m.events)
        done = Ticks(m.n, m.slow, m.events + 1)
        return Jump(
            x if k == 0 else Scalar1(x=0.0 * x.x),
            ticked if k == 0 else done,
            NoWork(none=0.0 * x.x),
        )


class Paid(Pushed):
    """Each tick puts a joule into the books, each other event two."""

    def jump(self, t, x, m, k):
        return (
            super()
            .jump(t, x, m, k)
            ._replace(work=NoWork(none=(1.0 if k == 0 else 2.0) + 0.0 * x.x))
        )


class Exotic(Ball):
    """A ball whose flow holds a primitive that no kernel has a rule for."""

    def flow(self, t, x, m):
        pull = -self.gravity + 0.0 * jax.lax.digamma(2.0 + x.v * x.v)
        return Rates(Height(x=x.v, v=pull), NoPower(none=0.0 * x.v))


class ForcedBall(Ball):
    """Gravity that swings and drag: guards are no cubics, so events are located approximately."""

    def flow(self, t, x, m):
        pull = -self.gravity * (1.0 + 0.9 * jnp.sin(40.0 * t)) - 2.0 * x.v * jnp.abs(x.v)
        return Rates(Height(x=x.v, v=pull), NoPower(none=0.0 * x.v))


class Fading(AbstractToy):
    """x grows at the root of the time left, and there is no root afterwards; it ends as rocked back
    where it reaches `stop`.
    """

    until: Scalar = param(1e3, doc="time from which the flow is not a number")
    stop: Scalar = param(1e3, doc="x at which it ends")

    @property
    def events(self):
        return (Event("end", "x reaches its stop", Outcome.rocked_back),)

    def flow(self, t, x, m):
        return Rates(Scalar1(x=jnp.sqrt(self.until - t) + 0.0 * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (self.stop - x.x,)

    def jump(self, t, x, m, k):
        return Jump(x, m, NoWork(none=0.0 * x.x))


# --- wheels ---------------------------------------------------------------------------------------


@functools.cache
def wheel(name="rimless-wheel", *settings):
    return ff.load(name, list(settings))


@functools.cache
def ticking_wheel():
    return wheel("rimless-wheel", "control_period=0.005")


def leaning(experiment, pitches):
    """The experiment's wheel with a pitch set point for each lane."""
    return eqx.tree_at(
        lambda s: s.torso.pitch_setpoint, experiment.system, np.asarray(pitches, float)
    )


@functools.cache
def exact_end(name, settings, duration):
    """Final continuous state of a scenario by the event engine, and its outcome.

    Two digits beyond what is asked of anyone here.
    """
    experiment = wheel(name, *settings)
    plan = ff.SimPlan(duration=duration, rtol=1e-12, atol=1e-14, sample_rate=None)
    return ff.simulate(experiment.system, experiment.start, plan)


def state_of(end, lane=0):
    """The continuous state of one lane as a vector."""
    return np.array([np.asarray(v)[lane] for v in jax.tree.leaves(end.x)], float)


def state_error(name, settings, duration, step, method="rk4", precision="float64", path="cpp"):
    """Largest error of the continuous state of a scenario after `duration`."""
    experiment, exact = wheel(name, *settings), exact_end(name, settings, duration)
    result = run_batch(
        experiment.system,
        experiment.start,
        BatchPlan(duration, step=step, method=method, precision=precision, path=path),
    )
    assert result.columns["outcome"][0] == exact.outcome
    expected = np.array(
        [exact.ending.state[field] for field in experiment.start.x.__dataclass_fields__]
    )
    return np.max(np.abs(state_of(result.end) - expected)), result


def optimised(monkeypatch, level):
    """Kernels are compiled with "-O0", "-O1" or "-O2" instead of "-O3", which takes twice as long
    as "-O2" and pays in long runs only.
    """
    flags = tuple(level if flag.startswith("-O") else flag for flag in compiler._flags())
    monkeypatch.setattr(compiler, "_flags", lambda: flags)


def op_by_op(monkeypatch):
    """What a batch does once goes operation by operation, for a robot that is run once: its start
    and its books as programs of their own would take longer to compile than all the rest."""
    for module, name in ((batch, "starter"), (batch, "_standing"), (batch_results, "_stored")):
        made = getattr(module, name)
        monkeypatch.setattr(module, name, lambda kind, made=made: made(kind).__wrapped__)


def same_bits(one, other, lanes=None):
    """Columns and final states equal bit for bit (NaN equal to NaN), for the first `lanes` lanes of
    both.
    """
    pairs = [(one.columns[name], other.columns[name], name) for name in one.columns]
    leaves = zip(jax.tree.leaves(one.end), jax.tree.leaves(other.end), strict=True)
    pairs += [(a, b, "state") for a, b in leaves]
    for a, b, name in pairs:
        np.testing.assert_array_equal(a[..., :lanes], b[..., :lanes], err_msg=name)
