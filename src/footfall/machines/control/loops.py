"""Robots with a control computer.

Made from classes of plants, so that no parameter is declared twice.
"""

import dataclasses
import types
from typing import Any

from footfall.hybrid.fields import part
from footfall.hybrid.plant import AbstractPlant
from footfall.machines.control.controller import AbstractLaw
from footfall.machines.control.digital_pid import DigitalPid
from footfall.machines.control.lockstep import ClosedLoop
from footfall.machines.control.three_level import ThreeLevelStack
from footfall.machines.parts.actuators.battery import BatteryPack
from footfall.machines.parts.actuators.drivetrain import DriveTrain
from footfall.machines.parts.actuators.motors import DcMotor

#: What a control computer adds to a plant: slot -> (kind of part, meaning).
ADDED: dict[str, tuple[type, str]] = {
    "controller": (AbstractLaw, "pitch law of the mid level"),
    "stack": (ThreeLevelStack, "the three programs and the lines between them"),
    "battery": (BatteryPack, "what feeds the motors"),
    "drivetrain": (DriveTrain, "what lies between each motor and its joint"),
}

#: What a slot holds unless another kind is chosen, where its type is a contract.
USUAL: dict[type, type] = {AbstractLaw: DigitalPid}


def with_computer(plant: type[AbstractPlant], name: str, doc: str) -> type[ClosedLoop]:
    """A robot class with a control computer in the place of its law.

    The plant's own parameters and parts stay.

    The plant class says in `commanded` which of its fields make it a plant that others drive, and
    what they then hold.
    """
    kept = {f.name: f for f in dataclasses.fields(plant) if f.name not in plant.commanded}

    def bare(self: Any) -> AbstractPlant:
        return plant(**{key: getattr(self, key) for key in kept}, **plant.commanded)

    def fill(space: dict[str, Any]) -> None:
        # Currents need a motor that has them.
        slots = {key: f.type for key, f in kept.items()} | {"motor": DcMotor}
        space["__annotations__"] = slots | {key: cls for key, (cls, _) in ADDED.items()}
        space.update(
            __doc__=doc,
            __module__=plant.__module__,
            Start=plant.Start,
            refuses=plant.refuses,
            plant=property(bare),
        )
        for key, f in kept.items():
            given = {
                k: getattr(f, k)
                for k in ("default", "default_factory")
                if getattr(f, k) is not dataclasses.MISSING
            }
            space[key] = dataclasses.field(metadata=f.metadata, **given)
        for key, (cls, meaning) in ADDED.items():
            space[key] = part(doc=meaning, default_factory=USUAL.get(cls, cls))

    return types.new_class(name, (ClosedLoop,), {}, fill)
