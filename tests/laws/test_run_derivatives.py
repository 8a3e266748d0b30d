"""Derivatives through events: the passive wheel has them in closed form, the compliant one is held against differences."""

import jax
import mpmath
import pytest

import footfall as ff
from footfall.scenario.errors import ScenarioError

#: Tight, so that what is compared is the derivative and not the run: an error of the run moves derivatives by about as much.
FINE = {"sim.rtol": 1e-11, "sim.atol": 1e-12}
SLOPE, RATE, SPOKES, LENGTH, GRAVITY = 0.08, -3.0, 10, 0.26, 9.81
FALLS = 3
KEYS = ["terrain.angle", "start.spoke_rate", "leg.length"]


@pytest.fixture(scope="module")
def passive():
    return ff.load("passive-wheel", FINE)


def rate_after(falls, slope, rate, length):
    """omega_n^2 = c^2 (omega_(n-1)^2 + G), c = cos(2 pi / n), G = 4 g sin(pi / n) sin(slope) / l: McGeer's wheel."""
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
            float(mpmath.diff(lambda v, i=i: function(FALLS, *point[:i], v, *point[i + 1 :]), point[i]))
            for i in range(len(point))
        ]


def test_gradient_through_three_impacts_is_that_of_the_closed_form(passive):
    found = ff.gradient(lambda end: (end.x.spoke_rate, end.t), passive, KEYS, event="touchdown", count=FALLS)
    assert found.value[0] == pytest.approx(
        float(rate_after(FALLS, SLOPE, RATE, LENGTH)), rel=1e-9
    )  # a hundred times the tolerance
    for i, function in enumerate((rate_after, time_of)):
        assert [found.slopes[key][i] for key in KEYS] == pytest.approx(by_each(function), rel=1e-8)  # ten times that


def test_grad_and_jacfwd_of_an_endpoint_agree_and_a_second_derivative_is_refused(passive):
    def time(slope):
        return ff.endpoint(passive, {"terrain.angle": slope}, event="touchdown", count=FALLS).t

    exact = by_each(time_of)[0]
    assert float(jax.grad(time)(SLOPE)) == pytest.approx(exact, rel=1e-8)
    assert float(jax.jacfwd(time)(SLOPE)) == pytest.approx(exact, rel=1e-8)
    with pytest.raises(TypeError, match="first derivatives only"):
        jax.hessian(time)(SLOPE)


def test_work_and_outputs_to_a_time_against_differences_of_whole_runs():
    """The compliant wheel through its first four footfalls: energy through ports, energy lost at jumps, place."""
    keys = {"leg.stiffness": 15000.0, "torso.pitch_setpoint": 0.6}

    def measure(end):
        return {"motor": end.work.motor, "impact": end.jump_work.released_spring, "x": end.outputs.hub.x}

    found = ff.gradient(measure, ff.load("rimless-wheel", FINE), list(keys), duration=0.9)
    assert int(found.end.m.steps) >= 4
    for key, value in keys.items():
        # h^2 / 6 f''' of the difference and 1e-10 / h of the runs are both small for h = 1e-4 of the value: a third derivative of
        # order f' / value^2 gives 1e-8, the runs 1e-6.
        h = 1e-4 * value
        ends = [ff.simulate(ff.load("rimless-wheel", {**FINE, key: value + s * h}, duration=0.9)) for s in (-1, 1)]
        seen = {
            "motor": [run.ledger.work["motor"] for run in ends],
            "impact": [-run.ledger.jump_losses["released_spring"] for run in ends],
            "x": [run["hub.x"][-1] for run in ends],
        }
        for name, (low, high) in seen.items():
            assert float(found.slopes[key][name]) == pytest.approx((high - low) / (2 * h), rel=1e-5), (key, name)


def test_simulating_with_traced_numbers_says_what_to_use_instead(passive):
    wheel = passive.system
    with pytest.raises(TypeError, match=r"ff\.endpoint.*ff\.gradient"):
        jax.grad(lambda rate: ff.simulate(wheel, wheel.begin(wheel.Start(spoke_rate=rate))).t[-1])(RATE)
    with pytest.raises(ScenarioError, match=r"ff\.endpoint"):
        jax.grad(lambda slope: ff.load("passive-wheel", {"terrain.angle": slope}).plan.duration)(SLOPE)


def test_what_cannot_be_differentiated_is_refused(passive):
    for keys, words in ((["spokes"], "no number that can move"), (["leg"], "no number"), ([], "needs a key")):
        with pytest.raises(ScenarioError, match=words):
            ff.gradient(lambda end: end.t, passive, keys)
    with pytest.raises(ScenarioError, match=r'fewer than 3 "touchdown" events within 0\.1 s'):
        ff.gradient(lambda end: end.t, passive, ["leg.length"], event="touchdown", count=3, duration=0.1)
    with pytest.raises(ScenarioError, match=r"cannot be differentiated by gait\.lift"):  # its moves are planned when it is made
        ff.gradient(lambda end: end.t, ff.load("two-leg-single-step"), ["gait.lift"])
    with pytest.raises(ScenarioError, match="MuJoCo"):
        ff.gradient(lambda end: end.t, ff.load("urchin-walk"), ["gravity"])


def test_any_number_of_a_system_and_a_state_can_be_differentiated(passive):
    """Also without a scenario: by the mass (which does not matter) and the state, in reverse mode."""
    wheel, state = passive.system, passive.start

    def time(rate):
        x = type(state.x)(spoke_angle=state.x.spoke_angle, spoke_rate=rate)
        return ff.endpoint(wheel, ff.HybridState(x, state.m), passive.plan, event="touchdown", count=FALLS).t

    assert float(jax.grad(time)(RATE)) == pytest.approx(by_each(time_of)[1], rel=1e-8)
