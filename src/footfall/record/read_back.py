"""A run folder as a Trajectory again, to the last bit. No code of the folder is executed."""

import dataclasses
import glob
import json
from pathlib import Path
from typing import Any

import numpy as np

from footfall.hybrid.doubt import Doubt
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import Travel
from footfall.record.builder import Stand, ending_of, ledger_of
from footfall.record.footfall import Footfall
from footfall.record.ledger import Ledger
from footfall.record.trajectory import Ending, EventRecord, Signal, Trajectory
from footfall.record.verdict import book_doubts, stepped_run

KILLED = "the process was killed; this is what was on disk"
CUT_OFF = Doubt(
    "cut_off",
    "the record was cut off: energies are those of the rows, and which events there were, and what"
    " the engine noticed, is lost; run it again for the whole",
)


class NoRun(Exception):
    """There is nothing to read in a folder, and why."""


def kept_of(run: Trajectory) -> dict[str, Any]:
    """What a summary leaves out and `read_run` needs, as plain JSON types."""
    found_again = book_doubts(run.ledger, stepped=stepped_run(run.provenance))
    told = ("t", "name", "leg")  # of each event, in the summary
    return {
        "events": [
            {k: v for k, v in dataclasses.asdict(e).items() if k not in told} for e in run.events
        ],
        "least_room": {k: v if np.isfinite(v) else None for k, v in run.least_room.items()},
        "travel": (
            None
            if run.travel is None
            else {**run.travel._asdict(), "weight": float(run.travel.weight)}
        ),
        "pushes": run.pushes,
        "doubts": [list(doubt) for doubt in run.verdict.doubts if doubt not in found_again],
    }


def read_run(folder: Path) -> tuple[Trajectory, Path]:
    """Everything but the drawing, and the folder it was found in.

    A run that was killed ends as `interrupted`: of a long one there are pieces, `rows/*.parquet`,
    in a hidden folder beside the one that it was to become (`.NAME-xxxxxxxx`, see run_folder.py).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    place, files = _files(folder)
    try:
        table = pa.concat_tables([pq.read_table(file) for file in files])
    except (pa.ArrowInvalid, OSError) as error:
        raise NoRun(f"{place}: its rows cannot be read ({str(error).splitlines()[0]}).") from None
    columns = {name: np.array(table[name]) for name in table.column_names}
    t, j = columns.pop("t"), columns.pop("j")
    signals = {name: _signal(name, table.schema.field(name).metadata or {}) for name in columns}
    source = json.loads((table.schema.metadata or {}).get(b"provenance", b"{}"))
    run = dataclasses.replace(_cut_off(t, j, columns, signals), provenance=source)
    summary = place / "summary.json"
    return (
        _with_summary(run, json.loads(summary.read_text())) if summary.is_file() else run
    ), place


def _files(folder: Path) -> tuple[Path, list[Path]]:
    """Where the rows are, and in which files.

    The folder's own, else those of the last run that was killed on its way there.
    """
    whole = folder / "trajectory.parquet"
    if whole.is_file() and (folder / "summary.json").is_file():
        return folder, [whole]
    # as run_folder.py calls it, and not that of a longer name
    hidden = f".{glob.escape(folder.name)}-{'?' * 8}"
    asides = sorted(
        folder.parent.glob(hidden), key=lambda aside: aside.stat().st_mtime, reverse=True
    )
    for place in (folder, *asides):
        if files := sorted((place / "rows").glob("*.parquet")):
            return place, files
    if whole.is_file():
        return folder, [whole]
    raise NoRun(
        f"{folder}: there is no run in it." if folder.is_dir() else f"{folder}: no such folder."
    )


def _signal(name: str, metadata: dict[bytes, bytes]) -> Signal:
    said = {key.decode(): value.decode() for key, value in metadata.items()}
    return Signal(
        name,
        said["unit"],
        said["doc"],
        said["role"],
        said.get("rate_of") or None,
        said.get("group", ""),
        said.get("kind", ""),
    )


def _with_summary(run: Trajectory, summary: dict[str, Any]) -> Trajectory:
    end, kept = summary["outcome"], summary["record"]
    ending = Ending(
        outcome=Outcome(end["name"]),
        t=_number(end["t"]),
        event=end["event"],
        state={name: _number(value) for name, value in end["state"].items()},
        steps=end["solver_steps"],
        tried=end["solver_steps_tried"],
        jumps=end["jumps"],
        room=end.get("room", ""),
        note=end["meaning"] if end["meaning"] != Outcome[end["name"]].meaning else "",
    )
    travel = kept["travel"]
    # A record from before guards and robots said so themselves has it in its names.
    pushes = kept.get("pushes", [k for k in kept["least_room"] if k.startswith("liftoff")])
    friction = [name for name in run.signals if name.endswith(".friction_needed")]
    books = {f.name: summary["ledger"][f.name] for f in dataclasses.fields(Ledger)}
    return dataclasses.replace(
        run,
        ending=ending,
        ledger=Ledger(
            **{k: _numbers(v) if isinstance(v, dict) else _number(v) for k, v in books.items()}
        ),
        events=tuple(
            _event({"leg": None, **a, **b})
            for a, b in zip(summary["events"], kept["events"], strict=True)
        ),
        least_room={k: np.inf if v is None else v for k, v in kept["least_room"].items()},
        pushes=tuple(pushes),
        travel=(
            None
            if travel is None
            else Travel(**{k: _plain(v) for k, v in ({"friction": friction} | travel).items()})
        ),
        doubts=tuple(Doubt(*doubt) for doubt in kept["doubts"]),
    )


def _event(said: dict[str, Any]) -> EventRecord:
    kind = Footfall if "side" in said else EventRecord
    return kind(**{k: _plain(v) for k, v in said.items()})


def _plain(value: Any) -> Any:
    """JSON has lists where a record has tuples."""
    return tuple(value) if isinstance(value, list) else value


def _number(value: float | None) -> float:
    """JSON has no word for what is not finite."""
    return np.nan if value is None else value


def _numbers(values: dict[str, float | None]) -> dict[str, float]:
    return {name: _number(value) for name, value in values.items()}


def _cut_off(
    t: np.ndarray, j: np.ndarray, columns: dict[str, np.ndarray], signals: dict[str, Signal]
) -> Trajectory:
    """The rows alone: of a run that ended before it could say more."""
    jumped, known = np.diff(j) > 0, list(signals.values()) if len(t) else []

    def moved(role: str) -> float:
        """What of its entries went up and down.

        What jumps do to the stores is among their works.
        """
        changes = [np.abs(np.diff(columns[s.name])) for s in known if s.role == role]
        return sum(
            float(np.sum(change[~jumped] if role == "store" else change)) for change in changes
        )

    first, last = ([float(columns[s.name][row]) for s in known] for row in (0, -1))
    stand = Stand.at_rows(
        known,
        first,
        last,
        t=float(t[-1]) if known else 0.0,
        throughput=float(sum(map(moved, ("store", "work", "jump_work")))),
        least_room=(),
        cause=None,
        steps=0,
        tried=0,
        jumps=int(j[-1]) if known else 0,
    )
    ending = ending_of(known, Outcome.interrupted, stand, None, KILLED)
    books = ledger_of(known, stand)
    return Trajectory(t, j, columns, signals, (), ending, books, {}, doubts=(CUT_OFF,))
