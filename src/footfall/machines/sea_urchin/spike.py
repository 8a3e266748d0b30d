"""A spike of the sea urchin.

A prism on two hinges, a cylinder that slides out of it, a ball at the tip.
"""

from footfall.hybrid.fields import Parametric, choice, param
from footfall.machines.sea_urchin.spike_dynamics import (
    AxialBody,
    SpikeInertia,
    gravity_load,
    inertia,
)
from footfall.machines.sea_urchin.spike_kinematics import SpikeShape, Vector
from footfall.numerics.scalar import Scalar


class Spike(Parametric):
    """Lengths and masses.

    Prism and cylinder are thin rods, or points as in the source, whose 1e-15 kg m^2 is ten orders
    too small.

    "sliding": the cylinder is a rod of fixed length whose end is at k + d_3. "telescoping": its
    middle is at k + d_3/2, the source's reading of where the mass is; the slide then moves a
    quarter of it. Not modelled: inertia of the motors, play, bending.
    """

    prism: Scalar = param(0.04, unit="m", doc="length k of the prism", gt=0)
    ball: Scalar = param(0.005, unit="m", doc="radius r of the ball at the tip", gt=0)
    stroke: Scalar = param(0.04, unit="m", doc="largest extension d_3 of the slide", gt=0)
    prism_mass: Scalar = param(0.01, unit="kg", doc="mass m_1 of the prism", gt=0)
    cylinder_mass: Scalar = param(0.05, unit="kg", doc="mass m_2 of the cylinder", gt=0)
    cylinder_length: Scalar = param(0.04, unit="m", doc="length l_c of the cylinder", gt=0)
    tip_mass: Scalar = param(0.001, unit="kg", doc="mass of the ball", ge=0)
    axial_inertia: Scalar = param(
        0.0, unit="kg m^2", doc="inertia I_a of all of it about its axis", ge=0
    )
    bodies: str = choice(
        "rods",
        options=("rods", "points"),
        doc="whether prism and cylinder have an inertia of their own",
    )
    reading: str = choice(
        "sliding",
        options=("sliding", "telescoping"),
        doc="how the cylinder's mass goes with the slide",
    )
    hinge_friction: Scalar = param(
        0.0, unit="N m s/rad", doc="viscous friction of each hinge", ge=0
    )
    slide_friction: Scalar = param(0.0, unit="N s/m", doc="viscous friction of the slide", ge=0)

    @property
    def shape(self) -> SpikeShape:
        return SpikeShape(self.prism, self.ball, self.stroke)

    @property
    def mass(self) -> Scalar:
        return self.prism_mass + self.cylinder_mass + self.tip_mass

    @property
    def axial_bodies(self) -> tuple[AxialBody, ...]:
        """Prism, cylinder and ball along the axis.

        For the telescope: lam_2 = k + d_3/2                                              (spike.15)
        """
        rods = self.bodies == "rods"
        long, short = self.cylinder_length, self.prism
        offset, share = (short - 0.5 * long, 1.0) if self.reading == "sliding" else (short, 0.5)
        return (
            AxialBody(
                self.prism_mass,
                0.5 * short,
                0.0,
                self.prism_mass * short * short / 12.0 if rods else 0.0,
                self.axial_inertia,
            ),
            AxialBody(
                self.cylinder_mass,
                offset,
                share,
                self.cylinder_mass * long * long / 12.0 if rods else 0.0,
            ),
            AxialBody(self.tip_mass, self.shape.shortest, 1.0),
        )

    def inertia(self, d3: Scalar) -> SpikeInertia:
        """All that the equations of motion need of the masses, with the slide at d_3."""
        return inertia(self.axial_bodies, d3)

    def gravity_load(self, q: Vector, gravity: Scalar) -> Vector:
        """Efforts that hold the spike still, attachment upright."""
        return gravity_load(self.inertia(q[2]), q[0], q[1], gravity)
