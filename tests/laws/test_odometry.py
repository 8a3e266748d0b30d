"""Where a robot of the stack is seen: by what was measured, beside where it really was."""

import dataclasses
import math
import xml.etree.ElementTree as ElementTree

import jax
import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.plant import AbstractPlant
from footfall.machines.rimless_wheel.odometry import course, rolled
from footfall.realtime import stack_poses
from footfall.realtime.stack_log import FILE_NAME, read_stack_log
from footfall.realtime.stack_poses import add_poses
from support.stack_logs import bench_log

SPOKES, LENGTH, HALF_TRACK = 10, 0.26, 0.155


def test_a_polygon_rolls_over_its_corners_without_a_jump_and_without_slip():
    turned = np.linspace(math.pi / 10, -4.0, 20_001)
    at = rolled(turned, SPOKES, LENGTH)
    corner = 2 * LENGTH * math.sin(math.pi / SPOKES)
    np.testing.assert_allclose(at.foot, corner * at.steps)
    assert np.abs(at.spoke_angle).max() <= math.pi / SPOKES + 1e-12
    np.testing.assert_allclose(np.hypot(at.hub - at.foot, at.height), LENGTH)
    # The hub goes by l theta_dot at most, through every corner.
    step = turned[0] - turned[1]
    assert np.hypot(np.diff(at.hub), np.diff(at.height)).max() <= LENGTH * step * (1 + 1e-9)
    back = rolled(-turned, SPOKES, LENGTH)  # the mirror image
    np.testing.assert_allclose(back.hub, -at.hub, atol=1e-12)
    np.testing.assert_allclose(back.height, at.height)


@pytest.mark.parametrize("turn", [0.5, -2.0])
def test_two_wheels_that_roll_unequally_go_round_in_a_circle(turn):
    middle = np.linspace(0.0, 3.0, 3001)
    left, right = (1.0 + middle * (1.0 + side * HALF_TRACK * turn) for side in (-1.0, 1.0))
    seen = course(left, right, HALF_TRACK)
    np.testing.assert_allclose(seen.distance, middle, atol=1e-12)
    np.testing.assert_allclose(seen.heading, turn * middle, atol=1e-12)
    # Radius 1/turn; each piece of 1 mm is taken as its chord, too long by (turn 1 mm)^2 / 24.
    np.testing.assert_allclose(seen.x, np.sin(turn * middle) / turn, atol=1e-6)
    np.testing.assert_allclose(seen.y, (1.0 - np.cos(turn * middle)) / turn, atol=1e-6)


@dataclasses.dataclass
class Walk:
    """A log with the robot in it, and where the robot truly was."""

    path: object
    truth: dict
    frames: dict  # by name (time, place) of each message
    urdf: ElementTree.Element
    parents: set
    sag: float  # m, the most that a spoke gave way


def walked(folder, name, script=("0.05 motors-on", "0.1 run")):
    path, seen = folder / FILE_NAME, []

    def watch(experiment, stepper):
        lane = stepper._robot.lane
        start = experiment.start_options.state(experiment.system.plant)
        seen.append(
            [
                jax.tree.unflatten(jax.tree.structure(like), [float(v[0]) for v in leaves])
                for like, leaves in ((start.x, lane.x), (start.m, lane.m))
            ]
        )
        known.append(experiment)

    known = []
    bench_log(path, 4.0, name=name, script=script, watch=watch)
    plant = known[0].system.plant
    states = jax.tree.map(lambda *values: np.array(values), *seen)
    outputs = jax.jit(type(plant).outputs)(plant, 0.0, *states)
    truth = {name: np.asarray(values) for name, values, _ in named_leaves(outputs)}
    before = read_stack_log(path)
    assert add_poses(before, known[0])
    after = read_stack_log(path)
    assert after.records() == before.records()
    assert (after.ending, after.started) == (before.ending, before.started)
    frames, parents = {}, set()
    with path.open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        how = {entry.name: entry.metadata for entry in reader.iter_metadata()}
        assert "odometry" in how[stack_poses.ABOUT]["how"]
        assert reader.get_summary().chunk_indexes
        (description,) = reader.iter_decoded_messages(["/robot_description"])
        urdf = ElementTree.fromstring(description.decoded_message.data)
        first = None
        for found in reader.iter_decoded_messages(["/joint_states", "/tf"]):
            stamp = found.message.log_time
            first = stamp if first is None else first
            if found.channel.topic == "/tf":
                for pose in found.decoded_message.transforms:
                    place, turn = pose.transform.translation, pose.transform.rotation
                    parents.add(pose.header.frame_id)
                    row = (1e-9 * (stamp - first), place.x, place.y, place.z, turn.y, turn.w)
                    frames.setdefault(pose.child_frame_id, []).append(row)
    lengths = [values for name, values in truth.items() if name.endswith("spoke.length")]
    sag = LENGTH - min(map(np.min, lengths)) if lengths else 0.0
    return Walk(path, truth, {n: np.array(r).T for n, r in frames.items()}, urdf, parents, sag)


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    return walked(tmp_path_factory.mktemp("straight"), "rimless-wheel")


@pytest.fixture(scope="module")
def turning(tmp_path_factory):
    script = ("0.05 motors-on", "0.1 run", "0.5 steer 0.6")
    return walked(tmp_path_factory.mktemp("turning"), "rimless-wheel-turning", script)


def at(walk, frame, axis):
    """A true place, at the times of the poses."""
    t = walk.frames[frame][0]
    truth = walk.truth[f"{frame}.{axis}"]
    return np.interp(t, 0.01 * np.arange(len(truth)), truth)


def test_the_robot_is_in_its_log_as_in_that_of_a_run(straight):
    assert straight.parents == {"odom"}
    links = {link.get("name"): link for link in straight.urdf.iter("link")}
    assert {"odom", "hub", "torso", "foot"} <= set(links)
    assert set(straight.frames) == set(links) - {"odom"}
    assert len(list(links["hub"].iter("cylinder"))) == SPOKES
    assert list(links["odom"].iter("box"))  # the ground
    t = straight.frames["hub"][0]
    assert 1 / 60 - 1e-3 < np.median(np.diff(t)) < 0.03 and t[-1] > 3.9


def test_it_stands_where_it_was_but_for_the_sag_of_its_spokes(straight):
    """A spoke that gives way by s lowers the hub by s at most, and a step is shorter by the like."""
    _, x, y, z, *_ = straight.frames["hub"]
    assert at(straight, "hub", "x")[-1] > 1.5
    assert 0.0 < straight.sag < 0.02
    slack = 0.01 * 0.8  # a pitch is 10 ms old, at most, at 0.8 m/s
    assert np.abs(z - at(straight, "hub", "z")).max() < straight.sag + slack
    gone, true = x - x[0], at(straight, "hub", "x") - at(straight, "hub", "x")[0]
    np.testing.assert_allclose(gone, true, rtol=straight.sag / LENGTH, atol=straight.sag + slack)
    np.testing.assert_array_equal(y, 0.0)
    pitch = 2 * np.arctan2(*straight.frames["torso"][4:])
    assert np.abs(pitch - at(straight, "torso", "pitch")).max() < 0.1  # rad: 10 ms at 10 rad/s


def test_it_turns_as_it_turned(turning):
    """The heading by the difference of both ways, each as well known as that of a straight walk."""
    _, x, y, _, *_ = turning.frames["torso"]
    yaw = turning.truth["axle.yaw"]
    gone = turning.truth["travel.distance"][-1]
    assert yaw[-1] < -0.8 and gone > 1.5
    off = turning.sag / LENGTH * gone + turning.sag
    assert np.hypot(x - at(turning, "torso", "x"), y - at(turning, "torso", "y")).max() < off


def test_a_robot_that_cannot_tell_where_it_is_keeps_its_log_as_it_is(tmp_path, monkeypatch):
    from footfall.machines.sea_urchin.spike_hinge import SpikeHinge
    from footfall.realtime.plant import load_plant

    experiment = load_plant("urchin-spike").experiment
    path = bench_log(tmp_path / FILE_NAME, 0.5, name="urchin-spike")
    monkeypatch.setattr(SpikeHinge, "odometry", AbstractPlant.odometry)
    before = path.read_bytes()
    assert not add_poses(read_stack_log(path), experiment)
    assert path.read_bytes() == before
    monkeypatch.undo()
    assert add_poses(read_stack_log(path), experiment)
    assert [each.name for each in tmp_path.iterdir()] == [FILE_NAME]
    cut = dataclasses.replace(read_stack_log(path), ending=None)  # it was killed
    assert not add_poses(cut, experiment)
