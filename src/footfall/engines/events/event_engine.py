"""EventEngine: adaptive steps that land on every event, with the numbers that they need."""

from typing import Any, ClassVar

import diffrax

from footfall.engines.events.solvers import SOLVERS, solver_by_name
from footfall.engines.span import AbstractEngine, require_resolved
from footfall.hybrid.fields import ParameterError, choice, param


class EventEngine(AbstractEngine):
    """Steps as long as the tolerances allow, landing on every event; derivatives go through them.

    >>> import footfall as ff
    >>> plan = ff.Plan(duration=1.0, engine=ff.EventEngine(rtol=1e-10), sample_rate=None)
    >>> run = ff.simulate(ff.robots.passive_wheel(), plan=plan)
    >>> len(run.t)  # the start, both sides of four jumps, the end
    10

    `solver` is a name or any diffrax solver that steps a single vector. Tolerances are of the local
    error, for states and ledger integrals alike. While the guard of a contact (`Event.contact`) is
    below `near_room`, steps are no longer than `near_step`: a foot meets the ground in small steps,
    whatever the others are.
    """

    name: ClassVar[str] = "event"

    solver: diffrax.AbstractSolver = choice(
        "dopri8",
        options=SOLVERS,
        makes=solver_by_name,
        doc="how steps are made; implicit ones are for stiff robots",
    )
    rtol: float = param(1e-8, ge=1e-14, le=0.1, doc="relative tolerance of a step")
    atol: float = param(1e-10, gt=0, le=0.1, doc="absolute tolerance of a step")
    max_step: float = param(
        0.2, unit="s", gt=0, doc="longest step: bounds what an event could hide in"
    )
    step: float | None = param(None, unit="s", gt=0, doc="constant step instead of an adaptive one")
    near_room: float | None = param(
        None, unit="m", gt=0, doc="height of a foot above the ground below which near_step holds"
    )
    near_step: float | None = param(
        None, unit="s", gt=0, doc="longest step while a foot is near the ground; auto: as anywhere"
    )

    def require_together(self) -> None:
        if not isinstance(self.solver, diffrax.AbstractSolver):
            raise ParameterError(
                f'solver = {self.solver!r} is no solver: give a name, such as "dopri8", or one of'
                " diffrax.",
                "solver",
            )
        if self.step is None and not isinstance(self.solver, diffrax.AbstractAdaptiveSolver):
            raise ParameterError(
                f"{type(self.solver).__name__} cannot estimate its error: give a constant `step`,"
                " such as step = 1e-4, or take another solver.",
                "solver",
            )
        if (self.near_room is None) != (self.near_step is None):
            raise ParameterError(
                "near_room says below which height a foot is near the ground, near_step how"
                " long steps may be then: give both or neither.",
                "near_step",
            )

    def told(self) -> dict[str, Any]:
        kept = ("rtol", "atol", "step", "near_room", "near_step")
        return {
            "engine": self.name,
            "solver": _called(self.solver),
            **{name: getattr(self, name) for name in kept},
        }

    def require_span(self, duration: float, sample_rate: float | None) -> None:
        require_resolved(
            duration,
            max_step=self.max_step,
            step=self.step,
            near_step=self.near_step,
            fine_step=getattr(self.solver, "fine_step", None),
        )


def _called(solver: Any) -> str:
    """A solver with the numbers that make it what it is: "AdamsBashforth(degree=4)"."""
    numbers = ", ".join(f"{k}={v}" for k, v in vars(solver).items() if isinstance(v, int | float))
    return type(solver).__name__ + (f"({numbers})" if numbers else "")
