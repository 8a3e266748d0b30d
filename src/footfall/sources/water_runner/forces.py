"""Section 4: what the joints of massless links carry, and what reaches the robot."""

import math

import numpy as np

from footfall.machines.water_runner import four_bar
from footfall.pictures.style import Style
from footfall.sources.item import Item, Made, Value
from footfall.sources.water_runner import printed

#: Crank [rad], force [N] and moment [N m] of the foot on the coupler (docs' reference values).
CRANK, LOAD = math.radians(240.0), (-0.3, 0.4, 0.002)
#: Centre of mass along the ground link from O [m].
COM = 0.03
#: The matrix of eq 47 has lengths of 0.02 beside ones: condition 1e3 to 1e4.
_SOLVED = 1e-11


def _loads(base: float = 0.0) -> tuple[four_bar.FourBarForces, np.ndarray]:
    """(ours, eq 47's) with leg and load turned by `base`."""
    turn = np.array([printed.u(base), printed.v(base)]).T
    force = turn @ LOAD[:2]
    at = four_bar.positions(base + CRANK, base)
    ours = four_bar.forces(base + CRANK, force, LOAD[2], base)
    load = (float(force[0]), float(force[1]), LOAD[2])
    return ours, printed.nine_balances(base + CRANK, float(at.coupler), float(at.rocker), load)


def _coupler(style: Style) -> Made:
    del style
    ours, nine = _loads()
    crank, rocker = np.asarray(ours.crank), np.asarray(ours.rocker)
    at = four_bar.positions(CRANK)
    cross = lambda a, b: float(a[0] * b[1] - a[1] * b[0])  # noqa: E731
    about = LOAD[2] + cross(at.crank_pin - at.foot, crank) + cross(at.rocker_pin - at.foot, rocker)
    values = [
        Value(f"F_1{axis}", float(crank[i]), "N", float(nine[4 + i]), _SOLVED)
        for i, axis in enumerate("xy")
    ] + [
        Value(f"F_3{axis}", float(rocker[i]), "N", float(nine[6 + i]), _SOLVED)
        for i, axis in enumerate("xy")
    ]
    sums = np.asarray(LOAD[:2]) + crank + rocker
    values += [
        Value("sum of forces, x (eq 38)", float(sums[0]), "N", 0.0, 1e-14),
        Value("sum of forces, y (eq 39)", float(sums[1]), "N", 0.0, 1e-14),
        Value("sum of moments about F (eq 40)", about, "N m", 0.0, 1e-14),
    ]
    return Made(tuple(values))


def _crank(style: Style) -> Made:
    del style
    ours, nine = _loads()
    at, speed = four_bar.positions(CRANK), four_bar.speeds(CRANK, 1.0)
    # Massless links pass power on: another way to the torque.
    power = float(np.dot(LOAD[:2], speed.foot) + LOAD[2] * speed.coupler)
    pin = np.asarray(at.crank_pin)
    balance = float(ours.torque) - float(pin[0] * ours.crank[1] - pin[1] * ours.crank[0])
    return Made((
        Value("F_R1x", float(ours.crank[0]), "N", float(nine[0]), _SOLVED),
        Value("F_R1y", float(ours.crank[1]), "N", float(nine[1]), _SOLVED),
        Value("torque of the motor T", float(ours.torque), "N m", float(nine[8]), _SOLVED),
        Value("T by the power of the foot", -power, "N m", float(nine[8]), _SOLVED),
        Value("sum of moments (eq 43)", balance, "N m", 0.0, 1e-14),
    ))  # fmt: skip


def _rocker(style: Style) -> Made:
    del style
    ours, nine = _loads()
    at = four_bar.positions(CRANK)
    arm = np.asarray(at.rocker_pin - at.rocker_axis)
    along = float(arm[0] * ours.rocker[1] - arm[1] * ours.rocker[0])
    return Made((
        Value("F_R3x", float(ours.rocker[0]), "N", float(nine[2]), _SOLVED),
        Value("F_R3y", float(ours.rocker[1]), "N", float(nine[3]), _SOLVED),
        Value("moment of F_3 about C (eq 46)", along, "N m", 0.0, 1e-14),
    ))  # fmt: skip


def _matrix(style: Style) -> Made:
    del style
    ours, nine = _loads(0.5)
    mine = [*ours.crank, *ours.rocker, *ours.crank, *ours.rocker, ours.torque]
    names = ("F_R1x", "F_R1y", "F_R3x", "F_R3y", "F_1x", "F_1y", "F_3x", "F_3y", "T")
    return Made(
        tuple(
            Value(name, float(a), "N m" if name == "T" else "N", float(b), _SOLVED)
            for name, a, b in zip(names, mine, nine, strict=True)
        ),
        words="All nine rows are right; ours is their closed form, (four-bar.7). The body is tilted"
        " by 0.5 rad.",
    )


def _robot(style: Style) -> Made:
    del style
    values = []
    for base in (0.0, 0.5):
        ours, _ = _loads(base)
        at = four_bar.positions(base + CRANK, base)
        r1, r3 = np.asarray(ours.crank), np.asarray(ours.rocker)
        turn = np.array([printed.u(base), printed.v(base)]).T
        force = turn @ LOAD[:2]
        arm = np.asarray(at.foot) - COM * printed.u(base)
        moment = LOAD[2] + arm[0] * force[1] - arm[1] * force[0]
        said = f", body at {base:g} rad" if base else ""
        values += [
            Value(f"force on the robot{axis}{said} (eq {48 + i})", float(force[i]), "N",
                  float(-r1[i] - r3[i]), 1e-13)
            for i, axis in enumerate((", x", ", y"))
        ] + [
            Value(f"moment about the centre of mass{said} (eq 50)", float(moment), "N m",
                  printed.body_moment(base, COM, r1, r3, float(ours.torque)), 1e-4,
                  "a sine missing, and the sign of all four forces"),
        ]  # fmt: skip
    return Made(tuple(values), words="Without weight. Ours is the foot's wrench, carried over.")


ITEMS = (
    Item(
        "sec-4.1.1",
        "Loads on links 2 and 4, the coupler",
        "Eq 38 to 40: forces and moments on the massless coupler sum to zero.",
        _coupler,
        'python -c "import footfall as ff; print(ff.robots.four_bar.forces(4.19, (-0.3, 0.4)))"',
        'Eq 40 has a stray "+ -"; its value is right.',
    ),
    Item(
        "sec-4.1.2",
        "Loads on link 1, the crank",
        "Eq 41 to 43: the forces of body and coupler, and the torque of the motor.",
        _crank,
        erratum="The moments of eq 43 are about O, not A; the value is the same.",
    ),
    Item(
        "sec-4.1.3",
        "Loads on link 3, the rocker",
        "Eq 44 to 46: the rocker carries a force along itself only.",
        _rocker,
    ),
    Item(
        "eq-47",
        "Nine balances in matrix form",
        "Eq 47: nine linear equations for the joint loads and the torque.",
        _matrix,
    ),
    Item(
        "sec-4.2",
        "Forces and torques on the robot",
        "Eq 48 to 50: what the legs do to the body, and how it moves.",
        _robot,
        "footfall run water-runner --duration 1",
        "Eq 48 to 50 are for one leg. Eq 50 lacks a sine and has the wrong sign of all forces: it"
        " pitches the robot the other way.",
    ),
)
