"""A page that shows a recorded run: its rows, how it ended, its numbers."""

import base64
import zlib
from typing import Any

import numpy as np

from footfall.engines.analysis.summary import Summary
from footfall.pages.drawn import Numbers, ground_of, ground_said, shapes_said
from footfall.pages.page import charts_said, ledger_said, outputs_said, travel_said, words
from footfall.pages.parameters import parameters
from footfall.record.trajectory import Trajectory
from footfall.record.verdict import BOOKS_OPEN, STEPPED_OPEN, stepped_run
from footfall.scenario.load import Experiment

#: Rows of a second at most, and rows at most: more than a screen shows.
ROWS_PER_SECOND, MOST_ROWS = 200.0, 6000
#: Beyond the run's own way the ground is known so far [m].
MARGIN = 3.0
#: Metrics shown, where a run has them.
SHOWN = {
    "mean_speed": "m/s",
    "step_time": "s",
    "step_length": "m",
    "cost_of_transport": "",
    "distance": "m",
    "mean_power": "W",
}


def replay_page(experiment: Experiment, run: Trajectory, summary: Summary) -> dict[str, Any]:
    """Everything a page needs to show this run: see `page.py`."""
    system = experiment.system
    found = [parameter._replace(kind="text") for parameter in parameters(experiment)]
    outputs = {name: run.signals[name] for name in run.of_role("output")}
    limit = STEPPED_OPEN if stepped_run(run.provenance) else BOOKS_OPEN
    rows = shown_rows(run.t)
    ground = ground_of(run.sketch)
    along = np.concatenate([run[name] for name in outputs if name.endswith(".x")] or [[0.0]])
    near = along[np.isfinite(along)]
    behind, ahead = MARGIN - float(near.min(initial=0.0)), MARGIN + float(near.max(initial=0.0))
    travel = run.travel
    feet = () if travel is None else (*travel.step_counters, *travel.contacts)
    books = run.of_role("store", "work", "jump_work")
    columns = [*outputs, *(n for n in feet if n in run.columns and n not in outputs), *books]
    return words(experiment, found) | {
        "scene": {
            "shapes": shapes_said(run.sketch, Numbers()),
            "ground": ground_said(ground, behind=behind, ahead=ahead),
        },
        "outputs": outputs_said(outputs),
        "rates": [],
        "steered_by": [],
        "charts": charts_said(run.drawing.charts, list(outputs)),
        "travel": travel_said(system.travel()),
        "ledger": ledger_said(run.signals.values(), limit),
        "outcomes": {},
        "replay": {
            "columns": ["t", *columns],
            "rows": len(rows),
            "data": packed([run.t[rows], *(run.columns[name][rows] for name in columns)]),
            "sentence": f"{run.ending.sentence}.",
            "sound": run.verdict.sound,
            "success": run.outcome.name in experiment.about.success,
            "metrics": _metrics(summary),
            "residual": run.ledger.relative_residual,
        },
    }


def with_ghost(
    page: dict[str, Any], other: dict[str, Any], names: tuple[str, str]
) -> dict[str, Any]:
    """The replay of one run with that of another as its ghost."""
    ghost = {
        "name": names[1],
        "title": other["title"],
        "shapes": other["scene"]["shapes"],
        "replay": other["replay"],
    }
    return page | {"name": names[0], "ghost": ghost}


def shown_rows(t: np.ndarray) -> np.ndarray:
    """Which rows to keep: at even times, of both sides of a jump the later one."""
    if len(t) < 2:
        return np.arange(len(t))
    span = float(t[-1] - t[0])
    count = int(min(np.ceil(span * ROWS_PER_SECOND) + 1, MOST_ROWS, max(len(t), 2)))
    times = np.linspace(t[0], t[-1], count)
    return np.unique(np.searchsorted(t, times, side="right") - 1)


def packed(columns: list[np.ndarray]) -> str:
    """Columns one after the other as float32, deflated, as base64."""
    block = np.stack([np.nan_to_num(np.asarray(column, np.float32)) for column in columns])
    return base64.b64encode(zlib.compress(block.tobytes(), 9)).decode()


def _metrics(summary: Summary) -> list[dict[str, Any]]:
    told = summary.metrics
    return [
        {"name": name, "value": float(told[name]), "unit": unit}
        for name, unit in SHOWN.items()
        if told.get(name) is not None and np.isfinite(told[name])
    ]
