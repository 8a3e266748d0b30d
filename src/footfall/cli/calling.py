"""How every command calls what it does: what is loaded late, and how errors become a status."""

import contextlib
import sys
from collections.abc import Iterator

import typer

from footfall.cli import stopping
from footfall.cli.runtime import prepare


@contextlib.contextmanager
def loading() -> Iterator[None]:
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


def guarded(command, *arguments) -> None:
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


def study(
    verb: str,
    name: str | None,
    settings: list[str] | None,
    given: dict[str, object],
    options: tuple[object, ...],
    duration: str | None = None,
) -> None:
    """Ask a study, with what was `given` of its request."""
    with loading():
        from footfall.cli.study import Options, ask

    guarded(ask, verb, name, settings or [], given, Options(*options), duration)
