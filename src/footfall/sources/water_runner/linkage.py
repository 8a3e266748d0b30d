"""Sections 2 and 3: angles, speeds and accelerations of the four-bar leg and its joints."""

import functools
import math
from collections.abc import Sequence

import numpy as np

from footfall.machines.water_runner import four_bar
from footfall.pictures.show import Picture
from footfall.pictures.style import Style, name_lines, series
from footfall.sources.item import Item, Made, Value
from footfall.sources.water_runner import printed
from footfall.sources.water_runner.printed import L0, L1, L3, L4, u, v

#: A leg in motion on a body that pitches: angles [rad], rates, accelerations of base and crank.
BASE, CRANK = 0.4, 1.1
BASE_V, CRANK_V = 2.0, 50.0
BASE_A, CRANK_A = -5.0, 300.0
#: Rounding of some dozens of operations, of the largest number they pass.
_ROUND = 1e-13


def _angles() -> tuple[float, float, float, float]:
    at = four_bar.positions(CRANK, BASE)
    return BASE, CRANK, float(at.coupler), float(at.rocker)


def _rates() -> tuple[float, float, float, float]:
    at = four_bar.speeds(CRANK, CRANK_V, BASE, BASE_V)
    return BASE_V, CRANK_V, float(at.coupler), float(at.rocker)


def _seconds() -> four_bar.FourBar:
    return four_bar.accelerations(CRANK, CRANK_V, CRANK_A, BASE, BASE_V, BASE_A)


# --- section 2
# -------------------------------------------------------------------------------------------------


def _over_a_turn(lines: dict[str, np.ndarray], what: str, style: Style) -> Picture:
    figure = Picture(figsize=(style.width, 1.2 * style.panel), style=style)
    axes = figure.subplots()
    crank = np.linspace(0.0, 360.0, len(next(iter(lines.values()))))
    for i, (name, line) in enumerate(lines.items()):
        axes.plot(crank, line, label=name, **series(i))
    axes.set_xlim(0.0, 360.0)
    axes.set_xticks(np.arange(0.0, 361.0, 60.0))
    axes.set_xlabel("crank θ1 against the body [deg]")
    axes.set_ylabel(what)
    axes.set_title("Over a turn of the crank")
    name_lines(axes, style)
    return figure


_TURN = np.linspace(0.0, 2.0 * np.pi, 721)


def _position(style: Style) -> Made:
    th0, th1, th2, th3 = _angles()
    at, turn = four_bar.positions(math.pi), four_bar.positions(_TURN)
    length = printed.coupler_length(0.0, math.pi, float(at.rocker))
    closed = printed.coupler_length(0.0, math.pi, printed.rocker_angle(0.0, math.pi))
    over = four_bar.positions(2.7, 2.0)
    values = (
        Value("θ2 by eq 18, body at 0.4, crank at 1.1 rad", th2, "rad",
              printed.coupler_angle(th0, th1, th3), _ROUND),
        Value("length of the coupler that eq 15 to 17 close to, crank at 180 deg", 1e3 * length,
              "mm", 1e3 * closed, 0.05, "eq 15: the second cos cos must be sin sin"),
        Value("cosine in eq 17, crank at 0", math.cos(float(four_bar.positions(0.0).rocker)), "",
              printed.rocker_cosine(0.0, 0.0), 1e-3, "eq 15: no angle has this cosine"),
        Value("θ2 by eq 18, body at 2.0, crank at 2.7 rad", float(over.coupler), "rad",
              printed.coupler_angle(2.0, 2.7, float(over.rocker)), 1e-3,
              "the plain arctangent loses the quadrant"),
    )  # fmt: skip
    degrees = {
        name: np.degrees(np.unwrap(np.asarray(line)))
        for name, line in (("coupler θ2", turn.coupler), ("rocker θ3", turn.rocker))
    }
    return Made(values, _over_a_turn(degrees, "angle against the body [deg]", style))


def _speed(style: Style) -> Made:
    angles, found = _angles(), _rates()
    still = four_bar.speeds(CRANK, CRANK_V, BASE)
    th3_v, th2_v = printed.rates(angles, 0.0, CRANK_V)
    th3_w, th2_w = printed.rates(angles, BASE_V, CRANK_V)
    wrong = "eq 21: the sign of the body's column"
    values = (
        Value("coupler's rate, body not pitching", float(still.coupler), "rad/s", th2_v, 1e-11),
        Value("rocker's rate, body not pitching", float(still.rocker), "rad/s", th3_v, 1e-11),
        Value("coupler's rate, body at 2 rad/s", found[2], "rad/s", th2_w, 1e-3, wrong),
        Value("rocker's rate, body at 2 rad/s", found[3], "rad/s", th3_w, 1e-3, wrong),
    )
    turn = four_bar.speeds(_TURN, 1.0)
    lines = {"coupler dθ2/dθ1": np.asarray(turn.coupler), "rocker dθ3/dθ1": np.asarray(turn.rocker)}
    return Made(values, _over_a_turn(lines, "rate over that of the crank", style))


def _acceleration(style: Style) -> Made:
    found = _seconds()
    th3_a, th2_a = printed.accelerations(_angles(), _rates(), BASE_A, CRANK_A)
    values = (
        Value("coupler's acceleration", float(found.coupler), "rad/s^2", th2_a, 1e-9),
        Value("rocker's acceleration", float(found.rocker), "rad/s^2", th3_a, 1e-9),
    )
    turn = four_bar.accelerations(_TURN, 1.0)
    lines = {
        "coupler d²θ2/dθ1²": np.asarray(turn.coupler),
        "rocker d²θ3/dθ1²": np.asarray(turn.rocker),
    }
    return Made(values, _over_a_turn(lines, "second derivative by θ1", style))


# --- section 3
# -------------------------------------------------------------------------------------------------


def _printed_joint(lengths: Sequence[tuple[float, int]]) -> tuple[np.ndarray, ...]:
    """(place, velocity, acceleration) of eq 26 to 37: links (length, number) one after the other,
    the foot's as a length below zero: u(theta + pi) = -u(theta).
    """
    angles, first, found = _angles(), _rates(), _seconds()
    second = (BASE_A, CRANK_A, float(found.coupler), float(found.rocker))
    place = sum(long * u(angles[k]) for long, k in lengths)
    velocity = sum(long * v(angles[k]) * first[k] for long, k in lengths)
    acceleration = sum(
        long * (v(angles[k]) * second[k] - u(angles[k]) * first[k] ** 2) for long, k in lengths
    )
    return tuple(np.asarray(vector) for vector in (place, velocity, acceleration))


def _joint(name: str, letter: str, lengths: Sequence[tuple[float, int]], style: Style) -> Made:
    del style
    ours = (
        getattr(four_bar.positions(CRANK, BASE), name),
        getattr(four_bar.speeds(CRANK, CRANK_V, BASE, BASE_V), name),
        getattr(_seconds(), name),
    )
    kinds = (("", "m", 1.0), ("velocity of ", "m/s", 1e2), ("acceleration of ", "m/s^2", 1e4))
    values = []
    for (kind, unit, scale), mine, theirs in zip(kinds, ours, _printed_joint(lengths), strict=True):
        for axis, a, b in zip("xy", np.asarray(mine), theirs, strict=True):
            values.append(
                Value(f"{kind}{letter}, {axis}", float(a), unit, float(b), _ROUND * scale)
            )
    return Made(tuple(values))


def _joint_item(section: str, name: str, letter: str, equations: str, lengths) -> Item:
    return Item(
        f"sec-3.{section}",
        f"Joint {letter}",
        f"Eq {equations}: place, velocity and acceleration of joint {letter}.",
        functools.partial(_joint, name, letter, lengths),
        f'python -c "import footfall as ff; print(ff.robots.four_bar.positions(1.1, 0.4).{name})"',
    )


ITEMS = (
    Item(
        "sec-2.1",
        "Angular position of coupler and rocker",
        "Eq 9 to 18: the angles theta2 and theta3 from those of crank and body.",
        _position,
        'python -c "import footfall as ff; print(ff.robots.four_bar.positions(1.1, 0.4))"',
        "Eq 12 lost a term of two sines, eq 15 has cos cos twice, eq 16 to 18 a plain arctangent;"
        " ours is the intersection of two circles, without any angle.",
    ),
    Item(
        "sec-2.2",
        "Angular speed of coupler and rocker",
        "Eq 19 to 21: two linear equations for the rates of theta2 and theta3.",
        _speed,
        'python -c "import footfall as ff; print(ff.robots.four_bar.speeds(1.1, 50, 0.4, 2))"',
        "Eq 19 has a minus too many, eq 21 the wrong sign of the body's rate, which nothing shows"
        " while the body does not pitch.",
    ),
    Item(
        "sec-2.3",
        "Angular acceleration of coupler and rocker",
        "Eq 22 to 25: the same for the accelerations.",
        _acceleration,
        'python -c "import footfall as ff; print(ff.robots.four_bar.accelerations(1.1, 50))"',
    ),
    _joint_item("1", "crank_pin", "A", "26 to 28", ((L1, 1),)),
    _joint_item("2", "rocker_pin", "B", "29 to 31", ((L0, 0), (L3, 3))),
    _joint_item("3", "rocker_axis", "C", "32 to 34", ((L0, 0),)),
    _joint_item("4", "foot", "F", "35 to 37", ((L1, 1), (-L4, 2))),
)
