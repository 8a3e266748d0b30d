"""The numbers of a scenario as a page shows them: sliders, switches, and words."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from footfall.hybrid.fields import FieldInfo
from footfall.scenario.document import TABLES, at, paths
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment
from footfall.scenario.vary import find_knob, remade

#: How far a slider goes either way from a value of this unit that has no bounds of its own, at
#: least; and up to where from zero.
TYPICAL = {"rad": 0.5, "rad/s": 3.0, "m": 0.1, "m/s": 1.0, "A": 1.0, "N": 10.0, "s": 0.1}
#: Over how many times its value a slider goes, where bounds do not end it before.
WIDE = 3.0


class Parameter(NamedTuple):
    """A key of the scenario."""

    path: tuple[str, ...]
    value: Any
    info: FieldInfo
    kind: str  #: "number", "switch" or "text"

    @property
    def key(self) -> str:
        return ".".join(self.path)

    def words(self) -> dict[str, Any]:
        """As JSON has it."""
        said: dict[str, Any] = {
            "key": self.key,
            "table": ".".join(self.path[: -2 if self.kind == "switch" else -1]),
            "name": self.path[-1],
            "value": self.value,
            "unit": self.info.unit,
            "doc": self.info.doc,
            "kind": self.kind,
        }
        if self.kind != "number":
            return said
        low, high = slider_range(self.info, self.value)
        bounds = {k: getattr(self.info, k) for k in ("gt", "ge", "lt", "le")}
        return said | {"bounds": bounds, "low": low, "high": high}


def parameters(experiment: Experiment) -> list[Parameter]:
    """Every key of its tables but [sim], in the order of the file.

    A number has a slider if the robot and its start can be traced through it; if not, for what
    changes the structure, and for a robot that follows a plan, its value is only shown.
    """
    found: list[Parameter] = []
    for path in paths({k: v for k, v in experiment.document.items() if k in TABLES}):
        value = at(experiment.document, path)
        if isinstance(value, dict) or path[0] == "sim" or path[-1] == "kind":
            continue
        knob = find_knob(experiment, ".".join(path), ".".join(path))
        if knob.info.role == "switches":
            found += _switches(experiment, path, knob.info.options)
        elif knob.structural or not knob.number or not isinstance(value, int | float):
            found.append(Parameter(path, value, knob.info, "text"))
        else:
            found.append(Parameter(path, float(value), knob.info, "number"))
    system = experiment.system
    if not experiment.start_options or not hasattr(system, "flow") or system.own_time is not None:
        return [p._replace(kind="text") for p in found]
    if _traces(experiment, moving(found)):
        return found
    return [
        p if p.kind == "text" or _traces(experiment, [p]) else p._replace(kind="text")
        for p in found
    ]


def moving(found: Sequence[Parameter]) -> list[Parameter]:
    """Those that may change while the page is open."""
    return [parameter for parameter in found if parameter.kind != "text"]


def maker(experiment: Experiment, chosen: Sequence[Parameter]) -> Callable[..., tuple[Any, Any]]:
    """The function from the values of the chosen parameters to the system and its start."""

    def make(*values: Any) -> tuple[Any, Any]:
        changes: dict[tuple[str, ...], dict[str, Any]] = {}
        for parameter, value in zip(chosen, values, strict=True):
            changes.setdefault(parameter.path[:-1], {})[parameter.path[-1]] = value
        return remade(experiment, changes)

    return make


def _switches(
    experiment: Experiment, path: tuple[str, ...], options: Sequence[str]
) -> list[Parameter]:
    """One for each thing that is on or off."""
    on = at(experiment.document, path)
    keys = [(*path, option) for option in options]
    infos = [find_knob(experiment, ".".join(key), ".".join(key)).info for key in keys]
    return [
        Parameter(key, float(key[-1] in on), info, "switch")
        for key, info in zip(keys, infos, strict=True)
    ]


def _traces(experiment: Experiment, chosen: Sequence[Parameter]) -> bool:
    try:
        jax.eval_shape(maker(experiment, chosen), *(np.float64(p.value) for p in chosen))
    except (jax.errors.JAXTypeError, TypeError, ScenarioError):
        return False
    return True


def slider_range(info: FieldInfo, value: float) -> tuple[float, float]:
    """From where to where a slider goes: inside the bounds, around the value, in round numbers.

    A number may be typed beyond it, up to the bounds.
    """
    least = info.ge if info.ge is not None else info.gt
    most = info.le if info.le is not None else info.lt
    typical = TYPICAL.get(info.unit, 1.0)
    if least is not None and least >= 0:
        low = least if info.ge is not None else least + (value - least) / 10
        high = least + WIDE * (value - least) if value > least else least + typical
    else:
        span = max(WIDE * abs(value), typical)
        low, high = value - span, value + span
        low = low if least is None else max(low, least)
    if most is not None:
        high = min(high, most if info.le is not None else value + 0.9 * (most - value))
    return (
        min(_round(low, math.ceil if info.gt is not None else math.floor), value),
        max(_round(high, math.floor if most is not None else math.ceil), value),
    )


def _round(value: float, way: Callable[[float], int]) -> float:
    """To two digits."""
    if value == 0:
        return 0.0
    grain = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    return float(f"{way(round(value / grain, 6)) * grain:.6g}")
