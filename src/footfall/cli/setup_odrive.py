"""`footfall stack setup-odrive`: the limits of a motor driver, as lines for odrivetool."""

from __future__ import annotations

import re
from collections.abc import Sequence

from footfall.cli.screen import out
from footfall.machines.control.contracts import UnfitDriver
from footfall.machines.control.odrive_firmware import Firmware, firmware_of
from footfall.machines.control.odrive_limits import setup_lines
from footfall.realtime.plant import load_plant
from footfall.scenario.errors import ScenarioError


def print_setup(name: str, settings: Sequence[str], version: str) -> int:
    """The command."""
    firmware = _firmware(version)
    robot = load_plant(name, settings).settings
    axes = robot.motors // robot.boards
    if axes > firmware.axes:
        raise ScenarioError(
            f"A board with firmware {firmware.name} drives one motor, {name} has {robot.motors}."
            f" Try: --set stack.boards={robot.motors}."
        )
    out.print(
        "\n".join(setup_lines(robot, firmware)), soft_wrap=True, markup=False, highlight=False
    )
    return 0


def _firmware(version: str) -> Firmware:
    found = re.fullmatch(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    if found is None:
        raise ScenarioError(f"--firmware {version}: expected a version, such as 0.5.6 or 0.6.11.")
    major, minor, revision = (int(number or 0) for number in found.groups())
    # 0.5 without a revision is the last of them.
    if (major, minor) == (0, 5) and found[3] is None:
        revision = 6
    try:
        return firmware_of((major, minor, revision))
    except UnfitDriver as error:
        raise ScenarioError(f"--firmware {version}: {error}") from None
