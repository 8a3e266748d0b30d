"""Commands of a speed: what of them a robot can do, and when it stops."""

import dataclasses
import math

import numpy as np
import pytest

from footfall.machines.control.drive_table import (
    COMES_TO_REST,
    STALE,
    Drive,
    DrivenOperator,
    DriveTable,
)
from footfall.machines.control.pid import PidGains
from footfall.machines.control.settings import StackSettings

SETTINGS = StackSettings(PidGains(16.3, 27.2, 1.23, 5.0, 40.0, 0.01, 1000), setpoint=0.6)
NAN = math.nan
#: Walks from 0.3 to 0.5 m/s, with 1 A from 0.4 only; the more it leans the less it turns.
TABLE = DriveTable(
    setpoints=np.array([0.4, 0.5, 0.6, 0.7]),
    steers=np.array([0.0, 0.5, 1.0]),
    speed=np.array([[NAN, NAN, NAN], [0.3, 0.3, NAN], [0.4, 0.4, 0.4], [0.5, 0.5, 0.5]]),
    yaw_rate=np.array([[NAN, NAN, NAN], [0.0, -0.5, NAN], [0.0, -0.4, -0.8], [0.0, -0.3, -0.6]]),
)


def test_a_command_inside_the_table_is_its_inverse():
    straight = TABLE.drive(0.35, 0.0)
    assert straight == Drive(True, pytest.approx(0.55), 0.0, pytest.approx(0.35), 0.0, "")
    right = TABLE.drive(0.4, -0.6)
    assert (right.setpoint, right.steer) == pytest.approx((0.6, 0.75))
    assert (right.speed, right.yaw_rate, right.words) == (0.4, pytest.approx(-0.6), "")


def test_left_is_the_mirror_image_of_right():
    left, right = TABLE.drive(0.45, 0.5), TABLE.drive(0.45, -0.5)
    assert left == right._replace(steer=-right.steer, yaw_rate=-right.yaw_rate)
    assert left.steer < 0.0 < right.steer  # a positive current turns right


def test_what_it_cannot_walk_is_clipped_and_said():
    fast = TABLE.drive(1.2, 0.0)
    assert (fast.setpoint, fast.speed) == (0.7, 0.5) and "0.5 m/s where 1.2" in fast.words
    assert TABLE.drive(0.05, 0.0).setpoint == 0.5  # it cannot walk as slowly
    sharp = TABLE.drive(0.4, 2.0)
    assert sharp.steer == -1.0 and "0.8 rad/s where 2" in sharp.words and "m/s" not in sharp.words
    slow_and_sharp = TABLE.drive(0.3, -0.8)  # with so much current it walks no slower than 0.4
    assert (
        slow_and_sharp.speed == pytest.approx(0.4) and "0.4 m/s where 0.3" in slow_and_sharp.words
    )


@pytest.mark.parametrize(
    "speed, yaw_rate, words",
    [(0.0, 0.0, ""), (-0.3, 0.0, "backward"), (0.0, 1.0, "backward"), (NAN, 0.0, "no command")],
)
def test_a_command_that_goes_nowhere_stops_it(speed, yaw_rate, words):
    drive = TABLE.drive(speed, yaw_rate)
    assert not drive.run and words in drive.words and bool(words) == bool(drive.words)


def test_a_robot_with_one_current_goes_straight_and_says_so():
    speed, yaw_rate = TABLE.speed[:, :1], TABLE.yaw_rate[:, :1]
    one = DriveTable(TABLE.setpoints, np.array([0.0]), speed, yaw_rate)
    drive = one.drive(0.4, 0.5)
    assert drive.run and drive.steer == 0.0 and "0 rad/s where 0.5" in drive.words


def test_a_table_comes_back_from_its_file_with_what_does_not_walk():
    again = DriveTable.from_json(TABLE.to_json())
    for field in dataclasses.fields(TABLE):
        np.testing.assert_array_equal(getattr(again, field.name), getattr(TABLE, field.name))


def test_a_command_holds_for_half_a_second_then_it_comes_to_rest():
    operator = DrivenOperator(SETTINGS, rest=-0.1)
    assert not operator.at(0.0).run and operator.at(0.0).setpoint == 0.6
    operator.command(TABLE.drive(0.4, -0.4), 10.0)
    told = operator.at(10.0)
    assert told.run and told.motors_on == 1 and told.setpoint == pytest.approx(0.6)
    assert told.steer == pytest.approx(0.5)
    assert operator.at(10.0 + STALE) == told
    half_way = operator.at(10.0 + STALE + 0.5 * COMES_TO_REST)
    middle = pytest.approx(0.5 * (0.6 - 0.1))
    assert half_way == dataclasses.replace(told, setpoint=middle, steer=0.0)
    off = operator.at(10.01 + STALE + COMES_TO_REST)
    assert off == dataclasses.replace(half_way, run=False, setpoint=pytest.approx(-0.1))
    assert off.present
    operator.command(TABLE.drive(0.4, 0.0), 20.0)
    assert operator.at(20.0).run


def test_motors_are_switched_on_once_so_that_no_command_lifts_a_cut_off():
    operator = DrivenOperator(SETTINGS)
    operator.command(TABLE.drive(0.0, 0.0), 1.0)
    assert operator.at(1.0).motors_on == 0
    for t in (2.0, 5.0, 8.0):
        operator.command(TABLE.drive(0.4, 0.0), t)
        operator.command(TABLE.drive(0.0, 0.0), t + 0.1)
        assert operator.at(t + 0.1).setpoint == pytest.approx(0.6)
        assert 0.5 < operator.at(t + 0.2).setpoint < 0.58
        operator.command(TABLE.drive(0.0, 0.0), t + 0.3)  # again: it stops no later
        stopped = operator.at(t + 0.1001 + COMES_TO_REST)
        assert stopped.motors_on == 1 and not stopped.run


def test_a_bridge_that_is_gone_is_an_operator_who_is():
    operator = DrivenOperator(SETTINGS)
    operator.command(TABLE.drive(0.4, 0.0), 1.0)
    operator.gone()
    gone = operator.at(1.0)
    assert not gone.run and not gone.present and gone.source == "ROS bridge"
