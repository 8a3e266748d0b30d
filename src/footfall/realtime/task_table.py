"""The control stack as a table: its programs with their tasks, and the lines between them.

Every task names the code that does it, every rate and line comes from the settings of a run: what
is drawn or printed of the stack is what runs. `tests/contracts/test_task_table.py` holds the order
of the steps against the code.
"""

from __future__ import annotations

from typing import NamedTuple

from footfall.machines.control.driver_lines import current_lines
from footfall.machines.control.framing import down_format, encode, sensor_format, up_format
from footfall.machines.control.settings import StackSettings
from footfall.realtime.mid_process import DRIVER_BAUD

#: Bits of a byte on a serial line, with its start and stop.
BITS = 10


class Step(NamedTuple):
    """One thing a task does."""

    code: str  #: who does it, as the code calls it
    words: str


class Task(NamedTuple):
    """Something a program does over and over, or once at its start."""

    name: str
    program: str  #: where it runs
    kind: str  #: "once", "loop", "thread" or "process"
    source: str  #: module.function whose order of calls this is
    period_us: int | None  #: None: whenever something comes
    steps: tuple[Step, ...]

    @property
    def rate(self) -> str:
        """How often, in words."""
        return "when something comes" if self.period_us is None else rate_words(self.period_us)


class Line(NamedTuple):
    """What one program sends to another."""

    start: str
    end: str
    medium: str
    carries: str
    period_us: int | None  #: None: once, or when it is asked for
    example: bytes = b""  #: of one period, as it is sent
    baud: int | None = None  #: of a serial line

    @property
    def bytes_per_second(self) -> float:
        """Of what is sent regularly."""
        return 0.0 if self.period_us is None else 1e6 * len(self.example) / self.period_us

    @property
    def load(self) -> float | None:
        """Share of a serial line's capacity."""
        return None if self.baud is None else self.bytes_per_second * BITS / self.baud


#: Program -> the machine it runs on.
DEVICES = {"high": "Raspberry Pi", "mid": "Teensy", "low": "ODrive"}


def rate_words(period_us: int) -> str:
    """100 Hz, 1 kHz"""
    rate = 1e6 / period_us
    return f"{rate / 1e3:g} kHz" if rate >= 1e3 else f"{rate:g} Hz"


def tasks(settings: StackSettings) -> tuple[Task, ...]:
    """What the programs do, in their order."""
    control = "footfall.machines.control"
    return (
        Task(
            "start-up checks",
            "high",
            "once",
            f"{control}.start_up.start_up",
            None,
            (
                Step("_reset_mid", "reset the Teensy, wait for it"),
                Step("_require_pitch", "orientation sensor: a finite pitch"),
                Step("_require_bus", "ODrive: bus voltage in its band"),
                Step("_require_frame", "Teensy: one valid frame"),
                Step("_quiet", "setpoint_on = 0, motors off"),
            ),
        ),
        Task(
            "main loop",
            "high",
            "loop",
            f"{control}.supervisor.Supervisor.cycle",
            settings.high_period_us,
            (
                Step("check_motors", "motor speeds: off if too fast"),
                Step("_read_pitch", "read torso pitch"),
                Step("_read_motors", "motor positions, bus"),
                Step("_wanted", "set point and steering asked for"),
                Step("obey", "motors on/off, start"),
                Step("_send", "send set point, flag, pitch"),
                Step("_receive", "receive the PID output, if any"),
                Step("_log", "record into the queue"),
            ),
        ),
        Task(
            "joystick",
            "high",
            "thread",
            "footfall.realtime.joystick.JoystickThread._follow",
            None,
            (
                Step("os.read", "wait for events"),
                Step("feed", "buttons and axes to one object of wishes"),
            ),
        ),
        Task(
            "input and output",
            "high",
            "process",
            "footfall.realtime.log_process.write_log",
            None,
            (
                Step("receive", "take a record from the queue"),
                Step("add", "write it to the disk"),
                Step("_say", "tell the screen"),
            ),
        ),
        Task(
            "PID and commands",
            "mid",
            "loop",
            f"{control}.mid.MidProgram.step",
            settings.mid_period_us,
            (
                Step("stepped", "setpoint_on? then PID update"),
                Step("current_lines", "if it calculated: currents to the ODrive"),
                Step("_report", f"PID output to the Pi, {rate_words(settings.report_period_us)}"),
            ),
        ),
        Task(
            "messages",
            "mid",
            "loop",
            f"{control}.mid.MidProgram.receive",
            settings.mid_period_us,
            (
                Step("feed", "collect bytes between < and >"),
                Step("take", "whole and valid: set point, flag, pitch"),
            ),
        ),
    )


def lines(settings: StackSettings) -> tuple[Line, ...]:
    """Who talks to whom, how and how often."""
    down = (settings.setpoint, 1.0, settings.setpoint, 0.0)[: 4 if settings.steering else 3]
    frame = encode(down_format(settings), down)
    commands = current_lines(settings, [settings.current_limit] * settings.motors)
    return (
        Line(
            "imu",
            "high",
            "serial",
            "torso pitch",
            settings.high_period_us,
            encode(sensor_format(settings), (settings.setpoint,)),
        ),
        Line("joystick", "high", "Linux joystick device", "buttons and axes", None),
        Line(
            "high",
            "mid",
            "USB serial",
            "set point, setpoint_on, pitch" + ", steering" * settings.steering,
            settings.high_period_us,
            frame * settings.frame_copies,
        ),
        Line(
            "mid",
            "high",
            "USB serial",
            "PID output",
            settings.report_period_us,
            encode(up_format(settings), (settings.gains.output_limit,)),
        ),
        Line("high", "mid", "digital output, active low", "reset", None),
        Line("high", "low", "USB", "questions, motors on and off", settings.high_period_us),
        Line("low", "high", "USB", "speeds, positions, bus", settings.high_period_us),
        Line(
            "mid",
            "low",
            "serial, one way",
            "current commands",
            settings.mid_period_us,
            commands,
            DRIVER_BAUD,
        ),
        Line("low", "motors", "phases", "currents", settings.low_period_us),
    )
