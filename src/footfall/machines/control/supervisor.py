"""The high level.

Safety first, then pitch, readings, frame, answer, record; 100 times a second, and an orderly end on
every path.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from footfall.machines.control.contracts import (
    Clock,
    DeviceError,
    MotorDriver,
    Operator,
    PitchSensor,
    Record,
)
from footfall.machines.control.framing import FrameReader, down_format, encode, up_format
from footfall.machines.control.microseconds import SECOND
from footfall.machines.control.odrive_axis import AxisState
from footfall.machines.control.ports import Port
from footfall.machines.control.safety import Safety
from footfall.machines.control.settings import StackSettings
from footfall.numerics.namespace import clamp

SHUTDOWN_ATTEMPTS = 3  #: at each step


class Supervisor:
    """One cycle at a time; `run` repeats it.

    Devices stay the caller's: close them after `shut_down`.

    The cycle's order is that of control-stack.md, section 2.3, and nothing in it waits longer than
    a device's own limit for an answer.
    """

    def __init__(
        self,
        settings: StackSettings,
        driver: MotorDriver,
        sensor: PitchSensor,
        mid_port: Port,
        operator: Callable[[], Operator],
        log: Callable[[Record], bool],
        clock: Clock,
        *,
        end_log: Callable[[], None] = lambda: None,
    ):
        """`log` takes a record without waiting and says whether it did.

        `end_log` tells the log that no more come, and waits for it.
        """
        self.cycles = 0
        #: Deadlines that passed while the cycle before was still at work; counted by `run`.
        self.late_cycles = 0
        self.dropped_records = 0
        self.finished = ""  #: why no further cycle is wanted
        self.shutdown_problems: list[str] = []  #: steps of the shutdown that failed
        self.period_us = settings.high_period_us
        self._settings, self._driver, self._sensor, self._mid_port = (
            settings,
            driver,
            sensor,
            mid_port,
        )
        self._operator, self._log, self._end_log, self._clock = operator, log, end_log, clock
        self._down, self._answers = down_format(settings), FrameReader(up_format(settings))
        self._start = self._before = clock.now()
        self._safety = Safety(settings, driver, operator(), self._start)
        self._shut_down = False

    @property
    def fault(self) -> str:
        """Why the motors were cut off and stay off; "" while all is well."""
        return self._safety.fault

    def cycle(self) -> Record:
        """One cycle. Trouble with a device is a fault in the record, never an exception."""
        began, operator = self._clock.now(), self._operator()
        speeds = self._safety.check_motors(operator, began)
        pitch = self._read_pitch(began)
        positions, (voltage, current) = (
            self._read_motors() if speeds is not None else (None, (None, None))
        )
        setpoint, steer = self._wanted(operator)
        setpoint_on = self._safety.obey(operator, began)
        self._send(setpoint, setpoint_on, steer)
        pid_output = self._receive()
        record = Record(
            t=began - self._start,
            cycle=self.cycles,
            pitch=pitch,
            pitch_setpoint=setpoint,
            motor_pos_l=_side(positions, 0),
            motor_pos_r=_side(positions, 1),
            motor_vel_l=_side(speeds, 0),
            motor_vel_r=_side(speeds, 1),
            pid_output=pid_output,
            bus_voltage=voltage,
            bus_current=current,
            setpoint_on=setpoint_on and not self.fault,  # the frame may have found the line lost
            steer=steer,
            motors_on=self._safety.motors_on,
            fault=self.fault,
            late_cycles=self.late_cycles,
            dropped_records=self.dropped_records,
            rejected_frames=self._answers.rejected,
            period=began - self._before,
            work=self._clock.now() - began,
        )
        if not self._log(record):
            self.dropped_records += 1
        self._before = began
        self.cycles += 1
        self.finished = _wish_to_end(operator)
        return record

    def shut_down(self) -> None:
        """Motors off first, then setpoint_on = 0, then the log.

        Never raises, leaves out no step, does nothing the second time.

        A signal that arrives meanwhile (a second Ctrl-C) interrupts a step, not the shutdown: the
        step is done again.
        """
        if self._shut_down:
            return
        self._shut_down = True
        steps = (
            ("motors off", self._motors_off),
            ("setpoint_on = 0", self._switch_law_off),
            ("end of the log", self._end_log),
        )
        for name, step in steps:
            trouble: BaseException | None = None
            for _ in range(SHUTDOWN_ATTEMPTS):
                try:
                    step()
                    trouble = None
                    break
                except BaseException as error:
                    trouble = error
            if trouble is not None:
                self.shutdown_problems.append(f"{name}: {trouble!r}")

    def _motors_off(self) -> None:
        """Ordered, and by the driver's own word so: else it is ordered again."""
        self._driver.motors_off()
        states = self._driver.states()
        if any(state == AxisState.CLOSED_LOOP for state in states):
            told = ", ".join(f"{int(state)}" for state in states)
            raise DeviceError(f"The motors should be idle (state 1); the driver says {told}.")

    def _switch_law_off(self) -> None:
        frames = self._frame(self._settings.setpoint, False, 0.0) * self._settings.frame_copies
        if (taken := self._mid_port.write(frames)) < len(frames):
            raise DeviceError(
                f"The line to the mid level is full: {taken} of {len(frames)} bytes were taken. Its"
                " watchdog switches the law off."
            )

    def _read_pitch(self, now: float) -> float | None:
        try:
            pitch = self._sensor.newest()
        except (
            Exception
        ) as error:  # whatever it was: a robot that does not know its pitch does not drive
            self._safety.cut_off(f"The pitch could not be read: {error}")
            return None
        self._safety.check_pitch(pitch, now)
        return pitch

    def _read_motors(self) -> tuple[tuple[float, ...] | None, tuple[float | None, float | None]]:
        """For the record only; what cannot be read is not known.

        If the driver is gone, the next cycle's safety check will see it.
        """
        try:
            return self._driver.positions(), self._driver.bus()
        except OSError:
            return None, (None, None)

    def _wanted(self, operator: Operator) -> tuple[float, float]:
        """Set point and steering current inside their limits."""
        settings = self._settings
        setpoint = operator.setpoint if math.isfinite(operator.setpoint) else settings.setpoint
        steer = operator.steer if settings.steering and math.isfinite(operator.steer) else 0.0
        limits = settings.setpoint_limit, settings.steer_limit
        return clamp(setpoint, -limits[0], limits[0]), clamp(steer, -limits[1], limits[1])

    def _frame(self, setpoint: float, setpoint_on: bool, steer: float) -> bytes:
        # Before the first pitch the flag is 0, and nobody looks at it.
        pitch = self._safety.pitch or 0.0
        values = (setpoint, float(setpoint_on), pitch)
        return encode(self._down, (*values, steer) if self._settings.steering else values)

    def _send(self, setpoint: float, setpoint_on: bool, steer: float) -> None:
        """A line too full for the whole frame loses it.

        The mid level rejects the half, and its watchdog counts.
        """
        try:
            self._mid_port.write(
                self._frame(setpoint, setpoint_on, steer) * self._settings.frame_copies
            )
        except OSError as error:
            self._safety.cut_off(f"The line to the mid level is lost: {error}")

    def _receive(self) -> float | None:
        try:
            frames = self._answers.feed(self._mid_port.read())
        except OSError as error:
            self._safety.cut_off(f"The line to the mid level is lost: {error}")
            return None
        return frames[-1][0] if frames else None


def run(supervisor: Supervisor, clock: Clock, until: float | None = None) -> str:
    """Cycles at absolute deadlines until the supervisor is finished or the clock reads `until`.

    Why it ended.

    A cycle whose deadline passes while the one before is still at work is counted as late and done
    at once; of several such only the last is done, the others are dropped. The deadlines stay where
    they were. Every path shuts down; an exception (also the KeyboardInterrupt or SystemExit that a
    signal's handler raises) goes on to the caller after that.
    """
    # Whole microseconds: sums of float periods would drift.
    period_us, start, due = (supervisor.period_us, clock.now(), 0)
    try:
        while not supervisor.finished:
            deadline = start + due / SECOND
            if until is not None and deadline >= until:
                clock.sleep_until(until)
                return "the time was over"
            clock.sleep_until(deadline)
            supervisor.cycle()
            due += period_us
            behind = round((clock.now() - start) * SECOND) - due
            if behind > 0:
                dropped, rest = divmod(behind, period_us)
                supervisor.late_cycles += dropped + (rest > 0)
                due += dropped * period_us
        return supervisor.finished
    finally:
        supervisor.shut_down()


def _wish_to_end(operator: Operator) -> str:
    if not operator.present:
        return f"the {operator.source} is gone"
    return "the operator stopped" if operator.stop else ""


def _side(values: tuple[float, ...] | None, motor: int) -> float | None:
    return values[motor] if values is not None and motor < len(values) else None
