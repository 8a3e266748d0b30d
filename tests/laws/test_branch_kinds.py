"""Special points of branches whose maps have closed forms: folds, torus points, crossings, cascades;
and branches of robots that conserve energy.
"""

import dataclasses
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import footfall as ff
from footfall.engines.analysis.continuation import Follower
from footfall.engines.analysis.modes import tracked
from footfall.engines.analysis.orbits import orbits
from footfall.engines.analysis.return_map import NoCycle
from footfall.hybrid.fields import param, signal
from footfall.hybrid.system import Event, HybridState, Jump, Rates
from footfall.scenario.errors import ScenarioError
from footfall.scenario.files import classics
from footfall.scenario.follow import follow
from footfall.scenario.gait_landscape import GaitLandscape
from support.toys import AbstractToy, NoPower, Scalar1
from support.walkers import SpringRunner

#: Roots on a branch are located to 1e-12 of the range, and Newton's corrections to 1e-10.
CLOSE = 1e-9


class Pair(eqx.Module):
    a: float = signal(doc="what the map is of")
    b: float = signal(doc="its second number")
    n: int = signal(doc="steps so far")


class Iterated(AbstractToy):
    """Once a second (a, b) := step(a, b): gaits are the fixed points of a map that is written down."""

    r: float = param(0.5, doc="parameter")

    @property
    def events(self):
        return (Event("step", "a second is over"),)

    def flow(self, t, x, m):
        return Rates(Scalar1(x=0.0 * x.x - 1.0), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (x.x,)

    def jump(self, t, x, m, k):
        a, b = self.step(m.a, m.b)
        return Jump(Scalar1(x=1.0 + 0.0 * x.x), Pair(a=a, b=b, n=m.n + 1))

    def step(self, a, b):
        raise NotImplementedError


class Folded(Iterated):
    """a := a + r - a^2: gaits at +- sqrt(r), with the multiplier 1 - 2 a."""

    def step(self, a, b):
        return a + self.r - a * a, 0.0 * b


class Delayed(Iterated):
    """The delayed logistic map: its gait a = 1 - 1/r has multipliers whose product is r - 1, so that
    a pair leaves the unit circle at r = 2, at a sixth of a turn.
    """

    def step(self, a, b):
        return self.r * a * (1.0 - b), a


class Forked(Iterated):
    """a := (1 + r) a - a^3: the gait 0 is crossed at r = 0 by the gaits +- sqrt(r)."""

    def step(self, a, b):
        return (1.0 + self.r) * a - a**3, 0.0 * b


class Logistic(Iterated):
    """a := r a (1 - a): doublings at 3 and 1 + sqrt(6)."""

    def step(self, a, b):
        return self.r * a * (1.0 - a), 0.0 * b


class Paced(Logistic):
    """The same; a step takes a seconds."""

    def jump(self, t, x, m, k):
        m = super().jump(t, x, m, k).m
        return Jump(Scalar1(x=m.a), m)


class Rough(Iterated):
    """a := 1 + a / 2 and what no derivative sees: r times a sine that is another one every time."""

    def step(self, a, b):
        noise = jax.lax.stop_gradient(jnp.sin(1e14 * a))
        return 1.0 + 0.5 * a + self.r * noise, 0.0 * b


def followed(kind, r, a, b, low, high, way=1.0, most=150):
    start = HybridState(Scalar1(x=1.0), Pair(a=a, b=b, n=np.int32(0)))
    cycle = ff.find_cycle(kind(r), start, "step")
    follower = Follower(cycle, lambda v: (kind(np.float64(v)), kind(np.ones(1))), low, high)
    return follower, follower.follow(follower.begin(cycle.point.flat, r, way), most)


def number(follower, points):
    place = follower.map.names.index("a")
    return np.array([point.numbers[place] for point in points])


def special(points):
    return [(point.kind, point.value) for point in points if point.kind]


def test_a_branch_goes_round_its_fold_and_on_to_where_the_other_side_leaves_the_range():
    follower, points = followed(Folded, 0.25, 0.5, 0.0, -0.5, 0.5, way=-1.0)
    assert special(points) == [("fold", pytest.approx(0.0, abs=CLOSE))]
    a, r = number(follower, points), np.array([point.value for point in points])
    assert r == pytest.approx(a**2, abs=CLOSE)
    assert r[-1] == 0.5 and a[-1] == pytest.approx(-math.sqrt(0.5), abs=CLOSE)
    largest = [float(point.multipliers[0].real) for point in points]
    assert largest == pytest.approx(1.0 - 2.0 * a, abs=1e-7)
    assert [point.stable for point in points if not point.kind] == [
        value > 0 for value, point in zip(a, points, strict=True) if not point.kind
    ]


def test_a_pair_leaves_the_unit_circle_at_the_torus_point():
    follower, points = followed(Delayed, 1.8, 1 - 1 / 1.8, 1 - 1 / 1.8, 1.5, 2.2)
    assert special(points) == [("torus", pytest.approx(2.0, abs=CLOSE))]
    (torus,) = (point for point in points if point.kind)
    pair = [value for value in torus.multipliers if value.imag > 0.1]
    assert pair == [pytest.approx(np.exp(1j * math.pi / 3), abs=1e-8)]
    assert all(p.stable == (p.value < 2.0) for p in points if not p.kind)
    assert number(follower, points) == pytest.approx([1 - 1 / p.value for p in points], abs=CLOSE)


def test_where_two_branches_cross_is_found_and_the_other_one_is_followed_to_both_sides():
    follower, points = followed(Forked, -0.3, 0.01, 0.0, -0.4, 0.3)
    assert special(points) == [("branch point", pytest.approx(0.0, abs=CLOSE))]
    assert number(follower, points) == pytest.approx(np.zeros(len(points)), abs=CLOSE)
    (place,) = (k for k, point in enumerate(points) if point.kind)
    sides = [
        follower.follow(spot, 60) for spot in follower.crossed(points[place], points[place - 1])
    ]
    ends = sorted(number(follower, side)[-1] for side in sides)
    assert ends == pytest.approx([-math.sqrt(0.3), math.sqrt(0.3)], abs=CLOSE)
    for side in sides:
        a = number(follower, side)
        assert a**2 == pytest.approx([point.value for point in side], abs=CLOSE)
        assert all(point.stable for point in side[1:])


def test_the_first_doublings_of_the_logistic_map_are_where_they_are():
    """At 3 and 1 + sqrt(6); the third at 3.5440903595519."""
    follower, points = followed(Logistic, 2.6, 1 - 1 / 2.6, 0.0, 2.5, 3.6)
    assert special(points) == [("period doubling", pytest.approx(3.0, abs=CLOSE))]
    for expected in (1.0 + math.sqrt(6.0), 3.5440903595519):
        (point,) = (point for point in points if point.kind)
        follower, spot = follower.doubled(point)
        points = follower.follow(spot, 150)
        assert special(points) == [("period doubling", pytest.approx(expected, abs=1e-8))]


def test_a_robot_that_is_let_walk_where_its_gait_is_unstable_shows_the_cascade():
    """r a (1 - a) has a stable orbit of two between 3 and 1 + sqrt(6), of four up to 3.544."""
    follower, points = followed(Paced, 2.6, 1 - 1 / 2.6, 0.0, 2.5, 3.52)
    seen = orbits(follower, points, 12)
    assert len(seen) == 12 and all(orbit.walks for orbit in seen)
    assert seen[0].value == pytest.approx(3.0, abs=CLOSE)
    assert seen[-1].value == pytest.approx(3.52, rel=1e-12)
    twos = [orbit for orbit in seen if 3.05 < orbit.value < 3.4]
    assert len(twos) > 4
    for orbit in twos:
        r = orbit.value
        root = math.sqrt((r - 3.0) * (r + 1.0))
        ends = [(r + 1.0 - root) / (2.0 * r), (r + 1.0 + root) / (2.0 * r)]
        # Its multiplier 4 + 2 r - r^2 is at most 0.8 in size: 0.8^60 is left of it, 1e-6.
        assert sorted(orbit.times) == pytest.approx(np.repeat(ends, 12), abs=1e-5)
    last = np.array(seen[-1].times)
    assert len(np.unique(np.round(last, 4))) == 4 and last[4:] == pytest.approx(last[:-4], abs=1e-5)
    assert np.array_equal(seen[0].figure("step_time"), seen[0].times)
    assert seen[0].figure("cost_of_transport") is None
    assert orbits(follower, points, 0) == []


def test_a_walk_that_falls_at_one_value_begins_beside_the_gait_at_the_next():
    """Beyond r = 4 the map leaves its interval: a is negative, and no step comes."""
    follower, points = followed(Paced, 3.9, 1 - 1 / 3.9, 0.0, 3.8, 4.4)
    seen = orbits(follower, points, 7)
    assert [orbit.walks for orbit in seen] == [orbit.value < 4.0 for orbit in seen]
    assert any(orbit.walks for orbit in seen) and not seen[-1].walks


def test_multipliers_keep_their_places_along_a_branch():
    """Two that pass each other, at steps of a branch that grow, and a pair beside them."""
    share = np.cumsum(np.linspace(0.02, 0.06, 25))
    turn = 0.5 * np.exp(1j * (1.0 + share))
    ways = np.stack([0.9 - 0.5 * share, 0.31 + 0.5 * share, turn, np.conj(turn)], axis=1)
    by_size = [row[np.argsort(-np.abs(row), kind="stable")] for row in ways]
    first = np.argsort(-np.abs(ways[0]), kind="stable")
    np.testing.assert_array_equal(np.array(tracked(share, by_size)), ways[:, first])
    assert np.any(np.array(by_size) != ways[:, first])  # by size they do not keep their places


def test_newton_comes_as_close_as_a_map_has_digits():
    """Runs of rtol 1e-10 through many events: the water runner's step is rough by 1.3e-10.

    What is rougher than that is no gait.
    """
    start = HybridState(Scalar1(x=1.0), Pair(a=1.5, b=0.0, n=np.int32(0)))
    found = ff.find_cycle(Rough(1e-9), start, "step")
    assert found.multipliers[0].real == pytest.approx(0.5, rel=1e-12)
    # In units of a, 2, and grown by 1 / (1 - 1/2).
    assert 1e-12 < found.residual < 1e-9
    with pytest.raises(NoCycle):
        ff.find_cycle(Rough(1e-3), start, "step")


# --- what is conserved ----------------------------------------------------------------------------

FINE = ff.Plan(engine=ff.EventEngine(rtol=1e-12, atol=1e-13))


def stiffer(value):
    whole = {f.name: None for f in dataclasses.fields(SpringRunner)}
    along = SpringRunner(**whole | {"stiffness": np.ones(1)})
    return SpringRunner(stiffness=np.float64(value)), along


@pytest.fixture(scope="module")
def runner():
    return ff.find_cycle(SpringRunner(), SpringRunner.begin(), "apex", FINE)


def test_a_branch_of_a_runner_that_loses_nothing_has_the_multipliers_at_its_energy(runner):
    """Its multiplier one, which is the energy's, is none of them: it makes no point special, and
    says nothing about stability. The doubling is where the one that is left is -1.
    """
    follower = Follower(runner, stiffer, 17.8e3, 21e3)
    points = [
        *reversed(follower.follow(follower.begin(runner.point.flat, 20e3, -1.0), 40)),
        *follower.follow(follower.begin(runner.point.flat, 20e3, 1.0), 40),
    ]
    (doubling,) = (point for point in points if point.kind)
    assert doubling.kind == "period doubling"
    assert doubling.multipliers[0] == pytest.approx(-1.0, abs=1e-8)
    assert all(p.stable == (p.value > doubling.value) for p in points if not p.kind)
    for point in (points[1], points[-2]):
        system, _ = stiffer(point.value)
        alone = ff.find_cycle(
            system, runner.map.state(point.numbers, runner.point.counts), "apex", FINE
        )
        assert alone.held["energy"] == pytest.approx(runner.held["energy"], rel=1e-10)
        assert point.multipliers == pytest.approx(alone.multipliers, abs=1e-7)


def test_gaits_over_their_energy_are_those_that_are_found_at_each(runner):
    """Down to the least energy a gait has, and on to the high ones, which are unstable."""
    follower = Follower.over_energy(runner, 1000.0, 2000.0)
    points = follower.follow(follower.begin(runner.point.flat, runner.held["energy"], -1.0), 60)
    (fold,) = (point for point in points if point.kind)
    assert fold.kind == "fold" and fold.value == min(point.value for point in points)
    assert fold.multipliers[0] == pytest.approx(1.0, abs=1e-7)
    turned = points.index(fold)
    assert all(p.stable for p in points[:turned])
    assert not any(p.stable for p in points[turned + 1 :])
    for point, guess in ((points[2], runner.state), (points[-1], None)):
        near = runner.map.state(point.numbers, runner.point.counts)
        alone = ff.find_cycle(SpringRunner(), guess or near, "apex", FINE, energy=point.value)
        assert alone.held["energy"] == pytest.approx(point.value, rel=1e-10)
        there, found = (np.array(jax.tree.leaves(state.x)) for state in (near, alone.state))
        assert there == pytest.approx(found, abs=1e-7)
        assert point.multipliers == pytest.approx(alone.multipliers, abs=1e-6)
    with pytest.raises(ValueError, match="is not conserved"):
        lossy = SpringRunner(damping=100.0, push=400.0)
        ff.find_cycle(lossy, SpringRunner.begin(), "apex", FINE, energy=1700.0)


@pytest.fixture(scope="module")
def classic():
    return ff.load(classics()["slip-runner"].with_suffix(".toml"), trust=True)


def test_designs_of_a_runner_that_loses_nothing_are_compared_at_one_energy(classic):
    """A heavier body at the same state has more of it: what a design is must not depend on where
    its search came from.
    """
    land = GaitLandscape(classic, {"mass": (70.0, 90.0)}, "apex")
    heavy = land.look(np.array([0.9]), land.pieces[0], None)
    again = land.look(np.array([0.9]), land.pieces[0], land.look(np.array([0.6]), None, heavy))
    assert heavy.memory.held["energy"] == pytest.approx(land.first.held["energy"], rel=1e-10)
    assert again.figures["mean_speed"] == pytest.approx(heavy.figures["mean_speed"], rel=1e-9)
    h = 1e-4
    low, high = (land.look(np.array([0.9 + side]), None, heavy) for side in (-h, h))
    # Central differences: the square of 2 g in 88 kg, and 1e-10 of the gait over it.
    difference = (high.figures["mean_speed"] - low.figures["mean_speed"]) / (2 * h)
    assert heavy.slopes["mean_speed"][0] == pytest.approx(difference, rel=1e-5)


def test_a_classic_is_followed_over_its_energy_by_that_name(classic):
    branch = follow(classic, "energy", 1000.0, 1900.0, event="apex", doublings=0)
    assert branch.unit == "J" and [point.kind for _, point in branch.special] == ["end", "fold"]
    with pytest.raises(ScenarioError, match=r"outside of 1800:1900.*Set the start"):
        follow(classic, "energy", 1800.0, 1900.0, event="apex")
    with pytest.raises(ScenarioError, match="does not conserve it"):
        ff.load("passive-wheel").follow("energy", 1.0, 100.0)
