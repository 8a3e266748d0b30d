"""What a robustness study says, for people."""

from typing import Any

import numpy as np

from footfall.hybrid.study import Answers, Sheet

#: Metrics whose distribution is told, and what people call them; what is told of each.
METRICS = {"cost_of_transport": "cost of transport", "mean_speed": "mean speed"}
ENDS = ("p5", "median", "p95")


def robust_page(study: Any, found: Answers, took: float | None) -> list[Sheet | str]:
    rows = [answer.row for answer in study.kept(found)]
    parts: list[Sheet | str] = [
        "how it takes tolerances, rough ground and pushes",
        Sheet(
            ["disturbed by", "runs", "falls", "95 %", "instead of walking"],
            [_falls(row) for row in rows],
            left=(0, 4),
        ),
        *_spans(study, rows),
        *_sheets(study, found),
        *(f"Note: {remark}." for remark in study.remarks),
    ]
    total = sum(row["runs"] for row in rows)
    speed = f", {took:.1f} s with compilation" if took is not None else ""
    said = study.summary(found)
    parts.append(f"{total} runs of {study.plan.duration:g} s, {said['path']}{speed}.")
    return parts


def _spans(study: Any, rows: list[dict[str, Any]]) -> list[Sheet]:
    """What the runs that walk cost, and how fast they are."""
    sheets, nominal = [], study.nominal()
    for metric, words in METRICS.items():
        told = [row for row in rows if row[metric]["median"] is not None]
        lines = [[row["source"], *(f"{row[metric][k]:.5g}" for k in ENDS)] for row in told]
        own = nominal[metric]
        if own is not None:
            lines.insert(0, ["nothing", "", f"{own:.5g}", ""])
        if told and any(row[metric]["p95"] or row[metric]["p5"] for row in told):
            title = f"{words} of those that walk".capitalize()
            sheets.append(Sheet(["disturbed by", "5 %", "median", "95 %"], lines, title, (0,)))
    return sheets


def _sheets(study: Any, found: Answers) -> list[Sheet]:
    """Which tolerance matters, for what."""
    sheets = []
    for name, one in study.indices(found).items():
        order = np.argsort(-one.total, kind="stable")[:6]
        rows = [
            [
                f"{study.spreads[n].key} +-{100 * study.spreads[n].spread:g} %",
                f"{one.first[n]:.2f}",
                f"{one.first_range[0, n]:.2f} to {one.first_range[1, n]:.2f}",
                f"{one.total[n]:.2f}",
                f"{one.total_range[0, n]:.2f} to {one.total_range[1, n]:.2f}",
            ]
            for n in order
        ]
        what = METRICS.get(name, "its falls")
        title = f"What explains the variance of {what} (Sobol' indices)"
        columns = ["number", "alone", "95 %", "with others", "95 %"]
        sheets.append(Sheet(columns, rows, title, left=(0,)))
    return sheets


def _falls(row: dict[str, Any]) -> list[str]:
    low, high = row["share_range"]
    share = "" if row["share"] is None else f"{100 * row['share']:.1f} %"
    ends = ", ".join(f"{word.replace('_', ' ')} {n}" for word, n in row["ends"].items())
    return [row["source"], str(row["runs"]), share, f"{100 * low:.1f} to {100 * high:.1f} %", ends]
