"""Start of one spike: on its path, or anywhere its joints can be. One robot or a batch."""

from typing import Any

import jax
import numpy as np

from footfall.hybrid.fields import ParameterError, choice, param
from footfall.hybrid.start import AbstractStart
from footfall.hybrid.system import HybridState
from footfall.machines.sea_urchin.spike_kinematics import require_joints
from footfall.machines.sea_urchin.spike_states import SpikeStage, SpikeState
from footfall.numerics.namespace import namespace, traced
from footfall.numerics.scalar import Scalar


class SpikeStart(AbstractStart):
    """Joints that are not given are on the path."""

    joint_1: Scalar | None = param(
        None, unit="rad", doc="hinge about the tangent of the ring; auto: on the path"
    )
    joint_2: Scalar | None = param(None, unit="rad", doc="second hinge; auto: on the path")
    slide: Scalar | None = param(None, unit="m", doc="extension; auto: on the path")
    motion: str = choice(
        "path", options=("path", "rest"), doc="whether it moves with the path or is at rest"
    )

    def state(self, system: Any) -> HybridState:
        leaves = jax.tree.leaves((system, self))
        xp, shape = namespace(*leaves), np.broadcast_shapes(*(np.shape(leaf) for leaf in leaves))
        zero = xp.zeros(shape)
        leg_time = system.gait.offsets_of()[system.index] * system.gait.period
        stage = xp.broadcast_to(xp.asarray(system.gait.stage(leg_time)[0], np.int32), shape)
        m = SpikeStage(cycles=xp.zeros(shape, np.int32), stage=xp.array(stage))
        target = _target(system, m)
        given = (self.joint_1, self.joint_2, self.slide)
        q = [
            xp.array(xp.broadcast_to(t if own is None else own, shape), float)
            for own, t in zip(given, target.q, strict=True)
        ]
        v = [
            xp.array(xp.broadcast_to(t, shape), float) if self.motion == "path" else zero.copy()
            for t in target.v
        ]
        if not traced(*leaves):
            _check_joints(system, q)
        x = SpikeState(*q, *v, zero, zero.copy(), zero.copy())
        return HybridState(x, m)


@jax.jit  # one small program: operation by operation would take seconds
def _target(system: Any, m: SpikeStage) -> Any:
    return system.target(0.0, m)


def _check_joints(system: Any, q: list[np.ndarray]) -> None:
    stroke = np.asarray(system.spike.stroke, float)
    bad = (
        (q[1] <= 0.0)
        | (q[1] >= np.pi)
        | (q[2] < -1e-12)
        | (q[2] > stroke + 1e-12)
        | ~np.isfinite(q[0])
    )
    if not np.any(bad):
        return
    lane = int(np.argmax(bad))
    values = [float(np.ravel(v)[lane]) for v in q]
    field = "slide" if 0.0 < values[1] < np.pi and np.isfinite(values[0]) else "joint_2"
    shape = system.spike.shape._replace(
        stroke=float(np.ravel(np.broadcast_to(stroke, q[2].shape))[lane])
    )
    try:
        require_joints(shape, *values, field)
    except ParameterError as error:
        raise ParameterError(str(error), field, lane if np.ndim(bad) else None) from None
