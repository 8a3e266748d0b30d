"""The emulated motor driver answers as the firmware's own parser did."""

import pytest
from tests.support.bench import BATTERY, SETTINGS, WINDING
from tests.support.odrive_answers import ANSWERS_056, OTHERWISE_053

from footfall.machines.control.odrive_emulator import OdriveEmulator


@pytest.mark.parametrize("version", [(0, 5, 6), (0, 5, 3)])
def test_every_line_is_answered_as_by_the_firmware_itself(version):
    odrive = OdriveEmulator(SETTINGS, [WINDING] * 2, BATTERY, version=version)
    odrive.tick(0, (2.5, -4.0), (1.25, 3.0))
    for line in SET_UP_AS_THE_STAND_IN:
        assert odrive.usb(line + b"\n", 0) == b""
    otherwise = OTHERWISE_053 if version == (0, 5, 3) else {}
    wrong = {
        (k, line[:40]): (answered, expected)
        for k, (line, usual) in enumerate(ANSWERS_056)
        if (answered := odrive.usb(line, 0)) != (expected := otherwise.get(k, usual))
    }
    assert not wrong


SET_UP_AS_THE_STAND_IN = (
    b"w config.dc_max_positive_current inf",
    b"w config.dc_max_negative_current -0.01",
    b"w config.uart_a_baudrate 115200",
)
