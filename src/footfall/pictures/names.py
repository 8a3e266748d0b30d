"""Plain words for signals: what a legend and an axis say instead of a column's name."""

import re
from collections import Counter
from collections.abc import Sequence

from footfall.record.signal import Signal
from footfall.record.trajectory import Trajectory

#: What states of a unit are, together.
_KINDS = {
    "rad": "angles",
    "rad/s": "angular rates",
    "m": "places and lengths",
    "m/s": "speeds",
    "N": "forces",
    "N m": "torques",
}


def with_unit(words: str, unit: str) -> str:
    """'Torque of the motor [N m]'; a number without a unit is named alone."""
    return f"{words} [{unit}]" if unit else words


def short(doc: str) -> str:
    """A declaration's first clause: what it is, without how it is counted."""
    return re.split(r"[,;:(]| - ", doc, maxsplit=1)[0].strip()


def axis_name(signal: Signal) -> str:
    """What one axis shows, with its unit."""
    return with_unit(short(signal.doc) or signal.name, signal.unit)


def kind_of(unit: str) -> str:
    """What quantities of a unit are called together."""
    return _KINDS.get(unit, "others")


def line_names(run: Trajectory, names: Sequence[str]) -> list[str]:
    """What tells the lines of one chart apart, in words.

    The body, leg or motor where they show the same of several; else what each is.
    """
    signals = [run.signals[name] for name in names]
    parts = [_part(run, signal) for signal in signals]
    if all(parts) and len(set(parts)) == len(parts) and len({_leaf(s) for s in signals}) == 1:
        return parts
    words = [short(signal.doc) or signal.name for signal in signals]
    for longer in (
        [signal.doc for signal in signals],
        [f"{part}: {word}".strip(": ") for part, word in zip(parts, words, strict=True)],
        list(names),
    ):
        count = Counter(words)
        words = [
            more if count[word] > 1 else word for word, more in zip(words, longer, strict=True)
        ]
    return words


def plain(name: str) -> str:
    """The name of a part or port as words."""
    return name.replace("_", " ").replace(".", " ").strip()


def _leaf(signal: Signal) -> str:
    base, _, leg = signal.leaf.rpartition(".")
    return base if leg.isdecimal() else signal.leaf


def _part(run: Trajectory, signal: Signal) -> str:
    """What a signal is of: "motor 1", "spike 3", or nothing."""
    leg = signal.name.rpartition(".")[2]
    if leg.isdecimal():
        return f"{run.travel.legs if run.travel is not None else 'leg'} {leg}"
    return plain(signal.group)
