"""A sweep as a heat map: a metric over two of its keys, each cell one design of it."""

import math
from typing import Any

import numpy as np

from footfall.sweep.errors import SweepError
from footfall.sweep.read_back import Sweep

#: Cells along an axis at most; more values than this share cells.
MOST_CELLS = 40
#: Designs that are looked at, at most: of a larger sweep every n-th.
MOST_DESIGNS = 1_000_000
#: What is shown unless another is asked for: the first that the sweep has.
PREFERRED = ("cost_of_transport", "mean_speed")
#: Columns that are numbers and no metrics.
NO_METRICS = ("design", "time_step")


def heat_map(
    sweep: Sweep, x: str | None = None, y: str | None = None, metric: str | None = None
) -> dict[str, Any]:
    """Cells of the map: each shows the median design of those in it, by the metric.

    A cell is {column, row, value, design, designs, outcome, sound}; its value is that of `design`,
    or null where no design of the cell has one. `x`, `y` are keys of the sweep, by default its
    first two; a sweep of one key has one row.
    """
    keys = list(sweep.designs.keys)
    metrics = _metrics(sweep, keys)
    x = x or keys[0]
    y = y or next((key for key in keys if key != x), x)
    metric = metric or next((name for name in PREFERRED if _told(sweep, name)), metrics[0])
    for what, name, known in (("key", x, keys), ("key", y, keys), ("metric", metric, metrics)):
        if name not in known:
            raise SweepError(f"{name!r} is no {what} of this sweep, which has {', '.join(known)}.")
    stride = math.ceil(sweep.manifest.count / MOST_DESIGNS)
    names = list(dict.fromkeys(["design", x, y, metric, "outcome", "verdict"]))
    pieces = [{k: v[::stride] for k, v in p.items()} for p in sweep.pieces(names)]
    if not pieces:
        raise SweepError(f"{sweep.folder}: no shard is finished yet.")
    table = {name: np.concatenate([piece[name] for piece in pieces]) for name in names}
    columns, across = _places(table[x])
    rows, along = _places(table[y]) if y != x else ([""], np.zeros(len(across), np.int64))
    return {
        "scenario": sweep.manifest.name,
        "keys": [{"name": axis.key, "unit": axis.unit} for axis in sweep.designs.axes],
        "metrics": [{"name": name, "unit": sweep.unit(name)} for name in metrics],
        "x": x,
        "y": y if y != x else "",
        "metric": metric,
        "columns": columns,
        "rows": rows,
        "cells": _cells(table, metric, along * len(columns) + across, len(columns)),
        "count": sweep.manifest.count,
        "stride": stride,
        "complete": sweep.complete,
    }


def settings_for(sweep: Sweep, design: int) -> list[str]:
    """What makes the sweep's scenario this design, as `--set` has it."""
    if not 0 <= design < sweep.manifest.count:
        raise SweepError(f"this sweep has the designs 0 to {sweep.manifest.count - 1}.")
    values = sweep.designs.columns(design, design + 1)
    # The shortest text that is read back as the same number.
    return [f"{key}={_plain(column[0])}" for key, column in values.items()]


def _metrics(sweep: Sweep, keys: list[str]) -> list[str]:
    import pyarrow as pa

    return [
        field.name
        for field in sweep.dataset().schema
        if (pa.types.is_floating(field.type) or pa.types.is_integer(field.type))
        and field.name not in (*keys, *NO_METRICS)
    ]


def _told(sweep: Sweep, name: str) -> bool:
    """Whether the sweep says anything by this metric: a robot without motors has no cost."""
    if name not in sweep.names():
        return False
    values = next(sweep.pieces([name]))[name].astype(float)
    return len(np.unique(values[np.isfinite(values)])) > 1


def _places(values: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """The labels along an axis, and which of them each design has.

    A few values, or words, are their own labels; many numbers are put into equal ranges, whose
    middles are the labels.
    """
    found, place = np.unique(values, return_inverse=True)
    if len(found) <= MOST_CELLS or found.dtype.kind not in "fiu":
        return [_plain(value) for value in found], place
    edges = np.linspace(found[0], found[-1], MOST_CELLS + 1)
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, MOST_CELLS - 1)
    return [_plain(value) for value in (edges[1:] + edges[:-1]) / 2], place


def _cells(
    table: dict[str, np.ndarray], metric: str, cell: np.ndarray, width: int
) -> list[dict[str, Any]]:
    values = table[metric].astype(float)
    values = np.where(np.isfinite(values), values, np.nan)
    order = np.lexsort((table["design"], values, cell))  # NaN last in its cell
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    cells = []
    for members in np.split(order, starts[1:]):
        told = members[~np.isnan(values[members])]
        chosen = told[(len(told) - 1) // 2] if len(told) else members[0]
        value = values[chosen]
        row, column = divmod(int(cell[chosen]), width)
        cells.append(
            {
                "column": column,
                "row": row,
                "value": None if np.isnan(value) else float(value),
                "design": int(table["design"][chosen]),
                "designs": len(members),
                "outcome": str(table["outcome"][chosen]),
                "sound": str(table["verdict"][chosen]) == "sound",
            }
        )
    return cells


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
