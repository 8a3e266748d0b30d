"""A scenario as nested tables: the defaults of its robot, then the file, then what `--set` says.

title, about, look_for, success
[robot] kind + its own parameters      [robot.SLOT] kind + parameters of that part
[terrain] [controller] [gait] [stack]  slots that are tables of their own
[start] [sim]
"""

import dataclasses
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import tomli_w

from footfall.hybrid.fields import FieldInfo, describe, nearest, refusal, switched_names
from footfall.hybrid.system import AbstractHybridSystem
from footfall.numerics.shown import clipped, shown
from footfall.scenario.catalog import kind_of, kinds_for, refused_kinds, robot_by_kind
from footfall.scenario.errors import ScenarioError
from footfall.scenario.own_code import OwnCode, names_code, with_defaults
from footfall.scenario.schema import SETTABLE, AboutTable, SimTable

TOP_SLOTS = ("terrain", "controller", "gait", "stack")
TABLES = ("robot", *TOP_SLOTS, "start", "sim")
Document = dict[str, Any]
#: Characters of one value on the command line: a route or a list of numbers, not a file.
LONGEST_SETTING = 10_000
_DEEP_KEY = re.compile(r"""(?<![\w"'-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){50}""")


def slot_types(cls: type) -> dict[str, type]:
    """Slots of a robot class: field name -> type a part must have."""
    fields = {f.name: f for f in dataclasses.fields(cls)}
    return {name: fields[name].type for name, info in describe(cls).items() if info.role == "part"}


def slot_path(slot: str) -> tuple[str, ...]:
    """Where a slot's table stands in the file."""
    return (slot,) if slot in TOP_SLOTS else ("robot", slot)


def own_values(part: Any) -> Document:
    """The parameters of one part, without its slots."""
    return {
        name: _plain(getattr(part, name), info)
        for name, info in describe(part).items()
        if info.role in SETTABLE
    }


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
    return document_of(system, kind, type(system).Start(), SimTable())


def document_of(system: AbstractHybridSystem, kind: str, start: Any, sim: SimTable) -> Document:
    """The scenario of a robot as it is; without a start where that is no table."""
    document: Document = {
        **AboutTable().model_dump(),
        "robot": {"kind": kind, **own_values(system)},
    }
    for slot in slot_types(type(system)):
        table = at(document, slot_path(slot)[:-1])
        part = getattr(system, slot)
        table[slot] = {"kind": kind_of(part), **own_values(part)}
    document["start"] = {} if start is None else own_values(start)
    used = SimTable.used_by(system)
    document["sim"] = {
        name: "auto" if v is None else v for name, v in sim.model_dump(include=used).items()
    }
    return document


def at(document: Document, path: tuple[str, ...]) -> Any:
    """The value at a path."""
    for key in path:
        document = document[key]
    return document


def merged(given: Document, where: str, own: OwnCode) -> tuple[Document, AbstractHybridSystem]:
    """A complete document: the robot's defaults under what the file gives.

    Unknown keys are errors here. `own` finds classes in the user's files, and keeps them.
    """
    robot = given.get("robot")
    if not isinstance(robot, dict) or not isinstance(robot.get("kind"), str):
        raise ScenarioError(
            f"{where}: a scenario needs a [robot] table with a kind, such as kind ="
            ' "rimless-wheel".'
        )
    try:
        system = robot_by_kind(robot["kind"], own)
    except ScenarioError as error:
        raise ScenarioError(f"{where}: [robot] {error}") from None
    document = default_document(system, robot["kind"])
    _overlay(document, given, (), where, type(system), own)
    return document, system


def _overlay(
    base: Document, given: Document, path: tuple[str, ...], where: str, robot: type, own: OwnCode
) -> None:
    slots = {slot_path(slot): cls for slot, cls in slot_types(robot).items()}
    if path in slots and "kind" in given:
        choose_kind(base, path, given["kind"], where, slots[path], robot, own)
    for key, value in given.items():
        here = (*path, key)
        if key not in base:
            known = [k for k in base if k != "kind"]
            inside = f"[{'.'.join(path)}] " if path else ""
            what = "table" if isinstance(value, dict) else "key"
            hint = " (this robot has no such part)" if key in TOP_SLOTS else ""
            hint = (
                " (MuJoCo steps this robot and has no use for it)"
                if path == ("sim",) and key in SimTable.model_fields
                else hint
            )
            raise ScenarioError(
                f'{where}: {inside}"{clipped(key)}" is not a known'
                f" {what}{hint}.{nearest(key, known)}\n"
                f"  Known: {', '.join(known)}."
            )
        if isinstance(base[key], dict):
            if not isinstance(value, dict):
                raise ScenarioError(
                    f"{where}: [{'.'.join(here)}] must be a table, got {shown(value)}."
                )
            _overlay(base[key], value, here, where, robot, own)
        elif isinstance(value, dict):
            raise ScenarioError(f"{where}: {'.'.join(here)} is one value, not a table.")
        elif not (key == "kind" and (path in slots or path == ("robot",))):
            base[key] = value


def choose_kind(
    table: Document,
    path: tuple[str, ...],
    kind: Any,
    where: str,
    slot_type: type,
    robot: type,
    own: OwnCode,
) -> None:
    """Put another kind of part into a slot, with its defaults."""
    kinds = kinds_for(slot_type, robot)
    short = {cls.nickname: name for name, cls in kinds.items() if getattr(cls, "nickname", None)}
    if isinstance(kind, str):
        kind = short.get(kind, kind)  # "pid", where only one kind of it fits
    if kind == table.get("kind"):
        return
    reason = refused_kinds(slot_type, robot).get(kind) if isinstance(kind, str) else None
    if names_code(kind):
        try:
            values = own_values(with_defaults(own.named(kind, slot_type, path[-1])))
        except ScenarioError as error:
            raise ScenarioError(f"{where}: [{'.'.join(path)}] {error}") from error.__cause__
        reason = refusal(robot, own.classes[kind])
    if reason or not isinstance(kind, str) or not (kind in kinds or names_code(kind)):
        raise ScenarioError(
            f"{where}: [{'.'.join(path)}] kind = {_quoted(kind)} does not fit this robot's"
            f" {path[-1]}{f': {reason}' if reason else ''}.\n"
            f"  Known kinds: {', '.join(kinds) or table.get('kind')}."
            f"{nearest(kind, kinds) if isinstance(kind, str) else ''}"
        )
    table.clear()
    table.update({"kind": kind, **(values if names_code(kind) else own_values(kinds[kind]()))})


def _quoted(kind: Any) -> str:
    return f'"{clipped(kind)}"' if isinstance(kind, str) else shown(kind)


def paths(document: Document, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key and table of a document, tables included."""
    for key, value in document.items():
        yield (*path, key)
        if isinstance(value, dict):
            yield from paths(value, (*path, key))


def find_path(document: Document, name: str, where: str) -> tuple[str, ...]:
    """The one path that ends with `name`: "torso.pitch_setpoint" finds robot.torso.pitch_setpoint.

    One word alone is not enough where another table has a key that ends with it: "mass", where
    there are robot.torso.mass and robot.wheel_mass. It is where the key found stands above the
    others: robot.friction, above robot.spike.hinge_friction.
    """
    wanted = tuple(name.strip().split("."))
    every = list(paths(document))
    if wanted in every:
        return wanted
    found = [p for p in every if p[-len(wanted) :] == wanted]
    if len(found) == 1 and len(wanted) == 1:
        (path,) = found
        rivals = [p for p in every if p[-1].endswith(f"_{wanted[0]}") and p[0] == path[0]]
        found += [p for p in rivals if p[:-1] != path[:-1] and len(p) <= len(path)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ScenarioError(
            f'{where}: "{clipped(name)}" could be any of: {", ".join(map(".".join, found))}. Write'
            " more of the path."
        )
    known = [".".join(p) for p in every]
    tails = known + [p[-1] for p in every] + [".".join(p[-2:]) for p in every]
    raise ScenarioError(
        f'{where}: there is no key "{clipped(name)}" in this scenario.{nearest(name, tails)}'
        " `footfall show` lists them all."
    )


def apply_settings(
    document: Document, settings: list[str], robot: type, own: OwnCode, said: str = "--set "
) -> list[tuple[str, ...]]:
    """Apply `slot=kind` and `key=value`, kinds first.

    So `leg=stiffening` and a field of it may come in any order.

    `said` is what stands before a setting in a message: "--set ", or nothing where it came as a
    dictionary.

    Returns the full paths of what was set, as the settings came.
    """
    slots = {slot_path(slot): cls for slot, cls in slot_types(robot).items()}
    pairs = []
    for text in settings:
        name, equals, value = text.partition("=")
        where = f"{said}{clipped(text)}"
        if not equals or not name.strip():
            raise ScenarioError(
                f'{where}: write it as key=value, such as --set leg.stiffness="20000 N/m" or --set'
                " leg=stiffening."
            )
        pairs.append((name.strip(), _value(value.strip(), where), where))
    top = {k: v for k, v in document.items() if k in TABLES}
    rest, changed = [], {}
    for place, (name, value, where) in enumerate(pairs):
        wanted = tuple(name.removesuffix(".kind").split("."))
        slot = [p for p in slots if p[-len(wanted) :] == wanted]
        if len(slot) == 1 and (
            option := _option_of(at(document, slot[0]), slots[slot[0]], value, own)
        ):
            rest.append((place, f"{'.'.join(slot[0])}.{option}", value, where))
        elif len(slot) == 1 and isinstance(value, str):
            choose_kind(at(document, slot[0]), slot[0], value, where, slots[slot[0]], robot, own)
            changed[place] = (*slot[0], "kind")
        else:
            rest.append((place, name, value, where))
    for place, name, value, where in rest:
        path = find_path(top, name, where)
        if isinstance(at(document, path), dict):
            raise ScenarioError(
                f"{where}: {'.'.join(path)} is a table; set one of its keys:"
                f" {', '.join(at(document, path))}."
            )
        if path == ("robot", "kind"):
            raise ScenarioError(
                f"{where}: the robot cannot be changed by {said.strip() or 'a setting'}; start from"
                " another scenario (`footfall list`)."
            )
        if path[-1] == "kind" and path[:-1] in slots:
            choose_kind(
                at(document, path[:-1]), path[:-1], value, where, slots[path[:-1]], robot, own
            )
        else:
            at(document, path[:-1])[path[-1]] = value
        changed[place] = path
    return [changed[place] for place in sorted(changed)]


def _option_of(table: Document, slot_type: type, value: Any, own: OwnCode) -> str | None:
    """`gait=wave`: the choice of the part in a slot that has this word among its options, where no
    kind of part is called so.
    """
    kinds = kinds_for(slot_type) | own.classes
    if not isinstance(value, str) or value in kinds or table.get("kind") not in kinds:
        return None
    infos = describe(kinds[table["kind"]]).items()
    found = [name for name, info in infos if info.role == "choice" and value in info.options]
    return found[0] if len(found) == 1 else None


def _value(text: str, where: str) -> Any:
    """A TOML value where it is one (0.6, true, [1, 2], "4 deg"), else the bare text (4 deg,
    stiffening).
    """
    if len(text) > LONGEST_SETTING:
        raise ScenarioError(
            f"{where}: {len(text)} characters are too long for a value (at most {LONGEST_SETTING})."
        )
    if not all(c.isprintable() or c in "\n\t" for c in text):
        raise ScenarioError(f"{where}: there is a character in it that is no text.")
    try:
        return read_tables(f"v = {text}").get("v", text)
    except ValueError:
        return text


def write_tables(
    document: Document, unit_of: Callable[[tuple[str, ...]], str], path: tuple[str, ...] = ()
) -> str:
    """A document as TOML, with the unit of each quantity as a comment.

    The numbers stay numbers, to the last digit.
    """
    lines = [f"[{'.'.join(path)}]\n"] if path else []
    tables = {key: value for key, value in document.items() if isinstance(value, dict)}
    for key, value in document.items():
        if key not in tables:
            unit = unit_of((*path, key)) if value != "auto" else ""
            lines.append(
                tomli_w.dumps({key: value}).rstrip("\n") + (f"  # {unit}" if unit else "") + "\n"
            )
    inner = [write_tables(table, unit_of, (*path, key)) for key, table in tables.items()]
    return "\n".join(["".join(lines), *inner] if lines else inner)


def read_tables(text: str) -> Document:
    """The tables of a TOML text; ValueError, with Python's or our words, for whatever is none."""
    # The parser's time grows with the square of the depth: seconds for 5000 dots.
    if _DEEP_KEY.search(text):
        raise ValueError("a key of more than 50 dotted words is too deep for a scenario")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply for a scenario") from None
