"""The powered compass gait: two legs and a hip motor whose torque is a curve over the step.

The legs are those of the compass gait (Goswami, Thuilot and Espiau 1998). The phase of a step is
the lean of the standing leg, from 0 where it leans back by half the `spread` to 1 where it leans
forward by as much: a clock that waits for the robot. The curve is a part, a Bezier curve unless
another is taken: `--set torque=fourier`, `--set torque=b-spline`.
"""

import footfall.authoring as fa


class Start(fa.AbstractStart):
    stance: float = fa.param(-0.22, unit="rad", doc="standing leg; the other foot is on the ground")
    stance_rate: float = fa.param(1.0, unit="rad/s", doc="of the standing leg")
    swing_rate: float = fa.param(1.34, unit="rad/s", doc="of the swinging leg")

    def state(self, system: "PoweredCompass") -> fa.HybridState:
        rates = {"stance_rate": self.stance_rate, "swing_rate": self.swing_rate}
        return system.standing(stance=self.stance, swing=2 * system.slope - self.stance, **rates)


class PoweredCompass(fa.LinkageRobot):
    """Two straight legs, a hip, and a motor between the legs, on level ground."""

    Start = Start
    leg_mass: float = fa.param(5.0, unit="kg", doc="of a leg", gt=0)
    hip_mass: float = fa.param(10.0, unit="kg", doc="of the hip", gt=0)
    below: float = fa.param(0.5, unit="m", doc="from the foot to the mass of a leg", gt=0)
    above: float = fa.param(0.5, unit="m", doc="from the mass of a leg to the hip", gt=0)
    spread: float = fa.param(0.6, unit="rad", doc="lean of the standing leg over a step", gt=0)
    slope: float = fa.param(0.0, unit="rad", doc="of the ground, down forwards")
    gravity: float = fa.param(9.81, unit="m/s^2", doc="gravity", gt=0)
    torque: fa.AbstractPhaseCurve = fa.part(
        doc="torque of the motor over the step [N m], positive swings the leg forward",
        default_factory=lambda: fa.BezierCurve(12.5, 17.5, 3.0, -8.0, -8.5, 2.0),
    )

    def linkage(self):
        length, mass = self.below + self.above, self.leg_mass
        return fa.Linkage(
            rods=(
                fa.Rod("stance", "foot", "hip", length, mass, centre=self.below),
                fa.Rod("swing", "tip", "hip", length, mass, centre=self.below, color="tab:blue"),
            ),
            masses=(fa.Mass("hip", self.hip_mass),),
            motors=(fa.Motor("motor", "stance", "swing"),),
            landings=(fa.Landing("heelstrike", "tip", (("stance", "swing"),), ahead=0.1 * length),),
            stands_on="foot",
            body="hip",
            ground=fa.Slope(self.slope),
            gravity=self.gravity,
        )

    def torques(self, t, x, m):
        """A swinging leg that goes forward leans back: the torque is on the standing leg."""
        return {"motor": self.torque.value(0.5 + (x.stance - self.slope) / self.spread)}
