"""What `footfall stack run` refuses before it starts anything, and what it says at the end."""

import dataclasses
import math
import os

import pytest

from footfall.cli.stack import (
    LOCKSTEP_ONLY,
    StackRequest,
    _old_one_aside,
    check,
    read_script,
    walked,
    without_effect,
)
from footfall.machines.control.pid import PidGains
from footfall.machines.control.three_level import ThreeLevelStack
from footfall.realtime.stack_log import read_stack_log
from footfall.scenario.errors import ScenarioError
from support.stack_logs import bench_log

GAINS = PidGains(16.3, 27.2, 1.23, 5.0, 40.0, 0.01, 1000)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to be in, with what a user may name by mistake, and a pipe that may stand for a
    joystick.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "text").write_text("0.1 motors-on\n")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "nosuch"}, "neither a scenario nor a file"),
        ({"name": "nosuch.toml"}, "no such file"),
        ({"joystick": "nosuch"}, "Is the joystick connected"),
        ({"joystick": "text"}, "is not a joystick"),
        ({"joystick": "folder"}, "is not a joystick"),
        ({"replay_operator": "nosuch"}, "nosuch"),
        ({"replay_operator": "binary"}, "binary"),
        ({"sensor_noise": -1.0}, "standard deviation"),
        ({"sensor_noise": math.nan}, "standard deviation"),
        ({"sensor_noise": math.inf}, "standard deviation"),
        ({"noise": math.nan}, "share of bytes"),
    ],
)
def test_a_request_that_cannot_be_is_refused_before_anything_is_started(place, changes, words):
    with pytest.raises(ScenarioError, match=words):
        check(StackRequest(**{"name": "rimless-wheel"} | changes))


def test_a_real_robot_is_not_switched_on_by_a_script_that_nobody_gave(place):
    real = StackRequest("rimless-wheel", port="a", imu_port="b", driver_port=["c"])
    with pytest.raises(ScenarioError, match="needs somebody to operate it: --joystick"):
        check(real)
    check(dataclasses.replace(real, script="text"))
    check(dataclasses.replace(real, joystick="pipe"))


@pytest.mark.parametrize("name", ["rimless-wheel", "rimless-wheel-closed-loop"])
def test_a_robot_by_either_name_and_a_pipe_for_a_joystick_will_do(place, name):
    check(StackRequest(name, joystick="pipe", sensor_noise=0.002))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("folder", "directory"),
        ("binary", "not a text file"),
        ("nosuch", "no such file"),
        ("/dev/zero", "too long"),
        ("a\0b", "read"),
    ],
)
def test_a_script_that_is_none_is_refused_in_words(place, path, words):
    with pytest.raises(ScenarioError, match=words):
        read_script(path)


def test_a_script_is_read_whole(place):
    assert read_script("text") == "0.1 motors-on\n"


def test_what_only_lockstep_knows_is_named_and_nothing_else():
    asked = [
        "stack.frame_loss=0.1",
        "robot.stack.seed=3",
        "queue = 4",
        "stack.watchdog=0.2",
        "terrain.seed=1",
        "motor=ideal",
    ]
    assert without_effect(asked) == ["stack.frame_loss", "robot.stack.seed", "queue"]


def test_every_name_that_only_lockstep_knows_is_one_of_the_computers():
    assert set(ThreeLevelStack.__dataclass_fields__) >= LOCKSTEP_ONLY


def test_the_time_with_the_law_on_leaves_pauses_out(tmp_path):
    script = ["0.05 motors-on", "0.1 run", "0.4 pause", "0.6 run"]
    log = read_stack_log(bench_log(tmp_path / "stack.mcap", 1.0, script=script))
    t = log["t"][log["setpoint_on"]]
    assert t[-1] - t[0] > 0.85
    # 0.3 s and 0.4 s; each press takes effect within two cycles of 10 ms.
    assert walked(log)["seconds"] == pytest.approx(0.7, abs=0.04)


@pytest.mark.parametrize("left_something", [True, False])
def test_forcing_a_run_folder_replaces_the_old_run_only_when_there_is_a_new_one(
    tmp_path, left_something
):
    folder = tmp_path / "walk"
    folder.mkdir()
    (folder / "summary.json").write_text("old")
    with _old_one_aside(folder):
        assert not folder.exists()
        if left_something:
            folder.mkdir()
            (folder / "summary.json").write_text("new")
    assert [path.name for path in tmp_path.iterdir()] == ["walk"]
    assert (folder / "summary.json").read_text() == ("new" if left_something else "old")
