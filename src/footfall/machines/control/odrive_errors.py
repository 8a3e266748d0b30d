"""Error words of the ODrive, by firmware: the vendor's names of the bits, and what to do.

The names and numbers are those of the vendor's own enumerations; tests/unit/test_odrive_errors.py
compares them where its package is installed.
"""

from __future__ import annotations

import types
from collections.abc import Mapping

#: Bits of a word by the vendor's names.
Bits = Mapping[str, int]


def _bits(**names: int) -> Bits:
    return types.MappingProxyType(names)


#: 0.5.2 to 0.5.6: `error` of the board.
BOARD_05 = _bits(
    CONTROL_ITERATION_MISSED=0x01,
    DC_BUS_UNDER_VOLTAGE=0x02,
    DC_BUS_OVER_VOLTAGE=0x04,
    DC_BUS_OVER_REGEN_CURRENT=0x08,
    DC_BUS_OVER_CURRENT=0x10,
    BRAKE_DEADTIME_VIOLATION=0x20,
    BRAKE_DUTY_CYCLE_NAN=0x40,
    INVALID_BRAKE_RESISTANCE=0x80,
)

#: 0.5.2 to 0.5.6: `axisN.error`. What the board, the motor, the encoder or the controller says
#: shows here as a single bit.
AXIS_05 = _bits(
    INVALID_STATE=0x00001,
    MOTOR_FAILED=0x00040,
    SENSORLESS_ESTIMATOR_FAILED=0x00080,
    ENCODER_FAILED=0x00100,
    CONTROLLER_FAILED=0x00200,
    WATCHDOG_TIMER_EXPIRED=0x00800,
    MIN_ENDSTOP_PRESSED=0x01000,
    MAX_ENDSTOP_PRESSED=0x02000,
    ESTOP_REQUESTED=0x04000,
    HOMING_WITHOUT_ENDSTOP=0x20000,
    OVER_TEMP=0x40000,
    UNKNOWN_POSITION=0x80000,
)

#: 0.5.2 to 0.5.6: `axisN.motor.error`.
MOTOR_05 = _bits(
    PHASE_RESISTANCE_OUT_OF_RANGE=0x1,
    PHASE_INDUCTANCE_OUT_OF_RANGE=0x2,
    DRV_FAULT=0x8,
    CONTROL_DEADLINE_MISSED=0x10,
    MODULATION_MAGNITUDE=0x80,
    CURRENT_SENSE_SATURATION=0x400,
    CURRENT_LIMIT_VIOLATION=0x1000,
    MODULATION_IS_NAN=0x10000,
    MOTOR_THERMISTOR_OVER_TEMP=0x20000,
    FET_THERMISTOR_OVER_TEMP=0x40000,
    TIMER_UPDATE_MISSED=0x80000,
    CURRENT_MEASUREMENT_UNAVAILABLE=0x100000,
    CONTROLLER_FAILED=0x200000,
    I_BUS_OUT_OF_RANGE=0x400000,
    BRAKE_RESISTOR_DISARMED=0x800000,
    SYSTEM_LEVEL=0x1000000,
    BAD_TIMING=0x2000000,
    UNKNOWN_PHASE_ESTIMATE=0x4000000,
    UNKNOWN_PHASE_VEL=0x8000000,
    UNKNOWN_TORQUE=0x10000000,
    UNKNOWN_CURRENT_COMMAND=0x20000000,
    UNKNOWN_CURRENT_MEASUREMENT=0x40000000,
    UNKNOWN_VBUS_VOLTAGE=0x80000000,
    UNKNOWN_VOLTAGE_COMMAND=0x100000000,
    UNKNOWN_GAINS=0x200000000,
    CONTROLLER_INITIALIZING=0x400000000,
    UNBALANCED_PHASES=0x800000000,
)

#: 0.5.2 to 0.5.6: `axisN.encoder.error`.
ENCODER_05 = _bits(
    UNSTABLE_GAIN=0x001,
    CPR_POLEPAIRS_MISMATCH=0x002,
    NO_RESPONSE=0x004,
    UNSUPPORTED_ENCODER_MODE=0x008,
    ILLEGAL_HALL_STATE=0x010,
    INDEX_NOT_FOUND_YET=0x020,
    ABS_SPI_TIMEOUT=0x040,
    ABS_SPI_COM_FAIL=0x080,
    ABS_SPI_NOT_READY=0x100,
    HALL_NOT_CALIBRATED_YET=0x200,
)

#: 0.5.2 to 0.5.6: `axisN.controller.error`.
CONTROLLER_05 = _bits(
    OVERSPEED=0x01,
    INVALID_INPUT_MODE=0x02,
    UNSTABLE_GAIN=0x04,
    INVALID_MIRROR_AXIS=0x08,
    INVALID_LOAD_ENCODER=0x10,
    INVALID_ESTIMATE=0x20,
    INVALID_CIRCULAR_RANGE=0x40,
    SPINOUT_DETECTED=0x80,
)

#: 0.6: `axisN.active_errors` and `axisN.disarm_reason`.
AXIS_06 = _bits(
    INITIALIZING=0x1,
    SYSTEM_LEVEL=0x2,
    TIMING_ERROR=0x4,
    MISSING_ESTIMATE=0x8,
    BAD_CONFIG=0x10,
    DRV_FAULT=0x20,
    MISSING_INPUT=0x40,
    DC_BUS_OVER_VOLTAGE=0x100,
    DC_BUS_UNDER_VOLTAGE=0x200,
    DC_BUS_OVER_CURRENT=0x400,
    DC_BUS_OVER_REGEN_CURRENT=0x800,
    CURRENT_LIMIT_VIOLATION=0x1000,
    MOTOR_OVER_TEMP=0x2000,
    INVERTER_OVER_TEMP=0x4000,
    VELOCITY_LIMIT_VIOLATION=0x8000,
    POSITION_LIMIT_VIOLATION=0x10000,
    REQUESTED_CURRENT_TOO_HIGH=0x20000,
    WATCHDOG_TIMER_EXPIRED=0x1000000,
    ESTOP_REQUESTED=0x2000000,
    SPINOUT_DETECTED=0x4000000,
    BRAKE_RESISTOR_DISARMED=0x8000000,
    THERMISTOR_DISCONNECTED=0x10000000,
    CALIBRATION_ERROR=0x40000000,
)

_SET_UP = "`footfall stack setup-odrive` has the limit"
_ADVICE = {
    "DC_BUS_UNDER_VOLTAGE": "the battery, its leads",
    "DC_BUS_OVER_VOLTAGE": "what braking motors feed back has nowhere to go",
    "DC_BUS_OVER_REGEN_CURRENT": _SET_UP,
    "DC_BUS_OVER_CURRENT": _SET_UP,
    "CURRENT_LIMIT_VIOLATION": _SET_UP,
    "OVERSPEED": _SET_UP,
    "VELOCITY_LIMIT_VIOLATION": _SET_UP,
    "WATCHDOG_TIMER_EXPIRED": "no command came for so long: the line from the mid level",
    "INVALID_STATE": "a state that cannot be entered: is the motor calibrated?",
}


def in_words(word: int, bits: Bits) -> str:
    """A word with the names of its bits: "0x2: DC bus under voltage (the battery, its leads)"."""
    named = [_named(name) for name, bit in bits.items() if word & bit]
    if unknown := word & ~sum(bits.values()):
        named.append(f"{unknown:#x} has no name here, see the driver's manual")
    return f"{word:#x}: {', '.join(named)}"


def _named(name: str) -> str:
    words = name.lower().replace("_", " ").replace("dc bus", "DC bus")
    return f"{words} ({_ADVICE[name]})" if name in _ADVICE else words
