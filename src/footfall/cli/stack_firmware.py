"""`footfall stack firmware`: a sketch for the Teensy, for a scenario with its controller."""

import re
from pathlib import Path

from footfall.cli import stopping
from footfall.cli.screen import out as screen
from footfall.machines.control.lockstep import ClosedLoop
from footfall.realtime.firmware_sketch import sketch
from footfall.record.run_folder import FolderError
from footfall.scenario.catalog import WITH_COMPUTER
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load, with_computer


def write_firmware(name: str, settings: list[str] | None, out: str | None, force: bool) -> int:
    """Write the sketch's folder; never over something that is there, unless told."""
    system = load(with_computer(name), settings or []).system
    if not isinstance(system, ClosedLoop):
        raise ScenarioError(
            f"{name}: this robot has no control computer. Scenarios that have one:"
            f" {', '.join(WITH_COMPUTER.values())}."
        )
    folder = Path(out) if out else Path(f"{Path(name).stem}-firmware")
    # The Arduino tools want a sketch and its folder to have one name, of plain letters.
    title = folder.resolve().name
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", title, re.ASCII):
        raise FolderError(
            f"{folder}: a sketch's folder is named by letters, digits, _, - and dots."
        )
    if folder.exists() and not force:
        raise FolderError(
            f"{folder} is there already; nothing was written. Add --force, or write elsewhere:"
            " --out FOLDER."
        )
    try:
        files = sketch(system, title)
    except ValueError as error:
        raise ScenarioError(f"{name}: {error}") from None
    stopping.hold()
    try:
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise FolderError(f"{folder} could not be written: {error.strerror}.") from None
    law = type(system.controller).__name__
    screen.print(f"wrote {folder}: a sketch for {name} with {law}.", soft_wrap=True)
    screen.print(
        f"next: arduino-cli compile --fqbn teensy:avr:teensy40 {folder}", markup=False,
        soft_wrap=True,
    )  # fmt: skip
    return 0
