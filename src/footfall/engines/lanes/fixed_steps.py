"""StepEngine: fixed steps, with the numbers that they need."""

from typing import Any, ClassVar

from footfall.engines.lanes.step_methods import METHODS
from footfall.engines.span import AbstractEngine
from footfall.hybrid.fields import ParameterError, choice, param

#: Steps of the step engine are counted in 32 bits.
MOST_FIXED_STEPS = 2**31 - 2


class StepEngine(AbstractEngine):
    """Fixed steps, as sweeps make them: for robots whose clocks tick thousands of times a second.

    >>> import footfall as ff
    >>> plan = ff.Plan(duration=1.0, engine=ff.StepEngine(step=1e-3, method="rk2"))
    >>> run = ff.simulate(ff.robots.passive_wheel(), plan=plan)
    >>> run.outcome.name, run.provenance["order"]
    ('reached_end', 2)

    Events are still located, but rows are kept at samples only. Every clock's period is a whole
    number of steps.
    """

    name: ClassVar[str] = "step"

    step: float = param(unit="s", gt=0, doc="fixed step")
    method: str = choice("rk4", options=METHODS, doc="how sweeps make their steps")

    def told(self) -> dict[str, Any]:
        without = ("rtol", "atol", "near_room", "near_step")
        return {
            "engine": self.name,
            "solver": self.method,
            "order": METHODS[self.method].order,
            "step": self.step,
            **dict.fromkeys(without),
        }

    def require_span(self, duration: float, sample_rate: float | None) -> None:
        require_countable(duration, batch_step=self.step)
        if sample_rate is None:
            raise ParameterError(
                "the step engine keeps rows at samples only: give a sample_rate.", "sample_rate"
            )


def require_countable(duration: float, **steps: float | None) -> None:
    """Raise for a step of which there are too many to count."""
    for name, step in steps.items():
        if step is not None and duration / step > MOST_FIXED_STEPS:
            raise ParameterError(
                f"{name} = {step:g} s makes more than 2^31 steps of {duration:g} s; take a longer"
                " step.",
                name,
            )
