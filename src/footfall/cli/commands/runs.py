"""One run, and what is drawn of it."""

import functools
from typing import Annotated

import typer

from footfall.cli.calling import guarded, loading, study
from footfall.cli.options import (
    Accept,
    AsJson,
    Force,
    PictureStyle,
    PlotPage,
    Plots,
    Settings,
    Style,
    Trust,
)

app = typer.Typer()
command = functools.partial(app.command, rich_help_panel="Runs and pages")


@command()
def run(
    name: Annotated[str, typer.Argument(help="A scenario's name, or the path of a scenario file.")],
    settings: Settings = None,
    trust: Trust = False,
    out: Annotated[
        str | None, typer.Option(help="Folder to write (default: runs/<scenario>-<time>).")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(help='Seconds to simulate, such as 30 or "2 min".')
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on standard output.")
    ] = False,
    plots: Annotated[
        PlotPage, typer.Option(help="Panels of the plot page: what matters most, or all there is.")
    ] = PlotPage.main,
    no_plots: Annotated[bool, typer.Option("--no-plots", help="Draw no plot page.")] = False,
    style: Style = PictureStyle.screen,
    animate: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also write an animation (.gif).")
    ] = None,
    page: Annotated[
        str | None,
        typer.Option(metavar="FILE.html", help="Also write the run as a page, to be replayed."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite an existing run folder.")
    ] = False,
    accept_doubt: Accept = False,
) -> None:
    """Run a scenario: print its summary, write its run folder.

    The exit status is 0 for an outcome that the scenario calls success, 1 for another, and 3 for a
    success with a doubtful verdict.
    """
    with loading():
        from footfall.cli.run import run_scenario

    guarded(
        run_scenario,
        name,
        settings or [],
        out,
        duration,
        as_json,
        None if no_plots else plots.value,
        style.value,
        animate,
        force,
        accept_doubt,
        page,
    )


@command("compare-integrators")
def compare(
    name: Annotated[str, typer.Argument(help="A scenario's name, or the path of a scenario file.")],
    settings: Settings = None,
    trust: Trust = False,
    duration: Annotated[
        str | None,
        typer.Option(
            help="Seconds to compare over (default: 0.2 s, or the scenario's if shorter)."
        ),
    ] = None,
    solvers: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C",
            help='Methods by their names in sim.solver, or "all" (default: one of each kind).',
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER|FILE.png",
            help="Folder to write, or its picture (default: comparisons/<scenario>-<time>).",
        ),
    ] = None,
    as_json: AsJson = False,
    plots: Plots = True,
    style: Style = PictureStyle.screen,
    force: Force = False,
    accept_doubt: Accept = False,
) -> None:
    """Compare integrators on a scenario.

    Error against evaluations and time, as a table and a picture.

    Adaptive methods run at three tolerances, fixed-step ones at a series of halved steps;
    sim.solver, sim.step and the tolerances of the scenario play no part.
    """
    study(
        "compare-integrators",
        name,
        settings,
        {"solvers": solvers, "duration": duration},
        (out, as_json, plots, force, accept_doubt, style.value),
        duration,
    )


@command()
def bodies(
    name: Annotated[
        str, typer.Argument(help="The scenario of a robot that MuJoCo steps, such as urchin-walk.")
    ],
    settings: Settings = None,
    trust: Trust = False,
    picture: Annotated[
        str | None, typer.Option(metavar="FILE.png", help="Write a picture of it.")
    ] = None,
    mjcf: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.xml", help="Write it as MJCF, for MuJoCo and what else reads that."
        ),
    ] = None,
    at: Annotated[str, typer.Option(help="Time of the run at which the picture is taken.")] = "1 s",
) -> None:
    """A robot of rigid bodies as a picture, rendered offscreen, and as an MJCF file."""
    with loading():
        from footfall.cli.bodies import show_bodies

    guarded(show_bodies, name, settings or [], picture, mjcf, at)


@command()
def share(
    name: Annotated[
        str, typer.Argument(help="A scenario's name or file, or the folder of a recorded run.")
    ],
    ghost: Annotated[
        str | None,
        typer.Argument(
            metavar="[GHOST]", help="The folder of a second run, to be seen beside the first."
        ),
    ] = None,
    settings: Settings = None,
    trust: Trust = False,
    out: Annotated[
        str | None, typer.Option(metavar="FILE.html", help="The page (default: <scenario>.html).")
    ] = None,
    force: Annotated[bool, typer.Option(help="Overwrite an existing page.")] = False,
) -> None:
    """Make a page in which the robot runs: one HTML file, for any browser, offline too.

    It is simulated in the page, with a slider for every number of the scenario; a recorded run is
    replayed in it, a second one beside it as a ghost.
    """
    with loading():
        from footfall.cli.share import share_scenario

    guarded(share_scenario, name, ghost, settings or [], out, force)


@command()
def view(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN | SWEEP | SCENARIO]", help="What to open first (default: the list)."
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1 (default: a free one).")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address.")
    ] = False,
    trust: Trust = False,
) -> None:
    """Open a local page: scenarios live or run, recorded runs replayed, sweeps as heat maps.

    It lists what comes with footfall and what lies in this folder; Ctrl-C ends it.
    """
    with loading():
        from footfall.cli.view import view_pages

    guarded(view_pages, target, port, not no_browser, trust)
