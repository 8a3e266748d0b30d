"""The closed-form water load on a pad is the integral it stands for.

Its value, its derivatives, its power, at every edge.
"""

import itertools
import math
import shutil
from typing import NamedTuple

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import sympy

from footfall.engines.kernels.cpp_rules import RULES
from footfall.engines.kernels.targets.simd.cpp_kernel import build_cpp
from footfall.engines.kernels.traced_program import CALLS, called, opened
from footfall.machines.water_runner.disc_load import DiscLoad, _disc_moments, disc_load

C_D, RHO, G = 0.703, 1000.0, 9.81
DRAG, PRESSURE = C_D * RHO, 2.0 * G * C_D * RHO
RADIUS = 0.02


class Pads(NamedTuple):
    """Arguments of `disc_load`, in its order."""

    radius: np.ndarray
    depth: np.ndarray
    axis_up: np.ndarray
    normal_speed: np.ndarray
    normal_gradient: np.ndarray
    drag_density: np.ndarray
    pressure_density: np.ndarray

    @property
    def top(self) -> np.ndarray:
        """s_t, without looking at how the law computes it."""
        with np.errstate(divide="ignore", invalid="ignore"):
            cut = np.clip(self.depth / self.axis_up, -self.radius, self.radius)
        return np.where(self.axis_up > 0, cut, np.where(self.depth > 0, self.radius, -self.radius))

    @property
    def cut(self) -> np.ndarray:
        return abs(self.top) < self.radius

    @property
    def turn(self) -> np.ndarray:
        """s0, held inside the wetted range.

        Where it lies outside, one of the two pieces is empty.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            turn = np.where(
                self.normal_gradient != 0, -self.normal_speed / self.normal_gradient, -self.radius
            )
        return np.clip(turn, -self.radius, self.top)

    @property
    def sizes(self) -> DiscLoad:
        """How large each part would be if nothing cancelled.

        The whole disc at its highest speed and greatest depth.
        """
        area = 0.5 * math.pi * self.radius**2
        drag = (
            self.drag_density
            * area
            * (abs(self.normal_speed) + self.radius * abs(self.normal_gradient)) ** 2
        )
        pressure = self.pressure_density * area * (abs(self.depth) + self.radius * self.axis_up)
        return DiscLoad(
            drag, drag * self.radius, pressure, pressure * self.radius, np.ones_like(area)
        )


def random_pads(count: int = 4000, seed: int = 4) -> Pads:
    """Dry, cut and drowned pads; level and upright ones; with and without a turn of the speed's
    sign in the wetted range.
    """
    random = np.random.default_rng(seed)
    radius = random.uniform(0.005, 0.05, count)
    axis_up = random.uniform(0.0, 1.0, count) * random.choice([0.0, 1.0, 1.0, 1.0], count)
    depth = radius * random.uniform(-1.5, 1.5, count) * random.choice([0.3, 1.0], count)
    speed = random.normal(0.0, 1.0, count)
    gradient = random.normal(0.0, 1.0, count) / radius * random.choice([0.0, 1.0, 2.0], count)
    return Pads(
        radius, depth, axis_up, speed, gradient, np.full(count, DRAG), np.full(count, PRESSURE)
    )


def edge_pads() -> Pads:
    """Everything that could divide by zero.

    Level, just touching, just drowned, at rest, not turning, still at an edge.
    """
    # With R a1 = +-1: zero at either edge, half way, at the centre.
    cases = [
        (RADIUS, depth * (up or 1.0), up, speed, gradient, DRAG, PRESSURE)
        for up in (0.0, 0.5, 1.0)
        for depth in (-RADIUS, 0.0, 0.5 * RADIUS, RADIUS, 5.0)
        for speed in (-1.0, -0.5, 0.0, 0.5, 1.0)
        for gradient in (-1.0 / RADIUS, 0.0, 1.0 / RADIUS)
    ]
    return Pads(*np.array(cases).T)


RANDOM, EDGES = random_pads(), edge_pads()

#: Scalars are traced one by one and mapped (one pad at a time goes another way to the area); lanes
#: are arrays from the start.
WAYS = {"lanes": lambda f: f, "scalars": jax.vmap}
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())


class Strips(NamedTuple):
    """Nodes of a quadrature over the wetted range, by pads: (node, pad)."""

    s: np.ndarray  #: place along the axis, R sin u
    width: np.ndarray  #: w = sqrt(R^2 - s^2) = R cos u
    du: np.ndarray  #: weight; ds = w du

    def integral(self, values: np.ndarray) -> np.ndarray:
        return np.sum(values * self.width * self.du, axis=0)


def strips(pads: Pads, count: int = 40) -> Strips:
    """Gauss-Legendre in u, s = R sin u, on both sides of s0.

    What is integrated is then a product of sines and cosines over at most half a turn: 40 nodes
    leave nothing but rounding."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    ends = [np.arcsin(np.clip(s / pads.radius, -1, 1)) for s in (-pads.radius, pads.turn, pads.top)]
    pieces = []
    for low, high in itertools.pairwise(ends):
        u = 0.5 * (low + high) + 0.5 * (high - low) * nodes[:, None]
        pieces.append(
            (
                np.sin(u) * pads.radius,
                np.cos(u) * pads.radius,
                0.5 * (high - low) * weights[:, None],
            )
        )
    return Strips(*(np.concatenate(part) for part in zip(*pieces, strict=True)))


def by_quadrature(pads: Pads) -> DiscLoad:
    """The load by its definition, (pad.1) and (pad.2)."""
    at = strips(pads)
    a, h = pads.normal_speed + pads.normal_gradient * at.s, pads.depth - pads.axis_up * at.s
    drag, pressure = pads.drag_density * at.width * a * abs(a), pads.pressure_density * at.width * h
    whole = [at.integral(q) for q in (drag, at.s * drag, pressure, at.s * pressure)]
    return DiscLoad(*whole, wetted=0.5 * (1.0 + pads.top / pads.radius))


def derivatives_by_quadrature(pads: Pads) -> dict[str, DiscLoad]:
    """Leibniz' rule on the same integrals.

    What changes inside, and what the moving surface s_t = d/tau_y adds at its end.
    """
    at, top, zero = strips(pads), pads.top, np.zeros_like(pads.depth)
    a, h, w = (
        pads.normal_speed + pads.normal_gradient * at.s,
        pads.depth - pads.axis_up * at.s,
        at.width,
    )
    a_top = pads.normal_speed + pads.normal_gradient * top
    # Drag only: h is zero there.
    at_top = pads.drag_density * np.sqrt(pads.radius**2 - top**2) * a_top * abs(a_top)
    # A surface that does not cut the pad moves nothing.
    slope = np.where(pads.cut, pads.axis_up, np.inf)

    def change(drag=0.0, pressure=0.0, top_rate=0.0, wetted=0.0):
        """From the change of both densities at every strip, the rate of s_t, and the rest of the
        change of p.
        """
        return DiscLoad(
            at.integral(drag + 0.0 * w) + at_top * top_rate,
            at.integral(at.s * drag) + top * at_top * top_rate,
            at.integral(pressure + 0.0 * w),
            at.integral(at.s * pressure),
            zero + 0.5 * top_rate / pads.radius + wetted,
        )

    by_radius = pads.radius / w  # of the width
    return {
        "radius": change(
            pads.drag_density * by_radius * a * abs(a),
            pads.pressure_density * by_radius * h,
            wetted=np.where(pads.cut, -0.5 * top / pads.radius**2, 0.0),
        ),
        "depth": change(pressure=pads.pressure_density * w, top_rate=1.0 / slope),
        "axis_up": change(pressure=-pads.pressure_density * w * at.s, top_rate=-top / slope),
        "normal_speed": change(2.0 * pads.drag_density * w * abs(a)),
        "normal_gradient": change(2.0 * pads.drag_density * w * abs(a) * at.s),
        "drag_density": change(w * a * abs(a)),
        "pressure_density": change(pressure=w * h),
    }


def worst(found: DiscLoad, expected: DiscLoad, sizes: DiscLoad) -> float:
    """Largest error in units of `sizes`; zero where nothing is expected and nothing is there."""
    return max(
        float(np.max(abs(np.asarray(x) - y) / np.where(z > 0, z, 1.0)))
        for x, y, z in zip(found, expected, sizes, strict=True)
    )


# ---- the integral


PAGE = [
    # d, tau_y, a0, a1, p, F_w, S_1: the physics page, section 10
    (0.0, 0.6, 1.0, 0.0, 0.5, 2.429225395474e-1, -2.134655952555e-3),
    (0.03, 0.0, 1.0, 0.0, 1.0, 7.016972129827e-1, 0.0),
    (0.004, 0.5, 0.2, 30.0, 0.7, 4.795341934921e-2, -2.196335828714e-4),
    (0.03, 0.8, 1.2, -25.0, 1.0, 9.236554463478e-1, -3.343552324936e-3),
    (-0.005, 0.5, 1.0, 10.0, 0.25, 6.725212465446e-2, -9.439173167569e-4),
]


@pytest.mark.parametrize("row", PAGE)
def test_reference_pads_carry_the_reference_load(row):
    depth, axis_up, speed, gradient, wetted, force, moment = row
    load = disc_load(RADIUS, depth, axis_up, speed, gradient, DRAG, PRESSURE)
    # The page prints 13 digits and asks for 11; an expected zero is one of moments that size.
    assert float(load.wetted) == pytest.approx(wetted, abs=1e-15)
    assert float(load.drag + load.pressure) == pytest.approx(force, rel=1e-11)
    assert float(load.drag_moment + load.pressure_moment) == pytest.approx(
        moment, rel=1e-11, abs=1e-15
    )


@each_way
def test_closed_form_is_the_integral_on_random_pads(way):
    dry, drowned = RANDOM.top <= -RANDOM.radius, RANDOM.top >= RANDOM.radius
    turns = (RANDOM.turn > -RANDOM.radius) & (RANDOM.turn < RANDOM.top)
    for kind in (
        dry,
        RANDOM.cut & turns,
        RANDOM.cut & ~turns,
        drowned & turns,
        drowned & ~turns,
        RANDOM.axis_up == 0,
    ):
        assert np.sum(kind) > 200  # every branch is walked often
    found = way(disc_load)(*RANDOM)
    # Some twenty roundings, of terms up to four times the size each error is measured by.
    assert worst(found, by_quadrature(RANDOM), RANDOM.sizes) < 2e-14


@each_way
def test_closed_form_is_the_integral_at_every_edge(way):
    assert worst(way(disc_load)(*EDGES), by_quadrature(EDGES), EDGES.sizes) < 2e-14  # as above


def test_moments_of_the_unit_disc_are_antiderivatives():
    x = sympy.symbols("x", real=True)
    w = sympy.sqrt(1 - x**2)
    j0 = (x * w + sympy.asin(x) + sympy.pi / 2) / 2
    forms = [j0, -(w**3) / 3, (j0 - x * w**3) / 4, w**5 / 5 - w**3 / 3]
    for k, form in enumerate(forms):
        assert sympy.simplify(sympy.diff(form, x) - x**k * w) == 0
        assert form.subs(x, -1) == 0
    # That these are the forms in the code: to an ulp of the largest, pi/2, and its rounding on the
    # way there.
    at = np.linspace(-1.0, 1.0, 41)
    exact = np.array(
        [[float(form.subs(x, sympy.Float(float(v), 40))) for v in at] for form in forms]
    )
    np.testing.assert_allclose(jnp.stack(_disc_moments(jnp.asarray(at))), exact, rtol=0, atol=4e-16)
    np.testing.assert_allclose(
        jnp.stack(jax.vmap(_disc_moments)(jnp.asarray(at))), exact, rtol=0, atol=4e-16
    )


@pytest.mark.parametrize(("kind", "limit"), [(np.float64, 6.0), (np.float32, 6.0)])
def test_lanes_of_segment_areas_keep_their_digits_down_to_a_touch(kind, limit):
    """In units in the last place, also where the pad is wetted by a millionth of its height and the
    area by a billionth.
    """
    xi = np.concatenate([np.linspace(-1, 1, 203)[1:], -1 + np.logspace(-6, 0, 50)]).astype(kind)
    area = np.asarray(_disc_moments(jnp.asarray(xi))[0])
    with mpmath.workdps(40):
        exact = [
            (x * mpmath.sqrt(1 - x * x) + mpmath.asin(x) + mpmath.pi / 2) / 2
            for x in map(mpmath.mpf, xi.tolist())
        ]
        off = [
            abs(mpmath.mpf(float(a)) - e) / float(np.spacing(kind(e)))
            for a, e in zip(area, exact, strict=True)
        ]
    assert area.dtype == kind
    assert max(off) < limit  # a root, two products and a polynomial summed from the small end


# ---- closed forms of special pads


def test_level_pad_feels_the_law_of_glasheen_and_mcmahon():
    area = math.pi * RADIUS**2
    for depth, speed in ((0.03, 1.0), (0.001, 2.0), (1.0, -0.5)):
        load = disc_load(RADIUS, depth, 0.0, speed, 0.0, DRAG, PRESSURE)
        # C_D (rho u^2/2 + rho g d) S, against the speed; a handful of roundings
        assert float(load.drag) == pytest.approx(
            C_D * 0.5 * RHO * speed * abs(speed) * area, rel=1e-15
        )
        assert float(load.pressure) == pytest.approx(C_D * RHO * G * depth * area, rel=1e-15)
        assert (float(load.drag_moment), float(load.pressure_moment)) == (0.0, 0.0)


def test_half_wet_pad_has_its_closed_form():
    for axis_up, speed in ((0.6, 1.0), (1.0, 0.3), (0.01, 2.0)):
        load = disc_load(RADIUS, 0.0, axis_up, speed, 0.0, DRAG, PRESSURE)
        assert float(load.wetted) == 0.5
        # Few roundings.
        assert float(load.pressure) == pytest.approx(
            DRAG * 2.0 * G * axis_up * RADIUS**3 / 3.0, rel=1e-15
        )
        assert float(load.drag) == pytest.approx(
            DRAG * speed**2 * math.pi * RADIUS**2 / 4.0, rel=1e-15
        )


def test_level_pad_on_a_cosine_lifts_its_closed_form_mean():
    """y = h + A cos(wt), 8 Hz, the pad folded away on the way up."""
    amplitude, height, rate = 0.025, 0.010, 2.0 * math.pi * 8.0
    alpha = math.acos(height / amplitude)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    means = np.zeros(2)
    breaks = (0.0, math.pi - alpha, math.pi, math.pi + alpha, 2.0 * math.pi)  # in, lowest, out
    for low, high in itertools.pairwise(breaks):
        phase = 0.5 * (low + high) + 0.5 * (high - low) * nodes
        down = amplitude * rate * np.sin(phase)
        load = disc_load(
            RADIUS,
            -(height + amplitude * np.cos(phase)),
            0.0,
            jnp.asarray(down),
            0.0,
            DRAG,
            PRESSURE,
        )
        turned = 0.5 * (high - low) * weights / (2.0 * math.pi) * (down > 0)
        means += [np.sum(turned * load.drag), np.sum(turned * load.pressure)]
    bend = alpha - math.sin(alpha) * math.cos(alpha)
    shares = (
        amplitude**2 * rate**2 * bend / (8.0 * math.pi),
        G * (amplitude * math.sin(alpha) - height * alpha) / (2.0 * math.pi),
    )
    # Sums of 24 rounded terms.
    np.testing.assert_allclose(means, DRAG * math.pi * RADIUS**2 * np.array(shares), rtol=1e-13)
    # As printed: half a digit and rounding.
    np.testing.assert_allclose(means, [0.043998650, 0.015613633], rtol=0, atol=6e-10)


def test_depth_counted_from_the_top_of_the_wetted_range_loses_the_weight_of_the_water_above():
    """Erratum of eq 5: with p clamped, h = tau_y (s_t - s) is right for a cut pad and wrong for a
    drowned one.
    """

    def printed(pads):
        at = strips(pads)
        return at.integral(pads.pressure_density * at.width * pads.axis_up * (pads.top - at.s))

    found = np.asarray(disc_load(*RANDOM).pressure)
    drowned = RANDOM.top >= RANDOM.radius
    missing = (
        RANDOM.pressure_density
        * (RANDOM.depth - RANDOM.radius * RANDOM.axis_up)
        * 0.5
        * math.pi
        * RANDOM.radius**2
    )
    lost = (found - printed(RANDOM)) / RANDOM.sizes.pressure
    # The same integral, as close as quadrature comes above.
    assert np.max(abs(lost[~drowned])) < 2e-14
    assert np.max(abs(lost - missing / RANDOM.sizes.pressure)[drowned]) < 2e-14
    assert np.median(lost[drowned]) > 0.1  # not a small matter


# ---- edges


@each_way
def test_dry_pad_feels_exactly_nothing(way):
    above = RANDOM._replace(depth=-abs(RANDOM.depth) - RANDOM.radius * RANDOM.axis_up)
    touching = RANDOM._replace(depth=-RANDOM.radius * RANDOM.axis_up)
    level = RANDOM._replace(depth=0.0 * RANDOM.depth, axis_up=0.0 * RANDOM.depth)
    for pads in (above, touching, level):
        for part in way(disc_load)(*pads):
            np.testing.assert_array_equal(part, 0.0)


@each_way
def test_load_grows_from_zero_as_a_pad_enters(way):
    """A strip of wetted share p is about p^1.5 of the disc: no jump, unless the pad is level."""
    tilted = RANDOM._replace(axis_up=0.05 + 0.95 * RANDOM.axis_up)
    for wetted in (1e-3, 1e-6, 1e-9):
        entering = tilted._replace(depth=tilted.radius * tilted.axis_up * (2.0 * wetted - 1.0))
        load = way(disc_load)(*entering)
        # The share of a disc below p is under 3.4 p^1.5 for all p; one pad at a time rounds the
        # area at 1e-16.
        assert (
            worst(load._replace(wetted=0.0), DiscLoad(*[0.0] * 5), entering.sizes)
            < 3.4 * wetted**1.5 + 1e-15
        )


def test_turning_off_either_part_leaves_the_other():
    both, drag, pressure = (
        disc_load(*RANDOM[:5], *densities)
        for densities in ((DRAG, PRESSURE), (DRAG, 0.0), (0.0, PRESSURE))
    )
    for part in ("drag", "drag_moment"):
        np.testing.assert_array_equal(getattr(both, part), getattr(drag, part))
        np.testing.assert_array_equal(getattr(pressure, part), 0.0)
    for part in ("pressure", "pressure_moment"):
        np.testing.assert_array_equal(getattr(both, part), getattr(pressure, part))
        np.testing.assert_array_equal(getattr(drag, part), 0.0)


# ---- power


@each_way
@pytest.mark.parametrize("pads", [RANDOM, EDGES], ids=["random", "edges"])
def test_drag_never_gives_power(way, pads):
    """-(drag a0 + drag_moment a1) is minus the integral of C_D rho w |a|^3.

    The pad loses what the water takes.
    """
    load = way(disc_load)(*pads)
    given = -(
        np.asarray(load.drag) * pads.normal_speed
        + np.asarray(load.drag_moment) * pads.normal_gradient
    )
    at = strips(pads)
    taken = at.integral(
        pads.drag_density * at.width * abs(pads.normal_speed + pads.normal_gradient * at.s) ** 3
    )
    fastest = abs(pads.normal_speed) + pads.radius * abs(pads.normal_gradient)
    scale = np.where(fastest > 0, pads.sizes.drag * fastest, 1.0)
    assert np.max(abs(given + taken) / scale) < 4e-14  # two loads, each to 2e-14
    assert np.max(given / scale) < 1e-15  # where it is zero, zero to rounding
    assert np.min(given / scale) < -0.1
    assert np.all(given[taken > 1e-12 * scale] < 0)


def test_power_of_drag_is_the_integral_of_the_cube_of_the_speed():
    """The proof behind it, in symbols.

    The strip's share of drag a0 + drag_moment a1 is w a|a| (a0 + a1 s) = w |a|^3 >= 0.
    """
    a0, a1, s = sympy.symbols("a0 a1 s", real=True)
    w, a = sympy.sqrt(1 - s**2), a0 + a1 * s
    j = [w * s**k for k in range(4)]  # what (pad.4) sums, strip by strip
    force = a0**2 * j[0] + 2 * a0 * a1 * j[1] + a1**2 * j[2]
    moment = a0**2 * j[1] + 2 * a0 * a1 * j[2] + a1**2 * j[3]
    assert sympy.simplify(a0 * force + a1 * moment - w * a**3) == 0


def test_pressure_gives_back_as_much_as_it_took():
    """Drawn up at the speed it went down, at the same depth.

    The pressure's power only changes sign, the drag's does not.
    """
    back = RANDOM._replace(
        normal_speed=-RANDOM.normal_speed, normal_gradient=-RANDOM.normal_gradient
    )
    down, up = disc_load(*RANDOM), disc_load(*back)
    np.testing.assert_array_equal(down.pressure, up.pressure)
    # It never sucks, but for rounding.
    assert np.min(down.pressure / RANDOM.sizes.pressure) > -1e-15
    # As the integral.
    np.testing.assert_allclose(down.drag, -up.drag, rtol=0, atol=2e-14 * np.max(RANDOM.sizes.drag))


# ---- derivatives


@each_way
@pytest.mark.parametrize("pads", [RANDOM, EDGES], ids=["random", "edges"])
def test_derivatives_are_those_of_the_integral(way, pads):
    fastest = abs(pads.normal_speed) + pads.radius * abs(pads.normal_gradient)
    own_size = Pads(pads.radius, pads.radius, 1.0, fastest, fastest / pads.radius, DRAG, PRESSURE)
    # What a load changes by if one argument changes by its own size: itself, or as the surface
    # moves over a flat pad, 1/tau_y.
    change = 1.0 + 1.0 / np.where(pads.cut, pads.axis_up, 1.0)
    for name, expected in derivatives_by_quadrature(pads).items():
        along = [
            np.full_like(v, float(field == name))
            for field, v in zip(pads._fields, pads, strict=True)
        ]
        _, found = jax.jvp(
            way(disc_load), tuple(map(jnp.asarray, pads)), tuple(map(jnp.asarray, along))
        )
        own = getattr(own_size, name)
        sizes = DiscLoad(
            *(
                size * change / np.where(own > 0, own, 1.0)
                for size in pads._replace(axis_up=1.0).sizes
            )
        )
        assert worst(found, expected, sizes) < 2e-14, name  # the arithmetic is that of the load


def test_second_derivatives_are_differences_of_the_first():
    """Also across the turn of the speed's sign, whose own motion is left out of the derivatives."""
    keep = (abs(abs(RANDOM.depth) / (RANDOM.radius * RANDOM.axis_up + 1e-9) - 1.0) > 0.1) & (
        abs(RANDOM.axis_up - 0.5) < 0.4
    )
    pads = [jnp.asarray(v[keep]) for v in RANDOM]
    along = [
        v * jnp.asarray(np.random.default_rng(n).normal(size=v.shape)) for n, v in enumerate(pads)
    ]

    def first(step):
        return jax.jvp(
            disc_load, tuple(v + step * dv for v, dv in zip(pads, along, strict=True)), tuple(along)
        )[1]

    second, h = jax.jvp(first, (0.0,), (1.0,))[1], 1e-5
    differences = DiscLoad(*((x - y) / (2.0 * h) for x, y in zip(first(h), first(-h), strict=True)))
    # h^2 times a fourth derivative of 1e4 near an edge, and rounding over h.
    assert worst(second, differences, Pads(*map(np.asarray, pads)).sizes) < 1e-5


@each_way
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_first_and_second_derivatives_are_finite_at_every_edge(way, kind):
    pads = [jnp.asarray(v, kind) for v in EDGES]
    ones = [jnp.ones_like(v) for v in pads]

    def along(*arguments):
        return jax.jvp(way(disc_load), arguments, tuple(ones))[1]

    for derivative in (along(*pads), jax.jvp(along, tuple(pads), tuple(ones))[1]):
        for part in derivative:
            assert part.dtype == kind
            assert np.all(np.isfinite(part))
    # Backwards too, where a choice does not hide what was not chosen.
    for function in (way(disc_load), along):
        pulled = jax.grad(
            lambda *x, of=function: sum(map(jnp.sum, of(*x))), argnums=tuple(range(7))
        )(*pads)
        assert all(np.all(np.isfinite(part)) for part in pulled)


@each_way
def test_moments_do_not_change_beyond_the_edges_of_the_disc(way):
    """Also a rounding error past them, where a root would be of a negative number."""
    xi = jnp.asarray([-1.0, 1.0, np.nextafter(-1.0, -2.0), np.nextafter(1.0, 2.0)])
    moments, first = jax.jvp(way(_disc_moments), (xi,), (jnp.ones_like(xi),))
    assert [float(m[0]) for m in moments] == [0.0] * 4
    np.testing.assert_array_equal(jnp.stack(moments)[:, 2:], jnp.stack(moments)[:, :2])
    np.testing.assert_array_equal(jnp.stack(first), 0.0)

    def slopes(xi):
        return jax.grad(lambda x: sum(map(jnp.sum, way(_disc_moments)(x))))(xi)

    np.testing.assert_array_equal(slopes(xi), 0.0)
    assert np.all(np.isfinite(jax.grad(lambda x: jnp.sum(slopes(x)))(xi)))


# ---- how it may be run


def test_lanes_equal_scalars():
    lanes, scalars = disc_load(*RANDOM), jax.vmap(disc_load)(*RANDOM)
    # Two ways to the area, each rounded at pi/2 of 1.6e-16, four times.
    assert worst(lanes, scalars, RANDOM.sizes) < 2e-15


def test_plain_numbers_make_a_load_and_keep_the_precision_of_what_they_meet():
    plain = disc_load(*(float(v[7]) for v in RANDOM))
    # One pad of the test above.
    np.testing.assert_allclose(plain, [v[7] for v in disc_load(*RANDOM)], rtol=1e-12)
    for shape in ((), (3,)):
        load = jax.jit(lambda depth: disc_load(RADIUS, depth, 0.5, 1.0, 10.0, DRAG, PRESSURE))(
            jnp.full(shape, 0.003, jnp.float32)
        )
        assert [part.dtype for part in load] == [jnp.float32] * 5
        assert [part.shape for part in load] == [shape] * 5


@each_way
def test_single_precision_is_the_same_law(way):
    found = way(disc_load)(*(jnp.asarray(v, jnp.float32) for v in RANDOM))
    assert all(part.dtype == jnp.float32 for part in found)
    # The arguments are rounded at 6e-8 first; a pad then steps over an edge of its kind only where
    # that changes little, but for level pads, whose depth keeps its sign.
    assert worst(found, disc_load(*RANDOM), RANDOM.sizes) < 1e-6


def primitives(program) -> set[str]:
    """Names of all primitives of a traced program, calls opened."""
    names = set()
    for equation in program.eqns:
        if equation.primitive.name in CALLS:
            names |= primitives(opened(called(equation))[0])
        else:
            names.add(equation.primitive.name)
    return names


@pytest.mark.parametrize("shape", [(), (8,)], ids=["scalar", "lanes"])
def test_a_kernel_has_a_form_for_every_step_and_its_derivative(shape):
    arguments = [jnp.ones(shape)] * 7
    assert primitives(jax.make_jaxpr(disc_load)(*arguments).jaxpr) <= set(RULES)
    assert primitives(jax.make_jaxpr(lambda *x: jax.jvp(disc_load, x, x))(*arguments).jaxpr) <= set(
        RULES
    )


@pytest.mark.skipif(
    not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="kernels need a C++ compiler"
)
@pytest.mark.parametrize(("kind", "limit"), [(np.float64, 2e-15), (np.float32, 1e-6)])
def test_a_fused_kernel_gives_the_same_load(kind, limit):
    """Sums and products may be joined by either compiler, so twenty roundings apart and not to the
    bit.
    """
    pads = [v.astype(kind) for v in RANDOM]
    kernel = build_cpp(
        lambda *x: tuple(disc_load(*x)),
        [True] * 5 + [False] * 2,
        [v.dtype for v in pads],
        real=np.dtype(kind),
    )
    found = DiscLoad(*kernel([*pads[:5], kind(DRAG), kind(PRESSURE)]))
    assert all(part.dtype == kind for part in found)
    assert worst(found, disc_load(*pads), RANDOM.sizes) < limit
