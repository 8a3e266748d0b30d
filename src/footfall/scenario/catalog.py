"""The only map from a kind's name to its class (scenario files: files.py)."""

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
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
from footfall.machines.parts.friction.bristle import BristleFriction
from footfall.machines.parts.friction.coulomb import Frictionless, StribeckFriction, TanhFriction
from footfall.machines.parts.terrain.bumps import Bumps
from footfall.machines.parts.terrain.gaps import Gap, Gaps
from footfall.machines.parts.terrain.planes import Flat, Slope
from footfall.machines.parts.terrain.profile import Profile
from footfall.machines.parts.terrain.steps import Steps
from footfall.machines.parts.terrain.water import Water
from footfall.machines.rimless_wheel.pitch_laws import ConstantTorque, Passive, PitchPid
from footfall.machines.rimless_wheel.spring_leg import SpringLeg, StiffeningLeg
from footfall.machines.rimless_wheel.strut import Strut
from footfall.machines.rimless_wheel.torso import Torso
from footfall.machines.sea_urchin.roll_gait import RollGait
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_control import SpikePid, StiffnessControl
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
from footfall.scenario.trust import require_trust

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


def kind_of(part: Any) -> str:
    """The name of a part's kind; a user's own class goes by its class name."""
    return next((name for name, cls in PARTS.items() if type(part) is cls), type(part).__name__)


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


def robot_by_kind(
    kind: str, folder: Path | None, where: str = "", *, trust: bool = False
) -> AbstractHybridSystem | AbstractRigidBodies:
    """A robot by its catalogue name, or "file.py:ClassName" beside the scenario for a robot of
    one's own.

    `where` is the scenario as messages name it; `trust`: the user says that code from its folder
    may run (scenario/trust.py)."""
    if kind in ROBOTS:
        return ROBOTS[kind]()
    if ":" in kind and folder is not None:
        return _own_robot(kind, folder, where, trust)
    raise ScenarioError(
        f'kind = "{clipped(kind)}" is not a robot.\n  Known robots:'
        f" {', '.join(ROBOTS)}.{nearest(kind, ROBOTS)}\n  For a robot of your own write kind ="
        ' "my_robot.py:MyRobot" (`footfall new my-robot` makes one).'
    )


def _imported(path: Path, code: bytes) -> Any:
    """A user's file as a module. Whatever goes wrong in it is the user's to read, with the line it
    happened in.

    What runs is `code`, which was looked at, never a compiled file that lies beside it.
    """
    spec = importlib.util.spec_from_file_location(f"footfall_own_{path.stem}", path)
    assert spec is not None  # its name ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look their module up while it is being made
    try:
        exec(compile(code, str(path), "exec", dont_inherit=True), vars(module))
    except Exception as error:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == str(path)
        ]
        line = getattr(error, "lineno", None) or (lines[-1] if lines else "?")
        raise ScenarioError(f"{path}, line {line}: {type(error).__name__}: {error}") from error
    return module


def _own_robot(
    kind: str, folder: Path, where: str, trust: bool
) -> AbstractHybridSystem | AbstractRigidBodies:
    file_name, _, class_name = kind.partition(":")
    kind = clipped(kind)
    if Path(file_name).is_absolute():
        raise ScenarioError(
            f'kind = "{kind}": name the robot file relative to the scenario, so that both can be'
            " moved together."
        )
    try:
        path = (folder / file_name).resolve()
        there = path.is_file()
        if folder.resolve() not in path.parents:
            raise ScenarioError(
                f'kind = "{kind}": a robot file must lie beside or below the scenario file.'
            )
        if there and path.suffix != ".py":
            raise ScenarioError(
                f'{path.name} is not a Python file; write kind = "my_robot.py:MyRobot".'
            )
        code = path.read_bytes() if there else b""
    except (OSError, ValueError, RuntimeError) as error:  # no name of a file, or links in a ring
        raise ScenarioError(
            f'kind = "{kind}": this file cannot be read ({clipped(str(error))}).'
        ) from None
    if not there:
        raise ScenarioError(f'kind = "{kind}": there is no file {path}.')
    require_trust(path, code, folder, where or str(folder), told=trust)
    module = _imported(path, code)
    kinds = AbstractHybridSystem | AbstractRigidBodies
    found = {n: c for n, c in vars(module).items() if inspect.isclass(c) and issubclass(c, kinds)}
    found = {n: c for n, c in found.items() if not inspect.isabstract(c)}
    if class_name not in found:
        known = ", ".join(found) or "none"
        raise ScenarioError(
            f'kind = "{kind}": {path.name} has no robot "{clipped(class_name)}". Robots in it:'
            f" {known}.{nearest(class_name, found)}"
        )
    return found[class_name]()
