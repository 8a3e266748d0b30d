"""StackSettings: what they say survives JSON, and nothing a program could stumble over gets into
them, whatever file they came from.
"""

import dataclasses
import json
import math

import numpy as np
import pytest

from footfall.hybrid.fields import describe
from footfall.machines.control.pid import PidGains
from footfall.machines.control.settings import StackSettings
from footfall.machines.control.three_level import ThreeLevelStack
from footfall.realtime.plant import load_plant
from support.stack_cases import EVERY, ROBOT, WALKING

#: What no number, flag or pair of the settings may be. An integer of 5000 digits has neither a
#: float nor, by default, a text.
NEVER = ("a", None, [], {}, math.nan, math.inf, -math.inf, 10**400, 10**5000)
FIELDS = [field.name for field in dataclasses.fields(StackSettings)]
PERIODS = ("high_period_us", "mid_period_us", "low_period_us", "report_period_us")
TIMEOUTS = ("watchdog_us", "driver_watchdog_us", "sensor_timeout_us")
LIMITS = (
    "speed_limit",
    "steer_limit",
    "setpoint_limit",
    "measured_limit",
    "current_limit",
    "torque_constant",
)


@pytest.mark.parametrize("settings", EVERY.values(), ids=EVERY)
def test_what_is_written_is_read(settings):
    assert StackSettings.from_json(settings.to_json()) == settings


@pytest.mark.parametrize("name", FIELDS)
def test_no_field_takes_nonsense(name):
    for nonsense in NEVER:
        with pytest.raises(ValueError, match=f"^{name} = "):
            dataclasses.replace(ROBOT, **{name: nonsense})


@pytest.mark.parametrize("name", PidGains._fields)
def test_no_gain_takes_nonsense(name):
    for nonsense in (*NEVER, True):
        with pytest.raises(ValueError, match=f"^gains.{name} = "):
            dataclasses.replace(ROBOT, gains=WALKING._replace(**{name: nonsense}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in PERIODS for value in (0, -250, 10_000_001, 250.5, True)),
        *((name, value) for name in TIMEOUTS for value in (0, -1, 2**31, 0.5, True)),
        *((name, value) for name in LIMITS for value in (0.0, -1.0, 1e10, True)),
        ("motors", 0),
        ("motors", 3),
        ("motors", True),
        ("motors", 2.0),
        ("frame_copies", 0),
        ("frame_copies", 5),
        ("frame_copies", 10**7),
        ("setpoint", 1.6),  # beyond pi / 2
        ("setpoint", True),
        ("steering", 1),
        ("motor_signs", (1.0,)),
        ("motor_signs", (1.0, 0.5)),
        ("motor_signs", (1.0, math.nan)),
        ("motor_signs", (1.0,) * 100),
        ("motor_signs", "++"),
        ("bus_band", (30.0, 18.0)),
        ("bus_band", (18.0,)),
        ("bus_band", (-1.0, 18.0)),
        ("bus_band", (18.0, math.inf)),
    ],
)
def test_a_value_out_of_its_range_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"^{name} = "):
        dataclasses.replace(ROBOT, **{name: value})


def test_what_a_scenario_may_say_of_timeouts_and_copies_the_programs_take():
    longest, copies = (describe(ThreeLevelStack)[name].le for name in ("watchdog", "frame_copies"))
    dataclasses.replace(ROBOT, watchdog_us=round(longest * 1e6), frame_copies=copies)
    for beyond in ({"watchdog_us": round(longest * 1e6) + 1}, {"frame_copies": copies + 1}):
        with pytest.raises(ValueError):
            dataclasses.replace(ROBOT, **beyond)


def test_the_ends_of_the_ranges_are_inside():
    dataclasses.replace(
        ROBOT,
        high_period_us=1,
        low_period_us=10_000_000,
        watchdog_us=1,
        frame_copies=4,
        setpoint=-math.pi / 2,
    )
    dataclasses.replace(
        ROBOT, gains=WALKING._replace(integral_limit=0.0, filter_time=0.0, proportional=-1.0)
    )


@pytest.mark.parametrize(
    ("gain", "value", "words"),
    [
        ("period_us", 250, "one period"),
        ("period_us", 1000.5, "whole microseconds"),
        ("integral_limit", -1.0, "neither is negative"),
        ("filter_time", -0.1, "neither is negative"),
        ("output_limit", 0.0, "must be positive"),
    ],
)
def test_gains_that_make_no_law_are_refused(gain, value, words):
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(ROBOT, gains=WALKING._replace(**{gain: value}))


def test_numpy_numbers_are_numbers():
    gains = WALKING.of_type(np.float32)
    assert (
        dataclasses.replace(
            ROBOT, gains=gains, setpoint=np.float64(0.5), high_period_us=np.int64(5000)
        ).gains
        == gains
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"colour": "red"}, "colour"),  # a key that is not known
        ({"gains": None}, "gains = None"),
        ({"gains": {"proportional": 1.0}}, "integral"),  # one that is missing
        ({"motor_signs": 3}, "motor_signs = 3"),
        ({"bus_band": "ab"}, "bus_band = ab"),
    ],
)
def test_json_of_another_shape_is_refused_in_words(change, words):
    with pytest.raises(ValueError, match=words):
        StackSettings.from_json(json.dumps(json.loads(ROBOT.to_json()) | change))


@pytest.mark.parametrize(
    "text", ["", "[]", "3", "null", "{}", "[" * 100_000, '{"gains": ' * 50_000]
)
def test_text_that_is_no_settings_is_a_value_error(text):
    with pytest.raises(ValueError):
        StackSettings.from_json(text)


def test_mounting_boards_and_reach_of_the_stick_come_from_the_scenario():
    settings = load_plant(
        "rimless-wheel",
        [
            "stack.mounting=right-reversed",
            "stack.boards=2",
            "stack.steer_limit=1 A",
        ],
    ).settings
    assert (
        settings.motor_signs == (1.0, -1.0) and settings.boards == 2 and settings.steer_limit == 1.0
    )
    usual = load_plant("rimless-wheel").settings
    assert usual.motor_signs == (1.0, 1.0) and usual.boards == 1 and usual.steer_limit == 5.0
