"""The four-bar leg: reference values, loop, rates and loads against other ways to the same numbers,
and which links are refused.
"""

import collections
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy as sp

from footfall.hybrid.fields import ParameterError
from footfall.machines.water_runner.four_bar_leg import LEAST_MARGIN, FourBarLeg
from footfall.machines.water_runner.linkage import (
    FourBarPose,
    Links,
    curvature,
    grashof_margin,
    joint_loads,
    pose,
)
from footfall.numerics.trig import sincos

LEG = FourBarLeg()
#: Rounding of some dozens of operations whose largest operand is ten times the result.
ROUNDING = 1e-14


def at(psi: Any, links: Links = LEG.links, assembly: int = 1) -> FourBarPose:
    return pose(links, np.sin(psi), np.cos(psi), assembly)


def second(psi: Any, links: Links = LEG.links, assembly: int = 1) -> Any:
    return curvature(links, np.sin(psi), np.cos(psi), at(psi, links, assembly))


def angle(x: Any, y: Any) -> np.ndarray:
    return np.arctan2(np.asarray(y), np.asarray(x))


def turned(x: Any, y: Any, by: Any) -> np.ndarray:
    """Rot(by) (x, y), as an array of two rows."""
    x, y = np.asarray(x), np.asarray(y)
    return np.array([np.cos(by) * x - np.sin(by) * y, np.sin(by) * x + np.cos(by) * y])


def unit(a: Any) -> np.ndarray:
    return np.array([np.cos(a), np.sin(a)])


def across(a: Any) -> np.ndarray:
    return np.array([-np.sin(a), np.cos(a)])


def cross(a: Any, b: Any) -> Any:
    return a[0] * b[1] - a[1] * b[0]


def dot(a: Any, b: Any) -> Any:
    return a[0] * b[0] + a[1] * b[1]


def random_links(draw: Any, count: int) -> Links:
    """Linkages that turn, of all proportions, none close to singular.

    A margin of a twentieth of the longest link or more.
    """
    ground, coupler, rocker = draw.uniform(0.03, 0.09, (3, 40 * count))
    room = grashof_margin(Links(ground, 0.0, coupler, rocker, 0.0)) - 0.05 * np.max(
        [ground, coupler, rocker], axis=0
    )
    ground, coupler, rocker, room = (
        v[room > 0.01][:count] for v in (ground, coupler, rocker, room)
    )
    assert len(room) == count
    return Links(
        ground,
        room * draw.uniform(0.2, 1.0, count),
        coupler,
        rocker,
        draw.uniform(0.01, 0.1, count),
    )


# Reference values


@pytest.mark.parametrize(
    ("psi", "theta2", "theta3", "rate", "second_rate", "foot"),
    [
        (0, 33.001331, 60.519424, -0.5491184, 0.4808936, (-30.53225, -33.98669)),
        (60, 18.055913, 63.999091, -0.0282828, 0.2419149, (-48.42708, -0.46121)),
        (90, 18.764610, 78.507720, 0.0672236, 0.1444256, (-59.08332, 1.72711)),
        (180, 33.897176, 116.953663, 0.2617047, 0.0982514, (-73.59448, -34.80074)),
        (240, 51.070161, 122.867182, 0.2730348, -0.1192177, (-50.11018, -67.42131)),
        (300, 58.977984, 104.921163, -0.1055012, -0.6607311, (-21.25893, -72.35424)),
    ],
)
def test_reference_angles_rates_and_foot(psi, theta2, theta3, rate, second_rate, foot):
    """Physics page, section 10; one unit of the last printed digit."""
    found, curve = at(math.radians(psi)), second(math.radians(psi))
    assert np.degrees(angle(found.ux, found.uy)) == pytest.approx(theta2, abs=1e-6)
    assert np.degrees(angle(found.wx, found.wy)) == pytest.approx(theta3, abs=1e-6)
    assert float(found.coupler_rate) == pytest.approx(rate, abs=1e-7)
    assert float(curve.coupler) == pytest.approx(second_rate, abs=1e-7)
    assert (1e3 * float(found.fx), 1e3 * float(found.fy)) == pytest.approx(foot, abs=1e-5)


def test_reference_ranges_over_a_full_turn():
    """To a unit of the last digit:

    83.057 is a rounding up of 83.05649, as the page's own table at 180 deg shows.
    """
    # 3e-4 rad apart, so an extreme is missed by 1e-6 mm or deg at most.
    found = at(np.linspace(0.0, 2.0 * np.pi, 20001))
    theta2, theta3 = angle(found.ux, found.uy), angle(found.wx, found.wy)
    ranges = {
        (17.956, 59.487): np.degrees(theta2),
        (27.518, 83.057): np.degrees(theta3 - theta2),
        (-75.051, -19.469): 1e3 * np.asarray(found.fx),
        (-74.987, 1.986): 1e3 * np.asarray(found.fy),
    }
    for expected, values in ranges.items():
        assert (values.min(), values.max()) == pytest.approx(expected, abs=1e-3)


def test_reference_angles_on_a_tilted_base():
    """theta0 = 0.4, theta1 = 1.1: the linkage turns rigidly with its base."""
    found = at(1.1 - 0.4)
    # The last printed digit.
    assert 0.4 + angle(found.ux, found.uy) == pytest.approx(0.742380877336, abs=1e-12)
    assert 0.4 + angle(found.wx, found.wy) == pytest.approx(1.391192275088, abs=1e-12)


REFERENCE_LOAD = (-0.3, 0.4, 0.002)


def test_reference_joint_loads():
    psi = math.radians(240.0)
    loads = joint_loads(LEG.links, at(psi), *REFERENCE_LOAD)
    printed = (0.515733044, -0.733891702, -0.215733044, 0.333891702)
    # The last printed digit.
    assert tuple(map(float, loads[:4])) == pytest.approx(printed, abs=1e-9)
    assert float(loads.torque) == pytest.approx(1.773612617e-2, abs=1e-11)
    # The body, with its centre of mass 30 mm from O on the ground link, in joint terms.
    moment = 0.03 * loads.crank_y + (0.03 - LEG.ground) * loads.rocker_y - loads.torque
    assert float(moment) == pytest.approx(-5.027046587e-2, abs=1e-11)


# Loop and rates


@pytest.mark.parametrize("assembly", [1, -1])
def test_the_loop_closes_in_both_assemblies(assembly):
    draw = np.random.default_rng(1)
    links = random_links(draw, 200)
    psi = draw.uniform(-10.0, 10.0, 200)
    found = at(psi, links, assembly)
    scale = links.coupler + links.rocker
    b = np.array([found.bx, found.by])
    tip, rocker_axis = links.crank * unit(psi), np.array([links.ground, 0.0 * psi])
    for start, length in ((tip, links.coupler), (rocker_axis, links.rocker)):
        assert np.max(np.abs(np.hypot(*(b - start)) - length) / scale) < ROUNDING
    u, w = np.array([found.ux, found.uy]), np.array([found.wx, found.wy])
    assert (
        np.max(np.abs(tip + links.coupler * u - rocker_axis - links.rocker * w) / scale) < ROUNDING
    )
    assert (
        np.max(np.abs(np.array([found.fx, found.fy]) - (tip - links.foot * u)) / scale) < ROUNDING
    )
    assert np.all(assembly * cross(u, w) > 0)  # they are the two assemblies, and never meet


@pytest.mark.parametrize("assembly", [1, -1])
def test_circle_intersection_is_the_angle_formula_of_the_physics_page(assembly):
    """Section 2 with atan2 and acos, whose argument may be near 1.

    Its rounding grows by 1/sin of it, 3 at most here.
    """
    draw = np.random.default_rng(2)
    links, psi = random_links(draw, 200), draw.uniform(-3.0, 3.0, 200)
    l0, l1, l2, l3, _ = links
    alpha, beta = 2 * l3 * (l0 - l1 * np.cos(psi)), -2 * l3 * l1 * np.sin(psi)
    gamma = l0**2 + l1**2 + l3**2 - l2**2 - 2 * l0 * l1 * np.cos(psi)
    theta3 = np.arctan2(beta, alpha) + assembly * np.arccos(-gamma / np.hypot(alpha, beta))
    theta2 = np.arctan2(
        l3 * np.sin(theta3) - l1 * np.sin(psi), l0 + l3 * np.cos(theta3) - l1 * np.cos(psi)
    )
    found = at(psi, links, assembly)
    np.testing.assert_allclose([found.wx, found.wy], unit(theta3), rtol=0, atol=3 * ROUNDING)
    np.testing.assert_allclose([found.ux, found.uy], unit(theta2), rtol=0, atol=3 * ROUNDING)


def test_the_mirrored_assembly_is_the_mirror_image_about_the_ground_link():
    psi = np.linspace(-3.0, 3.0, 41)
    below, mirrored = at(psi), at(-psi, assembly=FourBarLeg(assembly="mirrored").assembly_sign)
    # What points up, and f'_x because psi runs backwards.
    upwards = {"ay", "by", "uy", "wy", "fy", "dfx"}
    for name, value in mirrored._asdict().items():
        expected = getattr(below, name)
        np.testing.assert_array_equal(
            value, -expected if name in upwards else expected, err_msg=name
        )


def test_closed_form_rates_are_derivatives_of_the_positions():
    draw = np.random.default_rng(3)
    links, psi = random_links(draw, 100), draw.uniform(-3.0, 3.0, 100)
    for assembly in (1, -1):
        whole = lambda a: pose(links, *sincos(a), assembly)  # noqa: B023, E731
        found, rates = jax.jvp(whole, (jnp.asarray(psi),), (jnp.ones(100),))
        curve = curvature(links, *sincos(jnp.asarray(psi)), found)
        turning = lambda x, y, dx, dy: cross((x, y), (dx, dy))  # rate of the angle of a unit vector  # noqa: E731
        pairs = [
            (found.coupler_rate, turning(found.ux, found.uy, rates.ux, rates.uy)),
            (found.rocker_rate, turning(found.wx, found.wy, rates.wx, rates.wy)),
            (found.dfx, rates.fx),
            (found.dfy, rates.fy),
            (curve.coupler, rates.coupler_rate),
            (curve.rocker, rates.rocker_rate),
            (curve.ddfx, rates.dfx),
            (curve.ddfy, rates.dfy),
        ]
        for closed, derived in pairs:
            # Second derivatives hold 1/sin(theta3 - theta2) three times: 200 times the rounding of
            # the largest value.
            np.testing.assert_allclose(
                closed, derived, rtol=0, atol=200 * ROUNDING * float(jnp.max(jnp.abs(derived)))
            )


STENCIL = np.arange(-3, 4)
FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / 180


def test_rates_are_sixth_order_differences_on_a_moving_base():
    """Base and crank both accelerate; the body frame plus the base's own turn is all that is
    needed.

    Rates of about 1 rad/s, with harmonics that make the seventh derivative some 1e4 of it: at h = 4
    ms truncation, h^6 x^(7) / 140, is below 2e-12; rounding of angles up to 2 rad, 2e-16 * 6 / h^2,
    is below 1e-9 in the second derivative."""
    h, t = 4e-3, np.linspace(0.0, 6.0, 61)
    base = lambda t: (0.4 * np.sin(1.3 * t), 0.52 * np.cos(1.3 * t), -0.676 * np.sin(1.3 * t))  # noqa: E731
    crank = lambda t: (1.1 * t + 0.3 * np.sin(t), 1.1 + 0.3 * np.cos(t), -0.3 * np.sin(t))  # noqa: E731

    def positions(t: np.ndarray) -> np.ndarray:
        (phi, *_), (psi, *_) = base(t), crank(t)
        found = at(psi)
        foot = turned(found.fx, found.fy, phi)
        return np.array(
            [phi + angle(found.ux, found.uy), phi + angle(found.wx, found.wy), *foot / LEG.coupler]
        )

    samples = positions(t[:, None] + h * STENCIL)
    (phi, phi_v, phi_a), (psi, psi_v, psi_a) = base(t), crank(t)
    found, curve = at(psi), second(psi)
    foot, slope = turned(found.fx, found.fy, phi), turned(found.dfx, found.dfy, phi)
    bend = turned(curve.ddfx, curve.ddfy, phi)
    left = np.array([[0.0, -1.0], [1.0, 0.0]])  # a quarter turn
    velocity = phi_v * (left @ foot) + slope * psi_v
    acceleration = (
        phi_a * (left @ foot)
        - phi_v**2 * foot
        + 2 * phi_v * psi_v * (left @ slope)
        + bend * psi_v**2
        + slope * psi_a
    )
    rates = [
        phi_v + found.coupler_rate * psi_v,
        phi_v + found.rocker_rate * psi_v,
        *velocity / LEG.coupler,
    ]
    seconds = [
        phi_a + curve.coupler * psi_v**2 + found.coupler_rate * psi_a,
        phi_a + curve.rocker * psi_v**2 + found.rocker_rate * psi_a,
        *acceleration / LEG.coupler,
    ]
    np.testing.assert_allclose(rates, samples @ FIRST / h, rtol=0, atol=2e-12)
    np.testing.assert_allclose(seconds, samples @ SECOND / h**2, rtol=0, atol=1e-9)


def test_rates_on_a_moving_base_are_those_of_the_physics_page():
    """Section 2's forms with theta0: a base and a crank that turn alike turn everything alike."""
    draw = np.random.default_rng(4)
    phi, psi, phi_v, psi_v = draw.uniform(-3, 3, (4, 100))
    found = at(psi)
    theta0, theta1, theta0_v, theta1_v = phi, phi + psi, phi_v, phi_v + psi_v
    theta2, theta3 = phi + angle(found.ux, found.uy), phi + angle(found.wx, found.wy)
    l0, l1, l2, l3, _ = LEG.links
    sine = np.sin(theta3 - theta2)
    coupler = (
        l0 * np.sin(theta3 - theta0) * theta0_v - l1 * np.sin(theta3 - theta1) * theta1_v
    ) / (l2 * sine)
    rocker = (l1 * np.sin(theta1 - theta2) * theta1_v - l0 * np.sin(theta0 - theta2) * theta0_v) / (
        l3 * sine
    )
    # Two terms of 10 rad/s whose difference is the result.
    np.testing.assert_allclose(
        phi_v + found.coupler_rate * psi_v, coupler, rtol=0, atol=10 * ROUNDING
    )
    np.testing.assert_allclose(
        phi_v + found.rocker_rate * psi_v, rocker, rtol=0, atol=10 * ROUNDING
    )


@functools.cache
def derived_rates() -> Any:
    """theta2', theta3', theta2'', theta3'' from the loop equation alone, by implicit
    differentiation.
    """
    l0, l1, l2, l3, psi = sp.symbols("l0 l1 l2 l3 psi")
    angles = [sp.Function(name)(psi) for name in ("theta2", "theta3")]
    vector = lambda a: sp.Matrix([sp.cos(a), sp.sin(a)])  # noqa: E731
    loop = l1 * vector(psi) + l2 * vector(angles[0]) - l0 * vector(0) - l3 * vector(angles[1])
    rates, seconds = ([a.diff(psi, order) for a in angles] for order in (1, 2))
    first = sp.solve(list(loop.diff(psi)), rates, dict=True)[0]
    bent = sp.solve(list(loop.diff(psi, 2)), seconds, dict=True)[0]
    answers = [first[r] for r in rates] + [bent[s].subs(first) for s in seconds]
    theta2, theta3 = sp.symbols("theta2 theta3")
    plain = dict(zip(angles, (theta2, theta3), strict=True))
    return sp.lambdify(
        (l0, l1, l2, l3, psi, theta2, theta3), [a.subs(plain) for a in answers], "numpy", cse=True
    )


@pytest.mark.parametrize("assembly", [1, -1])
def test_rates_are_those_sympy_derives_from_the_loop(assembly):
    draw = np.random.default_rng(5)
    links, psi = random_links(draw, 100), draw.uniform(-3.0, 3.0, 100)
    found, curve = at(psi, links, assembly), second(psi, links, assembly)
    expected = derived_rates()(
        *links[:4], psi, angle(found.ux, found.uy), angle(found.wx, found.wy)
    )
    for closed, derived in zip(
        (found.coupler_rate, found.rocker_rate, curve.coupler, curve.rocker), expected, strict=True
    ):
        # As above.
        np.testing.assert_allclose(
            closed, derived, rtol=0, atol=200 * ROUNDING * np.max(np.abs(derived))
        )


# Loads


def nine_balances(
    links: Links, theta1: float, theta2: float, theta3: float, load: np.ndarray
) -> np.ndarray:
    """[F_R1, F_R3, F_1, F_3, T] of the source's eq 47."""
    _, l1, l2, l3, l4 = links
    (c1, s1), (c2, s2), (c3, s3) = unit(theta1), unit(theta2), unit(theta3)
    matrix = np.array([
        [0, 0, 0, 0, 1, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 1, 0, 1, 0],
        [0, 0, 0, 0, -l4 * s2, l4 * c2, -(l2 + l4) * s2, (l2 + l4) * c2, 0],
        [1, 0, 0, 0, -1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, -1, 0, 0, 0],
        [0, 0, 0, 0, l1 * s1, -l1 * c1, 0, 0, 1],
        [0, 0, 1, 0, 0, 0, -1, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, -1, 0],
        [0, 0, 0, 0, 0, 0, l3 * s3, -l3 * c3, 0],
    ])  # fmt: skip
    return np.linalg.solve(matrix, [*-load, 0, 0, 0, 0, 0, 0])


def loaded_legs() -> tuple[Links, np.ndarray, np.ndarray, np.ndarray, FourBarPose, Any]:
    """200 linkages in random poses on tilted bodies, half of them mirrored, with loads (P_x, P_y,
    M) in the world's frame.
    """
    draw = np.random.default_rng(6)
    links = random_links(draw, 200)
    psi, phi = draw.uniform(-3.0, 3.0, (2, 200))
    load = draw.normal(size=(3, 200)) * np.array([[1.0], [1.0], [0.03]])
    halves = [at(psi, links, assembly) for assembly in (1, -1)]
    mixed = FourBarPose(*(np.where(np.arange(200) % 2, a, b) for a, b in zip(*halves, strict=True)))
    loads = joint_loads(links, mixed, *turned(load[0], load[1], -phi), load[2])
    return links, psi, phi, load, mixed, loads


def test_joint_loads_solve_the_nine_balances():
    links, psi, phi, load, found, loads = loaded_legs()
    theta2, theta3 = phi + angle(found.ux, found.uy), phi + angle(found.wx, found.wy)
    crank, rocker = (
        turned(loads.crank_x, loads.crank_y, phi),
        turned(loads.rocker_x, loads.rocker_y, phi),
    )
    ours = np.concatenate([crank, rocker, crank, rocker, np.asarray(loads.torque)[None]])
    for i in range(200):
        each = Links(*(length[i] for length in links))
        expected = nine_balances(each, phi[i] + psi[i], theta2[i], theta3[i], load[:, i])
        # Lengths of 0.05 beside ones make the matrix of condition 1e3 to 1e4.
        np.testing.assert_allclose(
            ours[:, i], expected, rtol=0, atol=1e-11 * np.max(np.abs(expected))
        )


def test_the_motor_feels_the_foot_as_through_a_transformer():
    """T = -(P . Rot f' + M theta2'), without any joint load."""
    _, _, phi, load, found, loads = loaded_legs()
    slope = turned(found.dfx, found.dfy, phi)
    parts = np.array(
        [load[0] * slope[0], load[1] * slope[1], load[2] * np.asarray(found.coupler_rate)]
    )
    # The torque by way of the joints is a difference of forces up to 1/sin(theta3 - theta2) = 11
    # times the load.
    np.testing.assert_allclose(
        loads.torque, -parts.sum(0), rtol=0, atol=11 * ROUNDING * np.max(np.abs(parts))
    )


def test_massless_links_keep_no_power_while_their_base_moves():
    """F_R1 . v_O + F_R3 . v_C + T theta1' + P .

    v_F + M theta2' = 0, and the body gets what motor and foot give.
    """
    links, _, phi, load, found, loads = loaded_legs()
    draw = np.random.default_rng(7)
    (phi_v, psi_v), v_o = draw.normal(size=(2, 200)) * 5.0, draw.normal(size=(2, 200))
    left = np.array([[0.0, -1.0], [1.0, 0.0]])
    foot, slope = turned(found.fx, found.fy, phi), turned(found.dfx, found.dfy, phi)
    v_c = v_o + links.ground * across(phi) * phi_v
    v_f = v_o + phi_v * (left @ foot) + slope * psi_v
    crank, rocker = (
        turned(loads.crank_x, loads.crank_y, phi),
        turned(loads.rocker_x, loads.rocker_y, phi),
    )
    torque, coupler_v = np.asarray(loads.torque), phi_v + np.asarray(found.coupler_rate) * psi_v
    foot_power = dot(load, v_f) + load[2] * coupler_v
    powers = np.array([dot(crank, v_o), dot(rocker, v_c), torque * (phi_v + psi_v), foot_power])
    scale = np.max(np.abs(powers), axis=0)
    assert np.max(np.abs(powers.sum(0)) / scale) < 11 * ROUNDING  # as above
    on_body = -dot(crank, v_o) - dot(rocker, v_c) - torque * phi_v
    assert np.max(np.abs(on_body - torque * psi_v - foot_power) / scale) < 11 * ROUNDING


def test_the_body_receives_the_foots_wrench():
    """For a centre of mass anywhere on the ground link, the page's form in joint loads is M +
    cross(F - COM, P).
    """
    links, _, phi, load, found, loads = loaded_legs()
    com = np.random.default_rng(8).uniform(-0.1, 0.1, 200)
    crank, rocker = (
        turned(loads.crank_x, loads.crank_y, phi),
        turned(loads.rocker_x, loads.rocker_y, phi),
    )
    np.testing.assert_allclose(
        -crank - rocker, load[:2], rtol=0, atol=11 * ROUNDING * np.max(np.abs(crank))
    )
    in_joints = (
        com * cross(unit(phi), crank)
        + (com - links.ground) * cross(unit(phi), rocker)
        - np.asarray(loads.torque)
    )
    at_foot = load[2] + cross(turned(found.fx, found.fy, phi) - com * unit(phi), load)
    np.testing.assert_allclose(
        in_joints, at_foot, rtol=0, atol=11 * ROUNDING * np.max(np.abs(at_foot))
    )


# How it computes


def everything(links: Links, psi: Any, load: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    sine, cosine = sincos(psi)
    found = pose(links, sine, cosine, 1)
    return found, curvature(links, sine, cosine, found), joint_loads(links, found, *load)


def test_lanes_compute_what_one_leg_computes():
    draw = np.random.default_rng(9)
    links, psi, load = (
        random_links(draw, 8),
        jnp.asarray(draw.uniform(-3, 3, 8)),
        tuple(jnp.asarray(draw.normal(size=(3, 8)))),
    )
    lanes = jax.jit(everything)(links, psi, load)
    single = jax.jit(everything)
    for i in range(8):
        one = single(*jax.tree.map(lambda v: v[i], (links, psi, load)))  # noqa: B023
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(lanes), strict=True):
            # A last bit of the sines, and of sums fused or not, grown by 1/sin(theta3 - theta2) up
            # to three times.
            np.testing.assert_allclose(a, b[i], rtol=200 * ROUNDING, atol=200 * ROUNDING)


def test_single_precision_stays_single():
    psi = np.linspace(-3.0, 3.0, 50)
    load = tuple(jnp.float32(v) for v in REFERENCE_LOAD)
    # Lengths as plain numbers, as a part holds them.
    single = everything(LEG.links, jnp.asarray(psi, jnp.float32), load)
    double = everything(LEG.links, jnp.asarray(psi), REFERENCE_LOAD)
    for a, b in zip(jax.tree.leaves(single), jax.tree.leaves(double), strict=True):
        assert a.dtype == jnp.float32
        # 6e-8 a operation, some dozens of them, and 1/sin(theta3 - theta2) = 2 up to three times.
        np.testing.assert_allclose(a, b, rtol=0, atol=2e-5 * float(jnp.max(jnp.abs(b))))


def test_a_pose_is_one_root_and_few_divisions():
    """It runs for every leg in every evaluation of the flow, in kernels that know elementwise
    arithmetic only.
    """
    traced = jax.make_jaxpr(lambda links, sine, cosine: pose(links, sine, cosine, -1))(
        LEG.links, 0.6, 0.8
    )
    counts = collections.Counter(equation.primitive.name for equation in traced.jaxpr.eqns)
    assert set(counts) <= {"add", "sub", "mul", "div", "neg", "sqrt"}
    assert counts["sqrt"] == 1 and counts["div"] <= 5 and counts.total() < 64


# Links that are refused


def turns_fully(links: Links) -> bool:
    """By trying: the circles meet at every crank angle."""
    reach = np.abs(links.ground - links.crank * np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 721)))
    return bool(
        np.all((reach < links.coupler + links.rocker) & (reach > abs(links.coupler - links.rocker)))
    )


def test_grashof_margin_is_positive_just_where_the_crank_is_shortest_and_turns():
    draw = np.random.default_rng(10)
    seen = collections.Counter()
    for ground, crank, coupler, rocker in draw.uniform(0.01, 0.1, (2000, 4)):
        links = Links(ground, crank, coupler, rocker, 0.1)
        lengths = sorted(links[:4])
        turns = crank == lengths[0] and turns_fully(links)
        assert (grashof_margin(links) > 0) == turns
        if turns:
            expected = lengths[1] + lengths[2] - lengths[0] - lengths[3]
            # An ulp of the longest.
            assert grashof_margin(links) == pytest.approx(expected, abs=1e-16)
        seen[turns] += 1
    assert min(seen.values()) > 100  # both kinds were tried


def test_default_margin_is_that_of_the_physics_page():
    # Exact but for rounding of 0.06.
    assert grashof_margin(LEG.links) == pytest.approx(11.7e-3, abs=1e-16)


@pytest.mark.parametrize(
    ("lengths", "field", "words"),
    [
        (
            {"crank": 0.034},
            "crank",
            ("cannot turn fully", "angle 0", "margin", "is -0.5 mm", "at most 33.42 mm"),
        ),
        (
            {"crank": 0.1},
            "crank",
            ("cannot turn fully", "angle 180 deg", "is -66.5 mm", "at most 33.42 mm"),
        ),
        (
            {"ground": 0.1, "crank": 0.03},
            "crank",
            ("cannot turn fully", "angle 180 deg", "is -8.4 mm", "at most 21.49 mm"),
        ),
        (
            {"coupler": 0.2},
            "coupler",
            ("cannot turn fully", "shorten the coupler", "lengthen the ground or the rocker"),
        ),
        ({"ground": 0.13}, "ground", ("cannot turn fully", "shorten the ground")),
        (
            {"ground": 0.02, "crank": 0.05, "coupler": 0.06, "rocker": 0.055},
            "crank",
            ("rocker turns round", "at most 14.93 mm"),
        ),
        (
            {"crank": 0.0335},
            "crank",
            ("singular", "is 0 mm", "must be 0.0748 mm", "at most 33.42 mm"),
        ),
        ({"crank": 0.0335 - 0.00007}, "crank", ("singular", "is 0.07 mm", "joint loads")),
        ({"ground": 0.1, "crank": 0.0216}, "crank", ("singular", "angle 180 deg", "stretch")),
    ],
    ids=str,
)
def test_links_that_cannot_turn_are_refused_with_margin_and_remedy(lengths, field, words):
    with pytest.raises(ParameterError) as caught:
        FourBarLeg(**lengths)
    assert caught.value.field == field and caught.value.lane is None
    for word in words:
        assert word in str(caught.value)
    if "at most" in str(caught.value):
        proposed = float(str(caught.value).split("at most ")[1].split(" mm")[0])
        FourBarLeg(**{**lengths, "crank": 1e-3 * proposed})  # what the message proposes is accepted


@pytest.mark.parametrize("name", ["ground", "crank", "coupler", "rocker", "foot_length"])
def test_a_length_that_is_none_is_refused_as_that(name):
    for bad in (0.0, -0.01, math.nan):
        with pytest.raises(ParameterError, match="must be > 0") as caught:
            FourBarLeg(**{name: bad})
        assert caught.value.field == name


def test_of_many_linkages_the_worst_is_named():
    FourBarLeg(crank=np.array([0.02, 0.0218, 0.03]), foot_length=np.array([0.05, 0.06, 0.07]))
    with pytest.raises(ParameterError, match=r"crank 50, coupler 74\.8") as caught:
        FourBarLeg(crank=np.array([0.02, 0.035, 0.05, 0.03]))
    assert (caught.value.field, caught.value.lane) == ("crank", 2)
    with pytest.raises(ParameterError, match="coupler 100") as caught:
        FourBarLeg(coupler=np.array([0.0748, 0.1]), foot_length=np.array([0.05, 0.06]))
    assert caught.value.lane == 1
    with pytest.raises(ParameterError) as caught:
        FourBarLeg(crank=0.05, foot_length=np.array([0.05, 0.06]))  # wrong in every lane alike
    assert caught.value.lane is None


def test_lengths_inside_a_compiled_function_are_not_checked():
    margin = jax.jit(lambda crank: grashof_margin(FourBarLeg(crank=crank).links))
    assert float(margin(0.05)) == pytest.approx(-16.5e-3)
    with pytest.raises(ParameterError):
        jax.jit(lambda x: x + FourBarLeg(crank=0.05).crank)(1.0)  # these are known, also there


def test_the_least_margin_that_is_accepted_still_computes():
    """What the limit is for.

    Joint loads some tens of times the foot's, and single precision that still closes the loop.
    """
    longest, none = 0.0748, Links(0.0615, 0.0, 0.0748, 0.0468, 0.0624)
    leg = FourBarLeg(crank=float(grashof_margin(none)) - (1 + 1e-9) * LEAST_MARGIN * longest)
    psi = jnp.linspace(-jnp.pi, jnp.pi, 2001)
    found, curve, loads = everything(leg.links, psi, (0.0, 1.0, 0.0))
    assert all(bool(jnp.all(jnp.isfinite(v))) for v in (*found, *curve, *loads))
    least_sine = float(jnp.min(cross((found.ux, found.uy), (found.wx, found.wy))))
    # The number the comment beside the limit gives.
    assert 1.0 / least_sine == pytest.approx(29, abs=0.5)
    assert 10 < float(jnp.max(jnp.hypot(loads.rocker_x, loads.rocker_y))) < 50
    single = pose(leg.links, *sincos(psi.astype(jnp.float32)), 1)
    # A rounding of 6e-8 against a margin of 1e-3, with the root's slope: 1e-5 to 1e-4 in direction.
    np.testing.assert_allclose([single.ux, single.wx], [found.ux, found.wx], rtol=0, atol=1e-4)
