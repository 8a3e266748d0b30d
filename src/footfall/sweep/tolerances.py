"""Tolerances of a robot's numbers, as users write them: --tolerance leg.stiffness=10%."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from footfall.numerics.units import UnitError, to_si
from footfall.scenario.document import at, slot_path
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment
from footfall.scenario.vary import Knob, find_knob

#: Of every number of a robot, where nobody says otherwise.
USUAL = 0.05
#: Nobody builds these, so they have no tolerance.
KNOWN = ("gravity",)


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """A number of the robot that is built only so well."""

    key: str
    own: float  #: as the scenario has it
    spread: float  #: either way, as a share of it
    unit: str


def tolerances(experiment: Experiment, texts: Sequence[str]) -> tuple[Tolerance, ...]:
    """Those that were given, or the usual one of every number of the robot and its controller."""
    if not texts:
        return tuple(
            Tolerance(key, value, USUAL, find_knob(experiment, key, key).unit)
            for key, value in _numbers(experiment)
        )
    found: dict[tuple[str, ...], Tolerance] = {}
    for text in texts:
        where = f"--tolerance {text}"
        key, equals, said = (part.strip() for part in text.partition("="))
        if not equals or not said:
            raise ScenarioError(f"{where}: write it as KEY=5%.")
        knob = find_knob(experiment, key, where)
        own = at(experiment.document, knob.path)
        if knob.structural or not knob.number or not isinstance(own, float):
            raise ScenarioError(
                f"{where}: {knob.info.doc} is no number that is built with a spread."
            )
        if not own:
            raise ScenarioError(f"{where}: it is 0, and a share of that is none; --set it first.")
        if knob.path in found:
            raise ScenarioError(f"{where}: {'.'.join(knob.path)} is given twice.")
        found[knob.path] = Tolerance(key, own, _share(said, where), knob.unit)
    return tuple(found.values())


def _share(said: str, where: str) -> float:
    percent = said.endswith("%")
    try:
        value = to_si(said.removesuffix("%").strip(), "") * (0.01 if percent else 1.0)
    except UnitError as error:
        raise ScenarioError(f"{where}: {error}") from None
    if not 0 < value < 1:
        raise ScenarioError(f"{where}: a spread is a share between 0 and 100 %, either way.")
    return value


def _numbers(experiment: Experiment) -> Iterator[tuple[str, float]]:
    """Every number of the robot and its controller that is not zero and does something."""
    idle = {slot_path(slot) for slot in experiment.idle_parts()}
    for top in ("robot", "controller"):
        table = experiment.document.get(top)
        for path, value in _walk(table, (top,)) if isinstance(table, dict) else ():
            if path[:-1] in idle or path[-1] in KNOWN or not value:
                continue
            knob = _knob(experiment, ".".join(path))
            if knob is not None and knob.number and not knob.structural:
                yield _short(experiment, path), value


def _walk(table: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], float]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _walk(value, (*path, key))
        elif isinstance(value, float):
            yield (*path, key), value


def _knob(experiment: Experiment, key: str) -> Knob | None:
    try:
        return find_knob(experiment, key, key)
    except ScenarioError:
        return None


def _short(experiment: Experiment, path: tuple[str, ...]) -> str:
    """The shortest end of a path, of two words at least, that means this key."""
    for words in range(min(2, len(path)), len(path)):
        knob = _knob(experiment, ".".join(path[-words:]))
        if knob is not None and knob.path == path:
            return ".".join(path[-words:])
    return ".".join(path)
