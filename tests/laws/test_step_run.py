"""One run by the step engine: its end, its footfalls, its rows, and what is said of it."""

import dataclasses
import io

import numpy as np
import pytest
from rich.console import Console

from footfall import Outcome, load, simulate
from footfall.cli.summary_table import summary_table
from footfall.engines.analysis.summary import summarise
from footfall.engines.kernels.fuse_errors import NoCompiler
from footfall.engines.lanes import resident, step_run
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.plan import FixedSteps
from footfall.record import row_stream
from footfall.record.row_stream import RowStream

STEP = 2.5e-4  # s
TURNING = "rimless-wheel-turning-closed-loop"


def experiment_of(name="rimless-wheel", *settings, duration=2.0):
    return load(name, list(settings), duration=duration)


def stepped(experiment, rate=200.0, progress=None):
    plan = dataclasses.replace(experiment.plan, sample_rate=rate, fixed=FixedSteps(STEP))
    return simulate(experiment.system, experiment.start, plan, progress=progress)


def exact(experiment):
    return simulate(
        experiment.system, experiment.start, dataclasses.replace(experiment.plan, fixed=None)
    )


def told(experiment, run):
    """What a person reads."""
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(summary_table(summarise(run), experiment, run, 0.0))
    return console.export_text()


# --- the end --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "outcome", "event"),
    [
        (["leg.stiffness=600", "leg.damping=10"], Outcome.fell, "fall"),
        (["leg.stiffness=300", "on_liftoff=report"], Outcome.rocked_back, "turn_back"),
        (["leg.stiffness=1500"], Outcome.rocked_back, "turn_back"),
        (["leg.damping=0"], Outcome.lifted_off, "liftoff"),
        (["start.spoke_rate=-1 rad/s"], Outcome.rocked_back, "rock_back"),
        (["start.spoke_rate=1 rad/s"], Outcome.rocked_back, "turn_back"),
        (["start.spoke_rate=3.5 rad/s"], Outcome.rocked_back, "turn_back"),
        (["start.spoke_rate=4 rad/s"], Outcome.rocked_back, "rock_back"),
    ],
)
def test_a_run_that_ends_early_ends_as_it_does_in_the_event_engine(settings, outcome, event):
    experiment = experiment_of("rimless-wheel", *settings)
    found, expected = stepped(experiment), exact(experiment)
    assert (expected.outcome, expected.ending.event) == (outcome, event)
    assert (found.outcome, found.ending.event) == (outcome, event)
    # RK4 at 0.25 ms leaves 1e-10 s after a second or less of these motions; a hundred times that
    # for other compilers.
    assert found.ending.t == pytest.approx(expected.ending.t, abs=1e-8)
    assert (
        found.t[-1] == found.ending.t
        and STEP * (found.ending.steps - 1) < found.ending.t <= STEP * found.ending.steps
    )
    # Seen at the ends of steps only: forces of 10 N change by 1e-3 N in a step.
    for name, room in found.least_room.items():
        assert room == pytest.approx(expected.least_room[name], abs=1e-2)


@pytest.mark.parametrize(("current", "event"), [(-10, "liftoff_right"), (10, "liftoff_left")])
def test_of_two_events_with_one_outcome_the_one_that_happened_is_named(current, event):
    experiment = experiment_of(TURNING, f"stack.steer_current={current} A")
    run = stepped(experiment)
    assert (run.outcome, run.ending.event) == (Outcome.lifted_off, event)
    # N.
    assert (
        abs(run.least_room[event])
        < 1e-6
        < min(room for name, room in run.least_room.items() if name != event)
    )


@pytest.mark.parametrize("current", [-10, 10])
def test_the_event_engine_names_the_same_side(current):
    """Without a computer, where both engines can run."""
    experiment = experiment_of("rimless-wheel-turning", f"steering_current={current} A")
    found, expected = stepped(experiment), exact(experiment)
    assert expected.ending.event in ("liftoff_left", "liftoff_right")
    assert found.ending.event == expected.ending.event
    assert found.ending.t == pytest.approx(expected.ending.t, abs=1e-8)  # RK4 at 0.25 ms


# --- footfalls ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rimless-wheel", "rimless-wheel-turning"])
def test_metrics_from_footfall_to_footfall_do_not_depend_on_the_samples(name):
    experiment = experiment_of(name, duration=4.0)
    wanted = summarise(exact(experiment))
    coarse, fine = (summarise(stepped(experiment, rate)) for rate in (1.0, 1000.0))
    for metric in ("step_time", "step_length", "mean_speed", "cost_of_transport", "steps"):
        # The same numbers, whichever rows are kept.
        assert coarse.metrics[metric] == fine.metrics[metric]
        # RK4 at 0.25 ms: footfalls to 1e-9 s.
        assert fine.metrics[metric] == pytest.approx(wanted.metrics[metric], rel=1e-7)
    assert coarse.window == fine.window


@pytest.mark.parametrize("rate", [1.0, 30.0, 1000.0])
def test_every_footfall_of_every_side_is_told_at_its_time(rate):
    experiment = experiment_of("rimless-wheel-turning", duration=4.0)
    found, expected = stepped(experiment, rate), exact(experiment)
    for side, name in enumerate(("touchdown_left", "touchdown_right")):
        times = [e.t for e in expected.events_named(name)]
        # RK4 at 0.25 ms drifts by 4e-10 s in 4 s. No two sides land within one step here.
        assert [e.t for e in found.events if e.leg == side] == pytest.approx(times, abs=1e-8)
    for event in found.events:
        assert found.t[event.row_before] <= event.t <= found.t[event.row_after]


def test_the_closed_loop_has_the_same_step_time_at_any_sample_rate():
    experiment = experiment_of("rimless-wheel-closed-loop", duration=4.0)
    coarse, fine = (
        summarise(stepped(experiment, rate)).metrics["step_time"] for rate in (30.0, 1000.0)
    )
    assert coarse is not None and coarse == fine


# --- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.7, 30.0, 37.0, 333.0, 1e6])
def test_rows_are_evenly_spaced_whole_steps_and_the_last_is_at_the_end(rate):
    run = stepped(experiment_of(duration=1.0), rate)
    every = max(1, round(1.0 / (rate * STEP)))
    assert run.provenance["sample_rate"] == pytest.approx(1.0 / (every * STEP))
    assert np.diff(run.t)[:-1] == pytest.approx(every * STEP, rel=1e-9)  # rounding of times
    assert run.t[0] == 0.0 and run.t[-1] == run.ending.t == pytest.approx(1.0, rel=1e-15)
    assert 0 < run.t[-1] - run.t[-2] <= every * STEP * (1 + 1e-9)
    assert run.ending.steps == 4000 and run.outcome is Outcome.reached_end


def test_a_run_of_too_many_samples_is_sampled_more_coarsely(monkeypatch):
    experiment = experiment_of(duration=1.0)
    all_rows = stepped(experiment, 4000.0)
    assert len(all_rows.t) == 4001
    monkeypatch.setattr(step_run, "MOST_SAMPLES", 200)
    few = stepped(experiment, 4000.0)
    assert 100 <= len(few.t) <= 200
    assert few.t[-1] == all_rows.t[-1] and few.ending.state == all_rows.ending.state
    assert few.provenance["sample_rate"] == pytest.approx(1.0 / (few.t[1] - few.t[0]))
    assert [e.t for e in few.events] == [e.t for e in all_rows.events]


def test_rows_go_to_disk_as_they_come_and_are_those_of_a_run_in_memory(tmp_path, monkeypatch):
    """Before, a run of fixed steps kept whole lanes, half a gigabyte of them, to its end."""
    monkeypatch.setattr(row_stream, "SHARD_BYTES", 100_000)
    experiment = experiment_of()
    plan = dataclasses.replace(experiment.plan, sample_rate=4000.0, fixed=FixedSteps(STEP))
    whole = simulate(experiment.system, experiment.start, plan)
    waiting = []

    class Watched(RowStream):
        def add(self, t, j, rows):
            waiting.append(len(t))
            super().add(t, j, rows)

    stream = Watched(lambda: tmp_path, most_in_memory=100_000)
    streamed = simulate(experiment.system, experiment.start, plan, rows=stream)
    assert len(streamed.columns.files) > 3 and max(waiting) <= step_run.ROWS_PER_CALL < len(whole.t)
    assert np.array_equal(streamed.t, whole.t) and np.array_equal(streamed.j, whole.j)
    assert all(np.array_equal(streamed[name], whole[name]) for name in whole.columns)
    assert (
        streamed.events == whole.events
        and streamed.ending == whole.ending
        and streamed.ledger == whole.ledger
    )


def test_samples_of_a_batch_begin_where_they_are_asked_to():
    experiment = experiment_of()
    run, name = stepped(experiment, 400.0), "torso.pitch"
    plan = BatchPlan(2.0, STEP, sample=(name,), sample_every=40, sample_from=1.505)
    result = run_batch(experiment.system, experiment.start, plan)
    # Rounding of times.
    assert result.sample_times == pytest.approx(1.505 + 0.01 * np.arange(50), abs=1e-12)
    rows = np.searchsorted(run.t, result.sample_times - 0.5 * STEP)
    # One kernel of one lane and one of eight differ in rounding, which a few footfalls enlarge.
    assert result.samples[name][:, 0] == pytest.approx(run[name][rows], rel=1e-9, abs=1e-9)


def test_without_a_compiler_it_is_the_same_run(monkeypatch):
    experiment = experiment_of(duration=1.0)
    fast = stepped(experiment, 2.0)

    def none(*_):
        raise NoCompiler("none here")

    monkeypatch.setattr(resident, "cpp_kernel", none)
    slow = stepped(experiment, 2.0)
    assert "C++" in fast.provenance["path"] and "C++" not in slow.provenance["path"]
    # Rounding, which a few footfalls enlarge.
    assert [e.t for e in slow.events] == pytest.approx([e.t for e in fast.events], abs=1e-10)
    assert slow.ending.state == pytest.approx(fast.ending.state, rel=1e-9, abs=1e-9)


# --- Ctrl-C ---------------------------------------------------------------------------------------


class StopAfter:
    """Ctrl-C at a word about progress."""

    def __init__(self, t):
        self.t = t

    def __call__(self, t, jumps):
        if t >= self.t:
            raise KeyboardInterrupt


def test_an_interrupted_run_is_the_beginning_of_the_whole_one(monkeypatch):
    monkeypatch.setattr(step_run, "TOLD_EVERY", -1.0)
    experiment = experiment_of()
    whole, part = stepped(experiment), stepped(experiment, progress=StopAfter(1.0))
    n = len(part.t)
    assert part.outcome is Outcome.interrupted and part.ending.event is None
    assert part.t[-1] == part.ending.t == STEP * part.ending.steps == 1.0
    assert np.array_equal(part.t, whole.t[:n]) and part.ending.jumps == whole.j[n - 1]
    for name in whole.columns:
        assert np.array_equal(part[name], whole[name][:n])
    assert part.events == tuple(e for e in whole.events if e.t <= 1.0)


def test_ctrl_c_while_a_row_is_made_loses_that_row_and_nothing_else(monkeypatch):
    """In the midst of an interval that is gone through again, in halves."""
    experiment = experiment_of("rimless-wheel-turning")
    whole = stepped(experiment, 2.0)
    calls = iter(range(1000))
    go_back = step_run.ResidentLane.go_back

    def interrupted(self, memory, steps):
        if next(calls) == 8:
            raise KeyboardInterrupt
        go_back(self, memory, steps)

    monkeypatch.setattr(step_run.ResidentLane, "go_back", interrupted)
    part = stepped(experiment, 2.0)
    n = len(part.t)
    assert part.outcome is Outcome.interrupted and 1 <= n < len(whole.t)
    assert part.ending.t == part.t[-1] == whole.t[n - 1] == STEP * part.ending.steps
    assert part.events == tuple(e for e in whole.events if e.row_after < n)
    assert all(np.array_equal(part[name], whole[name][:n]) for name in whole.columns)


def test_ctrl_c_after_the_end_changes_nothing(monkeypatch):
    monkeypatch.setattr(step_run, "TOLD_EVERY", -1.0)
    experiment = experiment_of("rimless-wheel", "leg.stiffness=600", "leg.damping=10")
    whole = stepped(experiment)
    part = stepped(experiment, progress=StopAfter(whole.ending.t))
    assert part.ending == whole.ending and np.array_equal(part.t, whole.t)


# --- what is said of it ---------------------------------------------------------------------------


def test_the_summary_speaks_of_fixed_steps_and_of_no_tolerance():
    experiment = experiment_of()
    said = told(experiment, stepped(experiment))
    assert "8 000 fixed steps of 0.00025 s by rk4" in said and "200 Hz samples" in said
    assert "rtol" not in said and "tolerance" not in said


def test_a_lift_off_that_is_only_reported_is_warned_of():
    calm = experiment_of("rimless-wheel", "on_liftoff=report")
    wild = experiment_of("rimless-wheel", "leg.damping=0", "on_liftoff=report")
    lifted = stepped(wild)
    assert lifted.least_room["liftoff"] < 0 and lifted.outcome is not Outcome.lifted_off
    assert "verdict: doubtful: a foot would have had to pull, by up to" in told(wild, lifted)
    assert "verdict: sound" in told(calm, stepped(calm))
