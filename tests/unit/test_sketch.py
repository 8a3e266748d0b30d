"""Sketches follow the model.

Drawn points are where the states say, and renderers draw them there.
"""

import dataclasses
import itertools
import math

import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from footfall.engines.analysis.summary import summarise
from footfall.engines.simulate import simulate
from footfall.machines import robots
from footfall.machines.parts.terrain.base import AbstractTerrain, Face
from footfall.machines.parts.terrain.gaps import DRAWN_DEPTH, Gap
from footfall.machines.parts.terrain.planes import Slope
from footfall.machines.parts.terrain.profile import Profile
from footfall.machines.parts.terrain.steps import Steps
from footfall.pictures.animate import FRAMES_PER_SECOND, glide, write_animation
from footfall.pictures.draw import draw_ground, draw_pose, side_view, slanted_view, view_of
from footfall.pictures.plot_page import write_plot_page
from footfall.pictures.pose_strip import spaced_rows
from footfall.record.signal import Signal
from footfall.scenario.load import load
from footfall.scene.sketch import (
    Arrow,
    Ball,
    Bar,
    Chart,
    Drawing,
    Ground,
    Link,
    Seen,
    ground_height,
    ground_line,
    segments,
)

#: Rounding of positions of a few metres through a dozen operations.
EXACT = 1e-13
SPACING = math.pi / 5


class Side:
    """Foot, hub and torso of one side, house frame, worked out from the states by the model's own
    definitions.
    """

    def __init__(self, foot_group, hub_group, foot, hub, spoke, fan):
        self.foot_group, self.hub_group, self.foot, self.hub = foot_group, hub_group, foot, hub
        # Unit vector hub to foot; function of the angle on from it.
        self.spoke, self.fan = (spoke, fan)


def planar_points(shipped, row):
    """foot - hub = l (sin theta, -cos theta) along and normal to a ground that descends by gamma
    towards +x.
    """
    run, system = shipped.run, shipped.experiment.system
    gamma = float(system.terrain.descent)
    along, normal = (
        np.array([math.cos(gamma), 0.0, -math.sin(gamma)]),
        np.array([math.sin(gamma), 0.0, math.cos(gamma)]),
    )
    theta = run["spoke_angle"][row]
    length = run["spoke_length"][row] if "spoke_length" in run.columns else system.leg.length

    def towards(angle):
        return math.sin(angle) * along - math.cos(angle) * normal

    foot = run["foot_x"][row] * along
    hub = foot - length * towards(theta)
    sides = [Side("foot", "hub", foot, hub, towards(theta), lambda on: towards(theta + on))]
    torso = (
        hub + system.torso.com_distance * towards(run["torso_angle"][row])
        if "torso_angle" in run.columns
        else None
    )
    return sides, hub, torso


def steered_points(shipped, row):
    """Mid-axle at (x, y, height), sides half a track to the left and right, feet `foot_ahead` of
    their hubs on the ground.
    """
    run, system = shipped.run, shipped.experiment.system
    state = {name: run[name][row] for name in run.of_role("state")}
    ahead = np.array([math.cos(state["heading"]), math.sin(state["heading"]), 0.0])
    left, up = np.array([-ahead[1], ahead[0], 0.0]), np.array([0.0, 0.0, 1.0])
    axle = np.array([state["x"], state["y"], state["height"]])
    sides = []
    for name, sign in (("left", 1.0), ("right", -1.0)):
        # Small roll: the model's own kinematics.
        hub = axle + sign * system.half_track * (left + state["roll"] * up)
        foot = np.array([hub[0], hub[1], 0.0]) + state[f"foot_ahead_{name}"] * ahead
        spoke = (foot - hub) / np.linalg.norm(foot - hub)
        angle = math.atan2(spoke @ ahead, -spoke @ up)
        fan = lambda on, angle=angle: math.sin(angle + on) * ahead - math.cos(angle + on) * up  # noqa: E731
        sides.append(Side(f"{name}_foot", f"{name}_hub", foot, hub, spoke, fan))
    torso = axle + system.torso.com_distance * (
        math.sin(state["torso_angle"]) * ahead - math.cos(state["torso_angle"]) * up
    )
    return sides, axle, torso


def model_points(shipped, row):
    return (steered_points if shipped.name == "rimless-wheel-turning" else planar_points)(
        shipped, row
    )


def rest_length(shipped):
    leg = shipped.experiment.system.leg
    return float(leg.length if hasattr(leg, "length") else leg.rest_length)


def some_rows(run):
    """Over the whole run, and both sides of the third jump."""
    event = run.events[2]
    return [0, event.row_before, event.row_after, *range(50, len(run.t), 67), len(run.t) - 1]


def test_the_stance_spoke_is_drawn_from_foot_to_hub(shipped):
    links = [s for s in shipped.run.sketch if isinstance(s, Link)]
    for row in some_rows(shipped.run):
        seen = shipped.run.seen(row)
        for side in model_points(shipped, row)[0]:
            (link,) = [s for s in links if (s.start, s.end) == (side.foot_group, side.hub_group)]
            ((start, end),) = segments(link, seen)
            np.testing.assert_allclose(start, side.foot, atol=EXACT)
            np.testing.assert_allclose(end, side.hub, atol=EXACT)


def test_the_fan_of_spokes_has_its_first_tip_along_the_stance_spoke_and_the_rest_in_order(shipped):
    length = rest_length(shipped)
    for row in some_rows(shipped.run):
        seen = shipped.run.seen(row)
        for side in model_points(shipped, row)[0]:
            fan = [s for s in shipped.run.sketch if isinstance(s, Bar) and s.body == side.hub_group]
            assert len(fan) == 10
            for i, bar in enumerate(fan):
                ((start, tip),) = segments(bar, seen)
                np.testing.assert_allclose(start, side.hub, atol=EXACT)
                np.testing.assert_allclose(
                    tip, side.hub + length * side.fan(i * SPACING), atol=EXACT
                )
                if i == 0:
                    np.testing.assert_allclose(tip, side.hub + length * side.spoke, atol=EXACT)


def test_at_touchdown_a_drawn_tip_stands_where_the_new_foot_will(shipped):
    """The fan just before the jump and the foothold just after it come from different equations,
    and meet.
    """
    landings = [e for e in shipped.run.events if e.name.startswith("touchdown")]
    assert len(landings) >= 5
    for event in landings:
        for side in model_points(shipped, event.row_after)[0]:
            side_name = event.name.removeprefix("touchdown").removeprefix("_")
            if side_name and not side.foot_group.startswith(side_name):
                continue
            fan = [s for s in shipped.run.sketch if isinstance(s, Bar) and s.body == side.hub_group]
            tips = [segments(bar, shipped.run.seen(event.row_before))[0][1] for bar in fan]
            nearest = min(np.linalg.norm(tip - side.foot) for tip in tips)
            # Events are located to 1e-12 s, feet move at about a metre per second.
            assert nearest < 1e-11


def test_the_torso_is_drawn_from_the_axle_to_its_centre_of_mass(shipped):
    for row in some_rows(shipped.run):
        _, axle, torso = model_points(shipped, row)
        links = [s for s in shipped.run.sketch if isinstance(s, Link) and s.end == "torso"]
        if torso is None:
            assert not links  # the passive wheel has none
            continue
        ((start, end),) = segments(links[0], shipped.run.seen(row))
        np.testing.assert_allclose(start, axle, atol=EXACT)
        np.testing.assert_allclose(end, torso, atol=EXACT)


def test_force_arrows_stand_on_the_feet_and_body_weight_is_fifteen_centimetres(shipped):
    system = shipped.experiment.system
    weight = 9.81 * float(system.mass if hasattr(system, "mass") else system.total_mass)
    for row in some_rows(shipped.run):
        seen = shipped.run.seen(row)
        for side in model_points(shipped, row)[0]:
            (arrow,) = [
                s for s in shipped.run.sketch if isinstance(s, Arrow) and s.at == side.foot_group
            ]
            ((tail, head),) = segments(arrow, seen)
            np.testing.assert_allclose(tail, side.foot, atol=EXACT)
            force = [seen.get(side.foot_group, name) for name in ("fx", "fy", "fz")]
            # N; a spike moves the head by metres.
            np.testing.assert_allclose((head - tail) * weight / 0.15, force, rtol=1e-9, atol=1e-9)


def test_the_drawn_ground_is_the_terrain(shipped):
    (ground,) = [s for s in shipped.run.sketch if isinstance(s, Ground)]
    x = np.linspace(-5.0, 5.0, 41)
    terrain = getattr(shipped.experiment.system, "terrain", None)
    expected = np.zeros(41) if terrain is None else np.asarray(terrain.height(x))
    np.testing.assert_allclose(ground_height(ground, x), expected, atol=EXACT)
    for row in some_rows(shipped.run):
        for side in model_points(shipped, row)[0]:
            assert ground_height(ground, side.foot[0]) == pytest.approx(side.foot[2], abs=EXACT)


def test_a_ground_of_several_pieces_goes_on_beyond_its_ends():
    ground = Ground(((0.0, 0.0), (1.0, 0.0), (2.0, 1.0)))
    np.testing.assert_allclose(
        ground_height(ground, np.array([-3.0, 0.5, 1.5, 2.0, 4.0])), [0.0, 0.0, 0.5, 1.0, 3.0]
    )


def test_body_axes_turn_by_yaw_then_pitch_then_roll():
    """Positive pitch leans forward (up goes to +x), positive yaw turns left, positive roll lifts
    the left side.
    """
    quarter = math.pi / 2
    origin = {"b.x": 1.0, "b.y": 2.0, "b.z": 3.0}
    assert Seen({**origin, "b.pitch": quarter}).place("b", (0, 0, 1)) == pytest.approx([2, 2, 3])
    assert Seen({**origin, "b.yaw": quarter}).place("b", (1, 0, 0)) == pytest.approx([1, 3, 3])
    assert Seen({**origin, "b.roll": quarter}).place("b", (0, 1, 0)) == pytest.approx([1, 2, 4])
    # Pitch is about the axis that yaw has turned: after a quarter to the left, leaning forward goes
    # to +y.
    assert Seen({**origin, "b.yaw": quarter, "b.pitch": quarter}).place(
        "b", (0, 0, 1)
    ) == pytest.approx([1, 3, 3])


@pytest.mark.parametrize("name", ["passive-wheel", "rimless-wheel", "rimless-wheel-turning"])
def test_a_robot_without_gravity_can_be_drawn(name):
    shapes = load(name, ["gravity=0"]).system.sketch()
    assert all(np.isfinite(shape.metres_per_newton) for shape in shapes if isinstance(shape, Arrow))


# --- renderers ------------------------------------------------------------------------------------


def test_a_pose_is_drawn_where_the_sketch_is(shipped):
    run, row = shipped.run, len(shipped.run.t) // 2
    project = view_of(run)
    assert project is (slanted_view if shipped.name == "rimless-wheel-turning" else side_view)
    axes = Figure().add_subplot()
    artists = draw_pose(axes, run.sketch, run.seen(row), project)
    # Every shape once.
    assert len(artists) == len([s for s in run.sketch if not isinstance(s, Ground)])
    drawn = [line.get_xydata() for line in axes.lines]
    for side in model_points(shipped, row)[0]:
        ends = np.array([project(side.foot), project(side.hub)])
        assert any(np.allclose(line, ends, atol=EXACT) for line in drawn)
    balls = [s for s in run.sketch if isinstance(s, Ball)]
    assert [patch.center for patch in axes.patches] == [
        project(run.seen(row).place(ball.body, ball.centre)) for ball in balls
    ]
    draw_ground(axes, run.sketch, -1.0, 1.0)
    assert len(axes.lines) == len(drawn) + 1
    for artist in artists:
        artist.remove()  # as an animation does
    assert len(axes.lines) == 1 and len(axes.patches) == 1  # the profile, and the earth below it


def looks_drawn(image):
    """Not one flat colour: some pixels are ink, and most are paper."""
    grey = np.asarray(image.convert("L"), float)
    return grey.std() > 5.0 and 0.001 < np.mean(grey < 200) < 0.5  # of 255


def test_the_plot_page_is_a_picture(shipped, tmp_path):
    path = tmp_path / "plots.png"
    write_plot_page(shipped.run, summarise(shipped.run, shipped.name), path, title=shipped.name)
    with Image.open(path) as image:
        assert image.format == "PNG" and image.width > 1000 and image.height > 700
        assert looks_drawn(image)


@pytest.mark.parametrize(
    "name", ["passive-wheel", "rimless-wheel-turning"]
)  # side view, slanted view
def test_an_animation_moves(name, tmp_path):
    experiment = load(name, duration=0.4)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    write_animation(run, tmp_path / "run.gif")
    with Image.open(tmp_path / "run.gif") as image:
        assert image.format == "GIF" and image.n_frames == 0.4 * FRAMES_PER_SECOND
        frames = []
        for i in range(image.n_frames):
            image.seek(i)
            assert image.info["duration"] == 1000 / FRAMES_PER_SECOND  # ms: it plays in real time
            assert looks_drawn(image.convert("RGB"))
            frames.append(np.asarray(image.convert("L"), float))
    assert all(np.abs(a - b).max() > 50 for a, b in itertools.pairwise(frames))


def test_a_run_that_ended_at_its_start_can_be_animated(tmp_path):
    experiment = load("rimless-wheel", ["torso.mass=0"], duration=0.1)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.outcome.name == "diverged"
    write_animation(run, tmp_path / "run.gif")
    with Image.open(tmp_path / "run.gif") as image:
        assert image.n_frames == 1 and looks_drawn(image.convert("RGB"))


class Waves(AbstractTerrain):
    """A terrain of one's own, in no catalogue: nothing but a height (and faces, to walk on)."""

    def height(self, x):
        return 0.004 * jnp.sin(40.0 * x)

    def faces(self, x, z, vx, vz):
        del vx, vz
        return (Face(self.height(x) - z, -0.16 * jnp.cos(40.0 * x), 1.0 + 0.0 * x),)


def test_a_terrain_of_ones_own_is_drawn_as_it_is():
    """It was drawn as the line through its heights at 0 and 1 m.

    Flat ground under a centipede that walked over waves.
    """
    shapes = dataclasses.replace(robots.centipede(), terrain=Waves()).sketch()
    axes = Figure().add_subplot()
    draw_ground(axes, shapes, -0.5, 1.5)
    (line,) = [artist for artist in axes.artists + axes.lines if isinstance(artist, Line2D)]
    x, z = line.get_data()
    np.testing.assert_allclose(z, 0.004 * np.sin(40.0 * np.asarray(x)), atol=EXACT)
    assert np.diff(x).max() < 0.1 * 2 * np.pi / 40  # fine enough to be seen as a wave


@pytest.mark.parametrize(
    ("terrain", "x", "z"),
    [
        (Slope(angle=0.1), [-2.0, 3.0], [2 * np.tan(0.1), -3 * np.tan(0.1)]),
        (Steps(edges=(0.5,), heights=(0.05,)), [0.4, 0.499, 0.501, 9.0], [0.0, 0.0, 0.05, 0.05]),
        (Profile(places=(0.0, 1.0), heights=(0.0, 0.2)), [-1.0, 0.5, 2.0], [0.0, 0.1, 0.2]),
        (Gap(gap_start=1.0, gap_width=0.2), [0.9, 1.1, 1.3], [0.0, -DRAWN_DEPTH, 0.0]),
    ],
)
def test_shipped_terrains_are_drawn_at_their_height_and_gaps_with_walls(terrain, x, z):
    np.testing.assert_allclose(ground_height(Ground(terrain.outline), np.array(x)), z, atol=EXACT)


def test_the_rows_of_a_carpet_and_of_like_feet_are_called_as_the_robot_calls_them(hand_made):
    carpet = Chart("Rings", ("body.x", "motor.torque"), "carpet", "ring, 0 is the tail")
    feet = {f"tip.load.{i}": hand_made["steps"] for i in range(2)}
    run = dataclasses.replace(
        hand_made,
        draw=lambda: Drawing((), {}, (carpet,)),
        columns=hand_made.columns | feet,
        signals=hand_made.signals | {n: Signal(n, "N", "load", "output") for n in feet},
        travel=hand_made.travel._replace(contacts=tuple(feet), legs="ring"),
    )
    labels = [axes.get_ylabel() for axes in run.plot().axes]
    assert "ring, 0 is the tail" in labels and "ring" in labels
    assert not any("head" in label for label in labels)


def test_ground_goes_on_beyond_its_points_wherever_it_is_looked_at():
    ramp = Ground(((0.0, 0.0), (1.0, 0.1), (2.0, 0.0)))
    for x0, x1, wanted in [
        (4.0, 5.0, [(4.0, -0.2), (5.0, -0.3)]),
        (-2.0, -1.0, [(-2.0, -0.2), (-1.0, -0.1)]),
        (0.5, 1.5, [(0.5, 0.05), (1.0, 0.1), (1.5, 0.05)]),
        (-1.0, 3.0, [(-1.0, -0.1), (0.0, 0.0), (1.0, 0.1), (2.0, 0.0), (3.0, -0.1)]),
    ]:
        np.testing.assert_allclose(ground_line(ramp, x0, x1), wanted, atol=1e-15)


def test_the_camera_stays_with_a_robot_of_steady_speed_from_the_first_frame_to_the_last():
    """However fast: a mean over one side alone ran 1.75 m ahead of a runner of 7 m/s."""
    centres = np.stack([0.35 * np.arange(60.0), np.full(60, 0.9)], axis=1)
    np.testing.assert_allclose(glide(centres), centres, atol=1e-12)
    shaken = centres + [0.0, 0.1] * (-1.0) ** np.arange(60)[:, None]
    assert np.abs(glide(shaken)[20:40, 1] - 0.9).max() < 0.01  # and shaking is not followed


def test_poses_of_an_upright_robot_stand_beside_each_other(hand_made):
    """A stick of 0.5 m that goes 2 m: it has no width, and its poses stood on one spot."""
    t = np.linspace(0.0, 4.0, 401)
    places = {"body.x": 0.5 * t, "body.z": 0.5 + 0.0 * t, "foot.x": 0.5 * t}
    run = dataclasses.replace(
        hand_made,
        t=t,
        columns=places,
        signals={name: Signal(name, "m", "place", "output") for name in places},
        draw=lambda: Drawing((Link("foot", "body"),)),
    )
    x = run["body.x"][spaced_rows(run)]
    assert len(x) == 8 and np.diff(x).min() > 0.15
