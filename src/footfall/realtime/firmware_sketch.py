"""A sketch for the Teensy, ready to flash: the firmware with a scenario's constants and controller.

With the shipped law the sources are those of firmware/teensy, with footfall_config.h for the
scenario. With a controller of one's own its law stands in pid.h and pid.c, where the shipped one
stands else, and settings.c fills in its numbers by their names.
"""

from __future__ import annotations

from footfall.machines.control.lockstep import ClosedLoop
from footfall.realtime.firmware_build import firmware_folder, sources_for
from footfall.realtime.plant import stack_settings


def sketch(system: ClosedLoop, name: str) -> dict[str, str]:
    """Path -> text of a sketch for this robot, in a folder of this name."""
    program = (firmware_folder() / "footfall_mid" / "footfall_mid.ino").read_text()
    sources = sources_for(stack_settings(system))
    return {f"{name}.ino": program} | {f"src/{file}": text for file, text in sources.items()}
