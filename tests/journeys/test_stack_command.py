"""`footfall stack run` as a user has it.

The shipped robot in real time, a log, an orderly end; and what it says to bad input.
"""

import json
import signal
import subprocess
import time

import pytest

from footfall.realtime.stack_log import StackLogError, read_stack_log
from support.commands import COMMAND, PATIENCE, environment, footfall, several

SECONDS = 4
CHANGE = "robot.torso.pitch_setpoint=0.55"


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """One run; another if the machine had other things to do than to let the emulated robot
    move.
    """
    folder = tmp_path_factory.mktemp("stack")
    for attempt in range(3):
        name = f"run-{attempt}"
        asked = (
            f"stack run rimless-wheel --mid firmware --set {CHANGE} --duration {SECONDS} --json"
            f" --out {name}"
        )
        answer = footfall(*asked.split(), cwd=folder)
        disturbed = answer.status == 1 and (
            answer.said["late_cycles"] > 2 or answer.said["low"]["left_out"] > 0
        )
        if not disturbed:
            break
    return folder / name, answer


def test_the_wheel_walks_in_real_time_and_the_command_says_how_it_went(walk):
    folder, answer = walk
    assert answer.status == 0, answer.err
    said = answer.said
    assert said["ending"] == "the operator stopped"
    assert said["faults"] == []
    assert said["failure"] == ""
    assert abs(said["cycles"] - 100 * SECONDS) <= 0.05 * 100 * SECONDS
    assert said["exit"] == {"robot": 0, "mid": 0, "supervisor": 0}
    # At 0.6 rad the page has 0.59 m/s, which is 2.3 turns/s of a motor; here it leans less, and
    # starts at another speed.
    assert all(1.2 < speed < 3.5 for speed in said["walked"]["mean_motor_speed"])
    assert json.loads((folder / "summary.json").read_text()) == said


def test_the_run_folder_has_what_is_needed_to_read_and_repeat_it_and_no_device(walk):
    folder, _ = walk
    assert {path.name for path in folder.iterdir()} == {
        "stack.mcap",
        "summary.json",
        "settings.json",
        "operator.txt",
    }
    log = read_stack_log(folder)
    assert log.scenario == "rimless-wheel"
    assert log.ending == "the operator stopped"
    assert log.changes == (CHANGE,)
    assert "setpoint 0.6" in (folder / "operator.txt").read_text()
    assert log["pitch_setpoint"][0] == 0.55
    assert log["pitch_setpoint"][-1] == 0.6


def test_where_there_is_no_terminal_it_tells_a_line_a_second(walk):
    _, answer = walk
    lines = [line for line in answer.err.splitlines() if "turns/s" in line]
    assert 2 <= len(lines) <= SECONDS + 2
    assert "\x1b" not in answer.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])  # Ctrl-C; the terminal is closed
def test_a_signal_ends_the_run_in_order(tmp_path, number):
    command = [
        *COMMAND,
        "stack",
        "run",
        "rimless-wheel",
        "--mid",
        "firmware",
        "--out",
        "run",
        "--no-dashboard",
    ]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        limit = time.monotonic() + PATIENCE
        while not walking(tmp_path / "run"):
            assert time.monotonic() < limit
            assert process.poll() is None
            time.sleep(0.1)
        process.send_signal(number)
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"a signal ended it" in out
    assert read_stack_log(tmp_path / "run").ending == "a signal ended it"
    assert not (tmp_path / "run" / "devices").exists()


def walking(folder) -> bool:
    try:
        return bool(read_stack_log(folder)["setpoint_on"].any())
    except StackLogError:
        return False


def test_bad_input_is_refused_in_words_and_leaves_nothing_behind(tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "script.txt").write_text("0.1 motors-on\n0.2 fly\n")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "summary.json").write_text("{}")
    run = ["stack", "run", "rimless-wheel"]
    cases = [
        ([*run, "--script", "absent.txt"], "no such file"),
        ([*run, "--script", "script.txt", "--joystick", "js0"], "Only one of"),
        ([*run, "--mid", "fpga"], "expected python, or firmware"),
        ([*run, "--noise", "1.5"], "share of bytes"),
        ([*run, "--duration", "nan"], "expected seconds"),
        ([*run, "--port", "/dev/ttyACM0"], "--imu-port"),
        (
            [*run, "--port", "a", "--imu-port", "b", "--driver-port", "c", "--noise", "0.1"],
            "makes its own",
        ),
        ([*run, "--out", "taken"], "overwrite it with --force"),
        (["stack", "run", "passive-wheel", "--out", "old", "--force"], "no control computer"),
        (["stack", "run", "no-such-robot", "--out", "new"], "no-such-robot"),
        (
            ["stack", "run", "passive-wheel", "--out", "new"],
            "error: passive-wheel: this robot has no control computer",
        ),
        ([*run, "--script", "script.txt", "--out", "refused"], "line 2"),
    ]
    answers = several([arguments for arguments, _ in cases], tmp_path)
    for (arguments, words), answer in zip(cases, answers, strict=True):
        assert answer.status == 2, (arguments, answer)
        assert words in answer.err.replace("\n", " "), (arguments, answer.err)
        assert "Traceback" not in answer.err
    assert {path.name for path in tmp_path.iterdir()} == {"taken", "script.txt", "old"}
    # --force gives up an old run only for a new one.
    assert (tmp_path / "old" / "summary.json").exists()
