"""What a plan of footsteps costs: time, peak torques, energy, efficiency, margins, at rest and in motion, for one plan or thousands.

Equal steps are computed once and counted. Nothing is simulated: along a plan everything is known.
"""

import functools
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from footfall.hybrid.motion_plan import Figure
from footfall.hybrid.outcome import Outcome
from footfall.mechanics.two_leg import Limbs, balance, bodies, effort, pose, reach_left
from footfall.models.two_leg_course import Footstep
from footfall.models.two_leg_moves import MOVES, feet_at, legs_of
from footfall.models.two_leg_reach import STRETCHED
from footfall.models.two_leg_route import blocks_of, parse_route
from footfall.numerics.scalar import Scalar
from footfall.parts.gaits.inchworm import InchwormGait

if TYPE_CHECKING:
    from footfall.models.two_leg_walker import TwoLegWalker


class Side(NamedTuple):
    """One way to reckon: at rest in every pose, or in motion."""

    peak_torque: tuple[Scalar, Scalar, Scalar]  #: N m, largest |tau| of each motor
    energy: tuple[Scalar, Scalar, Scalar]  #: J, of each motor while it drives
    returned: tuple[Scalar, Scalar, Scalar]  #: J, of each motor while it brakes, positive
    least_zmp: Scalar  #: m, zero-moment point from the support ankle
    most_zmp: Scalar


class Figures(NamedTuple):
    """Of a whole plan."""

    time: Scalar
    gain: Scalar  #: J, change of the potential energy
    static: Side
    dynamic: Side
    peak_kinetic: Scalar
    least_pressure: Scalar  #: N, force of the ground under the foot that stands
    peak_turn_acceleration: tuple[Scalar, Scalar, Scalar]  #: rad/s^2
    least_reach: Scalar  #: m, how far from stretched the knee stays; negative: unreachable
    speed_factor_liftoff: Scalar  #: the gait may be this much faster before a foot that is not held lifts off
    speed_factor_tip: Scalar  #: ... before it tips over its foot's ends


def figures(limbs: Limbs, gait: InchwormGait, steps: Footstep, samples: int) -> Figures:
    """Over all footsteps (leaves of `steps` have them on their first axis), `samples` to a move, by the trapezoid rule."""
    combine = lambda a, b: jax.tree.map(lambda how, p, q: how(p, q), _HOW, a, b)  # noqa: E731
    first, rest = jax.tree.map(lambda v: v[0], steps), jax.tree.map(lambda v: v[1:], steps)
    start = _footstep(limbs, gait, first, samples)
    total, _ = lax.scan(lambda sofar, step: (combine(sofar, _footstep(limbs, gait, step, samples)), None), start, rest)
    return total


def _add(a: Scalar, b: Scalar) -> Scalar:
    return a + b


_SIDE = Side((jnp.maximum,) * 3, (_add,) * 3, (_add,) * 3, jnp.minimum, jnp.maximum)
_HOW = Figures(_add, _add, _SIDE, _SIDE, jnp.maximum, jnp.minimum, (jnp.maximum,) * 3, jnp.minimum, jnp.minimum, jnp.minimum)


def _footstep(limbs: Limbs, gait: InchwormGait, step: Footstep, samples: int) -> Figures:
    moves = [_move(limbs, gait, step, k, samples) for k in range(len(MOVES))]
    return functools.reduce(lambda a, b: jax.tree.map(lambda how, p, q: how(p, q), _HOW, a, b), moves)


def _move(limbs: Limbs, gait: InchwormGait, step: Footstep, move: int, samples: int) -> Figures:
    """One move, counted as often as its footstep is made. Leaves of `step` may be arrays over designs; samples are the last axis."""
    duration = legs_of(gait, step).durations[move]
    lanes = jax.tree.map(lambda v: jnp.asarray(v)[..., None], (limbs, gait, step, duration))
    limbs_, gait_, step_, T = lanes
    s = jnp.linspace(0.0, 1.0, samples)
    p = pose(limbs_, *feet_at(gait_, step_, move, s * T))
    every = bodies(limbs_, p)
    whole = balance(limbs_, every)
    first_stands = jnp.where(step_.foot > 1.5, 1.0, 0.0)
    still, moving = effort(limbs_, p, first_stands, 0.0), effort(limbs_, p, first_stands, 1.0)
    made = step.times > 0
    counted = step.times

    def integral(values: Scalar) -> Scalar:
        return counted * duration * (jnp.sum(values, axis=-1) - 0.5 * (values[..., 0] + values[..., -1])) / (samples - 1)

    def side(e) -> Side:
        powers = [q * turn.rate for q, turn in zip(e.torques, p.turns, strict=True)]
        return Side(
            tuple(jnp.where(made, jnp.max(jnp.abs(q), axis=-1), 0.0) for q in e.torques),
            tuple(integral(jnp.maximum(power, 0.0)) for power in powers),
            tuple(integral(jnp.maximum(-power, 0.0)) for power in powers),
            jnp.where(made, jnp.min(e.zmp, axis=-1), jnp.inf),
            jnp.where(made, jnp.max(e.zmp, axis=-1), -jnp.inf),
        )

    # The inertial part grows with the square of the speed: along the path pressure and moment are linear in k = (speed factor)^2.
    weight, pushed = still.pressure, moving.pressure - still.pressure
    held, swung = still.zmp * still.pressure, moving.zmp * moving.pressure - still.zmp * still.pressure
    up = _first_zero(weight, pushed)
    tip = jnp.minimum(
        _first_zero(limbs_.foot_length * weight - held, limbs_.foot_length * pushed - swung), _first_zero(held, swung)
    )
    never = lambda v: jnp.where(made, jnp.sqrt(jnp.min(v, axis=-1)), jnp.inf)  # noqa: E731
    u, v = p.points[4].x.value - p.points[0].x.value, p.points[4].y.value - p.points[0].y.value
    return Figures(
        time=counted * duration,
        gain=counted * (whole.potential[..., -1] - whole.potential[..., 0]),
        static=side(still),
        dynamic=side(moving),
        peak_kinetic=jnp.where(made, jnp.max(whole.kinetic, axis=-1), 0.0),
        least_pressure=jnp.where(made, jnp.min(moving.pressure, axis=-1), jnp.inf),
        peak_turn_acceleration=tuple(jnp.where(made, jnp.max(jnp.abs(turn.second), axis=-1), 0.0) for turn in p.turns),
        least_reach=jnp.where(made, jnp.min(reach_left(limbs_, u, v), axis=-1), jnp.inf),
        speed_factor_liftoff=never(up),
        speed_factor_tip=never(tip),
    )


def _first_zero(room: Scalar, slope: Scalar) -> Scalar:
    """The k > 0 at which room + k slope reaches zero, infinite if it never does; zero if there is no room."""
    falls = slope < 0
    return jnp.where(room <= 0, 0.0, jnp.where(falls, room / jnp.where(falls, -slope, 1.0), jnp.inf))


#: Designs reckoned together: few enough that a move of all of them stays in the cache.
CHUNK = 512

_reckon = jax.jit(figures, static_argnames="samples")


def table(walker: "TwoLegWalker", lanes: int, samples: int) -> dict[str, Figure]:
    """Named figures of `lanes` designs."""
    if walker.schedule is not None and lanes == 1:
        rows = walker.schedule.steps._replace(times=walker.schedule.made)
        found = _reckon(walker.limbs, walker.gait, jax.tree.map(lambda v: np.asarray(v, float)[:, None], rows), samples=samples)
    else:
        found = _in_chunks(walker, lanes, samples)
    return _named(walker, jax.tree.map(np.asarray, found))


def _in_chunks(walker: "TwoLegWalker", lanes: int, samples: int) -> Figures:
    blocks = [step for block in blocks_of(walker, parse_route(walker.route)) for step in block.steps]
    full = lambda v: np.broadcast_to(np.asarray(v, float), (lanes,))  # noqa: E731
    steps = Footstep(*(np.stack([full(step[i]) for step in blocks]) for i in range(len(Footstep._fields))))
    limbs, gait = jax.tree.map(full, (walker.limbs, walker.gait))
    parts = []
    for first in range(0, lanes, CHUNK):
        rows = np.minimum(np.arange(first, first + min(CHUNK, _room(lanes))), lanes - 1)  # the last chunk is filled up
        parts.append(
            _reckon(
                *jax.tree.map(lambda v, rows=rows: v[rows], (limbs, gait)),
                jax.tree.map(lambda v, rows=rows: v[:, rows], steps),
                samples=samples,
            )
        )
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
        energy = sum(side.energy) - kept * sum(side.returned)
        put(f"{prefix}energy", energy, "J", "of all motors while they drive, less what braking ones give back")
        for i in range(3):
            put(f"{prefix}energy_{i + 1}", side.energy[i], "J", f"of motor {i + 1} while it drives")
        for i in range(3):
            put(f"{prefix}peak_torque_{i + 1}", side.peak_torque[i], "N m", f"largest torque of motor {i + 1}")
        put(f"{prefix}efficiency", np.divide(f.gain, energy), "", "height gained, as energy, over energy spent")
        put(f"{prefix}mean_power", energy / f.time, "W", "energy over time")
        put(
            f"{prefix}least_zmp",
            side.least_zmp,
            "m",
            "least zero-moment point, from the ankle that stands towards the other foot",
        )
        put(f"{prefix}most_zmp", side.most_zmp, "m", "largest zero-moment point")
    put("peak_kinetic", f.peak_kinetic, "J", "largest kinetic energy")
    put("least_pressure", f.least_pressure, "N", "least force of the ground; below zero a foot must be held down")
    put("knee_reach_left", f.least_reach, "m", "how far from stretched the knee stays")
    if walker.gait.timing == "mean-speed":
        put(
            "liftoff_speed",
            f.speed_factor_liftoff * walker.gait.speed,
            "m/s",
            "gait.speed above which a foot that is not held lifts off",
        )
        put(
            "tip_speed",
            f.speed_factor_tip * walker.gait.speed,
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
