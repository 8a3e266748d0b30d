"""Files for other programs."""

import functools
from typing import Annotated

import typer

from footfall.cli.calling import guarded, loading
from footfall.cli.options import Settings, Trust

app = typer.Typer()
command = functools.partial(app.command, rich_help_panel="Files for other programs")


@command()
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
    with loading():
        from footfall.cli.export import export as export_file

    guarded(export_file, name, kind, out, settings or [], duration, force)


@command("export-c")
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
    with loading():
        from footfall.cli.export_c import export_controller

    guarded(export_controller, file, out, force)
