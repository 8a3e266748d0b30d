"""What a robot does that walks on: Lyapunov exponents of its return map.

Along an orbit v_(k+1) = P(v_k) small differences are multiplied by the exact J_k, step by step.
With Q_(k+1) R_k = J_k Q_k (gaits.11) the mean of log |diag R_k| is how fast each of them grows in a
step: above zero the walk is chaotic, below it comes to repeat itself.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from footfall.engines.analysis.return_map import NoCycle, ReturnMap
from footfall.engines.analysis.symmetry import only_adds_up
from footfall.engines.jax_setup import prepare_jax
from footfall.engines.plan import EventEngine, Plan
from footfall.hybrid.system import AbstractHybridSystem, HybridState

#: A difference that is less than this after a step is gone: it has no exponent.
GONE = 1e-12
#: Most steps after which a walk may be seen to repeat itself, and how well it then does, as a share
#: of what its numbers vary by.
MOST, REPEATS = 16, 1e-5
#: Parts of an orbit whose means give the error of the exponents.
PARTS = 10


class Lyapunov(NamedTuple):
    """A walk of many steps, and what becomes of small differences on it."""

    exponents: np.ndarray  #: 1/step, largest first; what is gone after a step has none
    error: float  #: of the largest: its standard error over parts of the walk
    steps: int  #: that were counted
    step_time: float  #: s, mean
    repeats_after: int  #: steps, where it comes to repeat itself; else 0
    ended: str = ""  #: why it did not walk on
    names: tuple[str, ...] = ()  #: of the numbers of ...
    orbit: np.ndarray = np.zeros((0, 0))  #: ... the state just after each step that was counted
    last: HybridState | None = None  #: the state just after the last step

    @property
    def largest(self) -> float:
        """1/step; minus infinity where every difference is gone after a step."""
        return float(self.exponents[0]) if len(self.exponents) else -math.inf

    @property
    def chaotic(self) -> bool:
        """Whether differences grow, beyond the error."""
        return not self.ended and not self.repeats_after and self.largest > 3.0 * self.error

    @property
    def words(self) -> str:
        """What it does, in a sentence."""
        if self.ended:
            steps = "a step" if self.steps == 1 else f"{self.steps or 'no'} steps"
            return f"it walks {steps}. {self.ended[0].upper()}{self.ended[1:]}"
        if self.repeats_after:
            often = "every step" if self.repeats_after == 1 else f"after {self.repeats_after} steps"
            return f"it walks on, and comes to repeat itself {often}"
        if self.chaotic:
            return (
                "it walks on and never repeats itself: small differences grow by"
                f" {self.largest:.3g} +- {self.error:.1g} a step (twice as large in"
                f" {math.log(2.0) / self.largest:.2g} steps), which is chaos"
            )
        return (
            f"it walks on and does not repeat itself within {MOST} steps; small differences neither"
            f" grow nor die out ({self.largest:.2g} +- {self.error:.1g} a step)"
        )

    def __repr__(self) -> str:
        values = ", ".join(f"{value:.4g}" for value in self.exponents)
        return f"{self.words}\n  Lyapunov exponents: {values} a step, over {self.steps} steps"


def lyapunov(
    system: AbstractHybridSystem,
    start: HybridState,
    event: str,
    plan: Plan | None = None,
    *,
    steps: int = 500,
    skip: int = 100,
    leg: int = 0,
    progress: Callable[[float], None] = lambda _: None,
) -> Lyapunov:
    """Let a robot walk on, and say whether it repeats itself, is chaotic, or falls.

    Arguments:
        system, start: a robot and where it begins.
        event: the event a step ends with ("touchdown").
        plan: tolerances, and as its duration the longest a single step may take.
        steps, skip: that are counted, and that are taken before.
        leg: of like legs, which one's event.
        progress: gets the share that is done.

    Returns a `Lyapunov`: exponents of the return map, with their error, and what it does in words.
    A robot that stops before is no error: `ended` says why. A clock is set at each event.

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel")
    >>> walk = ff.lyapunov(wheel.system, wheel.start, "touchdown", steps=20, skip=20)
    >>> walk.words, round(walk.largest, 4)
    ('it walks on, and comes to repeat itself every step', -0.4239)
    """
    prepare_jax()
    plan = plan or Plan(engine=EventEngine(rtol=1e-10, atol=1e-12))
    return long_walk(ReturnMap.of(system, start, event, plan, leg=leg), steps, skip, progress)


def long_walk(
    map_: ReturnMap,
    steps: int,
    skip: int,
    progress: Callable[[float], None] = lambda _: None,
) -> Lyapunov:
    """The same of a return map, from its start."""
    flat, counts, seen, grown, times, ended = map_.start, map_.counts, [], [], [], ""
    basis, kept = None, None
    for k in range(skip + steps):
        progress(k / (skip + steps))
        try:
            mapped = map_.at(flat, counts)
        except NoCycle as none:
            ended = str(none)
            break
        jacobian = mapped.slopes.numbers[: len(flat)].T
        flat, counts = mapped.stride.numbers, mapped.after
        if kept is None or basis is None:
            # What only adds up neither grows nor dies out, and says nothing.
            kept = ~only_adds_up(jacobian, np.ones(len(flat), bool))
            basis = np.eye(int(kept.sum()))
        basis, upper = np.linalg.qr(jacobian[np.ix_(kept, kept)] @ basis)
        if k < skip:  # also the directions turn to where they grow
            continue
        grown.append(np.abs(np.diag(upper)))
        seen.append(flat[kept])
        times.append(float(mapped.stride.t))
    walk = _judged(np.array(grown), np.array(seen), np.array(times), ended)
    named = () if kept is None else tuple(np.array(map_.names)[kept].tolist())
    # Of one that stops, every step counts.
    taken = k if ended else walk.steps
    last = map_.state(flat, counts)
    return walk._replace(names=named, orbit=np.array(seen), steps=taken, last=last)


def _judged(grown: np.ndarray, seen: np.ndarray, times: np.ndarray, ended: str) -> Lyapunov:
    if not len(grown):
        return Lyapunov(np.zeros(0), math.nan, 0, math.nan, 0, ended)
    alive = np.median(grown, axis=0) > GONE
    logs = np.log(np.maximum(grown[:, alive], 1e-300))
    order = np.argsort(-logs.mean(axis=0), kind="stable")
    logs = logs[:, order]
    error = math.inf
    if logs.size and len(logs) >= 2 * PARTS:
        parts = [part[:, 0].mean() for part in np.array_split(logs, PARTS)]
        error = float(np.std(parts, ddof=1) / math.sqrt(PARTS))
    after = 0 if ended else _repeats_after(seen)
    return Lyapunov(logs.mean(axis=0), error, len(grown), float(times.mean()), after, ended)


def _repeats_after(seen: np.ndarray) -> int:
    """Steps after which the end of a walk is where it was; 0 for none.

    A number that stays the same but for rounding varies by nothing.
    """
    late = seen[-4 * MOST :]
    size = np.maximum(np.ptp(seen, axis=0), 1e-3 * np.max(np.abs(seen), axis=0))
    for count in range(1, min(MOST, len(late) // 2) + 1):
        apart = np.abs(late[count:] - late[:-count])[-count:]
        if np.max(apart / np.where(size > 0, size, 1.0)) < REPEATS:
            return count
    return 0
