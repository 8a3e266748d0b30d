"""The gait that a run settles to: its state at a footfall, its speed, the time of a step.

By simulation, which any robot that goes somewhere can be asked for; `find_cycle` has the gait to
rounding, and its multipliers.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np

from footfall.engines.plan import Plan
from footfall.engines.simulate import simulate
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.record.trajectory import Trajectory

#: A speed that changed by less than this share from one half of the settled part to the next.
SETTLED = 1e-3
#: How often the time is doubled until it has.
DOUBLED = 3


@dataclasses.dataclass(frozen=True)
class Gait:
    """What repeats."""

    state: HybridState | None  #: just after its last footfall, ready to begin a run with
    speed: float  #: m/s, forward positive
    step_time: float  #: s, between footfalls of one side
    run: Trajectory  #: that settled to it
    rows: tuple[int, int]  #: of its last stride: just after one footfall, just before the next
    why_not: str = ""  #: no run can begin on it


class NoGait(RuntimeError):
    """There is no gait to settle to, and why."""


def settled_gait(
    system: AbstractHybridSystem,
    start: HybridState,
    plan: Plan,
    success: tuple[str, ...],
    progress: Callable[[float, int], None] | None = None,
) -> Gait:
    """Simulate until the speed no longer changes. Raises NoGait, with the reason."""
    travel = system.travel()
    if travel is None:
        raise NoGait("it does not travel: there is no gait to return to")
    for doubling in range(DOUBLED + 1):
        run = simulate(
            system,
            start,
            dataclasses.replace(plan, duration=plan.duration * 2**doubling),
            progress=progress,
        )
        if run.outcome is Outcome.interrupted:
            raise KeyboardInterrupt
        if run.outcome is not Outcome.reached_end:
            why = "" if run.outcome.name in success else ", which is no success"
            raise NoGait(f"it ended as {run.outcome.name} after {run.ending.t:.3g} s{why}")
        falls = footfalls(run, travel.step_counters[0])
        if len(falls) < 5 and doubling < DOUBLED:
            continue
        if len(falls) < 5:
            raise NoGait(f"it made {len(falls)} footfalls in {run.ending.t:.3g} s")
        t = np.array([run.t[row] for row in falls])
        way = np.array([run[travel.distance][row] for row in falls])
        half, end = len(falls) // 2, len(falls) - 1
        middle = (half + end) // 2
        early, late = (
            (way[b] - way[a]) / (t[b] - t[a]) for a, b in ((half, middle), (middle, end))
        )
        if abs(late - early) <= SETTLED * abs(late):
            break
    try:
        state, why_not = state_of_row(run, falls[-1], system, start), ""
    except ValueError as error:  # a control computer that rounds, or leaves things to chance
        state, why_not = None, str(error)
    # The whole of its last stride: what comes after the last footfall is only a part of one.
    rows = (int(falls[-2]), int(falls[-1]) - 1)
    period = float((t[end] - t[middle]) / (end - middle))
    return Gait(state, float(late), period, run, rows, why_not)


def footfalls(run: Trajectory, counter: str) -> np.ndarray:
    """Rows just after the count of a side rose."""
    return np.flatnonzero(np.diff(np.asarray(run[counter])) > 0) + 1


def state_of_row(
    run: Trajectory, row: int, system: AbstractHybridSystem, like: HybridState
) -> HybridState:
    """The state of one row, of the form of `like`, with the clocks of a run that begins there.

    Raises ValueError for a system that cannot begin anew.
    """
    x, m = (_filled(tree, run, row) for tree in like)
    m = jax.tree.map(np.asarray, system.restarted(m))
    return HybridState(x, m)


def _filled(struct: Any, run: Trajectory, row: int, prefix: str = "") -> Any:
    """A struct with the numbers of a row; what is no column stays."""
    changes: dict[str, Any] = {}
    for field in struct.__dataclass_fields__:
        value, name = getattr(struct, field), f"{prefix}{field}"
        if isinstance(value, eqx.Module):
            changes[field] = _filled(value, run, row, f"{name}.")
        elif np.ndim(value) == 0 and name in run.columns:
            changes[field] = np.asarray(run[name][row], np.asarray(value).dtype)[()]
        elif np.ndim(value) == 1 and f"{name}.0" in run.columns:
            legs = [run[f"{name}.{leg}"][row] for leg in range(len(value))]
            changes[field] = np.asarray(legs, np.asarray(value).dtype)
    return dataclasses.replace(struct, **changes)


def follows_clock(system: AbstractHybridSystem, state: HybridState) -> bool:
    """Whether its motion depends on the time itself: it can then begin at a footfall only."""
    traced = jax.make_jaxpr(lambda t: system.flow(t, *state).x)(0.0).jaxpr
    time = traced.invars[0]
    return any(time in equation.invars for equation in traced.eqns) or time in traced.outvars
