"""Whether steps have fallen to nothing because the flow turns round at a line it cannot leave.

Hard Coulomb friction, written as `sign` of a speed, is the usual case: once the speed is zero, the
force on either side points to the other. No step across that line meets a tolerance, so steps creep
along it, each shorter than a nanosecond, and a run does not end. What is missing is a mode.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.flatten import Layout
from footfall.hybrid.system import AbstractHybridSystem

#: A run is looked at after so many tries whose mean step is below CREEP [s], ...
TRIES, CREEP = 4096, 1e-8
#: ... for a break of its flow within so many of its steps ahead, ...
AHEAD = 1e3
#: ... by more than this share of the flow, halved so often that what is smooth has none left.
BREAK, HALVINGS = 1e-3, 30


class Creep:
    """What became of the last tries of a run."""

    def __init__(self) -> None:
        self.tried, self.t, self.window = 0, 0.0, TRIES

    def mean_step(self, tried: int, t: float) -> float | None:
        """Mean length of the last tries [s], if they are many and short, else None.

        Asked again only after twice as many.
        """
        if tried - self.tried < self.window:
            return None
        mean = (t - self.t) / (tried - self.tried)
        self.tried, self.t = tried, t
        if mean >= CREEP:
            return None
        self.window *= 2
        return mean


def breaks(system: AbstractHybridSystem, t: float, x: Any, m: Any, step: float) -> bool:
    """Whether the flow has a break just ahead: a change that does not shrink with the way.

    Arguments:
        system, t, x, m: where the run stands.
        step: its mean step of late [s].
    """
    layout = Layout.of(x)
    flow = jax.jit(lambda s, y: layout.pack(system.flow(s, layout.unpack(y), m).x))
    y0 = np.asarray(layout.pack(jax.tree.map(lambda v: jnp.asarray(v, float), x)))
    rate = np.asarray(flow(t, y0))

    def at(s: float) -> np.ndarray:
        return np.asarray(flow(t, y0 + s * rate))

    def change(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.max(np.abs(a - b)))

    low, high = 0.0, AHEAD * max(step, np.finfo(float).tiny)
    before, after = rate, at(high)
    first = change(before, after)
    if not first > BREAK * np.max(np.abs(rate)):
        return False
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        here = at(middle)
        if change(before, here) >= change(here, after):
            high, after = middle, here
        else:
            low, before = middle, here
    return change(before, after) > 0.25 * first
