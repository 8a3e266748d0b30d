"""The summary as a person reads it."""

import math
from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from footfall.engines.analysis.summary import Summary
from footfall.hybrid.motion_plan import Figure
from footfall.hybrid.outcome import Outcome
from footfall.record.trajectory import Trajectory
from footfall.record.verdict import Verdict
from footfall.scenario.load import Experiment
from footfall.sweep.words import counted

#: First what the robot does, then what it costs; the rest follows in the order it was computed.
FIRST = (
    "mean_speed",
    "step_time",
    "step_length",
    "yaw_rate",
    "turn_radius",
    "cost_of_transport",
    "motor_work_per_step",
    "mean_power",
)
#: A robot of many segments has more states than a person reads; they are in the run folder.
MOST_STATES = 24
#: With fewer rows to a step than this a picture does not show how it is made.
FEW_ROWS = 8
# The last has a line of its own: another window.
HIDDEN = ("distance", "steps", "motor_work", "least_leg_force")


def summary_table(
    summary: Summary, experiment: Experiment, run: Trajectory, seconds: float
) -> RenderableType:
    """Outcome, metrics, ledger, events."""
    ok = run.outcome.name in experiment.about.success
    head = Text.assemble(
        (experiment.about.title or summary.scenario, "bold"), f"  ({summary.scenario})"
    )
    end = Text.assemble(
        "outcome: ", (run.ending.sentence, "green" if ok and run.verdict.sound else "yellow")
    )
    with_ = (
        [Text(f"with: {experiment.said_overrides()}", style="dim")] if experiment.overrides else []
    )
    parts: list[RenderableType] = [head, *with_, end, *verdict_lines(run.verdict)]
    if run.outcome is Outcome.reached_end and not ok:
        parts.append(
            Text(
                f"time is up, and it has not {' or '.join(experiment.about.success)}",
                style="yellow",
            )
        )
    if not ok and 0 < len(run.ending.state) <= MOST_STATES:
        state = ", ".join(f"{k} = {v:.4g}" for k, v in run.ending.state.items())
        parts.append(Text(f"state there: {state}", style="dim"))
    parts += [Text(), *([_metrics(summary), Text()] if summary.metrics else []), _ledger(summary)]
    parts.append(_events(summary, run, seconds))
    return Group(*parts)


def verdict_lines(verdict: Verdict) -> list[RenderableType]:
    """Whether to believe a result, right under how it ended."""
    style = "green" if verdict.sound else "bold yellow"
    return [Text.assemble("verdict: ", (line, style)) for line in verdict.lines]


def _metrics(summary: Summary) -> Table:
    window = summary.window
    where = (
        f"{window['from']:.3g} to {window['to']:.3g} s, {counted(window['steps'], 'step')}"
        if window["settled"]
        else ("whole run: it did not settle" if "mean_speed" in summary.metrics else "whole run")
    )
    table = Table(title=f"Motion ({where})", title_justify="left", box=None, padding=(0, 2))
    table.add_column("metric")
    table.add_column("value", justify="right")
    table.add_column("unit")
    metrics = summary.metrics
    for name in [*(n for n in FIRST if n in metrics), *(n for n in metrics if n not in FIRST)]:
        if name not in HIDDEN and metrics[name] is not None:
            table.add_row(name.replace("_", " "), f"{metrics[name]:.5g}", summary.units[name])
    return table


def _ledger(summary: Summary) -> Table:
    ledger = summary.ledger
    table = Table(title="Energy ledger", title_justify="left", box=None, padding=(0, 2))
    table.add_column("entry")
    table.add_column("J", justify="right")
    for name, value in ledger["work"].items():
        table.add_row(f"work in: {name.replace('_', ' ')}", f"{value:+.6g}")
    for name, value in ledger["jump_work"].items():
        table.add_row(f"work in at jumps: {name.replace('_', ' ')}", f"{value:+.6g}")
    for name, value in ledger["losses"].items():
        table.add_row(f"lost in: {name.replace('_', ' ')}", f"{0.0 - value:+.6g}")
    for name, value in ledger["jump_losses"].items():
        if value == 0:
            continue
        table.add_row(f"lost at jumps: {name.replace('_', ' ')}", f"{0.0 - value:+.6g}")
    for name, start in ledger["stored_start"].items():
        table.add_row(
            f"stored, {name.replace('_', ' ')}: {start:.5g} -> {ledger['stored_end'][name]:.5g}",
            f"{ledger['stored_end'][name] - start:+.6g}",
            style="dim",
        )
    table.add_row("change of what is stored", f"{ledger['stored_change']:+.6g}")
    table.add_row(
        f"residual ({ledger['relative_residual']:.1e} of {ledger['throughput']:.4g} J throughput)",
        f"{ledger['residual']:+.1e}",
    )
    return table


def _events(summary: Summary, run: Trajectory, seconds: float) -> Text:
    counts = summary.event_counts()
    said = ", ".join(f"{n} {name}" for name, n in counts.items()) or "none"
    lines = [f"events: {said}"]
    least = summary.metrics.get("least_leg_force")
    if least is not None:
        lines.append(f"least leg force since the first footfall: {least:.5g} N (a leg cannot pull)")
    liftoffs = run.events_named(*run.pushes)
    if liftoffs:
        lines.append(f"lift-off: first at t = {liftoffs[0].t:.6g} s")
    source = run.provenance
    rate = f"{source['sample_rate']:g} Hz samples" if source["sample_rate"] else "jumps only"
    if source.get("engine") == "mujoco":
        lines += _few_rows(summary, run)
        lines.append(f"means are over the rows kept ({rate}); work is summed over every step")
        lines.append(
            f"{counted(run.ending.steps, 'step')} of {source['step']:g} s by {source['solver']},"
            f" {rate}, {seconds:.2f} s"
        )
        return Text("\n" + "\n".join(lines))
    if source.get("engine") == "step":
        lines += _few_rows(summary, run)
        lines.append(
            f"{counted(run.ending.steps, 'fixed step')} of {source['step']:g} s by"
            f" {source['solver']} ({source['path']}), {rate}, {seconds:.2f} s with compilation"
        )
        return Text("\n" + "\n".join(lines))
    if "least_rows_per_arc" in source:
        rate = f"{rate}, {source['least_rows_per_arc']} rows or more between events"
    lines.append(
        f"{counted(run.ending.steps, 'step')} of {source['solver']} (rtol {source['rtol']:g}),"
        f" {rate}, {seconds:.2f} s with compilation"
    )
    return Text("\n" + "\n".join(lines))


def _few_rows(summary: Summary, run: Trajectory) -> list[str]:
    """A line where an engine that keeps samples only has kept too few of them to see a step."""
    window, steps = summary.window, summary.window["steps"]
    kept = int(((run.t >= window["from"]) & (run.t <= window["to"])).sum())
    if not steps or kept >= FEW_ROWS * steps:
        return []
    return [
        f"few rows: {kept / steps:.2g} to a step, between which pictures see nothing. Try a higher"
        " sim.sample_rate."
    ]


def _figure(figure: Figure) -> str:
    """Its value; what is not defined (a zero-moment point where the ground would have to pull) is
    none.
    """
    value = float(figure.values[0])
    return f"{value:.5g}" if math.isfinite(value) else "none"


def plan_table(figures: Mapping[str, Figure], remarks: Sequence[str]) -> RenderableType:
    """What a plan costs, in motion and in poses held still, side by side.

    And what to know of the run.
    """
    table = Table(title="The plan", title_justify="left", box=None, padding=(0, 2))
    for column in ("figure", "in motion", "held still", "unit"):
        table.add_column(
            column, justify="right" if column in ("in motion", "held still") else "left"
        )
    for name, figure in figures.items():
        if name == "outcome" or name.startswith("static_"):
            continue
        still = figures.get(f"static_{name}")
        table.add_row(
            name.replace("_", " "),
            _figure(figure),
            "" if still is None else _figure(still),
            figure.unit,
        )
    return Group(table, *(Text(remark) for remark in remarks))
