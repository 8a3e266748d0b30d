"""Equations of motion of a linkage, its impacts and the forces that hold it.

With the columns J_i of every mass m_i and the rates q' of the coordinates

    M = sum m_i J_i^T J_i + inertias,   M q'' = sum of forces - sum m_i J_i^T (b_i + g) + J^T f
    J q'' = - J' q'  for what is held: locks and loops                                (linkage.2)

The standing foot is the origin of every J_i: what holds it takes no equation. An impact stops the
new foot, which is then the origin; what is kept is the momentum along every motion that is left,
M q'+ = sum m_i J_i^T v_i-, plus the impulses of what is held (linkage.3). That is the least change
in the kinetic metric, so the energy of the change is what it takes.

Sums over masses come before directions: with the reaches a_ir of mass i along rod r, the product of
two columns is sum_i m_i a_ir a_is times the cosine or sine between the rods r and s.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from footfall.machines.linkage.chains import Point, Posture, Tree, Vector, less, moved, signed
from footfall.machines.linkage.pieces import Linkage
from footfall.numerics.namespace import choose
from footfall.numerics.scalar import Scalar
from footfall.numerics.small_solve import solve_spd, solve_spd_each


class Weight(NamedTuple):
    """A mass and where it is."""

    mass: Scalar
    point: Point


class Held(NamedTuple):
    """One number that a constraint keeps: the row of its Jacobian, what row q'' is, if it is on."""

    row: tuple[Scalar, ...]
    target: Scalar
    on: Any  #: truth value; True for what always holds


def weights_of(linkage: Linkage, tree: Tree) -> list[Weight]:
    """All masses, seen from the standing joint."""
    rods = [
        Weight(rod.mass, moved(tree.joints[rod.lower], r, 0, _centre(rod)))
        for r, rod in enumerate(linkage.rods)
        if not _none(rod.mass)
    ]
    return rods + [Weight(mass.mass, tree.joints[mass.joint]) for mass in linkage.masses]


def _centre(rod: Any) -> Scalar:
    return 0.5 * rod.length if rod.centre is None else rod.centre


def seen_from(joint: Point, weights: Sequence[Weight]) -> list[Weight]:
    """The same masses with another joint as the origin."""
    return [Weight(weight.mass, less(weight.point, joint)) for weight in weights]


def spins_of(linkage: Linkage) -> dict[int, Scalar]:
    """Inertia that turns with each coordinate."""
    found: dict[int, Scalar] = {}
    turning = [(rod.inertia, r) for r, rod in enumerate(linkage.rods)] + [
        (mass.inertia, linkage.index(mass.turns_with))
        for mass in linkage.masses
        if mass.turns_with is not None
    ]
    for inertia, r in turning:
        if not _none(inertia):
            j = linkage.turning.index(linkage.host(r))
            found[j] = found[j] + inertia if j in found else inertia
    return found


class Way(NamedTuple):
    """How a coordinate moves what is beyond a rod: it turns it, or lengthens it."""

    line: int  #: the rod whose direction it is
    turns: bool


def ways_of(linkage: Linkage) -> list[list[Way]]:
    """Of each coordinate; a rod turns those that are welded to it, too."""
    turns = [
        [Way(line, True) for line in linkage.lines if linkage.host(line) == host]
        for host in linkage.turning
    ]
    return turns + [[Way(r, False)] for r in linkage.sliding]


class Inertia:
    """Products of the columns of one set of masses with those of another, or the same, set.

    Two sets are the same masses seen from two feet.
    """

    def __init__(self, posture: Posture, left: Sequence[Weight], right: Sequence[Weight]):
        self.posture, self.same = posture, left is right
        self.masses = [weight.mass for weight in left]
        self.left, self.right = self._reaches(left), self._reaches(right)
        self.ways, self.known = ways_of(posture.linkage), {}

    def _reaches(self, weights: Sequence[Weight]) -> list[dict[Way, Scalar]]:
        """Of each mass: how far it is along each line, and how many lengths of rods that slide."""
        linkage, found = self.posture.linkage, []
        for weight in weights:
            reaches: dict[Way, Scalar] = {}
            for r, reach in weight.point.items():
                far = Way(linkage.line(r), True)
                reaches[far] = _total((reaches.get(far, 0.0), self.posture.amount(r, reach)))
                if linkage.rods[r].slides:
                    reaches[Way(r, False)] = float(reach.lengths)
            found.append(reaches)
        return found

    def matrix(self) -> list[list[Scalar]]:
        """sum m_i J_i^T J_i + inertias."""
        spins, size = spins_of(self.posture.linkage), len(self.ways)
        rows: list[list[Scalar]] = [[0.0] * size for _ in range(size)]
        for j in range(size):
            for k in range(j + 1 if self.same else size):
                start = spins.get(j, 0.0) if j == k else 0.0
                pairs = ((a, b) for a in self.ways[j] for b in self.ways[k])
                products = (_times(self.moment(a, b), self._between(a, b)) for a, b in pairs)
                rows[j][k] = _total(products, start)
                if self.same:
                    rows[k][j] = rows[j][k]
        return rows

    def loads(self) -> list[Scalar]:
        """sum m_i J_i^T (b_i + g): what the rates and the weight ask for, by coordinate."""
        return [_total(part for way in ways for part in self._load(way)) for ways in self.ways]

    def _load(self, a: Way) -> Iterable[Scalar]:
        posture, linkage = self.posture, self.posture.linkage
        for line in linkage.lines:
            rate, far, near = posture.rates[line], Way(line, True), Way(line, False)
            pull = _times(self.moment(a, far), self._between(a, near))
            yield _times(pull, -rate * rate)
            if linkage.rods[line].slides:
                pull = _times(self.moment(a, near), self._between(a, far))
                yield _times(pull, 2.0 * posture.speeds[line] * rate)
        up = -posture.sines[a.line] if a.turns else posture.cosines[a.line]
        yield _times(_times(self.first(a), up), linkage.gravity)

    def first(self, a: Way) -> Scalar:
        """sum of m_i a_i."""
        reaches = (reach.get(a, 0.0) for reach in self.left)
        return _total(_times(m, reach) for m, reach in zip(self.masses, reaches, strict=True))

    def moment(self, a: Way, b: Way) -> Scalar:
        """sum of m_i a_i b_i."""
        if self.same and b < a:
            a, b = b, a
        if (a, b) not in self.known:
            self.known[a, b] = _total(
                _times(_times(mass, left.get(a, 0.0)), right.get(b, 0.0))
                for mass, left, right in zip(self.masses, self.left, self.right, strict=True)
            )
        return self.known[a, b]

    def _between(self, a: Way, b: Way) -> Scalar:
        """Direction times direction: 0.0 where they are at right angles by structure."""
        if a.line == b.line:
            return 1.0 if a.turns == b.turns else 0.0
        s, c = self.posture.sines, self.posture.cosines
        if a.turns == b.turns:
            return c[a.line] * c[b.line] + s[a.line] * s[b.line]
        turns, slides = (a, b) if a.turns else (b, a)
        return c[turns.line] * s[slides.line] - s[turns.line] * c[slides.line]


def held_rows(posture: Posture, tree: Tree, locked: Sequence[Any]) -> list[Held]:
    """Locks that are closed, and loops."""
    linkage = posture.linkage
    size = len(linkage.turning) + len(linkage.sliding)
    rows = []
    for lock, on in zip(linkage.locks, locked, strict=True):
        row = [0.0] * size
        for name, sign in ((lock.bent, 1.0), (lock.against, -1.0)):
            row[linkage.turning.index(linkage.host(linkage.index(name)))] += sign
        rows.append(Held(tuple(row), 0.0, on))
    for loop in tree.loops.values():
        columns, bias = posture.columns(loop), posture.bias(loop)
        for axis in (0, 1):
            row = [columns[j][axis] if j in columns else 0.0 for j in range(size)]
            rows.append(Held(tuple(row), -bias[axis], True))
    return rows


def solve_held(
    matrix: list[list[Scalar]], right: Sequence[Scalar], held: Sequence[Held]
) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
    """(v, f) of M v = right + J^T f, J v = target: the KKT equations, by their Schur complement.

    A row that is off has f = 0.
    """
    free, *moves = solve_spd_each(matrix, (right, *(row.row for row in held)))
    if not held:
        return free, ()
    gaps = [choose(h.on, h.target - _along(h.row, free), 0.0) for h in held]
    among = [
        [
            choose(_both(a.on, b.on), _along(a.row, move), 1.0 if i == j else 0.0)
            for j, (b, move) in enumerate(zip(held, moves, strict=True))
        ]
        for i, a in enumerate(held)
    ]
    forces = solve_spd(among, gaps)
    found = free
    for force, move in zip(forces, moves, strict=True):
        found = tuple(v + force * change for v, change in zip(found, move, strict=True))
    return found, forces


class Impact(NamedTuple):
    """Rates of the coordinates just after, and the energy that is gone."""

    rates: tuple[Scalar, ...]
    lost: Scalar


def impact(before: Posture, weights: Sequence[Weight], foot: Point, held: Sequence[Held]) -> Impact:
    """`foot` stops on the ground, the old foot leaves it (linkage.3).

    The standing foot itself, {}, stops what is held from now on and nothing else. What is lost is
    the kinetic energy of the change of all velocities.
    """
    landed = seen_from(foot, weights) if foot else weights
    rates = rates_of(before)
    old = Inertia(before, weights, weights).matrix()
    new, both = old, old
    if foot:
        new, both = (Inertia(before, landed, w).matrix() for w in (landed, weights))
    still = [Held(row.row, 0.0, row.on) for row in held]
    after, _ = solve_held(new, [_along(row, rates) for row in both], still)
    if not foot:
        change = [b - a for a, b in zip(rates, after, strict=True)]
        return Impact(after, energy(old, change))
    shared = _along(after, [_along(row, rates) for row in both])
    return Impact(after, energy(old, rates) + energy(new, after) - shared)


def rates_of(posture: Posture) -> list[Scalar]:
    """Of the coordinates."""
    linkage = posture.linkage
    turns = [posture.rates[r] for r in linkage.turning]
    return turns + [posture.speeds[r] for r in linkage.sliding]


def energy(matrix: list[list[Scalar]], rates: Sequence[Scalar]) -> Scalar:
    """Kinetic energy of these rates."""
    return 0.5 * _along([_along(row, rates) for row in matrix], rates)


def height_energy(posture: Posture, weights: Sequence[Weight], ground: Scalar) -> Scalar:
    """Weights times heights, with the standing foot at the height of the ground."""
    inertia = Inertia(posture, weights, weights)
    parts = [_times(inertia.first(Way(r, True)), posture.cosines[r]) for r in posture.linkage.lines]
    mass = _total(weight.mass for weight in weights)
    return posture.linkage.gravity * _total(parts, mass * ground)


def ground_force(
    posture: Posture, weights: Sequence[Weight], accelerations: Sequence[Scalar]
) -> Vector:
    """On the robot at its standing foot: what its masses need besides their weight."""
    linkage, inertia = posture.linkage, Inertia(posture, weights, weights)
    mass = _total(weight.mass for weight in weights)
    fx, fz = [0.0], [mass * linkage.gravity]
    for r in linkage.lines:
        s, c, rate = posture.sines[r], posture.cosines[r], posture.rates[r]
        far = inertia.first(Way(r, True))
        turn = accelerations[linkage.turning.index(linkage.host(r))]
        along, across = _times(far, -rate * rate), _times(far, turn)
        if linkage.rods[r].slides:
            near = inertia.first(Way(r, False))
            stretch = accelerations[len(linkage.turning) + linkage.sliding.index(r)]
            along = _total((along, _times(near, stretch)))
            across = _total((across, _times(near, 2.0 * posture.speeds[r] * rate)))
        fx += [_times(along, s), _times(across, c)]
        fz += [_times(along, c), _times(across, -s)]
    return _total(fx), _total(fz)


def _along(row: Sequence[Scalar], vector: Sequence[Scalar]) -> Scalar:
    return _total(_times(a, b) for a, b in zip(row, vector, strict=True))


def _both(one: Any, other: Any) -> Any:
    return other if one is True else one if other is True else one & other


def _total(parts: Iterable[Scalar], start: Scalar = 0.0) -> Scalar:
    """The sum, zeros by structure left out."""
    given = [part for part in (start, *parts) if not _none(part)]
    return functools.reduce(lambda a, b: a + b, given) if given else 0.0


def _times(a: Scalar, b: Scalar) -> Scalar:
    """The product, without one for numbers that are zero, one or minus one by structure."""
    if _none(a) or _none(b):
        return 0.0
    for one, other in ((a, b), (b, a)):
        if type(one) is float and abs(one) == 1.0:
            return signed(int(one), other)
    return a * b


def _none(value: Scalar) -> bool:
    return type(value) is float and value == 0.0  # a number that only happens to be zero counts
