"""The `footfall` command."""

import importlib.metadata
import sys
from typing import Annotated

import typer

from footfall.cli import stopping
from footfall.cli.commands import designs, files, gaits, robots, runs, stack, studies
from footfall.scenario.trust import answer_by

app = typer.Typer(
    name="footfall",
    help="Design, simulate and check unconventional legged robots.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verbs in (robots, runs, gaits, designs, studies, files):
    app.add_typer(verbs.app)
app.add_typer(stack.app, name="stack", rich_help_panel="Hardware")


def _ask(question: str) -> bool:
    from footfall.cli.screen import ask_whether_to_run

    return ask_whether_to_run(question)


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
