"""The whole sea urchin.

A shell with twelve spikes, stepped by MuJoCo, that walks on the lower six and rolls on its sides.

Theory: docs/theory/sea-urchin-robot.md.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import numpy as np

from footfall.hybrid.fields import ParameterError, choice, numbers, param, part, text
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.rigid_bodies import AbstractRigidBodies, Log
from footfall.hybrid.suggestion import Suggestion, cure
from footfall.hybrid.system import Event, Travel
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.parts.terrain.planes import Flat
from footfall.machines.sea_urchin.body import NAMES, urchin_spec
from footfall.machines.sea_urchin.driver import TALLY, WALKING, UrchinDriver
from footfall.machines.sea_urchin.gain_advice import sag_warning, stiff_gains_warning
from footfall.machines.sea_urchin.outputs import (
    UrchinCounters,
    UrchinOutputs,
    rotations,
    urchin_outputs,
    urchin_remarks,
)
from footfall.machines.sea_urchin.profiles import PROFILES
from footfall.machines.sea_urchin.program import Action, parse_program
from footfall.machines.sea_urchin.reference import walking_joints
from footfall.machines.sea_urchin.roll_gait import RollGait
from footfall.machines.sea_urchin.sketch import urchin_charts, urchin_sketch
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_control import AbstractSpikeControl, SpikePid
from footfall.machines.sea_urchin.spike_gait import Foothold, SpikeGait
from footfall.machines.sea_urchin.spike_kinematics import SPIKES, require_reach, ring_radius
from footfall.machines.sea_urchin.start import UrchinStart
from footfall.numerics.scalar import Scalar
from footfall.scene.sketch import Chart, Shape

#: Feet that stand at least, by the pattern of the gait.
LEAST_FEET = {"tripod": 3, "pairs": 4, "wave": 5}
#: Tilt of its axis with which it counts as tipped over while it walks [rad].
TIPPED = math.radians(60.0)
#: It fell off the world this far below the ground [m].
FAR_BELOW = 0.5


class UrchinRobot(AbstractRigidBodies):
    """A solid sphere with six spikes below its equator and six above.

    Each spike has two hinges and a slide; only balls and shell touch the ground.

    Not modelled: spikes that collide with each other or with the shell, play, bending, sensors and
    their noise. Derivative gains are inside the actuators and integrated implicitly. The stops of
    the slides are soft: a servo of 10000 N/m presses them in by millimetres.
    """

    Start = UrchinStart
    refuses: ClassVar[Mapping[str, str]] = {
        "water": "nothing of it floats, and its feet are balls, which water lets through"
    }
    counted = ("strides", "faces", "kicks")

    profile: str = choice(
        "T",
        options=(*PROFILES, "custom"),
        doc="ball and foothold: the source's text, its script, or as given",
    )
    foothold_x: Scalar | None = param(
        None, unit="m", doc="foothold outwards from the attachment; auto: the profile's", gt=0
    )
    foothold_y: Scalar | None = param(
        None, unit="m", doc="floor below the attachment; auto: the profile's", gt=0
    )
    shell_radius: Scalar = param(0.06, unit="m", doc="radius r_s of the shell", gt=0)
    shell_mass: Scalar = param(0.5, unit="kg", doc="mass of the shell, a solid sphere", gt=0)
    friction: Scalar = param(
        1.0, doc="coefficient of friction of balls and shell on the ground", ge=0
    )
    armature: Scalar = param(
        0.0, unit="kg m^2", doc="inertia of each hinge's motor, as felt at the hinge", ge=0
    )
    gravity: Scalar = param(9.81, unit="m/s^2", doc="gravity", ge=0)
    wait: Scalar = param(1.0, unit="s", doc="time it stands or lies before it begins", ge=0)
    program: str = text(
        "walk",
        doc=(
            'what to do: walk, roll, lie, rise, hold, with a number; "walk 2; lie; roll 5; rise;'
            ' walk"'
        ),
    )
    upper_pose: tuple[float, ...] = numbers(
        (-math.pi / 6, math.pi / 2, 0.005),
        doc="joints of the upper spikes while it walks: rad, rad, m",
    )
    spike: Spike = part(
        doc="each of the twelve spikes; its ball is the profile's", default_factory=Spike
    )
    gait: SpikeGait = part(doc="how it walks", default_factory=SpikeGait)
    roll: RollGait = part(doc="how it rolls", default_factory=RollGait)
    controller: AbstractSpikeControl = part(
        doc="what makes the joints follow", default_factory=SpikePid
    )
    terrain: AbstractTerrain = part(doc="ground, the same all across", default_factory=Flat)

    def __check_init__(self) -> None:
        super().__check_init__()
        actions = self.actions  # raises for a program that cannot be
        if self.profile == "custom" and (self.foothold_x is None or self.foothold_y is None):
            raise ParameterError(
                "profile = custom needs a foothold: give foothold_x and foothold_y.", "profile"
            )
        if self.profile != "custom" and float(self.spike.ball) not in (
            0.005,
            PROFILES[self.profile].ball,
        ):
            raise ParameterError(
                f"spike.ball = {float(self.spike.ball) * 1e3:g} mm, but profile {self.profile} has"
                f" a ball of {PROFILES[self.profile].ball * 1e3:g} mm: set profile=custom, with"
                " foothold_x and foothold_y.",
                "profile",
            )
        if self.spike.reading != "sliding":
            raise ParameterError(
                "a telescoping cylinder, whose middle goes half as far as its end, is no rigid"
                ' body: the whole robot slides (spike.reading = "sliding"). The single spike does'
                " both.",
                "spike",
            )
        if len(self.upper_pose) != 3:
            raise ParameterError(
                f"upper_pose has three joints (rad, rad, m), not {len(self.upper_pose)}.",
                "upper_pose",
            )
        if any(action.verb == "walk" for action in actions):
            foothold = self.foothold
            require_reach(self.built_spike.shape, foothold.x, foothold.y, 0.0, "foothold_x")
            if self.clearance <= 0:
                raise ParameterError(
                    f"with the floor {float(foothold.y) * 1e3:.4g} mm below the attachments the"
                    f" shell would stand {-self.clearance * 1e3:.3g} mm in the ground: a larger"
                    " foothold_y or a smaller shell_radius.",
                    "foothold_y",
                )

    # ---- geometry

    @property
    def actions(self) -> tuple[Action, ...]:
        return parse_program(self.program)

    @property
    def built_spike(self) -> Spike:
        """The spike with the profile's ball."""
        if self.profile == "custom":
            return self.spike
        return eqx.tree_at(lambda s: s.ball, self.spike, PROFILES[self.profile].ball)

    @property
    def foothold(self) -> Foothold:
        x, y = (None, None) if self.profile == "custom" else PROFILES[self.profile][1:]
        return Foothold(
            x if self.foothold_x is None else self.foothold_x,
            y if self.foothold_y is None else self.foothold_y,
            ring_radius(self.shell_radius),
        )

    @property
    def stand_height(self) -> float:
        """Of the shell's centre above the ground while it walks."""
        return float(self.foothold.y) + 0.5 * float(self.shell_radius)

    @property
    def clearance(self) -> float:
        """Room under the shell while it walks."""
        return self.stand_height - float(self.shell_radius)

    @property
    def _corner(self) -> float:
        """Distance of the balls from the centre with the slides drawn in along the normals."""
        return float(self.shell_radius) + float(self.built_spike.shape.shortest)

    @property
    def lying_height(self) -> float:
        """Of the centre on a side of the hexagonal prism: (r_s + k + r) cos^2 30 deg + r."""
        return 0.75 * self._corner + float(self.built_spike.ball)

    @property
    def drawn_in_height(self) -> float:
        """Of the centre on an end of the prism."""
        return 0.5 * self._corner + float(self.built_spike.ball)

    @property
    def ground_normal(self) -> np.ndarray:
        angle = float(self.terrain.descent)
        return np.array([math.sin(angle), 0.0, math.cos(angle)])

    def way(self, yaw: float) -> tuple[np.ndarray, np.ndarray]:
        """Unit vectors along and to the left of where it is meant to go, on the ground.

        A walker's heading is its body's, which starts at this yaw; a roll's direction is the
        ground's.
        """
        first = next((d.verb for d in self.actions if d.verb in ("walk", "roll")), "walk")
        angle = float(self.gait.heading) + yaw if first == "walk" else float(self.roll.direction)
        normal = self.ground_normal
        forward = np.array([normal[2], 0.0, -normal[0]])
        left = np.array([0.0, 1.0, 0.0])
        return (
            math.cos(angle) * forward + math.sin(angle) * left,
            math.cos(angle) * left - math.sin(angle) * forward,
        )

    @property
    def mass(self) -> float:
        return float(self.shell_mass) + 2 * SPIKES * float(self.spike.mass)

    @property
    def weight(self) -> float:
        return self.mass * float(self.gravity)

    # ---- for the engine

    @property
    def usual_step(self) -> float:
        return 1e-3

    def spec(self) -> Any:
        return urchin_spec(self)

    @property
    def touching(self) -> tuple[str, ...]:
        return (*NAMES, "shell")

    def driver(self, model: Any, data: Any, steps: int) -> UrchinDriver:
        return UrchinDriver(self, model, data, steps, self.actions)

    @property
    def events(self) -> tuple[Event, ...]:
        return (
            Event("tip", "its axis leans too far while it walks", Outcome.tipped_over),
            Event("fall", "it is far below the ground", Outcome.fell),
        )

    def rooms(self, log: Log) -> tuple[np.ndarray, ...]:
        """[rad] tilt left while it walks; [m] height above far below."""
        up = rotations(log.qpos[:, 3:7])[:, :, 2] @ self.ground_normal
        tilt = np.arccos(np.clip(up, -1.0, 1.0))
        ground = np.asarray(self.terrain.surface(log.qpos[:, 0]))
        return (
            np.where(log.watched["tally"][:, 0] == WALKING, TIPPED - tilt, TIPPED),
            log.qpos[:, 2] - ground + FAR_BELOW,
        )

    def counters(self, log: Log) -> UrchinCounters:
        return UrchinCounters(**dict(zip(TALLY, log.watched["tally"].T, strict=True)))

    def outputs(self, log: Log) -> UrchinOutputs:
        return urchin_outputs(self, log)

    # ---- for people

    @property
    def view_distance(self) -> float:
        return 7.5 * float(self.shell_radius)

    def cautions(self, step: float) -> list[str]:
        said = []
        if any(action.verb == "walk" for action in self.actions):
            feet = LEAST_FEET.get(self.gait.pattern, 3)
            sag = sag_warning(self.controller, self.weight, float(self.gait.lift), feet)
            said += [sag] if sag else []
            said += self._strokes()
            if float(self.gait.lift) > self.clearance and self.gait.support == "ignored":
                said.append(
                    f"gait.lift = {float(self.gait.lift) * 1e3:.3g} mm is more than the"
                    f" {self.clearance * 1e3:.3g} mm under the shell: where all feet are up at"
                    " once, the shell lands and acts as a foot."
                )
        stiff = stiff_gains_warning(self.controller, self.built_spike, step)
        said += [stiff] if stiff else []
        damping = max(float(self.controller.damping[0]), 0.0)
        own = float(self.built_spike.inertia(0.5 * self.spike.stroke).moment) + float(self.armature)
        if damping * step > 10.0 * own:
            said.append(
                f"a hinge's damping of {damping:g} N m s/rad times the step of {step:g} s is"
                f" {damping * step / own:.0f} times its inertia: MuJoCo's contacts leave out the"
                " damping, so feet press in and creep or hop, and the speed is the step's, not the"
                f" robot's. Try --set sim.step={own / damping:.0e} and see what stays."
            )
        return said

    def _strokes(self) -> list[str]:
        """A warning where the gait's path needs more of a slide than there is."""
        t = np.linspace(0.0, float(self.gait.period), 241)
        slide = walking_joints(self, t)[0][..., 2]
        stroke = float(self.spike.stroke)
        beyond = np.maximum(-slide, slide - stroke).max(axis=0)
        legs = [str(i) for i in range(SPIKES) if beyond[i] > 1e-9]
        if not legs:
            return []
        return [
            f"the path of the feet needs slides from {slide.min() * 1e3:.3g} to"
            f" {slide.max() * 1e3:.3g} mm (spikes {', '.join(legs)}), and they go from 0 to"
            f" {stroke * 1e3:g} mm: their soft stops are pressed in. A shorter gait.stride or"
            " another foothold keeps within."
        ]

    def remarks(self, t: np.ndarray, columns: Mapping[str, np.ndarray]) -> list[str]:
        return urchin_remarks(self, t, columns)

    def suggestions(self, outcome: Outcome) -> tuple[Suggestion, ...]:
        cures = ()
        if outcome in (Outcome.fell, Outcome.tipped_over):
            cures = (
                cure("--set sim.step=0.0005", "to see whether the step is to blame"),
                cure(f"--set gait.stride={0.5 * float(self.gait.stride):.2g}", "shorter strokes"),
            )
        if "roll" in {action.verb for action in self.actions}:
            more = (
                Suggestion("--set roll.force=8", "two sides with a kick"),
                Suggestion('--set program="roll 3; rise; walk" --duration 30 --animate urchin.gif'),
            )
        else:
            more = (
                Suggestion("--set controller=stiffness --set gait.pattern=wave"),
                Suggestion('--set terrain=slope --set terrain.angle="-5 deg" --animate urchin.gif'),
                Suggestion("", "soft feet against stiff ones", verb="compliance"),
            )
        return (*cures, *more)

    def sketch(self) -> tuple[Shape, ...]:
        return urchin_sketch(self)

    def charts(self) -> tuple[Chart, ...]:
        return urchin_charts(self)

    def travel(self) -> Travel:
        verbs = {action.verb for action in self.actions}
        walks, rolls = "walk" in verbs, "roll" in verbs
        return Travel(
            "travel.distance",
            ("strides",) if walks or not rolls else ("faces",),
            self.weight,
            ("driving",),
            heading="shell.yaw" if walks and not rolls and self.gait.motion != "walk" else None,
            contacts=tuple(f"tip.fz.{i}" for i in range(2 * SPIKES if rolls else SPIKES)),
            means=("load.lift", "load.feet"),
            legs="spike",
        )
