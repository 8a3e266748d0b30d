"""Joint targets of the walking sea urchin, many instants at once."""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.machines.sea_urchin.spike_kinematics import AZIMUTHS, SPIKES, inverse, joint_rates

if TYPE_CHECKING:
    from footfall.machines.sea_urchin.robot import UrchinRobot

#: Instants to a call: one program serves walks of any length.
BLOCK = 4096


@jax.jit
def _block(gait: Any, shape: Any, foothold: Any, t: jax.Array) -> jax.Array:
    """(joints or rates, component, leg, instant)."""
    motion = gait.feet(t, foothold, AZIMUTHS)
    joints = inverse(shape, *motion.position)
    rates = joint_rates(shape, joints, motion.velocity)
    return jnp.stack([jnp.stack(joints), jnp.stack(rates)])


def walking_joints(robot: "UrchinRobot", t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joints of the six walking spikes and their rates at the times t since the walk began.

    (instants, 6, 3) each.
    """
    numbers = jax.tree.map(
        lambda leaf: np.asarray(leaf, float), (robot.gait, robot.built_spike.shape, robot.foothold)
    )
    found = np.empty((2, 3, SPIKES, len(t)))
    for begin in range(0, len(t), BLOCK):
        part = t[begin : begin + BLOCK]
        padded = np.concatenate([part, np.zeros(BLOCK - len(part))])
        found[..., begin : begin + len(part)] = np.asarray(_block(*numbers, padded))[
            ..., : len(part)
        ]
    joints, rates = np.moveaxis(found, (1, 2, 3), (3, 2, 1))
    return joints, rates
