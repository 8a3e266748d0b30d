"""Numbers of the sea urchin.

A course report (Kayabasi, EE587, 2022), which leaves most of them open.

| number | value | from |
|---|---|---|
| prism k, stroke of the slide | 0.04 m, 0.04 m | the report's text |
| ball r | 0.005 m (profile T), 0.04 m (profile P) | the text; its script |
| masses of prism and cylinder | 0.01 kg, 0.05 kg | the script |
| foothold of profile P | 0.09 m out, 3 sqrt(3) cm down; lift 3 sqrt(3) - 4.2 cm | the script |
| stride, stance time | 0.03 m, 3 s | the script |
| gains of the PID | 10, 10, 10; 10000, 1000, 100 | the report's table 5.1 |
| cylinder length, inertias, tip mass, shell, swing time, stiffness, friction | below | ASSUMED |

Profile T: the text's ball cannot reach the text's foothold (the slide would have to go out 58 mm of
its 40), so T stands in the middle of its stroke, along the normal of the shell. Profile P: reaches
it, with a ball as thick as the prism is long.
"""

import math
from typing import NamedTuple

from footfall.machines.control.digital_pid import DigitalPid
from footfall.machines.control.lockstep import ClosedLoop
from footfall.machines.parts.actuators.motors import DcMotor
from footfall.machines.sea_urchin.closed_loop import SpikeHingeLoop
from footfall.machines.sea_urchin.kick_roll import KickRoll
from footfall.machines.sea_urchin.profiles import PROFILES
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_bench import UrchinSpike
from footfall.machines.sea_urchin.spike_control import AbstractSpikeControl, SpikePid
from footfall.machines.sea_urchin.spike_gait import Foothold, SpikeGait
from footfall.machines.sea_urchin.spike_kinematics import ring_radius

SHELL_RADIUS = 0.06  #: r_s [m], assumed: leaves 7.5 mm (T) or 22 mm (P) of room under the shell
SHELL_MASS = 0.5  #: kg, assumed
FRICTION = 1.0  #: of feet on the floor, assumed
#: Joints of the upper spikes while it walks, assumed.
UPPER_POSE = (-math.pi / 6, math.pi / 2, 0.005)


class Profile(NamedTuple):
    """A geometry that stands and walks."""

    spike: Spike
    foothold: Foothold
    lift: float

    @property
    def stand_height(self) -> float:
        """Of the shell's centre above the floor."""
        return float(self.foothold.y) + 0.5 * SHELL_RADIUS


def profile_t() -> Profile:
    """The text's 5 mm ball, with a foothold of our own that it reaches."""
    return _profile("T", lift=0.01)


def profile_p() -> Profile:
    """The script's 4 cm ball and its foothold."""
    return _profile("P", lift=PROFILES["P"].down - 0.042)


def _profile(name: str, lift: float) -> Profile:
    ball, out, down = PROFILES[name]
    return Profile(Spike(ball=ball), Foothold(out, down, ring_radius(SHELL_RADIUS)), lift)


GEOMETRIES = {"T": profile_t, "P": profile_p}


def urchin_spike(
    profile: str = "T",
    *,
    gait: SpikeGait | None = None,
    controller: AbstractSpikeControl | None = None,
    index: int = 1,
) -> UrchinSpike:
    """One bottom spike on a bench, led along the path of a tripod gait.

    Spike 1, at 60 degrees, moves all three joints when walking ahead.
    """
    shape = GEOMETRIES[profile]()
    return UrchinSpike(
        height=float(shape.foothold.y),
        foothold_x=shape.foothold.x,
        foothold_y=shape.foothold.y,
        index=index,
        spike=shape.spike,
        gait=gait or SpikeGait(lift=shape.lift),
        controller=controller or SpikePid(),
    )


def urchin_kick() -> KickRoll:
    """The planar kick with the mass of the whole robot (1.232 kg).

    Its inertia is guessed as 0.0025 kg m^2.
    """
    return KickRoll()


def urchin_spike_closed_loop() -> ClosedLoop:
    """One hinge of a spike of profile T on a small gear motor under the three-level stack.

    Motor, friction and gains are assumed.
    """
    return SpikeHingeLoop(
        spike=Spike(hinge_friction=5e-4),
        motor=DcMotor(gear_ratio=20.0, torque_constant=0.01, current_limit=2.0, resistance=2.0),
        controller=DigitalPid(
            proportional=0.2,
            integral=0.3,
            derivative=0.04,
            integral_limit=0.1,
            torque_limit=0.4,
            filter_time=0.01,
        ),
    )
