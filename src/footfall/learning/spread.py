"""How robots that learn side by side differ: domain randomisation within the declared bounds."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from footfall.learning.given_task import GivenTask
from footfall.scenario.errors import ScenarioError


class Range(NamedTuple):
    """A number of the robot, drawn evenly from an interval at every start."""

    place: int  #: among the numbers of the task
    low: float
    high: float


def ranges(given: GivenTask, wanted: bool | Mapping[str, Any] | None) -> tuple[Range, ...]:
    """What differs.

    `wanted` is True for what the task says, or keys with a share either way (0.2), an interval
    (8e3, 4e4), or "bounds" for all that its declaration allows.
    """
    if not wanted:
        return ()
    said = given.task.spread if wanted is True else wanted
    if not isinstance(said, Mapping):
        raise ScenarioError(
            f"randomise = {wanted!r} is neither True nor a dictionary such as"
            ' {"leg.stiffness": 0.2, "torso.mass": (4, 5)}.'
        )
    return tuple(_range(given, key, value) for key, value in said.items())


def _range(given: GivenTask, key: str, said: Any) -> Range:
    place = given.place(key)
    parameter = given.numbers[place]
    info, own = parameter.info, parameter.value
    least = info.ge if info.ge is not None else info.gt
    most = info.le if info.le is not None else info.lt
    if said == "bounds":
        if least is None or most is None:
            raise ScenarioError(
                f"randomise: {key} has no bounds on both sides ({info.bounds() or 'none'}): give"
                f" an interval such as ({own - 1:g}, {own + 1:g})."
            )
        return Range(place, least, most)
    if isinstance(said, int | float):
        if not 0 < said < 1:
            raise ScenarioError(f"randomise: {key} = {said:g} is no share between 0 and 1.")
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
