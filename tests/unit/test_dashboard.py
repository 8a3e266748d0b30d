"""What the dashboard makes of the programs' words about themselves."""

import io

from rich.console import Console

from footfall.machines.control.pid import PidGains
from footfall.machines.control.settings import StackSettings
from footfall.realtime.dashboard import Dashboard, Rates, line, panel

SETTINGS = StackSettings(PidGains(16.3, 27.2, 1.23, 5.0, 40.0, 0.01, 1000), setpoint=0.6)
RECORD = {
    "t": 12.3,
    "cycle": 1230,
    "pitch": 0.5873,
    "pitch_setpoint": 0.6,
    "motor_vel_l": 3.5,
    "motor_vel_r": -3.25,
    "pid_output": None,
    "bus_voltage": 23.9,
    "bus_current": 1.5,
    "setpoint_on": True,
    "motors_on": True,
    "fault": "",
    "late_cycles": 7,
    "dropped_records": 5,
    "rejected_frames": 11,
    "records": 1226,
    "now": 100.0,
}


def status(**changes):
    robot = {"now": 100.0, "ticks": 4000, "slipped": 3, "currents": [4.01, 3.99]}
    mid = {"now": 100.0, "due": 1000, "missed": 17}
    return {"supervisor": RECORD | changes, "mid": mid, "robot": robot}


def printed(what) -> str:
    screen = io.StringIO()
    Console(file=screen, width=120).print(what)
    return screen.getvalue()


def test_rates_are_counts_over_the_time_between_words_that_lie_half_a_second_apart():
    rates, words = Rates(), status()
    rates.take(words)
    assert rates.now == {}  # one word is no rate
    # A backlog is worked off: too short a look would see twice the rate.
    for seconds, hurried in ((0.1, 2), (0.5, 1)):
        for program, counter, rate in (
            ("supervisor", "cycle", 100),
            ("mid", "due", 1000),
            ("robot", "ticks", 4000),
        ):
            words[program]["now"] += seconds
            words[program][counter] += hurried * rate * seconds - (hurried == 1) * rate * 0.1
        rates.take(words)
        assert bool(rates.now) == (seconds == 0.5)
    rates.take(words)  # nothing new: the rates stay
    assert {loop: round(rate, 6) for loop, rate in rates.now.items()} == {
        "high": 100.0,
        "mid": 1000.0,
        "low": 4000.0,
    }


def test_the_panel_shows_what_there_is_and_says_what_is_unknown():
    shown = printed(
        panel("a run", SETTINGS, status(), {"high": 99.9, "mid": 1000.4, "low": 4000.0})
    )
    for words in (
        "99.9 Hz",
        "1000.4 Hz",
        "of 4000",
        "missed by over 1 ms: 17",
        "late 7",
        "0.5873 rad",
        "3.50  -3.25 turns/s",
    ):
        assert words in shown
    for words in (
        "unknown A",
        "23.90 V",
        "motors 4.01 A, 3.99 A",
        "1226",
        "dropped 5",
        "11",
        "rejected by the supervisor",
    ):
        assert words in shown


def test_a_fault_is_shown_in_its_own_words_even_if_they_look_like_markup():
    for shown in (
        printed(panel("a run", SETTINGS, status(fault="over [speed]"), {})),
        line(status(fault="over [speed]"), {}),
    ):
        assert "over [speed]" in shown


def test_a_robot_that_came_to_grief_is_seen_while_it_lies_there():
    words = status()
    for shown in (printed(panel("a run", SETTINGS, words, {})), line(words, {})):
        assert "lies still" not in shown
    words["robot"]["failure"] = "it rocked back"
    for shown in (printed(panel("a run", SETTINGS, words, {})), line(words, {})):
        assert "it rocked back; it lies still until the next run" in " ".join(
            shown.replace("│", " ").split()
        )


def test_a_line_without_rates_has_no_empty_place_for_them():
    assert "Hz" not in line(status(), {})
    assert "s | high 100 mid 1000 Hz | missed" in line(status(), {"mid": 1000.0, "high": 100.0})


def test_before_the_first_record_it_says_that_it_is_starting():
    empty = {"supervisor": {}, "mid": {}, "robot": {}}
    assert line(empty, {}) == "starting"
    assert "starting" in printed(panel("a run", SETTINGS, empty, {}))


def test_where_there_is_no_terminal_it_prints_a_line_a_second_and_nothing_else(monkeypatch):
    screen, now = io.StringIO(), [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with Dashboard(Console(file=screen, width=120), "a run", SETTINGS) as dashboard:
        for tenth in range(36):
            now[0] = tenth / 10
            dashboard.show(status())
    lines = screen.getvalue().splitlines()
    assert len(lines) == 3
    assert all("12.3 s" in each and "missed 17" in each and "\x1b" not in each for each in lines)
