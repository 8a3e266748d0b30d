"""Gaps with side walls, uneven ground.

Which surface pushes, where the energy is, what the source printed.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall.hybrid.fields import ParameterError
from footfall.machines.centipede.point_contact import touch
from footfall.machines.parts.contact.viscoelastic import ViscoelasticContact
from footfall.machines.parts.friction.bristle import BristleFriction
from footfall.machines.parts.friction.coulomb import TanhFriction
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.parts.terrain.bumps import Bumps
from footfall.machines.parts.terrain.gaps import Gap, Gaps
from footfall.machines.parts.terrain.planes import Flat, Slope
from footfall.machines.parts.terrain.profile import Profile
from footfall.machines.parts.terrain.steps import Steps

GROUND, GRIP = (
    ViscoelasticContact(stiffness=5000.0, damping=10.0),
    TanhFriction(coefficient=0.8, steepness=50.0),
)
GAP = Gap(gap_start=0.0, gap_width=0.1)


def force(x, z, vx, vz, terrain=GAP):
    found = touch(terrain, GROUND, GRIP, *(jnp.asarray(v, float) for v in (x, z, vx, vz)))
    return np.array([found.fx, found.fz])


# Physics page, section 6: point, then force.
TABLE = [
    ((-0.5, -0.001, 0.05, 0.0), (-3.946457, 5.0)),
    ((-0.5, -0.001, -0.01, -0.1), (2.218162, 6.0)),
    ((-0.5, -0.001, 0.0, 0.6), (0.0, 0.0)),
    ((-0.5, 0.001, 0.0, -1.0), (0.0, 0.0)),
    ((0.05, -0.02, 0.1, 0.1), (0.0, 0.0)),
    ((-0.001, -0.005, 0.0, 0.02), (5.0, -3.046377)),
    ((-0.001, -0.005, -0.1, 0.0), (6.0, 0.0)),
    ((0.102, -0.010, 0.1, -0.05), (-11.0, 8.682206)),
    ((-0.003, -0.002, 0.0, 0.0), (0.0, 10.0)),
    ((-0.002, -0.003, 0.0, 0.0), (10.0, 0.0)),
]


@pytest.mark.parametrize(("point", "wanted"), TABLE)
def test_the_contact_table_of_the_physics_page(point, wanted):
    # The page gives as many digits.
    np.testing.assert_allclose(force(*point), wanted, rtol=0, atol=1e-6)


def random_points(seed, count=400):
    """Points in, above and beside the ground around a gap from 0 to 0.1 m, in motion."""
    draw = np.random.default_rng(seed)
    x = draw.choice([0.0, 0.1], count) + draw.normal(0.0, 0.006, count)
    return (
        x,
        draw.normal(-0.004, 0.006, count),
        draw.normal(0, 0.1, count),
        draw.normal(0, 0.1, count),
    )


def test_the_two_walls_are_mirror_images():
    x, z, vx, vz = random_points(0)
    left = force(x, z, vx, vz)
    right = force(0.1 - x, z, -vx, vz)
    # 0.1 - x rounds by 1e-17 m, times 5000 N/m and mu c.
    np.testing.assert_allclose(right[0], -left[0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(right[1], left[1], rtol=0, atol=1e-11)
    # Walls and tops were among them.
    assert np.sum(np.abs(left[0]) > 1) > 50 and np.sum(left[1] > 1) > 50


def test_the_printed_wall_friction_pushes_a_point_at_rest_and_ours_does_not():
    """The source writes tanh(c z) for the friction on a wall.

    With the position, not the speed, in it.
    """
    depth, z = 0.001, -0.005
    printed = -0.8 * (5000 * depth) * np.tanh(50 * z)
    assert printed == pytest.approx(0.979674, abs=1e-6) and force(-depth, z, 0.0, 0.0)[1] == 0.0
    # It drives whatever moves up the wall, and so makes energy; ours always takes it.
    assert printed * 0.02 > 0 > force(-depth, z, 0.0, 0.02)[1] * 0.02


def test_the_printed_normal_force_acts_above_the_ground_and_over_the_gap():
    # max[-k z - c z', 0], 1 mm above, falling at 1 m/s.
    printed = max(-5000 * 0.001 - 10 * -1.0, 0.0)
    assert printed == 5.0 and not force(-0.5, 0.001, 0.0, -1.0).any()
    # Nothing holds a tip in the gap.
    assert max(-5000 * -0.02, 0.0) == 100.0 and not force(0.05, -0.02, 0.0, 0.0).any()


class Waves(AbstractTerrain):
    """A ground of one's own: nothing but a height."""

    def height(self, x):
        return 0.004 * jnp.sin(40.0 * x)


def terrains():
    yield Waves()
    yield Flat()
    yield Slope(angle=0.3)
    yield GAP
    yield Gap(gap_start=0.0, gap_width=0.1, blend=0.0015)
    yield Gaps(starts=(-0.2, 0.0, 0.11), widths=(0.05, 0.1, 0.02), blend=0.001)
    yield Profile(places=(-0.02, 0.0, 0.05, 0.1, 0.13), heights=(0.0, 0.004, -0.006, 0.003, 0.0))
    yield Steps(edges=(-0.05, 0.0, 0.05, 0.1), heights=(-0.004, 0.003, -0.002, 0.006))
    yield Bumps(begin=-0.1, highest=0.006, width=0.012, spacing=0.02)
    # Bars without room between them.
    yield Bumps(begin=-0.1, highest=0.006, width=0.02, spacing=0.02)


@pytest.mark.parametrize("terrain", list(terrains()), ids=lambda t: type(t).__name__)
@pytest.mark.parametrize("grip", [GRIP, BristleFriction()], ids=["tanh", "bristle"])
def test_what_the_ground_takes_is_stored_lost_or_given_by_a_blended_corner(terrain, grip):
    """(touch.1) at every point:

    -F.v = d(energy)/dt + losses - corner, the rate by differentiating along the motion.
    """
    x, z, vx, vz = (jnp.asarray(v) for v in random_points(1))
    bristle = jnp.asarray(np.random.default_rng(2).normal(0.0, 1e-4, x.shape))

    def seen(x, z, bristle):
        return touch(terrain, GROUND, grip, x, z, vx, vz, bristle)

    here = seen(x, z, bristle)
    _, rate = jax.jvp(
        lambda x, z, b: seen(x, z, b).energy + grip.energy(b),
        (x, z, bristle),
        (vx, vz, here.bristle_rate),
    )
    given = -(here.fx * vx + here.fz * vz)
    np.testing.assert_allclose(
        given, rate + here.contact_loss + here.friction_loss - here.corner, rtol=0, atol=1e-12
    )
    assert np.min(here.contact_loss) >= 0 and np.min(here.friction_loss) >= -1e-15
    assert np.sum(np.abs(given) > 1e-3) > 50  # many touched
    blended = np.any(np.asarray(getattr(terrain, "blend", 0.0)) > 0)
    assert (np.max(np.abs(here.corner)) > 1e-4) == blended  # a sharp corner gives nothing


def test_energy_is_continuous_over_a_sharp_corner_and_force_over_a_blended_one():
    depth = np.linspace(0.0005, 0.003, 6)
    for shift in (1e-9, -1e-9):
        both = touch(
            GAP,
            GROUND,
            GRIP,
            jnp.asarray(-depth + shift),
            jnp.asarray(-depth),
            0.0 * depth,
            0.0 * depth,
        )
        # 1e-9 m of at least 0.5 mm, twice.
        np.testing.assert_allclose(both.energy, 0.5 * 5000 * depth**2, rtol=5e-6)
    soft = Gap(gap_start=0.0, gap_width=0.1, blend=0.0005)
    p = 0.002
    lead = np.linspace(-0.001, 0.001, 4001)
    fx, fz = force(-(p + lead), np.full_like(lead, -p), 0.0 * lead, 0.0 * lead, soft)
    # Slope of w is at most 3/(4 b), of both shares.
    largest_step = 5000 * (p + 0.001) * 1.5 / 0.001 * 5e-7 + 5000 * 5e-7
    assert np.max(np.abs(np.diff(fx))) < largest_step and np.max(np.abs(np.diff(fz))) < largest_step
    # (gap.2) by itself: a smooth step from 0 to 1 that is 1/2 in the middle.
    share = soft.faces(jnp.asarray(-(p + lead)), jnp.full_like(lead, -p), 0.0 * lead, 0.0 * lead)[
        0
    ].share
    s = np.clip(lead / 0.0005, -1, 1)
    np.testing.assert_allclose(share, 0.5 + (3 * s - s**3) / 4, atol=1e-12)


PIECES = [
    Steps(edges=(-0.03, 0.0, 0.04), heights=(-0.004, 0.003, -0.002)),
    Bumps(begin=-0.05, highest=0.006, width=0.012, spacing=0.02, bars=5),
    Bumps(begin=-0.05, highest=0.006, width=0.02, spacing=0.02, bars=5),
    Gap(gap_start=0.0, gap_width=0.05),
]


@pytest.mark.parametrize("terrain", PIECES, ids=lambda t: type(t).__name__)
def test_a_piece_at_x_is_one_of_the_pieces_with_its_neighbours(terrain):
    pieces = terrain.pieces()
    x = np.linspace(-0.0801, 0.0802, 3001)  # off the edges, where either piece is right
    at = terrain.piece(jnp.asarray(x))
    for i in range(0, len(x), 50):
        k = next(k for k, (_, end, _) in enumerate(pieces) if x[i] < end)
        before, after = pieces[max(k - 1, 0)][2], pieces[min(k + 1, len(pieces) - 1)][2]
        wanted = (*pieces[k], before, after)
        np.testing.assert_allclose([float(v[i]) for v in at], wanted, rtol=0, atol=1e-15)


@pytest.mark.parametrize("terrain", PIECES[:3], ids=lambda t: type(t).__name__)
def test_the_depth_inside_level_pieces_is_continuous(terrain):
    """(pieces.1): along lines through every edge, level and upright, at depths of a few
    millimetres.
    """

    def depth(x, z):
        up, side = terrain.faces(x, z, 0.0 * x, 0.0 * z)
        return np.where(up.share > 0, up.depth, side.depth)

    step = 1e-6
    along = jnp.arange(-0.06, 0.06, step)
    for deep in (-0.001, -0.0047, 0.0012, 0.0028):
        found = depth(along, 0.0 * along + deep)
        # No faster than the point moves, both ways at most; outside it may be anything not
        # positive.
        assert np.max(np.abs(np.diff(np.maximum(found, 0.0)))) < 2.1 * step
        assert np.any(found > 0)


@pytest.mark.parametrize("terrain", PIECES, ids=lambda t: type(t).__name__)
def test_rooms_over_level_pieces_are_positive_outside_and_negative_inside(terrain):
    x, z = (
        jnp.asarray(v)
        for v in np.random.default_rng(3).uniform((-0.07, -0.008), (0.07, 0.012), (4000, 2)).T
    )
    above = np.asarray(z - terrain.height(x))
    edges = np.array([begin for begin, _, _ in terrain.pieces()[1:]])
    clear = (np.abs(above) > 1e-4) & (np.min(np.abs(np.asarray(x)[:, None] - edges), axis=1) > 1e-4)
    for room in (terrain.room_above(x, z), terrain.room_at_walls(x, z)):
        np.testing.assert_array_equal(np.sign(room)[clear], np.sign(above)[clear])


def test_of_several_gaps_the_nearest_edge_pushes():
    terrain = Gaps(starts=(0.0, 0.2), widths=(0.1, 0.1))
    deep = -0.05
    for x, side in ((-0.01, 1), (0.11, -1), (0.149, -1), (0.151, 1), (0.19, 1), (0.31, -1)):
        fx, fz = force(x, deep, 0.0, 0.0, terrain)
        assert np.sign(fx) == side and fz == 0, x
        distance = min(abs(x - edge) for edge in (0.0, 0.1, 0.2, 0.3))
        assert abs(fx) == pytest.approx(5000 * distance, rel=1e-9)
    for x in (0.05, 0.25):
        assert not force(x, deep, 0.0, 0.0, terrain).any()


def test_uneven_ground_passes_through_its_samples_and_is_level_beyond():
    terrain = Profile(places=(0.0, 0.1, 0.3), heights=(0.002, -0.003, 0.01))
    places = np.array([-1.0, 0.0, 0.05, 0.1, 0.2, 0.3, 2.0])
    np.testing.assert_allclose(
        terrain.height(jnp.asarray(places)),
        [0.002, 0.002, -0.0005, -0.003, 0.0035, 0.01, 0.01],
        atol=1e-16,
    )


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: Gaps(starts=(0.1, 0.15), widths=(0.06, 0.1)),
            "the gap from 0.1 m to 0.16 m overlaps the one that begins at 0.15 m",
        ),
        (lambda: Gaps(starts=(0.1, 0.2), widths=(0.1, 0.1)), "overlaps"),
        (lambda: Gaps(starts=(0.3, 0.1), widths=(0.1, 0.1)), "must increase"),
        (lambda: Gaps(starts=(0.1,), widths=(0.1, 0.2)), "1 gaps need as many widths"),
        (lambda: Gaps(starts=(), widths=()), "at least one"),
        (lambda: Gaps(starts=(0.1,), widths=(-0.1,)), "no gap"),
        (lambda: Gap(gap_width=0.0), "must be > 0"),
        (lambda: Gap(blend=-1e-3), "must be >= 0"),
        (lambda: Profile(places=(0.0, 0.1), heights=(0.0,)), "2 places need as many heights"),
        (lambda: Profile(places=(0.0, 0.1), heights=(0.0, np.nan)), "not a finite number"),
    ],
)
def test_ground_that_cannot_be_is_refused_in_words(make, said):
    with pytest.raises(ParameterError, match=said):
        make()


def test_gaps_are_where_they_say():
    gap = Gap(gap_start=0.1, gap_width=0.05)
    assert gap.gaps() == ((0.1, pytest.approx(0.15)),)
    x = np.linspace(0.05, 0.2, 301)
    inside = np.asarray(gap.height(jnp.asarray(x))) < 0
    assert np.array_equal(inside, (x > 0.1) & (x < 0.1 + 0.05))
    assert all(a < b for (_, a), (b, _) in itertools.pairwise(Gaps().gaps()))
