"""Routes of the two-leg walker.

What may be written, what is refused with which words, and the footsteps the planner finds.
"""

import functools
import itertools
import math
import re

import numpy as np
import pytest

from footfall.hybrid.fields import ParameterError
from footfall.machines.parts.terrain.planes import Flat
from footfall.machines.parts.terrain.steps import Steps
from footfall.machines.two_leg import planner as two_leg_planner
from footfall.machines.two_leg.course import Footstep, Stand, Verb, expanded
from footfall.machines.two_leg.gait import InchwormGait
from footfall.machines.two_leg.kinematics import Motion, Point, pose
from footfall.machines.two_leg.moves import legs_of
from footfall.machines.two_leg.planner import GRAIN, plan_to
from footfall.machines.two_leg.reach import check_reach, corners
from footfall.machines.two_leg.robots import Walker, two_leg_walker
from footfall.machines.two_leg.route import blocks_of, footsteps_of, parse_route
from footfall.machines.two_leg.support import (
    Build,
    footing,
    ground_under,
    links_below,
    obstacle,
    way_over,
)
from footfall.machines.two_leg.walker import TwoLegWalker

START = Stand(0.0, 0.0, 0.1, 0.0)
#: Places are sums of a few decimetres.
EXACT = {"rel": 0, "abs": 1e-12}


def walker(route: str = "walk -0.005", edges=(0.5,), heights=(0.05,), **options) -> TwoLegWalker:
    gait = {name: options.pop(name) for name in ("stride", "lift") if name in options}
    return two_leg_walker(
        terrain=Steps(edges=edges, heights=heights),
        gait=InchwormGait(**gait),
        route=route,
        **options,
    )


def on_flat(route: str, **gait) -> TwoLegWalker:
    return two_leg_walker(terrain=Flat(), route=route, gait=InchwormGait(**gait))


def footsteps(made: TwoLegWalker) -> tuple[list[Footstep], list[Stand], list[Verb]]:
    return footsteps_of(made, parse_route(made.route))


def refusal(*arguments, **options) -> str:
    """What is said of a route that cannot be walked. It is the route that is pointed at."""
    with pytest.raises(ParameterError) as caught:
        walker(*arguments, **options)
    assert caught.value.field == "route"
    return str(caught.value)


# --- grammar --------------------------------------------------------------------------------------


def test_a_route_is_verbs_with_distances_in_any_unit_of_length():
    expected = [Verb("walk", -0.49), Verb("climb", 0.05), Verb("walk_to", -1.0), Verb("go_to", 2.0)]
    assert parse_route("walk -0.49; climb 0.05; walk_to -1; go_to 2") == expected
    for text in (
        "walk -49 cm;climb 50 mm ; walk_to -1 m;go_to 2;",
        " walk  -490 mm; climb 5 cm; walk_to -100 cm ; ; go_to 2e0",
    ):
        parsed = parse_route(text)
        assert [verb.name for verb in parsed] == [verb.name for verb in expected]
        assert [verb.value for verb in parsed] == pytest.approx(
            [verb.value for verb in expected], rel=1e-15
        )
    assert str(Verb("walk", -0.49)) == "walk -0.49"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "wlak -0.1",
            [
                '"wlak -0.1"',
                "Known: walk, walk_to, climb, go_to, lift_left",
                'Did you mean "walk"?',
            ],
        ),
        ("walk -0.1; clim 0.05", ['"clim 0.05"', 'Did you mean "climb"?']),
        ("walk-0.1", ["is not a verb", 'Did you mean "walk"?']),
        ("walk", ["a distance is missing", '"walk -0.49"']),
        ("walk far", ['"far" is not a number in m', '"walk -0.49"']),
        ("climb 3 kg", ["in kg, but this needs m", '"climb -49 cm"']),
        ("walk nan", ["not a finite number"]),
        ("walk -inf", ["not a finite number"]),
        ("", ["the route is empty", "walk_to"]),
        (" ; ", ["the route is empty"]),
    ],
)
def test_what_is_not_a_route_is_told_with_a_suggestion(text, words):
    said = refusal(text)
    assert all(word in said for word in words), said
    assert ".." not in said


# --- walking --------------------------------------------------------------------------------------


def test_the_usual_route_is_14_steps_of_two_feet_foot_1_first():
    rows, stands, whose = footsteps(walker("walk -0.49; climb 0.05; walk_to -1.0"))
    assert len(rows) == 28 and [row.foot for row in rows] == [1, 2] * 14
    assert [-row.across for row in rows[::2]] == pytest.approx(
        [0.08] * 6 + [0.01] + [0.08] * 6 + [0.03], **EXACT
    )
    assert [row.rise for row in rows] == [0] * 14 + [0.05] * 2 + [0] * 12
    assert [verb.name for verb in whose] == ["walk"] * 14 + ["climb"] * 2 + ["walk_to"] * 12
    assert stands[0] == START and stands[-1] == pytest.approx((-1.0, 0.05, -0.9, 0.05), **EXACT)
    for row, before in zip(rows, stands, strict=False):
        assert (row.apart, row.above) == pytest.approx(
            (before.x5 - before.x1, before.y5 - before.y1), **EXACT
        )


@pytest.mark.parametrize(
    ("distance", "lengths"),
    [
        (-0.08, [0.08]),
        (-0.16, [0.08, 0.08]),
        (-0.2, [0.08, 0.08, 0.04]),
        (-0.05, [0.05]),
        (-0.24, [0.08] * 3),  # 0.24/0.08 is above 3 in binary: not a fourth step of no length
        (0.2, [0.08, 0.08, 0.04]),
    ],
)
def test_a_walk_is_full_strides_and_what_remains_either_way(distance, lengths):
    rows, stands, _ = footsteps(on_flat(f"walk {distance}"))
    sign = math.copysign(1.0, distance)
    assert [sign * row.across for row in rows[::2]] == pytest.approx(lengths, **EXACT)
    assert [row.across for row in rows[1::2]] == [row.across for row in rows[::2]]
    # The leading foot first.
    assert [row.foot for row in rows] == ([1, 2] if distance < 0 else [2, 1]) * len(lengths)
    assert stands[-1] == pytest.approx((distance, 0.0, distance + 0.1, 0.0), **EXACT)


@pytest.mark.parametrize(
    "text", ["walk 0", "walk_to 0", "walk -1e-12", "go_to 0", "walk 0; walk_to 0"]
)
def test_a_route_over_no_distance_asks_for_no_step(text):
    assert f'the route "{text}" asks for no step at all' in refusal(text)


@pytest.mark.parametrize(
    "nothing", ["walk 0", "walk_to -0.49", "walk 1e-15", "walk_to -0.49; walk_to -0.49"]
)
def test_a_walk_over_no_distance_changes_nothing_neither_the_direction(nothing):
    """-0.49 less the sum of seven strides is a rounding of either sign; that is not a walk back,
    and the climb after it goes on forward.
    """
    rows, stands, _ = footsteps(walker(f"walk -0.49; {nothing}; climb 0.05"))
    assert len(rows) == 16 and stands[-1].x1 == pytest.approx(-0.57, **EXACT)
    many = TwoLegWalker(gait=InchwormGait(stride=np.array([0.08, 0.08])))
    blocks = blocks_of(many, parse_route(f"walk -0.49; {nothing}; climb 0.05"))
    assert [step.foot for step in blocks[-1].steps] == [1, 2]


def test_many_designs_at_once_make_the_footsteps_of_each():
    verbs, strides = parse_route("walk -0.49; climb 0.05; walk_to -1.0"), (0.06, 0.08, 0.09)
    many = TwoLegWalker(gait=InchwormGait(stride=np.array(strides)))
    assert many.schedule is None
    blocks = [step for block in blocks_of(many, verbs) for step in block.steps]
    for lane, stride in enumerate(strides):
        mine = [
            Footstep(*(np.broadcast_to(v, len(strides))[lane] for v in step)) for step in blocks
        ]
        rows, _, _ = footsteps(walker("walk -0.49; climb 0.05; walk_to -1.0", stride=stride))
        np.testing.assert_allclose(expanded(mine), rows, rtol=0, atol=1e-12)
    with pytest.raises(ParameterError, match="foothold by foothold"):
        blocks_of(many, parse_route("go_to -1"))


def test_a_step_down_goes_up_first():
    """Errata 13: up by the lift, across, down by lift and height.

    And up: height and lift, across, down by the lift.
    """
    gait = InchwormGait()
    assert legs_of(gait, Footstep(1, -0.08, -0.05, 0.1, 0.0)).distances == pytest.approx(
        (0.01, -0.08, -0.06), **EXACT
    )
    assert legs_of(gait, Footstep(1, -0.08, 0.05, 0.1, 0.0)).distances == pytest.approx(
        (0.06, -0.08, -0.01), **EXACT
    )
    hurdle = Footstep(1, -0.08, 0.0, 0.1, 0.0, 1.0, 0.03)
    assert legs_of(gait, hurdle).distances == pytest.approx((0.04, -0.08, -0.04), **EXACT)


# --- reach ----------------------------------------------------------------------------------------


def longest(said: str) -> float:
    """The nearest feasible stride, as told."""
    (found,) = re.findall(r"longest stride at this height is ([\d.]+) mm \(gait\.stride\)", said)
    return 1e-3 * float(found)


def test_a_stride_out_of_reach_names_the_footstep_the_limit_and_the_longest_stride():
    said = refusal("walk -0.49; climb 0.05; walk_to -1.0", stride=0.095)
    assert (
        said.startswith('footstep 13 (of "climb 0.05"): foot 1 is out of reach')
        and "stretch to 200 mm" in said
    )
    # 0.0908 m, told to 0.01 mm.
    assert longest(said) == pytest.approx(math.sqrt(0.04 - 0.06**2) - 0.1, abs=5e-6)
    assert (
        walker("walk -0.49; climb 0.05; walk_to -1.0", stride=longest(said) - 1e-5).schedule
        is not None
    )

    with pytest.raises(ParameterError) as caught:
        on_flat("walk -0.5", stride=0.1)
    said = str(caught.value)
    assert said.startswith('footstep 1 (of "walk -0.5"): foot 1 is out of reach')
    assert longest(said) == pytest.approx(math.sqrt(0.04 - 0.01**2) - 0.1, abs=5e-6)  # 0.09975 m
    assert on_flat("walk -0.5", stride=longest(said) - 1e-5).schedule is not None


def test_a_step_higher_than_the_legs_has_no_stride():
    said = refusal("walk -0.49; climb 0.25", heights=(0.25,))
    assert (
        said.startswith('footstep 15 (of "climb 0.25")')
        and "No stride reaches 260 mm up with legs of 200 mm" in said
    )


def test_a_stride_as_long_as_the_feet_are_apart_would_put_one_foot_on_the_other():
    with pytest.raises(ParameterError, match="foot 1 would meet the other foot"):
        check_reach(walker(), Footstep(1, 0.1, 0.0, 0.1, 0.0), "footstep 1")


def test_nowhere_along_its_moves_are_the_feet_further_apart_than_at_their_ends():
    made, step = walker(), Footstep(2, -0.08, 0.05, 0.18, -0.05)
    ends = np.array(corners(made, step))
    s = np.linspace(0.0, 1.0, 101)[:, None]
    along = np.concatenate([a * (1 - s) + b * s for a, b in itertools.pairwise(ends)])
    assert np.hypot(*along.T).max() == pytest.approx(np.hypot(*ends.T).max(), **EXACT)


# --- ground ---------------------------------------------------------------------------------------


def test_edges_increase_and_have_a_height_each():
    for edges, heights, field, words in (
        ((0.5, 0.4), (0.05, 0.1), "edges", "must increase"),
        ((0.5, 0.5), (0.05, 0.1), "edges", "must increase"),
        ((0.5, 0.6), (0.05,), "heights", "2 edges need as many heights, there are 1"),
        ((math.nan,), (0.05,), "edges", "not a finite number"),
    ):
        with pytest.raises(ParameterError, match=words) as caught:
            Steps(edges=edges, heights=heights)
        assert caught.value.field == field


def test_ground_changes_at_its_edges_and_pieces_are_the_same_ground():
    ground = Steps(edges=(0.2, 0.3, 0.6), heights=(0.05, -0.02, 0.0))
    x = np.array([-1.0, 0.19, 0.2, 0.29, 0.3, 0.59, 0.6, 9.0])
    expected = [0, 0, 0.05, 0.05, -0.02, -0.02, 0, 0]
    assert np.asarray(ground.height(x)) == pytest.approx(expected, rel=1e-15)
    assert [next(h for a, b, h in ground.pieces() if a <= v < b) for v in x] == expected


@pytest.mark.parametrize(
    ("route", "words"),
    [
        # Foot 1 reaches from its ankle backwards by 0.1 m; the edge is at x = -0.5.
        (
            "walk -0.53",
            [
                'footstep 13 (of "walk -0.53"): foot 1 lands at x = -0.53 m, 0 mm high',
                "rises to 50 mm",
                "or climb",
            ],
        ),
        (
            "walk -0.49; climb 0.04",
            ["footstep 15", "40 mm high", "rises to 50 mm", "cut into the step"],
        ),
        (
            "walk -0.4; climb 0.05",
            ["footstep 11", "foot 1 lands at x = -0.48 m, 50 mm high", "no ground at that height"],
        ),
        (
            "walk -0.45; climb 0.05",
            ["footstep 13", "with 70 mm of it over the edge; 50 mm are allowed (robot.overhang)"],
        ),
        (
            "walk -0.49; climb 0.05; walk 0.3",
            ['footstep 17 (of "walk 0.3"): foot 2 lands at x = -0.39 m', "no ground"],
        ),
    ],
    ids=[
        "into the step",
        "not high enough",
        "too early",
        "too far over the edge",
        "back over the edge",
    ],
)
def test_a_foothold_that_the_ground_does_not_give_is_refused_with_its_place(route, words):
    said = refusal(route)
    assert all(word in said for word in words), said


def test_a_bump_in_the_middle_of_a_foothold_is_refused():
    said = refusal("walk -0.3", edges=(0.22, 0.24), heights=(0.02, 0.0))
    assert (
        "foot 1 lands at x = -0.24 m, 0 mm high, where the ground under it rises to 20 mm" in said
    )


def test_a_foot_must_be_lifted_over_what_is_in_its_way():
    """A ridge of 15 mm between two footholds; the route's lift of 10 mm runs into it, one of 20 mm
    does not.
    """
    ridge = {"edges": (0.03, 0.04), "heights": (0.015, 0.0), "foot_length": 0.05, "stride": 0.09}
    assert (
        "foot 1 is lifted 10 mm, and ground 15 mm above it is in its way. Lift it higher"
        " (gait.lift)" in refusal("walk -0.09", lift=0.01, **ridge)
    )
    assert "lifted 15 mm, and ground 15 mm above" in refusal("walk -0.09", lift=0.015, **ridge)
    made = walker(lift=0.02, **ridge)
    assert way_over(Build.of(made), made.terrain, 1, -0.09, START) == 0.015
    # As many designs at once are told: what would graze the ground is refused too.
    build = Build.of(made)._replace(lift=np.array([0.014, 0.015, 0.016]))
    step = Footstep(1, -0.09, 0.0, 0.1, 0.0)
    told = footing(build, made.terrain, 1, step, START).blocked(build)
    assert told.tolist() == [True, True, False]


def test_no_foot_rests_in_the_air_over_level_ground():
    with pytest.raises(
        ParameterError, match=r"foot 1 lands at x = -0.08 m, 50 mm high, where there is no ground"
    ):
        on_flat("climb 0.05")


def test_a_shank_may_touch_the_face_of_a_step_but_not_enter_it():
    """Seven strides end within a rounding of the edge, on either side of it."""
    for route in ("walk -0.5", "walk -0.3; walk -0.2", "walk_to -0.5"):
        assert walker(route).schedule is not None
    assert "cut into the step" in refusal("walk -0.501")


@pytest.mark.parametrize(("room", "cuts"), [(0.01, True), (0.08, False)])
def test_a_thigh_must_clear_the_corner_of_a_step(room, cuts):
    """Foot 1 on a step of 13 cm, foot 2 close below it.

    The ankle is lower than the corner, and the thigh leans over it.
    """
    made = walker(edges=(0.0,), heights=(0.13,), foot_length=0.005, route="walk 0.01")
    stand = Stand(room - 0.14, 0.13, room, 0.0)
    said = obstacle(made, Footstep(2, -0.1, 0.13, 0.14, -0.13), stand)
    assert (
        said is not None
        and said.startswith("link 3 would pass")
        and "deep through the ground" in said
    ) == cuts
    assert cuts or said is None


def test_how_much_of_a_foot_has_ground_under_it():
    made = walker()
    on_step = Stand(-0.57, 0.05, -0.47, 0.05)
    # Its toe is over the edge.
    assert ground_under(Build.of(made), made.terrain, 1, on_step) == pytest.approx(
        (0.0, 0.07), **EXACT
    )
    # Its ankle is.
    assert ground_under(Build.of(made), made.terrain, 2, on_step) == pytest.approx(
        (0.03, 0.1), **EXACT
    )
    assert ground_under(Build.of(made), made.terrain, 1, START) == (0.0, 0.1)
    assert ground_under(Build.of(made), made.terrain, 1, Stand(-0.3, 0.02, -0.2, 0.0)) == (0.0, 0.0)


@pytest.mark.parametrize(("overhang", "fits"), [(0.02, False), (0.03, True), (0.1, True)])
def test_the_overhang_that_is_allowed_decides(overhang, fits):
    """The usual climb hangs 30 mm over the edge."""
    if fits:
        assert walker("walk -0.49; climb 0.05", overhang=overhang).schedule is not None
    else:
        assert "with 30 mm of it over the edge; 20 mm are allowed" in refusal(
            "walk -0.49; climb 0.05", overhang=overhang
        )


def test_climbing_down_lands_on_the_lower_ground():
    """Foot 1 hangs 30 mm over the edge, and its next foothold begins 20 mm beyond it."""
    down = {"edges": (0.05,), "heights": (-0.05,)}
    rows, stands, _ = footsteps(walker("walk -0.08; climb -0.05; walk -0.2", **down))
    assert stands[-1] == pytest.approx((-0.36, -0.05, -0.26, -0.05), **EXACT)
    assert [row.rise for row in rows[2:4]] == [-0.05, -0.05]
    # Its toe would still be on the upper one.
    assert "rises to 0 mm" in refusal("climb -0.05", edges=(0.11,), heights=(-0.05,))


# --- the planner ----------------------------------------------------------------------------------

TERRAINS = {
    "up": ((0.2,), (0.05,), -0.4),
    "down": ((0.2,), (-0.05,), -0.4),
    "up and down": ((0.2, 0.4), (0.05, 0.0), -0.6),
    "a gap of 60 mm": ((0.15, 0.21), (-1.0, 0.0), -0.4),
}


@functools.cache
def planned(name: str) -> tuple[TwoLegWalker, list[Footstep], float]:
    edges, heights, goal = TERRAINS[name]
    made = walker(edges=edges, heights=heights)
    return made, plan_to(made, START, goal), goal


@pytest.mark.parametrize("name", TERRAINS)
def test_every_footstep_of_a_plan_can_be_made_and_the_last_arrives(name):
    made, steps, goal = planned(name)
    stand = START
    for step in steps:
        assert (step.apart, step.above) == pytest.approx(
            (stand.x5 - stand.x1, stand.y5 - stand.y1), **EXACT
        )
        assert GRAIN < abs(step.across) <= 0.08 * (1 + 1e-9)
        check_reach(made, step, "")
        assert obstacle(made, step, stand) is None
        stand = stand.after(step)
    height = made.terrain.heights[-1]
    # A goal counts as reached within the planner's grain.
    assert stand == pytest.approx((goal, height, goal + 0.1, height), rel=0, abs=GRAIN)
    least = 2 * math.ceil(-goal / 0.08 - 1e-9)
    assert least <= len(steps) <= least + 3  # obstacles cost a few footsteps, not a detour


def test_a_plan_crosses_a_gap_without_a_foot_in_it():
    made, steps, _ = planned("a gap of 60 mm")
    stand = START
    for step in steps:
        stand = stand.after(step)
        assert (stand.y1, stand.y5) == (0.0, 0.0)
        for foot in (1, 2):
            low, high = ground_under(Build.of(made), made.terrain, foot, stand)
            # Hanging over it as much as is allowed, at the most.
            assert 0.1 - (high - low) <= 0.05 + 1e-9


def test_a_gap_wider_than_reach_is_refused_with_the_place():
    with pytest.raises(ParameterError) as caught:
        plan_to(walker(edges=(0.15, 0.35), heights=(-1.0, 0.0)), START, -0.5)
    said = str(caught.value)
    assert caught.value.field == "route"
    assert said.startswith(
        '"go_to -0.5": no footsteps lead there among the places tried. The nearest place reached'
        " has foot 1 at x = -0.2 m, 0 mm high"
    )
    assert said.endswith(
        "The widest gap on the way is 200 mm; a stride reaches 80 mm, and 50 mm of a foot may hang"
        " over."
    )


def test_a_gap_that_one_foot_must_bridge_is_crossed():
    """90 mm, more than a stride.

    A foot is put down across it, with a little of it on either side.
    """
    rows, _, _ = footsteps(walker("go_to -1.0", edges=(0.3, 0.39), heights=(-0.3, 0.0)))
    assert len(rows) == 26


def test_a_search_that_gives_up_says_so_and_not_that_there_is_no_way(monkeypatch):
    monkeypatch.setattr(two_leg_planner, "MOST_STANDS", 50)
    assert "50 places to stand were looked at and none was the goal" in refusal(
        "go_to -1.0", stride=0.01
    )
    assert "below the 0.1 mm that places are told apart by" in refusal("go_to -1.0", stride=5e-5)


def test_ends_and_corners_say_how_deep_a_link_goes():
    """Against 400 points along every link, in the same poses.

    Nothing deeper is found, and hardly anything shallower.
    """
    draw, cut = np.random.default_rng(7), 0
    for _ in range(400):
        high = draw.uniform(0.1, 0.16)
        made = two_leg_walker(
            terrain=Steps(edges=(0.5,), heights=(high,)),
            gait=InchwormGait(lift=0.01),
            route="walk -0.01",
        )
        stand = Stand(-0.5 - draw.uniform(0.0, 0.1), high, -0.5 + draw.uniform(0.0, 0.08), 0.0)
        step = Footstep(
            2, -draw.uniform(0.3, 0.95) * (stand.x5 - stand.x1), high, stand.x5 - stand.x1, -high
        )
        mine = links_below(Build.of(made), made.terrain, 2, step, stand).max()
        s = np.linspace(0.0, 1.0, 17)
        ways = [(0.0, 0.0), (0.0, high + 0.01), (step.across, high + 0.01), (step.across, high)]
        deepest = -np.inf
        for a, b in itertools.pairwise(ways):
            x5, y5 = stand.x5 + a[0] * (1 - s) + b[0] * s, a[1] * (1 - s) + b[1] * s
            feet = [
                Point(Motion(x), Motion(y)) for x, y in ((stand.x1 + 0 * s, high + 0 * s), (x5, y5))
            ]
            points = [np.stack([p.x.value, p.y.value]) for p in pose(made.limbs, *feet).points]
            for one, two in itertools.pairwise(points):
                x, y = one[..., None] + (two - one)[..., None] * np.linspace(0.0, 1.0, 400)
                deepest = max(deepest, float(np.max(np.where(x < -0.5 - 1e-9, high, 0.0) - y)))
        if np.isfinite(deepest) and np.hypot(stand.x5 - stand.x1, high + 0.01) < 0.2:
            cut += deepest > 1e-6
            assert deepest - 1e-9 <= mine <= deepest + 1e-3  # 400 points on 100 mm
    assert cut >= 1  # there was one to find


@pytest.mark.parametrize("goal", [-0.3, 0.16])
def test_on_the_flat_the_fewest_footsteps_are_those_of_a_walk(goal):
    flat = on_flat("walk -0.01")
    assert (
        len(plan_to(flat, START, goal))
        == len(footsteps(on_flat(f"walk {goal}"))[0])
        == 2 * math.ceil(abs(goal) / 0.08 - 1e-9)
    )


# --- verbs ----------------------------------------------------------------------------------------


def same_plan(one: TwoLegWalker, other: TwoLegWalker) -> None:
    assert type(one) is type(other) and one.schedule is not None and other.schedule is not None
    for mine, its in zip(footsteps(one)[:2], footsteps(other)[:2], strict=True):
        assert mine == its
    np.testing.assert_array_equal(one.schedule.begins, other.schedule.begins)


def test_the_verbs_of_the_source_give_the_plan_of_the_route():
    robot = Walker()
    robot.walk(-0.49)
    robot.climb(0.05)
    robot.walk_to(-1.0)
    same_plan(robot.plan(), two_leg_walker())
    same_plan(
        Walker().walk(-0.49).climb(0.05).walk_to(-1.0).plan(),
        two_leg_walker(route="walk -49 cm; climb 5 cm; walk_to -1"),
    )


def test_a_verb_is_planned_over_the_terrain_of_its_walker_too():
    edges, heights, goal = TERRAINS["a gap of 60 mm"]
    robot = Walker(terrain=Steps(edges=edges, heights=heights)).go_to(goal)
    assert footsteps(robot.plan())[0] == planned("a gap of 60 mm")[1]


def test_what_cannot_be_done_is_said_at_the_verb_that_asks_for_it():
    robot = Walker().walk(-0.4)
    with pytest.raises(ParameterError, match=r'of "climb 0.05"'):
        robot.climb(0.05)


def test_the_planner_finds_as_few_footsteps_as_each_foot_needs():
    """On level ground each foot needs its way over the longest stride, rounded up.

    No plan can be shorter.
    """
    for goal in (-0.5, -0.33, 0.25):
        rows, _, _ = footsteps(on_flat(f"go_to {goal}"))
        assert len(rows) == 2 * math.ceil(abs(goal) / 0.08)


@pytest.mark.parametrize(
    ("edges", "heights", "words"),
    [
        ((-0.05,), (0.02,), "foot 1, which starts at x = 0 m, would stand inside a step"),
        ((0.0,), (-0.3,), None),  # ahead of the ankle: nothing of the foot is over it
        ((-0.06,), (-0.3,), "foot 1 starts with 60 mm of it over an edge; 50 mm are allowed"),
    ],
)
def test_where_a_route_begins_must_hold_both_feet(edges, heights, words):
    ground = Steps(edges=edges, heights=heights)
    if words is None:
        footsteps(TwoLegWalker(terrain=ground, route="walk 0.05"))
        return
    with pytest.raises(ParameterError, match=words):
        TwoLegWalker(terrain=ground, route="walk 0.05")
