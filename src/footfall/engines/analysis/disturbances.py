"""What may go wrong for a walking robot: it is built otherwise, the ground is rough, it is pushed.

Each source has a number of runs, made from seeds alone, and runs any of them as a batch.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from footfall.engines.analysis.settled_gait import Gait, follows_clock, state_of_row
from footfall.engines.lanes.batch import BatchResult
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.system import HybridState
from footfall.numerics.chances import saltelli

#: Waves of the ground over which places are drawn: far more than it takes to be another ground.
WAVES_LONG = 200


@dataclasses.dataclass(frozen=True)
class Source:
    """One way to disturb it."""

    name: str
    count: int
    run: Callable[[np.ndarray, Callable[[float], None]], tuple[np.ndarray, BatchResult | None]]
    #: (numbers of runs, progress) -> which of them can start, and the results of those
    drawn: dict[str, np.ndarray]  #: what each run was given, by name, in SI


def built_otherwise(starts: Any, spreads: Sequence[Any], runs: int, seed: int) -> Source:
    """Numbers spread evenly either way, at the points that Sobol' indices need."""
    from scipy.stats import qmc

    inputs = len(spreads)
    cube = qmc.Sobol(2 * inputs, rng=np.random.default_rng(seed)).random(runs)
    points = saltelli(cube).reshape(-1, inputs)
    columns = {
        one.key: one.own * (1.0 + one.spread * (2.0 * points[:, n] - 1.0))
        for n, one in enumerate(spreads)
    }
    return Source("tolerances", len(points), _of_columns(starts, columns), columns)


def rough_ground(starts: Any, wavelength: float, runs: int, seed: int) -> Source:
    """Set down at places of one long rough ground."""
    places = np.random.default_rng(seed).uniform(0.0, WAVES_LONG * wavelength, runs)
    columns = {"terrain.shift": places}
    return Source("ground", runs, _of_columns(starts, columns), columns)


def pushed(
    starts: Any, system: Any, start: HybridState, gait: Gait, share: float, runs: int, seed: int
) -> list[Source]:
    """Pushes on each rate of the state, at any time of a stride (of a robot that follows a clock:
    at a footfall), up to a share of its largest value in the gait, either way.
    """
    first, last = gait.rows
    times = gait.run.t[first : last + 1]
    sources = []
    rates = [(n, v) for n, v, info in named_leaves(start.x) if info.rate_of and v is not None]
    at_footfall = follows_clock(system, start)
    for number, (name, value) in enumerate(rates):
        columns = [name] if np.ndim(value) == 0 else [f"{name}.{k}" for k in range(len(value))]
        largest = max(float(np.max(np.abs(gait.run[c][first : last + 1]))) for c in columns)
        if largest < 1e-9:
            continue
        draw = np.random.default_rng([seed, number])
        when, how_much = draw.uniform(times[0], times[-1], runs), draw.uniform(-1.0, 1.0, runs)
        rows = np.clip(np.searchsorted(times, when), 1, len(times) - 1) + first
        if at_footfall:
            rows = np.full(runs, last + 1)
        offsets = share * largest * how_much
        run = _of_states(starts, system, start, gait, name, rows, offsets)
        drawn = {"time": gait.run.t[rows] - times[0], "push": offsets}
        sources.append(Source(f"push on {name}", runs, run, drawn))
    return sources


def _of_columns(starts: Any, columns: dict[str, np.ndarray]) -> Any:
    def run(rows: np.ndarray, progress: Callable[[float], None]) -> Any:
        some = {key: values[rows] for key, values in columns.items()}
        able = starts.can_start(some)
        if not np.any(able):
            return able, None
        return able, starts.run({key: values[able] for key, values in some.items()}, progress)

    return run


def _of_states(
    starts: Any,
    system: Any,
    like: HybridState,
    gait: Gait,
    name: str,
    rows: np.ndarray,
    offsets: np.ndarray,
) -> Any:
    def run(which: np.ndarray, progress: Callable[[float], None]) -> Any:
        states = [state_of_row(gait.run, int(rows[k]), system, like) for k in which]
        state = jax.tree.map(lambda *leaves: np.stack(leaves, axis=-1), *states)
        x = _moved(state.x, name.split("."), offsets[which])
        return np.ones(len(which), bool), starts.run_from(HybridState(x, state.m), progress)

    return run


def _moved(struct: Any, path: list[str], offsets: np.ndarray) -> Any:
    field, *rest = path
    value = getattr(struct, field)
    new = _moved(value, rest, offsets) if rest else value + offsets
    return dataclasses.replace(struct, **{field: new})


def rough_settings(rise: float, wavelength: float, seed: int) -> list[str]:
    """A rough ground, as --set has it."""
    numbers = {"rise": rise, "wavelength": wavelength, "begin": wavelength, "seed": seed}
    return ["terrain=rough", *(f"terrain.{key}={value!r}" for key, value in numbers.items())]


def whole_power(runs: int) -> int:
    """The power of two that holds so many: Sobol' points are even only then."""
    return 2 ** math.ceil(math.log2(runs))
