"""A log against the model: replay is exact where nothing differs, and a fit finds what was changed."""

import dataclasses

import numpy as np
import pytest

from footfall.realtime.fit import fit
from footfall.realtime.replay import replay
from footfall.realtime.stack_log import StackLogError, read_stack_log
from support.commands import footfall, several
from support.stack_logs import bench_log, lockstep_log

AGE_US = 4_000
SCRIPT = ("0.05 motors-on", "0.1 run", "2.5 setpoint 0.65")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return bench_log(tmp_path_factory.mktemp("log") / "stack.mcap", 5.0, age_us=AGE_US, script=SCRIPT)


def test_a_log_of_the_bench_replays_to_itself(log):
    """Same programs, same plant, same operator, same age of the pitch: the numbers of the log, to the last digit it keeps."""
    found = replay(read_stack_log(log), age=AGE_US * 1e-6)
    assert found.on.sum() > 300 and found.outcome == "running" and not found.fault
    assert {row.name for row in found.mismatches} >= {"pitch", "motor_vel_l", "pid_output", "bus_current"}
    for row in found.mismatches:
        assert row.difference == 0.0 and row.shift == 0.0, row.name


def test_another_age_of_the_pitch_shows_as_another_spread(log):
    found = replay(read_stack_log(log), age=0.0)
    pitch = next(row for row in found.mismatches if row.name == "pitch")
    assert pitch.simulated_spread < 0.99 * pitch.logged_spread  # a younger pitch swings less
    assert pitch.difference > 1e-3  # rad: a thousand times what a record keeps


def test_the_command_replays_and_draws(log):
    done = footfall("stack", "replay", str(log), "--delay", str(AGE_US * 1e-6), "--json", cwd=log.parent)
    assert done.status == 0, done.err
    told = done.said
    assert told["scenario"] == "rimless-wheel" and all(row["difference"] == 0.0 for row in told["mismatches"])
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
    idle = dataclasses.replace(short, columns=short.columns | {"setpoint_on": np.zeros(len(short), bool)})
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
    for (arguments, word), done in zip(cases.items(), several([["stack", *a] for a in cases], tmp_path), strict=True):
        assert done.status == 2 and word in done.err and "Traceback" not in done.err, arguments
