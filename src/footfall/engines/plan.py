"""Plan: how long, what to keep, and which engine with which numbers.

Unit, bounds and meaning of each number stand once, in `span.py` and with each engine: the [sim]
table, the command line, batches and `footfall show` read them from those fields.
"""

import dataclasses
from typing import Any, ClassVar

from footfall.engines.bodies.mujoco_engine import MujocoEngine
from footfall.engines.events.event_engine import EventEngine
from footfall.engines.lanes.fixed_steps import StepEngine
from footfall.engines.span import AbstractEngine, Span, fields_of, require_resolved
from footfall.hybrid.fields import ParameterError, nearest, param


class GivenStep(AbstractEngine):
    """A step alone, as an old `SimPlan(step=...)` had it: of whichever engine the machine has."""

    name: ClassVar[str] = ""

    step: float = param(unit="s", gt=0, doc="constant step")

    def told(self) -> dict[str, Any]:
        return EventEngine(step=self.step).told()

    def require_span(self, duration: float, sample_rate: float | None) -> None:
        require_resolved(duration, step=self.step)


#: By the name that machines and files have for them.
ENGINES: dict[str, type[AbstractEngine]] = {
    kind.name: kind for kind in (EventEngine, StepEngine, MujocoEngine)
}
#: Fields that a plan had before there were engine objects, still read through it.
_OLD = (*fields_of(EventEngine), "fixed")


class Plan(Span):
    """How long to simulate, what to keep, and by which engine.

    >>> import footfall as ff
    >>> ff.Plan(duration=2.0, engine=ff.StepEngine(step=1e-3)).engine.method
    'rk4'

    duration     seconds to simulate
    sample_rate  samples per second to keep, besides both sides of every jump; None keeps the
                 jumps only
    settle       time from which the metrics are taken; None: the second half
    max_jumps    the run ends with this many jumps
    engine       `EventEngine`, `StepEngine` or `MujocoEngine`; None: the one the machine has

    Numbers of the engine may stand beside it, as in `dataclasses.replace(plan, rtol=1e-10)`: they
    are put into it, and one that it does not have is an error.
    """

    def __init__(
        self,
        duration: float = 10.0,
        sample_rate: float | None = 200.0,
        settle: float | None = None,
        max_jumps: int = 1_000_000,
        engine: AbstractEngine | None = None,
        **numbers: Any,
    ):
        self.duration, self.sample_rate, self.settle = duration, sample_rate, settle
        self.max_jumps, self.engine = max_jumps, _with_numbers(engine, numbers)

    def __getattr__(self, name: str) -> Any:
        if name not in _OLD:
            raise AttributeError(f"Plan has no {name}.")
        if name == "fixed":
            return self.engine if isinstance(self.engine, StepEngine) else None
        return getattr(self.engine_for("event") if self.engine is None else self.engine, name)

    def engine_for(self, *engines: str, who: str = "") -> Any:
        """Its engine, which must be one of those named; where it has none, the first of them."""
        mine = self.engine
        if mine is None or isinstance(mine, GivenStep):
            return ENGINES[engines[0]](**({} if mine is None else {"step": mine.step}))
        if mine.name not in engines:
            known = " or ".join(ENGINES[name].__name__ for name in engines)
            raise ParameterError(
                f"{type(mine).__name__} cannot run {who or 'this'}: take {known}, or none.",
                "engine",
            )
        return mine

    def for_machine(self, machine: Any) -> "Plan":
        """The same plan, with the engine that runs this machine in it."""
        engine = self.engine_for(*machine.engines, who=type(machine).__name__)
        return self if engine is self.engine else dataclasses.replace(self, engine=engine)


def SimPlan(duration: float = 10.0, **numbers: Any) -> Plan:
    """A plan by its old name: `Plan`, with the numbers of its engine beside those of the run.

    Arguments:
        duration, numbers: fields of `Plan` and of its engine, in one list; `fixed=StepEngine(...)`
        was the way to ask for fixed steps.

    Returns a `Plan`. This name will go after one release.

    >>> import footfall as ff
    >>> ff.SimPlan(duration=2.0, rtol=1e-9) == ff.Plan(2.0, engine=ff.EventEngine(rtol=1e-9))
    True
    """
    return Plan(duration, **numbers)


#: Its old name; will go after one release.
FixedSteps = StepEngine


def _with_numbers(engine: AbstractEngine | None, numbers: dict[str, Any]) -> AbstractEngine | None:
    """The engine with these numbers of its own put in; `fixed` is an engine, or none."""
    if "fixed" in numbers:
        numbers = dict(numbers)
        fixed = numbers.pop("fixed")
        engine = fixed or (None if isinstance(engine, StepEngine) else engine)
    if isinstance(engine, GivenStep):
        engine, numbers = None, {"step": engine.step, **numbers}
    if engine is None and set(numbers) <= {"step"}:
        step = numbers.get("step")
        return None if step is None else GivenStep(step)
    kind = EventEngine if engine is None else type(engine)
    for name in numbers:
        if name not in fields_of(kind):
            known = (*fields_of(Span), *fields_of(kind))
            raise ParameterError(
                f"{name}: {kind.__name__} has no such number and would ignore it. Known:"
                f" {', '.join(known)}.{nearest(name, known)}",
                name,
            )
    return EventEngine(**numbers) if engine is None else dataclasses.replace(engine, **numbers)
