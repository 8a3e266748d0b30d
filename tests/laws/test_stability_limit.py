"""The longest stable step of explicit methods: known limits, and runs on both sides of them."""

import dataclasses
import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from footfall.engines.events.solvers import solver_by_name
from footfall.engines.plan import SimPlan
from footfall.engines.simulate import simulate
from footfall.engines.stability_limit import (
    Spectrum,
    adams_bashforth_weights,
    limit_of,
    spectrum,
    stability_limit,
    stability_polynomial,
    too_long,
)
from footfall.engines.step_growth import damper_reach
from footfall.hybrid.fields import param, signal
from footfall.hybrid.system import Event, HybridState, Jump, Rates
from support.toys import AbstractToy, NoPower, NoStore, NoWork, Outputs, Scalar1, Value

#: Length of each method's interval of stability on the negative real axis.
REAL_LIMITS = {
    "euler": 2.0,
    "heun": 2.0,
    "rk4": 2.785293563405288,  # root of 1 + z/2 + z^2/6 + z^3/24
    "adams-bashforth-1": 2.0,
    "adams-bashforth-2": 1.0,
    "adams-bashforth-3": 6 / 11,
    "adams-bashforth-4": 3 / 10,
    "adams-bashforth-5": 90 / 551,
}


def method(name):
    return solver_by_name(name)


def one(*eigenvalues):
    """A spectrum of one instant."""
    return Spectrum(np.zeros(1), np.array([eigenvalues], complex), np.full(1, np.inf))


# --- the numbers of the methods -------------------------------------------------------------------


@pytest.mark.parametrize(("name", "limit"), REAL_LIMITS.items())
def test_real_limits_are_the_known_ones(name, limit):
    found = limit_of(one(-40.0), method(name))
    assert found.step * 40.0 == pytest.approx(limit, rel=1e-12)  # bisected to rounding
    assert found.eigenvalue == -40.0


@pytest.mark.parametrize(
    ("name", "limit"), [("rk4", REAL_LIMITS["rk4"]), ("rk2", 2.0), ("semi-implicit-euler", 2.0)]
)
def test_methods_of_the_step_engine_have_the_known_limits_on_a_damper(name, limit):
    assert damper_reach(name) == pytest.approx(limit, rel=1e-9)  # bisected, 2^-40 of a fifth
    assert (
        damper_reach("linearly-implicit") == math.inf
        and limit_of(one(-1e6), "linearly-implicit") is None
    )


@pytest.mark.parametrize("damping", [0.05, 0.7, 1.0, 3.0])
def test_semi_implicit_euler_is_stable_up_to_the_known_limit_on_a_damped_swing(damping):
    """x'' = -w^2 x - c x': its step has the determinant 1 - h c and the trace 2 - h c - (h w)^2, so
    (h w)^2 < 4 - 2 h c.
    """
    w, c = 30.0, 2 * damping * 30.0
    jacobian = np.array([[[0.0, 1.0], [-w * w, -c]]])
    swing = Spectrum(
        np.zeros(1),
        np.linalg.eigvals(jacobian).astype(complex),
        np.full(1, np.inf),
        jacobian,
        (1, None),
    )
    exact = (math.sqrt(c * c + 4 * w * w) - c) / (w * w)
    assert limit_of(swing, "semi-implicit-euler").step == pytest.approx(exact, rel=1e-9)


def test_semi_implicit_euler_may_follow_what_grows_by_itself():
    """A pendulum that falls over, with a stiff damper beside it: only the damper has a limit."""
    falls = np.array([[[0.0, 1.0, 0.0], [9.0, -1.0, 0.0], [0.0, 0.0, -50.0]]])
    seen = Spectrum(
        np.zeros(1),
        np.linalg.eigvals(falls).astype(complex),
        np.full(1, np.inf),
        falls,
        (1, None, None),
    )
    # up to what the fall grows by within a step, h lambda = 0.1, and its square
    assert limit_of(seen, "semi-implicit-euler").step == pytest.approx(2 / 50, rel=0.07)
    assert limit_of(seen.where(np.array([0])), "semi-implicit-euler").eigenvalue == -50.0


def test_adams_bashforth_limits_are_where_a_root_is_minus_one():
    """r = -1 in r^p - r^(p-1) = z sum w_j r^(p-1-j) gives z = -2 / sum (-1)^j w_j."""
    for order in range(1, 6):
        alternating = sum((-1) ** j * w for j, w in enumerate(adams_bashforth_weights(order)))
        assert limit_of(one(-1.0), method(f"adams-bashforth-{order}")).step == pytest.approx(
            2 / alternating, rel=1e-12
        )


def test_weights_of_adams_bashforth_are_the_textbook_ones():
    assert adams_bashforth_weights(2) == (3 / 2, -1 / 2)
    assert adams_bashforth_weights(3) == (23 / 12, -16 / 12, 5 / 12)
    assert adams_bashforth_weights(4) == (55 / 24, -59 / 24, 37 / 24, -9 / 24)


@pytest.mark.parametrize(
    ("name", "order"), [("heun", 2), ("bosh3", 3), ("tsit5", 5), ("dopri8", 8)]
)
def test_a_stability_polynomial_follows_the_exponential_to_its_order(name, order):
    coefficients = stability_polynomial(method(name).tableau)
    taylor = [1 / math.factorial(k) for k in range(order + 1)]
    assert coefficients[: order + 1] == pytest.approx(taylor, rel=1e-12)  # tableaus hold 16 digits


def test_an_undamped_oscillation_limits_rk4_at_the_square_root_of_eight():
    assert limit_of(one(-1e-6 + 1j, -1e-6 - 1j), method("rk4")).step == pytest.approx(
        math.sqrt(8.0), rel=1e-4
    )


def test_a_slow_oscillation_is_forgiven_what_does_not_matter_within_the_span():
    """Euler: ln |R| = -d + h w^2 / 2 per unit of time, so the limit is 2 d / w^2 for ever and 2 (d
    + 1/T) / w^2 within T.
    """
    swing, euler = one(-1 + 100j, -1 - 100j), method("euler")
    # The next term is d^2 / w^2 = 1e-4 of it.
    assert limit_of(swing, euler).step == pytest.approx(2e-4, rel=1e-3)
    assert limit_of(swing, euler, span=1.0).step == pytest.approx(4e-4, rel=1e-3)
    assert limit_of(one(-1e-3), euler, span=1.0).step == math.inf  # dies out long after the span


def test_growth_and_rounding_are_not_stiffness_and_implicit_methods_have_no_limit():
    assert limit_of(one(3.0, 50j, -50j, -1e-14 + 7j), method("euler")).step == math.inf
    assert limit_of(one(3.0, -4.0), method("euler")).step == pytest.approx(0.5, rel=1e-12)
    assert limit_of(one(-1e6), method("kvaerno5")) is None


# --- along runs -----------------------------------------------------------------------------------


class Nested(eqx.Module):
    """A state with a struct inside and a quantity that this machine does not have."""

    body: Scalar1
    spare: float | None = signal(None, doc="not there")


class Grip(eqx.Module):
    n: int = signal(doc="times it tightened")
    rate: float = signal(unit="1/s", doc="how fast the value decays")


class Brake(AbstractToy):
    """x decays at 10/s until it is down to a half, and at `tight` from there on."""

    tight: float = param(1000.0, unit="1/s", doc="rate after the grip", gt=0)

    @property
    def events(self):
        return (Event("grip", "x is down to a half"),)

    def flow(self, t, x, m):
        return Rates(Nested(body=Scalar1(x=-m.rate * x.body.x)), NoPower(none=0.0 * x.body.x))

    def guards(self, t, x, m):
        return (jnp.where(m.n > 0, 1.0, x.body.x - 0.5),)

    def jump(self, t, x, m, k):
        return Jump(x, Grip(n=m.n + 1, rate=self.tight), NoWork(none=0.0 * x.body.x))

    def stores(self, t, x, m):
        return NoStore(none=0.0 * x.body.x)

    def outputs(self, t, x, m):
        return Outputs(value=Value(x=x.body.x))


START = HybridState(Nested(body=Scalar1(x=1.0)), Grip(n=np.int32(0), rate=10.0))
GRIPPED = HybridState(START.x, Grip(n=np.int32(1), rate=1000.0))


@pytest.mark.parametrize("name", ["rk4", "adams-bashforth-4"])
def test_a_run_just_below_the_limit_decays_and_just_above_it_grows(name):
    """2000 steps within 1 % of the limit, each of which multiplies by at least 0.4 % less or more
    than one.
    """
    brake = Brake()
    limit = stability_limit(brake, GRIPPED, method(name)).step
    ends = []
    for share in (0.99, 1.01):
        plan = SimPlan(
            duration=2000 * share * limit, solver=method(name), step=share * limit, sample_rate=None
        )
        ends.append(abs(simulate(brake, GRIPPED, plan).ending.state["body.x"]))
    assert ends[0] < 1e-3 < 1.0 < ends[1]  # it starts at 1


@pytest.fixture(scope="module")
def braked():
    return simulate(Brake(), START, SimPlan(duration=0.2, sample_rate=500.0))


def test_the_limit_along_a_run_is_set_by_its_stiffest_moment(braked):
    brake, rk4 = Brake(), method("rk4")
    gripped = braked.events[0].t
    assert gripped == pytest.approx(math.log(2) / 10, abs=1e-8)
    start, along = stability_limit(brake, START, rk4), stability_limit(brake, START, rk4, braked)
    assert start == (pytest.approx(0.2785293563, rel=1e-9), -10.0, 0.0)
    assert along == (pytest.approx(0.002785293563, rel=1e-9), -1000.0, gripped)
    seen = spectrum(brake, START, braked)
    assert seen.eigenvalues.shape == (len(braked.t), 1) and seen.largest == (-1000.0, gripped)


def test_rows_that_are_not_finite_are_left_out_and_a_run_of_another_system_is_refused(braked):
    brake, rk4 = Brake(), method("rk4")
    for bad, eigenvalue in ((braked.t > 0.05, -10.0), (braked.t >= 0.0, 0.0)):
        broken = dataclasses.replace(
            braked, columns={k: np.where(bad, np.inf, v) for k, v in braked.columns.items()}
        )
        assert stability_limit(brake, START, rk4, broken).eigenvalue == eigenvalue
    with pytest.raises(ValueError, match="another system"):
        spectrum(brake, HybridState(START.x, Scalar1(x=1.0)), braked)


# --- plans ----------------------------------------------------------------------------------------


def test_only_a_constant_step_of_an_explicit_method_can_be_too_long():
    stiff = one(-1000.0)
    constant = SimPlan(solver=method("rk4"), step=5e-3)
    found = too_long(constant, stiff)
    assert found.key == "step" and found.step / found.limit.step == pytest.approx(
        5 / 2.785, rel=1e-3
    )
    assert too_long(dataclasses.replace(constant, step=2.7e-3), stiff) is None
    assert too_long(SimPlan(solver=method("kvaerno5"), step=5e-3), stiff) is None
    assert too_long(SimPlan(solver=method("dopri8")), stiff) is None


def test_steps_that_are_cut_near_the_ground_are_judged_there_by_what_they_are_cut_to():
    # In flight, in contact.
    seen = Spectrum(
        np.array([0.0, 1.0]), np.array([[-100.0], [-1e5]], complex), np.array([0.05, -0.001])
    )
    plan = SimPlan(solver=method("rk4"), step=1e-3)
    assert too_long(plan, seen).limit.eigenvalue == -1e5
    assert too_long(dataclasses.replace(plan, near_room=0.01, near_step=1e-5), seen) is None
    assert (
        too_long(dataclasses.replace(plan, near_room=0.01, near_step=1e-4), seen).key == "near_step"
    )
    assert (
        too_long(dataclasses.replace(plan, step=0.1, near_room=0.01, near_step=1e-5), seen).key
        == "step"
    )


def test_of_a_multirate_method_the_fine_step_is_judged():
    fine = solver_by_name("multirate", 1e-4)
    plan = SimPlan(solver=fine, step=1e-2)
    assert too_long(plan, one(-2e4)) is None  # 1e-4 against 1.39e-4
    assert too_long(plan, one(-1e5)).key == "fine_step"
