"""Many designs, and the best of them."""

import functools
from typing import Annotated

import typer

from footfall.cli.calling import guarded, loading, study
from footfall.cli.options import (
    Accept,
    AsJson,
    Event,
    Force,
    PictureStyle,
    Plots,
    Settings,
    Style,
    Trust,
)

app = typer.Typer()
command = functools.partial(app.command, rich_help_panel="Designs")


@command()
def sweep(
    name: Annotated[
        str | None, typer.Argument(help="A scenario's name, or the path of a scenario file.")
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=A:B:N[:log]",
            help="Vary a key over N values, or over a list A,B,C; repeatable: a full grid.",
        ),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(
            metavar="sobol:N|lhs:N",
            help="Spread N designs over ranges KEY=LOW:HIGH or KEY=LOW:HIGH:log instead of a grid.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the sample (default 0).")] = None,
    designs: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Designs listed in a .csv or .parquet file; its columns are keys."
        ),
    ] = None,
    settings: Settings = None,
    trust: Trust = False,
    out: Annotated[
        str | None, typer.Option(help="Folder to write (default: sweeps/<scenario>-<time>).")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with the sweep in --out: only what is missing or damaged."
        ),
    ] = False,
    duration: Annotated[
        str | None, typer.Option(help='Seconds to simulate, such as 30 or "2 min".')
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(help='Fixed step, such as "1 ms" (default: one that suits each design).'),
    ] = None,
    rtol: Annotated[
        float | None,
        typer.Option(help="Tolerance instead of fixed steps, such as 1e-8: each design its own."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="rk4 (default), rk2, semi-implicit-euler or linearly-implicit."),
    ] = None,
    precision: Annotated[str | None, typer.Option(help="float64 (default) or float32.")] = None,
    track: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OUTPUT", help="Keep mean, rms, min and max of an output; repeatable."
        ),
    ] = None,
    path: Annotated[
        str | None, typer.Option(help="auto (default), gpu, cpp or xla: what the batch runs on.")
    ] = None,
    shard_size: Annotated[int | None, typer.Option(help="Designs per file and task.")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Start this many Dask workers here, one core each.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Use a Dask cluster: tcp://host:port.")
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help=(
                "What the picture shows (default: mean_speed); with --resume a finished sweep is"
                " drawn again."
            )
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on standard output.")
    ] = False,
    plots: Plots = True,
    style: Style = PictureStyle.screen,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing sweep.")] = False,
    accept_doubt: Annotated[
        bool,
        typer.Option("--accept-doubt", help="A doubtful verdict does not make the exit status 3."),
    ] = False,
) -> None:
    """Simulate many designs of a scenario.

    A Parquet dataset that can be resumed, a picture, a summary.
    """
    with loading():
        from footfall.cli.sweep import sweep_designs
        from footfall.cli.sweep_request import SweepRequest

    request = SweepRequest(
        name=name,
        vary=vary or [],
        sample=sample,
        seed=seed,
        designs=designs,
        settings=settings or [],
        out=out,
        duration=duration,
        step=step,
        rtol=rtol,
        method=method,
        precision=precision,
        track=track or [],
        path=path,
        shard_size=shard_size,
        workers=workers,
        scheduler=scheduler,
        metric=metric,
        resume=resume,
        force=force,
        as_json=as_json,
        plots=plots,
        style=style.value,
        accept_doubt=accept_doubt,
    )
    guarded(sweep_designs, request)


@command()
def design(
    name: Annotated[str, typer.Argument(help="A scenario's name, or the path of its file.")],
    free: Annotated[
        str | None,
        typer.Option(
            metavar="KEY[=FROM:TO],...",
            help="Keys that may change (range: a quarter of their value to four times it; *: all"
            " others that a motion plan can tune).",
        ),
    ] = None,
    settings: Settings = None,
    trust: Trust = False,
    minimise: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EXPRESSION",
            help="Figures to make small, such as cost_of_transport (default) or motor_work /"
            " distance. Two objectives give the front between them.",
        ),
    ] = None,
    maximise: Annotated[
        list[str] | None,
        typer.Option(metavar="EXPRESSION", help="Figures to make large, such as mean_speed."),
    ] = None,
    subject_to: Annotated[
        list[str] | None,
        typer.Option(metavar='"EXPRESSION >= NUMBER"', help="What must hold; repeatable."),
    ] = None,
    event: Event = None,
    starts: Annotated[
        int | None, typer.Option(help="Searches from as many places (default: 3).")
    ] = None,
    points: Annotated[int | None, typer.Option(help="Designs of a front (default: 12).")] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder to write (default: designs/<scenario>-<time>).")
    ] = None,
    as_json: AsJson = False,
    plots: Plots = True,
    style: Style = PictureStyle.screen,
    force: Force = False,
    accept_doubt: Accept = False,
) -> None:
    """Find values of some keys with which a robot is best.

    Judged at its periodic gait, or by its motion plan, with exact derivatives: what limits it, and
    what each key is worth.

    With two objectives, the front between them: what one costs in the other.
    """
    given = {
        "free": free,
        "minimise": ";".join(minimise or []),
        "maximise": ";".join(maximise or []),
        "subject_to": ";".join(subject_to or []),
        "event": event,
        "starts": starts,
        "points": points,
    }
    study("design", name, settings, given, (out, as_json, plots, force, accept_doubt, style.value))


@command(deprecated=True)
def optimise(
    name: Annotated[
        str, typer.Argument(help="The scenario of a motion plan, or the path of its file.")
    ],
    settings: Settings = None,
    trust: Trust = False,
    ranges: Annotated[
        list[str] | None,
        typer.Option("--range", metavar="KEY=A:B", help="Range of a knob; repeatable."),
    ] = None,
    points: Annotated[int | None, typer.Option(help="Designs of the front (default: 12).")] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder to write (default: designs/<scenario>-<time>).")
    ] = None,
    as_json: AsJson = False,
    plots: Plots = True,
    style: Style = PictureStyle.screen,
    force: Force = False,
    accept_doubt: Accept = False,
) -> None:
    """What time costs in energy: now `design --minimise electrical_energy --minimise t_end`."""
    given = {
        "minimise": "electrical_energy;t_end",
        "free": ",".join([*(ranges or []), "*"]),
        "points": points,
    }
    study("design", name, settings, given, (out, as_json, plots, force, accept_doubt, style.value))
