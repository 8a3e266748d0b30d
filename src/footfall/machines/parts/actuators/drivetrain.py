"""What a motor's torque loses on its way to the joint."""

from footfall.hybrid.fields import Parametric, param
from footfall.numerics.elementary import tanh
from footfall.numerics.scalar import Scalar


class DriveTrain(Parametric):
    """Friction of gear and bearings of one driven joint, against its motion: b w + c tanh(w / w_0).

    It is met at each tick of the computer's clock and held in between: (b + c / w_0) times a tick
    must stay well below the joint's inertia, or it chatters.
    """

    viscous: Scalar = param(0.0, unit="N m s/rad", doc="friction b that grows with speed", ge=0)
    dry: Scalar = param(0.0, unit="N m", doc="friction c that does not", ge=0)
    slow: Scalar = param(0.1, unit="rad/s", doc="speed w_0 below which dry friction fades", gt=0)

    def drag(self, speed: Scalar) -> Scalar:
        """Torque of the friction at a speed of the joint, to be taken from the motor's."""
        return self.viscous * speed + self.dry * tanh(speed / self.slow)
