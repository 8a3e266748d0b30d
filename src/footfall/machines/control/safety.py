"""The high level's care for its motors.

safety_step.py with the devices it asks and the words for what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable

from footfall.machines.control import safety_step as rules
from footfall.machines.control.contracts import MotorDriver, Operator
from footfall.machines.control.microseconds import SECOND
from footfall.machines.control.odrive_axis import AxisState
from footfall.machines.control.settings import StackSettings


class Safety:
    """The rules of safety_step.py, among devices that may fail.

    Trouble sets `fault`, which stays while the cut-off is latched. The order to switch off is given
    anew in every cycle in which the trouble lasts, and until the driver has taken it and says that
    no motor is in closed loop.
    """

    def __init__(
        self, settings: StackSettings, driver: MotorDriver, operator: Operator, now: float
    ):
        """Presses that `operator` has counted so far are history."""
        self.fault = ""
        self._settings, self._driver = settings, driver
        self._obeyed = operator
        self._memory = rules.SafetyMemory(pitch_us=_us(now))
        self._off_refused = False  #: the driver has not taken the last order to switch off

    @property
    def motors_on(self) -> bool:
        """Armed; closed loop follows when the driver says so."""
        return bool(self._memory.motors_on)

    @property
    def pitch(self) -> float | None:
        """rad, the last one worth sending."""
        return self._memory.pitch if self._memory.pitch_known else None

    def check_motors(self, operator: Operator, now: float) -> tuple[float, ...] | None:
        """The first thing in every cycle: the speeds, None if they could not be read.

        Motors that must be off are ordered off here.
        """
        speeds, trouble = self._look_at_motors(now)
        if not operator.present:
            trouble = trouble or f"The {operator.source} is gone."
        pressed = operator.motors_off != self._obeyed.motors_off
        off = pressed or self._off_refused or self._driven_unasked(speeds)
        self._memory = rules.watched(self._memory, bool(trouble), off)
        if trouble or off:
            self._order_off(trouble)
        return speeds

    def check_pitch(self, measured: float | None, now: float) -> None:
        """What the sensor said in this cycle; None: nothing new."""
        fresh, settings, before = measured is not None, self._settings, self._memory
        value = before.pitch if measured is None else measured
        self._memory, trouble = rules.sensed(
            before, fresh, value, settings.measured_limit, settings.sensor_timeout_us, _us(now)
        )
        if trouble:
            silent = f"No pitch for {(_us(now) - before.pitch_us) / 1000:g} ms."
            self._order_off(f"The pitch sensor said {measured}." if fresh else silent)

    def obey(self, operator: Operator, now: float) -> bool:
        """The last thing before the frame: what the operator wants, as far as it may be had.

        Whether the law may run.
        """
        before, self._obeyed = self._obeyed, operator
        buttons = (
            getattr(operator, name) != getattr(before, name) for name in rules.Pressed._fields
        )
        self._memory, orders = rules.obeyed(
            self._memory, rules.Pressed(*buttons), operator.run, _us(now)
        )
        if orders.arm:
            self.fault = ""
            self._order(self._driver.motors_on, "switch the motors on")
        if orders.calibrate:
            self._order(self._driver.calibrate, "calibrate")
        return bool(rules.may_run(self._memory, operator.run))

    def cut_off(self, reason: str) -> None:
        """Motors off, latched."""
        self._memory = rules.cut_off(self._memory)
        self._order_off(reason)

    def _look_at_motors(self, now: float) -> tuple[tuple[float, ...] | None, str]:
        try:
            speeds = self._driver.speeds()
            return speeds, self._too_fast(speeds) or (
                self._driver_trouble(now) if self.motors_on else ""
            )
        except (
            Exception
        ) as error:  # whatever it was: motors that cannot be watched are switched off
            return None, f"The motors' speeds could not be read: {error}"

    def _too_fast(self, speeds: tuple[float, ...]) -> str:
        limit = self._settings.speed_limit
        each = zip(speeds, rules.over_speed(speeds, limit), strict=True)
        fast = [
            f"motor {k} at {speed:.3g} turns/s" for k, (speed, found) in enumerate(each) if found
        ]
        return f"Over speed: {', '.join(fast)}; the limit is {limit:g}." if fast else ""

    def _driver_trouble(self, now: float) -> str:
        """Motors that should be on, by the driver's own word."""
        errors, states = self._driver.errors(), self._driver.states()
        if any(errors):
            return f"The motor driver reports {self._explained(errors)}."
        everywhere = all(state == AxisState.CLOSED_LOOP for state in states)
        self._memory, trouble = rules.disobeyed(self._memory, everywhere, _us(now))
        told = ", ".join(map(str, states))
        if not trouble:
            return ""
        why = self._explained(())
        return (
            f"The motors should be in closed loop (state 8); the driver says {told}"
            f"{', and reports ' if why else ''}{why}."
        )

    def _driven_unasked(self, speeds: tuple[float, ...] | None) -> bool:
        """By the driver's own word, after an order that was lost, or by somebody else."""
        if self.motors_on or speeds is None:  # speeds that cannot be read switch off anyway
            return False
        try:
            return AxisState.CLOSED_LOOP in self._driver.states()
        except Exception:
            return True

    def _explained(self, errors: tuple[int, ...]) -> str:
        """What the driver says is wrong, or its bare numbers should it not answer any more."""
        words = [f"error {error:#x} of motor {k}" for k, error in enumerate(errors) if error]
        try:
            return self._driver.explain() or ", ".join(words)
        except OSError:
            return ", ".join(words)

    def _order_off(self, reason: str) -> None:
        """The first reason is kept: those that follow are mostly its consequences."""
        self.fault = self.fault or reason
        try:
            self._driver.motors_off()
            self._off_refused = False
        except Exception:  # it is told again in the next cycle; meanwhile the frame's flag is 0
            self._off_refused = True

    def _order(self, order: Callable[[], None], what: str) -> None:
        try:
            order()
        except Exception as error:
            self.cut_off(f"The motor driver would not {what}: {error}")


def _us(seconds: float) -> int:
    return round(seconds * SECOND)
