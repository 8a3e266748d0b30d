"""Trajectory: the one result type, in hybrid time (t, j)."""

import base64
import dataclasses
import functools
import html
import importlib
import importlib.util
import io
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from footfall.hybrid.doubt import Doubt
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import Travel
from footfall.record.ledger import Ledger
from footfall.record.row_stream import StreamedColumns
from footfall.record.signal import Signal as Signal
from footfall.record.verdict import Verdict, stepped_run, verdict
from footfall.scene.sketch import Drawing, Seen, Shape


def _extra(name: str) -> Any:
    """An optional library, or the line that installs it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f'this needs {name}. Install it with: pip install "footfall[tables]"', name=name
        ) from None


@dataclasses.dataclass(frozen=True, slots=True)
class EventRecord:
    """One event: when, which guard, and the rows just before and just after it."""

    t: float
    name: str
    leg: int | None
    row_before: int
    row_after: int


@dataclasses.dataclass(frozen=True)
class Ending:
    """Why, when and where a run ended."""

    outcome: Outcome
    t: float
    event: str | None  #: the guard that ended it
    state: dict[str, float]
    steps: int  #: accepted solver steps
    tried: int  #: solver steps taken, searches and rejections included
    jumps: int
    #: What the start left of room for that guard, with its unit, of a run that ended there.
    room: str = ""
    note: str = ""  #: what the outcome means here, where that is not what it means elsewhere

    @property
    def meaning(self) -> str:
        return self.note or self.outcome.meaning

    @property
    def sentence(self) -> str:
        cause = f' (event "{self.event}")' if self.event else ""
        room = f" ({self.room})" if self.room else ""
        at_start = f"; the start itself leaves no room for it{room}" if self.at_start else ""
        return f"{self.outcome.name} at t = {self.t:.6g} s{cause}: {self.meaning}{at_start}"

    @property
    def at_start(self) -> bool:
        """Whether it is the start that is at fault."""
        return self.t == 0 and self.event is not None


def _offered(name: str) -> Any:
    """What layers above this one offer to do with a run, by the name a user types (`ff.plot`).

    The package knows where it is.
    """
    return getattr(sys.modules["footfall"], name)


class _Metrics(dict[str, float | None]):
    """By name; a name that is none of them is told which there are."""

    def __missing__(self, name: str) -> float | None:
        raise KeyError(f'no metric "{name}"; there are: {", ".join(self)}')


@dataclasses.dataclass(frozen=True, repr=False)
class Trajectory:
    """A run: samples with both sides of every jump, its events, its end and its energy ledger.

    `t` and `j` (number of jumps so far) order the rows; run["hub.x"] is a signal, `signals` says
    which there are, with units. `events`, `ending`, `ledger`, `verdict`, `metrics` and `provenance`
    say the rest; `plot`, `animate`, `to_pandas` and `to_xarray` hand it on. `ff.simulate` makes
    one, `ff.open_run` reads one back from its folder.

    >>> import footfall as ff
    >>> run = ff.simulate(ff.load("passive-wheel", duration=1))
    >>> run.signals["hub.x"].label, len(run["hub.x"]) == len(run.t)
    ('hub.x [m]', True)
    >>> first = run.events_named("touchdown")[0]
    >>> print(f"{first.t:.4f} s, then {run['spoke_rate'][first.row_after]:.3f} rad/s")
    0.2190 s, then -2.886 rad/s
    """

    t: np.ndarray
    j: np.ndarray
    columns: Mapping[str, np.ndarray]
    signals: dict[str, Signal]
    events: tuple[EventRecord, ...]
    ending: Ending
    ledger: Ledger
    least_room: dict[str, float]  #: smallest value of each guard since the first jump
    draw: Callable[[], Drawing] = Drawing  #: makes the drawing; a run that nobody looks at need not
    travel: Travel | None = None
    pushes: tuple[str, ...] = ()  #: guards that are the force with which a foot pushes [N]
    provenance: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: The resolved scenario, of a run that had one.
    scenario: dict[str, Any] = dataclasses.field(default_factory=dict)
    experiment: Any = None  #: what was run, where that is at hand
    #: What the engine and the robot noticed; `verdict` adds what the books say.
    doubts: tuple[Doubt, ...] = ()
    #: More doubts, that take a while to find.
    look_again: Callable[["Trajectory"], Iterable[Doubt]] | None = None

    @functools.cached_property
    def verdict(self) -> Verdict:
        """Whether to believe it."""
        more = () if self.look_again is None else self.look_again(self)
        return verdict(
            self.ledger,
            (*self.doubts, *more),
            stepped=stepped_run(self.provenance),
            outcome=self.outcome,
        )

    @functools.cached_property
    def metrics(self) -> dict[str, float | None]:
        """Speed, step time, cost of transport and the rest: those of `ff.summarise`."""
        return _Metrics(_offered("summarise")(self).metrics)

    def plot(self, path: str | Path | None = None, **options: str) -> Any:
        """The plot page as a matplotlib figure, written to `path` if one is given.

        See `ff.plot`: run.plot("walk.pdf", plots="all", style="paper").
        """
        return _offered("plot")(self, path, **options)

    def animate(self, path: str | Path) -> Path:
        """Write a GIF of the robot moving: run.animate("walk.gif"). Needs matplotlib."""
        return _offered("animate")(self, path)

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write it as `footfall run` does, data, summary, scenario and picture.

        `ff.open_run` reads it back. See `ff.save_run`.
        """
        return _offered("save_run")(self, folder, force=force)

    def notes(self) -> dict[str, str]:
        """What belongs to all rows, as texts: the metadata of its files."""
        return {
            "outcome": self.outcome.name,
            "verdict": json.dumps(self.verdict.to_dict()),
            "provenance": json.dumps(self.provenance),
        }

    def __repr__(self) -> str:
        """What the summary prints, in a dozen lines."""
        said = repr(_offered("summarise")(self))
        rows = (
            f"  {len(self.t)} rows of {len(self.columns)} signals:"
            f" run[{next(iter(self.columns), 'name')!r}], run.signals, run.plot()"
        )
        return f"{said}\n{rows}"

    def _repr_html_(self) -> str:
        """For a notebook: the same, and the plot page where matplotlib is installed."""
        text = f"<pre>{html.escape(repr(self))}</pre>"
        if len(self.t) < 2 or importlib.util.find_spec("matplotlib") is None:
            return text
        picture = io.BytesIO()
        self.plot().savefig(picture, format="png", dpi=80)
        return (
            f"{text}<img"
            f' src="data:image/png;base64,{base64.b64encode(picture.getvalue()).decode()}"'
            ' style="max-width: 100%">'
        )

    @functools.cached_property
    def drawing(self) -> Drawing:
        """How to show it."""
        return self.draw()

    @property
    def sketch(self) -> tuple[Shape, ...]:
        """Shapes that follow the outputs."""
        return self.drawing.shapes

    @property
    def outcome(self) -> Outcome:
        return self.ending.outcome

    @property
    def least_pushes(self) -> dict[str, float]:
        """Smallest force with which each foot pushed since the first jump [N]."""
        return {name: self.least_room[name] for name in self.pushes if name in self.least_room}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise KeyError(f'no signal "{name}"; there are: {", ".join(self.columns)}')
        return self.columns[name]

    def events_named(self, *names: str) -> tuple[EventRecord, ...]:
        """Events of these names, in time order."""
        return tuple(e for e in self.events if e.name in names)

    def of_role(self, *roles: str) -> list[str]:
        """Names of the columns with these roles, in declared order."""
        return [name for name, s in self.signals.items() if s.role in roles]

    def taken(self, rows: np.ndarray) -> "Trajectory":
        """These rows only, in memory, and the events with both sides among them.

        `rows` increases.
        """
        columns = self.columns.take(rows) if isinstance(self.columns, StreamedColumns) else None
        place = np.full(len(self.t), -1)
        place[rows] = np.arange(len(rows))
        events = tuple(
            dataclasses.replace(
                e, row_before=int(place[e.row_before]), row_after=int(place[e.row_after])
            )
            for e in self.events
            if place[e.row_before] >= 0 and place[e.row_after] >= 0
        )
        return dataclasses.replace(
            self,
            t=self.t[rows],
            j=self.j[rows],
            columns=columns or {name: values[rows] for name, values in self.columns.items()},
            events=events,
        )

    def thinned(self, most: int = 50_000) -> "Trajectory":
        """Rows enough to draw a long run.

        The last of them whole, and whole pieces all along before.
        """
        count = len(self.t)
        if count <= most:
            return self
        pieces = 400  # about as many as there are pixels across a chart
        late = np.arange(count - most // 2, count)
        starts = np.linspace(0, late[0], pieces, endpoint=False).astype(int)
        early = (starts[:, None] + np.arange(most // (2 * pieces))).ravel()
        return self.taken(np.unique(np.concatenate([early[early < late[0]], late])))

    def seen(self, row: int) -> Seen:
        """Outputs of one row, for a sketch."""
        return Seen({name: float(self.columns[name][row]) for name in self.of_role("output")})

    def to_pandas(self) -> Any:
        """A DataFrame with t and j as a MultiIndex."""
        pd = _extra("pandas")
        index = pd.MultiIndex.from_arrays([self.t, self.j], names=["t", "j"])
        return pd.DataFrame(dict(self.columns), index=index)

    def to_xarray(self) -> Any:
        """A Dataset over `sample`, with t and j as coordinates and units in the attributes."""
        xr = _extra("xarray")
        variables = {
            name: (
                "sample",
                values,
                {"units": self.signals[name].unit, "long_name": self.signals[name].doc},
            )
            for name, values in self.columns.items()
        }
        coordinates = {
            "t": ("sample", self.t, {"units": "s"}),
            "j": ("sample", self.j, {"long_name": "jumps so far"}),
        }
        attributes = {
            "outcome": self.outcome.name,
            "verdict": self.verdict.word,
            "scenario": str(self.provenance.get("scenario", "")),
        }
        return xr.Dataset(variables, coordinates, attributes)
