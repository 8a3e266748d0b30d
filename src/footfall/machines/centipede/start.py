"""Start of the segmented walker: straight, at rest, tips at their targets. One robot or a batch."""

from typing import Any

import jax
import numpy as np

from footfall.hybrid.fields import ParameterError, choice, param
from footfall.hybrid.start import AbstractStart
from footfall.hybrid.system import HybridState
from footfall.machines.centipede.states import LegState, Points, WalkerMode, WalkerState
from footfall.numerics.namespace import namespace, traced
from footfall.numerics.scalar import Scalar
from footfall.numerics.units import TURN


class WalkerStart(AbstractStart):
    """Standing straight on its legs, level segment by segment.

    On a slope it begins by settling into its line.
    """

    head: Scalar = param(0.0, unit="m", doc="where the head is, forward")
    phases: str = choice(
        "wave", options=("wave", "random"), doc="phases of the legs: those of the wave, or any"
    )
    seed: int = param(0, doc="which random phases", ge=0, static=True)
    phase: Scalar = param(
        4.71238898038469,
        unit="rad",
        doc="phase of the head's leg; 3/2 pi is the middle of its stance",
    )
    speed: Scalar = param(0.0, unit="m/s", doc="forward speed")

    def state(self, system: Any) -> HybridState:
        leaves = jax.tree.leaves((system, self))
        xp, shape = namespace(*leaves), np.broadcast_shapes(*(np.shape(leaf) for leaf in leaves))
        count = system.body.segments
        index = np.arange(count, dtype=float).reshape(-1, *[1] * len(shape))

        def rows(values: Any) -> Any:
            return xp.array(xp.broadcast_to(values, (count, *shape)), float)

        x = rows(self.head - index * system.body.spacing)
        _check_ground(system, x)
        phase = rows(self._phases(system, index))
        # Strides are counted from the head's first turn.
        phase = phase - TURN * xp.floor(phase[:1] / TURN)
        target = jax.tree.map(xp.asarray, _targets(system.gait, phase))
        z = rows(xp.asarray(_heights(system.terrain, x)) + system.gait.height)
        there = system.has_leg(x)
        still, pace = xp.zeros_like(x), rows(self.speed)
        bristle = xp.zeros_like(x) if system.friction.has_memory else None
        tip_x, tip_z = rows(x + there * target.x), rows(z + there * target.z)
        state = WalkerState(
            nodes=Points(x, z, pace, still, bristle),
            tips=Points(tip_x, tip_z, pace.copy(), still.copy(), bristle),
            legs=LegState(phase, still.copy(), still.copy()),
        )
        none = np.zeros(shape, np.int32)
        return HybridState(
            state, WalkerMode(strides=none, ticks=none.copy(), missing=xp.zeros_like(x))
        )

    def _phases(self, system: Any, index: np.ndarray) -> Any:
        if self.phases == "random":
            drawn = np.random.default_rng(self.seed).uniform(0.0, TURN, len(index))
            return drawn.reshape(index.shape)
        return self.phase - index * system.gait.lag


@jax.jit  # one small program: operation by operation would take seconds
def _targets(gait: Any, phase: Any) -> Any:
    return gait.target(phase, 0.0)


@jax.jit
def _heights(terrain: Any, x: Any) -> Any:
    return terrain.height(x)


def _check_ground(system: Any, x: Any) -> None:
    """No gap under the robot, and the last one still before its tail."""
    if traced(x, system.gait.half_stride, *jax.tree.leaves(system.terrain)):
        return
    reach = np.asarray(system.gait.half_stride, float)
    front, rear = np.asarray(x[0] + reach), np.asarray(x[-1] - reach)
    if system.terrain.gaps():
        past = np.asarray(x[-1] >= np.asarray(system.terrain.gaps()[-1][1], float))
        if np.any(past):
            lane = int(np.argmax(past)) if past.ndim else None
            raise ParameterError(
                "the walker starts beyond the last gap: there is nothing to cross.", "head", lane
            )
    for begin, end in system.terrain.gaps():
        under = np.asarray((np.asarray(begin, float) < front) & (np.asarray(end, float) > rear))
        if np.any(under):
            lane = int(np.argmax(under)) if under.ndim else None
            first, last, near = (
                float(np.ravel(np.broadcast_to(v, under.shape))[lane or 0])
                for v in (front, rear, np.asarray(begin, float))
            )
            raise ParameterError(
                f"there is a gap under the start: the walker stands from {last:.3g} m to"
                f" {first:.3g} m and a gap begins at {near:.3g} m. Start it with its head at"
                f" {near - float(np.max(reach)):.3g} m or less, or move the gap.",
                "head",
                lane,
            )
