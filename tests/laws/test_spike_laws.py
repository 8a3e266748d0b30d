"""The sea urchin's spike against derivations of its own: chain of joints, Lagrangian, MuJoCo, rigid
motion of the body, linear loops."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy as sp

from footfall import check_system, load, simulate
from footfall.machines.sea_urchin import kick_roll, spike_dynamics
from footfall.machines.sea_urchin import spike_kinematics as spike
from footfall.machines.sea_urchin.kick_actuator import ConstantForce
from footfall.machines.sea_urchin.kick_roll import KickRoll, KickStart, KickState
from footfall.machines.sea_urchin.numbers import GEOMETRIES, profile_p, profile_t, urchin_spike
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_bench import UrchinSpike
from footfall.machines.sea_urchin.spike_control import GAINS, SpikePid, StiffnessControl
from footfall.machines.sea_urchin.spike_dynamics import (
    accelerations,
    bias,
    coriolis,
    gravity_load,
    inertia,
    mass_matrix,
)
from footfall.machines.sea_urchin.spike_gait import PATTERNS, Foothold, SpikeGait
from footfall.machines.sea_urchin.spike_kinematics import (
    AZIMUTHS,
    SpikeShape,
    attachment,
    ball_jacobian,
    forward,
    inverse,
    jacobian,
    joint_accelerations,
    joint_rates,
)
from footfall.machines.sea_urchin.tripod_support import holds, least_duty, supported_share
from support.spikes import (
    GRAVITY,
    Q,
    V,
    axis,
    christoffel,
    lagrangian,
    mujoco_spike,
    mujoco_terms,
    symbolic,
    symbolic_bodies,
    to_body,
    vanishes,
)

LANES = 400
SHAPES = [SpikeShape(ball=0.005), SpikeShape(ball=0.04)]


def joints(seed=0, lanes=LANES):
    draw = np.random.default_rng(seed)
    q1, q2, d3 = (
        draw.uniform(low, high, lanes)
        for low, high in ((-1.4, 1.4), (0.2, math.pi - 0.2), (0.0, 0.04))
    )
    q2[: lanes // 4] = math.pi / 2  # where z is zero and the source divides 0 by 0
    return q1, q2, d3


# --- where it is ----------------------------------------------------------------------------------


def dh(theta, d, a, alpha):
    """Rot_z(theta) Trans_z(d) Trans_x(a) Rot_x(alpha)."""
    s, c, sa, ca = math.sin(theta), math.cos(theta), math.sin(alpha), math.cos(alpha)
    return np.array(
        [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]]
    )


@pytest.mark.parametrize(("upper", "index"), list(itertools.product((False, True), range(6))))
def test_the_ball_is_where_the_chain_of_joints_puts_it(upper, index):
    r_s, shape, (q1, q2, d3) = 0.06, SpikeShape(), (0.3, 1.1, 0.02)
    turn = math.pi / 2
    to_s = dh(index * math.pi / 3, (1 if upper else -1) * r_s / 2, r_s * math.sqrt(3) / 2, -turn)
    chain = to_s @ dh(q1, 0, 0, turn) @ dh(q2, 0, 0, turn) @ dh(0, shape.shortest + d3, 0, 0)
    np.testing.assert_allclose(
        to_body(r_s, upper, index, forward(shape, q1, q2, d3)), chain[:3, 3], rtol=0, atol=1e-16
    )
    place, rows = attachment(r_s, upper, index)
    np.testing.assert_allclose(rows, to_s[:3, :3], rtol=0, atol=1e-15)
    assert np.linalg.det(rows) == pytest.approx(1.0, abs=1e-15) and np.linalg.norm(
        place
    ) == pytest.approx(r_s)
    np.testing.assert_allclose(np.array(rows)[:, 1], [0, 0, -1], atol=1e-15)  # y of S is down


@pytest.mark.parametrize("shape", SHAPES)
def test_the_inverse_undoes_the_forward_map_over_the_whole_range(shape):
    q = joints()
    x, y, z = forward(shape, *q)
    found = inverse(shape, x, y + shape.ball, z)
    for a, b in zip(found, q, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=3e-15)  # a few roundings of angles up to pi
    one = inverse(shape, *(float(v[0]) for v in (x, y + shape.ball, z)))
    assert all(isinstance(v, float) for v in one)  # plain numbers stay plain


@pytest.mark.parametrize("shape", SHAPES)
def test_the_jacobian_is_the_derivative_of_the_place_and_its_inverse_is_closed(shape):
    q = joints(1)
    rows = ball_jacobian(shape, *q)
    for j in range(3):
        unit = tuple(np.ones(LANES) if i == j else np.zeros(LANES) for i in range(3))
        _, slope = jax.jvp(
            lambda *q: forward(shape, *q), tuple(map(jnp.asarray, q)), tuple(map(jnp.asarray, unit))
        )
        for row, value in zip(rows, slope, strict=True):
            np.testing.assert_allclose(row[j] + 0.0 * q[0], value, rtol=0, atol=1e-15)
    matrix = np.moveaxis(
        np.array([[np.broadcast_to(v, LANES) for v in row] for row in rows]), -1, 0
    )
    lam = shape.shortest + q[2]
    np.testing.assert_allclose(np.linalg.det(matrix), lam**2 * np.sin(q[1]), rtol=1e-12)
    foot = np.random.default_rng(2).uniform(-1, 1, (LANES, 3))
    rates = np.array(joint_rates(shape, q, tuple(foot.T))).T
    # Compared with LAPACK through the product, whose terms are of the size of the velocities.
    np.testing.assert_allclose(np.einsum("nij,nj->ni", matrix, rates), foot, rtol=0, atol=1e-14)


def test_any_point_of_the_axis_has_its_jacobian_by_its_distance_and_rate():
    q1, q2, d3 = 0.3, 1.1, 0.02
    _, slope = jax.jvp(
        lambda d: forward(SpikeShape(ball=0.0), q1, q2, 0.5 * d),
        (jnp.asarray(d3),),
        (jnp.ones(()),),
    )
    rows = jacobian(0.04 + 0.5 * d3, 0.5, q1, q2)
    np.testing.assert_allclose([row[2] for row in rows], slope, rtol=1e-15)


@pytest.mark.parametrize(("profile", "motion"), [("T", "walk"), ("P", "arc")])
def test_joint_rates_and_accelerations_are_derivatives_along_the_path(profile, motion):
    shape = GEOMETRIES[profile]()
    gait, body = (
        SpikeGait(motion=motion, heading=0.4, radius=0.3, lift=shape.lift),
        shape.spike.shape,
    )
    t = jnp.linspace(0.01, 5.99, 41)

    def q(t):
        return inverse(body, *gait.feet(t, shape.foothold).position)

    def v(t):
        return joint_rates(body, q(t), gait.feet(t, shape.foothold).velocity)

    @jax.jit
    def both(t):
        (_, q_rates), (_, v_rates) = (jax.jvp(f, (t,), (jnp.ones_like(t),)) for f in (q, v))
        a = joint_accelerations(body, q(t), v(t), gait.feet(t, shape.foothold).acceleration)
        return v(t), q_rates, a, v_rates

    rates, q_rates, a, v_rates = (np.array(found) for found in both(t))
    np.testing.assert_allclose(rates, q_rates, rtol=0, atol=1e-14)  # rates up to 1 rad/s: rounding
    np.testing.assert_allclose(a, v_rates, rtol=0, atol=1e-13)


# --- how it moves ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "share", [sp.Integer(1), sp.Rational(1, 2)], ids=["sliding", "telescoping"]
)
def test_mass_coriolis_and_gravity_are_those_of_the_lagrangian(share):
    """Symbolically, for any masses, places and inertias: the code itself runs on symbols."""
    bodies = symbolic_bodies(share)
    with symbolic():
        sums = inertia(bodies, Q[2])
        mass, c = sp.diag(*mass_matrix(sums, Q[1])), sp.Matrix(coriolis(sums, Q[1], V))
        pull = sp.Matrix(gravity_load(sums, Q[0], Q[1], GRAVITY))
        energies = (
            spike_dynamics.kinetic_energy(sums, Q[1], V),
            spike_dynamics.potential_energy(sums, Q[0], Q[1], GRAVITY),
        )
    kinetic, potential = lagrangian(bodies)
    mass_rate = sum((sp.diff(mass, q) * v for q, v in zip(Q, V, strict=True)), sp.zeros(3))
    skew = mass_rate - 2 * c
    assert vanishes(sp.hessian(kinetic, V) - mass)
    assert vanishes(c - christoffel(mass))
    assert vanishes(skew + skew.T)
    assert vanishes(pull - sp.Matrix([sp.diff(potential, q) for q in Q]))
    assert vanishes(sp.Matrix([energies[0] - kinetic, energies[1] - potential]))


def test_the_library_s_axis_and_jacobian_are_those_of_the_chain_symbolically():
    with symbolic():
        z2 = sp.Matrix(spike.axis(Q[0], Q[1]))
        rows = sp.Matrix(jacobian(sp.Symbol("lam"), sp.Symbol("rate"), Q[0], Q[1]))
    assert vanishes(z2 - axis())
    place = (sp.Symbol("lam") + sp.Symbol("rate") * Q[2]) * axis()
    assert vanishes(place.jacobian(sp.Matrix(Q)).subs(Q[2], 0) - rows)
    assert vanishes(
        sp.Matrix([rows.det() - sp.Symbol("lam") ** 2 * sp.Symbol("rate") * sp.sin(Q[1])])
    )


@pytest.mark.parametrize(
    "part",
    [
        Spike(),
        Spike(bodies="points", tip_mass=0.002),
        Spike(axial_inertia=2e-6, cylinder_length=0.03),
        profile_p().spike,
    ],
    ids=["default", "points", "axial", "P"],
)
def test_mujoco_finds_the_same_mass_matrix_and_bias_force(part):
    model, data = mujoco_spike(part)
    draw = np.random.default_rng(3)
    for q in zip(*(v[:25] for v in joints(4)), strict=True):
        v = tuple(draw.uniform(-1, 1, 3) * (2.0, 2.0, 0.2))
        mass, force = mujoco_terms(model, data, q, v)
        sums = part.inertia(q[2])
        d = np.array([float(m) for m in mass_matrix(sums, q[1])])
        # MuJoCo turns axial inertias of 1e-12 too: 1e-8 of the moments, and it needs an axis to
        # turn about.
        np.testing.assert_allclose(mass, np.diag(d), rtol=1e-4, atol=1e-7 * d.min())
        ours = np.array([float(b) for b in bias(sums, q, v, 9.81)])
        pull = np.array([float(g) for g in gravity_load(sums, q[0], q[1], 9.81)])
        # Weight and inertia can cancel: each is right to 1e-4.
        assert np.all(np.abs(force - ours) <= 1e-4 * (np.abs(pull) + np.abs(ours - pull) + 1e-9)), (
            force,
            ours,
        )


def test_accelerations_are_those_that_the_effort_was_made_for_in_lanes():
    q, draw, part = joints(5), np.random.default_rng(6), Spike(axial_inertia=1e-6)
    v, a = (tuple(draw.uniform(-1, 1, (3, LANES))) for _ in range(2))
    sums = part.inertia(q[2])
    weights, loads = mass_matrix(sums, q[1]), bias(sums, q, v, 9.81)
    effort = tuple(d * acc + b for d, acc, b in zip(weights, a, loads, strict=True))
    found = accelerations(sums, q, v, effort, 9.81)
    # 0.1 N m over 1e-6 kg m^2, rounded.
    np.testing.assert_allclose(np.array(found), np.array(a), rtol=0, atol=1e-11)


def test_gravity_pulls_a_level_spike_down():
    part, level = Spike(), (0.0, math.pi / 2, 0.02)
    still = (0.0, 0.0, 0.0)
    falling = accelerations(part.inertia(0.02), level, still, still, 9.81)
    assert (
        falling[0] > 50.0
        and falling[1] == pytest.approx(0.0, abs=1e-12)
        and falling[2] == pytest.approx(0.0, abs=1e-12)
    )
    upright = accelerations(
        part.inertia(0.02), (math.pi / 2, math.pi / 2, 0.02), still, still, 9.81
    )
    assert upright[2] > 0.0  # pointing down, the slide runs out


# --- its path -------------------------------------------------------------------------------------

TIMES = [(3.0, 3.0), (3.0, 1.0), (2.0, 2.0), (5.0, 1.0)]


def around(gait, knot, eps=1e-9):
    """The path just before and just after a time."""
    return (np.array([float(v) for v in gait.path(knot + side)]) for side in (-eps, eps))


@pytest.mark.parametrize(("stance", "swing"), TIMES)
def test_place_speed_and_acceleration_of_a_foot_are_continuous_over_the_whole_cycle(stance, swing):
    gait = SpikeGait(stance_time=stance, swing_time=swing)
    for knot in (stance, stance + swing / 2, stance + swing, 2 * stance + swing):
        before, after = around(gait, knot)
        # Over 2e-9 s accelerations move by their slopes: 60 lift/T_h^3, and less than 200 R/T_t^3.
        slope = 60 * 0.01 / (swing / 2) ** 3 + 200 * 0.03 / swing**3 + 1.0
        np.testing.assert_allclose(before, after, rtol=0, atol=2e-9 * slope)


def test_the_source_s_swing_jumps_in_speed_by_that_of_the_stance():
    gait = SpikeGait(swing_ends="resting")
    for knot, jump in ((3.0, 0.01), (6.0, -0.01)):
        before, after = around(gait, knot)
        assert after[2] - before[2] == pytest.approx(jump, abs=1e-9)
        np.testing.assert_allclose(np.delete(after - before, 2), 0.0, atol=1e-9)


def test_a_matched_swing_overshoots_its_stride_and_peaks_as_the_quintic_must():
    gait = SpikeGait()
    path = gait.path(np.linspace(3.0, 6.0, 60001))
    # By s' = 0 on a grid of 5e-5 s: the top is flat, the error of second order.
    assert np.max(np.abs(path.s)) / 0.03 == pytest.approx(0.59680, abs=5e-6)
    assert np.max(path.s_rate) / 0.01 == pytest.approx(2.75, rel=1e-9)
    assert np.max(path.rise) == pytest.approx(0.01, rel=1e-12) and np.min(path.rise) >= 0.0


@pytest.mark.parametrize(
    "options", [{}, {"swing_ends": "resting"}, {"via_speed": 0.02}, {"stride": 0.02, "lift": 0.02}]
)
def test_rates_of_the_path_are_its_derivatives(options):
    gait, t = SpikeGait(**options), jnp.linspace(0.011, 11.9, 97)

    def place(t):
        path = gait.path(t)
        return path.s, path.rise, path.s_rate, path.rise_rate

    _, slopes = jax.jvp(place, (t,), (jnp.ones_like(t),))
    # Rounding of 1 cm/s.
    np.testing.assert_allclose(jnp.stack(slopes), jnp.stack(gait.path(t)[2:]), rtol=0, atol=1e-15)


def world_feet(gait, foothold, t, pose):
    """Contact points in the world for a body whose pose (x, y, yaw) is given."""
    px, _, pz = (np.asarray(v) for v in gait.feet(t, foothold).position)
    az = np.array(AZIMUTHS)[:, None]
    bx = (foothold.ring + px) * np.cos(az) - pz * np.sin(az)
    by = (foothold.ring + px) * np.sin(az) + pz * np.cos(az)
    x, y, yaw = pose
    return x + np.cos(yaw) * bx - np.sin(yaw) * by, y + np.sin(yaw) * bx + np.cos(yaw) * by


@pytest.mark.parametrize(
    ("options", "heading"),
    [
        ({"motion": "walk"}, 0.0),
        ({"motion": "walk"}, 1.2),
        ({"motion": "arc", "radius": 0.25}, 0.7),
        ({"motion": "arc", "radius": 0.25, "sense": "right"}, -0.4),
    ],
)
def test_standing_feet_stay_where_they_are_while_the_body_goes_its_way(options, heading):
    """Body at constant speed along a line or an arc.

    Every standing foot is at rest on the floor, to rounding.
    """
    gait, foothold = SpikeGait(heading=heading, **options), profile_t().foothold
    t = np.linspace(0.0, 2.999, 31)  # one stance of legs 0, 2, 4
    way = gait.ideal_speed * t
    if gait.motion == "walk":
        pose = way * math.cos(heading), way * math.sin(heading), 0.0 * way
        assert gait.turn_per_cycle(foothold) == 0.0
    else:
        sign = 1.0 if gait.sense == "left" else -1.0
        yaw = sign * way / gait.radius
        centre = sign * gait.radius * np.array([-math.sin(heading), math.cos(heading)])
        pose = (
            centre[0] + sign * gait.radius * np.sin(heading + yaw),
            centre[1] - sign * gait.radius * np.cos(heading + yaw),
            yaw,
        )
        assert yaw[-1] / t[-1] * gait.period == pytest.approx(
            gait.turn_per_cycle(foothold), rel=1e-12
        )
    x, y = world_feet(gait, foothold, t, pose)
    standing = np.asarray(gait.standing(t))
    assert standing[::2].all() and not standing[1::2, 1:].any()
    for leg in (0, 2, 4):
        np.testing.assert_allclose([np.ptp(x[leg]), np.ptp(y[leg])], 0.0, atol=1e-15)


def test_turning_on_the_spot_slips_only_in_second_order():
    """The straight stroke of the source leaves the circle by R^2/(8 arm), 1 mm here; its first
    order turns the body and does not move it."""
    gait, foothold = SpikeGait(motion="turn"), profile_t().foothold
    t = np.linspace(0.0, 2.999, 61)
    yaw = gait.turn_per_cycle(foothold) / gait.period * (t - 1.5)
    x, y = world_feet(gait, foothold, t, (0.0 * t, 0.0 * t, yaw))
    slip = max(np.hypot(x[leg] - x[leg][30], y[leg] - y[leg][30]).max() for leg in (0, 2, 4))
    # The next order is (R/2 arm)^2, 2 %.
    assert slip == pytest.approx(0.03**2 / 8 / foothold.arm, rel=0.05)
    assert gait.turn_per_cycle(foothold) == pytest.approx(2 * 0.03 / foothold.arm, rel=1e-15)
    assert SpikeGait(motion="turn", sense="right").turn_per_cycle(foothold) == -gait.turn_per_cycle(
        foothold
    )


# --- who stands -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "least"), [("tripod", 1 / 2), ("pairs", 2 / 3), ("wave", 5 / 6), ("together", 1.0)]
)
def test_the_least_duty_of_a_pattern_follows_from_the_support_polygon(pattern, least):
    assert least_duty(PATTERNS[pattern], AZIMUTHS) == pytest.approx(least, abs=1e-12)


def test_the_least_duty_is_the_least_for_any_offsets():
    """Against looking at 2000 moments of the cycle, just above and just below it."""
    draw, moments = np.random.default_rng(8), (np.arange(2000) + 0.5) / 2000

    def seen(offsets, duty):
        standing = (moments[:, None] + np.array(offsets)) % 1.0 < duty
        patterns = {tuple(row) for row in standing}
        return all(
            holds([a for a, stands in zip(AZIMUTHS, row, strict=True) if stands])
            for row in patterns
        )

    for _ in range(20):
        offsets = tuple(float(o) for o in draw.uniform(0, 1, 6).round(2))
        least = least_duty(offsets, AZIMUTHS)
        assert supported_share(offsets, AZIMUTHS, min(1.0, least + 1e-3)) == pytest.approx(1.0)
        assert seen(offsets, least + 2e-3)
        assert not seen(offsets, least - 2e-3)


def test_feet_hold_the_centre_where_no_half_turn_is_without_one():
    """The gap from the last foot round to the first counts as the others do."""
    third = 2 * np.pi / 3
    for turned in (0.0, 1.0, 4.0):
        azimuths = turned + third * np.arange(3)
        assert holds(azimuths)
        assert not holds(turned + 0.5 * third * np.arange(3))  # all of them on one side
        assert not holds([turned, turned + third, turned + np.pi])  # two of them opposite


def test_a_swing_that_is_not_given_is_as_long_as_support_allows():
    assert [SpikeGait(pattern=p).air_time for p in ("tripod", "pairs", "wave")] == pytest.approx(
        [3.0, 1.5, 0.6]
    )
    assert SpikeGait(swing_time=10.0, support="ignored").ideal_speed == pytest.approx(2 * 0.03 / 13)
    assert SpikeGait(pattern="together", support="ignored").ideal_speed == 0.0


# --- under control --------------------------------------------------------------------------------

STILL = (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "law",
    [
        SpikePid(),
        SpikePid(gains="source"),
        StiffnessControl(),
        StiffnessControl(feed_forward="gravity"),
    ],
)
def test_efforts_are_affine_in_the_rates_with_the_slope_of_the_damping(law):
    q, q_d, part = (0.5, 1.5, 0.02), (0.52, 1.45, 0.021), Spike()
    at_rest = np.array(law.effort(q, STILL, q_d, STILL, (0.1, 0.2, 0.01), part))
    for j, damping in enumerate(law.damping):
        v = tuple(0.3 if i == j else 0.0 for i in range(3))
        change = np.array(law.effort(q, v, q_d, STILL, (0.1, 0.2, 0.01), part)) - at_rest
        expected = np.where(np.arange(3) == j, -0.3 * float(damping), 0.0)
        np.testing.assert_allclose(change, expected, rtol=1e-12, atol=1e-12)


def test_a_foot_on_stiffness_control_yields_to_a_force_by_its_springs():
    """J^T f = J^T K J dq for a small dq, so the foot moves by f/K along each axis, wherever it is:
    J is that of the ball's centre."""
    part, q_d = Spike(), (0.5, 1.4, 0.02)
    law = StiffnessControl(stiffness_x=1500.0, stiffness_y=700.0, stiffness_z=2200.0)
    rows = np.array([[float(v) for v in row] for row in ball_jacobian(part.shape, *q_d)])
    force = np.array([0.3, -0.2, 0.1])
    stiffness = np.array(
        [law.effort(q_d, STILL, tuple(np.add(q_d, d)), STILL, STILL, part) for d in np.eye(3)]
    ).T
    np.testing.assert_allclose(stiffness, stiffness.T, rtol=1e-12)
    assert np.all(np.linalg.eigvalsh(stiffness) > 0)
    moved = rows @ np.linalg.solve(stiffness, rows.T @ force)
    np.testing.assert_allclose(moved, force / [1500.0, 700.0, 2200.0], rtol=1e-10)


def test_limits_cut_efforts_and_stop_the_integral_from_winding_up():
    law = SpikePid(gains="source", torque_limit=0.5, force_limit=5.0)
    q, far = (0.0, 1.5, 0.02), (0.3, 1.5, 0.01)
    assert [float(e) for e in law.effort(q, STILL, far, STILL, STILL)] == [0.5, 0.0, -5.0]
    assert [float(e) for e in law.integral_rate(q, STILL, far, STILL, STILL)] == [0.0, 0.0, 0.0]
    # It may unwind.
    assert float(law.integral_rate(far, STILL, q, STILL, (1.0, 0.0, 0.0))[0]) == pytest.approx(-0.3)
    assert SpikePid(gains="source").integral_rate(q, STILL, far, STILL, STILL) == pytest.approx(
        (0.3, 0.0, -0.01)
    )


def test_the_feed_forward_is_the_weight_of_the_spike():
    part, q = Spike(), (0.5, 1.4, 0.02)
    law = SpikePid(feed_forward="gravity")
    np.testing.assert_allclose(
        law.effort(q, STILL, q, STILL, STILL, part, 9.81), part.gravity_load(q, 9.81), rtol=1e-15
    )
    with pytest.raises(TypeError, match="needs the spike"):
        law.effort(q, STILL, q, STILL, STILL)


def test_laws_take_arrays_of_spikes_as_they_take_one():
    q, draw, part = joints(9, 12), np.random.default_rng(10), Spike()
    q_d = tuple(v + draw.uniform(-0.01, 0.01, 12) for v in q)
    v, v_d, past = (tuple(draw.uniform(-0.1, 0.1, (3, 12))) for _ in range(3))
    for law in (
        SpikePid(gains="source", torque_limit=0.1),
        StiffnessControl(feed_forward="gravity"),
    ):
        lanes = np.array([np.broadcast_to(e, 12) for e in law.effort(q, v, q_d, v_d, past, part)])
        for i in range(12):
            one = law.effort(
                *(tuple(float(c[i]) for c in vector) for vector in (q, v, q_d, v_d, past)), part
            )
            np.testing.assert_allclose(lanes[:, i], [float(e) for e in one], rtol=1e-12, atol=1e-14)


# --- the flowing systems --------------------------------------------------------------------------


#: All gains given: one compiled program serves these and the source's.
GIVEN = (
    "hinge_proportional",
    "hinge_integral",
    "hinge_derivative",
    "slide_proportional",
    "slide_integral",
    "slide_derivative",
)


def spike_run(gains, settings=(), duration=7.5):
    given = [f"controller.{name}={value}" for name, value in zip(GIVEN, GAINS[gains], strict=True)]
    experiment = load("urchin-spike", [*given, *settings], duration=duration)
    return simulate(experiment.system, experiment.start, experiment.plan), experiment


@pytest.fixture(scope="module")
def tracked():
    """A cycle and a quarter of the shipped scenario."""
    return spike_run("recommended")


def test_the_spike_closes_its_ledger(tracked):
    run, _ = tracked
    assert run.ending.outcome.name == "reached_end" and [e.name for e in run.events] == [
        "top",
        "landing",
        "lift_off",
        "top",
    ]
    assert run.ledger.relative_residual < 1e-9  # rtol 1e-8 a step, two thousand steps


def test_a_pd_law_hangs_by_the_weight_over_its_gain(tracked):
    """No integral: where the foot moves slowly P e + D e' is the weight that the joint carries."""
    run, experiment = tracked
    stance = (run.t > 4.5) & (run.t < 5.9)  # leg 1 is half a cycle ahead: it stands from 3 s to 6 s
    q = tuple(
        run[f"joint_{i}.{name}"][stance]
        for i, name in ((1, "angle"), (2, "angle"), (3, "extension"))
    )
    pulls = experiment.system.spike.gravity_load(q, 9.81)
    for i, (pull, gain, damping) in enumerate(
        zip(pulls, (40.0, 40.0, 1e4), (0.5, 0.5, 100.0), strict=True), start=1
    ):
        names = ("angle_error" if i < 3 else "extension_error", "desired_rate")
        error, rate = (run[f"joint_{i}.{name}"][stance] for name in names)
        given = gain * error + damping * (rate - run[f"joint_{i}.rate"][stance])
        # What is left is what moves the spike: 5e-2 rad/s^2 on 1e-4 kg m^2, 5e-3 m/s^2 on 50 g.
        np.testing.assert_allclose(given, np.asarray(pull), rtol=0, atol=5e-6 if i < 3 else 3e-4)


def test_the_source_s_gains_creep_as_their_characteristic_says():
    """D e' + P e + I int(e) = 0 on a hinge whose inertia is nothing: with 10, 10, 10 s^2 + s + 1 =
    0, an envelope of 2 s (D/P alone would be 1 s), long after the inertia's own 1e-5 s."""
    offset = ["start.joint_1=0.62", "start.motion=rest", "robot.gravity=0", "gait.stance_time=60 s"]
    run, _ = spike_run("source", offset, duration=3.0)
    t, error = run.t, run["joint_1.angle_error"]
    w = math.sqrt(3) / 2
    # e(0) given, e'(0) = -e(0) P/D at once.
    linear = error[0] * np.exp(-t / 2) * (np.cos(w * t) - np.sin(w * t) / (2 * w))
    late = t > 0.01
    # The path moves on at 0.5 mm/s and couples the joints by 1e-3 of the error.
    np.testing.assert_allclose(error[late], linear[late], rtol=0, atol=5e-3 * abs(error[0]))


def test_the_spike_keeps_the_contract_and_friction_of_its_joints_only_takes():
    system = urchin_spike()
    rubbed = UrchinSpike(
        **{**vars(system), "spike": Spike(hinge_friction=0.01, slide_friction=2.0)}
    )
    state = rubbed.Start().state(rubbed)
    assert check_system(rubbed, state).ok
    power = rubbed.flow(0.0, *state).power
    speeds = [float(v) for v in state.x.v]
    assert float(power.damping) == pytest.approx(
        -(0.01 * (speeds[0] ** 2 + speeds[1] ** 2) + 2.0 * speeds[2] ** 2)
    )


def test_the_kick_s_equations_are_those_of_its_lagrangian():
    a, d = (sp.Function(n)(sp.Symbol("t")) for n in "ad")
    t = sp.Symbol("t")
    m, inertia_, radius, g, force = sp.symbols("m I R g F", positive=True)
    x, z = (d + radius) * sp.cos(a), (d + radius) * sp.sin(a)
    kinetic = m * (x.diff(t) ** 2 + z.diff(t) ** 2) / 2 + inertia_ * a.diff(t) ** 2 / 2
    full = kinetic - m * g * z
    wanted = [
        full.diff(q.diff(t)).diff(t) - full.diff(q) - push for q, push in ((a, 0), (d, force))
    ]
    push = ConstantForce(force=force)
    system = KickRoll(mass=m, inertia=inertia_, radius=radius, gravity=g, actuator=push)
    state = KickState(a, d, a.diff(t), d.diff(t))
    with symbolic(kick_roll):
        rates, stores = system.flow(t, state, None), system.stores(t, state, None)
    second = {a.diff(t, 2): rates.x.angle_rate, d.diff(t, 2): rates.x.extension_rate}
    assert [sp.simplify(w.subs(second)) for w in wanted] == [0, 0]
    assert (
        sp.simplify(stores.kinetic - kinetic) == 0 and sp.simplify(stores.gravity - m * g * z) == 0
    )


def test_the_kick_s_energy_is_its_work_and_without_force_nothing_changes():
    for force, start in (
        (40.0, KickStart()),
        (0.0, KickStart(angle=2.0, extension=0.01, angle_rate=-4.0, extension_rate=0.9)),
    ):
        system = KickRoll(actuator=ConstantForce(force=force))
        experiment = load("urchin-kick")
        run = simulate(system, start.state(system), experiment.plan)
        gained = sum(run[name][-1] - run[name][0] for name in run.of_role("store"))
        out = run["kick.extension"][-1] - run["kick.extension"][0]
        assert gained == pytest.approx(force * out, abs=1e-9)  # rtol 1e-8 of some joules
        assert run.ledger.relative_residual < 1e-9


def test_the_kick_s_ground_force_is_what_moves_the_centre():
    """Newton on the outputs: m dv/dt = foot force - m g, differentiated along the flow."""
    system = KickRoll()
    x = KickState(*(jnp.asarray(v) for v in (0.9, 0.02, -1.2, 1.1)))
    dx = system.flow(0.0, x, None).x
    seen, rates = jax.jvp(lambda x: system.outputs(0.0, x, None), (x,), (dx,))
    assert float(seen.foot.fx) == pytest.approx(float(system.mass * rates.centre.vx), rel=1e-12)
    assert float(seen.foot.fz) == pytest.approx(
        float(system.mass * (rates.centre.vz + 9.81)), rel=1e-12
    )
    along = float(seen.foot.fx) * math.cos(0.9) + float(seen.foot.fz) * math.sin(0.9)
    assert along == pytest.approx(40.0, rel=1e-12)  # the spike has no mass: it passes its force on


def test_profiles_stand_where_the_page_says():
    t, p = profile_t(), profile_p()
    assert t.stand_height == pytest.approx(0.0675) and p.stand_height == pytest.approx(
        0.0819615, abs=5e-8
    )
    assert t.foothold.x == pytest.approx(0.0562917, abs=5e-8) and t.foothold.y == pytest.approx(
        0.0375
    )
    assert p.lift == pytest.approx(0.00996, abs=5e-6)
    assert isinstance(t.foothold, Foothold) and t.foothold.arm == pytest.approx(
        0.06 * math.sqrt(3) / 2 + 0.0562917, abs=5e-8
    )
