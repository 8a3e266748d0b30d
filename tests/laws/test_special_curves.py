"""The first period doubling of the simplest walker, over its slope and a spring at its hip."""

import numpy as np
import pytest

import footfall as ff
from footfall.engines.analysis.continuation import Follower
from footfall.engines.analysis.special_curves import SpecialCurve
from footfall.hybrid.fields import param
from footfall.hybrid.system import Rates
from support.toys import NoPower
from support.walkers import Legs, SimplestWalker

FINE = ff.Plan(engine=ff.EventEngine(rtol=1e-12, atol=1e-13))
LOW, HIGH = 0.008, 0.022


class Sprung(SimplestWalker):
    """With a spring between its legs."""

    hip: float = param(0.0, doc="stiffness of the hip, over that of gravity")

    def flow(self, t, x, m):
        rates = super().flow(t, x, m).x
        swing = rates.swing_rate - self.hip * x.swing
        legs = Legs(
            stance=rates.stance, swing=rates.swing, stance_rate=rates.stance_rate, swing_rate=swing
        )
        return Rates(legs, NoPower(none=0.0 * swing))


def branch(hip, start=(0.2, -0.2)):
    """Its gaits over the slope."""

    def family(slope):
        return Sprung(np.float64(slope), np.float64(hip)), Sprung(np.ones(1), None)

    walker = Sprung(0.009, hip)
    cycle = ff.find_cycle(walker, walker.begin(*start), "heelstrike", FINE)
    follower = Follower(cycle, family, LOW, HIGH)
    return follower, follower.follow(follower.begin(cycle.point.flat, 0.009, 1.0), 60)


def plane(slope, hip):
    along = Sprung(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    return Sprung(np.float64(slope), np.float64(hip)), along


@pytest.mark.slow  # a minute or two: the second derivative of the map is compiled
def test_the_curve_of_doublings_is_where_branches_over_the_slope_have_theirs():
    follower, points = branch(0.0)
    (found,) = [point for point in points if point.kind == "period doubling"]
    curve = SpecialCurve(follower, found, plane, 0.0, [(LOW, HIGH), (-0.04, 0.1)])
    rows, slopes, _, _ = curve.at(curve.start)
    # The point was located to 1e-12 of the range, which the scaled equations make some 1e-10.
    assert np.max(np.abs(rows)) < 1e-9
    for k in range(len(curve.start)):
        move = 1e-6 * np.eye(len(curve.start))[k]
        # Central differences: the square of the step, and 1e-13 of the map over it.
        difference = (curve.at(curve.start + move)[0] - curve.at(curve.start - move)[0]) / 2e-6
        assert slopes[:, k] == pytest.approx(difference, abs=1e-6)
    walked = curve.both_ways(30)
    assert walked[0].values[1] == pytest.approx(-0.04) or walked[-1].values[1] == pytest.approx(
        -0.04
    )
    for point in walked:
        assert np.min(np.abs(point.multipliers + 1.0)) < 1e-8
    for point in (walked[2], walked[-3]):
        slope, hip = point.values
        _, there = branch(hip, (0.2, -0.2))
        (alone,) = [p for p in there if p.kind == "period doubling"]
        assert alone.value == pytest.approx(slope, abs=1e-9)
