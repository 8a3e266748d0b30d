"""Which parts of a scenario can be exchanged, and for what: for the local page.

From the catalogue and the scenario's own file, read as data; nothing in it is executed.
"""

import tomllib
from pathlib import Path
from typing import Any

from footfall.scenario.catalog import ROBOTS, kind_of
from footfall.scenario.document import slot_path, slot_types
from footfall.scenario.known_parts import kept_parts


def parts_of(file: Path) -> list[dict[str, Any]]:
    """The slots of its robot that more than one part fits.

    Each {key, now, kinds, refused}: as --set has it (`leg=stiffening`), the kind that the file has,
    and kind -> a sentence, of those that fit and of those that the robot refuses. None for a robot
    of one's own: its code is not run to find out.
    """
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    robot = _table(given, ("robot",)).get("kind")
    if robot not in ROBOTS:
        return []
    made = ROBOTS[robot]()
    slots = {".".join(slot_path(slot)): slot for slot in slot_types(type(made))}
    found: dict[str, dict[str, Any]] = {}
    for entry in kept_parts():
        if robot in entry.robots and entry.slot in slots:
            kinds, refused = ({}, entry.kinds) if entry.refused else (entry.kinds, {})
            slot = found.setdefault(entry.slot, {"kinds": {}, "refused": {}})
            slot["kinds"] |= kinds
            slot["refused"] |= refused
    said = []
    for key, slot in found.items():
        path = tuple(key.split("."))
        own = _table(given, path).get("kind") or _table(given, path[-1:]).get("kind")
        now = own or kind_of(getattr(made, slots[key]))
        if set(slot["kinds"]) - {now}:
            said.append({"key": key.removeprefix("robot."), "now": str(now), **slot})
    return said


def _table(given: Any, path: tuple[str, ...]) -> dict[str, Any]:
    """A table of the file, empty where there is none."""
    for key in path:
        given = given.get(key) if isinstance(given, dict) else None
    return given if isinstance(given, dict) else {}
