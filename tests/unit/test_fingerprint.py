"""The fingerprint of a mid level: another one for every sketch that would drive otherwise."""

import dataclasses

import pytest

from footfall.machines.control import fingerprint as module
from footfall.machines.control.fingerprint import fingerprint
from footfall.machines.control.own_law import OwnLaw
from footfall.realtime.firmware_config import config_header
from support.stack_cases import ONE_MOTOR, ROBOT, WALKING

LAW = OwnLaw(
    "Own in own.py",
    "/* own */",
    "return 1;",
    {"stiffness": 6.0, "per_ampere": 0.367, "output_limit": 40.0, "period_us": 1000},
    {"rate": "float32"},
)
OWN = dataclasses.replace(ROBOT, gains=LAW)
#: Of every setting another value, that a mid level holds or does not.
CHANGES = {
    "setpoint": 0.5,
    "motors": 1,
    "motor_signs": (1.0, -1.0),
    "steering": False,
    "checksum": False,
    "frame_copies": 2,
    "high_period_us": 20_000,
    "low_period_us": 500,
    "report_period_us": 20_000,
    "watchdog_us": 50_000,
    "driver_watchdog_us": 50_000,
    "sensor_timeout_us": 50_000,
    "reply_limit_us": 50_000,
    "speed_limit": 4.0,
    "steer_limit": 1.0,
    "setpoint_limit": 1.0,
    "measured_limit": 2.0,
    "current_limit": 10.0,
    "bus_band": (20.0, 28.0),
    "torque_constant": 0.05,
    "drawn_current": 5.0,
    "returned_current": 0.5,
    "boards": 2,
}
VARIED = {
    **{name: dataclasses.replace(ROBOT, **{name: value}) for name, value in CHANGES.items()},
    **{
        f"gains.{name}": dataclasses.replace(ROBOT, gains=WALKING._replace(**{name: 0.77}))
        for name in WALKING._fields[:-1]
    },
    "gains.period_us, mid_period_us": dataclasses.replace(
        ROBOT, gains=WALKING._replace(period_us=500), mid_period_us=500
    ),
}


def test_every_setting_is_varied():
    names = {field.name for field in dataclasses.fields(ROBOT)}
    assert names == {*CHANGES, "gains", "mid_period_us"}


@pytest.mark.parametrize("name", VARIED)
def test_another_constant_of_the_firmware_is_another_fingerprint_and_no_other_setting_is(name):
    def constants(settings):
        return config_header(settings).partition("/* Of all of the above")[0]

    same = constants(VARIED[name]) == constants(ROBOT)
    assert (fingerprint(VARIED[name]) == fingerprint(ROBOT)) == same


def test_it_is_of_the_numbers_as_the_firmware_holds_them():
    nearly = WALKING._replace(proportional=WALKING.proportional * (1 + 1e-9))
    assert fingerprint(dataclasses.replace(ROBOT, gains=nearly)) == fingerprint(ROBOT)


@pytest.mark.parametrize(
    "change",
    [
        {"source": "return 2;"},
        {"header": "/* another */"},
        {"numbers": LAW.numbers | {"stiffness": 7.0}},
    ],
)
def test_another_law_of_ones_own_is_another_fingerprint(change):
    changed = dataclasses.replace(OWN, gains=LAW._replace(**change))
    assert len({fingerprint(changed), fingerprint(OWN), fingerprint(ROBOT)}) == 3


def test_another_text_of_the_shipped_law_is_another_fingerprint(monkeypatch):
    before = fingerprint(ONE_MOTOR)
    monkeypatch.setattr(module, "_shipped_law", lambda: "another law")
    assert fingerprint(ONE_MOTOR) != before
