"""Whether a linkage can be: names that are known, mass that moves, swaps that fit.

Numbers are looked at where they are plain; inside a compiled function nothing is known of them.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from footfall.hybrid.fields import ParameterError, nearest
from footfall.machines.linkage.chains import tree_of
from footfall.machines.linkage.dynamics import spins_of, weights_of
from footfall.machines.linkage.pieces import Linkage, Rod
from footfall.numerics.scalar import Scalar


class LinkageError(ParameterError):
    """A linkage that cannot be, or a start (of which `field` is wrong) in which it cannot stand."""

    def __init__(self, message: str, field: str = ""):
        super().__init__(message if field else f"linkage: {message}", field or "linkage")


def require_sound(linkage: Linkage) -> None:
    """Raises LinkageError with what is wrong, what is known and what to try."""
    _names(linkage)
    _connected(linkage)
    _numbers(linkage)
    _swaps(linkage)
    _massive(linkage)


def _names(linkage: Linkage) -> None:
    rods, joints = [rod.name for rod in linkage.rods], linkage.joints
    if not rods:
        raise LinkageError("it has no rods; the least is one, on which the robot stands.")
    pieces = [piece.name for piece in (*linkage.between(), *linkage.landings, *linkage.locks)]
    for what, names in (("rods", rods), ("springs, motors, landings and locks", pieces)):
        for name in names:
            if names.count(name) > 1:
                raise LinkageError(f'two {what} are called "{name}"; names are columns.')
    groups = [*joints, *(motor.name for motor in linkage.motors)]
    for name in (*groups, *pieces):
        if not name.isidentifier() or name == "lean" or groups.count(name) > 1:
            raise LinkageError(
                f'"{name}" is no name for a joint or piece: it is to be one word, not "lean", that'
                " no other has."
            )
    for rod in linkage.rods:
        if not rod.name.isidentifier():
            raise LinkageError(f'"{rod.name}" is no name for a rod: letters, digits and _.')
        if rod.lower == rod.upper:
            raise LinkageError(f'rod "{rod.name}" begins and ends at "{rod.lower}".')
        if rod.welded is not None:
            _known(f'rod "{rod.name}" is welded to', rod.welded, rods, "rods")
            if rod.slides:
                raise LinkageError(f'rod "{rod.name}" is welded and slides: it can do one.')
        if rod.slides and rod.centre is None and not _is(rod.mass, 0.0):
            raise LinkageError(
                f'rod "{rod.name}" slides and has mass: say where, `centre` from {rod.lower}.'
            )
    for start in linkage.rods:
        seen, rod = {start.name}, start
        while rod.welded is not None:
            rod = linkage.rods[linkage.index(rod.welded)]
            if rod.name in seen:
                raise LinkageError(f'rod "{start.name}" is welded to itself, by others.')
            seen.add(rod.name)
    _known("it stands on", linkage.stands_on, joints, "joints")
    _known("its body is", linkage.body, joints, "joints")
    for mass in linkage.masses:
        _known("a mass is at", mass.joint, joints, "joints")
        if mass.turns_with is not None:
            _known(f'the mass at "{mass.joint}" turns with', mass.turns_with, rods, "rods")
        elif not _is(mass.inertia, 0.0):
            raise LinkageError(
                f'the mass at "{mass.joint}" has an inertia: say which rod it turns_with.'
            )
    for landing in linkage.landings:
        _known(f'landing "{landing.name}" is of', landing.joint, joints, "joints")
        if landing.joint == linkage.stands_on:
            raise LinkageError(
                f'landing "{landing.name}" is of "{landing.joint}", which stands already; name the'
                " joint that comes down."
            )
        for name in (name for pair in landing.swaps for name in pair):
            _known(f'landing "{landing.name}" swaps', name, rods, "rods")
        for name in landing.locked:
            _known(
                f'landing "{landing.name}" needs', name, [k.name for k in linkage.locks], "locks"
            )
    for lock in linkage.locks:
        for name in (lock.bent, lock.against):
            _known(f'lock "{lock.name}" is of', name, rods, "rods")
        landings = [landing.name for landing in linkage.landings]
        _known(f'lock "{lock.name}" opens at', lock.opens, landings, "landings")
    for piece in linkage.between():
        kind = type(piece).__name__.lower()
        for name in (piece.on, piece.against):
            if name is not None:
                _known(f'{kind} "{piece.name}" acts on', name, rods, "rods")
        if piece.against is None and not linkage.rods[linkage.index(piece.on)].slides:
            raise LinkageError(
                f'{kind} "{piece.name}" acts on "{piece.on}" against nothing: name the other rod;'
                " only along a rod that slides (length=None) there is none."
            )


def _known(what: str, name: str, known: Sequence[str], kind: str) -> None:
    if name not in known:
        listed = ", ".join(known) or "none"
        raise LinkageError(f'{what} "{name}". Known {kind}: {listed}.{nearest(name, known)}')


def _connected(linkage: Linkage) -> None:
    reached = tree_of(linkage).joints
    for rod in linkage.rods:
        if rod.lower not in reached:
            raise LinkageError(
                f'rod "{rod.name}", from "{rod.lower}" to "{rod.upper}", hangs on nothing: no rod'
                f' leads there from "{linkage.stands_on}". Known joints of the rest:'
                f" {', '.join(reached)}."
            )


def _numbers(linkage: Linkage) -> None:
    bounded = [(f'length of rod "{rod.name}"', rod.length, False) for rod in linkage.rods]
    for rod in linkage.rods:
        bounded += [(f'{what} of rod "{rod.name}"', getattr(rod, what), True) for what in _LOADS]
    for mass in linkage.masses:
        bounded += [(f'{what} at "{mass.joint}"', getattr(mass, what), True) for what in _LOADS]
    for what, value, zero in bounded:
        if value is not None and _plain(value):
            least = float(np.min(value))
            if least < 0.0 or not (zero or least > 0.0):
                need = ">= 0" if zero else "> 0"
                raise LinkageError(f"{what} = {least:g} is out of range: it must be {need}.")


_LOADS = ("mass", "inertia")


def _swaps(linkage: Linkage) -> None:
    """After the names are exchanged the standing foot must be the joint that landed."""
    for landing in linkage.landings:
        partner: dict[str, str] = {}
        for one, other in landing.swaps:
            if one in partner or other in partner or one == other:
                raise LinkageError(
                    f'landing "{landing.name}" swaps "{one}" and "{other}": each rod has one other.'
                )
            partner |= {one: other, other: one}
            _alike(landing.name, *(linkage.rods[linkage.index(name)] for name in (one, other)))
        stands = [
            (rod, end)
            for rod in linkage.rods
            for end in ("lower", "upper")
            if getattr(rod, end) == linkage.stands_on
        ]
        for rod, end in stands:
            other = linkage.rods[linkage.index(partner.get(rod.name, rod.name))]
            if getattr(other, end) != landing.joint:
                raise LinkageError(
                    f'after landing "{landing.name}" the robot should stand on "{landing.joint}",'
                    f' and rod "{rod.name}" is then what "{other.name}" was, whose {end} joint is'
                    f' "{getattr(other, end)}". Swap "{rod.name}" with the rod that lands, given'
                    f" with the foot at its {end} end."
                )


def _alike(landing: str, one: Rod, other: Rod) -> None:
    """Two rods that exchange their names have to be alike."""
    if one.slides != other.slides:
        raise LinkageError(
            f'landing "{landing}" swaps "{one.name}" and "{other.name}", of which one slides.'
        )
    for what in ("length", "mass", "centre", "inertia"):
        a, b = getattr(one, what), getattr(other, what)
        both = a is not None and b is not None and _plain(a) and _plain(b)
        if (a is None) != (b is None) or (both and not np.allclose(a, b, rtol=1e-12, atol=0.0)):
            raise LinkageError(
                f'landing "{landing}" swaps "{one.name}" and "{other.name}", which are not alike:'
                f" {what} {a} and {b}. Make them alike: after the landing each is what the other"
                " was."
            )


def _massive(linkage: Linkage) -> None:
    """Every coordinate has to move some mass: nothing else says how it accelerates."""
    tree = tree_of(linkage)
    weights, spins = weights_of(linkage, tree), spins_of(linkage)
    for j, r in enumerate((*linkage.turning, *linkage.sliding)):
        slides = j >= len(linkage.turning)
        moved: list[Scalar] = [] if slides else [spins.get(j, 0.0)]
        for weight in weights:
            for k, reach in weight.point.items():
                if slides and k == r:
                    moved.append(weight.mass * reach.lengths**2)
                elif not slides and linkage.host(k) == r:
                    length = linkage.rods[k].length
                    arm = reach.more if length is None else reach.lengths * length + reach.more
                    moved.append(weight.mass * (1.0 if length is None else arm * arm))
        if all(_plain(value) for value in moved) and not np.all(sum(moved) > 0):
            name = linkage.rods[r].name
            raise LinkageError(
                f'rod "{name}" moves no mass, so nothing says how fast it'
                f" {'slides' if slides else 'turns'}: give it a mass (not at"
                f' "{linkage.stands_on}"), an inertia, or a Mass at its end; or weld it.'
            )


def require_closed(linkage: Linkage, gaps: Iterable[tuple[str, Scalar, Scalar]]) -> None:
    """Raises where a loop does not close: (rod, gap forward, gap up)."""
    for name, dx, dz in gaps:
        if _plain(dx) and _plain(dz):
            gap = float(np.max(np.hypot(dx, dz)))
            longest = max(float(np.max(rod.length)) for rod in linkage.rods if _plain(rod.length))
            if gap > 1e-9 * longest:
                rod = linkage.rods[linkage.index(name)]
                raise LinkageError(
                    f'the loop that rod "{name}" closes is open by {gap:.4g} m: from "{rod.lower}"'
                    f' at these angles it does not end at "{rod.upper}". Choose angles that close'
                    f" it (to 1e-9 of the longest rod), or lengths that can.",
                    name,
                )


def _plain(value: object) -> bool:
    return isinstance(value, int | float | np.ndarray | np.generic)


def _is(value: object, number: float) -> bool:
    return _plain(value) and bool(np.all(np.asarray(value) == number))
