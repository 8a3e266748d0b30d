"""Every kind of part, by the slot it fits and the robots that have that slot.

As plain data that is read without importing a robot.

`known_parts.json` is written from the catalogue by `python -m footfall.scenario.known_parts` (also
by `make format`), and a test says when it is out of date: making every robot and importing JAX
takes two seconds, and `footfall list` should take none.
"""

import json
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("known_parts.json")


class Slot(NamedTuple):
    """A place for a part, in some robots, with the kinds that fit there."""

    slot: str
    robots: list[str]
    kinds: dict[str, str]  #: kind -> its first sentence, or why these robots refuse it
    refused: bool = False


def kept_parts() -> list[Slot]:
    """As it was written last."""
    return [Slot(**entry) for entry in json.loads(FILE.read_text(encoding="utf-8"))]


def made_parts() -> list[Slot]:
    """From the catalogue itself."""
    from footfall.scenario.catalog import PARTS, ROBOTS, kinds_for, refused_kinds
    from footfall.scenario.document import slot_path, slot_types

    # (slot, refused, kind, words) -> robots.
    robots: dict[tuple[str, bool, str, str], list[str]] = {}
    for name, make in ROBOTS.items():
        robot = type(make())
        for slot, slot_type in slot_types(robot).items():
            said = {
                kind: (False, first_sentence(PARTS[kind].__doc__ or ""))
                for kind in kinds_for(slot_type, robot)
            }
            said |= {
                kind: (True, f"{reason}.")
                for kind, reason in refused_kinds(slot_type, robot).items()
            }
            for kind, (refused, words) in said.items():
                robots.setdefault((".".join(slot_path(slot)), refused, kind, words), []).append(
                    name
                )
    # (slot, refused, robots) -> kinds of just these.
    alike: dict[tuple[str, bool, tuple[str, ...]], dict[str, str]] = {}
    for (slot, refused, kind, words), names in robots.items():
        alike.setdefault((slot, refused, tuple(names)), {})[kind] = words
    in_order = sorted(alike.items(), key=lambda item: (item[0][0], item[0][1], -len(item[0][2])))
    return [Slot(slot, list(names), kinds, refused) for (slot, refused, names), kinds in in_order]


def first_sentence(text: str) -> str:
    """Whole, however many lines it takes.

    What a colon announces (a formula, a list) is left to the docstring.
    """
    words = " ".join(text.strip().split("\n\n")[0].split())
    end = words.find(". ")
    words = words if end < 0 else words[: end + 1]
    return f"{words[:-1]}." if words.endswith(":") else words


def main() -> None:
    """Write it."""
    text = json.dumps([slot._asdict() for slot in made_parts()], indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
