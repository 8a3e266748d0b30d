"""Where the points of a linkage are: sums of rods, from a joint that stands on the ground.

A point is a sum of reaches along rods, P = sum over rods of a_r u_r with u_r = (sin, cos) of the
rod's angle and a_r = k_r l_r + d_r, k_r being -1, 0 or 1. Its velocity, the columns of its
Jacobian and what it accelerates by without accelerations of the coordinates follow from

    u' = w n,  n = (cos, -sin),  n' = -w u                                              (linkage.1)

A number that is zero by structure is left out, not multiplied with.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from footfall.machines.linkage.pieces import Linkage
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos

Vector: TypeAlias = tuple[Scalar, Scalar]


class Reach(NamedTuple):
    """How far a point is along one rod: `lengths` times its length, and `more`."""

    lengths: int
    more: Scalar = 0.0


Point: TypeAlias = Mapping[int, Reach]


class Tree(NamedTuple):
    """Every joint as a point, from the standing one, and the loops that close."""

    joints: dict[str, Point]
    loops: dict[str, Point]  #: by the rod that closes it: upper end less the joint it ends at


def moved(point: Point, r: int, lengths: int, more: Scalar = 0.0) -> Point:
    """A point so much further along rod r."""
    had = point.get(r, Reach(0))
    further = more if _none(had.more) else had.more if _none(more) else had.more + more
    reach = Reach(had.lengths + lengths, further)
    rest = {k: v for k, v in point.items() if k != r}
    return rest if reach.lengths == 0 and _none(reach.more) else {**rest, r: reach}


def less(point: Point, other: Point) -> Point:
    """One point as seen from another; both are joints."""
    for r, reach in other.items():
        point = moved(point, r, -reach.lengths, 0.0 if _none(reach.more) else -reach.more)
    return point


def tree_of(linkage: Linkage) -> Tree:
    """Joint by joint from the standing one; rods that join two known joints close loops.

    Rods that hang on nothing are left out, and found missing by whoever checks the linkage.
    """
    joints: dict[str, Point] = {linkage.stands_on: {}}
    loops: dict[str, Point] = {}
    left = list(range(len(linkage.rods)))
    while touching := [
        r for r in left if {linkage.rods[r].lower, linkage.rods[r].upper} & joints.keys()
    ]:
        r = touching[0]
        rod = linkage.rods[r]
        left.remove(r)
        if rod.upper not in joints:
            joints[rod.upper] = moved(joints[rod.lower], r, 1)
        elif rod.lower not in joints:
            joints[rod.lower] = moved(joints[rod.upper], r, -1)
        else:
            loops[rod.name] = less(moved(joints[rod.lower], r, 1), joints[rod.upper])
    return Tree(joints, loops)


class Posture(NamedTuple):
    """Of every rod: sine and cosine of its angle, its rate, its length and the rate of that."""

    linkage: Linkage
    sines: tuple[Scalar, ...]
    cosines: tuple[Scalar, ...]
    rates: tuple[Scalar, ...]
    lengths: tuple[Scalar, ...]
    speeds: tuple[Scalar, ...]

    @classmethod
    def of(cls, linkage: Linkage, x: Any) -> "Posture":
        """From the state, whose fields are named after the rods."""
        rods = linkage.rods
        hosts = [rods[linkage.host(r)].name for r in range(len(rods))]
        lines = {r: sincos(angle_of(linkage, x, r)) for r in linkage.lines}
        turns = [lines[linkage.line(r)] for r in range(len(rods))]
        return cls(
            linkage,
            tuple(s for s, _ in turns),
            tuple(c for _, c in turns),
            tuple(getattr(x, f"{host}_rate") for host in hosts),
            tuple(length_of(linkage, x, r) for r in range(len(rods))),
            tuple(getattr(x, f"{rod.name}_speed") if rod.slides else 0.0 for rod in rods),
        )

    def amount(self, r: int, reach: Reach) -> Scalar:
        """[m] How far along the rod."""
        if reach.lengths == 0:
            return reach.more
        length = signed(reach.lengths, self.lengths[r])
        return length if _none(reach.more) else reach.more + length

    def place(self, point: Point) -> Vector:
        """From the standing joint."""
        return _sum(self._along(r, self.amount(r, reach)) for r, reach in point.items())

    def velocity(self, point: Point) -> Vector:
        parts = [
            self._across(r, self.amount(r, reach) * self.rates[r]) for r, reach in point.items()
        ]
        parts += [
            self._along(r, signed(reach.lengths, self.speeds[r]))
            for r, reach in point.items()
            if self._stretches(r, reach)
        ]
        return _sum(parts)

    def bias(self, point: Point) -> Vector:
        """Its acceleration where those of the coordinates are zero."""
        parts = []
        for r, reach in point.items():
            rate = self.rates[r]
            parts.append(self._along(r, -self.amount(r, reach) * rate * rate))
            if self._stretches(r, reach):
                parts.append(self._across(r, 2.0 * signed(reach.lengths, self.speeds[r]) * rate))
        return _sum(parts)

    def columns(self, point: Point) -> dict[int, Vector]:
        """d place / d coordinate, for each coordinate that moves the point."""
        turning, sliding = self.linkage.turning, self.linkage.sliding
        found: dict[int, list[Vector]] = {}
        for r, reach in point.items():
            turns = turning.index(self.linkage.host(r))
            found.setdefault(turns, []).append(self._across(r, self.amount(r, reach)))
            if self._stretches(r, reach):
                slides = len(turning) + sliding.index(r)
                found.setdefault(slides, []).append(self._along(r, float(reach.lengths)))
        return {j: _sum(vectors) for j, vectors in found.items()}

    def _stretches(self, r: int, reach: Reach) -> bool:
        return self.linkage.rods[r].slides and reach.lengths != 0

    def _along(self, r: int, amount: Scalar) -> Vector:
        return amount * self.sines[r], amount * self.cosines[r]

    def _across(self, r: int, amount: Scalar) -> Vector:
        return amount * self.cosines[r], -amount * self.sines[r]


def angle_of(linkage: Linkage, x: Any, r: int) -> Scalar:
    """Of rod r, whoever turns it."""
    angle, turned = getattr(x, linkage.rods[linkage.host(r)].name), linkage.turned(r)
    return angle if _none(turned) else angle + turned


def length_of(linkage: Linkage, x: Any, r: int) -> Scalar:
    """Of rod r."""
    length = linkage.rods[r].length
    return getattr(x, f"{linkage.rods[r].name}_length") if length is None else length


def signed(sign: int, value: Scalar) -> Scalar:
    """sign times value, without a product for 1 and -1."""
    return value if sign == 1 else -value if sign == -1 else sign * value


def _sum(vectors: Any) -> Vector:
    vectors = list(vectors)
    if not vectors:
        return 0.0, 0.0
    x, z = vectors[0]
    for dx, dz in vectors[1:]:
        x, z = x + dx, z + dz
    return x, z


def _none(value: Scalar) -> bool:
    return type(value) is float and value == 0.0  # a number that only happens to be zero counts
