"""A controller of one's own as the programs against the clock have it: its C, and its memory.

It is written as C where its class is at hand (realtime/own_law_c.py), and travels with the settings
to programs that know neither the class nor JAX. To build it is to run code: that of a run's own
settings is built, that of a log never, for a log may come from anybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from footfall.numerics.namespace import of_kind

if TYPE_CHECKING:  # it imports JAX, which a control computer need not have
    from footfall.numerics.scalar import Scalar

#: What a number of the controller's memory can be.
KINDS = ("float32", "int32", "uint32", "bool")
#: Numbers of the law that the mid level reads too, or that make amperes of its torque: the last
#: ones, in this order.
SHARED = ("per_ampere", "output_limit", "period_us")


class SampledMemory(NamedTuple):
    """What the mid level remembers of a controller of one's own."""

    own: Any  #: what the controller itself remembers
    last_us: Any  #: when it last calculated
    started: Any  #: whether it has, since it was switched on
    previous: Scalar  #: measurement of the last calculation
    output: Scalar  #: A

    def blank(self) -> SampledMemory:
        """Of a law that is off. What it remembers itself does not count until it has started."""
        zero = of_kind(0.0, self.output)
        return self._replace(last_us=0, started=self.started & False, previous=zero, output=zero)


class OwnLaw(NamedTuple):
    """A law in single precision, by the names that the firmware calls its law by."""

    title: str  #: class and file
    header: str  #: pid.h
    source: str  #: pid.c
    numbers: dict[str, float]  #: of struct ff_gains, in its order; the last ones are SHARED
    memory: dict[str, str]  #: what the controller itself remembers: name -> one of KINDS

    @property
    def output_limit(self) -> float:
        """A"""
        return self.numbers["output_limit"]

    @property
    def period_us(self) -> int:
        return int(self.numbers["period_us"])
