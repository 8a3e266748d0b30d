"""What can be seen of the segmented walker, in the house frame."""

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from footfall.machines.centipede.forces import all_loads
from footfall.machines.centipede.states import (
    LegSignals,
    LoadSignals,
    Nodes,
    Tips,
    WalkerOutputs,
    WalkerState,
    WalkerTravel,
)
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos

if TYPE_CHECKING:
    from footfall.machines.centipede.walker import SegmentedWalker


def order_parameter(phase: Any, lag: Scalar) -> Scalar:
    """|mean of exp(i (phi_k + k psi))|                                                   (walker.9)

    1 where the phases are the wave, near 0 where they are anything.
    """
    count = phase.shape[0]
    index = jnp.arange(count, dtype=phase.dtype).reshape(-1, *[1] * (phase.ndim - 1))
    s, c = sincos(phase + index * lag)
    return jnp.sqrt(jnp.sum(c, axis=0) ** 2 + jnp.sum(s, axis=0) ** 2) / count


def walker_outputs(system: "SegmentedWalker", x: WalkerState) -> WalkerOutputs:
    """Outputs of the whole robot."""
    loads = all_loads(system, x)
    nodes, under, feet = x.nodes, loads.on_nodes, loads.on_tips
    return WalkerOutputs(
        node=Nodes(x=nodes.x, z=nodes.z, vx=nodes.vx, vz=nodes.vz, fx=under.fx, fz=under.fz),
        tip=Tips(x=x.tips.x, z=x.tips.z, fx=feet.fx, fz=feet.fz, load=feet.load),
        leg=LegSignals(
            lift=x.legs.lift,
            moment=loads.moments,
            force=loads.drive.along,
            hip_torque=loads.drive.torque,
        ),
        load=LoadSignals(
            lift=jnp.sum(under.fz + feet.fz, axis=0), thrust=jnp.sum(under.fx + feet.fx, axis=0)
        ),
        travel=WalkerTravel(
            distance=jnp.mean(nodes.x, axis=0),
            speed=jnp.mean(nodes.vx, axis=0),
            height=jnp.mean(nodes.z, axis=0),
            order=order_parameter(x.legs.phase, system.gait.lag),
        ),
    )
