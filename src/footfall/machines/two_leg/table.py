"""Figures of plans by name: one plan or thousands, by XLA or by a kernel."""

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from footfall.hybrid.motion_plan import Figure, Kernel
from footfall.hybrid.outcome import Outcome
from footfall.machines.two_leg.course import Footstep
from footfall.machines.two_leg.figures import (
    RULES,
    Figures,
    Row,
    Rule,
    each_of,
    footsteps_in_a_loop,
    plan_of,
)
from footfall.machines.two_leg.ground import Walked, walk_over
from footfall.machines.two_leg.route import blocks_of, parse_route, stacked
from footfall.numerics.scalar import Scalar

if TYPE_CHECKING:
    from footfall.machines.two_leg.walker import TwoLegWalker

_each = jax.jit(each_of, static_argnames="samples")

#: Designs evaluated together by XLA: few enough that a move of all of them stays in the cache.
CHUNK = 512


def table(
    walker: "TwoLegWalker", lanes: int, samples: int, kernel: Kernel | None
) -> dict[str, Figure]:
    """Named figures of `lanes` designs."""
    rows, groups = _rows(walker, lanes)
    each = _in_chunks(rows, lanes, samples) if kernel is None else _by_kernel(rows, samples, kernel)
    each = jax.tree.map(np.asarray, each)
    # Of what cannot be made nothing is finite, and nothing is told.
    with np.errstate(invalid="ignore", divide="ignore"):
        return _named(
            walker,
            plan_of(each, np.asarray(rows.step.times)),
            walk_over(walker, rows.step, each, groups),
        )


def _rows(walker: "TwoLegWalker", lanes: int) -> tuple[Row, list[list[int]]]:
    """Footsteps on the first axis, designs on the second.

    And which of them are made in turns, one after another.
    """
    if walker.schedule is not None and lanes == 1:
        rows = walker.schedule.steps._replace(times=walker.schedule.made)
        steps = Footstep(*(np.asarray(v, float)[:, None] for v in rows))
        groups = [[i] for i in range(len(steps.foot))]
    else:
        steps, groups = stacked(blocks_of(walker, parse_route(walker.route)), lanes)
    shape = np.shape(steps.foot)
    shared = (walker.limbs, walker.gait, walker.motor, walker.regeneration)
    limbs, gait, motor, regeneration = jax.tree.map(
        lambda v: np.broadcast_to(np.asarray(v, float), shape), shared
    )
    return Row(limbs, gait, steps, motor, regeneration), groups


def _by_kernel(rows: Row, samples: int, kernel: Kernel) -> Figures:
    """Every footstep of every design is a lane."""
    leaves, tree = jax.tree.flatten(rows)

    def program(count: Any, *columns: Any) -> tuple[Any, ...]:
        return tuple(jax.tree.leaves(footsteps_in_a_loop(jax.tree.unflatten(tree, columns), count)))

    shape = leaves[0].shape
    columns = kernel(
        program, ("two-leg figures", tree), [np.int32(samples)], [np.ravel(leaf) for leaf in leaves]
    )
    each = jax.tree.unflatten(
        jax.tree.structure(RULES, is_leaf=lambda node: isinstance(node, Rule)), columns
    )
    return jax.tree.map(lambda v: v.reshape(shape), each)


def _in_chunks(rows: Row, lanes: int, samples: int) -> Figures:
    parts = []
    for first in range(0, lanes, CHUNK):
        # The last chunk is filled up.
        which = np.minimum(np.arange(first, first + min(CHUNK, _room(lanes))), lanes - 1)
        steps = jax.tree.map(lambda v, which=which: v[:, which], rows.step)
        rest = jax.tree.map(lambda v, which=which: v[0, which], rows._replace(step=()))
        parts.append(_each(rest._replace(step=steps), samples=samples))
    return jax.tree.map(
        lambda *v: np.concatenate([np.asarray(one) for one in v], axis=1)[:, :lanes], *parts
    )


def _room(lanes: int) -> int:
    """A few sizes only, so that few programs are compiled."""
    return 1 << max(0, (lanes - 1).bit_length())


def _named(walker: "TwoLegWalker", f: Figures, walked: Walked) -> dict[str, Figure]:
    named: dict[str, Figure] = {"outcome": Figure(walked.outcome, "", "how the plan ends")}
    # Of a plan that would be refused nothing is told; one that fails on its way has the figures of
    # the whole.
    known = ~np.isin(walked.outcome, [int(Outcome.unreachable), int(Outcome.blocked)])

    def put(name: str, values: Scalar, unit: str, doc: str) -> None:
        named[name] = Figure(np.where(known, values, np.nan), unit, doc)

    limbs = walker.limbs
    weight = np.asarray(limbs.gravity * (4.0 * limbs.mass + 2.0 * limbs.foot_mass))
    put("t_end", f.time, "s", "time of the plan")
    put("gain", f.gain, "J", "change of the potential energy")
    for prefix, side in (("", f.dynamic), ("static_", f.static)):
        kept = np.asarray(walker.regeneration)
        energy = np.where(known, sum(side.energy), np.nan) - kept * np.where(
            known, sum(side.returned), np.nan
        )
        put(
            f"{prefix}energy",
            energy,
            "J",
            "of all motors while they drive, less what braking ones give back",
        )
        for i in range(3):
            put(f"{prefix}energy_{i + 1}", side.energy[i], "J", f"of motor {i + 1} while it drives")
        for i in range(3):
            put(
                f"{prefix}peak_torque_{i + 1}",
                side.peak_torque[i],
                "N m",
                f"largest torque of motor {i + 1}",
            )
        put(
            f"{prefix}electrical_energy",
            side.electrical,
            "J",
            "the same with the heat of the windings",
        )
        # All of it given back: no share of anything.
        spent = np.where(energy > 1e-9 * sum(side.energy), energy, np.nan)
        put(
            f"{prefix}efficiency", f.gain / spent, "", "height gained, as energy, over energy spent"
        )
        put(f"{prefix}mean_power", energy / f.time, "W", "energy over time")
        # Then the force of the ground goes through no point of the foot.
        pulled = (f.least_pressure <= 0) & (prefix == "")
        toward = "zero-moment point, from the ankle that stands towards the other foot"
        put(f"{prefix}least_zmp", np.where(pulled, np.nan, side.least_zmp), "m", f"least {toward}")
        put(f"{prefix}most_zmp", np.where(pulled, np.nan, side.most_zmp), "m", f"largest {toward}")
        margin = walked.static_margin if prefix else walked.margin
        put(
            f"{prefix}support_margin",
            margin,
            "m",
            "least distance of it from the ends of the ground under that foot; below zero it tips",
        )
    put("peak_kinetic", f.peak_kinetic, "J", "largest kinetic energy")
    put(
        "least_pressure",
        f.least_pressure,
        "N",
        "least force of the ground; below zero a foot must be held down",
    )
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
            "gait.speed above which it tips, were there ground under all of each foot",
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
