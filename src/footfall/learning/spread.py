"""How robots that learn side by side differ: domain randomisation within the declared bounds."""

import numbers
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from footfall.learning.given_task import GivenTask
from footfall.scenario.errors import ScenarioError
from footfall.scenario.vary import batched

#: Robots that are drawn to try a spread.
TRIED = 256


class Range(NamedTuple):
    """A number of the robot, drawn evenly from an interval at every start."""

    place: int  #: among the numbers of the task
    low: float
    high: float


def ranges(given: GivenTask, wanted: bool | Mapping[str, Any] | None) -> tuple[Range, ...]:
    """What differs.

    `wanted` is True for what the task says, or keys with a share either way (0.2), an interval
    (8e3, 4e4), or "bounds" for all that its declaration allows. Raises ScenarioError, of robots
    that could not start too.
    """
    if not wanted:
        return ()
    said = given.task.spread if wanted is True else wanted
    if not isinstance(said, Mapping):
        raise ScenarioError(
            f"randomise = {wanted!r} is neither True nor a dictionary such as"
            ' {"leg.stiffness": 0.2, "torso.mass": (4, 5)}.'
        )
    found = tuple(_range(given, key, value) for key, value in said.items())
    if found:
        _require_starts(given, found)
    return found


def _require_starts(given: GivenTask, spread: tuple[Range, ...]) -> None:
    """Robots drawn from it can start, as far as so many tell: who begins anew is not looked at."""
    draws = drawn(spread, TRIED, np.random.default_rng(0))
    keys = [given.numbers[one.place].key for one in spread]
    try:
        batched(given.experiment, dict(zip(keys, draws, strict=True)))
    except ScenarioError as error:
        raise ScenarioError(
            f"randomise: of {TRIED} robots drawn to try it, one cannot start. {error}"
        ) from None


def _range(given: GivenTask, key: str, said: Any) -> Range:
    place = given.place(key)
    parameter = given.numbers[place]
    info, own = parameter.info, parameter.value
    least = info.ge if info.ge is not None else info.gt
    most = info.le if info.le is not None else info.lt
    if isinstance(said, str) and said == "bounds":
        if least is None or most is None:
            raise ScenarioError(
                f"randomise: {key} has no bounds on both sides ({info.bounds() or 'none'}): give"
                f" an interval such as ({own - 1:g}, {own + 1:g})."
            )
        return Range(place, least, most)
    if isinstance(said, numbers.Real):
        said = float(said)
        if not 0 < said < 1:
            raise ScenarioError(f"randomise: {key} = {said:g} is no share between 0 and 1.")
        if own == 0:
            raise ScenarioError(
                f"randomise: {key} is 0, of which a share is nothing: give an interval such as"
                " (-0.1, 0.1)."
            )
        low, high = sorted((own * (1 - said), own * (1 + said)))
        low = low if least is None else max(low, least)
        return Range(place, low, high if most is None else min(high, most))
    try:
        low, high = (float(value) for value in said)
    except (TypeError, ValueError):
        raise ScenarioError(
            f"randomise: {key} = {said!r} is neither a share (0.2), an interval (low, high), nor"
            ' "bounds".'
        ) from None
    for value in (low, high):
        if not info.allows(value):
            raise ScenarioError(
                f"randomise: {key} = {value:g} {info.unit} is out of range: {info.doc} must be"
                f" {info.bounds()}."
            )
    return Range(place, *sorted((low, high)))


def drawn(spread: tuple[Range, ...], lanes: int, random: np.random.Generator) -> list[np.ndarray]:
    """Numbers of so many robots, in the order of the ranges."""
    return [random.uniform(one.low, one.high, lanes) for one in spread]
