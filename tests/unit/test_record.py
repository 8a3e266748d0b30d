"""What a run leaves behind: the trajectory, its exports, its summary and its folder."""

import dataclasses
import datetime
import errno
import json
import sys
import time
import tomllib

import numpy as np
import pyarrow.parquet as pq
import pytest

from footfall.engines.analysis.summary import summarise
from footfall.engines.simulate import simulate
from footfall.record import run_folder
from footfall.record.export import write_parquet
from footfall.record.read_back import read_run
from footfall.record.run_folder import FolderError, write_run
from footfall.record.trajectory import Signal
from footfall.scenario.load import load

# --- the trajectory -------------------------------------------------------------------------------


def test_rows_are_in_hybrid_time_with_both_sides_of_every_jump(shipped):
    run = shipped.run
    assert len(run.events) >= 5
    assert np.all(np.diff(run.t) >= 0) and np.all(np.diff(run.j) >= 0)
    assert run.t[0] == 0.0 and run.t[-1] == run.ending.t == 2.0
    for event in run.events:
        assert run.t[event.row_before] == run.t[event.row_after] == event.t
        assert run.j[event.row_after] == run.j[event.row_before] + 1
    assert run.j[-1] == run.ending.jumps == len(run.events)


def test_samples_come_at_the_rate_asked_for(shipped):
    wanted = np.arange(401) / 200.0  # 200 Hz, 2 s, both ends
    assert np.all(np.isin(wanted, shipped.run.t))
    arcs = np.unique([0.0, *(e.t for e in shipped.run.events)])
    short = np.diff(arcs) < 8 / 200.0
    # Those have rows of their own.
    assert len(shipped.run.t) == 401 + 2 * len(shipped.run.events) + 7 * short.sum()


def test_every_column_is_finite_and_says_what_it_is(shipped):
    run = shipped.run
    assert list(run.columns) == list(run.signals)
    for name, values in run.columns.items():
        assert values.shape == run.t.shape and np.all(np.isfinite(values)), name
        assert run.signals[name].doc, name
    dimensionless = {name for name, s in run.signals.items() if not s.unit}
    counted = {name for name in run.of_role("discrete") if name.startswith(("steps", "direction"))}
    assert dimensionless == counted | {
        name for name in run.of_role("output") if name.endswith("friction_needed")
    }
    assert {s.unit for s in run.signals.values() if s.role in ("store", "work")} == {"J"}
    assert {s.unit for s in run.signals.values() if s.role == "power"} == {"W"}


def test_a_missing_signal_is_answered_with_those_there_are(hand_made):
    with pytest.raises(KeyError, match=r'no signal "hub\.x".*body\.x'):
        hand_made["hub.x"]


def test_to_pandas_has_hybrid_time_as_its_index(shipped):
    table = shipped.run.to_pandas()
    assert table.index.names == ["t", "j"]
    assert list(table.columns) == list(shipped.run.columns)
    np.testing.assert_array_equal(table.index.get_level_values("t"), shipped.run.t)
    np.testing.assert_array_equal(table.index.get_level_values("j"), shipped.run.j)
    np.testing.assert_array_equal(
        table.to_numpy(), np.stack(list(shipped.run.columns.values()), axis=1)
    )


def test_to_xarray_carries_units_and_the_outcome(shipped):
    data = shipped.run.to_xarray()
    assert set(data.data_vars) == set(shipped.run.columns)
    assert data.attrs["outcome"] == "reached_end"
    assert data["t"].attrs["units"] == "s"
    for name, signal in shipped.run.signals.items():
        assert data[name].attrs == {"units": signal.unit, "long_name": signal.doc}
        np.testing.assert_array_equal(data[name].values, shipped.run[name])
    np.testing.assert_array_equal(data["t"].values, shipped.run.t)
    np.testing.assert_array_equal(data["j"].values, shipped.run.j)


def test_a_picture_sees_the_outputs_of_a_row(shipped):
    seen = shipped.run.seen(7)
    group = "hub" if "hub.x" in shipped.run.columns else "left_hub"
    expected = [shipped.run[f"{group}.{axis}"][7] for axis in "xyz"]
    np.testing.assert_array_equal(seen.origin(group), expected)


@pytest.mark.parametrize(("module", "method"), [("pandas", "to_pandas"), ("xarray", "to_xarray")])
def test_a_missing_table_library_is_answered_with_its_install_line(
    hand_made, monkeypatch, module, method
):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"footfall\[tables\]"):
        getattr(hand_made, method)()


def test_provenance_says_when_the_run_started():
    experiment = load("passive-wheel", duration=0.1)
    run = simulate(
        experiment.system,
        experiment.start,
        experiment.plan,
        progress=lambda t, jumps: time.sleep(1.1),
    )
    ended = datetime.datetime.now(datetime.UTC)
    started = datetime.datetime.fromisoformat(run.provenance["started"])
    # `started` is cut to whole seconds, which only makes it earlier.
    assert (ended - started).total_seconds() > 1.0


# --- Ctrl-C ---------------------------------------------------------------------------------------


def interrupted_at(experiment, place):
    """A run interrupted when Python is at this (file, line) for the first time after the first
    chunk, and the places it was at.
    """
    armed, fired, places = False, False, set()

    def trace(frame, what, argument):
        nonlocal fired
        file = frame.f_code.co_filename
        if "footfall/engines/" not in file:
            return None
        if what == "line" and armed and not fired:
            here = (file, frame.f_lineno)
            places.add(here)
            if here == place:
                fired = True
                raise KeyboardInterrupt
        return trace

    def progress(t, jumps):
        nonlocal armed
        armed = 10.0 < t < 50.0  # neither in the first chunk nor after the last

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return (
            simulate(experiment.system, experiment.start, experiment.plan, progress=progress),
            places,
        )
    finally:
        sys.settrace(before)


def inconsistencies(run):
    """What does not fit together in a run that may have been interrupted."""
    if {len(run.t)} != {len(run.j), *(len(values) for values in run.columns.values())}:
        yield "columns of different lengths"
        return
    if run.t[-1] > run.ending.t or run.ending.t - run.t[-1] > 0.005:  # 200 Hz
        yield f"ended at {run.ending.t:g} s with rows up to {run.t[-1]:g} s"
    if len(run.events) != run.ending.jumps:
        yield f"{run.ending.jumps} jumps but {len(run.events)} events"
    if any(
        e.row_after >= len(run.t) or run.t[e.row_before] != e.t or run.t[e.row_after] != e.t
        for e in run.events
    ):
        yield "events whose rows are not theirs"


def test_ctrl_c_at_any_line_leaves_a_record_that_fits_together():
    experiment = load("passive-wheel", duration=60.0)  # four chunks
    whole, places = interrupted_at(experiment, None)
    assert whole.outcome.name == "reached_end" and not list(inconsistencies(whole))
    assert len(places) > 20
    wrong = {}
    for file, line in sorted(places):
        run, _ = interrupted_at(experiment, (file, line))
        if run.outcome.name == "interrupted" and (found := list(inconsistencies(run))):
            wrong[f"{file.rpartition('/')[2]}:{line}"] = found
    assert not wrong


# --- Parquet --------------------------------------------------------------------------------------


def test_parquet_reads_back_equal_to_the_last_bit_with_units(shipped, tmp_path):
    path = tmp_path / "run.parquet"
    write_parquet(shipped.run, path)
    table = pq.read_table(path)
    assert table.column_names == ["t", "j", *shipped.run.columns]
    np.testing.assert_array_equal(table["t"].to_numpy(), shipped.run.t)
    np.testing.assert_array_equal(table["j"].to_numpy(), shipped.run.j)
    assert table.schema.field("t").metadata[b"unit"] == b"s"
    for name, signal in shipped.run.signals.items():
        np.testing.assert_array_equal(table[name].to_numpy(), shipped.run[name])
        notes = table.schema.field(name).metadata
        assert (notes[b"unit"].decode(), notes[b"doc"].decode(), notes[b"role"].decode()) == (
            signal.unit,
            signal.doc,
            signal.role,
        )
    assert table.schema.metadata[b"outcome"] == b"reached_end"
    assert json.loads(table.schema.metadata[b"provenance"])["precision"] == "float64"


def test_parquet_keeps_nan_and_a_run_without_rows(hand_made, tmp_path):
    broken = {**hand_made.columns, "angle": np.where(hand_made.t < 3, hand_made["angle"], np.nan)}
    write_parquet(dataclasses.replace(hand_made, columns=broken), tmp_path / "nan.parquet")
    np.testing.assert_array_equal(
        pq.read_table(tmp_path / "nan.parquet")["angle"].to_numpy(), broken["angle"]
    )
    empty = dataclasses.replace(
        hand_made,
        t=hand_made.t[:0],
        j=hand_made.j[:0],
        columns={k: v[:0] for k, v in hand_made.columns.items()},
    )
    write_parquet(empty, tmp_path / "empty.parquet")
    assert pq.read_table(tmp_path / "empty.parquet").num_rows == 0


# --- the summary, by hand -------------------------------------------------------------------------


def test_metrics_of_the_second_half_by_hand(hand_made):
    """From the footfall at 2 s to that at 3 s:

    0.8 m, one step, 4 J, a weight of 10 N, torque 4 N m throughout.
    """
    summary = summarise(hand_made, "by hand")
    assert summary.window == {"from": 2.0, "to": 3.0, "steps": 1.0, "settled": True}
    expected = {
        "mean_speed": 0.8,
        "step_time": 1.0,
        "step_length": 0.8,
        "steps": 1.0,
        "distance": 0.8,
        "motor_work": 4.0,
        "motor_work_per_step": 4.0,
        "mean_power": 4.0,
        "cost_of_transport": 0.5,
        "least_leg_force": 12.5,
        "motor_mean_torque": 4.0,
        "motor_rms_torque": 4.0,
        "motor_peak_torque": 4.0,
    }
    assert summary.metrics == pytest.approx(expected, rel=1e-12)


def test_units_forces_and_friction_are_what_was_declared_whatever_they_are_called(hand_made):
    signals = hand_made.signals | {"motor.torque": Signal("motor.torque", "mN m", "", "output")}
    summary = summarise(
        dataclasses.replace(
            hand_made,
            signals=signals,
            travel=hand_made.travel._replace(means=("body.x",), friction=("motor.torque",)),
            least_room={"weight_on_the_toe": 3.0, "liftoff": -1.0},
            pushes=("weight_on_the_toe",),
        )
    )
    told = ("mean_body_x", "motor_mean_torque", "motor_rms_torque", "motor_peak_torque")
    assert [summary.units[name] for name in told] == ["m", "mN m", "mN m", "mN m"]
    assert summary.units.keys() == summary.metrics.keys()
    assert summary.metrics["least_leg_force"] == 3.0
    assert summary.metrics["friction_needed"] == 4.0


def test_metrics_after_a_given_settling_time_by_hand(hand_made):
    """From 1 s to 3 s: 1.5 m, two steps, 7 J; torque -1 for a second, then 4."""
    summary = summarise(hand_made, settle=0.5)
    assert summary.window == {"from": 1.0, "to": 3.0, "steps": 2.0, "settled": True}
    m = summary.metrics
    assert (m["mean_speed"], m["step_time"], m["step_length"]) == pytest.approx((0.75, 1.0, 0.75))
    assert (m["motor_work"], m["motor_work_per_step"], m["mean_power"]) == pytest.approx(
        (7.0, 3.5, 3.5)
    )
    assert m["cost_of_transport"] == pytest.approx(7.0 / (10.0 * 1.5))
    # At a jump two values stand at one time: the trapezoid of no width adds nothing, so the mean is
    # (-1 + 4)/2.
    assert m["motor_mean_torque"] == pytest.approx(1.5)
    assert m["motor_rms_torque"] == pytest.approx(np.sqrt((1 + 16) / 2))
    assert m["motor_peak_torque"] == 4.0


def test_the_window_begins_at_the_last_footfall_before_the_settling_time(hand_made):
    assert summarise(hand_made, settle=2.5).window == {
        "from": 2.0,
        "to": 3.0,
        "steps": 1.0,
        "settled": True,
    }


def test_a_run_that_did_not_settle_says_so_and_gives_no_step_metrics(hand_made):
    summary = summarise(hand_made, settle=3.5)  # no footfall after it: nothing settled to measure
    assert summary.window == {"from": 0.0, "to": 4.0, "steps": 3.0, "settled": False}
    assert summary.metrics["step_time"] is None and summary.metrics["step_length"] is None
    assert summary.metrics["mean_speed"] == pytest.approx(2.5 / 4)
    assert summary.metrics["motor_work"] == 11.0


def test_a_robot_that_stays_has_no_cost_of_transport(hand_made):
    still = dataclasses.replace(hand_made, columns={**hand_made.columns, "body.x": np.zeros(8)})
    assert summarise(still).metrics["cost_of_transport"] is None
    assert summarise(still).metrics["mean_speed"] == 0.0


def test_two_sides_share_their_steps_and_a_turn_has_a_radius(hand_made):
    """From 2 s to 3 s the left side steps once and the right one twice as far apart in count: 0.8 m
    while turning 0.4 rad.

    A side's step time is between its own footfalls: left 1 step in 1 s, right 2 in 1 s, so on the
    mean 1.5 steps a second."""
    more = {
        "steps_left": hand_made["steps"],
        "steps_right": np.where(
            hand_made["steps"] < hand_made["steps"][-1],
            hand_made["steps"],
            hand_made["steps"] + 1.0,
        ),
        "body.yaw": np.array([0.0, 0.0, 0.0, 0.1, 0.1, -0.3, -0.3, 0.0]),
    }
    signals = {
        **hand_made.signals,
        **{name: Signal(name, "", name, "output" if "." in name else "discrete") for name in more},
    }
    travel = hand_made.travel._replace(
        step_counters=("steps_left", "steps_right"), heading="body.yaw"
    )
    run = dataclasses.replace(
        hand_made, columns={**hand_made.columns, **more}, signals=signals, travel=travel
    )
    metrics = summarise(run).metrics
    assert (metrics["steps"], metrics["steps_left"], metrics["steps_right"]) == (1.5, 1.0, 2.0)
    assert metrics["step_time"] == pytest.approx(1.0 / 1.5)
    assert metrics["step_length"] == pytest.approx(0.8 / 1.5)
    assert metrics["yaw_rate"] == pytest.approx(-0.4)
    assert metrics["turn_radius"] == pytest.approx(0.8 / 0.4)


def test_a_reported_lift_off_tells_the_least_force_that_pulled():
    """15000 N/m with 20 N s/m completes the run but needs spokes that pull (reference page, section
    8).
    """
    experiment = load("rimless-wheel", ["on_liftoff=report", "leg.damping=20"], duration=5.0)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.events_named("liftoff")
    least = summarise(run).metrics["least_leg_force"]
    sampled = run["spoke.force"][run.j > 0].min()
    assert sampled < -50.0
    # It looks more often than 200 times a second, and the force has a smooth least.
    assert 1.05 * sampled < least <= sampled


def test_electrical_energy_is_given_only_when_winding_heat_is_known(hand_made):
    def with_power(extra):
        columns = {
            **hand_made.columns,
            "motor.power": np.full(8, 2.0),
            "motor.electrical_power": np.full(8, 2.0 + extra),
        }
        names = ("motor.power", "motor.electrical_power")
        signals = {**hand_made.signals, **{n: Signal(n, "W", "power", "output") for n in names}}
        return summarise(dataclasses.replace(hand_made, columns=columns, signals=signals)).metrics

    assert "electrical_energy" not in with_power(0.0)
    # 5 W for the second from 2 to 3 s.
    assert with_power(3.0)["electrical_energy"] == pytest.approx(5.0)
    assert with_power(3.0)["electrical_cost_of_transport"] == pytest.approx(5.0 / 8.0)


def test_the_ledger_adds_up_by_hand(hand_made):
    ledger = summarise(hand_made).ledger
    # 11 in, 9.5 + 1.5 out.
    assert (ledger["stored_change"], ledger["residual"], ledger["relative_residual"]) == (
        0.0,
        0.0,
        0.0,
    )
    short = dataclasses.replace(hand_made.ledger, work={"motor": 11.22})
    assert short.residual == pytest.approx(-0.22)
    assert short.relative_residual == pytest.approx(0.01)


def test_the_summary_says_events_and_the_end_and_is_plain_json(hand_made):
    columns = {**hand_made.columns, "work.motor": np.full(8, np.nan)}
    summary = summarise(dataclasses.replace(hand_made, columns=columns), "by hand")
    said = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert said["metrics"]["motor_work"] is None  # not a number becomes null
    assert said["outcome"]["name"] == "reached_end" and said["outcome"]["state"] == {"angle": 0.3}
    assert said["events"] == [{"t": t, "name": "touchdown"} for t in (1.0, 2.0, 3.0)]
    assert summary.event_counts() == {"touchdown": 3}


# Set B only: these means are taken over the samples, and 200 Hz misses what set A's spokes do in
# the 70 us after a landing.
@pytest.mark.parametrize(("name", "mean", "rms"), [("rimless-wheel", 1.4726, 1.5084)])
def test_mean_and_rms_torque_of_the_summary_are_those_of_the_reference_page(name, mean, rms):
    experiment = load(name)
    metrics = summarise(simulate(experiment.system, experiment.start, experiment.plan)).metrics
    # Section 8's tolerance.
    assert (metrics["motor_mean_torque"], metrics["motor_rms_torque"]) == pytest.approx(
        (mean, rms), rel=1e-3
    )


# --- the run folder -------------------------------------------------------------------------------

SCENARIO = 'title = "by hand"\n'


def write(folder, run, **more):
    return write_run(folder, run, summarise(run, "by hand").to_dict(), SCENARIO, **more)


def test_a_robot_file_lies_in_the_run_folder_where_its_scenario_names_it(hand_made, tmp_path):
    (tmp_path / "mine.py").write_text("# a robot\n")
    folder = write(tmp_path / "run", hand_made, files={"robots/mine.py": tmp_path / "mine.py"})
    assert (folder / "robots" / "mine.py").read_text() == "# a robot\n"


def test_a_folder_from_before_pushes_and_friction_were_declared_has_them_by_name(
    hand_made, tmp_path
):
    needed = "foot.friction_needed"
    run = dataclasses.replace(
        hand_made,
        columns=hand_made.columns | {needed: np.linspace(0.0, 0.7, 8)},
        signals=hand_made.signals | {needed: Signal(needed, "", "friction", "output")},
        travel=hand_made.travel._replace(friction=(needed,)),
    )
    folder = write(tmp_path / "run", run)
    assert read_run(folder)[0].pushes == run.pushes and read_run(folder)[0].travel == run.travel
    summary = json.loads((folder / "summary.json").read_text())
    del summary["record"]["pushes"], summary["record"]["travel"]["friction"], summary["units"]
    (folder / "summary.json").write_text(json.dumps(summary))
    assert summarise(read_run(folder)[0]).metrics == summarise(run).metrics


def test_a_run_folder_holds_data_log_summary_scenario_provenance_and_pictures(hand_made, tmp_path):
    folder = write(
        tmp_path / "deep" / "run",
        hand_made,
        pictures=lambda aside: (aside / "plots.png").write_bytes(b"picture"),
    )
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "trajectory.parquet",
        "run.mcap",
        "summary.json",
        "scenario.toml",
        "provenance.json",
        "plots.png",
    }
    assert pq.read_table(folder / "trajectory.parquet").num_rows == 8
    assert json.loads((folder / "summary.json").read_text())["scenario"] == "by hand"
    assert json.loads((folder / "provenance.json").read_text()) == hand_made.provenance
    assert tomllib.loads((folder / "scenario.toml").read_text()) == {"title": "by hand"}
    # Not the 0700 of a temporary folder: others may read it.
    assert folder.stat().st_mode & 0o777 == 0o755
    assert [p.name for p in folder.parent.iterdir()] == ["run"]


def test_a_run_folder_is_not_overwritten_without_force(hand_made, tmp_path):
    folder = write(tmp_path / "run", hand_made)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(FolderError, match=r"exists already.*--force"):
        write(folder, dataclasses.replace(hand_made, provenance={"solver": "another"}))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_force_replaces_the_whole_folder(hand_made, tmp_path):
    folder = write(
        tmp_path / "run",
        hand_made,
        pictures=lambda aside: (aside / "plots.png").write_bytes(b"old"),
    )
    write(folder, dataclasses.replace(hand_made, provenance={"solver": "another"}), force=True)
    assert json.loads((folder / "provenance.json").read_text()) == {"solver": "another"}
    assert not (folder / "plots.png").exists()  # nothing of the old run is mixed into the new one
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_force_takes_an_empty_folder(hand_made, tmp_path):
    (tmp_path / "run").mkdir()
    assert (write(tmp_path / "run", hand_made, force=True) / "summary.json").exists()


def test_force_does_not_delete_a_folder_that_is_not_a_run_folder(hand_made, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
    with pytest.raises(FolderError, match="not a run folder"):
        write(tmp_path / "thesis", hand_made, force=True)
    assert (tmp_path / "thesis" / "chapter.tex").read_text() == "years of work"


@pytest.mark.parametrize("force", [False, True])
def test_a_file_is_not_taken_for_a_folder(hand_made, tmp_path, force):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(FolderError):
        write(tmp_path / "notes", hand_made, force=force)
    assert (tmp_path / "notes").read_text() == "mine"


def failing(error):
    def fail(*arguments):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), FolderError),
        (RuntimeError("a bug"), RuntimeError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
    ids=["disk full", "bug", "ctrl-c"],
)
@pytest.mark.parametrize("existing", [False, True])
def test_a_failure_midway_leaves_nothing_behind_and_the_old_folder_as_it_was(
    hand_made, tmp_path, monkeypatch, error, seen, existing
):
    if existing:
        write(tmp_path / "run", hand_made)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    monkeypatch.setattr(run_folder, "write_mcap", failing(error))
    with pytest.raises(seen):
        write(tmp_path / "run", hand_made, force=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert [p.name for p in tmp_path.iterdir()] == (["run"] if existing else [])


def test_the_folder_appears_only_when_everything_is_in_it(hand_made, tmp_path):
    seen = []
    write(
        tmp_path / "run",
        hand_made,
        pictures=lambda aside: seen.append((aside.parent, (tmp_path / "run").exists())),
    )
    assert seen == [(tmp_path, False)]  # aside means beside: the rename stays on one file system


def test_a_rename_that_fails_brings_the_old_folder_back(hand_made, tmp_path, monkeypatch):
    folder = write(tmp_path / "run", hand_made)
    rename = type(folder).rename

    def second_fails(path, target):
        # The new one, not the old one coming back.
        if target == folder and not path.name.startswith(".run-old"):
            raise OSError(errno.EIO, "Input/output error")
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(type(folder), "rename", second_fails)
        with pytest.raises(FolderError):
            write(folder, hand_made, force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("folder", ["/proc/footfall/run", "a-file/run", "a-file/deeper/run"])
def test_an_unwritable_place_is_told_before_the_run(tmp_path, folder):
    (tmp_path / "a-file").write_text("")
    with pytest.raises(FolderError, match="cannot be written to"):
        # An absolute path stands for itself.
        run_folder.require_writable(tmp_path / folder, force=False)


def test_a_name_the_file_system_does_not_take_is_told_before_the_run(tmp_path):
    with pytest.raises(FolderError):
        run_folder.require_writable(tmp_path / ("x" * 300), force=False)


def test_looking_whether_a_folder_can_be_written_leaves_nothing_in_it(tmp_path):
    run_folder.require_writable(tmp_path / "run", force=False)
    assert list(tmp_path.iterdir()) == []
