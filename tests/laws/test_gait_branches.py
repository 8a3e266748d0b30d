"""Branches of gaits of the simplest walker: its first period doubling by two methods, its cascade."""

import numpy as np
import pytest

import footfall as ff
from footfall.engines.analysis.continuation import Follower
from footfall.engines.analysis.cycle_slopes import cycle_slopes, multiplier_slopes
from support.walkers import SimplestWalker

FINE = ff.Plan(engine=ff.EventEngine(rtol=1e-12, atol=1e-13))
ALONG = SimplestWalker(slope=np.ones(1))
LOW, HIGH = 0.008, 0.019


def family(value):
    return SimplestWalker(slope=np.float64(value)), ALONG


def gait(slope, stance, rate, **how):
    walker = SimplestWalker(slope=slope)
    return ff.find_cycle(walker, walker.begin(stance, rate), "heelstrike", FINE, **how)


def doubling_by_newton(slope, stance, rate, **how):
    """Where the largest multiplier is -1, by Newton with the second derivative of the map."""
    for _ in range(4):
        cycle = gait(slope, stance, rate, **how)
        change = cycle_slopes(cycle, ALONG)["state"]
        bend = multiplier_slopes(cycle, change, ALONG)[0].real
        slope -= (cycle.multipliers[0].real + 1.0) / bend
        stance, rate = float(cycle.state.x.stance), float(cycle.state.x.stance_rate)
    return slope


@pytest.fixture(scope="module")
def branch():
    cycle = gait(0.009, 0.2, -0.2)
    follower = Follower(cycle, family, LOW, HIGH)
    return follower, follower.follow(follower.begin(cycle.point.flat, 0.009, 1.0), 100)


def test_the_first_period_doubling_is_where_newton_on_the_multiplier_finds_it(branch):
    """On the branch, det(I + J) = 0 by Brent's method.

    And by Newton on lambda(slope) = -1 with the second derivative of the map: Garcia et al. (1998)
    have it near 0.0151.
    """
    _, points = branch
    (found,) = [point for point in points if point.kind == "period doubling"]
    assert found.value == pytest.approx(0.0151, abs=5e-5)
    assert found.value == pytest.approx(doubling_by_newton(0.0151, 0.2372, -0.2336), abs=1e-9)


def test_stability_changes_at_the_doubling_and_both_ends_of_the_range_are_reached(branch):
    _, points = branch
    doubling = next(k for k, point in enumerate(points) if point.kind)
    assert all(point.stable for point in points[:doubling])
    assert not any(point.stable for point in points[doubling + 1 :])
    assert points[0].value == pytest.approx(0.009, rel=1e-12) and points[-1].value == HIGH
    cycle = gait(HIGH, float(points[-1].numbers[0]), -0.25)
    assert points[-1].numbers[0] == pytest.approx(float(cycle.state.x.stance), abs=1e-9)


def test_the_branch_of_two_steps_leaves_there_is_stable_and_doubles_again(branch):
    follower, points = branch
    (first,) = [point for point in points if point.kind == "period doubling"]
    other, spot = follower.doubled(first)
    twice = other.follow(spot, 60)
    second = [point for point in twice if point.kind == "period doubling"]
    assert twice[0].value - first.value < 1e-3 and twice[0].stable
    assert len(second) == 1 and 0.0176 < second[0].value < 0.0178
    # By Newton too, from a slope beside it.
    names = follower.map.names
    near = [float(second[0].numbers[names.index(name)]) for name in ("stance", "stance_rate")]
    again = doubling_by_newton(second[0].value + 3e-5, *near, count=2)
    assert second[0].value == pytest.approx(again, abs=1e-9)
    assert twice[-1].value == HIGH and not twice[-1].stable


def test_a_branch_ends_where_the_robot_takes_no_such_step(branch):
    """Beyond 0.0155 this family has no robot: the end is there to 1e-9, with the reason."""

    def until(value):
        if value > 0.0155:
            raise ValueError("too steep")
        return family(value)

    follower, points = branch
    cut = Follower(gait(0.009, 0.2, -0.2), until, LOW, HIGH)
    last = cut.follow(cut.begin(points[0].numbers, 0.009, 1.0), 100)[-1]
    assert last.kind == "end" and "too steep" in last.why
    assert last.value == pytest.approx(0.0155, abs=1e-9)
    assert follower.low == LOW
