"""A robot as it stands in its file."""

import functools
from typing import Annotated

import typer

from footfall.cli.calling import guarded, loading
from footfall.cli.options import AsJson, Settings, Trust

app = typer.Typer()
command = functools.partial(app.command, rich_help_panel="Robots")


@command("list")
def list_scenarios() -> None:
    """List the scenarios that come with footfall, and the parts they can use."""
    from footfall.cli.listing import list_all

    list_all()


@command()
def show(
    name: Annotated[str, typer.Argument(help="A scenario's name, or the path of its file.")],
    settings: Settings = None,
    trust: Trust = False,
) -> None:
    """Show a scenario with every key, its value, unit and meaning."""
    with loading():
        from footfall.cli.show import show_scenario

    guarded(show_scenario, name, settings or [])


@command()
def check(
    name: Annotated[str, typer.Argument(help="A scenario's name, or the path of its file.")],
    settings: Settings = None,
    trust: Trust = False,
) -> None:
    """Check a scenario file, and that its robot keeps the contract of a hybrid system."""
    with loading():
        from footfall.cli.check import check_scenario

    guarded(check_scenario, name, settings or [])


@command()
def new(
    name: Annotated[str, typer.Argument(help="What the folder and its robot are to be called.")],
    begin: Annotated[
        str | None,
        typer.Option("--from", metavar="CLASSIC", help="Begin with a classic of `footfall list`."),
    ] = None,
) -> None:
    """Write a small robot of your own, its scenario and its test into a new folder."""
    with loading():
        from footfall.cli.new import new_robot

    guarded(new_robot, name, begin)


@command()
def doctor(as_json: AsJson = False) -> None:
    """Say what this machine has of what footfall can use, and what would add the rest."""
    with loading():
        from footfall.cli.doctor import diagnose

    guarded(diagnose, as_json)
