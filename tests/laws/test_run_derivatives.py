"""Derivatives through events.

The passive wheel has them in closed form, the compliant one is held against differences.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from tests.support.toys import AbstractToy, Heights, ManyBalls, NoPower, NoWork, PerBall

import footfall as ff
from footfall.engines.analysis.return_map import NoCycle
from footfall.hybrid.fields import param, signal
from footfall.hybrid.system import Event, Jump, Rates
from footfall.scenario.derivatives import require_numbers
from footfall.scenario.errors import ScenarioError

#: Tight, so that what is compared is the derivative and not the run: an error of the run moves
#: derivatives by about as much.
FINE = {"sim.rtol": 1e-11, "sim.atol": 1e-12}
SLOPE, RATE, SPOKES, LENGTH, GRAVITY = 0.08, -3.0, 10, 0.26, 9.81
FALLS = 3
KEYS = ["terrain.angle", "start.spoke_rate", "leg.length"]


@pytest.fixture(scope="module")
def passive():
    return ff.load("passive-wheel", FINE)


def rate_after(falls, slope, rate, length):
    """omega_n^2 = c^2 (omega_(n-1)^2 + G), c = cos(2 pi / n), G = 4 g sin(pi / n) sin(slope) / l:

    McGeer's wheel.
    """
    kept = mpmath.cos(2 * mpmath.pi / SPOKES) ** 2
    gained = 4 * GRAVITY * mpmath.sin(mpmath.pi / SPOKES) * mpmath.sin(slope) / length
    square = mpmath.mpf(rate) ** 2
    for _ in range(falls):
        square = kept * (square + gained)
    return -mpmath.sqrt(square)


def time_of(falls, slope, rate, length):
    """The energy integral, stance by stance."""
    half = mpmath.pi / SPOKES

    def stance(first):
        def speed(angle):
            drop = mpmath.cos(half - slope) - mpmath.cos(angle - slope)
            return mpmath.sqrt(first**2 + 2 * GRAVITY / length * drop)

        return mpmath.quad(lambda angle: 1 / speed(angle), [-half, slope, half])

    return sum(stance(rate_after(n, slope, rate, length)) for n in range(falls))


def by_each(function):
    point = (SLOPE, RATE, LENGTH)
    with mpmath.workdps(25):
        return [
            float(
                mpmath.diff(
                    lambda v, i=i: function(FALLS, *point[:i], v, *point[i + 1 :]), point[i]
                )
            )
            for i in range(len(point))
        ]


def test_gradient_through_three_impacts_is_that_of_the_closed_form(passive):
    found = ff.gradient(
        lambda end: (end.x.spoke_rate, end.t), passive, KEYS, event="touchdown", count=FALLS
    )
    # A hundred times the tolerance.
    assert found.value[0] == pytest.approx(float(rate_after(FALLS, SLOPE, RATE, LENGTH)), rel=1e-9)
    for i, function in enumerate((rate_after, time_of)):
        # Ten times that.
        assert [found.slopes[key][i] for key in KEYS] == pytest.approx(by_each(function), rel=1e-8)


def test_grad_and_jacfwd_of_an_endpoint_agree_and_so_do_second_derivatives(passive):
    def time(slope):
        return ff.endpoint(passive, {"terrain.angle": slope}, event="touchdown", count=FALLS).t

    exact = by_each(time_of)[0]
    assert float(jax.grad(time)(SLOPE)) == pytest.approx(exact, rel=1e-8)
    assert float(jax.jacfwd(time)(SLOPE)) == pytest.approx(exact, rel=1e-8)
    with mpmath.workdps(25):
        bend = float(mpmath.diff(lambda v: time_of(FALLS, v, RATE, LENGTH), SLOPE, 2))
    # A derivative of a derivative: ten times its tolerance. Forward over reverse, and reverse over
    # reverse.
    assert float(jax.hessian(time)(SLOPE)) == pytest.approx(bend, rel=1e-7)
    assert float(jax.grad(jax.grad(time))(SLOPE)) == pytest.approx(bend, rel=1e-7)


def test_work_and_outputs_to_a_time_against_differences_of_whole_runs():
    """The compliant wheel through its first four footfalls.

    Energy through ports, energy lost at jumps, place.
    """
    keys = {"leg.stiffness": 15000.0, "torso.pitch_setpoint": 0.6}

    def measure(end):
        return {
            "motor": end.work.motor,
            "impact": end.jump_work.released_spring,
            "x": end.outputs.hub.x,
        }

    found = ff.gradient(measure, ff.load("rimless-wheel", FINE), list(keys), duration=0.9)
    assert int(found.end.m.steps) >= 4
    for key, value in keys.items():
        # h^2 / 6 f''' of the difference and 1e-10 / h of the runs are both small for h = 1e-4 of
        # the value: a third derivative of order f' / value^2 gives 1e-8, the runs 1e-6.
        h = 1e-4 * value
        ends = [
            ff.simulate(ff.load("rimless-wheel", {**FINE, key: value + s * h}, duration=0.9))
            for s in (-1, 1)
        ]
        seen = {
            "motor": [run.ledger.work["motor"] for run in ends],
            "impact": [-run.ledger.jump_losses["released_spring"] for run in ends],
            "x": [run["hub.x"][-1] for run in ends],
        }
        for name, (low, high) in seen.items():
            assert float(found.slopes[key][name]) == pytest.approx(
                (high - low) / (2 * h), rel=1e-5
            ), (key, name)


def test_simulating_with_traced_numbers_says_what_to_use_instead(passive):
    wheel = passive.system
    with pytest.raises(TypeError, match=r"ff\.endpoint.*ff\.gradient"):
        jax.grad(lambda rate: ff.simulate(wheel, wheel.begin(wheel.Start(spoke_rate=rate))).t[-1])(
            RATE
        )
    with pytest.raises(ScenarioError, match=r"ff\.endpoint"):
        jax.grad(lambda slope: ff.load("passive-wheel", {"terrain.angle": slope}).plan.duration)(
            SLOPE
        )


def test_what_cannot_be_differentiated_is_refused(passive):
    for keys, words in (
        (["spokes"], "no number that can move"),
        (["leg"], "no number"),
        ([], "needs a key"),
    ):
        with pytest.raises(ScenarioError, match=words):
            ff.gradient(lambda end: end.t, passive, keys)
    with pytest.raises(ScenarioError, match=r'fewer than 3 "touchdown" events within 0\.1 s'):
        ff.gradient(
            lambda end: end.t, passive, ["leg.length"], event="touchdown", count=3, duration=0.1
        )
    # Its moves are planned when it is made.
    with pytest.raises(ScenarioError, match=r"cannot be differentiated by gait\.lift"):
        ff.gradient(lambda end: end.t, ff.load("two-leg-single-step"), ["gait.lift"])
    with pytest.raises(ScenarioError, match="MuJoCo"):
        ff.gradient(lambda end: end.t, ff.load("urchin-walk"), ["gravity"])


def test_any_number_of_a_system_and_a_state_can_be_differentiated(passive):
    """Also without a scenario.

    By the mass (which does not matter) and the state, in reverse mode.
    """
    wheel, state = passive.system, passive.start

    def time(rate):
        x = type(state.x)(spoke_angle=state.x.spoke_angle, spoke_rate=rate)
        return ff.endpoint(
            wheel, ff.HybridState(x, state.m), passive.plan, event="touchdown", count=FALLS
        ).t

    assert float(jax.grad(time)(RATE)) == pytest.approx(by_each(time_of)[1], rel=1e-8)


# --- events in the same instant -------------------------------------------------------------------


def test_two_feet_that_land_together_are_differentiated_each_at_its_own_time():
    """The two-sided wheel walking straight, four landings of both feet at once; steering parts
    them. The left damper's work too.
    """
    name, h = "rimless-wheel-turning", 1e-4

    def measure(end):
        return {
            "heading": end.x.heading,
            "damper": end.work.damper_left,
            "spring": end.jump_work.released_spring,
        }

    found = ff.gradient(
        measure, ff.load(name, {"steering_current": 0.0}), "steering_current", duration=0.9
    )
    assert int(found.end.m.steps_left) == int(found.end.m.steps_right) >= 3

    def difference(h):
        runs = [
            ff.simulate(ff.load(name, {"steering_current": s * h}, duration=0.9)) for s in (-1, 1)
        ]
        # One by one.
        assert all(
            sum(event.name.startswith("touchdown") for event in run.events) >= 6 for run in runs
        )
        seen = [(run["heading"][-1], -run.ledger.losses["damper_left"]) for run in runs]
        return np.subtract(*seen[::-1]) / (2 * h)

    # To either side the run is another one, so differences err by O(h) and two of them extrapolate:
    # 1e-8 is left, times a third derivative of order 10; the runs leave 1e-9 / h.
    exact = 2 * difference(h) - difference(2 * h)
    assert [
        found.slopes["steering_current"][key] for key in ("heading", "damper")
    ] == pytest.approx(exact, rel=1e-5)
    # It was -0.93012.
    assert float(found.slopes["steering_current"]["heading"]) == pytest.approx(-0.71551, abs=1e-5)
    # Left and right alike.
    assert float(found.slopes["steering_current"]["spring"]) == pytest.approx(0.0, abs=1e-9)


def test_the_gait_of_the_two_sided_wheel_has_the_multipliers_of_differences():
    """Of the flow over a period, from mid-stance, with each number of the state moved by 1e-6 and
    2e-6 to both sides, extrapolated.
    """
    wheel = ff.load("rimless-wheel-turning", {"steering_current": 0.0})
    plan = ff.SimPlan(duration=1.0, rtol=1e-10, atol=1e-12)
    near = {
        "height": 0.24553,
        "torso_angle": 0.591874,
        "speed": 0.779756,
        "climb_rate": -0.224601,
        "torso_rate": -0.00735,
    }
    near |= {"foot_ahead_left": 0.085527, "foot_ahead_right": 0.085527, "pitch_integral": 0.036692}
    guess = ff.HybridState(dataclasses.replace(wheel.start.x, **near), wheel.start.m)
    cycle = ff.find_cycle(wheel.system, guess, "touchdown_left", plan)
    # The first and the fourth are of the sides against each other (they were 1.4325 and -0.0289).
    # Differences are good to 1e-8.
    assert cycle.multipliers[:4] == pytest.approx(
        [1.24414068, 0.66679132, 0.62277670, 0.56846772], rel=1e-7
    )


class Shutters(ManyBalls):
    """Heights that fall by 1 m/s, and once they have met the floor rise by 1 m/s.

    Exact in binary, so both meet it in one instant.
    """

    def flow(self, t, x, m):
        return Rates(
            Heights(x=jnp.where(m.n > 0, 1.0, -1.0), v=0.0 * x.v), NoPower(none=0.0 * x.v[0])
        )


def test_an_event_that_waits_for_another_at_the_same_time_has_its_own_derivative():
    def heights(h):
        start = ff.HybridState(Heights(x=h, v=0.0 * h), PerBall(n=np.zeros(2, np.int32)))
        return ff.endpoint(Shutters(), start, ff.SimPlan(duration=0.75)).x.x

    both = jnp.array([0.5, 0.5])
    assert np.allclose(heights(both), 0.25, rtol=0, atol=1e-12)
    # t - h, each by its own: rounding.
    assert np.allclose(jax.jacfwd(heights)(both), -np.eye(2), rtol=0, atol=1e-12)


class Fuses(eqx.Module):
    a: float = signal(unit="s", doc="time left of the first")
    b: float = signal(unit="s", doc="time left of the second")
    x: float = signal(unit="m", doc="gone")


class Burnt(eqx.Module):
    a: int = signal(doc="the first is over")
    b: int = signal(doc="the second is over")


class TwoFuses(AbstractToy):
    """dx/dt has one value before two fuses are burnt, one after either, one after both; a jump
    burns both that are due.
    """

    before: float = param(1.0, doc="dx/dt")
    after_a: float = param(2.0, doc="dx/dt")
    after_b: float = param(5.0, doc="dx/dt")
    after_both: float = param(6.0, doc="dx/dt")

    @property
    def events(self):
        return (Event("a", "the first is burnt"), Event("b", "the second is burnt"))

    def flow(self, t, x, m):
        one = jnp.where(m.a > 0, self.after_a, jnp.where(m.b > 0, self.after_b, self.before))
        rate = jnp.where((m.a > 0) & (m.b > 0), self.after_both, one)
        return Rates(Fuses(a=-1.0 + 0.0 * x.a, b=-1.0 + 0.0 * x.b, x=rate), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (x.a, x.b)

    def jump(self, t, x, m, k):
        others = self.together(t, x, m, k)
        burnt = [m.a + (others[0] if k else 1), m.b + (1 if k else others[1])]
        return Jump(x, Burnt(*burnt), NoWork(none=0.0 * x.x))

    def together(self, t, x, m, k):
        return {1 - k: (x.a, x.b)[1 - k] < 1e-9}

    def jump_alone(self, t, x, m, k):
        return Jump(x, Burnt(m.a + (k == 0), m.b + (k == 1)), NoWork(none=0.0 * x.x))


def burnt_at(a, b):
    return ff.HybridState(Fuses(a=a, b=b, x=0.0 * a), Burnt(np.int32(0), np.int32(0)))


def test_one_jump_for_two_events_has_the_derivative_of_both_orders_or_none():
    def gone(times, fuses):
        return ff.endpoint(fuses, burnt_at(*times), ff.SimPlan(duration=1.0)).x.x

    both = jnp.array([0.5, 0.5])
    assert float(gone(both, TwoFuses())) == pytest.approx(0.5 * 1 + 0.5 * 6, rel=1e-12)
    # Each fuse that burns longer keeps its own share away for so long: 2 - 1 and 5 - 1.
    assert np.allclose(jax.jacfwd(gone)(both, TwoFuses()), [-1.0, -4.0], rtol=0, atol=1e-12)
    # After both it is 3: a moved first gives 1 or 2 the more, to the other side -1.
    assert np.all(np.isnan(jax.jacfwd(gone)(both, TwoFuses(after_both=3.0))))


def test_a_derivative_that_does_not_exist_is_refused_in_words():
    with pytest.raises(NoCycle, match="same instant"):
        ff.find_cycle(TwoFuses(after_both=3.0), burnt_at(0.5, 0.5), "a", ff.SimPlan(duration=1.0))
    with pytest.raises(ScenarioError, match=r"no derivative by leg\.length.*same instant"):
        require_numbers(
            {"gravity": {"x": np.float64(1.0)}, "leg.length": {"x": np.float64(np.nan)}}
        )
