"""How a run that does not come about ends.

In the words of whoever refused, and without waiting for what has nothing to put in order.
"""

import sys
from pathlib import Path

import pytest

from footfall.machines.control.pid import PidGains
from footfall.machines.control.reset_line import NoResetLine
from footfall.machines.control.settings import StackSettings
from footfall.machines.control.start_up import Connections, StartUpError, start_up
from footfall.realtime.launcher import (
    IMPATIENCE,
    PATIENCE,
    Child,
    Emulation,
    LaunchError,
    StackProcesses,
)
from footfall.realtime.serial_port import PortError
from footfall.realtime.supervisor_process import NOT_STARTED
from footfall.realtime.supervisor_process import main as supervise

SETTINGS = StackSettings(PidGains(16.3, 27.2, 1.23, 5.0, 40.0, 0.01, 1000), setpoint=0.6)
ASLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def run_in(folder: Path) -> StackProcesses:
    return StackProcesses(folder / "run", "a-robot", lambda folder, settings: [])


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (2, "There is no such robot."),
        (1, "The robot process ended before it was ready.\nThere is no such robot."),
    ],
)
def test_a_robot_that_refuses_says_so_itself_and_one_that_breaks_down_is_introduced(
    tmp_path, status, said
):
    program = f"import sys; print('There is no such robot.', file=sys.stderr); sys.exit({status})"
    with run_in(tmp_path) as run, pytest.raises(LaunchError) as error:
        run.start_emulated(Emulation([sys.executable, "-c", program]))
    assert str(error.value) == said


@pytest.mark.parametrize(
    ("started", "patience"), [(["robot"], IMPATIENCE), (["robot", "supervisor"], PATIENCE)]
)
def test_only_a_run_that_was_supervised_is_given_time_to_end_in_order(
    tmp_path, monkeypatch, started, patience
):
    given = []

    def end(child: Child, patience: float) -> None:
        given.append(patience)
        child.process.kill()
        child.process.wait()

    monkeypatch.setattr(Child, "end", end)
    with run_in(tmp_path) as run:
        for name in started:
            run._start(name, ASLEEP)
    assert given == [patience] * len(started)


class Hours:
    """A clock that is there at once."""

    def __init__(self) -> None:
        self.t = 0.0

    def now(self) -> float:
        return self.t

    def sleep_until(self, t: float) -> None:
        self.t = t


def test_a_port_that_is_none_is_told_with_one_full_stop():
    def mid():
        raise PortError("text is not a serial port. Expected a device such as /dev/ttyACM0.")

    def never():
        raise AssertionError("the mid level comes first")

    with pytest.raises(StartUpError) as failure:
        start_up(SETTINGS, NoResetLine(), Connections(mid, never, never), Hours())
    assert "such as /dev/ttyACM0.\n" in str(failure.value)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["--joystick", "nosuch"], "Is the joystick connected"),
        (["--joystick", "settings.json"], "is not a joystick"),
        (["--script", "script.txt", "--reset", "seventeen"], "such as gpiochip0:17"),
    ],
)
def test_the_supervisor_refuses_in_a_sentence(tmp_path, monkeypatch, capsys, asked, words):
    monkeypatch.chdir(tmp_path)
    # The signals are this process's own.
    monkeypatch.setattr("footfall.realtime.supervisor_process.begin", lambda parent: None)
    monkeypatch.setattr("footfall.realtime.supervisor_process.prepare_to_say", lambda: None)
    Path("settings.json").write_text(SETTINGS.to_json())
    Path("script.txt").write_text("1 stop\n")
    devices = ["--mid", "a", "--imu", "b", "--driver", "c"]
    assert (
        supervise(["--settings", "settings.json", "--folder", ".", *devices, *asked]) == NOT_STARTED
    )
    assert words in capsys.readouterr().err
