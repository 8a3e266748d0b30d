"""What a plan of footsteps costs.

Time, peak torques, energy, efficiency, margins, at rest and in motion, for one plan or thousands.

Equal footsteps are computed once and counted. Nothing is simulated: along a plan everything is
known. What happens in one instant of one footstep is written once; it is reduced over the samples
of a move as one array (XLA, derivatives) or in a loop (a kernel).
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from footfall.machines.parts.actuators.base import AbstractMotor
from footfall.machines.parts.actuators.motors import IdealMotor
from footfall.machines.two_leg.course import Footstep
from footfall.machines.two_leg.gait import InchwormGait
from footfall.machines.two_leg.kinematics import (
    Effort,
    Limbs,
    Pose,
    balance,
    bodies,
    effort,
    pose,
    reach_left,
)
from footfall.machines.two_leg.moves import MOVES, feet_at, legs_of
from footfall.numerics.scalar import Scalar


class Side(NamedTuple):
    """One way to evaluate: at rest in every pose, or in motion."""

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
    # the square of how much faster the gait may be before a foot that is not held lifts off
    liftoff: Scalar
    tip: Scalar  #: ... before it tips over its foot's ends


class Rule(NamedTuple):
    """How a figure of a whole comes from those of its parts."""

    fold: Any  #: two into one
    over: str  #: an axis into one, by its name in NumPy and JAX
    nothing: float  #: the figure of no part at all


_SUM, _MOST, _LEAST = (
    Rule(jnp.add, "sum", 0.0),
    Rule(jnp.maximum, "max", -np.inf),
    Rule(jnp.minimum, "min", np.inf),
)
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
    """What sample number `sample` of a move gives to the figures of its footstep.

    Integrals by the trapezoid rule.
    """
    limbs, gait, step = row.limbs, row.gait, row.step
    durations = legs_of(gait, step).durations
    duration = jnp.where(move < 1, durations[0], jnp.where(move > 1, durations[2], durations[1]))
    first, last = sample < 1, sample >= samples - 1
    weight = jnp.where(first | last, 0.5, 1.0) * duration / (samples - 1)
    p = pose(limbs, *feet_at(gait, step, move, duration * sample / (samples - 1)))
    whole = balance(limbs, bodies(limbs, p))
    first_stands = jnp.where(step.foot > 1.5, 1.0, 0.0)
    still, moving = effort(limbs, p, first_stands, 0.0), effort(limbs, p, first_stands, 1.0)
    # The inertial part grows with the square of the speed: along the path pressure and moment are
    # linear in k = (speed factor)^2.
    pushed = moving.pressure - still.pressure
    held = still.zmp * still.pressure
    swung = moving.zmp * moving.pressure - held
    to_the_end = _first_zero(
        limbs.foot_length * still.pressure - held, limbs.foot_length * pushed - swung
    )
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
        weight
        * sum(
            jnp.maximum(power, 0.0) + row.regeneration * jnp.minimum(power, 0.0) for power in drawn
        ),
        e.zmp,
        e.zmp,
    )


def _first_zero(room: Scalar, slope: Scalar) -> Scalar:
    """The k > 0 at which room + k slope reaches zero, infinite if it never does.

    Zero if there is no room.
    """
    falls = slope < 0
    return jnp.where(
        room <= 0, 0.0, jnp.where(falls, room / jnp.where(falls, -slope, 1.0), jnp.inf)
    )


# --- one footstep ---------------------------------------------------------------------------------


def footsteps(rows: Row, samples: int) -> Figures:
    """Figures of every row, the samples of a move as an axis more."""
    wide = jax.tree.map(lambda v: jnp.asarray(v)[..., None], rows)
    number = jnp.arange(samples, dtype=float)
    moves = [
        _by_rule(_along_the_last_axis, _instant(wide, k, number, samples))
        for k in range(len(MOVES))
    ]
    return _by_rule(_of_three, *moves)


def _of_three(rule: Rule, a: Any, b: Any, c: Any) -> Any:
    if rule.over == "sum":
        return a + b + c
    return _along_the_last_axis(rule, jnp.stack([a, b, c], axis=-1))


def _along_the_last_axis(rule: Rule, v: Any) -> Any:
    if rule.over == "sum":
        return jnp.sum(v, axis=-1)
    return _largest(v) if rule.over == "max" else -_largest(-v)


@jax.custom_jvp
def _largest(v: Any) -> Any:
    """Along the last axis, with the slope of the place where it is.

    JAX looks for the places that equal the largest value. A compiler that computes a value twice,
    rounded otherwise, leaves none of them: no slope, or NaN.
    """
    return jnp.max(v, axis=-1)


@_largest.defjvp
def _slope_of_the_largest(values: tuple[Any], slopes: tuple[Any]) -> tuple[Any, Any]:
    at = jnp.argmax(values[0], axis=-1, keepdims=True)
    return tuple(jnp.take_along_axis(v, at, axis=-1)[..., 0] for v in (*values, *slopes))


def footsteps_in_a_loop(row: Row, samples: Any) -> Figures:
    """The same for a kernel, where a row is a lane and nothing else has an axis."""
    zero = 0.0 * row.limbs.length

    def one(move: Any, sample: Any, sofar: Figures) -> Figures:
        return _by_rule(
            lambda rule, a, b: rule.fold(a, b + zero),
            sofar,
            _instant(row, move, 1.0 * sample, samples),
        )

    def a_move(move: Any, sofar: Figures) -> Figures:
        return lax.fori_loop(0, samples, lambda i, figures: one(move, i, figures), sofar)

    return lax.fori_loop(0, len(MOVES), a_move, _by_rule(lambda rule: rule.nothing + zero))


# --- a whole plan ---------------------------------------------------------------------------------


def each_of(rows: Row, samples: int) -> Figures:
    """Figures of every footstep, one by one: their samples fill the cache."""
    return lax.map(lambda step: footsteps(rows._replace(step=step), samples), rows.step)


def plan_of(each: Figures, times: Scalar) -> Figures:
    """A plan's figures from those of its footsteps (first axis) and how often each is made.

    What is not made counts for nothing, even where it could not be. In NumPy if that is what it is
    given: then another number of footsteps compiles nothing.
    """
    made, xp = times > 0, np if isinstance(times, np.ndarray) else jnp

    def fold(rule: Rule, v: Scalar) -> Scalar:
        kept = xp.where(made, v, rule.nothing)
        return getattr(xp, rule.over)(times * kept if rule is _SUM else kept, axis=0)

    return _by_rule(fold, each)


def figures(
    limbs: Limbs,
    gait: InchwormGait,
    steps: Footstep,
    samples: int,
    motor: AbstractMotor | None = None,
    regeneration: Scalar = 0.0,
) -> Figures:
    """Figures over all footsteps.

    Leaves of `steps` have the footsteps on their first axis, and designs, if many, on their second.
    """
    return plan_of(
        each_of(Row(limbs, gait, steps, motor or IdealMotor(), regeneration), samples), steps.times
    )
