"""A machine some of whose numbers are corrected at one event and held until it comes again.

With the numbers v of the state just after the event, of which v0 is a gait,

    u = u0 - K (v - v0),  held until the next                                          (gaits.11)

What is corrected is any parameter of the machine: a touchdown angle, a setpoint. The closed loop is
again a hybrid system, so that engines, return maps and batches need no word for it.
"""

import functools
import operator
import types
from typing import Any

import equinox as eqx

from footfall.hybrid.bound import Bound
from footfall.hybrid.compose import joined
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.fields import signal
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.suggestion import Suggestion
from footfall.hybrid.system import AbstractHybridSystem, Event, HybridState, Jump, Rates, Travel
from footfall.numerics.namespace import clamp
from footfall.numerics.scalar import Scalar
from footfall.scene.labels import Label
from footfall.scene.sketch import Chart, Shape


class StepFeedback(AbstractHybridSystem):
    """A machine with feedback from step to step.

    `gain` has a row for each input and a column for each of `numbers`, states by their place
    ("x.torso_angle"); `reference` is what they are in the gait. A change of an input is at most
    its `limit`.
    """

    machine: AbstractHybridSystem
    section: int = eqx.field(static=True)  #: index of the event
    inputs: tuple[str, ...] = eqx.field(static=True)  #: parameters, "torso.pitch_setpoint"
    units: tuple[str, ...] = eqx.field(static=True)  #: of the inputs
    numbers: tuple[str, ...] = eqx.field(static=True)
    gain: tuple[tuple[Scalar, ...], ...]
    reference: tuple[Scalar, ...]
    limit: tuple[Scalar, ...]

    def __check_init__(self) -> None:
        """Its machine was checked when it was made."""

    def closed(self, state: HybridState) -> HybridState:
        """A state of the machine, with inputs as they are in the gait."""
        nothing = held_class(self.inputs, self.units)(*(0.0 for _ in self.inputs))
        return HybridState(state.x, joined(state.m, nothing))

    def begin(self, start: Any) -> HybridState:
        return self.closed(self.machine.begin(start))

    def corrections(self, x: Any, m: Any) -> tuple[Scalar, ...]:
        """What the law adds to each input, for the state just after the event."""
        state = HybridState(x, m)
        apart = [
            operator.attrgetter(name)(state) - reference
            for name, reference in zip(self.numbers, self.reference, strict=True)
        ]
        wanted = [
            -sum(k * d for k, d in zip(row, apart, strict=True)) if apart else 0.0 * self.limit[0]
            for row in self.gain
        ]
        limits = zip(wanted, self.limit, strict=True)
        return tuple(clamp(change, -limit, limit) for change, limit in limits)

    def _now(self, m: Any) -> tuple[AbstractHybridSystem, Any]:
        """The machine with its inputs as m holds them, and its own m."""
        fields = [name_of(key) for key in self.inputs]
        machine = self.machine
        for key, field in zip(self.inputs, fields, strict=True):
            get = operator.attrgetter(key)
            machine = eqx.tree_at(get, machine, get(machine) + getattr(m, field))
        own = {f: getattr(m, f) for f in m.__dataclass_fields__ if f not in fields}
        return machine, type(m).__bases__[0](**own)

    @property
    def events(self) -> tuple[Event, ...]:
        return self.machine.events

    def flow(self, t: Scalar, x: Any, m: Any) -> Rates:
        machine, own = self._now(m)
        return machine.flow(t, x, own)

    def guards(self, t: Scalar, x: Any, m: Any) -> tuple[Scalar, ...]:
        machine, own = self._now(m)
        return machine.guards(t, x, own)

    def jump(self, t: Scalar, x: Any, m: Any, k: int, *leg: Scalar) -> Jump:
        machine, own = self._now(m)
        done = machine.jump(t, x, own, k, *leg)
        held = tuple(getattr(m, name_of(key)) for key in self.inputs)
        if k == self.section:
            held = self.corrections(done.x, done.m)
        holder = held_class(self.inputs, self.units)(*held)
        return Jump(done.x, joined(done.m, holder), done.work)

    def stores(self, t: Scalar, x: Any, m: Any) -> Any:
        machine, own = self._now(m)
        return machine.stores(t, x, own)

    def outputs(self, t: Scalar, x: Any, m: Any) -> Any:
        machine, own = self._now(m)
        values = (operator.attrgetter(key)(machine) for key in self.inputs)
        inputs = inputs_class(self.inputs, self.units)(*values)
        return joined(machine.outputs(t, x, own), Seen(feedback=inputs))

    def restarted(self, m: Any) -> Any:
        machine, own = self._now(m)
        held = (getattr(m, name_of(key)) for key in self.inputs)
        return joined(machine.restarted(own), held_class(self.inputs, self.units)(*held))

    @property
    def own_time(self) -> float | None:
        return self.machine.own_time

    def sketch(self) -> tuple[Shape, ...]:
        return self.machine.sketch()

    def close_ups(self) -> dict[str, tuple[Shape, ...]]:
        return self.machine.close_ups()

    def labels(self) -> tuple[Label, ...]:
        return self.machine.labels()

    def charts(self) -> tuple[Chart, ...]:
        names = (f"feedback.{name_of(key)}" for key in self.inputs)
        own = (
            Chart(f"Corrected: {key}", (name,), main=True)
            for key, name in zip(self.inputs, names, strict=True)
        )
        return (*self.machine.charts(), *own)

    def remarks(self, t: Any, columns: Any) -> list[str]:
        return self.machine.remarks(t, columns)

    def suggestions(self, outcome: Outcome) -> tuple[Suggestion, ...]:
        return self.machine.suggestions(outcome)

    def bounds(self) -> tuple[Bound, ...]:
        return self.machine.bounds()

    def doubts(self, t: Any, columns: Any) -> list[Doubt]:
        return self.machine.doubts(t, columns)

    def travel(self) -> Travel | None:
        return self.machine.travel()


class Seen(eqx.Module):
    """What feedback adds to the outputs."""

    feedback: eqx.Module


def name_of(key: str) -> str:
    """ "torso.pitch_setpoint" as the name of a state."""
    return f"corrected_{key.replace('.', '_')}"


@functools.cache
def held_class(inputs: tuple[str, ...], units: tuple[str, ...]) -> type:
    """Changes of the inputs, which only the jump at the section changes."""
    return _struct(inputs, units, "change of {}, held until the next step")


@functools.cache
def inputs_class(inputs: tuple[str, ...], units: tuple[str, ...]) -> type:
    """The inputs as they are."""
    return _struct(inputs, units, "{}, corrected at each step")


def _struct(inputs: tuple[str, ...], units: tuple[str, ...], doc: str) -> type:
    def fill(space: dict[str, Any]) -> None:
        space["__annotations__"] = {name_of(key): Scalar for key in inputs}
        space["__doc__"] = "Inputs that are corrected from step to step."
        space["__module__"] = __name__
        for key, unit in zip(inputs, units, strict=True):
            space[name_of(key)] = signal(unit=unit, doc=doc.format(key))

    return types.new_class("Inputs", (eqx.Module,), {}, fill)
