"""The kneed walker: four links and a hip walk down a slope without a motor.

After T. McGeer, "Passive walking with knees", IEEE International Conference on Robotics and
Automation (1990), 1640-1645, with point feet. The standing leg is straight. The knee of the other
bends as it swings, comes in line at the kneestrike, which is plastic, and stays so until the
heelstrike. Equations of motion, both impacts and the energies follow from the linkage
(docs/theory/linkages.md).
"""

import footfall.authoring as fa


class Start(fa.AbstractStart):
    stance: float = fa.param(-0.188, unit="rad", doc="standing leg; the other foot is down, too")
    stance_rate: float = fa.param(1.1, unit="rad/s", doc="of the standing leg")
    swing_rate: float = fa.param(0.05, unit="rad/s", doc="of the swinging leg, thigh and shank")

    def state(self, system: "KneedWalker") -> fa.HybridState:
        swing = 2 * system.slope - self.stance
        rates = {"thigh_rate": self.swing_rate, "shank_rate": self.swing_rate}
        return system.standing(
            shin=self.stance, shin_rate=self.stance_rate, thigh=swing, shank=swing, **rates
        )


class KneedWalker(fa.LinkageRobot):
    """Two legs with knees and a hip, on a slope."""

    Start = Start
    hip_mass: float = fa.param(0.5, unit="kg", doc="of the hip", gt=0)
    thigh_mass: float = fa.param(0.5, unit="kg", doc="of a thigh", gt=0)
    shank_mass: float = fa.param(0.05, unit="kg", doc="of a shank", gt=0)
    thigh_length: float = fa.param(0.5, unit="m", doc="length of a thigh", gt=0)
    shank_length: float = fa.param(0.5, unit="m", doc="length of a shank", gt=0)
    thigh_centre: float = fa.param(0.175, unit="m", doc="mass of a thigh, above the knee", gt=0)
    shank_centre: float = fa.param(0.375, unit="m", doc="mass of a shank, above the foot", gt=0)
    slope: float = fa.param(0.0504, unit="rad", doc="of the ground, down forwards", gt=0)
    gravity: float = fa.param(9.81, unit="m/s^2", doc="gravity", gt=0)

    def linkage(self):
        thigh = {"length": self.thigh_length, "mass": self.thigh_mass, "centre": self.thigh_centre}
        shank = {"length": self.shank_length, "mass": self.shank_mass, "centre": self.shank_centre}
        swaps = (("shin", "shank"), ("standing_thigh", "thigh"))
        return fa.Linkage(
            rods=(
                fa.Rod("shin", "foot", "standing_knee", **shank),
                fa.Rod("standing_thigh", "standing_knee", "hip", **thigh, welded="shin"),
                fa.Rod("thigh", "knee", "hip", **thigh, color="tab:blue"),
                fa.Rod("shank", "tip", "knee", **shank, color="tab:blue"),
            ),
            masses=(fa.Mass("hip", self.hip_mass),),
            landings=(fa.Landing("heelstrike", "tip", swaps, locked=("kneestrike",)),),
            locks=(fa.Lock("kneestrike", "shank", "thigh", opens="heelstrike"),),
            stands_on="foot",
            body="hip",
            ground=fa.Slope(self.slope),
            gravity=self.gravity,
        )
