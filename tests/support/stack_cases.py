"""Settings of control stacks that the tests of its programs share."""

from footfall.machines.control.pid import PidGains
from footfall.machines.control.settings import StackSettings

#: A/(N m): one motor's share of a torque at the wheel, through a gear of 5.4 and 0.034 N m/A.
PER_TORQUE = 1.0 / (2 * 5.4 * 0.034)

#: The default gains of the specification's section 5.
WALKING = PidGains(
    proportional=6 * PER_TORQUE,
    integral=10 * PER_TORQUE,
    derivative=0.45 * PER_TORQUE,
    integral_limit=5.0,
    output_limit=40.0,
    filter_time=0.01,
    period_us=1000,
)

#: The rimless wheel's computers: steering and checksums, two motors.
ROBOT = StackSettings(gains=WALKING, setpoint=0.6)

#: As plain as frames get: the table of the specification's section 4 is about these.
PLAIN = StackSettings(gains=WALKING, setpoint=0.6, steering=False, checksum=False)

#: One motor, mounted the other way round, a law at 4 kHz.
ONE_MOTOR = StackSettings(
    mid_period_us=250,
    gains=WALKING._replace(period_us=250, output_limit=16.3399981),
    setpoint=0.1,
    motors=1,
    motor_signs=(-1.0,),
    steering=False,
)

#: Mirrored motors on a board each, steering without checksums.
MIRRORED = StackSettings(
    gains=WALKING, setpoint=0.6, motor_signs=(1.0, -1.0), checksum=False, boards=2
)

EVERY = {"robot": ROBOT, "plain": PLAIN, "one motor": ONE_MOTOR, "mirrored": MIRRORED}
