"""What `r` and `w` reach of an emulated motor driver.

Names, how they are read, what may be written to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from footfall.machines.control.microseconds import SECOND
from footfall.machines.control.odrive_axis import Axis


class Property(NamedTuple):
    """One number of the driver.

    `set` takes the value and the time; it is None where nothing may be written.
    """

    get: Callable[[], float | int | bool]
    set: Callable[[float, int], None] | None = None
    whole: bool = False  #: only whole numbers may be written
    least: float = float("-inf")  #: that may be written
    most: float = float("inf")

    @classmethod
    def of(cls, owner: Any, name: str, **bounds: float) -> Property:
        """A number kept under this name. Not negative, if nothing else is said."""
        return cls(
            lambda: getattr(owner, name),
            lambda value, _: setattr(owner, name, value),
            **({"least": 0.0} | bounds),
        )

    def text(self) -> bytes:
        value = self.get()
        return b"%f" % value if isinstance(value, float) else b"%d" % value

    def write(self, value: float, now_us: int) -> bool:
        """Whether it could be written."""
        if (
            self.set is None
            or not self.least <= value <= self.most
            or (self.whole and value != int(value))
        ):
            return False
        self.set(value, now_us)
        return True


def axis_properties(axis: Axis) -> dict[bytes, Property]:
    """By the names of firmware 0.5.

    `active_errors`, `pos_estimate` and `vel_estimate` also by those of 0.6 (with the bits of 0.5).
    """
    error = Property(lambda: int(axis.error), lambda value, _: axis.clear_errors(), True, 0, 0)
    position, velocity = Property(lambda: axis.position), Property(lambda: axis.speed)

    def setting(name: str) -> Property:
        return Property(
            lambda: getattr(axis.numbers, name),
            lambda value, _: axis.set(**{name: value}),
            least=0.0,
        )

    def limit_current(value: float, now_us: int) -> None:
        axis.set(winding=axis.numbers.winding._replace(current_limit=value))

    return {
        b"current_state": Property(lambda: int(axis.state)),
        b"requested_state": Property(
            lambda: 0, lambda value, now_us: axis.request(int(value), now_us), True, 0, 255
        ),
        b"error": error,
        b"active_errors": error,
        b"encoder.pos_estimate": position,
        b"encoder.vel_estimate": velocity,
        b"pos_estimate": position,
        b"vel_estimate": velocity,
        b"config.enable_watchdog": Property(
            lambda: axis.enable_watchdog, lambda value, _: axis.set(watched=bool(value)), True, 0, 1
        ),
        b"config.watchdog_timeout": Property(
            lambda: axis.numbers.watchdog_us / SECOND,
            lambda value, _: axis.set(watchdog_us=value * SECOND),
            False,
            0.0,
            1000.0,
        ),
        b"motor.config.current_lim": Property(
            lambda: float(axis.numbers.winding.current_limit), limit_current, False, 0.0
        ),
        b"motor.is_calibrated": Property(lambda: axis.memory.calibrated),
        b"motor.current_control.Iq_setpoint": Property(lambda: float(axis.memory.wanted)),
        b"motor.current_control.Iq_measured": Property(lambda: float(axis.memory.current)),
        b"controller.config.vel_limit": setting("speed_limit"),
        b"controller.config.vel_gain": setting("velocity_gain"),
        b"controller.config.pos_gain": setting("position_gain"),
    }
