"""Everything along a plan: outputs and energies of the walker at samples of every move."""

import functools
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.motion_plan import NoState
from footfall.machines.two_leg.gait import InchwormGait
from footfall.machines.two_leg.moves import MOVES
from footfall.machines.two_leg.robots import two_leg_walker
from footfall.machines.two_leg.walker import TwoLegMode, TwoLegWalker

#: Samples of a move, both ends among them.
SAMPLES = 401


class Along(NamedTuple):
    """Arrays over (footstep, move, sample); `seen` and `kept` are trees of such."""

    t: np.ndarray
    seen: Any  #: outputs of the walker
    kept: Any  #: its stores

    def first(self, footsteps: int) -> "Along":
        """The begin of the plan."""
        return jax.tree.map(lambda v: v[:footsteps], self)

    @property
    def motors(self) -> tuple[Any, Any, Any]:
        return self.seen.motor_1, self.seen.motor_2, self.seen.motor_3

    def joined(self, values: np.ndarray) -> np.ndarray:
        """One line in time, broken between moves, where rates of rates jump."""
        return np.concatenate([values, np.full((*values.shape[:2], 1), np.nan)], axis=-1).ravel()

    def static_power(self) -> list[np.ndarray]:
        """Of each motor with the torque that holds the pose: power = +-tau theta'."""
        sign = np.where(self.seen.support.foot < 1.5, 1.0, -1.0)
        return [sign * motor.static_torque * motor.rate for motor in self.motors]

    def static_energy(self) -> float:
        """What the motors give while they drive, each apart [J]."""
        powers = (np.maximum(power, 0.0) for power in self.static_power())
        return float(sum(np.trapezoid(power, self.t, axis=-1).sum() for power in powers))


@eqx.filter_jit
def _sampled(walker: TwoLegWalker) -> Any:
    table = walker.schedule
    assert table is not None
    begins = jnp.asarray(table.begins)
    share = jnp.linspace(0.0, 1.0, SAMPLES)
    start, end = begins[:, :-1, None], begins[:, 1:, None]
    t = start + share * (end - start)
    footstep = jnp.arange(t.shape[0])[:, None, None] + jnp.zeros(t.shape, int)
    move = jnp.arange(len(MOVES))[:, None] + jnp.zeros(t.shape, int)

    def at(t: Any, footstep: Any, move: Any) -> Any:
        m, none = TwoLegMode(footstep, move), NoState()
        return walker.outputs(t, none, m), walker.stores(t, none, m)

    seen, kept = jax.vmap(at)(t.ravel(), footstep.ravel(), move.ravel())
    return Along(t, *jax.tree.map(lambda v: v.reshape(t.shape), (seen, kept)))


@functools.cache
def along(speed: float = 0.05, lift: float = 0.01, links: str = "point") -> Along:
    """The whole terrain of the source, whose first two footsteps are its single step."""
    walker = two_leg_walker(gait=InchwormGait(speed=speed, lift=lift), links=links)
    assert walker.schedule is not None
    # Numbers are traced, so that all speeds and lifts share one program.
    traced = jax.tree.map(lambda v: jnp.asarray(v, float) if isinstance(v, float) else v, walker)
    return jax.tree.map(np.asarray, _sampled(traced)).first(int(walker.schedule.count))
