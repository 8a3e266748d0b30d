"""The compass gait: two straight legs with mass and a hip walk down a slope without a motor.

A. Goswami, B. Thuilot, B. Espiau, "A study of the passive gait of a compass-like biped robot",
International Journal of Robotics Research 17 (1998), 1282-1301. A leg of length l = a + b has its
mass m at a above the foot; angles are from the vertical, leaning forward. Equations of motion, the
impact at a heelstrike and the energies follow from the linkage (docs/theory/linkages.md).
"""

import numpy as np

import footfall.authoring as fa


class Start(fa.AbstractStart):
    stance: float = fa.param(-0.22, unit="rad", doc="standing leg; the other foot is on the ground")
    stance_rate: float = fa.param(1.09, unit="rad/s", doc="of the standing leg")
    swing_rate: float = fa.param(0.38, unit="rad/s", doc="of the swinging leg")

    def state(self, system: "CompassGait") -> fa.HybridState:
        rates = {"stance_rate": self.stance_rate, "swing_rate": self.swing_rate}
        return system.standing(stance=self.stance, swing=2 * system.slope - self.stance, **rates)


class CompassGait(fa.LinkageRobot):
    """Two straight legs with a mass each and a hip, on a slope."""

    Start = Start
    leg_mass: float = fa.param(5.0, unit="kg", doc="m, of a leg", gt=0)
    hip_mass: float = fa.param(10.0, unit="kg", doc="m_h, of the hip", gt=0)
    below: float = fa.param(0.5, unit="m", doc="a, from the foot to the mass of a leg", gt=0)
    above: float = fa.param(0.5, unit="m", doc="b, from the mass of a leg to the hip", gt=0)
    slope: float = fa.param(np.radians(3.0), unit="rad", doc="of the ground, down forwards", gt=0)
    gravity: float = fa.param(9.81, unit="m/s^2", doc="gravity", gt=0)

    def linkage(self):
        length, mass = self.below + self.above, self.leg_mass
        return fa.Linkage(
            rods=(
                fa.Rod("stance", "foot", "hip", length, mass, centre=self.below),
                fa.Rod("swing", "tip", "hip", length, mass, centre=self.below, color="tab:blue"),
            ),
            masses=(fa.Mass("hip", self.hip_mass),),
            landings=(fa.Landing("heelstrike", "tip", (("stance", "swing"),), ahead=0.1 * length),),
            stands_on="foot",
            body="hip",
            ground=fa.Slope(self.slope),
            gravity=self.gravity,
        )
