"""Start-up: every device is there and makes sense before anything moves.

Control-stack.md, section 2.1, in its order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

from footfall.machines.control.contracts import (
    Clock,
    MotorDriver,
    PitchSensor,
    ResetLine,
    UnfitDriver,
)
from footfall.machines.control.fingerprint import answer_format, fingerprint, request
from footfall.machines.control.framing import FrameReader, down_format, encode, up_format
from footfall.machines.control.odrive_axis import AxisState
from footfall.machines.control.ports import Port
from footfall.machines.control.settings import StackSettings

RESET_HOLD = 0.02  #: s; the page asks for 0.01 at least
MID_LIMIT = 5.0  #: s, until the mid level answers after its reset
DEVICE_LIMIT = 1.0  #: s, until a connected device makes sense
POLL = 0.005  #: s
ASK_EVERY = 0.1  #: s: on a line that garbles bytes a question or its answer may be lost


class StartUpError(Exception):
    """A check failed; the motors are off. str() is the whole lesson."""

    def __init__(self, check: str, what: str, advice: str):
        super().__init__(f"Start-up check failed: {check}.\n  {what}\n  Try: {advice}")
        self.check, self.what, self.advice = check, what, advice


class Connections(NamedTuple):
    """How to open each device.

    Called in the order of the checks, since a Teensy's port is gone while it is in reset. An
    OSError (DeviceError, LinkLost) means: not there.
    """

    mid: Callable[[], Port]
    sensor: Callable[[], PitchSensor]
    driver: Callable[[], MotorDriver]


class Devices(NamedTuple):
    """Connected and checked."""

    driver: MotorDriver
    sensor: PitchSensor
    mid_port: Port
    standing_errors: str = ""  #: of the driver, from before: told, not cleared
    unread_limits: tuple[str, ...] = ()  #: that the driver did not tell


class _Closable(Protocol):
    def close(self) -> None: ...


T = TypeVar("T")
D = TypeVar("D", bound=_Closable)


def start_up(
    settings: StackSettings,
    reset_line: ResetLine,
    connect: Connections,
    clock: Clock,
    *,
    sketch: str = "footfall stack firmware NAME",
) -> Devices:
    """All devices, with the motors off and the mid level's law off.

    Or a StartUpError, with the same and everything closed again. `sketch`: the command that writes
    the mid level's program for these settings.
    """
    opened: list[_Closable] = []

    def open_device(connection: Callable[[], D], check: str, advice: str) -> D:
        try:
            opened.append(device := connection())
        except UnfitDriver as error:
            raise StartUpError("the motor driver's firmware", error.what, error.advice) from error
        except OSError as error:
            raise StartUpError(check, str(error), advice) from error
        return device

    try:
        mid_port = _reset_mid(reset_line, connect.mid, clock)
        opened.append(mid_port)
        sensor = open_device(
            connect.sensor, "pitch sensor", "look at its cable and the name of its port."
        )
        _require_pitch(sensor, clock)
        driver = open_device(
            connect.driver, "motor driver", "look at its cable, its power and the name of its port."
        )
        _driver_says(driver.motors_off)  # whoever left them on
        _require_bus(driver, settings.bus_band)
        unread = _require_limits(driver)
        standing_errors = _standing_errors(driver)
        _require_frame(mid_port, settings, clock, sketch)
        _require_fingerprint(mid_port, settings, clock, sketch)
        _quiet(mid_port, driver, settings, clock)
    except BaseException:
        _leave(opened)
        raise
    return Devices(driver, sensor, mid_port, standing_errors, unread)


def _reset_mid(reset_line: ResetLine, connect: Callable[[], Port], clock: Clock) -> Port:
    """Hold the mid level in reset, let it go, wait until its line is there and something comes out
    of it.
    """
    reset_line.drive(False)
    clock.sleep_until(clock.now() + RESET_HOLD)
    reset_line.drive(True)
    port: Port | None = None
    last: OSError | None = None

    def answered() -> Port | None:
        nonlocal port, last
        try:
            port = port or connect()
            return port if port.read() else None
        # not there yet, or gone again: a port that appears twice is what some resets look like
        except OSError as error:
            last, lost, port = error, port, None
            if lost is not None:
                lost.close()
            return None

    try:
        return _wait(answered, MID_LIMIT, clock)
    except TimeoutError as error:
        if port is not None:
            port.close()
        what = f"its port cannot be opened: {last}" if last is not None else "its port is silent"
        advice = (
            "is the mid level's program on the board, the reset line wired to its reset pin, the"
            " port's name right?"
        )
        raise StartUpError(
            "mid level after its reset",
            f"{MID_LIMIT:g} s after its reset {what.rstrip('.')}.",
            advice,
        ) from error


def _require_pitch(sensor: PitchSensor, clock: Clock) -> None:
    def finite() -> float | None:
        pitch = sensor.newest()
        return pitch if pitch is not None and math.isfinite(pitch) else None

    advice = "is the sensor powered, level, and set to send frames at this baud rate?"
    _check("pitch sensor", finite, f"No finite pitch within {DEVICE_LIMIT:g} s.", advice, clock)


def _require_bus(driver: MotorDriver, band: tuple[float, float]) -> None:
    voltage, _ = _driver_says(driver.bus)
    if not band[0] <= voltage <= band[1]:
        what = f"Bus voltage {voltage:.2f} V; allowed are {band[0]:g} to {band[1]:g} V."
        raise StartUpError(
            "bus voltage",
            what,
            "charge or change the battery; the band is bus_band in the stack's settings.",
        )


def _require_limits(driver: MotorDriver) -> tuple[str, ...]:
    """Limits that a walking robot would trip, or a unit it would be wrong by, are refused.

    Those that cannot be read are given back.
    """
    wrong, unread = _driver_says(driver.unmet_limits)
    if wrong:
        raise StartUpError(
            "limits of the motor driver",
            "\n  ".join(f"{line}." for line in wrong),
            "`footfall stack setup-odrive` prints the lines for odrivetool.",
        )
    return tuple(unread)


def _standing_errors(driver: MotorDriver) -> str:
    """In words. A watchdog that expired before anybody was there to command is none."""
    if not any(error & ~driver.watchdog_bit for error in _driver_says(driver.errors)):
        return ""
    return _driver_says(driver.explain)


def _driver_says(question: Callable[[], T]) -> T:
    try:
        return question()
    except OSError as error:
        raise StartUpError(
            "motor driver", str(error), "is it powered, and does its port speak the ASCII protocol?"
        ) from error


def _require_frame(port: Port, settings: StackSettings, clock: Clock, sketch: str) -> None:
    reader = FrameReader(up_format(settings))
    what = f"No valid frame within {DEVICE_LIMIT:g} s"
    advice = (
        f"both ends need the same settings (checksum, limits). `{sketch}` writes the sketch for"
        " these; flash it."
    )

    def described() -> str:
        return f"{what}; {reader.rejected} invalid ones."

    _check(
        "frame from the mid level",
        lambda: reader.feed(port.read()) or None,
        described,
        advice,
        clock,
    )


def _require_fingerprint(port: Port, settings: StackSettings, clock: Clock, sketch: str) -> None:
    """The mid level was built for these constants and of this law.

    One that does not answer is refused too: its law is not known, and to flash it anew takes a
    minute.
    """
    reader, wanted = FrameReader(answer_format(settings)), fingerprint(settings)
    other: tuple[float, ...] = ()
    asked_at = -ASK_EVERY + clock.now()

    def answered() -> bool | None:
        nonlocal other, asked_at
        for said in reader.feed(port.read()):
            if said == wanted:
                return True
            other = said  # or the right one, garbled on a line without checksums: ask again
        if clock.now() >= asked_at + ASK_EVERY:
            asked_at = clock.now()
            port.write(request(settings))
        return None

    def described() -> str:
        if not other:
            return (
                "It does not say what it was built for: a sketch of an older footfall, or another"
                " program. Which law it holds is not known."
            )
        return (
            "It was built for other constants or another controller than this run's: it says"
            f" {_words(other)}, these settings make {_words(wanted)}."
        )

    advice = f"`{sketch}` writes the sketch for these settings; flash it."
    _check("what the mid level was built for", answered, described, advice, clock)


def _words(numbers: tuple[float, ...]) -> str:
    return "-".join(f"{int(number):08x}" for number in numbers)


def _quiet(port: Port, driver: MotorDriver, settings: StackSettings, clock: Clock) -> None:
    """The law off, and the motors, by the driver's own word."""
    check = "switching everything off"
    try:
        port.write(_stop_frame(settings))
        driver.motors_off()
    except OSError as error:
        raise StartUpError(
            check, str(error), "look at the cables; do not go near the robot."
        ) from error
    states = "Motors that were ordered off stay in closed loop (state 8)"
    _check(
        check,
        lambda: True if AxisState.CLOSED_LOOP not in _driver_says(driver.states) else None,
        f"{states} for {DEVICE_LIMIT:g} s.",
        "cut the driver's power; does another program command it?",
        clock,
    )


def _leave(opened: list[_Closable]) -> None:
    """After a failed check.

    Off what can be reached, and every line closed, whatever goes wrong on the way.
    """
    for device in reversed(opened):
        off = getattr(device, "motors_off", None)
        for step in (off, device.close):
            try:
                if step is not None:
                    step()
            except OSError:
                continue


def _stop_frame(settings: StackSettings) -> bytes:
    return encode(
        down_format(settings), (settings.setpoint, 0.0, 0.0, 0.0)[: 4 if settings.steering else 3]
    )


def _check(
    check: str,
    ask: Callable[[], T | None],
    what: str | Callable[[], str],
    advice: str,
    clock: Clock,
) -> T:
    try:
        return _wait(ask, DEVICE_LIMIT, clock)
    except TimeoutError as error:  # an OSError too, and the first to be looked at
        raise StartUpError(check, what if isinstance(what, str) else what(), advice) from error
    except OSError as error:
        raise StartUpError(check, str(error), advice) from error


def _wait(ask: Callable[[], T | None], limit: float, clock: Clock) -> T:
    """Ask until there is an answer; TimeoutError after the limit."""
    deadline = clock.now() + limit
    while True:
        answer = ask()
        if answer is not None:
            return answer
        if clock.now() >= deadline:
            raise TimeoutError
        clock.sleep_until(clock.now() + POLL)
