"""A compliant foot in water: the load of its face, moving with its hinge.

Derived again from where the face is; passed on whole to leg and hinge; a rigid pad's where the
hinge is stiff.
"""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall.machines.water_runner.compliant_feet import CompliantFoot, Hinge
from footfall.machines.water_runner.foot import FootPoint
from footfall.machines.water_runner.pads import RigidPad
from footfall.machines.water_runner.wet_disc import Medium, wet_disc
from footfall.sources.water_runner.compared import on_water, pads_on_water

WATER, COUNT = Medium(level=0.0, density=1000.0, gravity=9.81), 4000
FOOT = CompliantFoot(face_radius=0.015, face_place=0.4)


def any_motion(seed=3):
    """(place and angle of the leg's end, its rates, hinge) of feet in, at and over the water."""
    draw = np.random.default_rng(seed)
    # x, y, theta2; rates; deflection and its rate
    place = [draw.uniform(-r, r, COUNT) for r in (1.0, 0.05, 1.0)]
    rates = [draw.uniform(-r, r, COUNT) for r in (2.0, 2.0, 60.0)]
    bend = [draw.uniform(-r, r, COUNT) for r in (0.4, 30.0)]
    return place, rates, bend


def point(place, rates):
    x, y, angle = place
    return FootPoint(x, y, rates[0], rates[1], np.cos(angle), np.sin(angle), rates[2])


def hinge_moment(foot, at, own, load):
    """What the water does to the hinge: I q'' + b q' + k q."""
    rate = foot.flow_in_water(at, own, load).x.deflection_rate
    return (
        foot.inertia * rate + foot.damping * own.deflection_rate + foot.stiffness * own.deflection
    )


def test_load_and_bending_follow_from_where_the_face_is():
    """By virtual work, with the face's place and angle as the page has them and jax's derivatives
    of them: no code of the foot but the law of a disc.
    """
    place, rates, (bend, bend_rate) = any_motion()
    fixed, reach = 0.15 * 0.040, 0.4 * 0.85 * 0.040

    def face(q):
        x, y, angle, bend = q
        turned = angle - bend
        return (
            x - fixed * jnp.cos(angle) - reach * jnp.cos(turned),
            y - fixed * jnp.sin(angle) - reach * jnp.sin(turned),
            turned,
        )

    q, way = (*place, bend), (*rates, bend_rate)
    (cx, cy, turned), (vx, vy, turning) = jax.jvp(face, (q,), (way,))
    disc = CompliantFoot.face(FOOT, point(place, rates), Hinge(bend, bend_rate))._replace(
        x=cx, y=cy, vx=vx, vy=vy, along_x=jnp.cos(turned), along_y=jnp.sin(turned),
        normal_x=jnp.sin(turned), normal_y=-jnp.cos(turned), rate=turning,
    )  # fmt: skip
    load = wet_disc(disc, 0.015, 0.703, 1.0, WATER)
    ((fx, fy, moment, on_hinge),) = jax.vjp(face, q)[1]((load.fx, load.fy, load.moment))
    at, own = point(place, rates), Hinge(bend, bend_rate)
    found = FOOT.in_water(at, own, None, WATER)
    given = (found.fx, found.fy, found.moment, hinge_moment(FOOT, at, own, found))
    for value, expected in zip(given, (fx, fy, moment, on_hinge), strict=True):
        size = np.max(np.abs(expected))
        assert np.std(expected) > 0.01 * size
        np.testing.assert_allclose(value, expected, rtol=0, atol=1e-12 * size)  # rounding


def test_power_of_the_water_goes_to_leg_and_hinge_and_nowhere_else():
    """P.v_F + M_F theta2' + q' Q = drag + pressure, and of Q q' what is not lost is stored."""
    place, rates, bend = any_motion(5)
    at, own = point(place, rates), Hinge(*bend)
    load = FOOT.in_water(at, own, None, WATER)
    to_hinge = hinge_moment(FOOT, at, own, load) * own.deflection_rate
    parts = np.stack([load.fx * at.vx, load.fy * at.vy, load.moment * at.rate, to_hinge])
    scale = np.abs(parts).sum(axis=0)
    gap = parts.sum(axis=0) - load.drag - load.pressure
    assert np.max(np.abs(gap)) < 1e-13 * np.max(scale)  # rounding
    assert np.all(np.asarray(load.drag) <= 1e-14 * scale) and np.mean(scale > 0.1) > 0.3
    rate = FOOT.flow_in_water(at, own, load)
    _, grown = jax.jvp(
        lambda own: sum(jax.tree.leaves(FOOT.stores(own))), (Hinge(*map(jnp.asarray, bend)),),
        (rate.x,),
    )  # fmt: skip
    balance = grown - to_hinge - rate.power.hinge
    assert np.max(np.abs(balance)) < 1e-12 * np.max(np.abs(to_hinge))
    dry = np.asarray(FOOT.depth_in_water(at, own, 0.0)) < 0
    assert np.mean(dry) > 0.05 and not np.any(parts[:3, dry])


@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
def test_a_hinge_that_does_not_bend_has_the_load_of_a_rigid_pad(place):
    """On a leg that reaches as far as the face's centre."""
    foot = dataclasses.replace(FOOT, face_place=place)
    pad = RigidPad(radius=foot.face_radius)
    (x, y, angle), rates, _ = any_motion(7)
    at = point((x, y, angle), rates)
    still = Hinge(np.zeros(COUNT), np.zeros(COUNT))
    load = foot.in_water(at, still, None, WATER)
    reach = foot.length * (1 - foot.hinge_share + place * foot.hinge_share)
    further = at._replace(
        x=at.x - reach * at.ux,
        y=at.y - reach * at.uy,
        vx=at.vx + reach * at.rate * at.uy,
        vy=at.vy - reach * at.rate * at.ux,
    )
    rigid = pad.in_water(further, None, None, WATER)
    moment = rigid.moment - reach * (at.ux * rigid.fy - at.uy * rigid.fx)
    for value, expected in zip(load, rigid._replace(moment=moment), strict=True):
        np.testing.assert_allclose(value, expected, rtol=0, atol=1e-12 * np.max(np.abs(expected)))


def test_a_stiffer_hinge_comes_as_near_to_a_rigid_pad_as_it_is_stiff():
    """Deflections go like 1/k, and so does the lift that they cost over a turn of the crank."""
    stiff = np.array([5.0, 10.0, 20.0])
    found, rigid = on_water(tuple(stiff.tolist())), pads_on_water()["rigid"]
    bent, missing = found.bent, np.abs(found.lift - rigid.lift)
    assert np.all(missing < 0.02 * rigid.lift)
    for value in (bent, missing):  # terms of 1/k^2: some per cent at these deflections
        np.testing.assert_allclose(value[1:] / value[:-1], 0.5, atol=0.03)


def test_without_a_face_water_does_nothing():
    place, rates, bend = any_motion()
    strip, own = dataclasses.replace(FOOT, face_radius=0.0), Hinge(*bend)
    load = strip.in_water(point(place, rates), own, None, WATER)
    assert not any(np.any(v) for v in load[:5])
    upright = point((0.0, -0.01, math.pi / 2), (0.0, 0.0, 0.0))
    deep = strip.depth_in_water(upright, Hinge(0.0, 0.0), 0.0)
    assert float(deep) == pytest.approx(0.01 + 0.040, abs=1e-12)  # of its tip
