"""A log against the model.

Replay is exact where nothing differs, and a fit finds what was changed.
"""

import dataclasses
import json
import math

import numpy as np
import pytest

from footfall.cli.stack_replay import _print_fit
from footfall.machines.control.mid import MidProgram
from footfall.machines.control.virtual_bench import VirtualBench
from footfall.pictures import stack_plot
from footfall.realtime import fit as fitting
from footfall.realtime import replay as replaying
from footfall.realtime.fit import fit
from footfall.realtime.plant import HELD_BELOW, PlantStepper, load_plant
from footfall.realtime.replay import COMPARED, Replay, replay
from footfall.realtime.stack_log import StackLogError, read_stack_log
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load
from support.commands import footfall, several
from support.stack_logs import bench_log, damaged_log, lockstep_log

AGE_US = 4_000
SCRIPT = ("0.05 motors-on", "0.1 run", "2.5 setpoint 0.65")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return bench_log(
        tmp_path_factory.mktemp("log") / "stack.mcap", 5.0, age_us=AGE_US, script=SCRIPT
    )


def test_a_log_of_the_bench_replays_to_itself(log):
    """Same programs, same plant, same operator, same age of the pitch.

    The numbers of the log, to the last digit it keeps.
    """
    found = replay(read_stack_log(log), age=AGE_US * 1e-6)
    assert found.on.sum() > 300 and found.outcome == "running" and not found.fault
    assert {row.name for row in found.mismatches} >= {
        "pitch",
        "motor_vel_l",
        "pid_output",
        "bus_current",
    }
    for row in found.mismatches:
        assert row.difference == 0.0 and row.shift == 0.0, row.name


def test_another_age_of_the_pitch_shows_as_another_spread(log):
    found = replay(read_stack_log(log), age=0.0)
    pitch = next(row for row in found.mismatches if row.name == "pitch")
    assert pitch.simulated_spread < 0.99 * pitch.logged_spread  # a younger pitch swings less
    assert pitch.difference > 1e-3  # rad: a thousand times what a record keeps


def test_the_command_replays_and_draws(log):
    done = footfall(
        "stack", "replay", str(log), "--delay", str(AGE_US * 1e-6), "--json", cwd=log.parent
    )
    assert done.status == 0, done.err
    told = done.said
    assert told["scenario"] == "rimless-wheel" and all(
        row["difference"] == 0.0 for row in told["mismatches"]
    )
    assert (log.parent / "replay.png").stat().st_size > 20_000


def test_a_fit_finds_friction_delay_and_motor_constant():
    truth = {"drivetrain.viscous": 0.01, "stack.pitch_delay": 0.006, "motor.torque_constant": 0.030}
    found = fit(lockstep_log(truth))
    friction, delay, constant = found.estimates
    assert friction.value == pytest.approx(0.01, abs=3 * friction.error) and friction.error < 0.002
    assert delay.value == pytest.approx(0.006, abs=0.001)  # the law looks every millisecond
    assert constant.value == pytest.approx(0.030, abs=3 * constant.error) and constant.error < 3e-4
    assert found.misfit < 1.0 and constant.assumed == 0.034


def test_a_walk_too_short_or_never_begun_cannot_be_fitted(log):
    short = read_stack_log(log)
    with pytest.raises(StackLogError, match="needs 4 s"):
        fit(short)
    idle = dataclasses.replace(
        short, columns=short.columns | {"setpoint_on": np.zeros(len(short), bool)}
    )
    with pytest.raises(StackLogError, match="took 0 s"):
        fit(idle)


def test_what_cannot_be_compared_is_said_in_a_line(log, tmp_path):
    (tmp_path / "README.md").write_text("not a log at all")
    cases = {
        ("replay", "no-such-folder"): "cannot be read",
        ("fit", "README.md"): "not an MCAP file",
        ("replay", str(log), "--delay", "-1"): "between 0 and 1",
        ("replay", str(log), "--scenario", "passive-wheel"): "no control computer",
        ("replay", str(log), "--picture", "nowhere/at/all.png"): "folder that exists",
    }
    for (arguments, word), done in zip(
        cases.items(), several([["stack", *a] for a in cases], tmp_path), strict=True
    ):
        assert done.status == 2 and word in done.err and "Traceback" not in done.err, arguments


# --- logs that lie --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"high_period_us": 0},
        {"low_period_us": 0},
        {"low_period_us": -250},
        {"low_period_us": 10**12},
        {"report_period_us": "a"},
        {"watchdog_us": None},
        {"motors": True},
        {"motors": 10**6},
        {"setpoint": "a"},
        {"setpoint": math.nan},
        {"frame_copies": 10**7},
        {"speed_limit": math.inf},
        {"bus_band": 3},
        {"motor_signs": {}},
        {"gains": {"proportional": math.nan}},
        {"gains": {"integral": "a"}},
        {"gains": {"filter_time": -1.0}},
        {"gains": {"output_limit": math.inf}},
        {"gains": {"more": 1.0}},
        {"more": 1.0},
    ],
    ids=str,
)
def test_settings_no_program_could_run_with_are_refused(log, tmp_path, settings):
    with pytest.raises(StackLogError, match="settings cannot be read"):
        read_stack_log(damaged_log(tmp_path / "stack.mcap", log, settings=dict(settings)))


@pytest.mark.parametrize("t", [None, -1.0, 0.0, 1e7, 9e11], ids=str)
def test_times_that_are_unknown_negative_falling_or_far_away_are_refused(log, tmp_path, t):
    with pytest.raises(StackLogError, match="record 7 has t = "):
        read_stack_log(damaged_log(tmp_path / "stack.mcap", log, records={7: {"t": t}}))


def test_settings_that_make_sense_only_alone_are_told_not_simulated(log, tmp_path):
    cases = {
        "low_period_us": (
            300,
            "do not run with its settings",
        ),  # the mid level's polls fall between the ticks
        "motors": (1, "motors = 1"),  # and the scenario has two
    }
    for name, (value, words) in cases.items():
        with pytest.raises(StackLogError, match=words):
            replay(
                read_stack_log(damaged_log(tmp_path / "stack.mcap", log, settings={name: value}))
            )
    last = len(read_stack_log(log)) - 1
    for t, settings, words in (
        (86_400.0, {}, "ticks of its fastest clock"),  # a day
        (10.0, {"low_period_us": 1}, "ticks of its fastest clock"),  # ten million
        (5.0, {"high_period_us": 7}, "nearly one a cycle"),  # 500 records of 700 000 cycles
        (400.0, {}, "nearly one a cycle"),
    ):
        long = damaged_log(
            tmp_path / "stack.mcap", log, settings=settings, records={last: {"t": t}}
        )
        with pytest.raises(StackLogError, match=words):
            replay(read_stack_log(long))


def test_a_log_cannot_make_footfall_read_a_file_or_run_code(log, tmp_path):
    """A scenario file may name Python code, which is run: by the user's word, never by a log's."""
    trap = tmp_path / "trap"
    (tmp_path / "evil.py").write_text(f"open({str(trap)!r}, 'w')\n")
    (tmp_path / "evil.toml").write_text('[robot]\nkind = "evil.py:X"\n')
    evil = str(tmp_path / "evil.toml")
    with pytest.raises(ScenarioError, match="--trust"):
        load_plant(evil)
    assert not trap.exists()
    with pytest.raises(ScenarioError):
        load(evil, trust=True)
    assert trap.exists(), "the trap does not work, so the rest of this test would show nothing"
    trap.unlink()
    for name in (evil, "../evil.toml", "", "\x1b[2J", "x" * 10_000):
        hostile = read_stack_log(
            damaged_log(tmp_path / "stack.mcap", log, about={"scenario": name})
        )
        for use in (replay, lambda it: fit(dataclasses.replace(it, columns=lockstep_like(it)))):
            with pytest.raises(StackLogError, match="--scenario"):
                use(hostile)
    for change in (
        "robot.kind=evil.py:X",
        "kind=evil.py:X",
        "controller=evil.py:X",
        "controller.kind=evil.py:X",
        "robot=evil.toml",
    ):
        hostile = read_stack_log(
            damaged_log(tmp_path / "stack.mcap", log, about={"changes": json.dumps([change])})
        )
        with pytest.raises(ScenarioError):
            replay(hostile)
    damaged_log(tmp_path / "stack.mcap", log, about={"scenario": "evil.toml"})
    for done in several(
        [["stack", "replay", "stack.mcap"], ["stack", "fit", "stack.mcap", "--set", "a"]], tmp_path
    ):
        assert done.status == 2 and "Traceback" not in done.err
    assert not trap.exists()


def lockstep_like(log):
    """Columns of a log stretched in time so that a fit finds its walk long enough."""
    return log.columns | {"t": 10.0 * log["t"]}


# --- the comparison itself ------------------------------------------------------------------------

PERIOD = 0.01


def compared(logged, simulated, rows=None):
    """The mismatch of two signals with the law always on; `rows`: the cycles the log has."""
    rows = np.arange(len(simulated)) if rows is None else rows
    on = np.ones(len(simulated), bool)
    return replaying._mismatch("pitch", PERIOD, (logged[rows], on[rows]), (simulated, on), rows)


@pytest.mark.parametrize("shift", [-0.31, -0.05, 0.0, 0.02, 0.42])
def test_a_shift_in_time_is_found_whatever_is_missing(shift):
    t = PERIOD * np.arange(2000)

    def wave(t):
        return np.sin(2 * math.pi * t / 1.7) + 0.3 * np.sin(2 * math.pi * t / 0.37)

    draw = np.random.default_rng(3)
    # Cycles dropped here and there, and a gap.
    kept = np.flatnonzero((draw.uniform(size=2000) > 0.3) & ~((t > 6.0) & (t < 7.3)))
    logged = wave(t)
    logged[draw.uniform(size=2000) > 0.8] = math.nan  # cycles in which it was not known
    found = compared(logged, wave(t + shift), kept)
    assert found.shift == pytest.approx(shift, abs=1e-12)  # whole cycles
    assert found.shifted_difference < 1e-12  # the same numbers but for rounding
    assert found.difference > 0.05 or shift == 0.0


def test_noises_that_have_nothing_in_common_are_not_shifted_into_likeness():
    """31 shifts of 30 cycles each: a root mean square of those scatters by 1 / sqrt(60) = 13 %, and
    the least of 31 lies 2.5 times that below, so about two thirds is chance. A comparison of fewer
    cycles at larger shifts falls to nothing."""
    shares = []
    for seed in range(20):
        a, b = np.random.default_rng(seed).normal(size=(2, 60))
        found = compared(a, b)
        assert abs(found.shift) <= 15 * PERIOD + 1e-12  # a quarter of the data
        shares.append(found.shifted_difference / math.sqrt(2.0))
    assert min(shares) > 0.5 and 0.6 < np.mean(shares) < 0.9


def test_every_time_the_law_is_switched_on_it_may_settle():
    t = PERIOD * np.arange(1000)
    on = ((t > 0.995) & (t < 4.0)) | (t > 4.995)
    found = replaying._settled(t, on)
    assert (found == (((t > 2.005) & (t < 4.0)) | (t > 6.005))).all()
    assert not replaying._settled(t, np.zeros(1000, bool)).any()


def test_a_jittered_cycle_is_compared_with_the_one_nearest_in_time():
    times = PERIOD * np.arange(500)
    late = np.random.default_rng(1).uniform(-0.45, 0.45, 500) * PERIOD
    assert (replaying._nearest(times + late, times) == np.arange(500)).all()
    # Beyond the ends: the ends.
    assert replaying._nearest(np.array([-1.0, 9.0]), times).tolist() == [0, 499]


def test_a_jittered_log_replays_as_well_as_an_exact_one(log):
    """Records up to 4 ms late are still of their own cycles. Those in which the operator did
    something are on time: what he did would otherwise be seen one cycle later, and truly be another
    run."""
    exact = read_stack_log(log)
    wishes = np.stack([exact[name] for name in ("setpoint_on", "motors_on", "pitch_setpoint")])
    did = np.concatenate([[True], (np.diff(wishes.astype(float)) != 0).any(axis=0)])
    late = np.where(did, 0.0, np.random.default_rng(2).uniform(0.0, 0.4, len(exact)) * PERIOD)
    jittered = dataclasses.replace(exact, columns=exact.columns | {"t": exact["t"] + late})
    for row in replay(jittered, age=AGE_US * 1e-6).mismatches:
        assert row.difference == 0.0 and row.shift == 0.0, row.name


# --- the fit's arithmetic -------------------------------------------------------------------------


def test_errors_are_those_of_linear_least_squares():
    draw = np.random.default_rng(0)
    slopes, noise, truth, ranges = (
        draw.normal(size=(6, 3)),
        draw.uniform(0.1, 0.3, 6),
        np.array([1.0, 2.0, 3.0]),
        np.full(3, 50.0),
    )
    told = fitting._errors(slopes, noise, 1.0, ranges)
    seen = slopes @ truth + noise * draw.normal(size=(4000, 6))
    found = np.linalg.lstsq(slopes / noise[:, None], (seen / noise).T, rcond=None)[0]
    assert told == pytest.approx(found.std(axis=1), rel=0.05)  # 4000 draws tell a scatter to 1.1 %
    # Luck does not make them smaller.
    assert fitting._errors(slopes, noise, 0.2, ranges) == pytest.approx(told)
    assert fitting._errors(slopes, noise, 3.0, ranges) == pytest.approx(3.0 * told)


def test_what_the_figures_do_not_tell_is_known_to_its_range():
    slopes = np.random.default_rng(0).normal(size=(6, 3))
    slopes[:, 1] = 0.0
    told = fitting._errors(slopes, np.full(6, 0.1), 1.0, np.array([5.0, 7.0, 9.0]))
    assert told[1] == 7.0 and max(told[0], told[2]) < 1.0


def test_an_estimate_at_the_edge_of_the_search_is_marked(capsys):
    inside = fitting.Estimate("motor.torque_constant", "N m/A", 0.03, 1e-4, 0.034, at_bound=False)
    edge = fitting.Estimate("drivetrain.viscous", "N m s/rad", 0.06, 1e-3, 0.0, at_bound=True)
    _print_fit(fitting.Fit((inside, edge), (), 1.0, (1.0, 9.0), 0.6, 441), "rimless-wheel", 1.0)
    said = capsys.readouterr().out
    (marked,) = [line for line in said.splitlines() if line.rstrip().endswith("edge")]
    assert "drivetrain.viscous" in marked and "the truth may lie beyond" in said


def test_a_fit_at_every_edge_gives_no_command(capsys):
    edges = [
        fitting.Estimate(key, "", 0.06, 1e-3, 0.0, at_bound=True, low=0.0, high=0.06)
        for key in ("drivetrain.viscous", "stack.pitch_delay", "motor.torque_constant")
    ]
    nothing = fitting.Fit(tuple(edges), (), 9.0, (1.0, 9.0), 0.6, 441)
    assert nothing.settings == []
    _print_fit(nothing, "rimless-wheel", 1.0)
    said = capsys.readouterr().out
    assert "next:" not in said and "No command follows" in said
    one = edges[0]._replace(at_bound=False)
    _print_fit(nothing._replace(estimates=(one, *edges[1:])), "rimless-wheel", 1.0)
    assert "next: footfall run" in capsys.readouterr().out


def test_a_fit_is_drawn_where_it_was_searched():
    estimates = (
        fitting.Estimate("a.inside", "N", 3.0, 0.5, 2.0, False, 1.0, 5.0),
        fitting.Estimate("a.edge", "N", 5.0, 0.1, 2.0, True, 1.0, 5.0),
    )
    figures = (fitting.Figure("mean pitch", "rad", 0.60, 0.01, 0.63),)
    found = fitting.Fit(estimates, figures, 3.0, (1.0, 9.0), 0.6, 441)
    left, right = stack_plot.fit_figure(found, "rimless-wheel").axes
    places = [bar.lines[0].get_xdata()[0] for bar in left.containers if hasattr(bar, "lines")]
    assert places == [0.5, 1.0]  # of the way from 1 to 5
    (figure,) = [line.get_xdata()[0] for line in right.lines]
    assert figure == pytest.approx(3.0)  # of its noise
    words = [text.get_text() for axes in (left, right) for text in axes.texts]
    assert any("a.edge" in each and "at the edge" in each for each in words)
    assert any("log 0.6, fitted 0.63 rad" in each for each in words)


def test_a_replay_draws_no_line_across_lost_records_and_marks_the_fault(log):
    whole = read_stack_log(log)
    keep = np.ones(len(whole), bool)
    keep[200:260] = False
    columns = {name: values[keep] for name, values in whole.columns.items()}
    columns["fault"] = columns["fault"].astype("U80")
    columns["fault"][300:] = "motor 0 turns at 9.1 turns/s"
    holey = dataclasses.replace(whole, columns=columns)
    nothing = np.zeros(len(holey))
    found = Replay(
        holey, "rimless-wheel", holey["t"], dict.fromkeys(COMPARED, nothing), nothing > 0, (),
        "running", "",
    )  # fmt: skip
    assert stack_plot.lost(found).tolist() == [200]
    assert stack_plot.fault_starts(found) == [300]
    panel = stack_plot._drawn(found).axes[0]
    t, values = panel.lines[0].get_data()
    assert (
        len(t) == len(holey) + 1
        and np.isnan(values[200])
        and not np.isnan(values[[199, 201]]).any()
    )
    marks = [line for line in panel.lines if list(line.get_xdata()) == [holey["t"][300]] * 2]
    assert len(marks) == 1
    assert any("9.1 turns/s" in text.get_text() for text in panel.texts)


# --- the robot in front of the programs -----------------------------------------------------------


def test_settings_of_the_robot_are_those_of_the_page():
    settings = load_plant("rimless-wheel").settings
    gains, ampere = settings.gains, 2.7233  # A/(N m), section 5 of the page
    # As many digits as the page has.
    assert gains[:3] == pytest.approx((6 * ampere, 10 * ampere, 0.45 * ampere), rel=1e-4)
    assert gains[3:] == pytest.approx((5.0, 40.0, 0.01, 1000))
    assert settings.speed_limit == pytest.approx(8.0)  # turns/s
    assert (settings.motors, settings.motor_signs, settings.steering, settings.setpoint) == (
        2,
        (1.0, 1.0),
        True,
        0.6,
    )
    periods = (
        settings.high_period_us,
        settings.mid_period_us,
        settings.low_period_us,
        settings.report_period_us,
    )
    assert periods == (10_000, 1_000, 250, 10_000)
    assert (settings.watchdog_us, settings.driver_watchdog_us, settings.current_limit) == (
        100_000,
        100_000,
        40.0,
    )
    assert settings.torque_constant == 0.034


def test_a_held_robot_stands_still_at_zero_until_a_current_flows():
    plant = PlantStepper(load_plant("rimless-wheel").experiment)
    for _ in range(10):
        plant.advance((0.0, 0.0), 250)
    assert plant.held and plant.time == 0.0 and plant.pitch == pytest.approx(0.6 - HELD_BELOW)
    assert plant.speeds == plant.positions == (0.0, 0.0)
    plant.advance((4.0, 4.0), 250)
    assert not plant.held and plant.speeds[0] != 0.0 and plant.time == pytest.approx(250e-6)


@pytest.mark.parametrize("name", ["rimless-wheel", "rimless-wheel-turning"])
def test_positions_are_the_sum_of_the_speeds_through_every_footfall(name):
    _, plant, settings, windings, battery = load_plant(name)
    bench = VirtualBench(
        settings, plant, MidProgram(settings), windings, battery, ["0.01 motors-on", "0.02 run"]
    )
    seen = []
    advance = plant.advance

    def watched(currents, dt_us):
        advance(currents, dt_us)
        seen.append((plant.positions[0], plant.speeds[0]))

    plant.advance = watched
    bench.run(3.0)
    positions, speeds = np.array(seen).T
    moved, summed = np.diff(positions), 250e-6 * 0.5 * (speeds[1:] + speeds[:-1])
    assert plant.last_footfall[2] >= 5
    # A footfall changes the speed at once, somewhere in a tick: no tick is off by more than the
    # largest speed there is, and all together by less than 1 %. A spoke that was counted twice
    # would be 5.4 / 10 turns at once.
    assert np.abs(moved - summed).max() < 250e-6 * np.ptp(speeds)
    assert (
        positions[-1] - positions[0] == pytest.approx(summed.sum(), rel=0.01)
        and positions[-1] > 5.0
    )


def test_a_robot_that_has_fallen_lies_still():
    plant = PlantStepper(load_plant("rimless-wheel").experiment)
    for _ in range(8000):
        plant.advance((-40.0, -40.0), 250)
    assert plant.outcome.name != "running"
    lies = plant.pitch, plant.positions
    plant.advance((40.0, 40.0), 250_000)
    assert plant.speeds == (0.0, 0.0) and (plant.pitch, plant.positions) == lies
