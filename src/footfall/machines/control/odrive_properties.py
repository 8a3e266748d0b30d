"""What `r` and `w` reach of an emulated motor driver: names, how they are read, what may be written to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from footfall.machines.control.odrive_axis import Axis, AxisError


class Property(NamedTuple):
    """One number of the driver. `set` takes the value and the time; it is None where nothing may be written."""

    get: Callable[[], float | int | bool]
    set: Callable[[float, int], None] | None = None
    whole: bool = False  #: only whole numbers may be written
    least: float = float("-inf")  #: that may be written
    most: float = float("inf")

    @classmethod
    def of(cls, owner: Any, name: str, **bounds: float) -> Property:
        """A number kept under this name. Not negative, if nothing else is said."""
        return cls(lambda: getattr(owner, name), lambda value, _: setattr(owner, name, value), **({"least": 0.0} | bounds))

    def text(self) -> bytes:
        value = self.get()
        return b"%f" % value if isinstance(value, float) else b"%d" % value

    def write(self, value: float, now_us: int) -> bool:
        """Whether it could be written."""
        if self.set is None or not self.least <= value <= self.most or (self.whole and value != int(value)):
            return False
        self.set(value, now_us)
        return True


def axis_properties(axis: Axis) -> dict[bytes, Property]:
    """By the names of firmware 0.5; `active_errors`, `pos_estimate` and `vel_estimate` also by those of 0.6 (with the bits of 0.5)."""
    error = Property(lambda: int(axis.error), lambda value, _: setattr(axis, "error", AxisError(int(value))), True, 0, 0)
    position, velocity = Property(lambda: axis.position), Property(lambda: axis.speed)
    return {
        b"current_state": Property(lambda: int(axis.state)),
        b"requested_state": Property(lambda: 0, lambda value, now_us: axis.request(int(value), now_us), True, 0, 255),
        b"error": error,
        b"active_errors": error,
        b"encoder.pos_estimate": position,
        b"encoder.vel_estimate": velocity,
        b"pos_estimate": position,
        b"vel_estimate": velocity,
        b"config.enable_watchdog": Property(
            lambda: axis.enable_watchdog, lambda value, _: setattr(axis, "enable_watchdog", bool(value)), True, 0, 1
        ),
        b"config.watchdog_timeout": Property.of(axis, "watchdog_timeout", most=1000.0),
        b"motor.config.current_lim": Property(lambda: float(axis.winding.current_limit), _limit_current(axis), False, 0.0),
        b"motor.is_calibrated": Property(lambda: axis.calibrated),
        b"motor.current_control.Iq_setpoint": Property(lambda: axis.wanted),
        b"motor.current_control.Iq_measured": Property(lambda: axis.current),
        b"controller.config.vel_limit": Property.of(axis, "speed_limit"),
        b"controller.config.vel_gain": Property.of(axis, "velocity_gain"),
        b"controller.config.pos_gain": Property.of(axis, "position_gain"),
    }


def _limit_current(axis: Axis) -> Callable[[float, int], None]:
    def write(value: float, now_us: int) -> None:
        axis.winding = axis.winding._replace(current_limit=value)

    return write
