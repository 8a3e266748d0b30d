"""Studies of one question."""

import functools
from typing import Annotated

import typer

from footfall.cli.calling import guarded, loading, study
from footfall.cli.options import Accept, AsJson, Force, PictureStyle, Plots, Settings, Style, Trust

app = typer.Typer()
command = functools.partial(app.command, rich_help_panel="Studies")


@command()
def crossing(
    name: Annotated[
        str,
        typer.Argument(
            help="A scenario with one gap, such as centipede-gap, or the path of its file."
        ),
    ],
    settings: Settings = None,
    trust: Trust = False,
    widths: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C",
            help='Widths of the gap, such as "25 mm,50 mm" (default: seven, 25 to 200 mm).',
        ),
    ] = None,
    arrivals: Annotated[
        int | None,
        typer.Option(help="Runs a cell, each arriving elsewhere in its stride (default: 10)."),
    ] = None,
    spread: Annotated[
        str | None,
        typer.Option(help="Length over which arrivals are spread (default: a stride, 60 mm)."),
    ] = None,
    vary: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=A:B:N[:log]",
            help="One more number, over N values or a list A,B,C: a map of robustness.",
        ),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(help="Time a run is given to get over (default: the scenario's).")
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            help="Fixed step of all runs (default: one that suits each, at most sim.batch_step)."
        ),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="semi-implicit-euler (the scenario's), rk4 or rk2.")
    ] = None,
    precision: Annotated[str | None, typer.Option(help="float64 (default) or float32.")] = None,
    path: Annotated[
        str | None, typer.Option(help="auto (default), gpu, cpp or xla: what the batch runs on.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder to write (default: crossings/<scenario>-<time>).")
    ] = None,
    as_json: AsJson = False,
    plots: Plots = True,
    style: Style = PictureStyle.screen,
    force: Force = False,
    accept_doubt: Accept = False,
) -> None:
    """Count how often a robot gets over gaps.

    Every combination of its reflexes, seven widths, ten arrivals, as one batch.
    """
    given = {
        "widths": widths,
        "arrivals": arrivals,
        "spread": spread,
        "vary": vary,
        "step": step,
        "method": method,
        "precision": precision,
        "path": path,
    }
    study(
        "crossing",
        name,
        settings,
        given,
        (out, as_json, plots, force, accept_doubt, style.value),
        duration,
    )


@command()
def compliance(
    name: Annotated[
        str,
        typer.Argument(help="A scenario of a robot with spring-like feet, such as urchin-walk."),
    ],
    settings: Settings = None,
    trust: Trust = False,
    stiffness: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C",
            help="Vertical stiffness of the feet in N/m (default: seven, 400 to 7000).",
        ),
    ] = None,
    height: Annotated[
        str | None, typer.Option(help="Height of the highest bump (default: 4 mm).")
    ] = None,
    grounds: Annotated[
        int | None, typer.Option(help="How many bumpy grounds each stiffness walks (default: 3).")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(help="Time of each run (default: the scenario's).")
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder to write (default: compliance/<scenario>-<time>).")
    ] = None,
    as_json: AsJson = False,
    plots: Plots = True,
    style: Style = PictureStyle.screen,
    force: Force = False,
    accept_doubt: Accept = False,
) -> None:
    """Compare soft and stiff feet.

    Peak force of the ground and tracking against K_y, on level ground and over bumps.
    """
    given = {"stiffness": stiffness, "height": height, "grounds": grounds}
    study(
        "compliance",
        name,
        settings,
        given,
        (out, as_json, plots, force, accept_doubt, style.value),
        duration,
    )


@command()
def reproduce(
    source: Annotated[
        str, typer.Argument(help="A source document: 000 to 004, or its robot (water-runner).")
    ],
    items: Annotated[
        list[str] | None,
        typer.Argument(help="Its figures, tables and functions (fig-1); none: all of them."),
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder to write (default: sources/source-<number>-<time>).")
    ] = None,
    as_json: AsJson = False,
    style: Style = PictureStyle.screen,
    force: Force = False,
    accept_doubt: Accept = False,
) -> None:
    """Make the figures, tables and functions of a source again.

    What the source shows, our numbers beside the printed ones, its errata, and pictures.
    """
    with loading():
        from footfall.cli.reproduce import reproduce_source
        from footfall.cli.study import Options

    options = Options(out, as_json, True, force, accept_doubt, style.value)
    guarded(reproduce_source, source, items or [], options)
