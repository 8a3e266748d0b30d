"""Validated tables.

Pydantic models made from the `param` fields of parts, so that a parameter is declared once.
"""

import functools
import math
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pydantic
from pydantic import AfterValidator, BeforeValidator, ConfigDict

from footfall.engines.bodies.mujoco_engine import MujocoEngine
from footfall.engines.events.multirate import Multirate
from footfall.engines.events.solvers import name_of, solver_by_name
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.plan import ENGINES, EventEngine, Plan, StepEngine
from footfall.engines.span import AbstractEngine, fields_of
from footfall.hybrid.fields import FieldInfo, Parametric, choice, describe, nearest, switched_names
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem
from footfall.numerics.shown import shown
from footfall.numerics.units import UnitError, to_si

_STRICT = ConfigDict(extra="forbid")
#: A run of a plan is given this share more time than the plan takes: it ends by arriving.
AFTER_ARRIVAL = 1e-3
#: Roles of fields that a scenario has keys for.
SETTABLE = ("param", "choice", "numbers", "switches", "text")


def _quantity(unit: str, check: FieldInfo | None, optional: bool, integer: bool = False) -> Any:
    def convert(value: Any) -> Any:
        if optional and value in (None, "auto"):
            return None
        if not isinstance(value, int | float | str) or isinstance(value, bool):
            raise ValueError(
                f"expected a number{f' in {unit}' if unit else ''}, got {shown(value)}"
            )
        try:
            number = to_si(value, unit)
        except UnitError as error:
            raise ValueError(str(error)) from None
        if not math.isfinite(number):
            raise ValueError("not a finite number")
        if check is not None and not check.allows(number):
            what = check.doc.partition(";")[0]  # not what "auto" means
            raise ValueError(
                f"{number:g}{f' {unit}' if unit else ''} is out of range: {what} must be"
                f" {check.bounds()}"
            )
        if integer:
            if number != int(number):
                raise ValueError(f"{shown(value)} must be a whole number")
            return int(number)
        return number

    kind = int if integer else float
    return Annotated[kind | None if optional else kind, BeforeValidator(convert), check]


def _switches(info: FieldInfo) -> Any:
    def convert(value: Any) -> list[str]:
        """A list of names; also "none", or names joined by + (one word, for `--vary`)."""
        if isinstance(value, str):
            value = [] if value == "none" else [word.strip() for word in value.split("+")]
        if not isinstance(value, list | tuple):
            raise ValueError(f"expected a list of: {', '.join(info.options)}")
        if len(value) == len(info.options) and not any(isinstance(word, str) for word in value):
            return switched_names(value, info.options)
        for word in value:
            if word not in info.options:
                raise ValueError(
                    f"{shown(word)} is not one of: {', '.join(info.options)} (or [] for none)."
                    f"{nearest(word, info.options) if isinstance(word, str) else ''}"
                )
        return list(dict.fromkeys(value))

    return Annotated[list[str], BeforeValidator(convert), info]


def _typed(cls: type, name: str, info: FieldInfo, optional: bool) -> Any:
    """What pydantic takes for the field of a class, from its declaration."""
    match info.role:
        case "param":
            hints = [vars(base).get("__annotations__", {}) for base in cls.__mro__]
            hint = next(found[name] for found in hints if name in found)
            return _quantity(info.unit, info, optional, hint is int)
        case "choice":
            return Literal[info.options]
        case "numbers":
            return list[_quantity(info.unit, None, False)]
        case "switches":
            return _switches(info)
        case _:
            return str


@functools.cache
def table_model(cls: type) -> type[pydantic.BaseModel]:
    """The pydantic model of one part's own parameters (its slots are tables of their own)."""
    fields: dict[str, Any] = {
        name: (_typed(cls, name, info, cls.__dataclass_fields__[name].default is None), ...)
        for name, info in describe(cls).items()
        if info.role in SETTABLE
    }
    return pydantic.create_model(cls.__name__, __config__=_STRICT, **fields)


class EngineKey(Parametric):
    """The engine by its name, which only a file has: in Python it is an object."""

    engine: str = choice(
        "event",
        options=AbstractHybridSystem.engines,
        doc="adaptive steps that land on every event, or the fixed steps of sweeps (batch_step)",
    )


#: The keys of [sim], in order, and the field that declares each: unit, bounds, meaning, default.
SIM_KEYS: dict[str, tuple[type, str]] = {
    "duration": (Plan, "duration"),
    "sample_rate": (Plan, "sample_rate"),
    **{key: (EventEngine, key) for key in ("solver", "rtol", "atol", "max_step", "step")},
    "fine_step": (Multirate, "fine_step"),
    **{key: (EventEngine, key) for key in ("near_room", "near_step")},
    "engine": (EngineKey, "engine"),
    "batch_step": (BatchPlan, "first_step"),
    "batch_method": (StepEngine, "method"),
    "max_jumps": (Plan, "max_jumps"),
    "settle": (Plan, "settle"),
}
#: Keys that may be "auto" though the plan they make has a number.
_AUTO = ("duration", "sample_rate")


def _sim_field(key: str) -> tuple[Any, Any]:
    cls, name = SIM_KEYS[key]
    default = cls.__dataclass_fields__[name].default
    optional = default is None or key in _AUTO
    return _typed(cls, name, describe(cls)[name], optional), default


class SimTable(
    pydantic.create_model(
        "SimKeys", __config__=_STRICT, **{key: _sim_field(key) for key in SIM_KEYS}
    )
):
    """[sim]: how long, how accurately, what to keep; the keys of all engines in one table."""

    @classmethod
    def used_by(cls, system: Any) -> set[str]:
        """The keys that mean something for this robot, by the engine that runs it.

        A robot with equations of its own has those of sweeps too.
        """
        engine = ENGINES[system.engines[0]]
        if engine is EventEngine:
            return set(SIM_KEYS)
        return {*describe(Plan), *describe(engine)} - set(engine.ignores)

    @classmethod
    def describe(cls) -> dict[str, FieldInfo]:
        """Field name -> declaration."""
        return {key: describe(owner)[name] for key, (owner, name) in SIM_KEYS.items()}

    @classmethod
    def of(cls, plan: Plan) -> "SimTable":
        """The table that makes this plan; a solver without a name goes by that of its class."""
        said = {key: getattr(plan, key) for key in describe(Plan)}
        match plan.engine:
            case EventEngine(solver=solver) as by:
                said |= {key: getattr(by, key) for key in fields_of(EventEngine)}
                said["solver"] = name_of(solver)
                if isinstance(solver, Multirate):
                    said["fine_step"] = solver.fine_step
            case StepEngine(step=step, method=method):
                said |= {"engine": "step", "batch_step": step, "batch_method": method}
            case MujocoEngine(step=step):
                said["step"] = step
        return cls.model_construct(**said)

    def engines(self) -> dict[str, Callable[[], AbstractEngine]]:
        """By name, what makes each engine as this table has it."""
        event = {key: getattr(self, key) for key in fields_of(EventEngine) if key != "solver"}
        return {
            "event": lambda: EventEngine(solver_by_name(self.solver, self.fine_step), **event),
            "step": self._step_engine,
            "mujoco": lambda: MujocoEngine(self.step),
        }

    def _step_engine(self) -> StepEngine:
        if self.batch_step is None:
            raise ValueError('engine = "step" needs a batch_step, such as batch_step = "250 us".')
        return StepEngine(self.batch_step, self.batch_method)

    def plan(self, system: Any = None) -> Plan:
        """For this robot, which knows its engines and how long its motion takes, if it does."""
        asked = {key: getattr(self, key) for key in describe(Plan)}
        if self.duration is None:
            own = None if system is None else system.own_time
            asked["duration"] = 10.0 if own is None else own * (1.0 + AFTER_ARRIVAL)
        if system is None:
            return Plan(**asked, engine=self.engines()[self.engine]())
        usual = system.engines[0]
        engine = self.engines()[self.engine if usual == "event" else usual]()
        return Plan(**asked, engine=engine).for_machine(system)


def _ending(name: str) -> str:
    # When asked: a robot of one's own has declared its endings by then.
    known = [outcome.name for outcome in Outcome]
    if name not in known:
        hint = nearest(name, known) or f" Known: {', '.join(known)}."
        raise ValueError(f"{shown(name)} is no way for a run to end.{hint}")
    return name


class AboutTable(pydantic.BaseModel):
    """The words at the top of a file."""

    model_config = _STRICT

    title: str = ""
    about: str = ""
    look_for: str = ""
    success: list[Annotated[str, AfterValidator(_ending)]] = ["reached_end"]
