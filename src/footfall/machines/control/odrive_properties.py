"""What `r` and `w` reach of an emulated motor driver.

Names, types, how they are read, what writing them does; by firmware.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from footfall.machines.control.axis_step import AxisError
from footfall.machines.control.microseconds import SECOND
from footfall.machines.control.odrive_axis import Axis
from footfall.machines.control.odrive_errors import (
    AXIS_05,
    AXIS_06,
    BOARD_05,
    CONTROLLER_05,
    MOTOR_05,
)
from footfall.machines.control.odrive_firmware import Firmware
from footfall.machines.control.odrive_text import Kind, value_of, value_text

_LONGEST_WATCHDOG = 1000.0  # s

_SYSTEM = {
    "error": AXIS_05["MOTOR_FAILED"],
    "motor.error": MOTOR_05["SYSTEM_LEVEL"],
}


def _board(name: str) -> dict[str, int]:
    return _SYSTEM | {"board": BOARD_05[name]}


#: What each cause of ours sets of the error words of firmware 0.5. "board" is the board's own.
_WORDS_05: Mapping[AxisError, Mapping[str, int]] = {
    AxisError.INVALID_STATE: {"error": AXIS_05["INVALID_STATE"]},
    AxisError.UNDER_VOLTAGE: _board("DC_BUS_UNDER_VOLTAGE"),
    AxisError.OVER_VOLTAGE: _board("DC_BUS_OVER_VOLTAGE"),
    AxisError.OVER_CURRENT: _board("DC_BUS_OVER_CURRENT"),
    AxisError.OVER_RETURN: _board("DC_BUS_OVER_REGEN_CURRENT"),
    AxisError.OVER_SPEED: {
        "error": AXIS_05["CONTROLLER_FAILED"],
        "controller.error": CONTROLLER_05["OVERSPEED"],
    },
    AxisError.WATCHDOG_EXPIRED: {"error": AXIS_05["WATCHDOG_TIMER_EXPIRED"]},
    AxisError.NOT_A_NUMBER: {
        "error": AXIS_05["MOTOR_FAILED"],
        "motor.error": MOTOR_05["MODULATION_IS_NAN"],
    },
}

#: The same of 0.6. There a state that cannot be entered is no error but the result of a procedure.
#: What a command that is no number does there is not known.
_WORDS_06: Mapping[AxisError, Mapping[str, int]] = {
    cause: {"active_errors": AXIS_06[name], "disarm_reason": AXIS_06[name]}
    for cause, name in {
        AxisError.UNDER_VOLTAGE: "DC_BUS_UNDER_VOLTAGE",
        AxisError.OVER_VOLTAGE: "DC_BUS_OVER_VOLTAGE",
        AxisError.OVER_CURRENT: "DC_BUS_OVER_CURRENT",
        AxisError.OVER_RETURN: "DC_BUS_OVER_REGEN_CURRENT",
        AxisError.OVER_SPEED: "VELOCITY_LIMIT_VIOLATION",
        AxisError.WATCHDOG_EXPIRED: "WATCHDOG_TIMER_EXPIRED",
        AxisError.NOT_A_NUMBER: "MISSING_INPUT",
    }.items()
}
_NOT_CALIBRATED = 14  # result of a procedure, on 0.6


class Property(NamedTuple):
    """One number of the driver.

    `set` takes the value and the time; it is None where nothing may be written.
    """

    kind: Kind
    get: Callable[[], float]
    set: Callable[[float, int], None] | None = None

    @classmethod
    def of(cls, owner: Any, name: str, kind: Kind = Kind.FLOAT) -> Property:
        """A number kept under this name."""
        return cls(kind, lambda: getattr(owner, name), lambda value, _: setattr(owner, name, value))

    def text(self, after_unsigned: bytes = b"") -> bytes:
        return value_text(self.get(), self.kind, after_unsigned)

    def write(self, text: bytes, now_us: int) -> bool:
        """Whether it could be written. Any number of the type can."""
        value = None if self.set is None else value_of(text, self.kind)
        if self.set is None or value is None:
            return False
        self.set(value, now_us)
        return True


def error_word(axis: Axis, path: str, firmware: Firmware) -> int:
    """An error word of an axis, or its share of the board's ("board")."""
    known = _WORDS_05 if firmware.axes > 1 else _WORDS_06
    word = axis.written.get(path, 0)
    for cause, words in known.items():
        word |= words.get(path, 0) if axis.error & cause else 0
    return word


def axis_properties(axis: Axis, firmware: Firmware) -> dict[bytes, Property]:
    """By their names behind `axisN.`."""

    def setting(name: str) -> Property:
        return Property(
            Kind.FLOAT,
            lambda: getattr(axis.numbers, name),
            lambda value, _: axis.set(**{name: value}),
        )

    def word(path: str, kind: Kind = Kind.UNSIGNED) -> Property:
        return Property(
            kind,
            lambda: error_word(axis, path, firmware),
            lambda value, _: axis.write_error(path, int(value)),
        )

    config = axis.config
    both = {
        b"current_state": Property(Kind.UNSIGNED, lambda: int(axis.state)),
        b"requested_state": Property(
            Kind.UNSIGNED, lambda: 0, lambda value, now_us: axis.request(int(value), now_us)
        ),
        b"config.enable_watchdog": Property(
            Kind.FLAG,
            lambda: axis.numbers.watched,
            lambda value, _: axis.set(watched=bool(value)),
        ),
        b"config.watchdog_timeout": Property(
            Kind.FLOAT,
            lambda: axis.numbers.watchdog_us / SECOND,
            lambda value, _: axis.set(
                watchdog_us=round(min(max(value, 0.0), _LONGEST_WATCHDOG) * SECOND)
            ),
        ),
        b"controller.config.vel_limit": setting("speed_limit"),
        b"controller.config.vel_limit_tolerance": setting("speed_tolerance"),
        b"controller.config.vel_gain": setting("velocity_gain"),
        b"controller.config.pos_gain": setting("position_gain"),
        b"controller.config.enable_torque_mode_vel_limit": Property.of(config, "fades", Kind.FLAG),
        b"controller.config.enable_overspeed_error": Property.of(config, "trips_fast", Kind.FLAG),
        b"config.startup_closed_loop_control": Property.of(config, "arms_itself", Kind.FLAG),
        b"controller.config.control_mode": Property.of(config, "control_mode", Kind.UNSIGNED),
        b"controller.config.input_mode": Property.of(config, "input_mode", Kind.UNSIGNED),
        b"controller.input_pos": Property(
            Kind.FLOAT,
            lambda: axis.command.position,
            lambda value, _: axis.wish(position=value),
        ),
        b"controller.input_vel": Property(
            Kind.FLOAT,
            lambda: axis.command.velocity,
            lambda value, _: axis.wish(velocity=value),
        ),
        b"controller.input_torque": Property(
            Kind.FLOAT,
            lambda: axis.command.current * config.torque_constant,
            lambda value, _: axis.wish(current=axis.amperes(value)),
        ),
    }
    return both | (_of_05 if firmware.axes > 1 else _of_06)(axis, word)


def _limit_current(axis: Axis) -> Property:
    return Property(
        Kind.FLOAT,
        lambda: axis.numbers.winding.current_limit,
        lambda value, _: axis.limit_current(value),
    )


def _of_05(axis: Axis, word: Callable[..., Property]) -> dict[bytes, Property]:
    config = axis.config
    return {
        b"error": word("error"),
        b"motor.error": word("motor.error", Kind.WIDE),
        b"encoder.error": word("encoder.error"),
        b"controller.error": word("controller.error"),
        b"encoder.pos_estimate": Property(Kind.FLOAT, lambda: axis.position),
        b"encoder.vel_estimate": Property(Kind.FLOAT, lambda: axis.speed),
        b"motor.is_calibrated": Property(Kind.FLAG, lambda: axis.motor_ready),
        b"motor.is_armed": Property(Kind.FLAG, lambda: axis.memory.closed_loop),
        b"motor.current_control.Iq_setpoint": Property(Kind.FLOAT, lambda: axis.memory.wanted),
        b"motor.current_control.Iq_measured": Property(Kind.FLOAT, lambda: axis.memory.current),
        b"motor.config.current_lim": _limit_current(axis),
        b"motor.config.current_lim_margin": Property.of(config, "current_margin"),
        b"motor.config.requested_current_range": Property.of(config, "current_range"),
        b"motor.config.torque_constant": Property.of(config, "torque_constant"),
        b"motor.config.torque_lim": Property.of(config, "torque_limit"),
    }


def _of_06(axis: Axis, word: Callable[..., Property]) -> dict[bytes, Property]:
    config = axis.config
    return {
        b"active_errors": word("active_errors")._replace(set=None),
        b"disarm_reason": word("disarm_reason")._replace(set=None),
        b"procedure_result": Property(
            Kind.UNSIGNED,
            lambda: _NOT_CALIBRATED if axis.error & AxisError.INVALID_STATE else 0,
        ),
        b"is_armed": Property(Kind.FLAG, lambda: axis.memory.closed_loop),
        b"pos_estimate": Property(Kind.FLOAT, lambda: axis.position),
        b"vel_estimate": Property(Kind.FLOAT, lambda: axis.speed),
        b"motor.foc.Iq_setpoint": Property(Kind.FLOAT, lambda: axis.memory.wanted),
        b"motor.foc.Iq_measured": Property(Kind.FLOAT, lambda: axis.memory.current),
        b"config.motor.current_soft_max": _limit_current(axis),
        b"config.motor.current_hard_max": Property(
            Kind.FLOAT,
            lambda: axis.numbers.winding.current_limit + config.current_margin,
            lambda value, _: setattr(
                config, "current_margin", value - axis.numbers.winding.current_limit
            ),
        ),
        b"config.motor.torque_constant": Property.of(config, "torque_constant"),
        b"config.torque_soft_max": Property.of(config, "torque_limit"),
    }
