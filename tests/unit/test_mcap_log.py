"""run.mcap: every number of a run, and the robot itself, as other programs read them.

Read by the indexed reader of `mcap` with the decoder of `mcap-ros2-support`, which knows nothing of
how we wrote it.
"""

import dataclasses
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from footfall.record import mcap_log
from footfall.record.mcap_log import field_name, write_mcap
from footfall.scene.sketch import Ball, Bar, Disc, Ground, Link, rotation

ROS = {"/robot_description", "/joint_states", "/tf"}


@pytest.fixture
def logged(tmp_path):
    """(schemas by topic, messages by topic, stamps by topic) of a run."""

    def read(run, **how):
        path = tmp_path / "run.mcap"
        with path.open("wb") as stream:
            cut = write_mcap(run, stream, **how)
        schemas, messages, stamps = {}, {}, {}
        with path.open("rb") as stream:
            reader = make_reader(stream, decoder_factories=[DecoderFactory()])
            summary = reader.get_summary()
            assert summary.chunk_indexes  # without them an indexed reader finds nothing
            for channel in summary.channels.values():
                schema = summary.schemas[channel.schema_id]
                assert (channel.message_encoding, schema.encoding) == ("cdr", "ros2msg")
                schemas[channel.topic] = schema.data.decode()
                messages[channel.topic], stamps[channel.topic] = [], []
            for found in reader.iter_decoded_messages():
                messages[found.channel.topic].append(found.decoded_message)
                stamps[found.channel.topic].append(found.message.log_time)
            assert summary.statistics.message_count == sum(map(len, messages.values()))
        return schemas, messages, stamps, cut

    return read


def test_there_is_a_topic_per_body_leg_and_motor_and_those_of_ros(shipped, logged):
    schemas, messages, _, _ = logged(shipped.run)
    groups = {name.rpartition(".")[0] for name in shipped.run.of_role("output")}
    own = {f"/{group}" for group in groups} | {
        "/state", "/energy/stores", "/energy/power", "/energy/work", "/energy/jump_work"
    }  # fmt: skip
    assert set(schemas) == own | ROS | {"/events"}
    assert len(messages["/events"]) == len(shipped.run.events)
    for topic in own | {"/joint_states"}:
        assert len(messages[topic]) == len(shipped.run.t), topic


def test_messages_hold_the_columns_and_the_schemas_their_units(shipped, logged):
    schemas, messages, stamps, _ = logged(shipped.run)
    run = shipped.run
    for name, signal in run.signals.items():
        group, _, leaf = name.rpartition(".")
        topic = {"output": f"/{group}", "store": "/energy/stores"}.get(
            signal.role, f"/energy/{signal.role}"
        )
        if signal.role in ("state", "discrete"):
            topic, leaf = "/state", name
        if signal.role == "statistic":  # in the Parquet file only
            continue
        said = f"float64 {leaf}  # {signal.unit + ': ' if signal.unit else ''}{signal.doc}\n"
        assert said in schemas[topic]
        np.testing.assert_array_equal([getattr(m, leaf) for m in messages[topic]], run[name])
    np.testing.assert_array_equal([m.t for m in messages["/state"]], run.t)
    np.testing.assert_array_equal([m.j for m in messages["/state"]], run.j)
    np.testing.assert_array_equal(stamps["/state"], np.round(run.t * 1e9))
    assert [(m.t, m.name) for m in messages["/events"]] == [(e.t, e.name) for e in run.events]


def test_joint_states_are_the_states_that_have_a_rate_beside_it(shipped, logged):
    _, messages, _, _ = logged(shipped.run)
    rates = {s.rate_of: name for name, s in shipped.run.signals.items() if s.role == "state"}
    first, last = messages["/joint_states"][0], messages["/joint_states"][-1]
    assert list(first.name) == [place for place in rates if place is not None]
    assert list(last.position) == [shipped.run[name][-1] for name in last.name]
    assert list(last.velocity) == [shipped.run[rates[name]][-1] for name in last.name]
    stamp = last.header.stamp
    assert stamp.sec + 1e-9 * stamp.nanosec == pytest.approx(shipped.run.t[-1], abs=1e-9)


def test_names_and_types_are_those_that_a_parser_of_ros_2_takes(shipped, logged):
    """The rules of @foxglove/rosmsg, which refuses a file by its first field that is otherwise.

    A field is a type, perhaps with a length in brackets, and a name of small letters, digits and
    single underscores; every type of another package is explained below a line of 80 signs.
    """
    schemas, _, _, _ = logged(shipped.run)
    plain = {"float64", "int64", "int32", "uint32", "string"}
    for text in schemas.values():
        blocks = text.split("=" * 80 + "\n")
        explained = {block.splitlines()[0].removeprefix("MSG: ") for block in blocks[1:]}
        for line in text.splitlines():
            if line.startswith(("MSG: ", "=")):
                continue
            field = re.fullmatch(
                r"([\w/]+)(\[\d*\])? ([a-z](?:_?[a-z0-9])*|NO_LEG=-1)(  # [^\n]*)?", line
            )
            assert field, line
            assert field[1] in plain or field[1] in explained, line


def test_fields_of_like_legs_are_arrays_and_names_do_not_meet(hand_made, logged):
    def signal(name, group="feet"):
        angle = hand_made.signals["angle"]
        return dataclasses.replace(angle, name=name, role="output", group=group)

    names = [f"feet.load.{leg}" for leg in range(12)] + ["feet.M", "feet.m", "feet.t", "feet.a.b"]
    columns = {name: hand_made.t + k for k, name in enumerate(names)}
    run = dataclasses.replace(
        hand_made, columns=hand_made.columns | columns,
        signals=hand_made.signals | {name: signal(name) for name in names},
    )  # fmt: skip
    schemas, messages, _, _ = logged(run)
    fields = [line.split("  #")[0] for line in schemas["/feet"].splitlines()]
    assert fields == [
        "float64 t", "int64 j", "float64[12] load", "float64 m", "float64 m_2", "float64 t_2",
        "float64 a_b",
    ]  # fmt: skip
    np.testing.assert_array_equal(
        [list(m.load) for m in messages["/feet"]], run.t[:, None] + np.arange(12)
    )
    np.testing.assert_array_equal([m.m_2 for m in messages["/feet"]], run.t + 13)
    assert field_name("Kraft in_N²") == "kraft_in_n"


def test_times_beyond_the_clock_are_taken(hand_made, logged):
    """Nanoseconds in 64 bits end after 292 years; messages say the time themselves."""
    far = dataclasses.replace(hand_made, t=hand_made.t + 1e25, events=())
    _, messages, stamps, _ = logged(far)
    assert {m.t for m in messages["/state"]} == {1e25} and set(stamps["/state"]) == {2**63 - 1}


def test_what_is_not_finite_stays_so_and_places_are_the_last_known(hand_made, logged):
    angle = np.where(hand_made.t < 3, hand_made["angle"], np.nan)
    columns = {**hand_made.columns, "angle": angle}
    _, messages, _, _ = logged(dataclasses.replace(hand_made, columns=columns))
    angles = np.array([m.angle for m in messages["/state"]])
    np.testing.assert_array_equal(angles, angle)
    assert np.isnan(angles[-3:]).all()


def test_a_log_is_thinned_or_cut_where_it_must_be_short_and_stays_whole(
    shipped, logged, monkeypatch
):
    """After Ctrl-C nobody waits ten seconds for a log to look at; the Parquet file has every
    row.
    """
    monkeypatch.setattr(mcap_log, "_AT_ONCE", 50)
    run = shipped.run
    _, messages, _, cut = logged(run, most=100)
    states = [m.t for m in messages["/state"]]
    assert cut is None and 50 < len(states) <= 100 and states[-1] > 1.9
    assert len(messages["/events"]) == len(run.events)
    _, messages, _, cut = logged(run, progress=lambda done, _: done >= 100)
    events = [m.t for m in messages["/events"]]
    assert len(messages["/state"]) == 100 and cut == run.t[100]
    assert len(events) > 0 and all(t <= cut for t in events)


# --- the robot itself -----------------------------------------------------------------------------


def shown(messages):
    """URDF and, for each message of /tf, {frame: (place, turn as a matrix)} and its time."""
    (description,) = messages["/robot_description"]
    poses = []
    for message in messages["/tf"]:
        frames = {}
        for each in message.transforms:
            assert each.header.frame_id == "world"
            move, q = each.transform.translation, each.transform.rotation
            assert q.x**2 + q.y**2 + q.z**2 + q.w**2 == pytest.approx(1.0, abs=1e-12)
            turn = np.array([
                [1 - 2 * (q.y**2 + q.z**2), 2 * (q.x * q.y - q.z * q.w), 2 * (q.x * q.z + q.y * q.w)],
                [2 * (q.x * q.y + q.z * q.w), 1 - 2 * (q.x**2 + q.z**2), 2 * (q.y * q.z - q.x * q.w)],
                [2 * (q.x * q.z - q.y * q.w), 2 * (q.y * q.z + q.x * q.w), 1 - 2 * (q.x**2 + q.y**2)],
            ])  # fmt: skip
            frames[each.child_frame_id] = np.array([move.x, move.y, move.z]), turn
        poses.append((message.transforms[0].header.stamp, frames))
    return ElementTree.fromstring(description.data), poses


def ends(visual, place, turn):
    """Both ends of a cylinder in the house frame."""
    origin, length = visual.find("origin"), float(visual.find("geometry/cylinder").get("length"))
    xyz, rpy = (np.array(origin.get(key).split(), float) for key in ("xyz", "rpy"))
    half = rotation(*rpy) @ np.array([0.0, 0.0, length / 2])
    return [place + turn @ (xyz + side * half) for side in (-1, 1)]


def test_the_shapes_are_where_the_sketch_has_them(shipped, logged):
    """Through URDF and /tf, by their definitions, against `Seen`, which draws all our pictures."""
    run = shipped.run
    _, messages, stamps, _ = logged(run)
    urdf, poses = shown(messages)
    links = {link.get("name"): link.findall("visual") for link in urdf.findall("link")}
    children = {joint.find("child").get("link") for joint in urdf.findall("joint")}
    assert children == set(links) - {"world"} == set(poses[0][1])  # one tree, and all of it moves
    assert 60 * 2.0 <= len(poses) <= 60 * 2.0 + 1  # a screen's worth of the 2 s
    times = np.round(run.t * 1e9)
    for number in (0, len(poses) // 2, len(poses) - 1):
        seen = run.seen(int(np.flatnonzero(times == stamps["/tf"][number])[0]))
        drawn = {frame: iter(links[frame]) for frame in links}
        for index, shape in enumerate(run.sketch):
            match shape:
                case Bar() | Disc() | Ball():
                    visual, pose = next(drawn[shape.body]), poses[number][1][shape.body]
                    if isinstance(shape, Bar):
                        wanted = [seen.place(shape.body, at) for at in (shape.start, shape.end)]
                        np.testing.assert_allclose(ends(visual, *pose), wanted, atol=1e-7)
                        continue
                    centre = np.array(visual.find("origin").get("xyz").split(), float)
                    wanted = seen.place(shape.body, shape.centre)
                    np.testing.assert_allclose(pose[0] + pose[1] @ centre, wanted, atol=1e-7)
                case Link():
                    pieces = [name for name in links if re.fullmatch(rf"rod_{index}(_\d+)?", name)]
                    tips = [
                        tip for name in pieces
                        for tip in ends(links[name][0], *poses[number][1][name])
                    ]  # fmt: skip
                    start, end = seen.origin(shape.start), seen.origin(shape.end)
                    length = np.linalg.norm(end - start)
                    along = np.array(tips) @ (end - start) / length - start @ (end - start) / length
                    low, high = along.min(), along.max()
                    # From one end to the other and not beyond, without a gap between the pieces.
                    assert (low, high) == (pytest.approx(0, abs=1e-7), pytest.approx(length))
                    spans = along.reshape(-1, 2)
                    assert np.all(spans[1:, 0] <= spans[:-1, 1] + 1e-9)


def test_the_ground_is_under_the_robot(shipped, logged):
    run = shipped.run
    _, messages, _, _ = logged(run)
    urdf, _ = shown(messages)
    (ground,) = [shape for shape in run.sketch if isinstance(shape, Ground)]
    boxes = urdf.find("link[@name='world']").findall("visual")
    reached = []
    for box in boxes:
        xyz, rpy = (np.array(box.find("origin").get(key).split(), float) for key in ("xyz", "rpy"))
        length, _, thick = map(float, box.find("geometry/box").get("size").split())
        for side in (-1, 1):
            x, _, z = xyz + rotation(*rpy) @ np.array([side * length / 2, 0, thick / 2])
            reached.append(x)
            line = np.asarray(
                ground.profile(x - 1, x + 1) if callable(ground.profile) else ground.profile
            )
            (xa, za), (xb, zb) = line[0], line[-1]  # these grounds are straight
            assert z == pytest.approx(za + (zb - za) * (x - xa) / (xb - xa), abs=1e-6)
    travelled = [run[name] for name in run.of_role("output") if name.endswith("hub.x")]
    assert min(reached) < np.min(travelled) and max(reached) > np.max(travelled)
