"""`--vary`, `--sample` and `--designs` as users write them -> Designs.

With errors that say what to write instead.
"""

import math
from collections.abc import Sequence

import numpy as np

from footfall.hybrid.fields import nearest
from footfall.numerics.units import UnitError, to_si
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment
from footfall.scenario.vary import Knob, find_knob
from footfall.sweep.designs import Axis, Designs, Grid, Samples

SAMPLERS = ("sobol", "lhs")
MOST_SOBOL_AXES = 21201  # of scipy's table
_FORMS = "key=FROM:TO:COUNT, key=FROM:TO:COUNT:log or key=VALUE,VALUE,..."
_SAMPLE_FORMS = "key=FROM:TO, key=FROM:TO:log or key=VALUE,VALUE,..."


def parse_designs(
    experiment: Experiment, vary: Sequence[str], sample: str | None = None, seed: int = 0
) -> Designs:
    """A grid over the `vary` texts, or points spread over their ranges.

    The second with `sample` ("sobol:4096", "lhs:1000").
    """
    if not vary:
        raise ScenarioError(
            "a sweep needs something to vary: --vary leg.stiffness=8e3:4e4:200:log, or --designs"
            " FILE. `footfall show` lists the keys."
        )
    axes = tuple(parse_axis(experiment, text, counted=sample is None) for text in vary)
    require_different(axes)
    if sample is None:
        return Grid(axes)
    method, count = _parse_sample(sample)
    return Samples(axes, method, count, seed)


def require_different(axes: Sequence[Axis], where: str = "--vary") -> None:
    """No key twice, however it is spelled."""
    seen: dict[str, str] = {}
    for axis in axes:
        if axis.path in seen:
            raise ScenarioError(
                f"{where} {axis.key}: {axis.path} is varied twice (also as {seen[axis.path]})."
            )
        seen[axis.path] = axis.key


def parse_axis(experiment: Experiment, text: str, *, counted: bool) -> Axis:
    """One `key=...`. `counted` ranges have a number of values; those of samples have none."""
    where = f"--vary {text}"
    key, equals, said = (part.strip() for part in text.partition("="))
    if not equals or not key or not said:
        raise ScenarioError(f"{where}: write it as {_FORMS if counted else _SAMPLE_FORMS}.")
    knob = find_knob(experiment, key, where)
    if ":" not in said or (not knob.number and ".py:" in said):
        return listed(experiment, knob, [word.strip() for word in said.split(",")], where)
    if not knob.number:
        raise ScenarioError(
            f"{where}: {knob.info.doc} is a word, not a number: list the words, such as {key}=A,B."
        )
    low, high, log, count = _parse_range(knob, said.split(":"), where, counted)
    if knob.structural:
        if not counted:
            raise ScenarioError(
                f"{where}: {key} changes the robot's structure; list its values: {key}=A,B,C."
            )
        range_ = Axis(key, "", low=low, high=high, log=log, count=count)
        return listed(experiment, knob, range_.at(np.arange(count)).tolist(), where)
    for value in (low, high):
        require_allowed(knob, value, where)
    return Axis(key, ".".join(knob.path), knob.unit, low, high, log, count)


def listed(experiment: Experiment, knob: Knob, words: Sequence[str | float], where: str) -> Axis:
    """An axis of given values: numbers with or without units, or the words of a choice or kind."""
    if not all(str(word) for word in words):
        raise ScenarioError(f"{where}: there is an empty value between two commas.")
    values = tuple(_value(knob, word, where) for word in words)
    if "auto" in values:  # one column holds one type
        values = tuple(map(str, values))
    if len(set(values)) < len(values):
        twice = next(v for i, v in enumerate(values) if v in values[:i])
        raise ScenarioError(f"{where}: {twice} stands there twice.")
    return Axis(
        knob.name, ".".join(knob.path), knob.unit, values=values, structural=knob.structural
    )


def _value(knob: Knob, word: str | float, where: str) -> float | int | str:
    if not knob.number or (word == "auto" and knob.structural and knob.optional):
        return str(word)
    number = to_number(knob, word, where)
    require_allowed(knob, number, where)
    if knob.structural and number == int(number):
        return int(number)
    return number


def to_number(knob: Knob, word: str | float, where: str) -> float:
    """A number in SI, from "8e3" or "2 deg"."""
    try:
        number = to_si(word, knob.unit)
    except UnitError as error:
        raise ScenarioError(f"{where}: {error}") from None
    if not math.isfinite(number):
        raise ScenarioError(f"{where}: {word} is not a finite number.")
    return number


def require_allowed(knob: Knob, value: float, where: str) -> None:
    """Inside the bounds the key declares."""
    if not knob.info.allows(value):
        unit = f" {knob.unit}" if knob.unit else ""
        raise ScenarioError(
            f"{where}: {value:g}{unit} is out of range: {knob.info.doc} must be"
            f" {knob.info.bounds()}."
        )


def _parse_range(
    knob: Knob, words: list[str], where: str, counted: bool
) -> tuple[float, float, bool, int]:
    words = [word.strip() for word in words]
    log = len(words) > 2 and words[-1] == "log"
    body = words[:-1] if log else words
    if counted and len(body) == 2:
        raise ScenarioError(
            f"{where}: how many values? Write"
            f" {knob.name}={':'.join(body)}:50{':log' if log else ''} (ranges without a count are"
            " for --sample)."
        )
    if not counted and len(body) == 3 and _is_whole(body[2]):
        raise ScenarioError(
            f"{where}: --sample says how many designs there are; write"
            f" {knob.name}={':'.join(body[:2])}."
        )
    if len(body) != (3 if counted else 2):
        raise ScenarioError(
            f"{where}: write it as"
            f" {_FORMS if counted else _SAMPLE_FORMS}.{nearest(words[-1], ['log'])}"
        )
    low, high = (to_number(knob, word, where) for word in body[:2])
    if log and not (low > 0 and high > 0):
        raise ScenarioError(f"{where}: a logarithmic range needs both ends above zero.")
    count = 0
    if counted:
        if not _is_whole(body[2]) or int(body[2]) < 1:
            raise ScenarioError(
                f"{where}: the number of values must be a whole number of at least 1, not"
                f" {body[2]}."
            )
        count = int(body[2])
    if low == high and count != 1:
        raise ScenarioError(
            f"{where}: both ends are the same; give a range, or one value: {knob.name}={body[0]}."
        )
    return low, high, log, count


def _parse_sample(text: str) -> tuple[str, int]:
    method, colon, count = (part.strip() for part in text.partition(":"))
    if method not in SAMPLERS:
        raise ScenarioError(
            f"--sample {text}: {method or 'nothing'} is not a way to sample. Known: sobol:N,"
            f" lhs:N.{nearest(method, SAMPLERS)}"
        )
    if not colon or not _is_whole(count) or int(count) < 1:
        raise ScenarioError(f"--sample {text}: how many designs? Write --sample {method}:4096.")
    return method, int(count)


def _is_whole(text: str) -> bool:
    return text.lstrip("+-").isdecimal() and len(text) < 20
