"""What every run is asked, whichever engine makes it: how long, what to keep, when to stop."""

import abc
from typing import Any, ClassVar

from footfall.hybrid.fields import ParameterError, Parametric, describe, param

#: A step shorter than this share of the span is lost in the clock: time has 16 digits, and a step
#: needs a few of them for its length.
LEAST_SHARE = 1e-12


class AbstractEngine(Parametric):
    """How a run is moved through time: an object with the numbers that this engine uses, no others.

    A machine lists the engines that can run it, by `name`, in its `engines`.
    """

    name: ClassVar[str]  #: as files and machines call it
    ignores: ClassVar[tuple[str, ...]] = ()  #: fields of a plan that mean nothing to it

    @abc.abstractmethod
    def told(self) -> dict[str, Any]:
        """What a run's provenance says of it."""

    def require_span(self, duration: float, sample_rate: float | None) -> None:
        """Raise where its steps cannot make a run of this length with these samples."""
        del duration, sample_rate


class Span(Parametric):
    """How long to simulate, what to keep, when to stop, and the engine that does it."""

    duration: float = param(
        10.0,
        unit="s",
        gt=0,
        doc="time to simulate; auto: as long as the robot's plan takes, or 10 s",
    )
    sample_rate: float | None = param(
        200.0,
        unit="Hz",
        gt=0,
        doc="samples kept per second, besides both sides of every jump; auto: jumps only",
    )
    settle: float | None = param(
        None, unit="s", ge=0, doc="time from which metrics are taken; auto: the second half"
    )
    max_jumps: int = param(
        1_000_000, ge=1, le=2e9, static=True, doc="the run ends with this many jumps"
    )
    engine: AbstractEngine | None = None

    def require_together(self) -> None:
        require_inside(self.duration, settle=self.settle)
        if self.engine is None:
            return
        for name in self.engine.ignores:
            if getattr(self, name) != type(self).__dataclass_fields__[name].default:
                raise ParameterError(
                    f"{name} = {getattr(self, name)} means nothing to {type(self.engine).__name__}:"
                    " leave it out.",
                    name,
                )
        self.engine.require_span(self.duration, self.sample_rate)

    def told(self) -> dict[str, Any]:
        """What a run's provenance says of it."""
        return {**({} if self.engine is None else self.engine.told()), "settle": self.settle}


def require_inside(duration: float, **times: float | None) -> None:
    """Raise for a time that does not lie within the duration."""
    for name, value in times.items():
        if value is not None and not 0 <= value < duration:
            raise ParameterError(
                f"{name} = {value:g} s must lie inside the duration of {duration:g} s.", name
            )


def require_resolved(duration: float, **steps: float | None) -> None:
    """Raise for a step that does not move the clock."""
    for name, value in steps.items():
        if value is not None and value < LEAST_SHARE * duration:
            raise ParameterError(
                f"{name} = {value:g} s is below what time can resolve over {duration:g} s:"
                f" such steps do not move the clock. Take more than {LEAST_SHARE * duration:.3g} s"
                " (a step worth waiting for is far longer), or a shorter duration.",
                name,
            )


def fields_of(engine: type | AbstractEngine) -> tuple[str, ...]:
    """The names of an engine's own numbers."""
    return tuple(describe(engine))
