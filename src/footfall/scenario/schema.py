"""Validated tables.

Pydantic models made from the `param` fields of parts, so that a parameter is declared once.
"""

import functools
import math
from typing import Annotated, Any, Literal

import pydantic
from pydantic import AfterValidator, BeforeValidator, ConfigDict

from footfall.engines.events.solvers import SOLVERS, solver_by_name
from footfall.engines.lanes.step_methods import METHODS
from footfall.engines.plan import FixedSteps, SimPlan
from footfall.hybrid.fields import FieldInfo, describe, nearest, switched_names
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.rigid_bodies import AbstractRigidBodies
from footfall.numerics.shown import shown
from footfall.numerics.units import UnitError, to_si

_STRICT = ConfigDict(extra="forbid")
#: A run of a plan is given this share more time than the plan takes: it ends by arriving.
AFTER_ARRIVAL = 1e-3


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


@functools.cache
def table_model(cls: type) -> type[pydantic.BaseModel]:
    """The pydantic model of one part's own parameters (its slots are tables of their own)."""
    fields: dict[str, Any] = {}
    hints = cls.__annotations__ | {
        k: v
        for base in reversed(cls.__mro__)
        for k, v in getattr(base, "__annotations__", {}).items()
    }
    for name, info in describe(cls).items():
        if info.role == "param":
            default = cls.__dataclass_fields__[name].default
            fields[name] = (
                _quantity(info.unit, info, default is None, hints.get(name) is int),
                ...,
            )
        elif info.role == "choice":
            fields[name] = (Literal[info.options], ...)
        elif info.role == "numbers":
            fields[name] = (list[_quantity(info.unit, None, False)], ...)
        elif info.role == "switches":
            fields[name] = (_switches(info), ...)
        elif info.role == "text":
            fields[name] = (str, ...)
    return pydantic.create_model(cls.__name__, __config__=_STRICT, **fields)


def _bounded(
    unit: str, doc: str, *, optional: bool = False, integer: bool = False, **bounds: float
) -> Any:
    return _quantity(unit, FieldInfo("param", unit, doc, **bounds), optional, integer)


class SimTable(pydantic.BaseModel):
    """[sim]: how long, how accurately, what to keep."""

    model_config = _STRICT

    duration: _bounded(
        "s",
        "time to simulate; auto: as long as the robot's plan takes, or 10 s",
        gt=0,
        optional=True,
    ) = 10.0
    sample_rate: _bounded(
        "Hz",
        "samples kept per second, besides both sides of every jump; auto: jumps only",
        gt=0,
        optional=True,
    ) = 200.0
    solver: Literal[SOLVERS] = "dopri8"
    rtol: _bounded("", "relative tolerance of a step", ge=1e-14, le=0.1) = 1e-8
    atol: _bounded("", "absolute tolerance of a step", gt=0, le=0.1) = 1e-10
    max_step: _bounded("s", "longest step: bounds what an event could hide in", gt=0) = 0.2
    step: _bounded("s", "constant step instead of an adaptive one", gt=0, optional=True) = None
    fine_step: _bounded("s", "step of the fast states (multirate only)", gt=0) = 1e-5
    near_room: _bounded(
        "m", "height of a foot above the ground below which near_step holds", gt=0, optional=True
    ) = None
    near_step: _bounded(
        "s", "longest step while a foot is near the ground; auto: as anywhere", gt=0, optional=True
    ) = None
    engine: Literal["event", "step"] = "event"
    batch_step: _bounded(
        "s",
        "first step of sweeps, halved for designs it is too long for; auto: one that suits each",
        gt=0,
        optional=True,
    ) = None
    batch_method: Literal[tuple(METHODS)] = "rk4"
    max_jumps: _bounded("", "the run ends with this many jumps", ge=1, le=2e9, integer=True) = (
        1_000_000
    )
    settle: _bounded(
        "s", "time from which metrics are taken; auto: the second half", ge=0, optional=True
    ) = None

    @classmethod
    def used_by(cls, system: Any) -> set[str]:
        """The keys that mean something for this robot.

        MuJoCo's steps have no solver of ours, no tolerances and no jumps.
        """
        if isinstance(system, AbstractRigidBodies):
            return {"duration", "sample_rate", "step", "settle"}
        return set(cls.model_fields)

    @classmethod
    def describe(cls) -> dict[str, FieldInfo]:
        """Field name -> declaration."""
        choices = {
            "solver": FieldInfo(
                "choice",
                "",
                "how steps are made; implicit ones are for stiff robots",
                options=SOLVERS,
            ),
            "engine": FieldInfo(
                "choice",
                "",
                "adaptive steps that land on every event, or the fixed steps of sweeps"
                " (batch_step)",
                options=("event", "step"),
            ),
            "batch_method": FieldInfo(
                "choice", "", "how sweeps make their steps", options=tuple(METHODS)
            ),
        }
        return {
            n: choices.get(n) or next(m for m in f.metadata if isinstance(m, FieldInfo))
            for n, f in cls.model_fields.items()
        }

    def plan(self, own_time: float | None = None) -> SimPlan:
        """`own_time` is what the robot's own plan takes, if it has one."""
        options = self.model_dump(
            exclude={"solver", "fine_step", "engine", "batch_step", "batch_method"}
        )
        if options["duration"] is None:
            options["duration"] = 10.0 if own_time is None else own_time * (1.0 + AFTER_ARRIVAL)
        if self.engine == "step":
            if self.batch_step is None:
                raise ValueError(
                    'engine = "step" needs a batch_step, such as batch_step = "250 us".'
                )
            options["fixed"] = FixedSteps(self.batch_step, self.batch_method)
        return SimPlan(solver=solver_by_name(self.solver, self.fine_step), **options)


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
