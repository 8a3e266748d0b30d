"""SimPlan: how long, how accurately, and what to keep."""

import dataclasses
import math

import diffrax

#: A step shorter than this share of the span is lost in the clock: time has 16 digits, and a step
#: needs a few of them for its length.
LEAST_SHARE = 1e-12
#: Steps of the step engine are counted in 32 bits.
MOST_FIXED_STEPS = 2**31 - 2


@dataclasses.dataclass(frozen=True)
class FixedSteps:
    """A run by the step engine instead: for robots with clocks that tick thousands of times a
    second.

    step     fixed step [s]; every clock's period is a whole number of steps
    method   "rk4", "rk2", "semi-implicit-euler" or "linearly-implicit"
    """

    step: float
    method: str = "rk4"


@dataclasses.dataclass(frozen=True)
class SimPlan:
    """How long to simulate, how accurately, and what to keep.

    >>> import footfall as ff
    >>> plan = ff.SimPlan(duration=1.0, rtol=1e-10, sample_rate=None)
    >>> run = ff.simulate(ff.robots.passive_wheel(), plan=plan)
    >>> len(run.t)  # the start, both sides of four jumps, the end
    10

    duration     seconds to simulate
    rtol, atol   tolerances of the local error, for states and ledger integrals alike
    solver       any diffrax solver that steps a single vector
    sample_rate  samples per second to keep, besides both sides of every jump; None keeps the
                 jumps only
    max_step     longest step: bounds what an event could hide in
    step         a constant step instead of an adaptive one (the only way for
                 solvers without an error estimate)
    max_jumps    the run ends with this many jumps
    settle       time from which the metrics are taken; None: the second half
    near_room    while the guard of a contact (`Event.contact`) is below this height [m] ...
    near_step    ... steps are no longer than this [s]: a foot meets the ground in small steps,
                 whatever the others are. Both or neither; a system without contacts is
                 never near
    fixed        fixed steps by the step engine: events are still located, but rows are kept at
                 samples only
    """

    duration: float = 10.0
    rtol: float = 1e-8
    atol: float = 1e-10
    solver: diffrax.AbstractSolver = dataclasses.field(default_factory=diffrax.Dopri8)
    sample_rate: float | None = 200.0
    max_step: float = 0.2
    step: float | None = None
    max_jumps: int = 1_000_000
    settle: float | None = None
    near_room: float | None = None
    near_step: float | None = None
    fixed: FixedSteps | None = None

    def __post_init__(self) -> None:
        positive = {
            "duration": self.duration,
            "rtol": self.rtol,
            "atol": self.atol,
            "max_step": self.max_step,
        }
        for name, value in positive.items():
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"SimPlan.{name} = {value:g} must be a positive, finite number.")
        for name in ("sample_rate", "step", "near_room", "near_step"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise ValueError(
                    f"SimPlan.{name} = {value:g} must be positive and finite, or left out."
                )
        fine = getattr(self.solver, "fine_step", None)
        for name, value in {
            "max_step": self.max_step,
            "step": self.step,
            "near_step": self.near_step,
            "fine_step": fine,
        }.items():
            if value is not None and value < LEAST_SHARE * self.duration:
                raise ValueError(
                    f"{name} = {value:g} s is below what time can resolve over {self.duration:g} s:"
                    " such steps do not move the clock. Take more than"
                    f" {LEAST_SHARE * self.duration:.3g} s (a step worth waiting for is far"
                    " longer), or a shorter duration."
                )
        if self.fixed is not None and self.duration / self.fixed.step > MOST_FIXED_STEPS:
            raise ValueError(
                f"batch_step = {self.fixed.step:g} s makes more than 2^31 steps of"
                f" {self.duration:g} s; take a longer step."
            )
        if self.step is None and not isinstance(self.solver, diffrax.AbstractAdaptiveSolver):
            name = type(self.solver).__name__
            raise ValueError(
                f"{name} cannot estimate its error: give a constant `step`, such as step = 1e-4, or"
                " take another solver."
            )
        if (self.near_room is None) != (self.near_step is None):
            raise ValueError(
                "SimPlan.near_room says below which height a foot is near the ground, near_step how"
                " long steps may be then: give both or neither."
            )
        if self.fixed is not None and self.sample_rate is None:
            raise ValueError("SimPlan.fixed keeps rows at samples only: give a sample_rate.")
        if self.max_jumps < 1:
            raise ValueError(f"SimPlan.max_jumps = {self.max_jumps} must be at least 1.")
        if self.settle is not None and not 0 <= self.settle < self.duration:
            raise ValueError(
                f"SimPlan.settle = {self.settle:g} s must lie inside the duration of"
                f" {self.duration:g} s."
            )
