"""One experiment as many: any number of a scenario as an array with one value per design.

What changes only numbers is an array in the same system, and all designs run as one batch. What
changes the structure (another kind of leg, another number of spokes) cannot be an array:
`structural` says so, and a caller loads such designs in groups.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from footfall.hybrid.fields import FieldInfo, ParameterError, describe
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.numerics.namespace import traced
from footfall.numerics.shown import clipped
from footfall.scenario.document import TABLES, find_path, slot_path, slot_types
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, require_finite

Columns = Mapping[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Knob:
    """Something of a scenario that may differ from design to design."""

    name: str  #: as the user wrote it
    path: tuple[str, ...]  #: where it stands in the scenario
    info: FieldInfo
    #: Changes what is compiled: designs with different values run in batches of their own.
    structural: bool
    number: bool  #: a number (or a word: a kind of part, a choice)
    optional: bool = False  #: may be "auto"

    @property
    def unit(self) -> str:
        return self.info.unit


def find_knob(experiment: Experiment, name: str, where: str) -> Knob:
    """What `name` means in this scenario, by the same key paths as --set.

    An error for what cannot vary.
    """
    robot = type(experiment.system)
    slots = {slot_path(slot): cls for slot, cls in slot_types(robot).items()}
    wanted = tuple(name.strip().removesuffix(".kind").split("."))
    chosen = [path for path in slots if path[-len(wanted) :] == wanted]
    if len(chosen) == 1:
        doc = f"kind of {chosen[0][-1]}"
        return Knob(name, chosen[0], FieldInfo("choice", "", doc), structural=True, number=False)
    if (switch := _switch(experiment, name)) is not None:
        return switch
    path = find_path({k: v for k, v in experiment.document.items() if k in TABLES}, name, where)
    if path[0] == "sim":
        raise ScenarioError(
            f"{where}: {'.'.join(path)} cannot vary; set it with --set {'.'.join(path)}=VALUE. It"
            " is the same for all designs."
        )
    owner = _owner(experiment, path[:-1])
    infos = {} if owner is None else describe(owner)
    if owner is None or path[-1] not in infos:
        keys = ", ".join(k for k in infos) or "robot, terrain, controller, start"
        raise ScenarioError(
            f"{where}: {'.'.join(path)} is not a value that can vary. Vary one of its keys: {keys}."
        )
    info = infos[path[-1]]
    field = owner.__dataclass_fields__[path[-1]]
    structural = bool(field.metadata.get("static")) or info.role in ("choice", "switches")
    return Knob(
        name, path, info, structural, number=info.role == "param", optional=field.default is None
    )


def _switch(experiment: Experiment, name: str) -> Knob | None:
    """One switch of a list of them, "controller.reflexes.lift".

    A number, 1 or 0, so that robots with and without are lanes of one batch.
    """
    wanted = tuple(name.strip().split("."))
    for slot in slot_types(type(experiment.system)):
        for field, info in describe(getattr(experiment.system, slot)).items():
            for option in info.options if info.role == "switches" else ():
                path = (*slot_path(slot), field, option)
                if len(wanted) > 1 and path[-len(wanted) :] == wanted:
                    meaning = FieldInfo("param", "", f"{option} of {field}, 1 or 0,", ge=0, le=1)
                    return Knob(name, path, meaning, structural=False, number=True)
    return None


def batched(
    experiment: Experiment, columns: Columns, numbers: np.ndarray | None = None
) -> tuple[AbstractHybridSystem, HybridState]:
    """System and start with the columns put in.

    Leaves are numbers, or arrays with one entry per design.

    Columns are SI numbers by key path ("leg.stiffness", "start.spoke_rate"). `numbers` are the
    designs' numbers for messages; by default they count from 0. Nothing is simulated; everything is
    checked: bounds, and that each robot can stand as it should start.
    """
    require_common_length(columns)
    changes: dict[tuple[str, ...], dict[str, np.ndarray]] = {}
    taken: dict[tuple[str, ...], str] = {}
    for name, values in columns.items():
        knob = find_knob(experiment, name, name)
        if knob.structural:
            raise ScenarioError(
                f"{name} changes the robot's structure: it cannot be an array. Load the designs in"
                " groups."
            )
        if knob.path in taken:
            raise ScenarioError(f"{name} and {taken[knob.path]} are the same key.")
        taken[knob.path] = name
        array = np.asarray(values, dtype=float)
        _require_allowed(knob, array, numbers)
        changes.setdefault(knob.path[:-1], {})[knob.path[-1]] = array
    try:
        with np.errstate(all="ignore"):
            system = _changed_system(experiment.system, changes)
            start = experiment.start_options
            if start is None:
                raise ScenarioError(
                    "this experiment was made without its [start] table; load it with"
                    " footfall.load."
                )
            start = dataclasses.replace(start, **changes.get(("start",), {}))
            state = system.begin(start)
        require_finite(state, "a design")
        return system, state
    except TypeError as error:  # float(array), math.cos(array)
        raise ScenarioError(
            f"{type(experiment.system).__name__}: its start or a check of its parts does not take"
            f" arrays ({error}).\n  Write it elementwise with NumPy: np.cos(angle), not"
            " math.cos(float(angle))."
        ) from None
    except ParameterError as error:
        lane = error.lane
        if lane is None:
            raise ScenarioError(f"every design: {error.field}: {error}") from None
        which = design_words(
            {k: v[lane] for k, v in columns.items()},
            lane if numbers is None else int(numbers[lane]),
        )
        raise ScenarioError(f"{which}: {error.field}: {error}") from None
    except (ArithmeticError, ValueError) as error:
        said = clipped(f"{type(error).__name__}: {error}", 160)
        raise ScenarioError(
            f"a design has numbers that are too large or too small to compute with ({said})."
        ) from error


def placed(
    experiment: Experiment, values: Mapping[str, Any]
) -> tuple[AbstractHybridSystem, HybridState]:
    """One robot and its start with these numbers put in by key path, in SI.

    Plain, or traced by JAX, whose bounds nobody knows.
    """
    changes: dict[tuple[str, ...], dict[str, Any]] = {}
    for name, value in values.items():
        knob = find_knob(experiment, name, f'"{name}"')
        if knob.structural or not knob.number or _switch(experiment, name) is not None:
            raise ScenarioError(
                f'"{name}" is no number that can move a little: {knob.info.doc}. Take another key.'
            )
        if isinstance(value, int | float | np.ndarray | np.generic) and not knob.info.allows(value):
            unit = f" {knob.unit}" if knob.unit else ""
            raise ScenarioError(
                f'"{name}" = {value:g}{unit} is out of range: {knob.info.doc} must be'
                f" {knob.info.bounds()}."
            )
        changes.setdefault(knob.path[:-1], {})[knob.path[-1]] = value
    try:
        return remade(experiment, changes)
    except (jax.errors.JAXTypeError, TypeError) as error:
        if not traced(*values.values()):
            raise
        raise ScenarioError(
            f"{type(experiment.system).__name__} cannot be differentiated by {', '.join(values)}:"
            " what it works out of them when it is made, or its start, needs plain numbers"
            f" ({str(error).splitlines()[0]})\n  Write that with functions from numerics.namespace"
            " in place of numpy, and check only what is not traced."
        ) from None
    except ParameterError as error:
        raise ScenarioError(f"{error.field}: {error}") from None


def remade(
    experiment: Experiment, changes: Mapping[tuple[str, ...], dict[str, Any]]
) -> tuple[AbstractHybridSystem, HybridState]:
    """The robot and its start with other numbers, by table and key; switches as 1 and 0.

    Made anew, not patched: what a robot works out of its numbers when it is made has to follow
    them.
    """
    start = experiment.start_options
    if start is None:
        raise ScenarioError(
            "this experiment was made without its [start] table; load it with footfall.load."
        )
    system = _changed_system(experiment.system, changes)
    return system, system.begin(dataclasses.replace(start, **changes.get(("start",), {})))


def design_words(values: Mapping[str, Any], number: int) -> str:
    """A design as a message names it: its number and its values."""
    said = ", ".join(
        f"{k} = {clipped(v) if isinstance(v, str) else format(v, 'g')}" for k, v in values.items()
    )
    return f"design {number} ({said})"


def require_common_length(columns: Columns) -> None:
    """One value per design in every column."""
    lengths = {name: np.shape(values) for name, values in columns.items()}
    for name, shape in lengths.items():
        if len(shape) != 1:
            raise ScenarioError(
                f"{name}: expected one value per design (an array of one axis), got an array of"
                f" shape {shape}."
            )
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {shape[0]}" for name, shape in lengths.items())
        raise ScenarioError(f"all columns need one value per design: {said}.")


def _require_allowed(knob: Knob, values: np.ndarray, numbers: np.ndarray | None) -> None:
    allowed = knob.info.allows_each(values)
    if np.all(allowed):
        return
    bad = int(np.argmin(allowed))
    unit = f" {knob.unit}" if knob.unit else ""
    need = knob.info.bounds() or "a finite number"
    number = bad if numbers is None else int(numbers[bad])
    raise ScenarioError(
        f"{knob.name} = {values[bad]:g}{unit} in design {number} is out of range: {knob.info.doc}"
        f" must be {need}."
    )


def _owner(experiment: Experiment, table: tuple[str, ...]) -> Any:
    """The robot, part or start that a table of the scenario describes, or None."""
    if table == ("robot",):
        return experiment.system
    if table == ("start",):
        return experiment.start_options
    slot = next((s for s in slot_types(type(experiment.system)) if slot_path(s) == table), None)
    return None if slot is None else getattr(experiment.system, slot)


def _changed_system(system: Any, changes: Mapping[tuple[str, ...], dict[str, np.ndarray]]) -> Any:
    parts: dict[str, dict[str, Any]] = {
        slot: dict(changes[slot_path(slot)])
        for slot in slot_types(type(system))
        if slot_path(slot) in changes
    }
    own = dict(changes.get(("robot",), {}))
    for slot in slot_types(type(system)):
        part = getattr(system, slot)
        for field, info in describe(part).items():
            if info.role == "switches" and (thrown := changes.get((*slot_path(slot), field))):
                now = zip(info.options, getattr(part, field), strict=True)
                parts.setdefault(slot, {})[field] = tuple(
                    thrown.get(option, value) for option, value in now
                )
    own |= {
        slot: dataclasses.replace(getattr(system, slot), **values) for slot, values in parts.items()
    }
    return dataclasses.replace(system, **own) if own else system
