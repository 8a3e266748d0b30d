"""Laws of the two-leg walker.

Closed linkage, exact rates, torques that are Lagrange's, energy, momentum, symmetry, moves from
rest to rest.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy as sp

from footfall import SimPlan, check_system, simulate
from footfall.engines.analysis.summary import summarise
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.motion_plan import NoState
from footfall.machines.parts.actuators.motors import DcMotor, IdealMotor
from footfall.machines.parts.terrain.planes import Flat
from footfall.machines.two_leg.course import Footstep
from footfall.machines.two_leg.gait import InchwormGait
from footfall.machines.two_leg.kinematics import (
    Limbs,
    Motion,
    Point,
    Pose,
    balance,
    bodies,
    effort,
    pose,
    reach_left,
)
from footfall.machines.two_leg.moves import MOVES, feet_at, legs_of
from footfall.machines.two_leg.robots import two_leg_walker
from footfall.machines.two_leg.route import footsteps_of, parse_route
from footfall.machines.two_leg.walker import TwoLegMode, TwoLegWalker
from footfall.numerics.rest_to_rest import LAWS, moved

LANES = 400
GRAVITY = 9.81
#: Sums of a dozen terms below ten: rounding of 64-bit numbers, times some room.
ROUNDING = 1e-13


def drawn(
    seed: int, *, rod: bool = True, foot_mass: bool = True, stands: int = 0
) -> tuple[Limbs, Point, Point]:
    """Walkers of all sizes with their feet in motion, foot 2 on either side of foot 1, knees bent
    by 20 degrees to 150.

    `stands` 1 or 2: that foot rests. Centimetres and decimetres a second, as the walker has.
    """
    draw = np.random.default_rng(seed)
    length, mass, foot = (
        draw.uniform(0.05, 0.2, LANES),
        draw.uniform(0.05, 0.3, LANES),
        draw.uniform(0.05, 0.2, LANES),
    )
    limbs = Limbs(
        length,
        mass,
        rod * mass * length**2 / 12,
        foot,
        foot_mass * draw.uniform(0.0, 0.2, LANES),
        GRAVITY,
    )
    span = 2 * length * np.cos(0.5 * np.radians(draw.uniform(20, 150, LANES)))
    tilt = np.radians(draw.uniform(-60, 60, LANES))
    side = draw.choice([-1.0, 1.0], LANES)

    def coordinate(value: Any, foot: int) -> Motion:
        moves = stands != foot
        return Motion(
            value, moves * draw.uniform(-0.1, 0.1, LANES), moves * draw.uniform(-1.0, 1.0, LANES)
        )

    x, y = draw.uniform(-1, 1, LANES), draw.uniform(-0.1, 0.1, LANES)
    one = Point(coordinate(x, 1), coordinate(y, 1))
    return (
        limbs,
        one,
        Point(
            coordinate(x + side * span * np.cos(tilt), 2), coordinate(y + span * np.sin(tilt), 2)
        ),
    )


def after(t: Any, coordinate: Motion) -> Motion:
    """The same motion a little later, its acceleration constant."""
    value, rate, second = coordinate
    return Motion(value + rate * t + 0.5 * second * t * t, rate + second * t, second + 0.0 * t)


def pose_after(t: Any, limbs: Limbs, one: Point, two: Point) -> Pose:
    return pose(limbs, *(Point(after(t, foot.x), after(t, foot.y)) for foot in (one, two)))


def coordinates(p: Pose) -> list[Motion]:
    """All that moves."""
    return [*(c for point in p.points for c in point), *p.turns, *p.thighs]


def stacked(p: Pose) -> Motion:
    """All that moves, one above another."""
    return Motion(
        *(jnp.stack([jnp.broadcast_to(c[i], (LANES,)) for c in coordinates(p)]) for i in range(3))
    )


posed = jax.jit(pose)


# --- kinematics -----------------------------------------------------------------------------------


def test_inverse_kinematics_closes_on_either_side():
    limbs, one, two = drawn(0)
    p = posed(limbs, one, two)
    xy = np.array([[point.x.value, point.y.value] for point in p.points])
    lengths = np.linalg.norm(np.diff(xy, axis=0), axis=1)
    np.testing.assert_allclose(lengths, np.broadcast_to(limbs.length, lengths.shape), rtol=ROUNDING)
    np.testing.assert_array_equal(xy[[1, 3], 0], xy[[0, 4], 0])  # flat feet: shanks upright
    np.testing.assert_allclose(
        xy[[1, 3], 1] - xy[[0, 4], 1], np.broadcast_to(limbs.length, (2, LANES)), rtol=1e-12
    )
    turns = np.array([turn.value for turn in p.turns])
    np.testing.assert_allclose(turns.sum(axis=0), np.pi, rtol=ROUNDING)
    assert np.all((turns[1] > 0) & (turns[1] < np.pi))
    # The directions of the links are the sums of the turns before them.
    for link, direction in ((1, turns[0]), (2, turns[0] + turns[1])):
        along = limbs.length * np.stack([np.sin(direction), np.cos(direction)])
        np.testing.assert_allclose(xy[link + 1] - xy[link], along, rtol=0, atol=ROUNDING)


def test_inverse_kinematics_is_the_pages_formula():
    """theta_2 = 2 arccos(alpha/2L), theta_1 = atan2(u, v) - theta_2/2, up to full turns.

    The knee is above where foot 2 is at the right.
    """
    limbs, one, two = drawn(1)
    u, v = two.x.value - one.x.value, two.y.value - one.y.value
    theta_2 = 2 * np.arccos(np.hypot(u, v) / (2 * limbs.length))
    theta_1 = np.arctan2(u, v) - 0.5 * theta_2
    p = posed(limbs, one, two)
    expected = np.stack([theta_1, theta_2, np.pi - theta_1 - theta_2])
    apart = np.array([turn.value for turn in p.turns]) - expected
    # arccos loses digits towards a stretched knee: 1e-16/sin(10 degrees)
    np.testing.assert_allclose(np.angle(np.exp(1j * apart)), 0.0, rtol=0, atol=1e-14)
    middle = 0.5 * (p.points[1].y.value + p.points[3].y.value)
    np.testing.assert_array_equal(p.points[2].y.value > middle, u > 0)
    np.testing.assert_allclose(
        reach_left(limbs, u, v), 2 * limbs.length - np.hypot(u, v), rtol=0, atol=1e-16
    )


@jax.jit
def differentiated(limbs: Limbs, one: Point, two: Point) -> tuple[Motion, Any, Any]:
    values = lambda t: stacked(pose_after(t, limbs, one, two)).value  # noqa: E731
    first = lambda t: jax.jvp(values, (t,), (1.0,))[1]  # noqa: E731
    rate, second = jax.jvp(first, (0.0,), (1.0,))
    return stacked(pose(limbs, one, two)), rate, second


def test_rates_are_derivatives_of_positions():
    """Exact derivatives of the values alone against the closed forms.

    Rounding, times what 1/sin(theta_2) makes of it, thrice.
    """
    p, rate, second = differentiated(*drawn(2))
    np.testing.assert_allclose(p.rate, rate, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(p.second, second, rtol=1e-10, atol=1e-10)
    assert np.median(np.abs(second)) > 0.1  # it does move


def test_rates_are_sixth_order_differences_of_positions():
    """Steps of h = 0.3 ms: h^6/140 of the seventh derivative leaves 1e-9 of the fastest; rounding
    1e-16/h and 1e-16/h^2 of some radians.
    """
    given, h = drawn(3), 3e-4
    late = jax.jit(pose_after)
    f = {k: np.asarray(stacked(late(k * h, *given)).value) for k in range(-3, 4)}
    rate = (45 * (f[1] - f[-1]) - 9 * (f[2] - f[-2]) + (f[3] - f[-3])) / (60 * h)
    second = (-490 * f[0] + 270 * (f[1] + f[-1]) - 27 * (f[2] + f[-2]) + 2 * (f[3] + f[-3])) / (
        180 * h * h
    )
    p = stacked(posed(*given))
    np.testing.assert_allclose(p.rate, rate, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(p.second, second, rtol=1e-6, atol=2e-7)


def test_the_centre_of_mass_has_the_coefficients_7_5_3_1():
    limbs, one, two = drawn(4, foot_mass=False)
    p = posed(limbs, one, two)
    whole = balance(limbs, bodies(limbs, p))
    phi_2, phi_3, phi_4 = p.thighs[0].value, p.thighs[1].value, np.pi
    x = one.x.value + limbs.length / 8 * (5 * np.sin(phi_2) + 3 * np.sin(phi_3) + np.sin(phi_4))
    y = one.y.value + limbs.length / 8 * (7 + 5 * np.cos(phi_2) + 3 * np.cos(phi_3) + np.cos(phi_4))
    np.testing.assert_allclose([whole.x, whole.y], [x, y], rtol=0, atol=1e-14)
    np.testing.assert_allclose(whole.potential, 4 * limbs.mass * GRAVITY * y, rtol=0, atol=1e-14)
    assert np.all(np.abs(whole.x - one.x.value) < limbs.length)  # with flat feet it never passes L


# --- torques --------------------------------------------------------------------------------------


@functools.cache
def lagrange(stands: int) -> Any:
    """Generalised forces of (theta_1, theta_2, theta_3), one foot fixed and the other free to turn,
    from the positions of the masses alone.
    """
    L, m, I, M, arm, g = sp.symbols("L m I M arm g")
    q, w, a = (sp.Matrix(sp.symbols(f"{name}1:4")) for name in ("q", "w", "a"))
    phi = (
        [0, q[0], q[0] + q[1], q[0] + q[1] + q[2]]
        if stands == 1
        else [sp.pi - q[0] - q[1] - q[2], sp.pi - q[1] - q[2], sp.pi - q[2], sp.pi]
    )
    links = [L * sp.Matrix([sp.sin(f), sp.cos(f)]) for f in phi]
    points = [sp.zeros(2, 1)]
    for link in links if stands == 1 else reversed(links):
        points.append(points[-1] + link if stands == 1 else points[-1] - link)
    points = points if stands == 1 else points[::-1]
    along = lambda f: arm * sp.Matrix([sp.cos(f), -sp.sin(f)])  # noqa: E731  (a foot turns with its shank)
    places = [
        points[0] + along(phi[0]),
        *((points[i] + points[i + 1]) / 2 for i in range(4)),
        points[4] + along(phi[3]),
    ]
    weights = [M, m, m, m, m, M]
    speeds = [place.jacobian(q) * w for place in places]
    spins = [sp.Matrix([f]).jacobian(q).dot(w) for f in phi]
    kinetic = (
        sum(k * v.dot(v) for k, v in zip(weights, speeds, strict=True)) / 2
        + I * sum(s * s for s in spins) / 2
    )
    potential = g * sum(k * place[1] for k, place in zip(weights, places, strict=True))
    momentum = sp.Matrix([kinetic]).jacobian(w).T
    force = (
        momentum.jacobian(w) * a
        + momentum.jacobian(q) * w
        - sp.Matrix([kinetic - potential]).jacobian(q).T
    )
    return sp.lambdify((L, m, I, M, arm, g, *q, *w, *a), list(force), "numpy", cse=True)


def lagranges_torques(limbs: Limbs, p: Pose, stands: int, moving: bool = True) -> np.ndarray:
    side = np.sign(p.points[4].x.value - p.points[0].x.value)  # feet point at each other
    given = (
        limbs.length,
        limbs.mass,
        limbs.inertia,
        limbs.foot_mass,
        0.5 * side * limbs.foot_length,
        limbs.gravity,
    )
    turns = [[np.asarray(turn[i]) * (moving or i == 0) for turn in p.turns] for i in range(3)]
    return np.array(
        [
            np.broadcast_to(q, (LANES,))
            for q in lagrange(stands)(*given, *turns[0], *turns[1], *turns[2])
        ]
    )


torques_of = jax.jit(
    lambda limbs, p, first_stands, inertial: jnp.stack(
        effort(limbs, p, first_stands, inertial).torques
    )
)


@pytest.mark.parametrize("stands", [1, 2])
@pytest.mark.parametrize("rod", [False, True], ids=["point", "rod"])
@pytest.mark.parametrize("foot_mass", [False, True], ids=["massless feet", "foot mass"])
def test_torques_are_euler_lagrange(stands, rod, foot_mass):
    limbs, one, two = drawn(10 + stands, rod=rod, foot_mass=foot_mass, stands=stands)
    p = posed(limbs, one, two)
    found, expected = torques_of(limbs, p, 2.0 - stands, 1.0), lagranges_torques(limbs, p, stands)
    still = torques_of(limbs, p, 2.0 - stands, 0.0)
    # Rounding: of up to 10 N m where a nearly stretched knee accelerates by 1000 rad/s^2.
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        still, lagranges_torques(limbs, p, stands, moving=False), rtol=0, atol=1e-14
    )
    assert np.median(np.abs(found - still)) > 1e-3  # inertia is part of the claim


@pytest.mark.parametrize("stands", [1, 2])
def test_torques_at_rest_are_the_slope_of_the_potential_energy_and_the_pages_closed_forms(stands):
    limbs, one, two = drawn(20, foot_mass=False)
    p = posed(limbs, one, two)
    still = torques_of(limbs, p, 2.0 - stands, 0.0)

    def potential(a, b, c):
        """From the foot that stands up, angles only, the other foot free to tilt.

        Section 2, and the same seen from foot 2.
        """
        phi = (
            jnp.stack([0.0 * a, a, a + b, a + b + c])
            if stands == 1
            else jnp.stack([c + b + a, c + b, c, 0.0 * a]) - jnp.pi
        )
        weights = np.array([7, 5, 3, 1] if stands == 1 else [1, 3, 5, 7])[:, None]
        return jnp.sum(
            4
            * limbs.mass
            * GRAVITY
            * limbs.length
            / 8
            * jnp.sum(weights * jnp.cos(phi), axis=0)
            * (1 if stands == 1 else -1)
        )

    turns = [turn.value for turn in p.turns]
    np.testing.assert_allclose(
        still, jnp.stack(jax.grad(potential, argnums=(0, 1, 2))(*turns)), rtol=0, atol=1e-14
    )
    _, x2, x3, x4, _ = (point.x.value for point in p.points)
    mg = limbs.mass * GRAVITY
    tau = {
        1: [mg * (2.5 * x2 - x3 - 1.5 * x4), 1.5 * mg * (x3 - x4), 0.0 * mg],
        2: [0.0 * mg, 1.5 * mg * (x3 - x2), mg * (2.5 * x4 - x3 - 1.5 * x2)],
    }[stands]
    sign = 1.0 if stands == 1 else -1.0  # Q = tau on foot 1, -tau on foot 2
    np.testing.assert_allclose(still, sign * np.array(tau), rtol=0, atol=1e-14)


@pytest.mark.parametrize("stands", [1, 2])
def test_the_ground_gives_what_momentum_needs(stands):
    """Force and moment under the foot that stands against derivatives of momentum and of angular
    momentum about its sole.
    """
    limbs, one, two = drawn(30 + stands, stands=stands)
    sole = (one, two)[stands - 1]

    @jax.jit
    def momenta(t):
        every = bodies(limbs, pose_after(t, limbs, one, two))
        arms = [(b, b.at.x.value - sole.x.value, b.at.y.value - sole.y.value) for b in every]
        up, along = (
            sum(b.mass * b.at.y.rate for b in every),
            sum(b.mass * b.at.x.rate for b in every),
        )
        turning = sum(
            b.mass * (ry * b.at.x.rate - rx * b.at.y.rate) + b.inertia * b.spin.rate
            for b, rx, ry in arms
        )
        return up, along, turning, sum(b.mass * rx for b, rx, _ in arms)

    (_, _, _, lever), (lifting, pushing, spinning, _) = jax.jvp(momenta, (0.0,), (1.0,))
    p = posed(limbs, one, two)
    found = jax.jit(effort)(limbs, p, 2.0 - stands)
    total = 4 * limbs.mass + 2 * limbs.foot_mass
    np.testing.assert_allclose(found.pressure, lifting + total * GRAVITY, rtol=1e-12)
    np.testing.assert_allclose(found.grip, pushing, rtol=1e-12)
    towards = np.sign(p.points[4].x.value - p.points[0].x.value) * (1 if stands == 1 else -1)
    np.testing.assert_allclose(
        found.zmp * found.pressure, -towards * (spinning - GRAVITY * lever), rtol=0, atol=1e-13
    )
    still = jax.jit(effort)(limbs, p, 2.0 - stands, 0.0)
    whole = balance(limbs, bodies(limbs, p))
    # At rest: the centre of mass.
    np.testing.assert_allclose(still.zmp, towards * (whole.x - sole.x.value), rtol=0, atol=1e-14)
    np.testing.assert_allclose(still.pressure, whole.mass * GRAVITY, rtol=1e-14)


def test_a_mirrored_walker_has_mirrored_torques():
    """x to -x, foot 1 for foot 2.

    Motors 1 and 3 change places; a turn from link to link seen from behind and backwards keeps its
    sign.
    """
    limbs, one, two = drawn(40)
    p = posed(limbs, one, two)
    minus = lambda motion: Motion(*(-v for v in motion))  # noqa: E731
    other = posed(limbs, Point(minus(two.x), two.y), Point(minus(one.x), one.y))
    for i in range(3):
        mine, its = p.turns[i], other.turns[2 - i]
        # Up to full turns.
        np.testing.assert_allclose(
            np.exp(1j * mine.value), np.exp(1j * its.value), rtol=0, atol=1e-14
        )
        # 1/sin(theta_2) thrice.
        np.testing.assert_allclose(mine[1:], its[1:], rtol=1e-11, atol=1e-11)
    for first_stands in (0.0, 1.0):
        mine, its = (
            jax.jit(effort)(limbs, p, first_stands),
            jax.jit(effort)(limbs, other, 1.0 - first_stands),
        )
        np.testing.assert_allclose(mine.torques, its.torques[::-1], rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(mine.pressure, its.pressure, rtol=1e-11)
        np.testing.assert_allclose(
            mine.zmp * mine.pressure, its.zmp * its.pressure, rtol=0, atol=1e-12
        )


# --- along a plan ---------------------------------------------------------------------------------

SHARES = np.array([0.0, 0.11, 0.37, 0.5, 0.83, 1.0])
HEAVY = {"links": "rod", "foot_mass": 0.02}


@functools.cache
def climber(dynamics: str = "full") -> TwoLegWalker:
    """Up a step, with rods and heavy feet; of the route only what is not repeated."""
    return two_leg_walker(
        dynamics=dynamics, route="walk -0.17; walk -0.32; climb 0.05; walk -0.03", **HEAVY
    )


def moments(walker: TwoLegWalker) -> tuple[np.ndarray, TwoLegMode]:
    """Times and modes in every move of the plan, both its ends among them."""
    table = walker.schedule
    assert table is not None
    count = len(footsteps_of(walker, parse_route(walker.route))[0])
    begins, ends = table.begins[:count, :-1, None], table.begins[:count, 1:, None]
    t = begins + SHARES * (ends - begins)
    footsteps, move, _ = np.meshgrid(np.arange(count), np.arange(len(MOVES)), SHARES, indexing="ij")
    return t.ravel(), TwoLegMode(
        footsteps=footsteps.ravel().astype(np.int32), move=move.ravel().astype(np.int32)
    )


@pytest.mark.parametrize("dynamics", ["full", "static"])
def test_the_motors_powers_are_the_rate_of_the_energy_in_every_move(dynamics):
    walker = climber(dynamics)

    def balance_at(t, m):
        _, change = jax.jvp(lambda t: walker.stores(t, NoState(), m), (t,), (1.0,))
        ports = walker.flow(t, NoState(), m).power
        return sum(jax.tree.leaves(change)), jnp.stack(jax.tree.leaves(ports))

    change, ports = jax.jit(jax.vmap(balance_at))(*moments(walker))
    np.testing.assert_allclose(ports.sum(axis=1), change, rtol=0, atol=1e-12)  # of watts
    assert np.all(ports[:, :3] >= 0) and np.all(ports[:, 3:] <= 0)
    # A motor drives or brakes.
    assert np.all(np.min(np.abs([ports[:, :3], ports[:, 3:]]), axis=0) == 0)
    assert np.max(change) > 0.05 and np.min(change) < -0.05


def test_every_velocity_seen_is_the_derivative_of_its_position_in_every_move():
    walker = climber()
    look = lambda t, m: jax.jvp(lambda t: walker.outputs(t, NoState(), m), (t,), (1.0,))  # noqa: E731
    seen, rates = jax.jit(jax.vmap(look))(*moments(walker))
    change = {name: value for name, value, _ in named_leaves(rates)}
    pairs = [
        (name, value, info.rate_of) for name, value, info in named_leaves(seen) if info.rate_of
    ]
    assert len(pairs) > 20
    for name, value, of in pairs:
        derivative = change[f"{name.rpartition('.')[0]}.{of}"]
        # Rad/s^2 near a bent knee: rounding.
        np.testing.assert_allclose(value, derivative, rtol=1e-9, atol=1e-11, err_msg=name)


def test_net_work_of_every_move_is_its_gain_of_height():
    """A move begins and ends at rest.

    The sum of the powers is smooth: 24 Gauss points leave rounding of tenths of a joule.
    """
    walker, (nodes, weights) = climber(), np.polynomial.legendre.leggauss(24)
    table = walker.schedule
    some = (0, 1, 4, 5, 14, 15)  # a full step, a shorter one, the climb
    assert table is not None and table.steps.rise[list(some)].tolist() == [0, 0, 0, 0, 0.05, 0.05]
    rows = [(i, k) for i in some for k in range(len(MOVES))]
    s = np.array([0.0, *(0.5 + 0.5 * nodes), 1.0])
    footsteps, move = (
        np.array(v, np.int32)[:, None] + np.zeros(len(s), np.int32) for v in zip(*rows, strict=True)
    )
    begin = table.begins[footsteps, move]
    duration = table.begins[footsteps, move + 1] - begin
    look = lambda t, m: (walker.powers(t, m), walker.stores(t, NoState(), m))  # noqa: E731
    ports, stores = jax.jit(jax.vmap(jax.vmap(look)))(
        begin + s * duration, TwoLegMode(footsteps, move)
    )
    work = 0.5 * duration[:, 0] * (sum(jax.tree.leaves(ports))[:, 1:-1] @ weights)
    gain = stores.potential[:, -1] - stores.potential[:, 0]
    np.testing.assert_allclose(work, gain, rtol=0, atol=1e-12)
    np.testing.assert_allclose(stores.kinetic[:, [0, -1]], 0.0, rtol=0, atol=1e-25)


def test_the_inertial_part_grows_with_the_square_of_the_speed_exactly():
    limbs = jax.tree.map(np.float64, climber().limbs)
    step = Footstep(1.0, -0.08, 0.05, 0.1, 0.0)

    @jax.jit
    def at(gait, move):
        durations = jnp.stack(legs_of(gait, step).durations)
        p = pose(limbs, *feet_at(gait, step, move, SHARES * durations[move]))
        still, moving = effort(limbs, p, 0.0, 0.0), effort(limbs, p, 0.0, 1.0)
        whole = balance(limbs, bodies(limbs, p))
        return (
            jnp.stack(still.torques),
            jnp.stack(moving.torques) - jnp.stack(still.torques),
            moving.pressure - still.pressure,
            whole.kinetic,
        )

    for move in range(len(MOVES)):
        slow, fast = (at(InchwormGait(speed=v), move) for v in (0.05, 0.5))
        np.testing.assert_allclose(slow[0], fast[0], rtol=0, atol=1e-15)
        for one, other in zip(slow[1:], fast[1:], strict=True):
            # 100 times the rounding of what was taken away.
            np.testing.assert_allclose(100 * one, other, rtol=1e-12, atol=1e-13)


@functools.cache
def walked(route: str) -> tuple[Any, Any, Any, Any]:
    """Torques, powers and margins over a walk on the flat: axes (motor, footstep, move, sample)."""
    walker = two_leg_walker(terrain=Flat(), route=route, gait=InchwormGait(speed=0.2), **HEAVY)
    rows = footsteps_of(walker, parse_route(route))[0]
    return _walked(
        walker.limbs,
        walker.gait,
        Footstep(*(np.array(column, float) for column in zip(*rows, strict=True))),
    )


@jax.jit
def _walked(limbs: Limbs, gait: InchwormGait, steps: Footstep) -> tuple[Any, Any, Any, Any]:
    durations = jnp.stack(legs_of(gait, steps).durations, axis=1)[..., None]
    step = Footstep(*(v[:, None, None] for v in steps))
    s = jnp.linspace(0.0, 1.0, 65)
    p = pose(limbs, *feet_at(gait, step, jnp.arange(len(MOVES))[:, None], s * durations))
    found = effort(limbs, p, jnp.where(step.foot > 1.5, 1.0, 0.0))
    torques = jnp.stack(found.torques)
    powers = torques * jnp.stack([turn.rate for turn in p.turns])
    weights = durations / (len(s) - 1) * jnp.where((s == 0) | (s == 1), 0.5, 1.0)
    return torques, jnp.sum(jnp.maximum(powers, 0.0) * weights, axis=-1), found.zmp, durations


def test_walking_back_is_walking_forward_in_a_mirror():
    """Motors 1 and 3 change places, all else is alike.

    The same numbers in the same order, but for rounding of x far from 0.
    """
    (torques, energy, zmp, times), (its_torques, its_energy, its_zmp, its_times) = (
        walked("walk -0.25"),
        walked("walk 0.25"),
    )
    assert torques.shape[1] == 8  # four steps, the last of 1 cm
    np.testing.assert_allclose(times, its_times, rtol=1e-12)
    np.testing.assert_allclose(torques, its_torques[::-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(energy, its_energy[::-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(zmp, its_zmp, rtol=1e-10, atol=1e-12)
    assert abs(energy[0].sum() - energy[2].sum()) > 0.1  # and the two motors are not alike


# --- from rest to rest ----------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_a_law_goes_from_rest_to_rest_with_exact_derivatives(law):
    at, peak_bend = LAWS[law]
    begin, end = at(0.0), at(1.0)
    assert begin[:2] == (0.0, 0.0) and end[:2] == (1.0, 0.0)
    if law == "quintic":
        assert begin.bend == end.bend == 0.0
    s = jnp.linspace(0.0, 1.0, 1001)
    (_, slope, _), (d_share, d_slope, _) = jax.jvp(at, (s,), (jnp.ones_like(s),))
    np.testing.assert_allclose(d_share, slope, rtol=0, atol=1e-14)
    np.testing.assert_allclose(d_slope, at(s).bend, rtol=0, atol=1e-13)
    # There as back.
    np.testing.assert_allclose(at(s).share + at(1 - s).share, 1.0, rtol=0, atol=1e-14)
    largest = np.max(np.abs(at(jnp.linspace(0.0, 1.0, 10_001)).bend))
    # Reached at the ends (cubic), or at 1/2 +- 1/(2 sqrt 3), where a grid of 1e-4 misses it by
    # (third derivative) 5e-9/2.
    assert peak_bend * (1 - 1e-7) < largest <= peak_bend * (1 + 1e-15)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("distance", [0.08, -0.03])
def test_a_move_takes_what_its_timing_says(law, distance):
    by_speed = InchwormGait(law=law, speed=0.05)
    T = by_speed.duration(distance)
    assert pytest.approx(abs(distance) / 0.05, rel=1e-15) == T
    s = jnp.linspace(0.0, 1.0, 1001)
    move = moved(by_speed.path, distance, T, s * T)
    assert float(move.value[0]) == 0.0 and float(move.value[-1]) == pytest.approx(
        distance, rel=1e-15
    )
    if law == "cubic":  # section 3: peak speed 1.5 v, peak acceleration 6 v^2/|D| at both ends
        assert np.max(np.abs(move.rate)) == pytest.approx(1.5 * 0.05, rel=1e-12)
        assert np.abs(move.second[np.array([0, -1])]) == pytest.approx(
            6 * 0.05**2 / abs(distance), rel=1e-12
        )
    by_force = InchwormGait(law=law, timing="peak-acceleration", acceleration=0.7)
    short = by_force.duration(distance)
    assert law != "cubic" or short == pytest.approx((6 * abs(distance) / 0.7) ** 0.5, rel=1e-15)
    peak = np.max(np.abs(moved(by_force.path, distance, short, s * short).second))
    # A grid of a thousand misses the quintic's peak by 1e-6.
    assert peak == pytest.approx(0.7, rel=1e-5)


def test_the_pace_of_the_lift_splits_the_time_of_a_footstep_and_costs_nothing_while_held_still():
    """Half as fast up and down.

    Those moves take twice as long, the way across as long as before; static energy knows no time.
    """
    usual, slow = two_leg_walker(), two_leg_walker(gait=InchwormGait(lift_pace=0.5))
    step = Footstep(1, -0.08, 0.0, 0.1, 0.0)
    assert legs_of(slow.gait, step).durations == pytest.approx((0.4, 1.6, 0.4))
    # Two moves of the climb are 50 mm longer.
    assert slow.plan_time == pytest.approx(usual.plan_time + 14 * 4 * 0.2 + 2 * 1.0)
    mine, its = slow.figures(1), usual.figures(1)
    assert mine["static_energy"].values == pytest.approx(its["static_energy"].values, rel=1e-9)
    assert mine["energy"].values < its["energy"].values


@pytest.fixture(scope="module")
def hurried():
    """One step of rods at 0.5 m/s, whose moves take 20 to 160 ms, with a row every 20 ms; and every
    motor's power, torque and time at 40 001 moments of each move."""
    robot = two_leg_walker(
        links="rod", gait=InchwormGait(speed=0.5), route="walk -0.08", terrain=Flat()
    )
    run = simulate(robot, robot.Start().state(robot), SimPlan(duration=10.0, sample_rate=50.0))
    table = robot.schedule
    assert table is not None and table.count == 2
    share, moves = np.linspace(0.0, 1.0, 40001), [(i, k) for i in range(2) for k in range(3)]
    t = np.stack(
        [
            table.begins[i, k] + share * (table.begins[i, k + 1] - table.begins[i, k])
            for i, k in moves
        ]
    )
    m = TwoLegMode(
        *(
            np.broadcast_to(np.array(v, np.int32)[:, None], t.shape)
            for v in zip(*moves, strict=True)
        )
    )

    def motors(t, m):
        seen = robot.outputs(t, NoState(), m)
        return [(motor.power, motor.torque) for motor in (seen.motor_1, seen.motor_2, seen.motor_3)]

    return run, t, jax.tree.map(np.asarray, jax.jit(jax.vmap(jax.vmap(motors)))(t, m))


def test_work_of_driving_and_of_braking_motors_is_integrated_through_the_zeros_of_the_power(
    hurried,
):
    run, t, motors = hurried
    for i, (power, _) in enumerate(motors, start=1):
        for part, told in (
            (np.maximum(power, 0.0), run.ledger.work),
            (np.maximum(-power, 0.0), run.ledger.losses),
        ):
            name = f"motor_{i}" if told is run.ledger.work else f"braking_{i}"
            exact = np.trapezoid(part, t, axis=1).sum()
            # The trapezoid rule, with kinks: (1/40000)^2.
            assert told[name] == pytest.approx(exact, rel=1e-8)
            assert abs(run[f"work.{name}"][-1]) == told[name]
    assert run.ledger.relative_residual < 1e-12


def test_mean_rms_and_peak_torques_of_moves_shorter_than_a_few_samples(hurried):
    run, t, motors = hurried
    metrics = summarise(run).metrics
    for i, (_, torque) in enumerate(motors, start=1):
        square = np.trapezoid(torque**2, t, axis=1).sum() / run.t[-1]
        # The trapezoid rule.
        assert metrics[f"motor_{i}_rms_torque"] == pytest.approx(np.sqrt(square), rel=1e-8)
        assert metrics[f"motor_{i}_peak_torque"] == pytest.approx(np.abs(torque).max(), rel=1e-7)


def test_a_foot_does_not_rise_between_two_rows_at_rest(hurried):
    run, _, _ = hurried
    for foot in ("foot_1", "foot_2"):
        rests = (np.abs(run[f"{foot}.vz"]) + np.abs(run[f"{foot}.vx"])) < 1e-9
        moved = np.abs(np.diff(run[f"{foot}.z"])) + np.abs(np.diff(run[f"{foot}.x"]))
        assert moved[rests[1:] & rests[:-1]].max() < 1e-12
    assert np.diff(run.t).max() <= 0.02 + 1e-12 and len(run.t) > 6 * 9


def test_every_footstep_counts_the_last_one_too(hurried):
    """Page, section on the gait: one step is foot 1, then foot 2."""
    run, t, _ = hurried
    metrics = summarise(run).metrics
    assert run["footsteps"][-1] == 2 and metrics["steps"] == 2.0
    assert metrics["step_time"] == pytest.approx(t[-1, -1] / 2)
    assert metrics["step_length"] == pytest.approx(0.04) and run["foot_2.x"][-1] - run["foot_2.x"][
        0
    ] == pytest.approx(0.08)
    assert np.ptp(run["travel.distance"][-3:]) < 1e-12  # nothing moves once it has arrived


def test_heat_of_the_windings_is_resistance_times_current_squared_over_time():
    """Electrical power of every motor from the run's outputs, summed here, against the plan's
    figure.
    """
    motor = DcMotor(resistance=2.0)
    robot = two_leg_walker(motor=motor, route="walk -0.1", regeneration=0.25)
    run = simulate(robot, robot.Start().state(robot), SimPlan(duration=100.0, sample_rate=500.0))
    total = 0.0
    for i in (1, 2, 3):
        current = run[f"motor_{i}.torque"] / motor.torque_per_ampere
        power = run[f"motor_{i}.power"] + 2.0 * current**2
        np.testing.assert_allclose(
            run[f"motor_{i}.electrical_power"], power, rtol=1e-12, atol=1e-15
        )
        total += np.trapezoid(np.where(power > 0, power, 0.25 * power), run.t)
    # 500 samples a second.
    assert robot.figures(1)["electrical_energy"].values[0] == pytest.approx(total, rel=1e-4)
    assert total > 2 * robot.figures(1)["energy"].values[0]


def test_a_move_over_no_distance_takes_no_time_and_stays():
    assert moved(LAWS["cubic"], 0.0, 0.0, 0.0) == (0.0, 0.0, 0.0)


# --- as a hybrid system ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{"dynamics": "static"}, {**HEAVY, "feet": "free", "motor": IdealMotor(torque_limit=1.0)}],
    ids=["static", "full, rods, heavy feet that are free, a torque limit"],
)
def test_the_walker_keeps_the_contract(options):
    """It has no continuous state, so states near the start are the start; every later moment is
    above.
    """
    walker = two_leg_walker(**options)
    assert check_system(walker, walker.Start().state(walker), samples=0).ok
