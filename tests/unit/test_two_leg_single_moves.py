"""Routes of the two-leg walker that are written move by move."""

import numpy as np
import pytest

from footfall.hybrid.fields import ParameterError
from footfall.machines.parts.terrain.planes import Flat
from footfall.machines.two_leg.course import Verb
from footfall.machines.two_leg.gait import InchwormGait
from footfall.machines.two_leg.robots import Walker, two_leg_walker
from footfall.machines.two_leg.route import blocks_of, parse_route, stacked
from footfall.machines.two_leg.single_moves import grouped, in_the_air
from footfall.machines.two_leg.walker import TwoLegWalker

LEFT = "lift_left 0.01; step_left -0.08; lift_left -0.01"
RIGHT = "lift_right 0.01; step_right -0.08; lift_right -0.01"


def on_flat(route: str, **gait) -> TwoLegWalker:
    return two_leg_walker(terrain=Flat(), route=route, gait=InchwormGait(**gait))


def test_the_six_moves_of_a_step_are_the_step():
    moves, walk = on_flat(f"{LEFT}; {RIGHT}").schedule, on_flat("walk -0.08").schedule
    assert moves is not None and walk is not None
    for name in ("foot", "across", "apart", "above"):
        np.testing.assert_allclose(
            getattr(moves.steps, name), getattr(walk.steps, name), rtol=0, atol=1e-16
        )
    np.testing.assert_allclose(moves.begins, walk.begins, rtol=1e-14)


def test_a_route_s_own_lift_is_not_the_gait_s():
    """Up 40 mm and down 40 mm again at 0.05 m/s, while the gait lifts 10 mm."""
    high = on_flat("lift_left 4 cm; step_left -0.02; lift_left -4 cm; walk -0.05").schedule
    assert high is not None
    np.testing.assert_allclose(np.diff(high.begins[0]), [0.8, 0.4, 0.8], rtol=1e-13)
    np.testing.assert_allclose(np.diff(high.begins[1]), [0.2, 1.0, 0.2], rtol=1e-13)
    assert high.steps.apart[1] == pytest.approx(0.12)  # the walk goes on from where the feet are


def test_moves_over_a_step_and_back_to_verbs():
    walker = two_leg_walker(
        route="walk -0.49; lift_left 0.06; step_left -0.08; lift_left -0.01;"
        " lift_right 0.06; step_right -0.08; lift_right -0.01; walk_to -1.0"
    )
    usual = two_leg_walker()
    assert float(walker.plan_time) == pytest.approx(float(usual.plan_time), rel=1e-13)


@pytest.mark.parametrize(
    ("route", "said"),
    [
        ("lift_left 0.01; walk -0.1", '"walk -0.1": foot 1 is in the air.*"step_left -0.08"'),
        ("step_right -0.1", 'foot 2 is on the ground.*three moves.*"lift_left 0.01"'),
        ("lift_left 0.01; step_right -0.1", '"step_right -0.1": foot 1 is in the air'),
        ("lift_left -0.01", "must be above zero, up"),
        ("lift_left 0.01; step_left 0", "must be not zero"),
        ("lift_left 0.01; step_left -0.08; lift_left 0.01", "below zero, down.*lift_left -0.01"),
        ("lift_left 0.01; step_left -0.08", '"lift_left -0.01"'),
        (f"{LEFT.replace('-0.01', '-0.02')}", "would cut into the step"),
        ("lift_left 0.1; step_left -0.18; lift_left -0.1", "out of reach"),
        ("lift_left 0.06; step_left -0.08; lift_left -0.01; walk -0.1", "both feet at one height"),
    ],
)
def test_what_is_no_footstep_is_refused_with_what_may_come_next(route, said):
    with pytest.raises(ParameterError, match=said) as caught:
        on_flat(route)
    assert caught.value.field == "route"


def test_the_walker_waits_for_the_foot_to_come_down_before_it_plans():
    walker = Walker(terrain=Flat())
    walker.lift_left(0.01).step_left(-0.08)
    assert in_the_air(walker.verbs) and "a foot is in the air" in repr(walker)
    with pytest.raises(ParameterError, match=r"leaves foot 1 in the air.*lift_left -0\.01"):
        walker.plan()
    assert "takes 2 s" in repr(walker.lift_left(-0.01))
    assert "takes 4 s" in repr(walker.lift_right(0.01).step_right(-0.08).lift_right(-0.01))


def test_groups_are_moves_of_one_footstep_or_one_verb():
    verbs = parse_route(f"walk -0.08; {RIGHT}; lift_left 0.02")
    assert [len(group) for group in grouped(verbs)] == [1, 3, 1]
    assert in_the_air(verbs) and not in_the_air(verbs[:-1]) and not in_the_air([])
    assert grouped([Verb("climb", 0.05)]) == [(Verb("climb", 0.05),)]


def test_designs_run_together_as_alone():
    """Rows of many designs, from arrays of strides, are those of each one's own plan."""
    left, right = (moves.replace("-0.08", "-0.02") for moves in (LEFT, RIGHT))
    route, strides = f"{left}; walk_to -0.2; {right}", np.array([0.05, 0.07])
    together = TwoLegWalker(terrain=Flat(), route=route, gait=InchwormGait(stride=strides))
    steps, groups = stacked(blocks_of(together, parse_route(route)), len(strides))
    assert groups == [[0], [1, 2], [3, 4], [5]]
    for lane, stride in enumerate(strides):
        alone = on_flat(route, stride=float(stride)).schedule
        assert alone is not None
        rows = [
            (row, turn)
            for group in groups
            for turn in range(int(steps.times[group[0], lane]))
            for row in group
        ]
        assert len(rows) == int(alone.count)
        for place, (row, _) in enumerate(rows):
            for name in ("foot", "across", "rise", "apart", "above", "lift"):
                here = getattr(steps, name)[row, lane]
                assert here == pytest.approx(getattr(alone.steps, name)[place], abs=1e-14), name
