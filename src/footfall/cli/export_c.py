"""`footfall export-c`: a controller as C, bit for bit what it gives in Python."""

from pathlib import Path

from footfall.cli import stopping
from footfall.cli.screen import out as screen
from footfall.machines.control.controller import AbstractController
from footfall.realtime.controller_c import Exported, exported, exported_pid
from footfall.record.run_folder import FolderError
from footfall.scenario.errors import ScenarioError
from footfall.scenario.own_code import Own, OwnCode, with_defaults


def export_controller(file: str | None, out: str | None, force: bool) -> int:
    """Write UNIT.c and UNIT.h; never over something that is there, unless told."""
    if file is None:
        made, folder = exported_pid(), Path()
    else:
        own = _found(file)
        made, folder = exported(with_defaults(own), own.file), own.file.parent
    folder = folder if out is None else Path(out)
    paths = [folder / f"{made.unit}{suffix}" for suffix in (".h", ".c")]
    there = [path.name for path in paths if path.exists()]
    if there and not force:
        raise FolderError(
            f"{' and '.join(there)} in {folder.resolve()} would be overwritten; nothing was"
            " written. Add --force, or write elsewhere: --out FOLDER."
        )
    stopping.hold()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, made.files, strict=True):
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FolderError(f"{folder} could not be written: {error.strerror}.") from None
    _tell(made, paths)
    return 0


def _found(file: str) -> Own:
    """The controller of a file: the one that is named, or the only one."""
    name, colon, wanted = file.partition(":")
    path = Path(name)
    if not path.is_file():
        raise ScenarioError(
            f"there is no file {path}. Expected: footfall export-c my_controller.py, or without a"
            " file for the PID that comes with footfall."
        )
    own = OwnCode(path.parent.resolve(), "The command")
    if colon:
        return own.named(f"{path.name}:{wanted}", AbstractController, "controller")
    found = own.all_in(path.name, AbstractController, "controller")
    if not found:
        raise ScenarioError(
            f"{path}: there is no controller in it, no whole subclass of"
            " footfall.authoring.AbstractController with its rest and update. See"
            " docs/how-to/own-controller.md."
        )
    if len(found) > 1:
        raise ScenarioError(
            f"{path}: there are {len(found)} controllers in it, {', '.join(found)}. Name one:"
            f" footfall export-c {file}:{next(iter(found))}"
        )
    return next(iter(found.values()))


def _tell(made: Exported, paths: list[Path]) -> None:
    library = [line for line in made.files.source.splitlines() if "<math.h>:" in line]
    needs = "it needs the C library's math (-lm)" if library else "it needs no C library"
    screen.print(
        f"wrote {' and '.join(map(str, paths))}: C99, {needs}.\n\n[bold]Call it[/]", soft_wrap=True
    )
    for line in made.call:
        screen.print(f"  {line}", markup=False, soft_wrap=True)
