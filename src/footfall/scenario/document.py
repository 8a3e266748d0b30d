"""A scenario as nested tables: the defaults of its robot, then the file, then what `--set` says.

title, about, look_for, success
[robot] kind + its own parameters      [robot.SLOT] kind + parameters of that part
[terrain] [controller] [gait] [stack]  slots that are tables of their own
[start] [sim]
"""

import dataclasses
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from footfall.hybrid.fields import FieldInfo, describe, nearest, switched_names
from footfall.hybrid.system import AbstractHybridSystem
from footfall.scenario.catalog import kind_of, kinds_for, robot_by_kind
from footfall.scenario.errors import ScenarioError
from footfall.scenario.schema import AboutTable, SimTable

TOP_SLOTS = ("terrain", "controller", "gait", "stack")
TABLES = ("robot", *TOP_SLOTS, "start", "sim")
Document = dict[str, Any]
SETTABLE = ("param", "choice", "numbers", "switches", "text")


def slot_types(cls: type) -> dict[str, type]:
    """Slots of a robot class: field name -> type a part must have."""
    fields = {f.name: f for f in dataclasses.fields(cls)}
    return {name: fields[name].type for name, info in describe(cls).items() if info.role == "part"}


def slot_path(slot: str) -> tuple[str, ...]:
    """Where a slot's table stands in the file."""
    return (slot,) if slot in TOP_SLOTS else ("robot", slot)


def own_values(part: Any) -> Document:
    """The parameters of one part, without its slots."""
    return {name: _plain(getattr(part, name), info) for name, info in describe(part).items() if info.role in SETTABLE}


def _plain(value: Any, info: FieldInfo) -> Any:
    if value is None:
        return "auto"
    if info.role == "switches":
        return switched_names(value, info.options)
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, int | str) else float(value)


def default_document(system: AbstractHybridSystem, kind: str) -> Document:
    """Every key a scenario of this robot may have, with its default."""
    document: Document = {**AboutTable().model_dump(), "robot": {"kind": kind, **own_values(system)}}
    for slot in slot_types(type(system)):
        table = at(document, slot_path(slot)[:-1])
        part = getattr(system, slot)
        table[slot] = {"kind": kind_of(part), **own_values(part)}
    document["start"] = own_values(type(system).Start())
    document["sim"] = {name: "auto" if v is None else v for name, v in SimTable().model_dump().items()}
    return document


def at(document: Document, path: tuple[str, ...]) -> Any:
    """The value at a path."""
    for key in path:
        document = document[key]
    return document


def merged(given: Document, where: str, folder: Path | None) -> tuple[Document, AbstractHybridSystem]:
    """A complete document: the robot's defaults under what the file gives. Unknown keys are errors here."""
    robot = given.get("robot")
    if not isinstance(robot, dict) or not isinstance(robot.get("kind"), str):
        raise ScenarioError(f'{where}: a scenario needs a [robot] table with a kind, such as kind = "rimless-wheel".')
    try:
        system = robot_by_kind(robot["kind"], folder)
    except ScenarioError as error:
        raise ScenarioError(f"{where}: [robot] {error}") from None
    document = default_document(system, robot["kind"])
    _overlay(document, given, (), where, type(system))
    return document, system


def _overlay(base: Document, given: Document, path: tuple[str, ...], where: str, robot: type) -> None:
    slots = {slot_path(slot): cls for slot, cls in slot_types(robot).items()}
    if path in slots and "kind" in given:
        choose_kind(base, path, given["kind"], where, slots[path])
    for key, value in given.items():
        here = (*path, key)
        if key not in base:
            known = [k for k in base if k != "kind"]
            inside = f"[{'.'.join(path)}] " if path else ""
            what = "table" if isinstance(value, dict) else "key"
            hint = " (this robot has no such part)" if key in TOP_SLOTS else ""
            raise ScenarioError(
                f'{where}: {inside}"{key}" is not a known {what}{hint}.\n  Known: {", ".join(known)}.{nearest(key, known)}'
            )
        if isinstance(base[key], dict):
            if not isinstance(value, dict):
                raise ScenarioError(f"{where}: [{'.'.join(here)}] must be a table, got {value!r}.")
            _overlay(base[key], value, here, where, robot)
        elif isinstance(value, dict):
            raise ScenarioError(f"{where}: {'.'.join(here)} is one value, not a table.")
        elif not (key == "kind" and (path in slots or path == ("robot",))):
            base[key] = value


def choose_kind(table: Document, path: tuple[str, ...], kind: Any, where: str, slot_type: type) -> None:
    """Put another kind of part into a slot, with its defaults."""
    kinds = kinds_for(slot_type)
    short = {cls.nickname: name for name, cls in kinds.items() if getattr(cls, "nickname", None)}
    if isinstance(kind, str):
        kind = short.get(kind, kind)  # "pid", where only one kind of it fits
    if kind == table.get("kind"):
        return
    if not isinstance(kind, str) or kind not in kinds:
        slot = path[-1]
        raise ScenarioError(
            f'{where}: [{".".join(path)}] kind = "{kind}" does not fit this robot\'s {slot}.\n'
            f"  Known kinds: {', '.join(kinds) or table.get('kind')}.{nearest(str(kind), kinds)}"
        )
    table.clear()
    table.update({"kind": kind, **own_values(kinds[kind]())})


def paths(document: Document, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key and table of a document, tables included."""
    for key, value in document.items():
        yield (*path, key)
        if isinstance(value, dict):
            yield from paths(value, (*path, key))


def find_path(document: Document, name: str, where: str) -> tuple[str, ...]:
    """The one path that ends with `name`: "torso.pitch_setpoint" finds robot.torso.pitch_setpoint."""
    wanted = tuple(name.strip().split("."))
    every = list(paths(document))
    if wanted in every:
        return wanted
    found = [p for p in every if p[-len(wanted) :] == wanted]
    if len(found) == 1:
        return found[0]
    if found:
        raise ScenarioError(f'{where}: "{name}" could be any of: {", ".join(map(".".join, found))}. Write more of the path.')
    known = [".".join(p) for p in every]
    tails = known + [p[-1] for p in every] + [".".join(p[-2:]) for p in every]
    raise ScenarioError(
        f'{where}: there is no key "{name}" in this scenario.{nearest(name, tails)} `footfall show` lists them all.'
    )


def apply_settings(document: Document, settings: list[str], robot: type) -> None:
    """Apply `slot=kind` and `key=value`, kinds first, so that `leg=stiffening` and a field of it may come in any order."""
    slots = {slot_path(slot): cls for slot, cls in slot_types(robot).items()}
    pairs = []
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ScenarioError(
                f'--set {text}: write it as key=value, such as --set leg.stiffness="20000 N/m" or --set leg=stiffening.'
            )
        pairs.append((name.strip(), _value(value.strip()), f"--set {text}"))
    top = {k: v for k, v in document.items() if k in TABLES}
    rest = []
    for name, value, where in pairs:
        wanted = tuple(name.removesuffix(".kind").split("."))
        slot = [p for p in slots if p[-len(wanted) :] == wanted]
        if len(slot) == 1 and (option := _option_of(at(document, slot[0]), slots[slot[0]], value)):
            rest.append((f"{'.'.join(slot[0])}.{option}", value, where))
        elif len(slot) == 1 and isinstance(value, str):
            choose_kind(at(document, slot[0]), slot[0], value, where, slots[slot[0]])
        else:
            rest.append((name, value, where))
    for name, value, where in rest:
        path = find_path(top, name, where)
        if isinstance(at(document, path), dict):
            raise ScenarioError(f"{where}: {'.'.join(path)} is a table; set one of its keys: {', '.join(at(document, path))}.")
        if path == ("robot", "kind"):
            raise ScenarioError(
                f"{where}: the robot cannot be changed by --set; start from another scenario (`footfall list`)."
            )
        at(document, path[:-1])[path[-1]] = value


def _option_of(table: Document, slot_type: type, value: Any) -> str | None:
    """`gait=wave`: the choice of the part in a slot that has this word among its options, where no kind of part is called so."""
    kinds = kinds_for(slot_type)
    if not isinstance(value, str) or value in kinds or table.get("kind") not in kinds:
        return None
    infos = describe(kinds[table["kind"]]).items()
    found = [name for name, info in infos if info.role == "choice" and value in info.options]
    return found[0] if len(found) == 1 else None


def _value(text: str) -> Any:
    """A TOML value where it is one (0.6, true, [1, 2], "4 deg"), else the bare text (4 deg, stiffening)."""
    try:
        return tomllib.loads(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        return text
