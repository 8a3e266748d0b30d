"""The whole sea urchin.

Where its numbers come from is in machines/sea_urchin/numbers.py; of a course report, most of them
assumed.
"""

from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.sea_urchin.numbers import FRICTION, SHELL_MASS, SHELL_RADIUS, UPPER_POSE
from footfall.machines.sea_urchin.robot import UrchinRobot
from footfall.machines.sea_urchin.spike_control import AbstractSpikeControl
from footfall.machines.sea_urchin.spike_gait import SpikeGait


def urchin(
    profile: str = "T",
    *,
    gait: SpikeGait | None = None,
    controller: AbstractSpikeControl | None = None,
    terrain: AbstractTerrain | None = None,
    program: str = "walk",
) -> UrchinRobot:
    """Twelve spikes on a shell of 6 cm, 1.232 kg in all."""
    parts = {"gait": gait, "controller": controller, "terrain": terrain}
    return UrchinRobot(
        profile=profile,
        shell_radius=SHELL_RADIUS,
        shell_mass=SHELL_MASS,
        friction=FRICTION,
        upper_pose=UPPER_POSE,
        program=program,
        **{slot: made for slot, made in parts.items() if made is not None},
    )
