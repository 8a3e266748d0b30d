"""Gaits, and how far a robot may be pushed from them."""

import functools
from typing import Annotated

import typer

from footfall.cli.calling import study
from footfall.cli.options import Accept, AsJson, Event, Force, Plots, Settings, Trust

app = typer.Typer()
command = functools.partial(app.command, rich_help_panel="Gaits")


@command()
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
    study("gait", name, settings, given, options)


@command()
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
    study("follow", name, settings, given, (out, as_json, plots, force, accept_doubt))


@command()
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
    study("basin", name, settings, given, (out, as_json, plots, force, accept_doubt), duration)


@command()
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
    study("robust", name, settings, given, (out, as_json, plots, force, accept_doubt), duration)
