"""BatchPlan: how a batch of robots is moved through time with fixed steps."""

from typing import Any

import equinox as eqx

from footfall.engines.lanes.fixed_steps import StepEngine, require_countable
from footfall.engines.span import Span, require_inside
from footfall.hybrid.fields import ParameterError, Parametric, choice, param, shared

PATHS = ("auto", "gpu", "cpp", "xla")
PRECISIONS = ("float64", "float32")


def _names(given: Any) -> Any:
    return given if isinstance(given, str) else tuple(given)


class BatchPlan(Parametric):
    """How to move many systems of one kind through time with the step engine.

    duration    seconds to simulate
    step        fixed step [s]; None: one that is stable for each robot, and accurate
    rtol        tolerance of a step instead of a step: each robot chooses its own, all the way
    method      of fixed steps: "rk4", "rk2", "semi-implicit-euler" or "linearly-implicit" (for
                stiff systems)
    settle      time from which the metrics are taken; None: the second half
    max_jumps   a robot's run ends with this many jumps
    track       named outputs whose mean, root mean square, least and largest value over the settled
                part are kept
    sample      named outputs to keep every `sample_every` steps, from the time `sample_from`
    first_step  where there is no step: the longest to try [s]; None: 10 ms, or what fits the clocks
    path        "gpu" (one CUDA kernel), "cpp" (one C++ kernel), "xla" (everywhere), or "auto":
                the fastest there is
    """

    duration: float = shared(Span, "duration", required=True)
    step: float | None = shared(StepEngine, "step", None)
    method: str = shared(StepEngine, "method")
    precision: str = choice("float64", options=PRECISIONS, doc="of every number of the robots")
    settle: float | None = shared(Span, "settle")
    max_jumps: int = shared(Span, "max_jumps")
    track: tuple[str, ...] = eqx.field(default=(), static=True, converter=_names)
    path: str = choice("auto", options=PATHS, doc="what compiles and runs the batch")
    sample: tuple[str, ...] = eqx.field(default=(), static=True, converter=_names)
    sample_every: int | None = param(None, static=True, doc="steps between two samples")
    sample_from: float = param(0.0, unit="s", ge=0, doc="time from which samples are kept")
    first_step: float | None = param(
        None,
        unit="s",
        gt=0,
        doc="first step of sweeps, halved for designs it is too long for; auto: one that suits"
        " each",
    )
    rtol: float | None = param(
        None, ge=1e-14, le=0.1, doc="relative tolerance of a step, instead of fixed steps"
    )

    @property
    def needs_steps(self) -> bool:
        """Whether fixed steps are still to be chosen."""
        return self.step is None and self.rtol is None

    def require_together(self) -> None:
        for name in ("track", "sample"):
            names = getattr(self, name)
            if isinstance(names, str):
                raise ParameterError(
                    f'{name} = "{names}" must be a tuple of names, such as ("{names}",).', name
                )
        if self.rtol is not None and (self.step is not None or self.sample):
            raise ParameterError(
                f"rtol = {self.rtol:g} lets every robot choose its steps: leave out step and"
                " samples, which count fixed steps.",
                "rtol",
            )
        step = self.step or self.first_step
        if step is not None and step > self.duration:
            raise ParameterError(
                f"step = {step:g} s is longer than the duration of {self.duration:g} s.", "step"
            )
        require_inside(self.duration, settle=self.settle)
        if (self.sample_every is None) != (not self.sample) or (
            self.sample_every is not None and self.sample_every < 1
        ):
            raise ParameterError(
                "sample names outputs and sample_every says how often, at least 1: give both or"
                " neither.",
                "sample",
            )
        if self.sample_from > self.duration:
            raise ParameterError(
                f"sample_from = {self.sample_from:g} s must lie inside the duration of"
                f" {self.duration:g} s.",
                "sample_from",
            )
        require_countable(self.duration, step=step)
