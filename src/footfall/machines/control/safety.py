"""When the motors of a robot may be on, and when its law may run: the high level's rules about it, apart from its housekeeping."""

from __future__ import annotations

import math
from collections.abc import Callable

from footfall.machines.control.contracts import MotorDriver, Operator
from footfall.machines.control.microseconds import SECOND
from footfall.machines.control.odrive_ascii import error_words
from footfall.machines.control.odrive_axis import AxisState
from footfall.machines.control.settings import StackSettings


class Safety:
    """A latch and two switches.

    - Any trouble cuts the motors off in the cycle that sees it and sets `fault`, which stays. The order to the driver is given anew
      in every cycle in which the trouble lasts, and until the driver has taken it.
    - Only a press of "motors on" that comes after the cut-off, in a cycle without trouble, lifts the latch and arms the motors.
    - The law runs while the motors are in closed loop, all is well, and the start switch is on. A cut-off, like a press of "motors
      off", uses the start switch up: it must be released, with the latch lifted, before it counts again. Nothing starts by itself.
    - Calibration turns motors too: it is obeyed only while they are off and nothing is latched.
    """

    ARMING = 0.5  #: s, within which an armed motor must be in closed loop

    def __init__(self, settings: StackSettings, driver: MotorDriver, operator: Operator, now: float):
        """Presses that `operator` has counted so far are history."""
        self.fault = ""
        self.motors_on = False  #: armed; `closed_loop` follows when the driver says so
        self.pitch: float | None = None  #: rad, the last one worth sending
        self._settings, self._driver = settings, driver
        self._obeyed = operator
        self._pitch_at = now
        self._troubled = False  #: in this cycle
        self._off_refused = False  #: the driver has not taken the last order to switch off
        self._closed_loop = False
        self._armed_until = now
        self._run_used_up = False

    def check_motors(self, operator: Operator, now: float) -> tuple[float, ...] | None:
        """The first thing in every cycle: the speeds, None if they could not be read. Motors that must be off are ordered off here."""
        self._troubled = False
        speeds, trouble = self._look_at_motors(now)
        if not operator.present:
            trouble = trouble or "The joystick is gone."
        if trouble:
            self.cut_off(trouble)
        elif operator.motors_off != self._obeyed.motors_off or self._off_refused:
            self._switch_off()
        return speeds

    def check_pitch(self, measured: float | None, now: float) -> None:
        """What the sensor said in this cycle; None: nothing new."""
        if measured is None:
            silent_us = round((now - self._pitch_at) * SECOND)
            if silent_us > self._settings.sensor_timeout_us:
                self.cut_off(f"No pitch for {silent_us / 1000:g} ms.")
        elif not math.isfinite(measured) or abs(measured) > self._settings.measured_limit:
            self.cut_off(f"The pitch sensor said {measured}.")
        else:
            self.pitch, self._pitch_at = measured, now

    def obey(self, operator: Operator, now: float) -> bool:
        """The last thing before the frame: what the operator wants, as far as it may be had. Whether the law may run."""
        before, self._obeyed = self._obeyed, operator
        pressed_off = operator.motors_off != before.motors_off
        if operator.motors_on != before.motors_on and not self.motors_on and not self._troubled and not pressed_off:
            self._arm(now)
        if operator.calibrate != before.calibrate and not self.motors_on and not self.fault:
            self._order(self._driver.calibrate, "calibrate")
        if not operator.run and not self.fault:
            self._run_used_up = False
        may_run = self._closed_loop and not self.fault and self.pitch is not None
        return operator.run and not self._run_used_up and may_run

    def cut_off(self, reason: str) -> None:
        """Motors off, latched. The first reason is kept: those that follow are mostly its consequences."""
        self._troubled = True
        self.fault = self.fault or reason
        self._switch_off()

    def _look_at_motors(self, now: float) -> tuple[tuple[float, ...] | None, str]:
        try:
            speeds = self._driver.speeds()
            return speeds, self._too_fast(speeds) or (self._driver_trouble(now) if self.motors_on else "")
        except Exception as error:  # whatever it was: motors that cannot be watched are switched off
            return None, f"The motors' speeds could not be read: {error}"

    def _too_fast(self, speeds: tuple[float, ...]) -> str:
        limit = self._settings.speed_limit
        fast = [f"motor {k} at {speed:.3g} turns/s" for k, speed in enumerate(speeds) if not abs(speed) <= limit]
        return f"Over speed: {', '.join(fast)}; the limit is {limit:g}." if fast else ""

    def _driver_trouble(self, now: float) -> str:
        """Motors that should be on, by the driver's own word."""
        errors, states = self._driver.errors(), self._driver.states()
        if any(errors):
            said = ", ".join(f"error {error_words(error)} of motor {k}" for k, error in enumerate(errors) if error)
            return f"The motor driver reports {said}."
        everywhere = all(state == AxisState.CLOSED_LOOP for state in states)
        if not everywhere and (self._closed_loop or now > self._armed_until):
            return f"The motors should be in closed loop (state 8); the driver says {', '.join(map(str, states))}."
        self._closed_loop = everywhere
        return ""

    def _arm(self, now: float) -> None:
        self.fault = ""
        if self._order(self._driver.motors_on, "switch the motors on"):
            self.motors_on, self._armed_until = True, now + self.ARMING

    def _switch_off(self) -> None:
        self.motors_on = self._closed_loop = False
        self._run_used_up = True
        try:
            self._driver.motors_off()
            self._off_refused = False
        except Exception:  # it is told again in the next cycle; meanwhile the frame's flag is 0
            self._off_refused = True

    def _order(self, order: Callable[[], None], what: str) -> bool:
        try:
            order()
        except Exception as error:
            self.cut_off(f"The motor driver would not {what}: {error}")
            return False
        return True
