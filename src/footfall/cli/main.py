"""The `footfall` command."""

import contextlib
import enum
import importlib.metadata
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from footfall.cli import stopping
from footfall.cli.runtime import prepare
from footfall.scenario.trust import answer_by

app = typer.Typer(
    name="footfall",
    help="Design, simulate and check unconventional legged robots.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a value or a part; repeatable."),
]


Accept = Annotated[
    bool, typer.Option("--accept-doubt", help="A doubtful verdict does not make the exit status 3.")
]


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Plots = Annotated[bool, typer.Option("--plots/--no-plots", help="Draw the picture.")]


class PlotPage(enum.StrEnum):
    """Which panels a plot page has."""

    main = "main"
    all = "all"


class PictureStyle(enum.StrEnum):
    """For a screen, or a column of a paper."""

    screen = "screen"
    paper = "paper"


Style = Annotated[
    PictureStyle,
    typer.Option(help="paper: vectors (PDF) of a column's width, 3.5 in, for a publication."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing folder.")]


def _ask(question: str) -> bool:
    from footfall.cli.screen import ask_whether_to_run

    return ask_whether_to_run(question)


def _trust(told: bool) -> bool:
    if told:
        answer_by(lambda _: True)
    return told


Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        callback=_trust,
        help="Run the code a scenario file names; remembered for its folder.",
    ),
]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"footfall {importlib.metadata.version('footfall')}")
        raise typer.Exit


@app.callback()
def _before(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    answer_by(_ask)


@app.command("list")
def list_scenarios() -> None:
    """List the scenarios that come with footfall, and the parts they can use."""
    from footfall.cli.listing import list_all

    list_all()


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Say what this machine has of what footfall can use, and what would add the rest."""
    with _loading():
        from footfall.cli.doctor import diagnose

    _guarded(diagnose, as_json)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A scenario's name, or the path of its file.")],
    settings: Settings = None,
    trust: Trust = False,
) -> None:
    """Show a scenario with every key, its value, unit and meaning."""
    with _loading():
        from footfall.cli.show import show_scenario

    _guarded(show_scenario, name, settings or [])


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="A scenario's name, or the path of its file.")],
    settings: Settings = None,
    trust: Trust = False,
) -> None:
    """Check a scenario file, and that its robot keeps the contract of a hybrid system."""
    with _loading():
        from footfall.cli.check import check_scenario

    _guarded(check_scenario, name, settings or [])


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="What the folder and its robot are to be called.")],
    begin: Annotated[
        str | None,
        typer.Option("--from", metavar="CLASSIC", help="Begin with a classic of `footfall list`."),
    ] = None,
) -> None:
    """Write a small robot of your own, its scenario and its test into a new folder."""
    with _loading():
        from footfall.cli.new import new_robot

    _guarded(new_robot, name, begin)


@app.command()
def export(
    name: Annotated[
        str, typer.Argument(help="A scenario's name or file, or for tables the folder of a run.")
    ],
    kind: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="mjcf|urdf|csv|mcap|parquet|netcdf",
            help="The robot (mjcf, urdf) or a run of it.",
        ),
    ],
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="File to write (default: NAME and ending).")
    ] = None,
    settings: Settings = None,
    duration: Annotated[str | None, typer.Option(help="How long to simulate.")] = None,
    trust: Trust = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a robot as MJCF or URDF, or a run as a table."""
    with _loading():
        from footfall.cli.export import export as export_file

    _guarded(export_file, name, kind, out, settings or [], duration, force)


@app.command("export-c")
def export_c(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE.py[:CLASS]]",
            help="A controller of your own (default: the PID that comes with footfall).",
        ),
    ] = None,
    trust: Trust = False,
    out: Annotated[
        str | None, typer.Option(help="Folder to write to (default: where the file is).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Write a controller as C, for a microcontroller: a .c file and its header."""
    with _loading():
        from footfall.cli.export_c import export_controller

    _guarded(export_controller, file, out, force)


@app.command()
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
    with _loading():
        from footfall.cli.run import run_scenario

    _guarded(
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


@app.command()
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
    with _loading():
        from footfall.cli.share import share_scenario

    _guarded(share_scenario, name, ghost, settings or [], out, force)


@app.command()
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
    with _loading():
        from footfall.cli.view import view_pages

    _guarded(view_pages, target, port, not no_browser, trust)


@app.command("compare-integrators")
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
    _study(
        "compare-integrators",
        name,
        settings,
        {"solvers": solvers, "duration": duration},
        (out, as_json, plots, force, accept_doubt, style.value),
        duration,
    )


Event = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Event a step ends with (default: the footfall)."),
]


@app.command()
def gait(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A scenario's name, or the path of its file (default: that of the run of --from)."
        ),
    ] = None,
    settings: Settings = None,
    trust: Trust = False,
    event: Event = None,
    count: Annotated[
        int | None, typer.Option(help="Events in a period: 2 for a gait of two steps (default: 1).")
    ] = None,
    leg: Annotated[
        int | None, typer.Option(help="Of like legs, the one whose event it is (default: 0).")
    ] = None,
    vary: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=FROM:TO",
            help="Where there is no gait, find the nearest value of this key at which there is.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Compare its multipliers with differences of its map.")
    ] = False,
    free_clock: Annotated[
        bool,
        typer.Option(
            "--free-clock",
            help="Of a robot with a control computer: let its clock run on through footfalls, and"
            " find steps that come out even with it.",
        ),
    ] = False,
    run: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="RUN",
            help="Begin where the run in this folder comes nearest to repeating itself.",
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder to write (default: gaits/<scenario>-<time>).")
    ] = None,
    page: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Also write the gait as a live page, one .html file, in which it is disturbed"
            " along its modes.",
        ),
    ] = None,
    as_json: AsJson = False,
    plots: Plots = True,
    force: Force = False,
    accept_doubt: Accept = False,
) -> None:
    """Find the periodic gait of a robot, and say how it goes and whether it is stable.

    Speed, step time, cost of transport, and what becomes of small disturbances.
    """
    if name is None and run is None:
        raise typer.BadParameter("name a scenario, or a run with --from.")
    given = {"event": event, "count": count, "leg": leg, "run": run, "vary": vary}
    given |= {"free_clock": "yes" if free_clock else None}
    given |= {"check": "differences" if check else None}
    options = (out, as_json, plots, force, accept_doubt, "screen", page)
    _study("gait", name, settings, given, options)


@app.command()
def follow(
    name: Annotated[str, typer.Argument(help="A scenario's name, or the path of its file.")],
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=FROM:TO",
            help="The number to follow the gait over (energy: of a robot that conserves it); a"
            " second one: curves of its folds and period doublings over both.",
        ),
    ],
    settings: Settings = None,
    trust: Trust = False,
    event: Event = None,
    count: Annotated[
        int | None, typer.Option(help="Events in a period: 2 for a gait of two steps (default: 1).")
    ] = None,
    points: Annotated[
        int | None, typer.Option(help="Points to each side, at most (default: 100).")
    ] = None,
    doublings: Annotated[
        int | None, typer.Option(help="Times that branches which leave are followed (default: 2).")
    ] = None,
    walks: Annotated[
        int | None,
        typer.Option(
            help="Values at most at which the robot is let walk where its gait is unstable"
            " (default: 48)."
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder to write (default: branches/<scenario>-<time>).")
    ] = None,
    as_json: AsJson = False,
    plots: Plots = True,
    force: Force = False,
    accept_doubt: Accept = False,
) -> None:
    """Follow the gait of a robot over one of its numbers.

    Where it is stable, folds, period doublings, torus points, and where it ends.
    """
    given = {
        "vary": ";".join(vary),
        "event": event,
        "count": count,
        "points": points,
        "doublings": doublings,
        "walks": walks,
    }
    _study("follow", name, settings, given, (out, as_json, plots, force, accept_doubt))


@app.command()
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
    _study("design", name, settings, given, (out, as_json, plots, force, accept_doubt, style.value))


@app.command(deprecated=True)
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
    _study("design", name, settings, given, (out, as_json, plots, force, accept_doubt, style.value))


@app.command()
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
    _study(
        "crossing",
        name,
        settings,
        given,
        (out, as_json, plots, force, accept_doubt, style.value),
        duration,
    )


@app.command()
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
    _study(
        "compliance",
        name,
        settings,
        given,
        (out, as_json, plots, force, accept_doubt, style.value),
        duration,
    )


@app.command()
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
    with _loading():
        from footfall.cli.reproduce import reproduce_source
        from footfall.cli.study import Options

    options = Options(out, as_json, True, force, accept_doubt, style.value)
    _guarded(reproduce_source, source, items or [], options)


@app.command()
def basin(
    name: Annotated[str, typer.Argument(help="A scenario's name, or the path of a scenario file.")],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=LOW:HIGH",
            help="A side of the box of starts: a number of [start], or any other; give two.",
        ),
    ] = None,
    resolution: Annotated[
        int | None,
        typer.Option(help="Parts of each side that the edge is found to (default: 512)."),
    ] = None,
    settings: Settings = None,
    trust: Trust = False,
    duration: Annotated[
        str | None, typer.Option(help="Time of each run (default: the scenario's).")
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder to write (default: basins/<scenario>-<time>).")
    ] = None,
    as_json: AsJson = False,
    plots: Plots = True,
    force: Force = False,
    accept_doubt: Accept = False,
) -> None:
    """From which starts a robot walks.

    The walking set over two numbers, its edge, its area, and the smallest push out of it.
    """
    given = {"vary": "; ".join(vary or []), "resolution": resolution}
    _study("basin", name, settings, given, (out, as_json, plots, force, accept_doubt), duration)


@app.command()
def robust(
    name: Annotated[str, typer.Argument(help="A scenario's name, or the path of a scenario file.")],
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=5%",
            help="Spread of a number, either way; repeatable (default: 5 % of every number).",
        ),
    ] = None,
    ground: Annotated[
        str | None,
        typer.Option(help="Roughness of the ground, rms height (default: 1 % of a footstep)."),
    ] = None,
    push: Annotated[
        float | None,
        typer.Option(help="Largest push, as a share of each rate in the gait (default: 0.2)."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="Runs of each kind, rounded up to 2^n (default: 256).")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of all that is drawn (default: 0).")] = None,
    settings: Settings = None,
    trust: Trust = False,
    duration: Annotated[
        str | None, typer.Option(help="Time of each run (default: the scenario's).")
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder to write (default: robust/<scenario>-<time>).")
    ] = None,
    as_json: AsJson = False,
    plots: Plots = True,
    force: Force = False,
    accept_doubt: Accept = False,
) -> None:
    """How often a robot falls, and what walking costs, when something is not as planned.

    Its numbers within tolerances, rough ground, pushes; and which numbers matter.
    """
    given = {
        "tolerance": "; ".join(tolerance or []),
        "ground": ground,
        "push": push,
        "runs": runs,
        "seed": seed,
    }
    _study("robust", name, settings, given, (out, as_json, plots, force, accept_doubt), duration)


@app.command()
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
    with _loading():
        from footfall.cli.bodies import show_bodies

    _guarded(show_bodies, name, settings or [], picture, mjcf, at)


@app.command()
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
    with _loading():
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
    _guarded(sweep_designs, request)


stack = typer.Typer(
    no_args_is_help=True,
    help="The control stack against the clock: three programs, serial lines, a log.",
)
app.add_typer(stack, name="stack")


@stack.command("run")
def stack_run(
    name: Annotated[
        str,
        typer.Argument(
            help="A robot with a control computer, such as rimless-wheel, or a scenario file."
        ),
    ],
    settings: Settings = None,
    trust: Trust = False,
    duration: Annotated[
        float | None, typer.Option(help="Seconds (default: 20, or until the operator stops).")
    ] = None,
    script: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help=(
                "Operate by lines of time, action and value, such as `5 setpoint 0.7` (default:"
                " built in)."
            ),
        ),
    ] = None,
    joystick: Annotated[
        str | None,
        typer.Option(metavar="DEVICE", help="Operate by joystick, such as /dev/input/js0."),
    ] = None,
    replay_operator: Annotated[
        str | None, typer.Option(metavar="LOG", help="Operate as in the run that left this log.")
    ] = None,
    mid: Annotated[
        str,
        typer.Option(help="python, or firmware: the Teensy's own program built for this machine."),
    ] = "python",
    noise: Annotated[
        float,
        typer.Option(help="Share of bytes to garble on the line to the mid level, such as 0.01."),
    ] = 0.0,
    sensor_noise: Annotated[
        float,
        typer.Option(
            help="Standard deviation of the emulated pitch sensor, in rad, such as 0.002."
        ),
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of both kinds of noise.")] = 0,
    port: Annotated[
        str | None,
        typer.Option(help="Real robot: serial port of the Teensy, such as /dev/ttyACM0."),
    ] = None,
    imu_port: Annotated[
        str | None,
        typer.Option(
            help=(
                "Real robot: serial port of the pitch sensor; before it, with a colon, bno085-rvc"
                " or bno055, and pitch, -pitch, roll or -roll: bno085-rvc:-pitch:/dev/ttyUSB0."
            )
        ),
    ] = None,
    driver_port: Annotated[
        list[str] | None,
        typer.Option(help="Real robot: serial port of the motor driver; repeat for each board."),
    ] = None,
    driver_serial: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                'Real robot: serial number of the motor driver, by the vendor\'s package ("": any);'
                " repeat for each board."
            )
        ),
    ] = None,
    reset_gpio: Annotated[
        str | None,
        typer.Option(
            metavar="CHIP:LINE",
            help="Real robot: pin of the Teensy's reset line, such as gpiochip0:17.",
        ),
    ] = None,
    priority: Annotated[
        bool,
        typer.Option(
            "--priority/--no-priority",
            help="Ask the system for real-time scheduling; without it, go on.",
        ),
    ] = True,
    out: Annotated[
        str | None, typer.Option(help="Folder to write (default: runs/stack-<scenario>-<time>).")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite an existing run folder.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on standard output.")
    ] = False,
    dashboard: Annotated[
        bool, typer.Option("--dashboard/--no-dashboard", help="Show how it goes.")
    ] = True,
) -> None:
    """Run the three levels in real time.

    On an emulated robot, or on a real one over its ports.

    Status 0: it ended as planned, without a fault.
    """
    with _loading():
        from footfall.cli.stack import StackRequest, run_stack

    request = StackRequest(
        name=name,
        settings=settings or [],
        duration=duration,
        script=script,
        joystick=joystick,
        replay_operator=replay_operator,
        mid=mid,
        noise=noise,
        sensor_noise=sensor_noise,
        seed=seed,
        port=port,
        imu_port=imu_port,
        driver_port=driver_port or (),
        driver_serial=driver_serial or (),
        reset_gpio=reset_gpio,
        priority=priority,
        out=out,
        force=force,
        as_json=as_json,
        dashboard=dashboard,
    )
    _guarded(run_stack, request)


@stack.command("setup-odrive")
def stack_setup_odrive(
    name: Annotated[
        str,
        typer.Argument(
            help="A robot with a control computer, such as rimless-wheel, or a scenario file."
        ),
    ],
    settings: Settings = None,
    trust: Trust = False,
    firmware: Annotated[
        str, typer.Option(help="Of the motor driver: 0.5.6, or 0.6.11; odrivetool tells it.")
    ] = "0.5.6",
) -> None:
    """Print what to type into odrivetool, once, for this robot: every limit that it needs.

    At its start `footfall stack run` reads them back and says which one is not so.
    """
    with _loading():
        from footfall.cli.setup_odrive import print_setup

    _guarded(print_setup, name, settings or [], firmware)


@stack.command("devices")
def stack_devices(
    name: Annotated[
        str,
        typer.Argument(
            help="A robot with a control computer, such as rimless-wheel, or a scenario file."
        ),
    ],
    settings: Settings = None,
    trust: Trust = False,
    mid: Annotated[
        str,
        typer.Option(help="python, or firmware: the Teensy's own program built for this machine."),
    ] = "python",
    sensor_noise: Annotated[
        float,
        typer.Option(
            help="Standard deviation of the emulated pitch sensor, in rad, such as 0.002."
        ),
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of the noise.")] = 0,
    priority: Annotated[
        bool,
        typer.Option(
            "--priority/--no-priority",
            help="Ask the system for real-time scheduling; without it, go on.",
        ),
    ] = True,
    out: Annotated[
        str | None,
        typer.Option(
            help="Folder of the devices meanwhile (default: runs/devices-<scenario>-<time>)."
        ),
    ] = None,
) -> None:
    """Emulate a robot's devices, each behind a pseudo-terminal, until Ctrl-C.

    For a rehearsal of a real robot's command line, or a supervisor of your own.
    """
    with _loading():
        from footfall.cli.stack import StackRequest, run_devices

    request = StackRequest(
        name=name,
        settings=settings or [],
        mid=mid,
        sensor_noise=sensor_noise,
        seed=seed,
        priority=priority,
        out=out,
    )
    _guarded(run_devices, request)


@stack.command("firmware")
def stack_firmware(
    name: Annotated[
        str,
        typer.Argument(
            help="A robot with a control computer, such as rimless-wheel, or a scenario file."
        ),
    ],
    settings: Settings = None,
    trust: Trust = False,
    out: Annotated[
        str | None, typer.Option(help="Folder of the sketch (default: NAME-firmware).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
) -> None:
    """Write a sketch for the Teensy that is ready to flash: constants, and the controller as C."""
    with _loading():
        from footfall.cli.stack_firmware import write_firmware

    _guarded(write_firmware, name, settings, out, force)


LogFile = Annotated[str, typer.Argument(metavar="LOG", help="stack.mcap of a run, or its folder.")]
LogScenario = Annotated[
    str | None, typer.Option(help="Scenario to compare with (default: the log's own).")
]


@stack.command("replay")
def stack_replay(
    log: LogFile,
    scenario: LogScenario = None,
    settings: Settings = None,
    trust: Trust = False,
    delay: Annotated[
        float,
        typer.Option(
            help="Age of a pitch when it reaches the supervisor, in s; `stack fit` tells it."
        ),
    ] = 0.0,
    picture: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.png", help="Where to draw (default: replay.png beside the log)."
        ),
    ] = None,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw both.")] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on standard output.")
    ] = False,
    accept_doubt: Accept = False,
) -> None:
    """Compare a log with the same programs in lockstep under the same operator.

    The log may be of an emulated robot or of a real one.
    """
    with _loading():
        from footfall.cli.stack_replay import replay_log

    _guarded(replay_log, log, scenario, settings, delay, picture, plots, as_json, accept_doubt)


@stack.command("fit")
def stack_fit(
    log: LogFile,
    scenario: LogScenario = None,
    settings: Settings = None,
    trust: Trust = False,
    picture: Annotated[
        str | None,
        typer.Option(metavar="FILE.png", help="Where to draw (default: fit.png beside the log)."),
    ] = None,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw what was found.")] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on standard output.")
    ] = False,
    accept_doubt: Accept = False,
) -> None:
    """Find friction, delay and motor constant with which the model walks as a log says."""
    with _loading():
        from footfall.cli.stack_replay import fit_log

    _guarded(fit_log, log, scenario, settings, picture, plots, as_json, accept_doubt)


def _study(
    verb: str,
    name: str | None,
    settings: list[str] | None,
    given: dict[str, object],
    options: tuple[object, ...],
    duration: str | None = None,
) -> None:
    """Ask a study, with what was `given` of its request."""
    with _loading():
        from footfall.cli.study import Options, ask

    _guarded(ask, verb, name, settings or [], given, Options(*options), duration)


@contextlib.contextmanager
def _loading() -> Iterator[None]:
    """What takes a second or more to import is imported in here, with a word on the terminal.

    `list`, --help and --version need none of it.
    """
    if not sys.stderr.isatty():
        prepare()
        yield
        return
    from footfall.cli.phases import Phases

    with Phases("loading"):
        prepare()
        yield


def _guarded(command, *arguments) -> None:
    """Bad input ends with status 2 and its own words; the rest of the status is the command's."""
    from footfall.cli.screen import fail
    from footfall.hybrid.compose import NamesClash
    from footfall.hybrid.fields import ParameterError
    from footfall.numerics.shown import bounded
    from footfall.record.run_folder import FolderError
    from footfall.scenario.errors import ScenarioError
    from footfall.sweep.errors import SweepError

    stopping.at_once("nothing was written.")
    try:
        status = command(*arguments)
    except (ScenarioError, FolderError, SweepError, NamesClash) as error:
        fail(str(error))
        raise typer.Exit(2) from None
    except ParameterError as error:  # found only when the run was made ready
        fail(bounded(str(error)))
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        raise typer.Exit(stopping.stopped("nothing was written.")) from None
    if status:
        raise typer.Exit(status)


def main() -> None:
    """The command, from its arguments to its status.

    `footfall.__main__` is where a process begins.
    """
    stopping.watch()
    try:
        app()
    except SystemExit as ending:
        stopping.end(ending.code)
        raise
    except BrokenPipeError:  # `footfall show ... | head`
        sys.stderr.close()
        raise SystemExit(0) from None


if __name__ == "__main__":
    main()
