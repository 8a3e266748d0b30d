"""Items of source 002: the law between leg and ground of the centipede."""

import dataclasses
import functools
import math
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from footfall.hybrid.system import HybridState
from footfall.machines.centipede.body import SegmentChain
from footfall.machines.centipede.labels import (
    depth_label,
    edge_labels,
    legs_close_up,
    touch_labels,
    wall_regions,
)
from footfall.machines.centipede.point_contact import Touch, touch
from footfall.machines.centipede.robots import centipede
from footfall.machines.centipede.start import WalkerStart
from footfall.machines.parts.contact.viscoelastic import ViscoelasticContact
from footfall.machines.parts.friction.coulomb import TanhFriction
from footfall.machines.parts.terrain.gaps import Gap
from footfall.pictures.schematic import Panel, schematic, seen_at
from footfall.pictures.show import Picture
from footfall.pictures.style import Style, name_lines, series, styled
from footfall.scene.labels import Anchor, Coupling, Frame
from footfall.sources.item import Item, Made, Source, Value

# What the source leaves open: its formulas are compared at these numbers, which are ours.
STIFFNESS, DAMPING, MU, STEEPNESS = 5000.0, 10.0, 0.8, 50.0
LEFT, RIGHT = 0.0, 0.1  # edges of a gap
#: The formulas are the same but for rounding.
SAME = 1e-9

# --- the formulas as they are printed -------------------------------------------------------------


def _printed_floor(z: float, vx: float, vz: float) -> tuple[float, float]:
    normal = max(-STIFFNESS * z - DAMPING * vz, 0.0)
    return -MU * normal * math.tanh(STEEPNESS * vx), normal


def _printed_left(x: float, z: float, vx: float) -> tuple[float, float]:
    normal = max(-STIFFNESS * (x - LEFT) - DAMPING * vx, 0.0)
    return normal, -MU * normal * math.tanh(STEEPNESS * z)


def _printed_right(x: float, z: float, vx: float) -> tuple[float, float]:
    normal = max(STIFFNESS * (x - RIGHT) + DAMPING * vx, 0.0)
    return -normal, -MU * normal * math.tanh(STEEPNESS * z)


@functools.cache
def _ours(x: float, z: float, vx: float, vz: float) -> Touch:
    """What the robot's own ground does to a tip."""
    ground = Gap(gap_start=LEFT, gap_width=RIGHT - LEFT)
    contact = ViscoelasticContact(stiffness=STIFFNESS, damping=DAMPING)
    friction = TanhFriction(coefficient=MU, steepness=STEEPNESS)
    return Touch(*map(float, touch(ground, contact, friction, *map(jnp.float64, (x, z, vx, vz)))))


def _value(what: str, ours: float, printed: float, erratum: str = "") -> Value:
    return Value(what, ours, "N", printed, SAME, erratum)


# --- numbers --------------------------------------------------------------------------------------


def _normal_force(style: Style) -> Made:
    del style
    deep = _ours(-0.5, -1e-3, 0.0, -0.1)
    leaving = _ours(-0.5, -1e-3, 0.0, 0.6)
    above = _ours(-0.5, 1e-3, 0.0, -1.0)
    return Made(
        values=(
            _value("1 mm deep, sinking at 0.1 m/s", deep.fz, _printed_floor(-1e-3, 0.0, -0.1)[1]),
            _value("1 mm deep, leaving at 0.6 m/s", leaving.fz, _printed_floor(-1e-3, 0.0, 0.6)[1]),
            _value(
                "1 mm above the floor, falling at 1 m/s",
                above.fz,
                _printed_floor(1e-3, 0.0, -1.0)[1],
                "no condition z < 0 is printed: a tip that falls would feel the floor above it",
            ),
        ),
        words="the law of `contact=viscoelastic`, for z < 0 only",
    )


def _friction(style: Style) -> Made:
    speed = np.linspace(-0.1, 0.1, 401)
    with styled(style):
        picture = Picture(figsize=(0.6 * style.width, style.panel + 0.6), style=style)
        axes = picture.subplots()
        for i, c in enumerate((25.0, STEEPNESS, 200.0)):
            law = TanhFriction(coefficient=MU, steepness=c)
            share = np.asarray(law.force(speed, 1.0, 0.0))
            axes.plot(speed, share, label=f"c = {c:g} s/m", **series(i))
        axes.step(speed, -MU * np.sign(speed), color="k", lw=0.6, label="Coulomb", where="mid")
        axes.set(title="Friction for each newton of load", xlabel="sliding speed [m/s]")
        name_lines(axes, style)
    slow, fast = _ours(-0.5, -1e-3, 1.0 / STEEPNESS, 0.0), _ours(-0.5, -1e-3, 0.1, 0.0)
    return Made(
        values=(
            _value("f at 0.05 m/s, 1 mm deep", *_floor_pair(0.05)),
            _value("f at -0.01 m/s, 1 mm deep", *_floor_pair(-0.01)),
            Value("share of Coulomb's friction at 1/c", -slow.fx / (MU * slow.fz)),
            Value("the same at 5/c: |x'| >> 1/c", -fast.fx / (MU * fast.fz), "", 1.0, 5e-4),
        ),
        picture=picture,
        words=f"the law of `friction=tanh`, slope mu N c at rest; here mu = {MU}, c = 50 s/m",
    )


def _floor_pair(vx: float) -> tuple[float, float]:
    return _ours(-0.5, -1e-3, vx, 0.0).fx, _printed_floor(-1e-3, vx, 0.0)[0]


def _creep(style: Style) -> Made:
    """On a slope of angle a friction holds the weight at tanh(c v) = tan(a)/mu."""
    del style
    law = TanhFriction(coefficient=MU, steepness=STEEPNESS)
    angle = math.radians(20.0)
    speed = math.atanh(math.tan(angle) / MU) / STEEPNESS
    held = -float(law.force(speed, math.cos(angle), 0.0))
    return Made(
        values=(
            Value("speed at which a tip creeps down 20 degrees", 1e3 * speed, "mm/s"),
            Value("friction there, of the weight", held, "", math.sin(angle), SAME),
        ),
        words="a tip never sticks; `--set friction=bristle` has static friction as well",
    )


def _reaction(style: Style) -> Made:
    del style
    one = _ours(-0.5, -1e-3, -0.01, -0.1)
    printed = _printed_floor(-1e-3, -0.01, -0.1)
    return Made(
        values=tuple(
            _value(f"{name} 1 mm deep, (-0.01, -0.1) m/s", own, source)
            for name, own, source in zip(("F_x", "F_z"), (one.fx, one.fz), printed, strict=True)
        )
    )


SIGN = "tanh(c z) is printed for tanh(c z'): friction opposes speed, not place"


def _left_wall(style: Style) -> Made:
    del style
    moving, still = _ours(-1e-3, -5e-3, -0.1, 0.0), _ours(-1e-3, -5e-3, 0.0, 0.0)
    sliding = _ours(-1e-3, -5e-3, 0.0, 0.02)
    return Made(
        values=(
            _value(
                "N 1 mm in, pressed at 0.1 m/s", moving.fx, _printed_left(-1e-3, -5e-3, -0.1)[0]
            ),
            _value("f 1 mm in, at rest", still.fz, _printed_left(-1e-3, -5e-3, 0.0)[1], SIGN),
            _value(
                "f 1 mm in, sliding up at 0.02 m/s",
                sliding.fz,
                _printed_left(-1e-3, -5e-3, 0.0)[1],
                SIGN,
            ),
        )
    )


def _right_wall(style: Style) -> Made:
    del style
    moving, mirror = _ours(0.102, -0.01, 0.1, -0.05), _ours(-0.002, -0.01, -0.1, -0.05)
    return Made(
        values=(
            _value(
                "N 2 mm in, pressed at 0.1 m/s", moving.fx, _printed_right(0.102, -0.01, 0.1)[0]
            ),
            _value(
                "f 2 mm in, sliding down at 0.05 m/s",
                moving.fz,
                _printed_right(0.102, -0.01, 0.1)[1],
                SIGN,
            ),
            _value("the left wall, mirrored: -N", -mirror.fx, moving.fx),
        )
    )


def _regions(style: Style) -> Made:
    """Which surface pushes: the nearer one."""
    del style
    floor, wall = _ours(-3e-3, -2e-3, 0.0, 0.0), _ours(-2e-3, -3e-3, 0.0, 0.0)
    gap = _ours(0.05, -0.02, 0.1, 0.1)
    return Made(
        values=(
            _value(
                "F_z at x = -3 mm, z = -2 mm: floor", floor.fz, _printed_floor(-2e-3, 0.0, 0.0)[1]
            ),
            _value("F_x there", floor.fx, 0.0),
            _value(
                "F_x at x = -2 mm, z = -3 mm: wall", wall.fx, _printed_left(-2e-3, -3e-3, 0.0)[0]
            ),
            _value(
                "F_z there: the floor does not act beside the wall",
                wall.fz,
                _printed_floor(-3e-3, 0.0, 0.0)[1],
                "the law of the floor has no condition on x",
            ),
            _value(
                "F_z over the gap, 20 mm down",
                gap.fz,
                _printed_floor(-0.02, 0.1, 0.1)[1],
                "the law of the floor has no condition on x: the gap would carry",
            ),
        ),
        words="at p_x = p_z the force turns by a right angle; terrain.blend spreads the turn",
    )


def _feedback(style: Style) -> Made:
    del style
    floor, wall = _ours(-0.5, -1e-3, 0.05, 0.0), _ours(0.102, -0.01, 0.0, 0.0)
    return Made(
        values=(
            Value("F_i of a tip that slips on the floor: friction", floor.fx, "N"),
            Value("F_i of a tip against the far wall: its normal force", wall.fx, "N"),
        ),
        words=(
            "output tip.fx, which the lift reflex reads; on a wall and on the floor it means"
            " different things, so a leg counts as blocked only where |F_x| > |F_z|"
        ),
    )


# --- schematics -----------------------------------------------------------------------------------

#: So soft that its depth can be seen beside a leg of 50 mm.
SOFT = 150.0  # N/m


def _posed(
    body: SegmentChain, head: float, place: Callable[[HybridState], dict[str, np.ndarray]]
) -> HybridState:
    """Standing on level ground, then its tips moved: arrays over segments by name."""
    state = WalkerStart(head=head).state(centipede(body=body))
    tips = dataclasses.replace(state.x.tips, **place(state))
    return state._replace(x=dataclasses.replace(state.x, tips=tips))


def _figure_1(style: Style) -> Made:
    body = SegmentChain(segments=4)
    system = centipede(body=body, contact=ViscoelasticContact(stiffness=SOFT, damping=0.0))
    leg = 1

    def sunk(state: HybridState) -> dict[str, np.ndarray]:
        x, one = np.array(state.x.nodes.x), np.zeros(4)
        return {"x": x - 0.012, "z": one - 0.008, "vx": one + 0.03, "vz": one}

    state = _posed(body, 0.0, sunk)
    tip = Anchor(f"tip.{leg}")
    labels = (
        *touch_labels(system, state.x, leg, 0.016),
        depth_label(leg, state.x),
        Coupling("$k_g$", "$c_g$", tip, Anchor(f"tip.{leg}", (0.0, 0.0, -0.016)), 0.008),
        Frame(Anchor("", (float(state.x.tips.x[leg]) - 0.034, 0.0, 0.0)), 0.01),
    )
    panel = Panel(legs_close_up(system, (leg,)), seen_at(system, state), labels)
    title = "Fig 1. A leg on viscoelastic ground"
    return Made(
        picture=schematic([panel], title, style._replace(width=0.5 * style.width)),
        words=f"forces of the robot's own law, on ground of {SOFT:g} N/m so that its depth shows",
    )


def _figure_2(style: Style) -> Made:
    body = SegmentChain(segments=4)
    system = centipede(
        body=body,
        contact=ViscoelasticContact(stiffness=4 * SOFT, damping=0.0),
        terrain=Gap(gap_start=-0.025, gap_width=0.05),
    )
    right, left = 0, 1

    def inside(state: HybridState) -> dict[str, np.ndarray]:
        x, z, one = np.array(state.x.nodes.x), np.array(state.x.tips.z), np.zeros(4)
        x[:2], z[:2] = (0.0285, -0.0285), -0.014
        return {"x": x, "z": z, "vx": one, "vz": one - 0.03}

    state = _posed(body, 0.025, inside)
    labels = (
        *touch_labels(system, state.x, left, 0.006, "l"),
        *touch_labels(system, state.x, right, 0.006, "r"),
        *edge_labels(system),
    )
    shapes = (*legs_close_up(system, (right, left)), *wall_regions(system, 0.02))
    panel = Panel(shapes, seen_at(system, state), labels)
    title = "Fig 2. Legs against the walls of a gap, sliding down"
    return Made(
        picture=schematic([panel], title, style._replace(width=0.65 * style.width)),
        words="on the slanted lines floor and wall are equally near; below them the wall pushes",
    )


# --- the list -------------------------------------------------------------------------------------

SOURCE = Source(
    code="002",
    robot="centipede",
    title="Model for interaction between the legs and the ground (Yasui and others)",
    items=(
        Item(
            "fig-1",
            "leg and ground",
            "A schematic of the interaction between the legs and the ground.",
            _figure_1,
        ),
        Item(
            "eq-normal",
            "normal force of the viscoelastic ground",
            "N = max(-k_g z - c_g z', 0).",
            _normal_force,
            "footfall run centipede --set contact.stiffness=2000",
            "without a condition z < 0 a tip above the floor is pushed; ours has the condition",
        ),
        Item(
            "eq-1",
            "dynamic Coulomb friction by a hyperbolic tangent",
            "f = -mu N tanh(c x'), which is Coulomb's where |x'| is far above 1/c.",
            _friction,
            "footfall run centipede --set friction.steepness=200",
        ),
        Item(
            "sec-static-friction",
            "what the law leaves out: static friction",
            "Static friction is not modelled, because it is difficult in simulations.",
            _creep,
            "footfall run centipede --set friction=bristle",
        ),
        Item(
            "eq-reaction",
            "force of the ground on a tip",
            "F_reaction = (f, N).",
            _reaction,
        ),
        Item(
            "fig-2",
            "legs and side walls",
            "A schematic of the interaction between the legs and the side walls of a gap.",
            _figure_2,
        ),
        Item(
            "eq-left-wall",
            "force of the left-hand wall",
            "N = max(-k_g (x - x_gap,l) - c_g x', 0), f = -mu N tanh(c z), F = (N, f).",
            _left_wall,
            erratum=f"{SIGN}; at rest below the floor it would push up",
        ),
        Item(
            "eq-right-wall",
            "force of the right-hand wall",
            "N = max(k_g (x - x_gap,r) + c_g x', 0), f = -mu N tanh(c z), F = (-N, f).",
            _right_wall,
            erratum=SIGN,
        ),
        Item(
            "sec-regions",
            "where a wall acts and where the floor does",
            "The wall acts where x < x_gap,l, z < x - x_gap,l and z < 0, and its mirror image.",
            _regions,
            'footfall run centipede-gap --set terrain.blend="0.5 mm"',
            "the third condition follows from the first two; the floor's law needs one on x",
        ),
        Item(
            "sec-gap",
            "ground of which a part was removed",
            "Part of the terrain was removed, and the robot walks over the gap.",
            command="footfall crossing centipede-gap",
        ),
        Item(
            "sec-feedback",
            "the horizontal component as the ground reaction force",
            "F_i is the x component of F_reaction, as each leg is roughly along the z axis.",
            _feedback,
            "footfall run centipede-gap --plots all",
            "on a wall it is the normal force, on the floor friction",
        ),
        Item(
            "sec-parameters",
            "constants of the law",
            "k_g, c_g, mu and c are named and no number is given.",
            command="footfall show centipede",
        ),
    ),
)
