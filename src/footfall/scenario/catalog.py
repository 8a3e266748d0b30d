"""The only map from a kind's name to its class (scenario files: files.py)."""

import inspect
from collections.abc import Callable
from typing import Any

from footfall.hybrid.fields import nearest, refusal
from footfall.hybrid.rigid_bodies import AbstractRigidBodies
from footfall.hybrid.system import AbstractHybridSystem
from footfall.machines import robots
from footfall.machines.centipede.body import SegmentChain
from footfall.machines.centipede.gait import WaveGait
from footfall.machines.centipede.leg import PolarLeg
from footfall.machines.centipede.reflexes import ReflexControl
from footfall.machines.control.digital_pid import DigitalPid
from footfall.machines.control.three_level import ThreeLevelStack
from footfall.machines.parts.actuators.battery import BatteryPack
from footfall.machines.parts.actuators.drivetrain import DriveTrain
from footfall.machines.parts.actuators.motors import DcMotor, IdealMotor
from footfall.machines.parts.contact.cubic import CubicContact
from footfall.machines.parts.contact.hunt_crossley import HuntCrossleyContact
from footfall.machines.parts.contact.viscoelastic import ViscoelasticContact
from footfall.machines.parts.curves.curves import (
    BezierCurve,
    BSplineCurve,
    ConstantCurve,
    FourierCurve,
)
from footfall.machines.parts.friction.bristle import BristleFriction
from footfall.machines.parts.friction.coulomb import Frictionless, StribeckFriction, TanhFriction
from footfall.machines.parts.terrain.bumps import Bumps
from footfall.machines.parts.terrain.gaps import Gap, Gaps
from footfall.machines.parts.terrain.planes import Flat, Slope
from footfall.machines.parts.terrain.profile import Profile
from footfall.machines.parts.terrain.rough import Rough
from footfall.machines.parts.terrain.steps import Steps
from footfall.machines.parts.terrain.water import Water
from footfall.machines.rimless_wheel.pitch_laws import ConstantTorque, Passive, PitchPid
from footfall.machines.rimless_wheel.spring_leg import SpringLeg, StiffeningLeg
from footfall.machines.rimless_wheel.strut import Strut
from footfall.machines.rimless_wheel.torso import Torso
from footfall.machines.sea_urchin.kick_actuator import ConstantForce
from footfall.machines.sea_urchin.pressure_chamber import PressureChamber
from footfall.machines.sea_urchin.roll_gait import RollGait
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_control import HeldEffort, SpikePid, StiffnessControl
from footfall.machines.sea_urchin.spike_gait import SpikeGait
from footfall.machines.two_leg.gait import InchwormGait
from footfall.machines.water_runner.body import RunnerBody
from footfall.machines.water_runner.compliant_feet import CompliantFoot, PointFoot
from footfall.machines.water_runner.crank_drives import CrankMotor, PrescribedCrank
from footfall.machines.water_runner.four_bar_leg import FourBarLeg
from footfall.machines.water_runner.pads import BreakawayPad, RigidPad
from footfall.machines.water_runner.tails import NoTail, PadTail
from footfall.numerics.shown import clipped
from footfall.scenario.errors import ScenarioError
from footfall.scenario.files import shipped_scenarios as shipped_scenarios
from footfall.scenario.own_code import OwnCode, names_code, with_defaults

#: Which slot takes which kind is decided by the slot's declared type: any subclass fits, unless the
#: robot `refuses` one of its features.
PARTS: dict[str, type] = {
    "flat": Flat,
    "slope": Slope,
    "strut": Strut,
    "spring": SpringLeg,
    "stiffening": StiffeningLeg,
    "torso": Torso,
    "dc-motor": DcMotor,
    "battery": BatteryPack,
    "drivetrain": DriveTrain,
    "three-level": ThreeLevelStack,
    "digital-pid": DigitalPid,
    "ideal-motor": IdealMotor,
    "pid": PitchPid,
    "constant-torque": ConstantTorque,
    "passive": Passive,
    "runner-body": RunnerBody,
    "four-bar": FourBarLeg,
    "breakaway-pad": BreakawayPad,
    "rigid-pad": RigidPad,
    "compliant": CompliantFoot,
    "point": PointFoot,
    "tail-pad": PadTail,
    "no-tail": NoTail,
    "prescribed-crank": PrescribedCrank,
    "crank-motor": CrankMotor,
    "cubic": CubicContact,
    "viscoelastic": ViscoelasticContact,
    "hunt-crossley": HuntCrossleyContact,
    "stribeck": StribeckFriction,
    "tanh": TanhFriction,
    "frictionless": Frictionless,
    "bristle": BristleFriction,
    "water": Water,
    "inchworm": InchwormGait,
    "steps": Steps,
    "gap": Gap,
    "gaps": Gaps,
    "bumps": Bumps,
    "rough": Rough,
    "profile": Profile,
    "segment-chain": SegmentChain,
    "polar": PolarLeg,
    "wave": WaveGait,
    "reflexes": ReflexControl,
    "spike": Spike,
    "spike-gait": SpikeGait,
    "roll-gait": RollGait,
    "spike-pid": SpikePid,
    "stiffness": StiffnessControl,
    "constant-force": ConstantForce,
    "pressure-chamber": PressureChamber,
    "held-effort": HeldEffort,
    "constant": ConstantCurve,
    "bezier": BezierCurve,
    "b-spline": BSplineCurve,
    "fourier": FourierCurve,
}

ROBOTS: dict[str, Callable[[], AbstractHybridSystem | AbstractRigidBodies]] = {
    "passive-wheel": robots.passive_wheel,
    "rimless-wheel": robots.rimless_wheel,
    "rimless-wheel-3d": robots.rimless_wheel_3d,
    "rimless-wheel-closed-loop": robots.rimless_wheel_closed_loop,
    "rimless-wheel-3d-closed-loop": robots.rimless_wheel_3d_closed_loop,
    "water-runner": robots.water_runner,
    "water-runner-biped": robots.water_runner_biped,
    "water-runner-ground": robots.water_runner_ground,
    "two-leg": robots.two_leg_walker,
    "centipede": robots.centipede,
    "centipede-gap": robots.centipede_gap,
    "urchin-spike": robots.urchin_spike,
    "urchin-spike-closed-loop": robots.urchin_spike_closed_loop,
    "urchin-kick": robots.urchin_kick,
    "urchin": robots.urchin,
}


#: Shipped scenarios of robots that a control computer may drive -> those in which it does.
WITH_COMPUTER = {
    "rimless-wheel": "rimless-wheel-closed-loop",
    "rimless-wheel-turning": "rimless-wheel-turning-closed-loop",
    "urchin-spike": "urchin-spike-closed-loop",
}


def kind_of(part: Any) -> str:
    """The name of a part's kind; a user's own class goes by its class name."""
    return next((name for name, cls in PARTS.items() if type(part) is cls), type(part).__name__)


def kind_of_robot(system: Any) -> str:
    """The name of a robot of the same class; a user's own class goes by its class name."""
    for name, make in ROBOTS.items():
        known = inspect.signature(make).return_annotation
        if isinstance(system, known) and type(make()) is type(system):
            return name
    return type(system).__name__


def kinds_for(slot_type: type, robot: type | None = None) -> dict[str, type]:
    """Kinds that fit a slot, of a robot that takes them."""
    return {
        name: cls
        for name, cls in PARTS.items()
        if issubclass(cls, slot_type) and not (robot and refusal(robot, cls))
    }


def refused_kinds(slot_type: type, robot: type) -> dict[str, str]:
    """Kinds that would fit a slot, and why this robot does not take them."""
    reasons = {name: refusal(robot, cls) for name, cls in kinds_for(slot_type).items()}
    return {name: reason for name, reason in reasons.items() if reason}


def robot_by_kind(kind: str, own: OwnCode) -> AbstractHybridSystem | AbstractRigidBodies:
    """A robot by its catalogue name, or "file.py:ClassName" for a robot of one's own."""
    if kind in ROBOTS:
        return ROBOTS[kind]()
    if names_code(kind) and own.folder is not None:
        return with_defaults(own.named(kind, AbstractHybridSystem | AbstractRigidBodies, "robot"))
    raise ScenarioError(
        f'kind = "{clipped(kind)}" is not a robot.\n  Known robots:'
        f" {', '.join(ROBOTS)}.{nearest(kind, ROBOTS)}\n  For a robot of your own write kind ="
        ' "my_robot.py:MyRobot" (`footfall new my-robot` makes one).'
    )
