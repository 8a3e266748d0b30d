"""Section 1: what water and ground do to a foot."""

import math

import numpy as np

from footfall.machines.parts.contact.cubic import CubicContact
from footfall.machines.parts.friction.coulomb import StribeckFriction
from footfall.machines.water_runner.compliant_feet import CompliantFoot, Hinge
from footfall.machines.water_runner.disc_load import DiscLoad, disc_load
from footfall.machines.water_runner.foot import FootPoint
from footfall.machines.water_runner.pads import BreakawayPad
from footfall.machines.water_runner.wet_disc import Medium
from footfall.pictures.show import Picture
from footfall.pictures.style import Style, name_lines, series
from footfall.sources.item import Item, Made, Value
from footfall.sources.water_runner import printed

RADIUS = 0.020
WATER = Medium(0.0, printed.WATER, printed.GRAVITY)
#: Closed form against quadrature, both in double precision.
_ROUND = 1e-12


def _load(depth: float, tau_y: float, a0: float, a1: float) -> DiscLoad:
    density = printed.DRAG * printed.WATER
    given = (RADIUS, depth, tau_y, a0, a1, density, 2.0 * printed.GRAVITY * density)
    return DiscLoad(*map(float, disc_load(*map(np.float64, given))))


def _ours(depth: float, tau_y: float, a0: float, a1: float = 0.0) -> tuple[float, float]:
    """(F_w, integral of s q)."""
    load = _load(depth, tau_y, a0, a1)
    return load.drag + load.pressure, load.drag_moment + load.pressure_moment


def _drag(style: Style) -> Made:
    speed = np.linspace(0.0, 2.0, 81)
    with_depth = (0.0, 0.02, 0.05)
    figure = Picture(figsize=(0.6 * style.width, 1.2 * style.panel), style=style)
    axes = figure.subplots()
    for i, depth in enumerate(with_depth):
        forces = [_ours(max(depth, 1e-12), 0.0, v)[0] for v in speed]
        axes.plot(speed, forces, label=f"{1e3 * depth:g} mm deep", **series(i))
    axes.set(title="Drag on a level pad of 20 mm", xlabel="speed [m/s]", ylabel="force [N]")
    name_lines(axes, style)
    return Made(
        tuple(
            Value(f"D at {v:g} m/s, {1e3 * h:g} mm deep", _ours(h, 0.0, v)[0], "N",
                  printed.disc_drag(RADIUS, v, h), _ROUND)
            for v, h in ((1.0, 0.01), (0.3, 0.03), (0.0, 0.05))
        ),
        figure,
    )  # fmt: skip


#: (depth of the centre, tau_y, a0, a1): half wet, turning; drowned.
HALF, DROWNED = (0.004, 0.5, 0.2, 30.0), (0.030, 0.8, 1.2, -25.0)


def _pad(style: Style) -> Made:
    del style
    values = []
    for name, (depth, tau_y, a0, a1) in (("half wet", HALF), ("drowned", DROWNED)):
        low, top = -depth - RADIUS * tau_y, -depth + RADIUS * tau_y
        force, moment = printed.pad_loads(RADIUS, low, top, a0, a1)
        mine, first = _ours(depth, tau_y, a0, a1)
        whole = min(max(depth / tau_y, -RADIUS), RADIUS) < RADIUS
        # Of eq 5: the edge above is given depth zero, however deep it is.
        above = "" if whole else "eq 5 gives the upper edge of a drowned pad depth 0"
        values += [
            Value(f"F_w, {name}", mine, "N", force, 1e-6, "eq 2: the density is missing"),
            Value(f"F_w, {name}, eq 2 times the density", mine, "N", printed.WATER * force,
                  _ROUND, above),
            Value(f"-M_w, {name}", first, "N m", -moment, _ROUND, above),
        ]  # fmt: skip
    return Made(
        tuple(values),
        words="with s up the leg and n its right-hand side the moment about the centre is the"
        " integral of s q, -M_w; ours is a closed form, (pad.3) to (pad.5)",
    )


def _point(speed: float) -> FootPoint:
    """A foot at 45 degrees whose pad presses on the water at this speed."""
    u = np.float64(math.sqrt(0.5))
    return FootPoint(np.float64(0.0), np.float64(-0.03), u * speed, -u * speed, u, u, 0.0)


def _fold(style: Style) -> Made:
    pad = BreakawayPad()
    speeds = np.linspace(-1.5, 1.5, 121)
    hard = [
        float(np.hypot(*map(float, load[:2])))
        for load in (
            (pad.open_load if v > 0 else pad.folded_load)(_point(v), WATER) for v in speeds
        )
    ]
    open_load = [float(np.hypot(*map(float, pad.open_load(_point(v), WATER)[:2]))) for v in speeds]
    figure = Picture(figsize=(0.6 * style.width, 1.2 * style.panel), style=style)
    axes = figure.subplots()
    axes.plot(speeds, open_load, label="never folds", **series(1))
    axes.plot(speeds, hard, label="breakaway pad", **series(0))
    axes.set(title="Force on a drowned pad, 30 mm deep", ylabel="force [N]")
    axes.set_xlabel("speed against the water, across the pad [m/s]")
    name_lines(axes, style)
    folded = pad.folded_load(_point(-1.0), WATER)
    small = 0.5 * printed.DRAG * printed.WATER * math.pi * (0.25 * RADIUS) ** 2
    across = -float(folded.fx) * math.sqrt(0.5) + float(folded.fy) * math.sqrt(0.5)
    return Made(
        (
            Value("radius folded, of the open pad's", float(pad.folded_share), "", 0.25, 0.0),
            Value("radius of the added pad, of the open pad's",
                  float(pad.edge_radius / pad.radius), "", 1.0, 0.0),
            Value("folded, moving up at 1 m/s: force across it", -across, "N", small, _ROUND),
        ),
        figure,
        'a(s) < 0 is a rule for each point; ours asks the centre, at once (foot.folding="hard") or'
        " over 0.05 m/s; pressure on a folded pad is off unless foot.folded_hydrostatics is on",
    )  # fmt: skip


def _hinge(style: Style) -> Made:
    del style
    foot, hinge, force = CompliantFoot(), Hinge(np.float64(0.2), np.float64(3.0)), (0.1, 0.4)
    at = _point(0.0)
    angle = math.radians(45.0) - 0.2
    link = float(foot.hinge_share * foot.length)
    moment = link * (-force[0] * math.sin(angle) + force[1] * math.cos(angle))
    said = -float(foot.damping) * 3.0 - float(foot.stiffness) * 0.2 + moment
    ours = float(foot.flow(at, hinge, *map(np.float64, force)).x.deflection_rate)
    return Made(
        (
            Value("I_eff times the second derivative of theta", ours * float(foot.inertia), "N m",
                  said, 1e-15),
        ),
        words="0.2 rad bent, bending at 3 rad/s, the ground pushing with (0.1, 0.4) N; the leg is"
        " given the force at the tip, not the spring's moment, or energy would be lost",
    )  # fmt: skip


def _contact(style: Style) -> Made:
    depth, contact = 1.3e-3, CubicContact()
    rates = np.linspace(-1.5, 1.5, 121)
    figure = Picture(figsize=(0.6 * style.width, 1.2 * style.panel), style=style)
    axes = figure.subplots()
    ours = [float(contact.force(depth, v)) for v in rates]
    said = [printed.ground_force(depth, v) for v in rates]
    axes.plot(rates, ours, label="ours", **series(0))
    axes.plot(rates, said, label="eq 7 as printed", **series(1))
    axes.set(title="Force of the ground, 1.3 mm deep", ylabel="force [N]")
    axes.set_xlabel("rate of the penetration, positive while pressing in [m/s]")
    name_lines(axes, style)
    wrong = "1 - y': weaker while pressing in, so that it feeds energy"
    return Made(
        (
            Value("F_y 1.3 mm deep, at rest", float(contact.force(depth, 0.0)), "N",
                  printed.ground_force(depth, 0.0), 1e-12),
            Value("F_y 1.3 mm deep, pressing in at 0.5 m/s", float(contact.force(depth, 0.5)), "N",
                  printed.ground_force(depth, 0.5), 1e-3, wrong),
            Value("F_y 1.3 mm deep, leaving at 0.5 m/s", float(contact.force(depth, -0.5)), "N",
                  printed.ground_force(depth, -0.5), 1e-3, wrong),
            Value("F_y 1 mm above the ground", float(contact.force(-1e-3, -0.5)), "N",
                  printed.ground_force(-1e-3, 0.5), 0.0),
        ),
        figure,
    )  # fmt: skip


def _friction(style: Style) -> Made:
    del style
    law, normal = StribeckFriction(), 0.5

    def force(speed: float) -> float:
        return float(law.force(np.float64(speed), normal, 0.0))

    wrong = "eq 8 has no direction and no absolute values"
    return Made(
        (
            Value("sliding forward at 1 m/s", force(1.0), "N",
                  printed.ground_friction(100.0, normal), 1e-3, wrong),
            Value("sliding back at 1 m/s", force(-1.0), "N",
                  printed.ground_friction(100.0, normal), 1e-4),
            Value("largest force of a foot at rest", law.static_coefficient * normal, "N",
                  printed.STATIC * normal, 1e-15),
            Value("force held at m_r a_x = -6 N", -law.static_coefficient * normal, "N",
                  printed.ground_friction(-100.0, normal), 1e-3, wrong),
        ),
        words="friction by the sliding speed, (friction.3), or with a bristle that sticks"
        " (friction=bristle); a force from the acceleration that it makes says nothing",
    )  # fmt: skip


ITEMS = (
    Item(
        "eq-1",
        "Drag on a disc that enters the water",
        "D = C_D (S rho u^2/2 + S rho g h), of a level disc.",
        _drag,
    ),
    Item(
        "eq-2",
        "Force and moment on a pad, partly wet (1.1)",
        "Eq 2 to 5: the drag integrated over the wetted part of the pad.",
        _pad,
        "python -m pydoc footfall.machines.water_runner.disc_load",
        "Eq 2 lacks the density, eq 5 gives the upper edge of a drowned pad depth 0; n, p and the"
        " direction of s are not defined.",
    ),
    Item(
        "sec-1.1-fold",
        "Breakaway pad",
        "A pad pulled up folds: a quarter of its radius, and a pad across it.",
        _fold,
        "footfall run water-runner --set foot.folding=hard --duration 0.5",
        "The rule is per point, and the wetting of the folded pad is left open.",
    ),
    Item(
        "eq-6",
        "Bending of the compliant foot",
        "Two rigid links and a torsional spring: I theta'' = -b theta' - k theta + M.",
        _hinge,
        "footfall run water-runner-ground --duration 0.5",
    ),
    Item(
        "eq-7",
        "Force of hard ground",
        "F_y = 0.25e9 |y_p|^3 (1 - y_p') for y_p > 0.",
        _contact,
        "footfall run water-runner-ground --set contact.damping=0.5 --duration 0.5",
        "With y_p the penetration the sign of its rate is wrong; no limit keeps F_y from pulling.",
    ),
    Item(
        "eq-8",
        "Dry friction under the foot",
        "F_x = m_r a_x up to mu_s F_y, beyond it mu_k F_y.",
        _friction,
        "footfall run water-runner-ground --set friction=bristle --duration 0.3",
        "No direction, no absolute values, and a force from the acceleration that it makes.",
    ),
)
