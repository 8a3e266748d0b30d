"""Multipliers of a gait as modes: what a small disturbance becomes, in words."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

#: Below this a disturbance is gone after one step.
GONE = 1e-6
#: A number takes part in a mode where it has this share of the largest one.
TAKES_PART = 0.4
#: Imaginary part of a real multiplier, as a share: rounding.
REAL = 1e-9
#: Within this of one in modulus it neither dies out nor grows.
NEUTRAL = 1e-9
#: Steps of a branch, as long as the last, over which its multipliers go on along a line.
LONGEST = 2.0


class Mode(NamedTuple):
    """One way in which a gait may be disturbed, and what becomes of it from step to step."""

    multiplier: complex
    shares: dict[str, float]  #: of each unknown, in units of its own change in a step; largest 1
    direction: np.ndarray  #: the eigenvector, in the unknowns' own units

    @property
    def half_life(self) -> float:
        """Steps until half of it is left; negative: until it has doubled."""
        size = abs(self.multiplier)
        if size == 0.0:
            return 0.0
        return math.inf if size == 1.0 else math.log(0.5) / math.log(size)

    @property
    def gone(self) -> bool:
        """Whether nothing of it is left after one step."""
        return abs(self.multiplier) < GONE

    @property
    def words(self) -> str:
        """ "decays by half in 1.7 steps, mostly torso rate"."""
        taken = [name for name, share in self.shares.items() if share >= TAKES_PART]
        mostly = f", mostly {' and '.join(_plain(name) for name in taken[:3])}" if taken else ""
        return f"{self._fate()}{self._turn()}{mostly}"

    def _fate(self) -> str:
        size, steps = abs(self.multiplier), abs(self.half_life)
        if self.gone:
            return "gone after one step"
        if abs(size - 1.0) <= NEUTRAL:
            return "neither dies out nor grows"
        often = f"{steps:.2g} step{'' if f'{steps:.2g}' == '1' else 's'}"
        return f"decays by half in {often}" if size < 1.0 else f"doubles in {often}"

    def _turn(self) -> str:
        value = self.multiplier
        if self.gone:
            return ""
        if abs(value.imag) > REAL * abs(value):
            turn = 2.0 * math.pi / abs(math.atan2(value.imag, value.real))
            return f", coming round in {turn:.3g} steps"
        return ", to one side and the other in turn" if value.real < 0 else ""


def modes_of(matrix: np.ndarray, names: Sequence[str], scale: np.ndarray) -> list[Mode]:
    """Modes of a map's derivative, the slowest to die out first.

    `scale` is what each number changes by in a step: shares are in these units.
    """
    if not len(matrix):
        return []
    values, vectors = np.linalg.eig(matrix)
    modes = []
    for k in np.argsort(-np.abs(values), kind="stable"):
        sizes = np.abs(vectors[:, k]) / scale
        sizes = sizes / max(sizes.max(), 1e-300)
        order = np.argsort(-sizes, kind="stable")
        shares = {names[i]: float(sizes[i]) for i in order}
        modes.append(Mode(complex(values[k]), shares, vectors[:, k]))
    return modes


def tracked(places: Sequence[float], multipliers: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Those of neighbours on a branch, each in the place of the one it goes on from.

    The first in their own order; each next one is paired with where the line through the two before
    leads, so that two may pass each other. `places` are the parameter's.
    """
    found = [np.asarray(multipliers[0])] if len(multipliers) else []
    for k, values in enumerate(map(np.asarray, multipliers[1:]), start=1):
        ahead = found[-1]
        if k > 1 and places[k - 1] != places[k - 2]:
            share = abs((places[k] - places[k - 1]) / (places[k - 1] - places[k - 2]))
            ahead = ahead + min(share, LONGEST) * (found[-1] - found[-2])
        found.append(values[linear_sum_assignment(np.abs(ahead[:, None] - values))[1]])
    return found


def said_number(value: complex) -> str:
    """A multiplier; of a pair both: "-0.19 +- 0.558i"."""
    if value.imag == 0.0:
        return f"{value.real:.4g}"
    return f"{value.real:.4g} +- {abs(value.imag):.4g}i"


def _plain(name: str) -> str:
    return name.replace("_", " ").replace(".", " ")
