"""What a plan of footsteps costs: time, peak torques, energy, efficiency, margins, at rest and in motion, for one plan or thousands.

Equal footsteps are computed once and counted. Nothing is simulated: along a plan everything is known. What happens in one instant of one
footstep is written once; it is reduced over the samples of a move as one array (XLA, derivatives) or in a loop (a kernel).
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from footfall.hybrid.motion_plan import Figure, Kernel
from footfall.hybrid.outcome import Outcome
from footfall.mechanics.two_leg import Effort, Limbs, Pose, balance, bodies, effort, pose, reach_left
from footfall.models.two_leg_course import Footstep
from footfall.models.two_leg_moves import MOVES, feet_at, legs_of
from footfall.models.two_leg_reach import STRETCHED
from footfall.models.two_leg_route import blocks_of, parse_route
from footfall.numerics.scalar import Scalar
from footfall.parts.actuators.base import AbstractMotor
from footfall.parts.actuators.motors import IdealMotor
from footfall.parts.gaits.inchworm import InchwormGait

if TYPE_CHECKING:
    from footfall.models.two_leg_walker import TwoLegWalker


class Side(NamedTuple):
    """One way to reckon: at rest in every pose, or in motion."""

    peak_torque: tuple[Scalar, Scalar, Scalar]  #: N m, largest |tau| of each motor
    energy: tuple[Scalar, Scalar, Scalar]  #: J, of each motor while it drives
    returned: tuple[Scalar, Scalar, Scalar]  #: J, of each motor while it brakes, positive
    electrical: Scalar  #: J, all motors with the heat of their windings, less what comes back
    least_zmp: Scalar  #: m, zero-moment point from the support ankle
    most_zmp: Scalar


class Figures(NamedTuple):
    """Of an instant, a footstep or a whole plan."""

    time: Scalar
    gain: Scalar  #: J, change of the potential energy
    static: Side
    dynamic: Side
    peak_kinetic: Scalar
    least_pressure: Scalar  #: N, force of the ground under the foot that stands
    peak_turn_acceleration: tuple[Scalar, Scalar, Scalar]  #: rad/s^2
    least_reach: Scalar  #: m, how far from stretched the knee stays; negative: unreachable
    liftoff: Scalar  #: the square of how much faster the gait may be before a foot that is not held lifts off
    tip: Scalar  #: ... before it tips over its foot's ends


class Rule(NamedTuple):
    """How a figure of a whole comes from those of its parts."""

    fold: Any  #: two into one
    over: Any  #: an axis into one
    nothing: float  #: the figure of no part at all


_SUM, _MOST, _LEAST = Rule(jnp.add, jnp.sum, 0.0), Rule(jnp.maximum, jnp.max, -np.inf), Rule(jnp.minimum, jnp.min, np.inf)
_LARGEST = _MOST._replace(nothing=0.0)  # of what is never negative
_SIDE = Side((_LARGEST,) * 3, (_SUM,) * 3, (_SUM,) * 3, _SUM, _LEAST, _MOST)
RULES = Figures(_SUM, _SUM, _SIDE, _SIDE, _LARGEST, _LEAST, (_LARGEST,) * 3, _LEAST, _LEAST, _LEAST)


def _by_rule(what: Any, *figures: Figures) -> Figures:
    return jax.tree.map(what, RULES, *figures, is_leaf=lambda node: isinstance(node, Rule))


class Row(NamedTuple):
    """One footstep of one design; of many, arrays."""

    limbs: Limbs
    gait: InchwormGait
    step: Footstep
    motor: AbstractMotor
    regeneration: Scalar


def _instant(row: Row, move: Scalar, sample: Scalar, samples: Scalar) -> Figures:
    """What sample number `sample` of a move gives to the figures of its footstep; integrals by the trapezoid rule."""
    limbs, gait, step = row.limbs, row.gait, row.step
    durations = legs_of(gait, step).durations
    duration = jnp.where(move < 1, durations[0], jnp.where(move > 1, durations[2], durations[1]))
    first, last = sample < 1, sample >= samples - 1
    weight = jnp.where(first | last, 0.5, 1.0) * duration / (samples - 1)
    p = pose(limbs, *feet_at(gait, step, move, duration * sample / (samples - 1)))
    whole = balance(limbs, bodies(limbs, p))
    first_stands = jnp.where(step.foot > 1.5, 1.0, 0.0)
    still, moving = effort(limbs, p, first_stands, 0.0), effort(limbs, p, first_stands, 1.0)
    # The inertial part grows with the square of the speed: along the path pressure and moment are linear in k = (speed factor)^2.
    pushed = moving.pressure - still.pressure
    held = still.zmp * still.pressure
    swung = moving.zmp * moving.pressure - held
    to_the_end = _first_zero(limbs.foot_length * still.pressure - held, limbs.foot_length * pushed - swung)
    u, v = p.points[4].x.value - p.points[0].x.value, p.points[4].y.value - p.points[0].y.value
    return Figures(
        time=weight,
        gain=jnp.where(last, whole.potential, jnp.where(first, -whole.potential, 0.0)),
        static=_side(row, p, still, weight),
        dynamic=_side(row, p, moving, weight),
        peak_kinetic=whole.kinetic,
        least_pressure=moving.pressure,
        peak_turn_acceleration=tuple(jnp.abs(turn.second) for turn in p.turns),
        least_reach=reach_left(limbs, u, v),
        liftoff=_first_zero(still.pressure, pushed),
        tip=jnp.minimum(to_the_end, _first_zero(held, swung)),
    )


def _side(row: Row, p: Pose, e: Effort, weight: Scalar) -> Side:
    powers = [q * turn.rate for q, turn in zip(e.torques, p.turns, strict=True)]
    drawn = [power + row.motor.heat(q) for power, q in zip(powers, e.torques, strict=True)]
    return Side(
        tuple(jnp.abs(q) for q in e.torques),
        tuple(weight * jnp.maximum(power, 0.0) for power in powers),
        tuple(weight * jnp.maximum(-power, 0.0) for power in powers),
        weight * sum(jnp.maximum(power, 0.0) + row.regeneration * jnp.minimum(power, 0.0) for power in drawn),
        e.zmp,
        e.zmp,
    )


def _first_zero(room: Scalar, slope: Scalar) -> Scalar:
    """The k > 0 at which room + k slope reaches zero, infinite if it never does; zero if there is no room."""
    falls = slope < 0
    return jnp.where(room <= 0, 0.0, jnp.where(falls, room / jnp.where(falls, -slope, 1.0), jnp.inf))


# --- one footstep ----------------------------------------------------------------------------------------------------


def footsteps(rows: Row, samples: int) -> Figures:
    """Figures of every row, the samples of a move as an axis more."""
    wide = jax.tree.map(lambda v: jnp.asarray(v)[..., None], rows)
    number = jnp.arange(samples, dtype=float)
    moves = [_by_rule(lambda rule, v: rule.over(v, axis=-1), _instant(wide, k, number, samples)) for k in range(len(MOVES))]
    return _by_rule(lambda rule, a, b, c: rule.fold(rule.fold(a, b), c), *moves)


def _footsteps_in_a_loop(row: Row, samples: Any) -> Figures:
    """The same for a kernel, where a row is a lane and nothing else has an axis."""
    zero = 0.0 * row.limbs.length

    def one(move: Any, sample: Any, sofar: Figures) -> Figures:
        return _by_rule(lambda rule, a, b: rule.fold(a, b + zero), sofar, _instant(row, move, 1.0 * sample, samples))

    def a_move(move: Any, sofar: Figures) -> Figures:
        return lax.fori_loop(0, samples, lambda i, figures: one(move, i, figures), sofar)

    return lax.fori_loop(0, len(MOVES), a_move, _by_rule(lambda rule: rule.nothing + zero))


# --- a whole plan ----------------------------------------------------------------------------------------------------


def plan_of(each: Figures, times: Scalar) -> Figures:
    """A plan's figures from those of its footsteps (first axis) and how often each is made."""
    made = times > 0

    def fold(rule: Rule, v: Scalar) -> Scalar:
        return rule.over(times * v if rule is _SUM else jnp.where(made, v, rule.nothing), axis=0)

    return _by_rule(fold, each)


@jax.jit
def _plans(each: Figures, times: Scalar) -> Figures:
    return plan_of(each, times)


def figures(
    limbs: Limbs,
    gait: InchwormGait,
    steps: Footstep,
    samples: int,
    motor: AbstractMotor | None = None,
    regeneration: Scalar = 0.0,
) -> Figures:
    """Over all footsteps (leaves of `steps` have them on their first axis, and designs, if many, on their second)."""
    row = Row(limbs, gait, steps, motor or IdealMotor(), regeneration)
    each = lax.map(lambda step: footsteps(row._replace(step=step), samples), steps)  # one by one: their samples fill the cache
    return plan_of(each, steps.times)


_reckoned = jax.jit(figures, static_argnames="samples")

#: Designs reckoned together by XLA: few enough that a move of all of them stays in the cache.
CHUNK = 512


def table(walker: "TwoLegWalker", lanes: int, samples: int, kernel: Kernel | None) -> dict[str, Figure]:
    """Named figures of `lanes` designs."""
    rows = _rows(walker, lanes)
    found = _in_chunks(rows, lanes, samples) if kernel is None else _by_kernel(rows, samples, kernel)
    return _named(walker, jax.tree.map(np.asarray, found))


def _rows(walker: "TwoLegWalker", lanes: int) -> Row:
    """Footsteps on the first axis, designs on the second."""
    if walker.schedule is not None and lanes == 1:
        rows = walker.schedule.steps._replace(times=walker.schedule.made)
        steps = Footstep(*(np.asarray(v, float)[:, None] for v in rows))
    else:
        blocks = [step for block in blocks_of(walker, parse_route(walker.route)) for step in block.steps]
        full = lambda v: np.broadcast_to(np.asarray(v, float), (lanes,))  # noqa: E731
        steps = Footstep(*(np.stack([full(step[i]) for step in blocks]) for i in range(len(Footstep._fields))))
    shape = np.shape(steps.foot)
    shared = (walker.limbs, walker.gait, walker.motor, walker.regeneration)
    limbs, gait, motor, regeneration = jax.tree.map(lambda v: np.broadcast_to(np.asarray(v, float), shape), shared)
    return Row(limbs, gait, steps, motor, regeneration)


def _by_kernel(rows: Row, samples: int, kernel: Kernel) -> Figures:
    """Every footstep of every design is a lane."""
    leaves, tree = jax.tree.flatten(rows)

    def program(count: Any, *columns: Any) -> tuple[Any, ...]:
        return tuple(jax.tree.leaves(_footsteps_in_a_loop(jax.tree.unflatten(tree, columns), count)))

    shape = leaves[0].shape
    columns = kernel(program, ("two-leg figures", tree), [np.int32(samples)], [np.ravel(leaf) for leaf in leaves])
    each = jax.tree.unflatten(jax.tree.structure(RULES, is_leaf=lambda node: isinstance(node, Rule)), columns)
    return _plans(jax.tree.map(lambda v: v.reshape(shape), each), rows.step.times)


def _in_chunks(rows: Row, lanes: int, samples: int) -> Figures:
    parts = []
    for first in range(0, lanes, CHUNK):
        which = np.minimum(np.arange(first, first + min(CHUNK, _room(lanes))), lanes - 1)  # the last chunk is filled up
        steps = jax.tree.map(lambda v, which=which: v[:, which], rows.step)
        rest = jax.tree.map(lambda v, which=which: v[0, which], rows._replace(step=()))
        parts.append(_reckoned(rest.limbs, rest.gait, steps, samples=samples, motor=rest.motor, regeneration=rest.regeneration))
    return jax.tree.map(lambda *v: np.concatenate([np.asarray(one) for one in v])[:lanes], *parts)


def _room(lanes: int) -> int:
    """A few sizes only, so that few programs are compiled."""
    return 1 << max(0, (lanes - 1).bit_length())


def _named(walker: "TwoLegWalker", f: Figures) -> dict[str, Figure]:
    reachable = f.least_reach > 2.0 * np.asarray(walker.link_length) * STRETCHED
    outcome = np.where(reachable, Outcome.arrived, Outcome.unreachable).astype(np.int8)
    named: dict[str, Figure] = {"outcome": Figure(outcome, "", "whether every footstep is within reach")}

    def put(name: str, values: Scalar, unit: str, doc: str) -> None:
        named[name] = Figure(np.where(reachable, values, np.nan), unit, doc)

    limbs = walker.limbs
    weight = np.asarray(limbs.gravity * (4.0 * limbs.mass + 2.0 * limbs.foot_mass))
    put("t_end", f.time, "s", "time of the plan")
    put("gain", f.gain, "J", "change of the potential energy")
    for prefix, side in (("", f.dynamic), ("static_", f.static)):
        kept = np.asarray(walker.regeneration)
        energy = np.where(reachable, sum(side.energy), np.nan) - kept * np.where(reachable, sum(side.returned), np.nan)
        put(f"{prefix}energy", energy, "J", "of all motors while they drive, less what braking ones give back")
        for i in range(3):
            put(f"{prefix}energy_{i + 1}", side.energy[i], "J", f"of motor {i + 1} while it drives")
        for i in range(3):
            put(f"{prefix}peak_torque_{i + 1}", side.peak_torque[i], "N m", f"largest torque of motor {i + 1}")
        put(f"{prefix}electrical_energy", side.electrical, "J", "the same with the heat of the windings")
        put(f"{prefix}efficiency", np.divide(f.gain, energy), "", "height gained, as energy, over energy spent")
        put(f"{prefix}mean_power", energy / f.time, "W", "energy over time")
        put(
            f"{prefix}least_zmp",
            side.least_zmp,
            "m",
            "least zero-moment point, from the ankle that stands towards the other foot",
        )
        put(f"{prefix}most_zmp", side.most_zmp, "m", "largest zero-moment point")
        room = np.minimum(side.least_zmp, np.asarray(limbs.foot_length) - side.most_zmp)
        put(
            f"{prefix}foot_margin",
            room,
            "m",
            "least distance of it from both ends of a whole foot; below zero the foot is too short",
        )
    put("peak_kinetic", f.peak_kinetic, "J", "largest kinetic energy")
    put("least_pressure", f.least_pressure, "N", "least force of the ground; below zero a foot must be held down")
    put("knee_reach_left", f.least_reach, "m", "how far from stretched the knee stays")
    if walker.gait.timing == "mean-speed":
        put(
            "liftoff_speed",
            np.sqrt(f.liftoff) * walker.gait.speed,
            "m/s",
            "gait.speed above which a foot that is not held lifts off",
        )
        put(
            "tip_speed",
            np.sqrt(f.tip) * walker.gait.speed,
            "m/s",
            "gait.speed above which it tips over an end of a whole foot",
        )
    for i in range(3):
        put(
            f"peak_acceleration_{i + 1}",
            f.peak_turn_acceleration[i],
            "rad/s^2",
            f"largest angular acceleration of motor {i + 1}",
        )
    put("weight", weight, "N", "of the walker")
    return named
