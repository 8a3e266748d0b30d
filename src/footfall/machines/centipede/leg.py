"""A leg with two actuated degrees of freedom, length and angle.

Each is a spring and a damper about a moving target.
"""

from footfall.hybrid.fields import Parametric, param
from footfall.numerics.scalar import Scalar


class PolarLeg(Parametric):
    """A spring and a damper along the leg, and another about its hip.

    f = -K_L (L - L_t) - C_L (L' - L_t')
    tau = -K_T wrap(gamma - gamma_t) - C_T (gamma' - gamma_t')                            (walker.4)
    """

    tip_mass: Scalar = param(
        0.02, unit="kg", doc="mass m_t of the tip; the rest of the leg is massless", gt=0
    )
    length_stiffness: Scalar = param(2000.0, unit="N/m", doc="stiffness K_L along the leg", gt=0)
    length_damping: Scalar = param(10.0, unit="N s/m", doc="damping C_L along the leg", ge=0)
    angle_stiffness: Scalar = param(4.0, unit="N m/rad", doc="stiffness K_T of the hip", gt=0)
    angle_damping: Scalar = param(0.03, unit="N m s/rad", doc="damping C_T of the hip", ge=0)
