"""All items of source 001, from start to end."""

from footfall.sources.item import Item, Source
from footfall.sources.rimless_wheel import figures, model, software, steering

_PARAMETERS = (
    Item(
        "table-1.1",
        "Robot constant parameters",
        "masses, inertias, spokes, track, gear and motor of the robot.",
        model.parameters,
        "footfall show rimless-wheel-turning",
        "E8: J_d must exceed what two wheels at b from the middle have alone. E12: c = 0.06 cm"
        " gives 0.026 N m, 22 times less than walking needs; here 0.06 m. E7: m1 is one wheel's"
        " mass in the table and both wheels' in the equations; here both. E14: spokes of 1315 N/m"
        " sag by 51.5 mm, and at 49.7 mm their neighbours touch; E13: with c_v = 1e5 N s/m they"
        " are rigid in effect. Our robot has k = 15 000 N/m, c_v = 400 N s/m.",
    ),
    Item(
        "table-1.2",
        "Simulation variables",
        "names of angles, lengths, currents and torques.",
        model.variables,
        "footfall list rimless-wheel-turning",
        "E23: theta_d = 0.5 (theta_l - theta_r); the minus is missing.",
    ),
)

_SAGITTAL = (
    Item(
        "fig-1",
        "Sagittal model: constants and variables",
        "the wheel on its stance spoke with the torso, masses, lengths, angles, unit vectors.",
        figures.model,
        "footfall run rimless-wheel",
    ),
    Item(
        "fig-2",
        "Support transfer, before and after",
        "the instants just before and just after the next spoke takes over.",
        figures.transfer,
        "footfall gait rimless-wheel",
    ),
    Item(
        "eq-1",
        "Kinematics in stance (2.1.2)",
        "accelerations of the two centres of mass in polar coordinates, equations 1 and 2.",
        model.kinematics,
        'python -c "import footfall as ff; help(ff.robots.rimless_wheel())"',
    ),
    Item(
        "eq-6",
        "Equations of motion in stance (2.1.3)",
        "A_ss and b_ss of the three degrees of freedom, equations 3 to 6.",
        model.stance,
        "footfall run rimless-wheel",
        "E1: b_3 lost m2 c phi_dot^2, and its cosine stands at l m2 theta_dot^2. E5: signs and"
        " names in the rows. E6: the torso feels T_l + T_r, not their mean. E15: gravity with two"
        " signs.",
    ),
    Item(
        "eq-17",
        "Equations of motion for support transfer (2.1.4, 2.1.5)",
        "positions and rates just after the next spoke takes over, equations 7 to 17.",
        model.transfer,
        "footfall gait rimless-wheel",
        "E2: the momentum before is projected on the old spoke, the one after on the new, which"
        " creates kinetic energy. E3: equation 14 takes moments about two points;"
        " E4: brackets of b_2 do not balance.",
    ),
)

_TURN_SWEEP = "footfall sweep rimless-wheel-turning --vary steering_current=0.3:1:8 --duration 80"
_STEERED = (
    Item(
        "fig-3",
        "Steering geometry",
        "frames, heading, track and the mid-point C, from above.",
        figures.steering,
        "footfall run rimless-wheel-turning --plots all",
    ),
    Item(
        "eq-18",
        "Differential drive kinematics (2.2.1)",
        "speed of C and yaw rate from the rates of both stance angles, equations 18 to 21.",
        steering.kinematics,
        erratum="E16: both signs reverse, since forward is a falling angle; l times the rate is an"
        " arc, which overestimates the distance by 1.7 %.",
    ),
    Item(
        "eq-22",
        "Steering dynamics and J_d (2.2.2)",
        "the difference of the stance angles under a difference of the torques, equations 22 to"
        " 26.",
        steering.steering_law,
        "footfall run rimless-wheel-turning --set yaw_inertia=0.06",
        "E17: a factor b/l0 is missing; E18: T_d has two meanings; E8: J_d = 0.052 is less than"
        " what the wheels alone have; E24: J_d is derived with the wheels at rest and the robot"
        " turning.",
    ),
    Item(
        "sec-2.2-roll",
        "The 3-D model without roll",
        "sagittal model and steering combined; rolling is ignored.",
        steering.without_roll,
        "footfall run rimless-wheel-turning --set robot.roll=locked",
        "E21: the yaw rate passes every landing, so a constant current difference gives no turning"
        " radius. Without roll the mended model hardly turns: roll is required.",
    ),
    Item(
        "eq-27",
        "Collision condition (2.2.3)",
        "height of the next spoke's tip of each side.",
        steering.collision,
        erratum="E22: no direction, no lift-off, no rocking back.",
    ),
    Item(
        "eq-28",
        "Support transfer in 3-D (2.2.4)",
        "angles and rates after both sides, or one, have landed, equations 28 to 32.",
        steering.transfer,
        erratum="E9: eq 30 and 31 against eq 12; E10: the difference of the rates is doubled; E11:"
        " eq 32 mixes before and after; E20: one side's landing resets the other.",
    ),
    Item(
        "eq-33",
        "Motor torque and power (2.3)",
        "torque from current, power from torque and speed, equations 33 and 34.",
        steering.motors,
        "footfall run rimless-wheel --plots all",
        "E19: the power must be T_i (phi_dot - theta_dot_i).",
    ),
    Item(
        "turn-radius",
        "Turning radius against current difference",
        "how tightly it turns, by the difference of the currents.",
        command=f"{_TURN_SWEEP} --metric turn_radius",
    ),
    Item(
        "turn-yaw",
        "Yaw rate against current difference",
        "how fast it turns, by the difference of the currents.",
        command=f"{_TURN_SWEEP} --metric yaw_rate",
    ),
    Item(
        "speed-current",
        "Speed against current",
        "how fast it walks with what current, by the pitch that the torso is held at.",
        command="footfall sweep rimless-wheel --vary torso.pitch_setpoint=0.5:1.5:11 --metric"
        " motor_mean_current",
    ),
)

_SOFTWARE = (
    Item(
        "fig-4",
        "Software hierarchy",
        "three levels, each on a computer of its own: send and receive, PID, motor control.",
        software.hierarchy,
        "footfall show rimless-wheel-turning-closed-loop",
    ),
    Item(
        "fig-5",
        "Communication diagram",
        "which program talks to which, over what, and how often.",
        software.communication,
        "footfall stack run rimless-wheel --duration 5",
        "Sensor and joystick are left out there. At 115200 baud, which is usual, the commands would"
        " not fit.",
    ),
    Item(
        "fig-6",
        "Raspberry Pi software diagram",
        "start-up checks, then a main loop, a joystick thread and an I/O process at once.",
        software.pi_program,
        "footfall stack run rimless-wheel --duration 5",
    ),
    Item(
        "fig-7",
        "Teensy software diagram",
        "setpoint_on gates the PID; what it calculated goes to the ODrive, its output to the Pi.",
        software.teensy_program,
        "footfall stack run rimless-wheel --mid firmware --duration 5",
        "S1: < and > alone do not show changed digits; a checksum *HH does. S7: the frame has no"
        " steering current; here it is the fourth field.",
    ),
    Item(
        "sec-3",
        "Three levels and their rates",
        "the Pi runs at 100 Hz, the PID at 1 kHz, motor control at around 4 kHz.",
        software.rates,
        "footfall run rimless-wheel-turning-closed-loop",
        "S2: a pitch that is new every 10 ms makes the loop one of 100 Hz, and its raw derivative"
        " a train of spikes.",
    ),
    Item(
        "sec-3.1-start",
        "Start-up checks",
        "the Pi resets the Teensy and connects to the sensor, the ODrive and the Teensy.",
        command="footfall stack run rimless-wheel --duration 5",
        erratum="S3: no limits are given; here each check has one, and says which failed.",
    ),
    Item(
        "sec-3.1-sensor",
        "Orientation sensor",
        "torso pitch, read at 100 Hz.",
        command="footfall stack run rimless-wheel --sensor-noise 0.002 --duration 5",
    ),
    Item(
        "sec-3.1-joystick",
        "Joystick thread",
        "set point, calibration and motors on and off by events of a Dualshock 3.",
        command="footfall stack run rimless-wheel --joystick /dev/input/js0",
    ),
    Item(
        "sec-3.1-log",
        "I/O process and its log",
        "a process that writes the dictionary of every cycle to the disk, at 100 Hz.",
        command="footfall stack replay runs/stack-rimless-wheel",
    ),
    Item(
        "sec-3.1-safety",
        "Speed limit",
        "the first action of a cycle: a motor that is too fast switches both off.",
        command="footfall run rimless-wheel-closed-loop --set stack.speed_limit=20",
        erratum="S5: the check runs on the Pi alone; here the Teensy and the ODrive have watchdogs"
        " too. S3: no limit is given; here 8 turns/s.",
    ),
    Item(
        "sec-3.2-serial",
        "Current commands to the ODrive",
        "the PID output, in amps, formatted as the ODrive requires, over serial.",
        command="footfall stack run rimless-wheel --mid firmware --duration 5",
        erratum="S9: two programs command the ODrive at once; here the Pi switches and reads, the"
        " Teensy commands. Firmware 0.5 and later takes newton metres.",
    ),
)

SOURCE = Source(
    "001",
    "rimless-wheel",
    "Design, modeling and control of a differential drive rimless wheel that can move straight"
    " and turn (Sanchez and Bhounsule, multimedia extension, 2022)",
    (*_PARAMETERS, *_SAGITTAL, *_STEERED, *_SOFTWARE),
)
