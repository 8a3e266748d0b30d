"""State, ports, stores and outputs of a linkage: structs whose fields are named after its pieces.

Made once for each set of names: two robots of one structure share their types.
"""

import functools
import types
from typing import Any

import equinox as eqx

from footfall.hybrid.fields import port, signal, store
from footfall.hybrid.frame import Body
from footfall.machines.parts.friction.needed import RollingFoot
from footfall.numerics.scalar import Scalar


class StandingFoot(RollingFoot):
    """The foot on the ground."""

    push: Scalar = signal(0.0, unit="N", doc="force of the ground on the robot, normal to it")


class MotorSignals(eqx.Module):
    """A motor between two rods."""

    torque: Scalar = signal(unit="N m", doc="torque on its rod")
    speed: Scalar = signal(unit="rad/s", doc="rate of its rod, relative to the other")
    power: Scalar = signal(unit="W", doc="mechanical power")


class ForceSignals(eqx.Module):
    """A motor along a rod that slides."""

    force: Scalar = signal(unit="N", doc="force along its rod, positive to lengthen it")
    speed: Scalar = signal(unit="m/s", doc="rate of its length")
    power: Scalar = signal(unit="W", doc="mechanical power")


@functools.cache
def state_class(turning: tuple[str, ...], sliding: tuple[str, ...]) -> type:
    """Angles and lengths, then their rates."""
    lean = "angle from the vertical, leaning forward"
    fields = {
        **{name: signal(unit="rad", doc=f"{lean}, of {name}") for name in turning},
        **{f"{name}_length": signal(unit="m", doc=f"length of {name}") for name in sliding},
        **{
            f"{name}_rate": signal(unit="rad/s", doc=f"of {name}", rate_of=name) for name in turning
        },
        **{
            f"{name}_speed": signal(
                unit="m/s", doc=f"of the length of {name}", rate_of=f"{name}_length"
            )
            for name in sliding
        },
    }
    return _struct("State", fields)


@functools.cache
def mode_class(locks: tuple[str, ...], passing: tuple[str, ...]) -> type:
    """What only jumps change."""
    fields = {
        "foothold": signal(unit="m", doc="where the standing foot is, forward"),
        "steps": signal(doc="landings so far"),
        **{f"{name}_locked": signal(doc=f"1 while {name} is locked") for name in locks},
        **{f"{name}_passed": signal(doc=f"1 once {name} is ahead") for name in passing},
    }
    return _struct("Mode", fields)


@functools.cache
def power_class(motors: tuple[str, ...], dampers: tuple[str, ...], held: bool) -> type:
    """Ports of the flow."""
    fields = {
        **{name: port(kind="work", doc=f"motor {name}") for name in motors},
        **{name: port(kind="loss", doc=f"damper {name}") for name in dampers},
    }
    if held:
        fields["held"] = port(kind="work", doc="locks and loops: 0 but for what they drift apart")
    return _struct("Power", fields)


@functools.cache
def work_class(impacts: tuple[str, ...], springs: bool) -> type:
    """Ports of the jumps."""
    fields = {
        name: port(kind="loss", unit="J", doc=f"what the impact {name} takes") for name in impacts
    }
    if springs:
        fields["renamed_springs"] = port(
            kind="work", unit="J", doc="energy of springs that other rods load after a landing"
        )
    return _struct("JumpWork", fields)


@functools.cache
def stores_class(springs: tuple[str, ...]) -> type:
    """Where energy is kept."""
    fields = {
        "kinetic": store(doc="kinetic energy"),
        "gravity": store(doc="weights times heights"),
        **{name: store(doc=f"spring {name}") for name in springs},
    }
    return _struct("Stores", fields)


@functools.cache
def lean_class(rods: tuple[str, ...]) -> type:
    """Angles of the rods, as they can be seen."""
    lean = "angle from the vertical, leaning forward"
    return _struct("Lean", {name: signal(unit="rad", doc=f"{lean}, of {name}") for name in rods})


@functools.cache
def outputs_class(joints: tuple[str, ...], foot: str, motors: tuple[tuple[str, bool], ...]) -> type:
    """Every joint, the standing one with its force, and every motor (name, whether it slides)."""
    kinds: dict[str, Any] = {j: StandingFoot if j == foot else Body for j in joints}
    kinds |= {"lean": eqx.Module}
    kinds |= {name: ForceSignals if slides else MotorSignals for name, slides in motors}
    return _struct("Outputs", dict.fromkeys(kinds), kinds)


def _struct(name: str, fields: dict[str, Any], kinds: dict[str, type] | None = None) -> type:
    def fill(space: dict[str, Any]) -> None:
        space["__annotations__"] = kinds or dict.fromkeys(fields, Scalar)
        space["__doc__"] = f"{name} of a linkage."
        space["__module__"] = __name__
        space.update({key: value for key, value in fields.items() if value is not None})

    return types.new_class(name, (eqx.Module,), {}, fill)
