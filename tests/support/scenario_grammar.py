"""Texts a person could write into a scenario file, `--set` or `--vary`: the grammar of scenarios
with everything wrong that can be wrong.

`case(number)` is always the same for the same number. `answer(case, folder)` loads it and says what
is bad about the answer, or nothing: every text gets an experiment with finite numbers that its own
file gives again, or an error of a few lines."""

import functools
import json
import math
import random
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from footfall.hybrid.fields import FieldInfo, describe
from footfall.numerics.units import _UNITS
from footfall.scenario.catalog import PARTS, ROBOTS, kinds_for, shipped_scenarios
from footfall.scenario.document import SETTABLE, default_document, paths, slot_path, slot_types
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load
from footfall.scenario.schema import SimTable
from footfall.sweep.batches import Variants, check_designs
from footfall.sweep.parse import parse_designs

#: No answer is longer than this ...
MOST_LINES, LONGEST_LINE = 6, 300
#: ... nor takes longer [s]. The slowest good one takes a tenth of a second; other processes may
#: share the machine.
PATIENCE = 20
#: Robots whose parts cost little to make are taken more often: the same loader answers for all of
#: them.
SLOW = (
    "two-leg",
    "urchin",
    "urchin-spike",
    "urchin-kick",
    "water-runner",
    "water-runner-biped",
    "water-runner-ground",
)


class Case(NamedTuple):
    """What is written where."""

    file: bytes
    settings: tuple[str, ...] = ()
    vary: tuple[str, ...] = ()
    sample: str | None = None
    duration: str | None = None


@functools.cache
def _document(kind: str) -> dict[str, Any]:
    return default_document(ROBOTS[kind](), kind)


@functools.cache
def _slots(kind: str) -> tuple[tuple[str, ...], ...]:
    return tuple(slot_path(slot) for slot in slot_types(type(ROBOTS[kind]())))


@functools.cache
def _words() -> tuple[str, ...]:
    """Every word that means something somewhere: kinds, options, outcomes."""
    options = [
        option
        for cls in PARTS.values()
        for info in describe(cls).values()
        for option in info.options
    ]
    return (
        *PARTS,
        *ROBOTS,
        *options,
        "auto",
        "none",
        "fell",
        "kind",
        "dopri8",
        "euler",
        "kvaerno5",
        "step",
        "event",
        "",
    )


LETTERS = "abz_-. []{}=\"'\\#,:;/°µλ\u202e\u0301\u200b😀漢\x7f"


def _text(r: random.Random) -> str:
    match r.randrange(8):
        case 0:
            return r.choice(_words())
        case 1:
            return "".join(r.choice(LETTERS) for _ in range(r.randrange(12)))
        case 2:
            return r.choice("ax 1.°\n\t") * r.choice((50, 400, 5000, 60_000))
        case 3:
            return f"{_number(r)}{r.choice(' ') * r.choice((0, 1, 1, 1, 3000))}{_unit(r)}"
        case 4:
            return r.choice(
                (
                    "walk 0.3",
                    "walk",
                    "climb 0.1; walk -1e9",
                    "roll 3; rise; walk",
                    "walk " * 300,
                    "walk 1e400",
                    "roll 1e18",
                )
            )
        case 5:
            return r.choice(
                (
                    "my_robot.py:X",
                    "../x.py:Y",
                    ":",
                    "::",
                    "a" * 400 + ".py:Z",
                    "/etc/x.py:Q",
                    "x\x00.py:Z",
                    "~:~",
                    ".:.",
                )
            )
        case 6:
            return r.choice(
                ("nan", "inf", "-inf", "1e400", "0x10", "1_000", "1e", "+-1", "١٢", "²", "1,5", "½")
            )
        case _:
            return f"{_number(r)} {_unit(r)}"


def _unit(r: random.Random) -> str:
    names = (*_UNITS, "furlong", "M", "%", "(m)")
    power = r.choice(("", "", "", "^2", "^-1", "^999", "^-9999999999", "^" + "9" * 5000, "^x"))
    return r.choice(("/", " ", "*", " / ", "//")).join(
        r.choice(names) + power for _ in range(r.choice((1, 1, 1, 2, 3, 200)))
    )


def _number(r: random.Random) -> str:
    match r.randrange(12):
        case 0 | 1 | 2:
            return repr(r.uniform(-2.0, 2.0))
        case 3 | 4:
            return repr(math.copysign(10.0 ** r.uniform(-12, 12), r.random() - 0.2))
        case 5:
            return repr(math.copysign(10.0 ** r.uniform(-320, 308), r.random() - 0.3))
        case 6:
            return r.choice(
                (
                    "0",
                    "-0.0",
                    "5e-324",
                    "1e308",
                    "-1.7976931348623157e308",
                    "1e-300",
                    "2.2250738585072014e-308",
                )
            )
        case 7:
            return r.choice(("nan", "inf", "-inf", "+nan"))
        case 8:
            return str(r.randrange(-5, 1200))
        case 9:
            return str(r.choice((2**31, 2**53 + 1, 2**63, 10**18, -(10**30), 10**400)))
        case 10:
            return r.choice(
                (
                    "1" + "0" * 5000,
                    "0x" + "f" * 6000,
                    "0b" + "1" * 20_000,
                    "1e" + "9" * 5000,
                    "0." + "0" * 5000 + "1",
                )
            )
        case _:
            return str(r.choice((1, 2, 3, 4, 10, 0.5, 0.1)))


def value(r: random.Random, depth: int = 0) -> str:
    """Any TOML value, as text."""
    match r.randrange(16 if depth < 4 else 9):
        case 0 | 1 | 2 | 3 | 4 | 5:
            return _number(r)
        case 6 | 7 | 8:
            return json.dumps(_text(r), ensure_ascii=r.random() < 0.3)
        case 9:
            return r.choice(
                (
                    "true",
                    "false",
                    "2024-01-01",
                    "07:32:00",
                    "1979-05-27T07:32:00Z",
                    "0000-00-00",
                    "''",
                    '""""""',
                )
            )
        case 10 | 11:
            return f"[{', '.join(value(r, depth + 1) for _ in range(r.randrange(4)))}]"
        case 12:
            return f"[{', '.join([_number(r)] * r.choice((1, 40, 3000)))}]"
        case 13:
            levels = r.choice((3, 60, 990, 1500, 20_000))
            return "[" * levels + "1" + "]" * (levels if r.random() < 0.8 else levels - 1)
        case 14:
            levels = r.choice((2, 40, 400, 3000))
            return "{a=" * levels + "1" + "}" * levels
        case _:
            return f"{{{_key(r)} = {value(r, depth + 1)}}}"


def _key(r: random.Random) -> str:
    known = (
        "mass",
        "kind",
        "robot",
        "sim",
        "stiffness",
        "duration",
        "title",
        "success",
        "leg",
        "angle",
        "step",
    )
    odd = (
        "a" * r.choice((3, 300, 30_000)),
        '"a b"',
        "''",
        "a.b",
        ".".join("a" * r.choice((3, 900, 9000))),
        '"\\u0000"',
        "é",
        '"é"',
    )
    return r.choice(known) if r.random() < 0.6 else r.choice(odd)


def _file(r: random.Random, kind: str) -> str:
    """A scenario with a few keys of its robot, each with some value, right or wrong."""
    document = _document(kind)
    leaves = [p for p in paths(document) if len(p) > 1 and p != ("robot", "kind")]
    tables: dict[tuple[str, ...], list[str]] = {("robot",): [f'kind = "{kind}"']}
    for _ in range(r.choice((0, 1, 1, 2, 3, 6))):
        path = r.choice(leaves)
        key, table = path[-1], path[:-1]
        if path in _slots(kind) and r.random() < 0.8:
            table, key = path, "kind"
        text = json.dumps(r.choice(_words())) if key == "kind" and r.random() < 0.7 else value(r)
        tables.setdefault(table, []).append(f"{key if r.random() < 0.9 else _key(r)} = {text}")
    if r.random() < 0.2:
        tables.setdefault((), []).append(
            f"{r.choice(('title', 'about', 'look_for', 'success', 'sim', 'x'))} = {value(r)}"
        )
    if r.random() < 0.1:
        tables.setdefault((*tuple(r.choice(leaves)[:1]), _key(r)), []).append(
            f"{_key(r)} = {value(r)}"
        )
    head = tables.pop((), [])
    body = [line for path, lines in tables.items() for line in (f"[{'.'.join(path)}]", *lines)]
    return "\n".join([*head, *body]) + "\n"


class Slot(NamedTuple):
    """A table of a scenario: where it stands, and what may be in it by kind of part."""

    path: tuple[str, ...]
    kinds: dict[str, dict[str, FieldInfo]]


@functools.cache
def tables(kind: str) -> tuple[Slot, ...]:
    """Every table of a robot's scenario."""
    robot = type(ROBOTS[kind]())
    own = [
        Slot(("robot",), {"": describe(robot)}),
        Slot(("start",), {"": describe(robot.Start)}),
        Slot(("sim",), {"": SimTable.describe()}),
    ]
    slots = [
        Slot(slot_path(s), {k: describe(c) for k, c in kinds_for(t, robot).items()})
        for s, t in slot_types(robot).items()
    ]
    return (*own, *slots)


def allowed(r: random.Random, info: FieldInfo) -> str:
    """A value that its declaration allows: usual, at a bound, or as extreme as a number can be."""
    match info.role:
        case "choice":
            return json.dumps(r.choice(info.options))
        case "switches":
            return json.dumps(r.sample(info.options, r.randrange(len(info.options) + 1)))
        case "numbers":
            listed = [
                float(f"{r.uniform(-1, 1) * 10.0 ** r.choice((-300, -3, 0, 1, 300)):.3g}")
                for _ in range(r.randrange(5))
            ]
            return repr(sorted(listed) if info.increasing else listed)
        case "text":
            return json.dumps(
                r.choice(
                    (
                        "walk 0.3",
                        "climb 0.1; walk -0.1",
                        "roll 3; rise; walk",
                        "walk",
                        "roll 1",
                        "turn 1e3",
                        "",
                    )
                )
            )
    bounds = [b for b in (info.gt, info.ge, info.lt, info.le) if b is not None]
    for _ in range(40):
        number = r.choice(
            (
                10.0 ** r.uniform(-4, 4),
                r.uniform(-2, 2),
                10.0 ** r.uniform(-30, 30),
                10.0 ** r.uniform(-320, 308),
                -(10.0 ** r.uniform(-320, 308)),
                float(r.randrange(1, 40)),
                r.choice((0.0, 5e-324, 1.7e308, 1e-9, 1e9, *bounds)),
                math.nextafter(r.choice(bounds or [1.0]), r.choice((-math.inf, math.inf))),
            )
        )
        number = float(number)
        if info.allows(number):
            unit = f" {info.unit}" if info.unit and r.random() < 0.3 else ""
            return (
                json.dumps(f"{number!r}{unit}")
                if unit
                else repr(int(number) if number.is_integer() and number < 1e15 else number)
            )
    return "1"


def allowed_settings(
    r: random.Random, kind: str, most: int = 4
) -> list[tuple[tuple[str, ...], str]]:
    """Paths and values, kinds before their keys, of which each alone is allowed."""
    settings = []
    for slot in r.sample(tables(kind), min(len(tables(kind)), r.randrange(1, most + 1))):
        part = r.choice(list(slot.kinds))
        if part:
            settings.append(((*slot.path, "kind"), json.dumps(part)))
        infos = [(key, info) for key, info in slot.kinds[part].items() if info.role in SETTABLE]
        for key, info in r.sample(infos, min(len(infos), r.randrange(3))):
            settings.append(((*slot.path, key), allowed(r, info)))
    return settings


def _spoilt(r: random.Random, text: str) -> bytes:
    """The text as an accident leaves it: cut short, a byte changed, a piece twice."""
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    match r.randrange(5):
        case 0:
            del data[r.randrange(len(data) + 1) :]
        case 1:
            for _ in range(r.randrange(1, 5)):
                data[r.randrange(len(data))] = r.randrange(256)
        case 2:
            place, piece = r.randrange(len(data)), r.randrange(1, 60)
            data[place:place] = data[place : place + piece] * r.choice((1, 2, 300))
        case 3:
            place = r.randrange(len(data))
            data[place:place] = r.choice(
                (
                    b"\x00",
                    b"\xff\xfe",
                    b'"""',
                    b"[[",
                    b"[",
                    b"=",
                    "é".encode(),
                    b"\r",
                    b"\xef\xbb\xbf",
                )
            )
        case _:
            data = bytearray(r.choice(list(shipped_scenarios().values())).read_bytes())
            data[r.randrange(len(data))] = r.randrange(256)
    return bytes(data)


def _setting(r: random.Random, kind: str, option: str = "set") -> str:
    every = [
        p for p in paths(_document(kind)) if p[0] not in ("title", "about", "look_for", "success")
    ]
    path = r.choice(every)
    if path[-1] == "kind" and r.random() < 0.5:
        path = path[:-1]
    name = (
        ".".join(path[r.randrange(len(path)) :])
        if r.random() < 0.95
        else r.choice((_key(r), _text(r)))
    )
    match r.randrange(5):
        case 0:
            said = _text(r)
        case 1:
            said = r.choice(_words())
        case 2 if option == "vary":
            said = ":".join(
                (
                    _number(r),
                    _number(r),
                    *r.choice(((), ("3",), ("4", "log"), (_number(r),), ("log",), ("x", "y", "z"))),
                )
            )
        case 3 if option == "vary":
            said = ",".join(r.choice((_number(r), _text(r))) for _ in range(r.randrange(1, 4)))
        case 4 if option == "set":
            said = value(r)
        case _:
            said = _number(r)
    whole = f"{name}={said}" if r.random() < 0.97 else r.choice((name, f"={said}", said, "=", ""))
    if r.random() < 0.03:
        # Bytes of a terminal that are no text.
        whole += r.choice(("\udcff", "\ud800", "\x00", "\x1b[2J", "\n\n\n"))
    return whole


def case(number: int) -> Case:
    """Case `number`."""
    r = random.Random(number)
    kinds = [kind for kind in ROBOTS if kind not in SLOW]
    kind = r.choice(SLOW) if r.random() < 0.04 else r.choice(kinds)
    settings: tuple[str, ...] = ()
    if r.random() < 0.45:
        made = allowed_settings(r, kind)
        vary = ()
        if r.random() < 0.15:
            slot = r.choice([slot for slot in tables(kind) if slot.path != ("sim",)])
            key, info = r.choice([*slot.kinds[r.choice(list(slot.kinds))].items()] or [("x", None)])
            values = (
                [allowed(r, info).strip('"') for _ in range(r.randrange(1, 4))] if info else ["1"]
            )
            vary = (f"{'.'.join((*slot.path, key))}={','.join(values)}",)
        return Case(
            f'[robot]\nkind = "{kind}"\n'.encode(),
            tuple(f"{'.'.join(p)}={v}" for p, v in made),
            vary,
        )
    text = _file(r, kind) if r.random() < 0.6 else f'[robot]\nkind = "{kind}"\n'
    if r.random() < 0.5:
        settings = tuple(_setting(r, kind) for _ in range(r.choice((1, 1, 1, 2, 4))))
    vary = (
        tuple(_setting(r, kind, "vary") for _ in range(r.choice((1, 1, 2))))
        if r.random() < 0.2
        else ()
    )
    sample = (
        r.choice((None, None, "sobol:4", "lhs:3", f"sobol:{_number(r)}", _text(r)))
        if vary
        else None
    )
    duration = r.choice((_number(r), _text(r))) if r.random() < 0.05 else None
    file = _spoilt(r, text) if r.random() < 0.12 else text.encode("utf-8", "surrogatepass")
    return Case(file, settings, vary, sample, duration)


def _unbounded(said: str) -> str | None:
    lines = said.split("\n")
    if len(lines) > MOST_LINES or max(map(len, lines)) > LONGEST_LINE:
        return f"a message of {len(lines)} lines, the longest of {max(map(len, lines))} characters"
    try:
        said.encode()
    except UnicodeEncodeError:
        return "a message that cannot be printed"
    return (
        None
        if said.isprintable() or all(c.isprintable() or c == "\n" for c in said)
        else "a message with control characters"
    )


def _finite(tree: Any) -> bool:
    return all(
        np.all(np.isfinite(leaf))
        for leaf in jax.tree.leaves(tree)
        if np.asarray(leaf).dtype.kind == "f"
    )


def _same(one: Any, other: Any) -> bool:
    if jax.tree.structure(one) != jax.tree.structure(other):
        return False
    return all(
        np.array_equal(a, b)
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    )


def answer(case: Case, folder: Path) -> str | None:
    """What is bad about the answer to a case, or None."""
    path = folder / "fuzz.toml"
    path.write_bytes(case.file)

    def late(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            bad = _answer(case, path, folder)
        if bad is None and caught:
            bad = (
                f"a warning on the terminal: {caught[0].message}"
                f" ({caught[0].filename}:{caught[0].lineno})"
            )
        return bad
    except TimeoutError:
        return f"no answer within {PATIENCE} s"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _answer(case: Case, path: Path, folder: Path) -> str | None:
    place = [path.name, "--set", "--vary", "--sample"]
    try:
        experiment = load(path, case.settings, duration=case.duration)
        if not _finite((experiment.system, experiment.start)):
            return "accepted, and not finite"
        again = folder / "again.toml"
        again.write_text(experiment.to_toml(), encoding="utf-8")
        try:
            second = load(again)
        except ScenarioError as error:
            return f"what it wrote does not load again: {error}"
        if not _same((experiment.system, experiment.start), (second.system, second.start)):
            return "what it wrote is another robot or another start"
        if experiment.document != second.document or experiment.plan != second.plan:
            return "what it wrote is another scenario"
        if case.vary:
            place.append("design")
            designs = parse_designs(experiment, case.vary, case.sample)
            names = tuple(axis.key for axis in designs.axes if axis.structural)
            check_designs(Variants(experiment, names), designs.columns(0, min(designs.count, 6)), 0)
    except ScenarioError as error:
        said = str(error)
        if not any(word in said for word in place):
            return f"a message that does not say where: {said}"
        return _unbounded(said)
    except TimeoutError:
        raise
    except BaseException as error:
        where = error.__traceback__
        while where is not None and where.tb_next is not None:
            where = where.tb_next
        line = (
            f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}"
            if where is not None
            else "?"
        )
        return f"{type(error).__name__} at {line}: {str(error)[:200]}"
    return None


def bad_answers(numbers: range, folder: Path) -> Iterator[tuple[int, str]]:
    """The numbers of cases with a bad answer, and what is bad."""
    for number in numbers:
        bad = answer(case(number), folder)
        if bad is not None:
            yield number, bad


if __name__ == "__main__":  # python -m support.scenario_grammar FIRST LAST: a piece of the long run
    import collections
    import tempfile

    first, last = map(int, sys.argv[1:3])
    kinds: dict[str, list[int]] = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for number, bad in bad_answers(range(first, last), Path(folder)):
            kinds[bad[:90]].append(number)
    for bad, numbers in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"{len(numbers):5d}  {bad!r}  {numbers[:5]}")
    print(sum(map(len, kinds.values())), "bad of", last - first)
