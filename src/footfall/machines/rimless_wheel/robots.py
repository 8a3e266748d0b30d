"""The differential-drive rimless wheel of Sanchez and Bhounsule (2022), and its passive ancestor.

Listed in their multimedia extension: masses, spoke length, track, spoke count, gear ratio, torque
constant, stiff spokes (k = 1315 N/m, c = 1e5 N s/m). Corrected: torso offset 0.06 m (printed 0.06
cm cannot walk, erratum E12), yaw inertia 0.12 kg m^2 (printed 0.052 is impossible, E8). Chosen
here, not measured: the compliant spokes (k = 15 000 N/m, c = 400 N s/m), the pitch gains, roll
inertia. With its control computer also the winding resistance (0.05 ohm) and the battery (24 V,
0.05 ohm).
"""

from footfall.machines.control.lockstep import ClosedLoop
from footfall.machines.parts.actuators.base import AbstractMotor
from footfall.machines.parts.actuators.motors import DcMotor
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.parts.terrain.planes import Flat, Slope
from footfall.machines.rimless_wheel.closed_loop import SteeredWheelLoop, WheelLoop
from footfall.machines.rimless_wheel.leg import AbstractCompliantLeg
from footfall.machines.rimless_wheel.pitch_controller import AbstractPitchController
from footfall.machines.rimless_wheel.pitch_laws import PitchPid
from footfall.machines.rimless_wheel.rigid_wheel import RigidWheel
from footfall.machines.rimless_wheel.spring_leg import SpringLeg
from footfall.machines.rimless_wheel.steered_wheel import SteeredWheel
from footfall.machines.rimless_wheel.strut import Strut
from footfall.machines.rimless_wheel.torso import Torso
from footfall.machines.rimless_wheel.torso_wheel import TorsoWheel


def passive_wheel(
    *, leg: Strut | None = None, terrain: AbstractTerrain | None = None
) -> RigidWheel:
    """Rigid wheel of the robot's mass and size, coasting down a slope of 0.08 rad.

    Its motion is known in closed form, which others are compared with.
    """
    return RigidWheel(
        mass=6.91, spokes=10, leg=leg or Strut(length=0.26), terrain=terrain or Slope(angle=0.08)
    )


def _torso() -> Torso:
    return Torso(mass=4.45, com_distance=0.06, inertia=0.0, pitch_setpoint=0.6)


def _motor(resistance: float = 0.0) -> DcMotor:
    return DcMotor(gear_ratio=5.4, torque_constant=0.034, current_limit=40.0, resistance=resistance)


def rimless_wheel(
    *,
    leg: AbstractCompliantLeg | None = None,
    torso: Torso | None = None,
    motor: AbstractMotor | None = None,
    controller: AbstractPitchController | None = None,
    terrain: AbstractTerrain | None = None,
) -> TorsoWheel:
    """The robot in its sagittal plane, with compliant spokes.

    Its torso is held at 0.6 rad by a continuous PID.
    """
    return TorsoWheel(
        wheel_mass=2.46,
        wheel_inertia=0.0,
        spokes=10,
        leg=leg or SpringLeg(rest_length=0.26, stiffness=15000.0, damping=400.0),
        torso=torso or _torso(),
        motor=motor or _motor(),
        controller=controller or PitchPid(proportional=20.0, integral=40.0, derivative=1.0),
        terrain=terrain or Flat(),
    )


def rimless_wheel_3d(
    *,
    leg: AbstractCompliantLeg | None = None,
    torso: Torso | None = None,
    motor: DcMotor | None = None,
    controller: AbstractPitchController | None = None,
    steering_current: float = 0.0,
) -> SteeredWheel:
    """The same robot with two sides, roll and heading.

    Steered by a difference of the motor currents.
    """
    return SteeredWheel(
        wheel_mass=2.46,
        half_track=0.155,
        yaw_inertia=0.12,
        roll_inertia=0.12,
        steering_current=steering_current,
        spokes=10,
        leg=leg or SpringLeg(rest_length=0.26, stiffness=15000.0, damping=400.0),
        torso=torso or _torso(),
        motor=motor or _motor(),
        controller=controller or PitchPid(proportional=20.0, integral=40.0, derivative=1.0),
    )


def rimless_wheel_closed_loop() -> ClosedLoop:
    """The robot in its sagittal plane under its own three-level software.

    With gains that walk with a pitch 10 ms old.
    """
    plant = rimless_wheel()
    kept = {
        name: getattr(plant, name)
        for name in ("wheel_mass", "wheel_inertia", "spokes", "leg", "torso", "terrain")
    }
    return WheelLoop(**kept, motor=_motor(resistance=0.05))


def rimless_wheel_3d_closed_loop() -> ClosedLoop:
    """The same with two sides, roll and heading.

    The operator steers by a difference of the motor currents.
    """
    plant = rimless_wheel_3d()
    names = ("wheel_mass", "half_track", "yaw_inertia", "roll_inertia", "spokes", "leg", "torso")
    return SteeredWheelLoop(
        **{name: getattr(plant, name) for name in names}, motor=_motor(resistance=0.05)
    )
