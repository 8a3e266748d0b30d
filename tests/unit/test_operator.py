"""What operators say: joystick events, scripts, recorded runs."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.bench import SETTINGS, WALK, HandClock, bench

from footfall.machines.control.contracts import Operator
from footfall.machines.control.operator_sources import (
    DUALSHOCK3,
    DUALSHOCK3_BEFORE_4_12,
    JoystickDecoder,
    RecordedOperator,
    ScriptedOperator,
    ScriptError,
)

BUTTON, AXIS, INITIAL = 1, 2, 0x80


def event(kind: int, number: int, value: int) -> bytes:
    return struct.pack("<IhBB", 12345, value, kind, number)


def press(number: int) -> bytes:
    return event(BUTTON, number, 1) + event(BUTTON, number, 0)


# Joystick


@pytest.mark.parametrize(
    "layout, numbers",
    [
        (
            DUALSHOCK3,
            {
                "cross": 0,
                "circle": 1,
                "triangle": 2,
                "start": 9,
                "ps": 10,
                "up": 13,
                "down": 14,
                "stick": 3,
            },
        ),
        (
            DUALSHOCK3_BEFORE_4_12,
            {
                "cross": 14,
                "circle": 13,
                "triangle": 12,
                "start": 3,
                "ps": 16,
                "up": 4,
                "down": 6,
                "stick": 2,
            },
        ),
    ],
)
def test_each_control_does_what_the_table_says(layout, numbers):
    decoder = JoystickDecoder(SETTINGS, layout)
    assert decoder.operator == Operator(setpoint=0.6)
    assert decoder.feed(press(numbers["cross"])).motors_on == 1
    assert decoder.feed(press(numbers["start"])).run
    assert not decoder.feed(press(numbers["start"])).run
    assert decoder.feed(press(numbers["circle"])).motors_off == 1
    assert decoder.feed(press(numbers["triangle"])).calibrate == 1
    assert decoder.feed(press(numbers["up"]) * 2).setpoint == pytest.approx(0.7)
    assert decoder.feed(press(numbers["down"])).setpoint == pytest.approx(0.65)
    assert decoder.feed(event(AXIS, numbers["stick"], 32767)).steer == SETTINGS.steer_limit
    assert decoder.feed(event(AXIS, numbers["stick"], -32767)).steer == -SETTINGS.steer_limit
    assert decoder.feed(press(numbers["ps"])).stop


def test_set_point_stops_at_its_limit_in_both_directions():
    decoder = JoystickDecoder(SETTINGS)
    assert decoder.feed(press(13) * 100).setpoint == SETTINGS.setpoint_limit
    assert decoder.feed(press(14) * 200).setpoint == -SETTINGS.setpoint_limit


def test_stick_near_its_middle_steers_exactly_nothing_and_leaves_it_without_a_jump():
    decoder = JoystickDecoder(SETTINGS)
    for value in (0, 1600, -1600):
        assert decoder.feed(event(AXIS, 3, value)).steer == 0.0
    # Just outside the 5 % at rest: 0.1 % of the way is 0.005 A.
    assert 0.0 < decoder.feed(event(AXIS, 3, 1672)).steer < 0.01
    assert decoder.feed(event(AXIS, 3, -32768)).steer == -SETTINGS.steer_limit


def test_state_found_when_the_device_was_opened_is_no_press():
    decoder = JoystickDecoder(SETTINGS)
    found = b"".join(event(BUTTON | INITIAL, number, 1) for number in range(17)) + event(
        AXIS | INITIAL, 3, -32767
    )
    assert decoder.feed(found) == Operator(setpoint=0.6)


def test_motors_on_and_off_take_the_start_switch_back():
    decoder = JoystickDecoder(SETTINGS)
    assert not decoder.feed(press(0) + press(9) + press(0)).run
    assert not decoder.feed(press(9) + press(1)).run


def test_unplugged_joystick_is_not_present_and_does_not_run():
    decoder = JoystickDecoder(SETTINGS)
    decoder.feed(press(0) + press(9))
    operator = decoder.unplugged()
    assert (operator.present, operator.run) == (False, False)
    assert decoder.operator is operator


@given(st.lists(st.binary(max_size=20), max_size=20))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_survived_and_the_pieces_do_not_matter(pieces):
    in_pieces, at_once = JoystickDecoder(SETTINGS), JoystickDecoder(SETTINGS)
    for piece in pieces:
        in_pieces.feed(piece)
    assert in_pieces.operator == at_once.feed(b"".join(pieces))
    assert abs(in_pieces.operator.steer) <= SETTINGS.steer_limit
    assert abs(in_pieces.operator.setpoint) <= SETTINGS.setpoint_limit


def test_event_in_two_pieces_counts_once_when_it_is_whole():
    decoder = JoystickDecoder(SETTINGS)
    down = event(BUTTON, 0, 1)
    assert decoder.feed(down[:5]).motors_on == 0
    assert decoder.feed(down[5:]).motors_on == 1


# Script

SCRIPT = """
# a walk
0.5 motors-on
0.6 run           # go
3   setpoint 0.7
5   steer -1.5
6   pause
7   run
7.5 calibrate
7.6 motors-off
8   stop
""".splitlines()


@pytest.mark.parametrize(
    "t, expected",
    [
        (0.0, Operator(0.6)),
        (0.499999, Operator(0.6)),
        (0.5, Operator(0.6, motors_on=1)),
        (0.6, Operator(0.6, motors_on=1, run=True)),
        (4.0, Operator(0.7, motors_on=1, run=True)),
        (5.5, Operator(0.7, steer=-1.5, motors_on=1, run=True)),
        (6.5, Operator(0.7, steer=-1.5, motors_on=1, run=False)),
        (7.55, Operator(0.7, steer=-1.5, motors_on=1, run=True, calibrate=1)),
        (7.7, Operator(0.7, steer=-1.5, motors_on=1, run=False, calibrate=1, motors_off=1)),
        (
            1e6,
            Operator(0.7, steer=-1.5, motors_on=1, run=False, calibrate=1, motors_off=1, stop=True),
        ),
    ],
)
def test_script_is_followed(t, expected):
    assert ScriptedOperator(SCRIPT, SETTINGS).at(t) == expected


def test_script_counts_its_time_from_when_it_is_followed():
    clock = HandClock()
    clock.us = 7_000_000
    operator = ScriptedOperator(["0.5 motors-on"], SETTINGS).following(clock)
    assert operator().motors_on == 0
    clock.us += 500_000
    assert operator().motors_on == 1


def test_unplug_in_a_script_is_a_joystick_gone():
    assert not ScriptedOperator(["1 unplug"], SETTINGS).at(1.0).present


@pytest.mark.parametrize(
    "line, lesson",
    [
        ("soon run", "'soon' is no time"),
        ("-1 run", "'-1' is no time"),
        ("nan run", "'nan' is no time"),
        ("inf run", "'inf' is no time"),
        ("2 jump", "'jump' is no action. Known are: motors-on"),
        ("2", "'' is no action"),
        ("2 run 5", "'run 5' is no action"),
        ("2 setpoint", "'setpoint' is no action"),
        ("2 setpoint high", "setpoint high: a number of size at most 1.5708"),
        ("2 setpoint nan", "a number of size at most"),
        ("2 steer 5.1", "steer 5.1: a number of size at most 5"),
        ("0.5 run", "0.5 s comes after 1 s. Put the lines in order."),
        ("2 __import__('os')", "is no action"),
    ],
)
def test_wrong_line_is_named_with_its_number_and_what_was_expected(line, lesson):
    with pytest.raises(ScriptError, match="line 3: ") as error:
        ScriptedOperator(["# first", "1 motors-on", line], SETTINGS)
    assert lesson in str(error.value)


# Recorded


def test_recorded_operator_repeats_the_run_it_was_recorded_from():
    script = (*WALK, "0.6 setpoint 0.7", "0.8 steer 0.5", "1.0 pause", "1.2 run", "1.5 motors-off")
    first = bench(script)
    first.run(1.8)
    again = bench(())
    again._script = RecordedOperator(first.records, SETTINGS)  # type: ignore[assignment]
    again.run(1.8)
    assert any(any(moment.currents) for moment in first.flow)
    assert again.flow == first.flow
    # The same cycles too, but for the counters of presses that show in none.
    assert [record.pitch for record in again.records] == [record.pitch for record in first.records]


def test_recorded_operator_stops_one_period_after_its_last_record():
    first = bench(WALK)
    first.run(0.5)
    operator = RecordedOperator(first.records, SETTINGS)
    assert not operator.at(0.499).stop and operator.at(0.5).stop and not operator.at(0.5).run
