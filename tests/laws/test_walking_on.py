"""Lyapunov exponents, phase response, and multipliers by differences: against other ways."""

import dataclasses
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import footfall as ff
from footfall.engines.analysis.cycle_check import check_multipliers
from footfall.engines.analysis.return_map import numbers_of
from footfall.hybrid.fields import param, signal
from footfall.hybrid.flatten import Layout
from footfall.hybrid.system import Event, HybridState, Jump, Rates
from support.toys import AbstractToy, NoPower, Scalar1
from support.walkers import SimplestWalker

FINE = ff.Plan(engine=ff.EventEngine(rtol=1e-12, atol=1e-13))
CHAOS, CYCLE_OF_TWO = 0.0185, 0.016


class Kept(eqx.Module):
    c: float = signal(doc="what the map is of")
    n: int = signal(doc="steps so far")


class Tent(AbstractToy):
    """Once a second c := s min(c, 1 - c): differences grow by exactly s, everywhere."""

    slope: float = param(1.9, doc="s")

    @property
    def events(self):
        return (Event("step", "a second is over"),)

    def flow(self, t, x, m):
        return Rates(Scalar1(x=0.0 * x.x - 1.0), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (x.x,)

    def jump(self, t, x, m, k):
        c = self.slope * jnp.minimum(m.c, 1.0 - m.c)
        return Jump(Scalar1(x=1.0 + 0.0 * x.x), dataclasses.replace(m, c=c, n=m.n + 1))


def test_the_exponent_of_a_tent_map_is_the_logarithm_of_its_slope():
    start = HybridState(Scalar1(x=1.0), Kept(c=0.3141, n=np.int32(0)))
    walk = ff.lyapunov(Tent(), start, "step", steps=60, skip=5)
    assert walk.exponents == pytest.approx([math.log(1.9)], abs=1e-12)
    assert walk.chaotic and "chaos" in walk.words and walk.error < 1e-12
    walk = ff.lyapunov(Tent(0.9), start, "step", steps=200, skip=5)
    assert walk.exponents == pytest.approx([math.log(0.9)], abs=1e-12)
    assert walk.repeats_after == 1 and "every step" in walk.words


def scipy_step(slope, theta, rate):
    """One step of the walker by SciPy, from its published equations."""

    def flow(t, y):
        push = math.sin(y[0] - slope)
        return [
            y[2],
            y[3],
            push,
            push + math.sin(y[1]) * (y[2] ** 2 - math.cos(y[0] - slope)),
        ]

    def lands(t, y):
        return y[1] - 2.0 * y[0]

    lands.direction = 1
    c = math.cos(2.0 * theta)
    begin = [theta, 2.0 * theta, rate, (1.0 - c) * rate]
    end = solve_ivp(flow, (0, 6), begin, "DOP853", events=lands, rtol=1e-10, atol=1e-11)
    (row, *_) = np.flatnonzero(end.t_events[0] > 0.5)  # not where it began
    stance, _, stance_rate, _ = end.y_events[0][row]
    return np.array([-stance, math.cos(2.0 * stance) * stance_rate])


def test_a_chaotic_walk_has_the_exponents_of_differences_by_scipy():
    """Along the same orbit, in the two numbers that a step begins with. Lengths in two numbers and
    in four differ by no more than a factor of e, which is 1/24 of an exponent over 24 steps.
    """
    walker, (theta, rate), count = SimplestWalker(slope=CHAOS), (0.2456, -0.2514), 24
    walk = ff.lyapunov(walker, walker.begin(theta, rate), "heelstrike", FINE, steps=count, skip=0)
    basis, grown, v, h = np.eye(2), [], np.array([theta, rate]), 1e-5
    for _ in range(count):
        columns = [
            (scipy_step(CHAOS, *(v + h * e)) - scipy_step(CHAOS, *(v - h * e))) / (2 * h)
            for e in np.eye(2)
        ]
        basis, upper = np.linalg.qr(np.stack(columns, axis=1) @ basis)
        grown.append(np.log(np.abs(np.diag(upper))))
        v = scipy_step(CHAOS, *v)
    # SciPy's 1e-10 a step, grown by e^(0.2 x 24)
    assert walk.orbit[-1][0] == pytest.approx(v[0], abs=1e-6)
    assert walk.exponents == pytest.approx(np.mean(grown, axis=0), abs=1 / count)
    assert walk.largest > 0 > walk.exponents[1]


def test_a_walk_past_the_cascade_is_chaotic_and_one_past_the_first_doubling_repeats():
    def walk(slope, theta, rate, **how):
        walker = SimplestWalker(slope=slope)
        return ff.lyapunov(walker, walker.begin(theta, rate), "heelstrike", FINE, **how)

    chaos = walk(CHAOS, 0.2456, -0.2514, steps=300, skip=50)
    assert chaos.chaotic and chaos.largest == pytest.approx(0.2, abs=0.05)
    assert walk(CYCLE_OF_TWO, 0.242, -0.237, steps=60, skip=150).repeats_after == 2
    fallen = walk(CHAOS, 0.1, -0.1, steps=60, skip=10)
    assert fallen.ended and not fallen.chaotic and "walks no steps" in fallen.words


@pytest.fixture(scope="module")
def gait():
    walker = SimplestWalker()
    return ff.find_cycle(walker, walker.begin(), "heelstrike", FINE)


def test_a_push_moves_all_later_steps_by_the_phase_response(gait):
    """Just after a heel strike, and in the middle of a step: pushed by 1e-6 to either side, 40
    steps later what the slowest mode leaves is 0.59^40, and the runs err by 1e-12 over 1e-6.
    """
    found = ff.phase_response(gait, points=2)
    x, m, _ = gait.map.path(gait.point.flat, gait.point.counts, [0.5 * gait.period])
    middle = HybridState(*(first_row(tree) for tree in (x, m)))
    for name in ("stance_rate", "swing_rate"):
        times = []
        for h in (1e-6, -1e-6):
            pushed = dataclasses.replace(middle.x, **{name: getattr(middle.x, name) + h})
            t, flat, counts = 0.0, *packed(gait, HybridState(pushed, middle.m))
            for _ in range(40):
                mapped = gait.map.at(flat, counts)
                t, flat, counts = t + float(mapped.stride.t), mapped.stride.numbers, mapped.after
            times.append(t)
        sooner = (times[1] - times[0]) / 2e-6
        assert found.sooner[name][1] == pytest.approx(sooner, rel=1e-4), name
    # A stable gait only.
    with pytest.raises(ValueError, match="unstable"):
        ff.phase_response(gait._replace(multipliers=np.array([1.5])))


def first_row(tree):
    return jax.tree.map(lambda leaf: leaf[0], tree)


def packed(gait, state):
    numbers, counts = numbers_of(state)
    return np.array(Layout.of(gait.map.like).pack(numbers)), counts


def test_multipliers_by_differences_are_those_of_the_derivative_and_a_lie_is_seen(gait):
    """Richardson at 1e-3: 1e-12 of the fourth power, rounding of 1e-12 over 1e-3."""
    found = check_multipliers(gait)
    assert found.apart < 1e-7 and not found.doubts
    lie = gait._replace(derivative=1.001 * gait.derivative)
    assert [doubt.name for doubt in check_multipliers(lie).doubts] == ["multipliers_differ"]
