"""The failure matrix of the control stack with real processes and pseudo-terminals.

What each row demands exactly is proved in virtual time (tests/contracts/test_failure_matrix.py);
here the machine's own clock, signals, pipes and terminals are in it, and limits are three times the
page's, for a machine that has other things to do. A test that failed while the machine kept one of
the programs waiting for longer than half a watchdog's time is repeated."""

import dataclasses
import datetime
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from footfall.machines.control.reset_line import FileResetLine
from footfall.realtime.launcher import firmware_mid, python_mid
from support.serial_stage import SETTINGS, SLACK, TESTS, Stage, joystick_event, stage, undisturbed

WATCHDOG = SLACK * 0.1  # s; the page: 100 ms
BUTTON = 1
CROSS, START = 0, 9  # motors on; start and pause

both_mids = pytest.mark.parametrize("mid", [python_mid, firmware_mid])


@undisturbed
def test_a_walk_from_script_to_log(tmp_path):
    with stage(
        tmp_path,
        mid=firmware_mid,
        script=["0.1 motors-on", "0.3 run", "1.3 setpoint 0.7", "2.5 stop"],
    ) as run:
        run.until_walking()
        assert run.until_ended() == 0
        assert run.status["supervisor"]["ending"] == "the operator stopped"
        assert list(run.processes.folder.devices.iterdir())
    log = run.log()
    assert log.ending == "the operator stopped"
    assert log.settings == SETTINGS
    assert not any(log["fault"])
    # 2.5 s at 100 Hz; a machine with other things to do may cost a twentieth.
    assert 238 <= log["cycle"][-1] + 1 <= 253
    assert run.status["supervisor"]["cycles"] == log["cycle"][-1] + 1
    # 0.9 s after the start; the plant settles in a third of that.
    assert abs(log["pitch"][log["t"] > 1.2][0] - 0.6) < 0.05
    assert abs(log["pitch"][-1] - 0.7) < 0.05
    assert not run.processes.folder.devices.exists()  # no terminal, no link, no pipe is left
    assert set(run.processes.exit_statuses().values()) == {0}


@pytest.mark.parametrize(
    ("mid", "separate"), [(python_mid, True), (firmware_mid, False)], ids=["terminals", "sockets"]
)
@undisturbed
def test_with_a_board_for_each_motor_both_motors_drive_and_stop(tmp_path, mid, separate):
    walk = ["0.1 motors-on", "0.3 run", "1.5 stop"]
    with stage(tmp_path, mid=mid, script=walk, separate=separate, boards=2) as run:
        assert run.until_ended() == 0
    log = run.log()
    assert log.settings == dataclasses.replace(SETTINGS, boards=2)
    assert not any(log["fault"])
    assert log["motor_vel_l"][-1] > 1.0 and log["motor_vel_r"][-1] > 1.0  # turns/s, both forward
    assert run.status["supervisor"]["ending"] == "the operator stopped"


@both_mids
@undisturbed
def test_killed_supervisor_no_current_after_the_watchdog_and_the_log_is_there(tmp_path, mid):
    with stage(tmp_path, mid=mid) as run:
        run.until_walking()
        killed, wall = run.kill("supervisor"), time.time()
        assert run.current_stopped_after(killed) < WATCHDOG
        run.until(lambda: run.log().ending is not None, "the log's writer finishes the file")
        log = run.log()
        assert log.ending == "the supervisor was killed"
        last = datetime.datetime.fromisoformat(log.started).timestamp() + log["t"][-1]
        assert wall - last < 1.0  # the limit, not widened
        assert log["setpoint_on"][-1]


@both_mids
@undisturbed
def test_killed_mid_level_the_drivers_watchdog_stops_the_motors_and_the_supervisor_cuts_off(
    tmp_path, mid
):
    with stage(tmp_path, mid=mid) as run:
        run.until_walking()
        killed = run.kill("mid")
        assert run.current_stopped_after(killed) < WATCHDOG
        run.until_fault()
        assert run.processes.lost == "mid"
        run.processes.stop()
        assert not run.log()["setpoint_on"][-1]


@both_mids
@undisturbed
def test_silent_mid_level_the_drivers_watchdog_stops_the_motors_and_empty_outputs_are_logged(
    tmp_path, mid
):
    with stage(tmp_path, mid=mid) as run:
        run.until_walking()
        stopped = run.send("mid", signal.SIGSTOP)
        assert run.current_stopped_after(stopped) < WATCHDOG
        run.until_fault("driver")
        assert run.status["supervisor"]["pid_output"] is None
        run.send("mid", signal.SIGCONT)  # to be ended in order


@both_mids
@undisturbed
def test_reset_while_running_it_starts_off_and_stays_off_until_it_is_told_both_off_and_on(
    tmp_path, mid
):
    with stage(tmp_path, mid=mid) as run:
        run.until_walking()
        line = FileResetLine(run.processes.folder.reset)
        line.drive(False)
        time.sleep(0.02)
        line.drive(True)
        # The supervisor says "on" all the while.
        assert run.current_stopped_after(time.monotonic()) < WATCHDOG
        assert run.status["supervisor"]["setpoint_on"]
        assert run.status["supervisor"]["pid_output"] == 0.0


@both_mids
@undisturbed
def test_one_byte_in_a_hundred_garbled_it_walks_on(tmp_path, mid):
    with stage(
        tmp_path, mid=mid, noise=0.01, script=["0.1 motors-on", "0.3 run", "3.5 stop"]
    ) as run:
        run.until_walking()
        assert run.until_ended() == 0
    log = run.log()
    settled = log["t"] > 1.5
    assert not any(log["fault"])
    # 3.5 s of 100 frames of 13 bytes a second: about 40 are expected.
    assert log["rejected_frames"][-1] > 5
    # The page allows 5 % of the speed.
    assert abs(np.nanmean(log["pitch"][settled]) - 0.6) < 0.05 * 0.6


@pytest.mark.parametrize("motor, offset", [(0, 20.0), (1, -20.0)])
@undisturbed
def test_over_speed_both_motors_off_in_that_cycle_latched_until_the_motors_are_switched_on(
    tmp_path, motor, offset
):
    joystick = tmp_path / "js0"
    os.mkfifo(joystick)
    with (
        stage(tmp_path, mid=firmware_mid, joystick=joystick) as run,
        joystick.open("wb", buffering=0) as pad,
    ):
        press_until_walking(run, pad)
        spoiled = run.spoil(f"speed {motor} {offset}")
        run.until_fault("over speed", f"motor {motor}")
        assert run.current_stopped_after(spoiled) < WATCHDOG
        run.spoil(f"speed {motor} 0")
        for _ in range(3):  # pause, start, pause: the start switch does not lift a latch
            pad.write(joystick_event(BUTTON, START, 1) + joystick_event(BUTTON, START, 0))
            began = run.status["robot"]["now"]
            run.until(
                lambda began=began: run.status["robot"]["now"] > began + 0.3,
                "the robot was watched after a press",
            )
            assert max(map(abs, run.status["robot"]["currents"])) == 0.0
            assert run.status["supervisor"]["fault"]
        press_until_walking(run, pad)
        pad.write(joystick_event(BUTTON, 10, 1))  # stop
        assert run.until_ended() == 1  # there was a fault
    log = run.log()
    fast = np.flatnonzero(np.abs(log[f"motor_vel_{'lr'[motor]}"]) > SETTINGS.speed_limit)[0]
    before, then = log.records()[fast - 1 : fast + 1]
    assert before.motors_on and before.setpoint_on and not before.fault
    assert not then.motors_on and not then.setpoint_on and then.fault  # the same cycle


def press_until_walking(run: Stage, pad) -> None:
    # Presses before it are history.
    run.until(lambda: "cycle" in run.status["supervisor"], "the main loop runs")
    pad.write(joystick_event(BUTTON, CROSS, 1) + joystick_event(BUTTON, CROSS, 0))
    run.until(lambda: run.status["supervisor"].get("motors_on"), "the motors are on")
    time.sleep(0.1)
    pad.write(joystick_event(BUTTON, START, 1) + joystick_event(BUTTON, START, 0))
    run.until_walking()


@pytest.mark.parametrize(
    "fault, words", [("sensor stall", "pitch"), ("sensor nan", "pitch"), ("usb silent", "speeds")]
)
@undisturbed
def test_a_device_that_fails_the_motors_are_off_and_stay_off(tmp_path, fault, words):
    with stage(tmp_path, mid=firmware_mid) as run:
        run.until_walking()
        spoiled = run.spoil(fault)
        run.until_fault(words)
        assert run.current_stopped_after(spoiled) < WATCHDOG
        run.spoil(fault.split()[0] + " ok")
        assert run.current_stopped_after(time.monotonic(), 0.3) < 0  # long before
        assert run.status["supervisor"]["fault"]
        run.send("supervisor", signal.SIGTERM)
        assert run.until_ended() == 3


@undisturbed
def test_an_unplugged_joystick_turns_the_motors_off_and_ends_the_run(tmp_path):
    joystick = tmp_path / "js0"
    os.mkfifo(joystick)
    with stage(tmp_path, mid=firmware_mid, joystick=joystick) as run:
        with joystick.open("wb", buffering=0) as pad:
            press_until_walking(run, pad)
        unplugged = time.monotonic()
        assert run.until_ended() == 1
        assert run.current_stopped_after(unplugged) < WATCHDOG
        assert "joystick" in run.log().ending


@undisturbed
def test_a_disk_that_blocks_for_two_seconds_costs_records_not_cycles(tmp_path):
    with stage(tmp_path, mid=firmware_mid, script=["0.1 motors-on", "0.3 run", "5 stop"]) as run:
        run.until_walking()
        run.send("log", signal.SIGSTOP)
        time.sleep(2.0)
        run.send("log", signal.SIGCONT)
        assert run.until_ended() == 0
    log = run.log()
    dropped = run.status["supervisor"]["dropped_records"]
    assert dropped > 20  # the queue holds about a second
    assert log["cycle"][-1] + 1 == len(log) + dropped  # each one counted
    gap = np.argmax(np.diff(log["cycle"]))
    cycles, seconds = log["cycle"][gap + 1] - log["cycle"][gap], log["t"][gap + 1] - log["t"][gap]
    assert cycles > 20
    # 100 Hz, but for what a busy machine takes.
    assert abs(cycles - 100 * seconds) <= max(3.0, 0.03 * cycles)


@undisturbed
def test_a_killed_log_writer_costs_the_log_not_the_walk(tmp_path):
    with stage(tmp_path, mid=firmware_mid, script=["0.1 motors-on", "0.3 run", "3 stop"]) as run:
        run.until_walking()
        run.kill("log")
        assert run.until_ended() == 0
        ended = run.status["supervisor"]
        assert ended["faults"] == []
    log = run.log()
    assert log.ending is None
    assert ended["cycles"] > 280  # 3 s
    # But for those in the queue when it was killed.
    assert ended["dropped_records"] >= ended["cycles"] - len(log) - 100
    assert ended["dropped_records"] > 50


@undisturbed
def test_a_killed_robot_is_cut_off_and_the_run_ends_in_order(tmp_path):
    with stage(tmp_path, mid=firmware_mid) as run:
        run.until_walking()
        run.kill("robot")
        run.until_fault("speeds")
        assert run.processes.lost == "robot"
    assert run.processes.exit_statuses() == {"robot": -signal.SIGKILL, "mid": 0, "supervisor": 3}
    assert run.log().ending == "a signal ended it"


@undisturbed
def test_a_script_that_cannot_be_followed_is_refused_before_anything_moves(tmp_path):
    with stage(tmp_path, mid=firmware_mid, script=["0.1 motors-on", "0.2 fly"]) as run:
        assert run.until_ended() == 2
        assert "fly" in run.processes.children["supervisor"].last_words()
        assert not run.processes.folder.log.exists()
        assert run.status["robot"].get("flowed") is None


@undisturbed
def test_on_named_ports_the_supervisor_runs_alone(tmp_path):
    with stage(tmp_path, separate=True, script=["0.1 motors-on", "0.3 run", "1.5 stop"]) as run:
        assert list(run.processes.children) == ["supervisor"]
        assert run.until_ended() == 0
    log = run.log()
    assert log["setpoint_on"].any()
    assert log["motor_vel_l"][-1] > 1.0  # turns/s; the stand-in comes to 3.6


@undisturbed
def test_the_operator_of_a_log_can_be_repeated(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with stage(
        first, mid=firmware_mid, script=["0.1 motors-on", "0.3 run", "0.8 setpoint 0.7", "1.2 stop"]
    ) as run:
        assert run.until_ended() == 0
    with stage(second, mid=firmware_mid, replay=run.processes.folder.log) as again:
        assert again.until_ended() == 0
    logs = run.log(), again.log()
    for changed in ("setpoint_on", "motors_on", "pitch_setpoint"):
        moments = [log["t"][1:][np.diff(log[changed].astype(float)) != 0] for log in logs]
        assert len(moments[0]) == len(moments[1]) > 0
        # A cycle to record it and a cycle to obey it.
        assert np.abs(moments[0] - moments[1]).max() < SLACK * 0.02


LAUNCH = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
from support.serial_stage import stage
with stage(pathlib.Path(sys.argv[2])) as run:
    run.until_walking()
    pids = [child.process.pid for child in run.processes.children.values()] + [run.status["supervisor"]["log_pid"]]
    print(*pids, flush=True)
    run.until_ended()
"""


@undisturbed
def test_nothing_outlives_a_killed_launcher(tmp_path):
    launcher = subprocess.Popen(
        [sys.executable, "-c", LAUNCH, str(TESTS), str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with launcher:
        assert launcher.stdout is not None
        pids = [int(word) for word in launcher.stdout.readline().split()]
        assert len(pids) == 4
        launcher.kill()
    limit = time.monotonic() + 20.0
    while alive := [pid for pid in pids if is_running(pid)]:
        assert time.monotonic() < limit, f"still there: {alive}"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """And not merely waiting to be buried by whoever inherited it."""
    try:
        with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
