"""The error words of the motor driver, by firmware, against the vendor's own package."""

import itertools

import pytest

from footfall.machines.control import odrive_errors as ours
from footfall.machines.control.odrive_firmware import FIRMWARES, firmware_of

TABLES = {
    "ODriveError": ours.AXIS_06,
    "LegacyODriveError": ours.BOARD_05,
    "AxisError": ours.AXIS_05,
    "MotorError": ours.MOTOR_05,
    "EncoderError": ours.ENCODER_05,
    "ControllerError": ours.CONTROLLER_05,
}
#: That the package keeps for firmware before 0.5.2, in its tables for those after it.
GONE_BEFORE_052 = {
    "AxisError": {
        "DC_BUS_UNDER_VOLTAGE",
        "DC_BUS_OVER_VOLTAGE",
        "CURRENT_MEASUREMENT_TIMEOUT",
        "BRAKE_RESISTOR_DISARMED",
        "MOTOR_DISARMED",
        "POS_CTRL_DURING_SENSORLESS",
    },
    "MotorError": {
        "ADC_FAILED",
        "NOT_IMPLEMENTED_MOTOR_TYPE",
        "BRAKE_CURRENT_OUT_OF_RANGE",
        "BRAKE_DEADTIME_VIOLATION",
        "UNEXPECTED_TIMER_CALLBACK",
        "BRAKE_DUTY_CYCLE_NAN",
        "DC_BUS_OVER_REGEN_CURRENT",
        "DC_BUS_OVER_CURRENT",
    },
}


@pytest.mark.parametrize("name", TABLES)
def test_our_table_is_the_vendors(name):
    enums = pytest.importorskip("odrive.enums")
    theirs = {bit.name: bit.value for bit in getattr(enums, name) if bit.name != "NONE"}
    for gone in GONE_BEFORE_052.get(name, ()):
        theirs.pop(gone, None)
    assert dict(TABLES[name]) == theirs


@pytest.mark.parametrize("name", TABLES)
def test_every_name_has_a_bit_of_its_own(name):
    bits = list(TABLES[name].values())
    assert sum(bits) == sum(set(bits)) and all(bit & (bit - 1) == 0 < bit for bit in bits)


@pytest.mark.parametrize(
    "word, bits, words",
    [
        (0x2, ours.BOARD_05, "0x2: DC bus under voltage (the battery, its leads)"),
        (0x200, ours.AXIS_05, "0x200: controller failed"),
        (0x200, ours.AXIS_06, "0x200: DC bus under voltage (the battery, its leads)"),
        (
            0x20000240,
            ours.AXIS_05,
            "0x20000240: motor failed, controller failed, 0x20000000 has no name here, see the"
            " driver's manual",
        ),
    ],
)
def test_a_word_is_told_with_the_names_of_its_bits(word, bits, words):
    assert ours.in_words(word, bits) == words


def test_versions_of_a_firmware_begin_where_those_before_it_end():
    for older, newer in itertools.pairwise(FIRMWARES):
        assert older.before == newer.first
    assert [firmware_of(version).name for version in ((0, 5, 4), (0, 5, 6), (0, 6, 0))] == [
        "0.5.4 to 0.5.6",
        "0.5.4 to 0.5.6",
        "0.6",
    ]
