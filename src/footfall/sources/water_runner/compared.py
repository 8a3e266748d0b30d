"""Section 1.2: feet of every stiffness judged on water and on hard ground.

On water: one leg, its crank turning at 8 Hz, the body held 50 mm above the water. On ground: 30 g
that fall on one foot, the leg held at 55 degrees on a vertical guide, the tip from 20 mm.
"""

import dataclasses
import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from footfall.machines.parts.contact.cubic import CubicContact
from footfall.machines.parts.friction.coulomb import StribeckFriction
from footfall.machines.water_runner.compliant_feet import CompliantFoot, Hinge
from footfall.machines.water_runner.foot import FootPoint
from footfall.machines.water_runner.four_bar_leg import FourBarLeg
from footfall.machines.water_runner.linkage import FourBarPose, pose
from footfall.machines.water_runner.pads import BreakawayPad, RigidPad
from footfall.numerics.trig import sincos
from footfall.pictures.show import Picture
from footfall.pictures.style import Style, name_lines, series
from footfall.sources.item import Item, Made, Value
from footfall.sources.water_runner import printed
from footfall.sources.water_runner.feet import WATER

FREQUENCY, HEIGHT = 8.0, 0.050
MASS, LEAN, DROP, FALL = 0.030, math.radians(55.0), 0.020, 0.15
#: Steps of rk4, in s: below 2.8 over the fastest rates, 2e4 and 1e5 1/s.
WET_STEP, DRY_STEP = 2e-5, 5e-6
#: Stiffnesses of the hinge [N m/rad], from a third of the robot's own to as good as rigid.
STIFFNESSES = np.geomspace(0.016, 50.0, 15)


class OnWater(NamedTuple):
    """Means over a turn of the crank, and the largest deflection."""

    lift: np.ndarray
    thrust: np.ndarray
    power: np.ndarray  #: of the shaft
    bent: np.ndarray


class OnGround(NamedTuple):
    """Of one fall."""

    peak: np.ndarray  #: force of the ground, in weights
    stored: np.ndarray  #: most in the hinge's spring, as a share of the energy of the fall
    returned: np.ndarray  #: kinetic energy of the body going up, as a share of it


def leg_point(leg: FourBarLeg, psi, rate: float) -> tuple[FootPoint, FourBarPose]:
    """The end of a leg whose body is held, and its pose."""
    p = pose(leg.links, *sincos(psi), leg.assembly_sign)
    at = FootPoint(
        p.fx, HEIGHT + p.fy, p.dfx * rate, p.dfy * rate, p.ux, p.uy, p.coupler_rate * rate
    )
    return at, p


def short_leg(foot: CompliantFoot) -> FourBarLeg:
    """A leg shorter by what lies between its end and the face: that is where the pads are."""
    leg = FourBarLeg()
    beyond = (1.0 - foot.hinge_share) * foot.length
    beyond += foot.face_place * foot.hinge_share * foot.length
    return dataclasses.replace(leg, foot_length=float(leg.foot_length - beyond))


def _rk4(rates, t, y, h):
    a = rates(t, y)
    b = rates(t + 0.5 * h, y + 0.5 * h * a)
    c = rates(t + 0.5 * h, y + 0.5 * h * b)
    d = rates(t + h, y + h * c)
    return y + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)


@functools.cache
def on_water(stiffnesses: tuple[float, ...]) -> OnWater:
    """Feet with these hinges; the second turn of the crank counts."""
    k = jnp.asarray(stiffnesses)
    foot = CompliantFoot(stiffness=k)
    leg, rate = short_leg(CompliantFoot()), 2.0 * math.pi * FREQUENCY
    turn = round(1.0 / FREQUENCY / WET_STEP)

    def seen(t, y):
        at, p = leg_point(leg, rate * t, rate)
        own = Hinge(y[0], y[1])
        load = foot.in_water(at, own, None, WATER)
        torque = -(load.fx * p.dfx + load.fy * p.dfy + load.moment * p.coupler_rate)
        bent = foot.flow_in_water(at, own, load).x
        slope = jnp.stack([bent.deflection + 0.0 * k, bent.deflection_rate])
        return slope, jnp.stack([load.fy, -load.fx, rate * torque, jnp.abs(y[0])])

    def step(y, i):
        t = i * WET_STEP
        return _rk4(lambda t, y: seen(t, y)[0], t, y, WET_STEP), seen(t, y)[1]

    @jax.jit
    def turned():
        y, _ = lax.scan(step, jnp.zeros((2, k.size)), jnp.arange(turn))
        return lax.scan(step, y, jnp.arange(turn, 2 * turn))[1]

    told = np.asarray(turned())
    return OnWater(*told[:, :3].mean(axis=0), told[:, 3].max(axis=0))


@functools.cache
def pads_on_water() -> dict[str, OnWater]:
    """The pads, where the face of the compliant foot is."""
    psi = jnp.linspace(0.0, 2.0 * math.pi, 4001)[:-1]
    rate = 2.0 * math.pi * FREQUENCY
    at, p = leg_point(FourBarLeg(), psi, rate)
    found = {}
    for name, pad in (("rigid", RigidPad()), ("breakaway", BreakawayPad())):
        load = pad.in_water(at, None, None, WATER)
        torque = -(load.fx * p.dfx + load.fy * p.dfy + load.moment * p.coupler_rate)
        means = (float(jnp.mean(v)) for v in (load.fy, -load.fx, rate * torque))
        found[name] = OnWater(*map(np.asarray, means), np.asarray(0.0))
    return found


@functools.cache
def on_ground(stiffnesses: tuple[float, ...]) -> OnGround:
    """The fall on feet with these hinges; the body goes up and down only."""
    k = jnp.asarray(stiffnesses)
    foot, contact, friction = CompliantFoot(stiffness=k), CubicContact(), StribeckFriction()
    ux, uy = jnp.cos(LEAN), jnp.sin(LEAN)
    high = DROP + float(foot.length) * math.sin(LEAN)

    def seen(y):
        still = 0.0 * k
        at = FootPoint(still, y[0], still, y[1], ux, uy, 0.0)
        own = Hinge(y[2], y[3])
        tip = foot.tip(at, own)
        push = contact.force(-tip.y, -tip.vy)
        rub = friction.force(tip.vx, push, still)
        bent = foot.flow(at, own, rub, push).x
        up = push / MASS - printed.GRAVITY
        slope = jnp.stack([y[1], up, bent.deflection + still, bent.deflection_rate])
        return slope, push

    def step(y, i):
        del i
        return _rk4(lambda _, y: seen(y)[0], 0.0, y, DRY_STEP), (y, seen(y)[1])

    @jax.jit
    def fallen():
        start = jnp.stack([high + 0.0 * k, 0.0 * k, 0.0 * k, 0.0 * k])
        y, push = lax.scan(step, start, jnp.arange(round(FALL / DRY_STEP)))[1]
        hinge = jnp.max(0.5 * k * y[:, 2] ** 2, axis=0)
        rising = jnp.max(0.5 * MASS * jnp.maximum(y[:, 1], 0.0) ** 2, axis=0)
        return jnp.max(push, axis=0), hinge, rising

    weight = MASS * printed.GRAVITY
    peak, hinge, rising = map(np.asarray, fallen())
    return OnGround(peak / weight, hinge / (weight * DROP), rising / (weight * DROP))


def _compared(style: Style) -> Made:
    own = float(CompliantFoot().stiffness)
    every = tuple(sorted({*STIFFNESSES.tolist(), own}))
    wet, dry, pads = on_water(every), on_ground(every), pads_on_water()
    here = every.index(own)
    figure = Picture(figsize=(style.width, 1.4 * style.panel), style=style)
    water, ground = figure.subplots(1, 2)
    water.semilogx(every, wet.lift, label="lift", **series(0))
    water.semilogx(every, wet.thrust, label="thrust", **series(1))
    for i, name in enumerate(("lift", "thrust")):
        water.axhline(float(getattr(pads["rigid"], name)), ls=":", color=series(i)["color"])
    water.set(title="On water: means of a leg (dotted: rigid pad)", ylabel="force [N]")
    ground.semilogx(every, dry.stored, label="most stored in the hinge", **series(0))
    ground.semilogx(every, dry.returned, label="given back to the body", **series(1))
    ground.set(title="On ground: shares of the energy of a fall", ylabel="")
    for axes in (water, ground):
        axes.axvline(own, color="0.6", lw=0.8)
        axes.set_xlabel("stiffness of the hinge [N m/rad]; grey: the robot's")
        name_lines(axes, style)
    rigid = pads["rigid"]
    return Made(
        (
            Value("lift on water, rigid pad", float(rigid.lift), "N"),
            Value("lift, hinge of 50 N m/rad", float(wet.lift[-1]), "N"),
            Value("lift, the robot's hinge", float(wet.lift[here]), "N"),
            Value("lift, breakaway pad", float(pads["breakaway"].lift), "N"),
            Value("lift for each watt, rigid pad", float(rigid.lift / rigid.power), "N/W"),
            Value("lift for each watt, the robot's hinge",
                  float(wet.lift[here] / wet.power[here]), "N/W"),
            Value("largest deflection on water", float(wet.bent[here]), "rad"),
            Value("peak force of a fall, hinge of 50 N m/rad", float(dry.peak[-1]), "weights"),
            Value("peak force of a fall, the robot's hinge", float(dry.peak[here]), "weights"),
            Value("most stored in the robot's hinge", float(dry.stored[here]), "of the fall"),
        ),
        figure,
        _judged(wet, dry, pads, here),
    )  # fmt: skip


def _judged(wet: OnWater, dry: OnGround, pads: dict[str, OnWater], here: int) -> str:
    """What the numbers say of the source's sentence."""
    lift = float(wet.lift[here] / pads["rigid"].lift)
    softer = float(dry.peak[here] / dry.peak[-1])
    return (
        f"the robot's hinge gives {lift:.2f} times the lift of a rigid pad in its place, a"
        f" breakaway pad {float(pads['breakaway'].lift / pads['rigid'].lift):.2f} times; on ground"
        f" its peak force is {softer:.2f} times that of a stiff foot, its spring holds"
        f" {float(dry.stored[here]):.2f} of the energy of the fall, and its damper leaves the body"
        f" {float(dry.returned[here]):.2f} of it ({float(dry.returned[-1]):.2f} on a stiff foot)"
    )


ITEMS = (
    Item(
        "sec-1.2",
        "Compliant feet on water and on ground",
        "Rigid feet suit water, since they present the most area; compliant ones suit hard ground.",
        _compared,
        "footfall sweep water-runner --set foot=compliant --set leg.foot_length=0.0394"
        " --vary foot.stiffness=0.02:2:7:log --metric mean_load_lift",
    ),
)
