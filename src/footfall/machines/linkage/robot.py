"""A robot from its linkage: flow, guards, jumps, stores, outputs, sketch and travel follow."""

import abc
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from footfall.hybrid.bound import Bound
from footfall.hybrid.doubt import MOST_FRICTION
from footfall.hybrid.fields import nearest
from footfall.hybrid.frame import Body
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import (
    AbstractHybridSystem,
    Event,
    HybridState,
    Jump,
    Rates,
    Travel,
    only_while,
)
from footfall.machines.linkage.chains import Posture, Tree, angle_of, length_of, tree_of
from footfall.machines.linkage.check_linkage import LinkageError, require_closed, require_sound
from footfall.machines.linkage.dynamics import (
    Inertia,
    Weight,
    energy,
    ground_force,
    height_energy,
    held_rows,
    impact,
    rates_of,
    solve_held,
    weights_of,
)
from footfall.machines.linkage.pieces import Landing, Linkage, Lock, Motor
from footfall.machines.linkage.structs import (
    ForceSignals,
    MotorSignals,
    StandingFoot,
    lean_class,
    mode_class,
    outputs_class,
    power_class,
    state_class,
    stores_class,
    work_class,
)
from footfall.machines.parts.friction.needed import friction_needed
from footfall.numerics.namespace import choose, negated
from footfall.numerics.scalar import Scalar
from footfall.scene.sketch import Arrow, Ball, Chart, Ground, Link, Shape, arrow_scale


class Motion(NamedTuple):
    """A linkage as it is now."""

    linkage: Linkage
    tree: Tree
    weights: list[Weight]
    posture: Posture

    @property
    def inertia(self) -> Inertia:
        return Inertia(self.posture, self.weights, self.weights)


class LinkageRobot(AbstractHybridSystem):
    """A planar robot that stands on one foot, declared by its `linkage`.

    Not modelled: flight, two feet on the ground, slip. A foot that would have to pull, or needs
    more friction than ground gives, makes a run doubtful. Theory: docs/theory/linkages.md.
    """

    @abc.abstractmethod
    def linkage(self) -> Linkage:
        """Its rods, joints, masses and events, of the robot's own numbers."""

    def torques(self, t: Scalar, x: Any, m: Any) -> Mapping[str, Scalar]:
        """What each motor gives, by name [N m, or N along a rod that slides]."""
        del t, x, m
        return {}

    def require_together(self) -> None:
        require_sound(self.linkage())

    # --- the state --------------------------------------------------------------------------------

    def standing(self, *, foothold: Scalar = 0.0, **given: Scalar) -> HybridState:
        """The state with these angles, lengths and rates, by name; rates not given are zero.

        Locks are open. A foot that is ahead already may land.
        """
        linkage = self.linkage()
        kind = _state_class(linkage)
        fields = list(kind.__dataclass_fields__)
        for name in given:
            if name not in fields:
                raise LinkageError(
                    f'"{name}" is no state. Known: {", ".join(fields)}.{nearest(name, fields)}',
                    name,
                )
        for name in fields:
            if name not in given and not name.endswith(("_rate", "_speed")):
                raise LinkageError(f'say what "{name}" is; only rates are zero by default.', name)
        x = kind(**{name: given.get(name, 0.0) for name in fields})
        posture = Posture.of(linkage, x)
        loops = tree_of(linkage).loops.items()
        require_closed(linkage, ((name, *posture.place(loop)) for name, loop in loops))
        flags = {f"{lock.name}_locked": np.int32(0) for lock in linkage.locks}
        for landing in _passing(linkage):
            ahead, _ = posture.place(tree_of(linkage).joints[landing.joint])
            flags[f"{landing.joint}_passed"] = choose(ahead >= landing.ahead, 1, 0) * np.int32(1)
        return HybridState(x, _mode_class(linkage)(foothold=foothold, steps=np.int32(0), **flags))

    def motion(self, x: Any) -> Motion:
        """Its linkage with everything that follows from the state."""
        linkage = self.linkage()
        tree = tree_of(linkage)
        return Motion(linkage, tree, weights_of(linkage, tree), Posture.of(linkage, x))

    def _place(self, now: Motion, m: Any, joint: str) -> tuple[Scalar, Scalar]:
        """House frame; the standing foot is on the ground."""
        x, z = now.posture.place(now.tree.joints[joint])
        return m.foothold + x, now.linkage.ground.height(m.foothold) + z

    # --- motion -----------------------------------------------------------------------------------

    def mass_matrix(self, x: Any) -> list[list[Scalar]]:
        """Of the coordinates, in the order of the state."""
        return self.motion(x).inertia.matrix()

    def accelerations(self, t: Scalar, x: Any, m: Any) -> tuple[Scalar, ...]:
        """Of the coordinates, in the order of the state."""
        return self._solved(self.motion(x), t, x, m)[0]

    def _solved(self, now: Motion, t: Scalar, x: Any, m: Any) -> tuple[Any, Any, Any]:
        """Accelerations, what holds locks and loops, and those."""
        held = held_rows(now.posture, now.tree, _locked(now.linkage, m))
        inertia, given = now.inertia, self._forces(now.linkage, t, x, m)
        right = [force - load for force, load in zip(given, inertia.loads(), strict=True)]
        found, forces = solve_held(inertia.matrix(), right, held)
        return found, forces, held

    def _forces(self, linkage: Linkage, t: Scalar, x: Any, m: Any) -> list[Scalar]:
        """Springs, dampers and motors, by coordinate."""
        forces: list[Scalar] = [0.0] * (len(linkage.turning) + len(linkage.sliding))
        given = self._motor_torques(linkage, t, x, m)
        for spring in linkage.springs:
            apart, _, where = _between(linkage, x, spring)
            _add(forces, where, -spring.stiffness * (apart - spring.rest))
        for damper in linkage.dampers:
            _, rate, where = _between(linkage, x, damper)
            _add(forces, where, -damper.damping * rate)
        for motor in linkage.motors:
            _add(forces, _between(linkage, x, motor)[2], given[motor.name])
        return forces

    def _motor_torques(self, linkage: Linkage, t: Scalar, x: Any, m: Any) -> Mapping[str, Scalar]:
        given, names = self.torques(t, x, m), [motor.name for motor in linkage.motors]
        if set(given) != set(names):
            raise LinkageError(
                f"`torques` gives {', '.join(given) or 'none'}; the motors are"
                f" {', '.join(names) or 'none'}."
            )
        return given

    def flow(self, t: Scalar, x: Any, m: Any) -> Rates:
        now = self.motion(x)
        linkage = now.linkage
        found, forces, held = self._solved(now, t, x, m)
        rates = rates_of(now.posture)
        dx = type(x)(*rates, *found)
        motors, dampers = (tuple(piece.name for piece in kind) for kind in _ports(linkage))
        if not (motors or dampers or held):
            return Rates(dx)
        given = self._motor_torques(linkage, t, x, m)
        power = {
            motor.name: given[motor.name] * _between(linkage, x, motor)[1]
            for motor in linkage.motors
        }
        for damper in linkage.dampers:
            rate = _between(linkage, x, damper)[1]
            power[damper.name] = -damper.damping * rate * rate
        if held:
            power["held"] = sum(
                force * sum(a * b for a, b in zip(row.row, rates, strict=True))
                for force, row in zip(forces, held, strict=True)
            )
        return Rates(dx, power_class(motors, dampers, bool(held))(**power))

    # --- events -----------------------------------------------------------------------------------

    @property
    def events(self) -> tuple[Event, ...]:
        linkage = self.linkage()
        landings = (
            Event(
                landing.name, f"{landing.joint} comes down and takes over", unit="m", contact=True
            )
            for landing in linkage.landings
        )
        passing = (
            Event(f"{p.joint}_passes", f"{p.joint} is ahead: from here on it may land", unit="m")
            for p in _passing(linkage)
        )
        locks = (
            Event(lock.name, f"{lock.bent} is in line with {lock.against}, and stays", unit="rad")
            for lock in linkage.locks
        )
        return (
            *landings,
            *locks,
            *passing,
            Event("falls", f"{linkage.body} is on the ground", outcome=Outcome.fell, unit="m"),
        )

    def guards(self, t: Scalar, x: Any, m: Any) -> tuple[Scalar, ...]:
        """[m] Height of what lands; [rad] how far a lock is bent; [m] height of the body."""
        now = self.motion(x)
        linkage = now.linkage
        closed = dict(zip((k.name for k in linkage.locks), _locked(linkage, m), strict=True))
        rooms = []
        for landing in linkage.landings:
            at, height = self._place(now, m, landing.joint)
            room = height - linkage.ground.height(at)
            if landing.ahead is not None:
                room = only_while(_passed(m, landing), room)
            for name in landing.locked:
                room = only_while(closed[name], room)
            rooms.append(room)
        for lock in linkage.locks:
            bent, _, _ = _between(linkage, x, Motor(lock.name, lock.bent, lock.against))
            rooms.append(only_while(negated(closed[lock.name]), bent))
        for landing in _passing(linkage):
            at, _ = now.posture.place(now.tree.joints[landing.joint])
            rooms.append(only_while(negated(_passed(m, landing)), landing.ahead - at))
        at, height = self._place(now, m, linkage.body)
        return (*rooms, height - linkage.ground.height(at))

    def jump(self, t: Scalar, x: Any, m: Any, k: int) -> Jump:
        now = self.motion(x)
        linkage = now.linkage
        impacts = (*linkage.landings, *linkage.locks)
        if k >= len(impacts):
            passing = _passing(linkage)[k - len(impacts)]
            return Jump(x, _with(m, {f"{passing.joint}_passed": m.steps * 0 + 1}))
        event, closed = impacts[k], _locked(linkage, m)
        if isinstance(event, Lock):
            pairs = zip(linkage.locks, closed, strict=True)
            closed = tuple(lock is event or on for lock, on in pairs)
        foot = now.tree.joints[event.joint] if isinstance(event, Landing) else {}
        rates, lost = impact(
            now.posture, now.weights, foot, held_rows(now.posture, now.tree, closed)
        )
        stopped = type(x)(*_coordinates(x), *rates)
        if isinstance(event, Lock):
            after, mode = stopped, {f"{event.name}_locked": m.steps * 0 + 1}
        else:
            after = _renamed(linkage, stopped, event)
            mode = {"foothold": self._place(now, m, event.joint)[0], "steps": m.steps + 1}
            mode |= {
                f"{lock.name}_locked": m.steps * 0
                for lock in linkage.locks
                if lock.opens == event.name
            }
            mode |= {f"{p.joint}_passed": m.steps * 0 for p in _passing(linkage)}
        return Jump(after, _with(m, mode), self._work(linkage, event.name, lost, x, after))

    def _work(self, linkage: Linkage, name: str, lost: Scalar, x: Any, after: Any) -> Any:
        impacts = tuple(event.name for event in (*linkage.landings, *linkage.locks))
        work = dict.fromkeys(impacts, 0.0 * lost) | {name: -lost}
        if linkage.springs:
            work["renamed_springs"] = sum(_spring_energies(linkage, after)) - sum(
                _spring_energies(linkage, x)
            )
        return work_class(impacts, bool(linkage.springs))(**work)

    # --- what can be seen -------------------------------------------------------------------------

    def stores(self, t: Scalar, x: Any, m: Any) -> Any:
        now = self.motion(x)
        linkage, ground = now.linkage, now.linkage.ground.height(m.foothold)
        names = tuple(spring.name for spring in linkage.springs)
        return stores_class(names)(
            energy(now.inertia.matrix(), rates_of(now.posture)),
            height_energy(now.posture, now.weights, ground),
            *_spring_energies(linkage, x),
        )

    def outputs(self, t: Scalar, x: Any, m: Any) -> Any:
        now = self.motion(x)
        linkage = now.linkage
        found, _, _ = self._solved(now, t, x, m)
        seen: dict[str, Any] = {}
        for joint in linkage.joints:
            if joint != linkage.stands_on:
                place, speed = (
                    self._place(now, m, joint),
                    now.posture.velocity(now.tree.joints[joint]),
                )
                seen[joint] = Body(*place, *speed)
        seen[linkage.stands_on] = self._foot(now, m, found)
        given = self._motor_torques(linkage, t, x, m)
        for motor in linkage.motors:
            kind = ForceSignals if motor.against is None else MotorSignals
            rate, torque = _between(linkage, x, motor)[1], given[motor.name]
            seen[motor.name] = kind(torque, rate, torque * rate)
        rods = tuple(rod.name for rod in linkage.rods)
        lean = lean_class(rods)(*(angle_of(linkage, x, r) for r in range(len(rods))))
        motors = tuple((motor.name, motor.against is None) for motor in linkage.motors)
        return outputs_class(linkage.joints, linkage.stands_on, motors)(lean=lean, **seen)

    def _foot(self, now: Motion, m: Any, found: tuple[Scalar, ...]) -> StandingFoot:
        ground = now.linkage.ground
        fx, fz = ground_force(now.posture, now.weights, found)
        slope = ground.slope(m.foothold)
        long = jnp.sqrt(1.0 + slope * slope)
        along, normal = (fx + slope * fz) / long, (fz - slope * fx) / long
        return StandingFoot(
            x=m.foothold + 0.0 * fx,
            z=ground.height(m.foothold) + 0.0 * fx,
            fx=fx,
            fz=fz,
            friction_needed=friction_needed(along, normal),
            push=normal,
        )

    def bounds(self) -> tuple[Bound, ...]:
        foot = self.linkage().stands_on
        pulls = Bound(
            "contact_pulls",
            f"{foot}.push",
            "least",
            lambda value, t: (
                f"the ground would have to pull with {-value:.3g} N at {t:.4g} s: the foot leaves"
                " it there, and the linkage has no flight; try to go slower"
            ),
            low=0.0,
            counter="steps",
        )
        slips = Bound(
            "needs_friction",
            f"{foot}.friction_needed",
            "peak",
            lambda value, t: (
                f"the foot needs a coefficient of friction of {value:.3g} at {t:.4g} s; try shorter"
                " steps"
            ),
            high=MOST_FRICTION,
            counter="steps",
        )
        return pulls, slips

    def _size(self, linkage: Linkage) -> Scalar:
        """Of its longest rod, for shapes."""
        lengths = [rod.length for rod in linkage.rods if rod.length is not None]
        if not lengths:
            return 1.0
        longest = lengths[0]
        for length in lengths[1:]:
            longest = jnp.maximum(longest, length)
        return longest

    def sketch(self) -> tuple[Shape, ...]:
        linkage = self.linkage()
        size = self._size(linkage)
        rods = (Link(rod.lower, rod.upper, rod.color) for rod in linkage.rods)
        balls = (Ball(mass.joint, (0.0, 0.0, 0.0), 0.06 * size, "body") for mass in linkage.masses)
        ground = Ground(linkage.ground.outline, height=linkage.ground.height)
        force = Arrow(linkage.stands_on, arrow_scale(0.5 * size, self._weight(linkage)))
        return (ground, *rods, *balls, force)

    def charts(self) -> tuple[Chart, ...]:
        linkage = self.linkage()
        foot, rods = linkage.stands_on, tuple(linkage.rods[r].name for r in linkage.lines)
        torques = tuple(f"{m.name}.torque" for m in linkage.motors if m.against is not None)
        return (
            Chart("Lean of the rods", tuple(f"lean.{rod}" for rod in rods), main=True, names=rods),
            Chart("Force on the standing foot", (f"{foot}.fx", f"{foot}.fz"), main=True),
            *((Chart("Torques", torques, main=True),) if torques else ()),
        )

    def _weight(self, linkage: Linkage) -> Scalar:
        masses = [rod.mass for rod in linkage.rods] + [mass.mass for mass in linkage.masses]
        return linkage.gravity * sum(masses[1:], masses[0])

    def travel(self) -> Travel:
        linkage = self.linkage()
        return Travel(
            f"{linkage.body}.x",
            ("steps",),
            self._weight(linkage),
            tuple(motor.name for motor in linkage.motors),
            friction=(f"{linkage.stands_on}.friction_needed",),
        )


def _state_class(linkage: Linkage) -> type:
    turning = tuple(linkage.rods[r].name for r in linkage.turning)
    return state_class(turning, tuple(linkage.rods[r].name for r in linkage.sliding))


def _mode_class(linkage: Linkage) -> type:
    locks = tuple(lock.name for lock in linkage.locks)
    return mode_class(locks, tuple(landing.joint for landing in _passing(linkage)))


def _ports(linkage: Linkage) -> tuple[Any, Any]:
    return linkage.motors, linkage.dampers


def _names(struct: Any) -> list[str]:
    return list(struct.__dataclass_fields__)


def _locked(linkage: Linkage, m: Any) -> tuple[Any, ...]:
    return tuple(getattr(m, f"{lock.name}_locked") == 1 for lock in linkage.locks)


def _passing(linkage: Linkage) -> list[Landing]:
    """Landings that are only ahead."""
    return [landing for landing in linkage.landings if landing.ahead is not None]


def _passed(m: Any, landing: Landing) -> Any:
    return getattr(m, f"{landing.joint}_passed") == 1


def _with(m: Any, changes: Mapping[str, Any]) -> Any:
    return type(m)(**{name: changes.get(name, getattr(m, name)) for name in _names(m)})


def _coordinates(x: Any) -> tuple[Scalar, ...]:
    names = _names(x)
    return tuple(getattr(x, name) for name in names[: len(names) // 2])


def _between(linkage: Linkage, x: Any, piece: Any) -> tuple[Scalar, Scalar, dict[int, float]]:
    """How far apart the two rods of a piece are, the rate of that, and which coordinates it is."""
    on = linkage.index(piece.on)
    if piece.against is None:
        name = piece.on
        j = len(linkage.turning) + linkage.sliding.index(on)
        return getattr(x, f"{name}_length"), getattr(x, f"{name}_speed"), {j: 1.0}
    against = linkage.index(piece.against)
    hosts = [linkage.host(on), linkage.host(against)]
    rates = [getattr(x, f"{linkage.rods[host].name}_rate") for host in hosts]
    where = {linkage.turning.index(hosts[0]): 1.0, linkage.turning.index(hosts[1]): -1.0}
    return angle_of(linkage, x, on) - angle_of(linkage, x, against), rates[0] - rates[1], where


def _add(forces: list[Scalar], where: Mapping[int, float], force: Scalar) -> None:
    for j, sign in where.items():
        forces[j] = forces[j] + (force if sign > 0 else -force)


def _spring_energies(linkage: Linkage, x: Any) -> list[Scalar]:
    energies = []
    for spring in linkage.springs:
        apart = _between(linkage, x, spring)[0] - spring.rest
        energies.append(0.5 * spring.stiffness * apart * apart)
    return energies


def _renamed(linkage: Linkage, x: Any, landing: Landing) -> Any:
    """Every rod is what the other of its pair was."""
    partner = {a: b for one, other in landing.swaps for a, b in ((one, other), (other, one))}
    given = {}
    for r in linkage.turning:
        name = linkage.rods[r].name
        old = linkage.index(partner.get(name, name))
        given[name] = angle_of(linkage, x, old)
        given[f"{name}_rate"] = getattr(x, f"{linkage.rods[linkage.host(old)].name}_rate")
    for r in linkage.sliding:
        name = linkage.rods[r].name
        old = partner.get(name, name)
        given[f"{name}_length"] = length_of(linkage, x, linkage.index(old))
        given[f"{name}_speed"] = getattr(x, f"{old}_speed")
    return type(x)(**given)
