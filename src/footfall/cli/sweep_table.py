"""The summary of a sweep as a person reads it."""

import shlex
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from footfall.hybrid.doubt import DOUBTS
from footfall.hybrid.outcome import Outcome
from footfall.scenario.load import Experiment
from footfall.sweep.manifest import SCENARIO, Manifest
from footfall.sweep.words import counted, grouped


def sweep_table(
    summary: dict[str, Any], experiment: Experiment, manifest: Manifest
) -> RenderableType:
    """Outcomes, best designs, what ran and how fast."""
    units = {axis["key"]: axis["unit"] for axis in manifest.designs["axes"]}
    parts: list[RenderableType] = [
        Text.assemble((experiment.about.title or manifest.name, "bold"), f"  ({manifest.name})"),
        Text(f"{counted(summary['designs'], 'design')} of {', '.join(units)}; {_span(summary)}\n"),
        _outcomes(summary, experiment),
    ]
    if summary["best"] or summary["fastest"]:
        parts.append(_best(summary, units))
    if summary["doubts"]:
        parts.append(_doubts(summary))
    if summary["worst_residual"] is not None:
        parts.append(
            Text(f"largest relative residual of an energy ledger: {summary['worst_residual']:.1e}")
        )
    parts.append(Text("\n".join(_conditions(summary))))
    return Group(*parts)


def _outcomes(summary: dict[str, Any], experiment: Experiment) -> Table:
    table = Table(
        title="Outcomes", title_justify="left", box=None, padding=(0, 2), show_header=False
    )
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for name, count in summary["outcomes"].items():
        share = f"{100 * count / summary['designs']:.3g} %"
        style = "green" if name in experiment.about.success else "yellow"
        unsure = summary["doubtful"].get(name, 0)
        said = Text.assemble(
            Outcome(name).meaning or name.replace("_", " "),
            (f"; {grouped(unsure)} doubtful", "bold yellow") if unsure else "",
        )
        table.add_row(Text(name, style=style), grouped(count), share, said)
    return table


def _doubts(summary: dict[str, Any]) -> Table:
    """How many designs should not be believed, and why."""
    count = sum(summary["doubtful"].values())
    title = Text(
        f"Doubtful: {counted(count, 'design')}; their outcome may be wrong (column verdict)",
        style="bold yellow",
    )
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2), show_header=False)
    table.add_column(no_wrap=True, style="yellow")
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for name, count in summary["doubts"].items():
        table.add_row(name, grouped(count), DOUBTS.get(name, ""))
    if summary["step_source"] == "given":
        table.caption = "The step was given. Without --step each design takes one that suits it."
    return table


def _best(summary: dict[str, Any], units: dict[str, str]) -> Table:
    table = Table(
        title="Best designs", title_justify="left", box=None, padding=(0, 2), show_header=False
    )
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for label, unit, found in (
        ("least cost of transport", "", summary["best"]),
        ("fastest", " m/s", summary["fastest"]),
    ):
        if found is not None:
            words = [
                f"{key} = {_quantity(value, units[key])}" for key, value in found["values"].items()
            ]
            table.add_row(
                label,
                f"{found['metric']:.5g}{unit}",
                Text(f"design {found['number']}: {', '.join(words)}"),
            )
    return table


def _quantity(value: Any, unit: str) -> str:
    return value if isinstance(value, str) else f"{value:.5g} {unit}".strip()


def _conditions(summary: dict[str, Any]) -> list[str]:
    workers = f"; {counted(summary['workers'], 'worker')}" if summary["workers"] else ""
    lines = [
        (
            "evaluated along each plan, which has its own time"
            if summary["planned"]
            else f"each design its own steps, rtol {summary['rtol']:g}, {summary['precision']}"
            if summary.get("rtol")
            else (
                f"step {summary['step']:.4g} s ({summary['step_source']}), {summary['method']},"
                f" {summary['precision']}"
            )
        ),
        *([] if summary.get("rtol") else _steps(summary)),
        f"path: {'; '.join(summary['paths'])}{workers}",
        *summary["notes"],
    ]
    if summary["robots_per_second"]:
        now, rate = counted(summary["computed_now"], "robot"), grouped(summary["robots_per_second"])
        there = f"; {grouped(summary['found'])} were there already" if summary["found"] else ""
        lines.append(
            f"{now} simulated in {summary['seconds']:.2f} s with compilation: {rate} robots per"
            f" second{there}"
        )
        lines.append(
            f"{summary['seconds_in_all']:.2f} s in all since Python was up, with checking, choosing"
            " the step and drawing"
        )
    else:
        lines.append("nothing was left to do: every shard is there and whole")
    return lines


def _steps(summary: dict[str, Any]) -> list[str]:
    """How many designs ran with which step, where that is not said yet."""
    if [used["step"] for used in summary["steps"]] in ([], [summary["step"]]):
        return []
    each = [f"{grouped(used['designs'])} with {used['step']:.4g} s" for used in summary["steps"]]
    return [
        "stiff designs, and those that a shorter step might change, have shorter steps:"
        f" {', '.join(each)}"
    ]


def run_alone(summary: dict[str, Any]) -> str:
    """The command that runs the best design by itself, with the event engine.

    Nothing when no design got anywhere.
    """
    found = summary["best"] or summary["fastest"]
    if found is None:
        return ""
    settings = " ".join(
        f"--set {shlex.quote(f'{key}={value}')}" for key, value in found["values"].items()
    )
    scenario = shlex.quote(f"{summary['folder']}/{SCENARIO}")
    return f"footfall run {scenario} {settings}"


def _span(summary: dict[str, Any]) -> str:
    return "a plan each" if summary["planned"] else f"{summary['duration']:g} s each"
