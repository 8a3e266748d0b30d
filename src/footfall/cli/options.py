"""Options that several commands have."""

import enum
from typing import Annotated

import typer

from footfall.scenario.trust import answer_by

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
Event = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Event a step ends with (default: the footfall)."),
]
