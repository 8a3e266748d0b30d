"""The slot `controller` of a robot with a control computer: a law that is computed once a period.

`AbstractController` is what a controller of one's own subclasses. The same `update` is traced into
lockstep simulations and batches, runs with NumPy numbers, and becomes C by `footfall export-c`.
"""

import abc
import dataclasses
import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from footfall.hybrid.fields import ParameterError, Parametric
from footfall.machines.control.loop_states import ControllerMemory
from footfall.machines.control.microseconds import SECOND
from footfall.machines.control.own_law import SampledMemory
from footfall.machines.control.pid import early
from footfall.numerics.namespace import choose, clamp, negated
from footfall.numerics.scalar import Scalar


class AbstractLaw(Parametric):
    """What the mid level computes; its numbers are in joint torque of all motors together.

    `carried_as` is the tuple that mid_step.py carries, `shown_as` the struct with the same fields
    in the robot's discrete state.
    """

    carried_as: ClassVar[Any]
    shown_as: ClassVar[Any]

    @abc.abstractmethod
    def in_amperes(self, per_ampere: Scalar, period_us: int) -> Any:
        """The law as the mid level runs it, in amperes for each motor.

        It has a `period_us`, an `output_limit` and an `update` from a memory, the time, the set
        point and the measured angle to a new memory and whether it calculated.
        """

    @abc.abstractmethod
    def begun(self) -> Any:
        """What it remembers at the start of a run, as it is shown."""


class AbstractController(AbstractLaw):
    """A controller of one's own: a pure function of its memory and what is measured.

    Its numbers are `param` fields, its memory a struct of `signal` fields. Both methods work on
    single numbers: floats, NumPy numbers, traced ones. So write `choose(flag, a, b)` for `if`, and
    `clamp(value, least, most)` for a limit.
    """

    carried_as: ClassVar[Any] = SampledMemory
    shown_as: ClassVar[Any] = ControllerMemory

    @abc.abstractmethod
    def rest(self) -> Any:
        """The memory before the first call: each field a float, an int or a bool.

        None for a law without one.
        """

    @abc.abstractmethod
    def update(
        self, memory: Any, setpoint: Scalar, measured: Scalar, sample_time: Scalar
    ) -> tuple[Any, Scalar]:
        """The memory after this call, and the torque [N m] of all motors together.

        Called once in `sample_time` [s], with the angle that is wanted and the last one that was
        measured [rad].
        """

    def in_amperes(self, per_ampere: Scalar, period_us: int) -> "SampledLaw":
        return SampledLaw(self, per_ampere, period_us)

    def begun(self) -> ControllerMemory:
        own = of_types(self.rest(), lambda number: number)
        return ControllerMemory(own, np.int32(0), np.bool_(False), 0.0, 0.0)

    def updated(
        self, memory: Any, setpoint: Scalar, measured: Scalar, sample_time: Scalar
    ) -> tuple[Any, Scalar]:
        """`update`, whose answer is looked at: a memory like `rest()`, and a torque."""
        answer, kind = self.update(memory, setpoint, measured, sample_time), type(self).__name__
        if not (isinstance(answer, tuple) and len(answer) == 2):
            raise ParameterError(
                f"{kind}.update gives back a {type(answer).__name__}; expected: memory, torque.",
                "controller",
            )
        if type(answer[0]) is not type(memory):
            raise ParameterError(
                f"{kind}.update gives back a memory of type {type(answer[0]).__name__}, and"
                f" {kind}.rest one of type {type(memory).__name__}. They must be the same.",
                "controller",
            )
        return answer


class SampledLaw(NamedTuple):
    """A controller of one's own at a fixed sample time, in amperes for each motor."""

    controller: AbstractController
    per_ampere: Scalar
    period_us: int
    #: A; infinite: what limits it is the motor driver, or the controller itself
    output_limit: Scalar = math.inf

    def update(
        self, memory: SampledMemory, now_us: Any, setpoint: Scalar, measured: Scalar
    ) -> tuple[SampledMemory, Any]:
        """The memory after a call, and whether it calculated. Called early, it changes nothing."""
        waits = early(memory, now_us, self.period_us)
        own = choose(memory.started, memory.own, self.controller.rest())
        own, torque = self.controller.updated(own, setpoint, measured, self.period_us / SECOND)
        output = clamp(torque / self.per_ampere, -self.output_limit, self.output_limit)
        new = SampledMemory(own, now_us, memory.started | True, measured, output)
        return choose(waits, memory, new), negated(waits)


def of_types(memory: Any, real: Any) -> Any:
    """A memory whose floats went through `real`; its ints are 32 bits wide."""

    def typed(name: str, number: Any) -> Any:
        if isinstance(number, bool | np.bool_):
            return np.bool_(number)
        if isinstance(number, np.unsignedinteger):
            return np.uint32(number)
        if isinstance(number, int | np.integer):
            return np.int32(number)
        if isinstance(number, float | np.floating):
            return real(number)
        raise ParameterError(
            f"rest() begins with memory.{name} = {number!r:.60}; a float, an int or a bool is"
            " expected.",
            "controller",
        )

    if memory is None:
        return None
    if not dataclasses.is_dataclass(memory):
        raise ParameterError(
            f"rest() gives back a {type(memory).__name__}; a struct of signal fields is expected"
            " (an equinox.Module), or None.",
            "controller",
        )
    names = [field.name for field in dataclasses.fields(memory)]
    return dataclasses.replace(memory, **{n: typed(n, getattr(memory, n)) for n in names})
