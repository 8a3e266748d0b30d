"""Robots with a control computer: made from classes of plants, so that no parameter is declared twice."""

import dataclasses
import types
from typing import Any

from footfall.hybrid.fields import part
from footfall.hybrid.plant import AbstractPlant
from footfall.models.spike_hinge import SpikeHinge
from footfall.models.steered_wheel import SteeredWheel
from footfall.models.torso_wheel import TorsoWheel
from footfall.parts.actuators.battery import BatteryPack
from footfall.parts.actuators.drivetrain import DriveTrain
from footfall.parts.actuators.motors import DcMotor
from footfall.parts.computers.three_level import ThreeLevelStack
from footfall.parts.controllers.digital_pid import DigitalPid
from footfall.stack.lockstep import ClosedLoop

#: What a control computer adds to a plant: slot -> (kind of part, meaning).
ADDED: dict[str, tuple[type, str]] = {
    "controller": (DigitalPid, "pitch law of the mid level"),
    "stack": (ThreeLevelStack, "the three programs and the lines between them"),
    "battery": (BatteryPack, "what feeds the motors"),
    "drivetrain": (DriveTrain, "what lies between each motor and its joint"),
}


def with_computer(plant: type[AbstractPlant], name: str, doc: str) -> type[ClosedLoop]:
    """A robot class: the plant's own parameters and parts, with a control computer in the place of its law.

    The plant class says in `commanded` which of its fields make it a plant that others drive, and what they then hold.
    """
    kept = {f.name: f for f in dataclasses.fields(plant) if f.name not in plant.commanded}

    def bare(self: Any) -> AbstractPlant:
        fixed = {key: value() if isinstance(value, type) else value for key, value in plant.commanded.items()}
        return plant(**{key: getattr(self, key) for key in kept}, **fixed)

    def fill(space: dict[str, Any]) -> None:
        slots = {key: f.type for key, f in kept.items()} | {"motor": DcMotor}  # currents need a motor that has them
        space["__annotations__"] = slots | {key: cls for key, (cls, _) in ADDED.items()}
        space.update(__doc__=doc, __module__=__name__, Start=plant.Start, plant=property(bare))
        for key, f in kept.items():
            given = {k: getattr(f, k) for k in ("default", "default_factory") if getattr(f, k) is not dataclasses.MISSING}
            space[key] = dataclasses.field(metadata=f.metadata, **given)
        for key, (cls, meaning) in ADDED.items():
            space[key] = part(doc=meaning, default_factory=cls)

    return types.new_class(name, (ClosedLoop,), {}, fill)


WheelLoop = with_computer(
    TorsoWheel, "WheelLoop", "The sagittal rimless wheel under its three-level control software, in lockstep."
)
SteeredWheelLoop = with_computer(
    SteeredWheel, "SteeredWheelLoop", "The two-sided rimless wheel under its three-level control software, in lockstep."
)
SpikeHingeLoop = with_computer(
    SpikeHinge, "SpikeHingeLoop", "One hinge of an urchin's spike under the same three-level software, in lockstep."
)
