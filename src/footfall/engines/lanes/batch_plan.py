"""BatchPlan: how a batch of robots is moved through time with fixed steps."""

import dataclasses
import math

from footfall.engines.lanes.step_methods import METHODS
from footfall.hybrid.fields import nearest

PATHS = ("auto", "gpu", "cpp", "xla")
PRECISIONS = ("float64", "float32")


@dataclasses.dataclass(frozen=True)
class BatchPlan:
    """How to move many systems of one kind through time with the step engine.

    duration    seconds to simulate
    step        fixed step [s]; None: one that is stable for each robot, and accurate
    method      "rk4", "rk2", "semi-implicit-euler" or "linearly-implicit" (for stiff systems)
    precision   "float64" or "float32"
    settle      time from which the metrics are taken; None: the second half
    max_jumps   a robot's run ends with this many jumps
    track       named outputs whose mean, root mean square, least and largest value over the settled
                part are kept
    sample      named outputs to keep every `sample_every` steps
    sample_from time from which they are kept [s]
    first_step  where there is no step: the longest to try [s]; None: 10 ms, or what fits the clocks
    path        "gpu" (one Pallas kernel), "cpp" (one C++ kernel), "xla" (everywhere), or "auto":
                the fastest there is
    """

    duration: float
    step: float | None = None
    method: str = "rk4"
    precision: str = "float64"
    settle: float | None = None
    max_jumps: int = 1_000_000
    track: tuple[str, ...] = ()
    path: str = "auto"
    sample: tuple[str, ...] = ()
    sample_every: int | None = None
    sample_from: float = 0.0
    first_step: float | None = None

    def __post_init__(self) -> None:
        for name in ("track", "sample"):
            names = getattr(self, name)
            if isinstance(names, str):
                raise ValueError(
                    f'BatchPlan.{name} = "{names}" must be a tuple of names, such as ("{names}",).'
                )
            object.__setattr__(self, name, tuple(names))
        for name, value in {
            "duration": self.duration,
            "step": self.step,
            "first_step": self.first_step,
        }.items():
            if value is not None and not (math.isfinite(value) and value > 0):
                raise ValueError(f"BatchPlan.{name} = {value:g} must be a positive, finite number.")
        step = self.step or self.first_step
        if step is not None and step > self.duration:
            raise ValueError(
                f"BatchPlan.step = {step:g} s is longer than the duration of {self.duration:g} s."
            )
        if step is not None and self.duration / step > 2**31 - 2:
            raise ValueError(
                f"BatchPlan.step = {step:g} s makes more than 2^31 steps of {self.duration:g} s;"
                " take a longer step."
            )
        for name, options in {
            "method": tuple(METHODS),
            "precision": PRECISIONS,
            "path": PATHS,
        }.items():
            value = getattr(self, name)
            if value not in options:
                raise ValueError(
                    f'BatchPlan.{name} = "{value}" is not an option. Known:'
                    f" {', '.join(options)}.{nearest(str(value), options)}"
                )
        if self.settle is not None and not 0 <= self.settle < self.duration:
            raise ValueError(
                f"BatchPlan.settle = {self.settle:g} s must lie inside the duration of"
                f" {self.duration:g} s."
            )
        if (self.sample_every is None) != (not self.sample) or (
            self.sample_every is not None and self.sample_every < 1
        ):
            raise ValueError(
                "BatchPlan.sample names outputs and sample_every says how often, at least 1: give"
                " both or neither."
            )
        if not 0.0 <= self.sample_from <= self.duration:
            raise ValueError(
                f"BatchPlan.sample_from = {self.sample_from:g} s must lie inside the duration of"
                f" {self.duration:g} s."
            )
        if not 1 <= self.max_jumps <= 2**31 - 2:
            raise ValueError(
                f"BatchPlan.max_jumps = {self.max_jumps} must be between 1 and 2^31 - 2."
            )
