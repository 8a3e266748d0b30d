"""A long run: rows go to disk as they come, and nobody who reads them notices."""

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from footfall.cli import run as run_command
from footfall.engines.analysis.summary import summarise
from footfall.engines.simulate import simulate
from footfall.hybrid.outcome import Outcome
from footfall.record import row_stream
from footfall.record.mcap_log import write_mcap
from footfall.record.row_stream import RowStream, StreamedColumns
from footfall.record.run_folder import begin_aside, write_run
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load
from footfall.scenario.open_run import open_run

SHARD = 20_000  # bytes: less than one compiled chunk of 16 s leaves


@pytest.fixture
def walk(tmp_path, monkeypatch):
    """The same run in memory and on disk."""
    monkeypatch.setattr(row_stream, "SHARD_BYTES", SHARD)
    experiment = load("passive-wheel", ["sim.sample_rate=100"], duration=60)
    stream = RowStream(
        lambda: begin_aside(tmp_path / "walk", experiment.to_toml()), most_in_memory=SHARD
    )
    whole = simulate(experiment.system, experiment.start, experiment.plan)
    return (
        experiment,
        whole,
        simulate(experiment.system, experiment.start, experiment.plan, rows=stream),
    )


def test_a_run_on_disk_is_the_run_in_memory_to_the_last_bit(walk):
    _, whole, streamed = walk
    assert isinstance(streamed.columns, StreamedColumns) and len(streamed.columns.files) >= 3
    assert streamed.t.tobytes() == whole.t.tobytes() and np.array_equal(streamed.j, whole.j)
    assert streamed.events == whole.events and streamed.ending == whole.ending
    assert list(streamed.columns) == list(whole.columns)
    for name in whole.columns:
        assert streamed[name].tobytes() == whole[name].tobytes(), name
    assert summarise(streamed).to_dict() == summarise(whole).to_dict()


def test_its_folder_is_that_of_any_run_and_it_can_be_read_on_after_it_was_written(walk, tmp_path):
    experiment, whole, streamed = walk
    whole = dataclasses.replace(whole, provenance=streamed.provenance)  # begun at another second
    for name, run in (("walk", streamed), ("other", whole)):
        write_run(tmp_path / name, run, {}, experiment.to_toml())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "walk"]  # nothing aside
    assert {p.name for p in (tmp_path / "walk").iterdir()} == {
        p.name for p in (tmp_path / "other").iterdir()
    }
    mine, theirs = (
        pq.read_table(tmp_path / name / "trajectory.parquet") for name in ("walk", "other")
    )
    assert mine.schema.equals(theirs.schema, check_metadata=True)
    assert mine.equals(theirs)
    assert (tmp_path / "walk" / "run.mcap").stat().st_size == (
        tmp_path / "other" / "run.mcap"
    ).stat().st_size
    assert streamed["hub.x"].tobytes() == whole["hub.x"].tobytes()


def test_what_a_killed_run_had_written_can_be_read(tmp_path, monkeypatch):
    monkeypatch.setattr(row_stream, "SHARD_BYTES", SHARD)
    experiment = load("passive-wheel", ["sim.sample_rate=100"], duration=1000)
    stream = RowStream(
        lambda: begin_aside(tmp_path / "walk", experiment.to_toml()),
        most_in_memory=SHARD,
        scenario=experiment.name,
    )

    def killed(t, jumps):
        if t > 60.0:
            raise SystemExit  # nobody catches it, as nobody catches SIGKILL

    with pytest.raises(SystemExit):
        simulate(experiment.system, experiment.start, experiment.plan, progress=killed, rows=stream)
    assert not (tmp_path / "walk").exists()
    (rows,) = tmp_path.glob(".walk-*/rows")
    files = sorted(rows.glob("*.parquet"))
    metadata = pq.read_schema(files[0]).metadata
    assert len(files) >= 3 and metadata[b"outcome"] == b"running"
    assert json.loads(metadata[b"provenance"])["precision"] == "float64"
    left = open_run(tmp_path / "walk")
    assert left.outcome is Outcome.interrupted
    assert left.t[0] == 0.0 and np.all(np.diff(left.t) >= 0) and left.t[-1] > 60.0
    assert left.signals["hub.x"].unit == "m" and left.scenario == experiment.document
    # The last row may be the one just after a footfall: a nanosecond later that has happened in a
    # whole run too.
    whole = simulate(
        experiment.system,
        experiment.start,
        dataclasses.replace(experiment.plan, duration=left.t[-1] + 1e-9),
    )
    # A row between two steps is interpolated, to about the tolerance of the run (1e-8).
    assert left.ledger.relative_residual < 1e-7 and left.ledger.throughput == pytest.approx(
        whole.ledger.throughput, rel=0.05
    )
    for entries in ("stored_end", "work", "losses", "jump_losses", "jump_work"):
        assert getattr(left.ledger, entries) == pytest.approx(
            getattr(whole.ledger, entries), rel=1e-6
        ), entries
    assert left.ledger.jump_losses and left.ending.jumps == whole.ending.jumps > 50
    assert left.metrics["mean_speed"] == pytest.approx(whole.metrics["mean_speed"], rel=1e-3)
    assert left.verdict.word == "cut_off" and "the process was killed" in left.ending.sentence
    assert repr(left).startswith("passive-wheel: interrupted")  # once "run: ..."
    assert "stopped by the user" not in repr(left) and f"events: {left.ending.jumps} jumps" in repr(
        left
    )


def test_a_killed_run_of_a_longer_name_is_not_taken_for_this_one(tmp_path):
    (tmp_path / ".walk-fast-k2j4h5g6" / "rows").mkdir(parents=True)
    (tmp_path / ".walk-fast-k2j4h5g6" / "rows" / "00000.parquet").write_bytes(b"PAR1")
    with pytest.raises(ScenarioError, match="no such folder"):
        open_run(tmp_path / "walk")


def test_memory_does_not_grow_with_the_length_of_a_run(tmp_path, monkeypatch):
    """What waits for the disk is a shard and one chunk at most, however many rows there were."""
    monkeypatch.setattr(row_stream, "SHARD_BYTES", SHARD)
    waiting = []

    class Watched(RowStream):
        def add(self, t, j, rows):
            super().add(t, j, rows)
            waiting.append((self._bytes, rows.nbytes))

    experiment = load("passive-wheel", duration=400)
    stream = Watched(lambda: begin_aside(tmp_path / "walk", ""), most_in_memory=SHARD)
    run = simulate(experiment.system, experiment.start, experiment.plan, rows=stream)
    assert len(run.t) * len(run.columns) * 8 > 500 * SHARD
    assert max(held for held, _ in waiting) <= SHARD
    assert max(chunk for _, chunk in waiting) < 100 * SHARD


def test_columns_of_a_long_run_that_were_read_do_not_stay_in_memory(walk, monkeypatch):
    _, whole, streamed = walk
    monkeypatch.setattr(row_stream, "KEPT_BYTES", 3 * 8 * len(whole.t))
    streamed.columns._kept.clear()  # what its verdict read
    for name in streamed.columns:
        assert streamed[name].tobytes() == whole[name].tobytes()
        assert len(streamed.columns._kept) <= 3
    assert streamed[name] is streamed[name]  # the last ones do


def test_a_long_run_is_thinned_in_whole_pieces_with_its_end_as_it_was(walk):
    _, whole, streamed = walk
    for run in (whole, streamed):
        thin = run.thinned(4000)
        assert isinstance(thin.columns, dict) and len(thin.t) <= 4000 < len(run.t)
        assert np.array_equal(thin.t[-2000:], run.t[-2000:]) and thin.t[0] == 0.0
        assert np.all(np.diff(thin.t) >= 0) and 0 < len(thin.events) < len(run.events)
        for event in thin.events:
            assert thin.t[event.row_before] == thin.t[event.row_after] == event.t
        assert np.isin(thin["hub.x"], run["hub.x"]).all()
    assert whole.thinned(10**6) is whole


def test_a_run_that_was_stopped_before_its_first_row_can_be_written(tmp_path, monkeypatch):
    """Twice this was `ValueError: slice step cannot be zero`, with a stack trace."""
    experiment = load("passive-wheel", duration=1)

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("footfall.engines.simulate._advance", stopped)
    monkeypatch.setattr("footfall.engines.simulate.KernelRun.advance", stopped)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.outcome is Outcome.interrupted and len(run.t) == 0
    with (tmp_path / "run.mcap").open("wb") as stream:
        write_mcap(run, stream)
    write_run(tmp_path / "walk", run, summarise(run).to_dict(), experiment.to_toml())


def test_the_size_of_a_large_run_is_said_before_it(monkeypatch):
    said = []
    monkeypatch.setattr(run_command, "note", said.append)
    run_command._say_size(load("rimless-wheel", duration=10), Path("a"))
    assert said == []
    run_command._say_size(load("rimless-wheel", duration=1000), Path("a"))
    (words,) = said
    columns, size = re.search(r"200 000 rows of (\d+) columns, (\d+) MB in a", words).groups()
    # Eight bytes each, to the megabyte.
    assert float(size) == pytest.approx(8e-6 * 200_000 * int(columns), abs=0.5)
    assert "sim.sample_rate=20" in words
