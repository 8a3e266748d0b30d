"""Friction, delay and motor constant from a log.

The parameters with which lockstep simulation walks as the robot did.

A gait drifts in phase, so no curve is laid on another. What is compared are figures of the settled
gait (means, spreads, step time), and hundreds of candidates are simulated at once, as one batch.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.outcome import Outcome
from footfall.machines.control.pid import PidGains
from footfall.numerics.units import TURN
from footfall.realtime.plant import plant_of_log
from footfall.realtime.stack_log import StackLog, StackLogError
from footfall.record.verdict import Verdict
from footfall.scenario.load import Experiment
from footfall.scenario.vary import batched

TRACKED = ("computer.pitch", "computer.motor_speed_1", "computer.output", "computer.bus_power")
SHORTEST = 4.0  # s of walking at one set point, or there is nothing to fit
SETTLE = 0.4  # share of that which counts as settling
PIECES = 6  # into which the settled part is cut, to see how well its figures are known
SIMULATED = 14.0  # s of each candidate, of which the last SETTLED count
SETTLED = 8.0
COARSE = (7, 9, 7)  # candidates of the first look: friction, delay, motor constant
ROUNDS, CLOUD = 4, 120  # rounds of refinement, and candidates of each
#: No figure is trusted beyond this share of its size. Means are means; how much a signal swings
#: depends a little on when in the computer's cycle it was looked at, which a log does not tell:
#: most for the speed, which the law's steps shake.
LEAST_NOISE = (1e-3, 5e-3, 1e-3, 3e-2, 1e-3, 1e-3)
RIDGE = 1e-9
LONGEST_DELAY = 1.8  # periods of the high level: what a queue of two messages holds, with a margin
EDGE = 1e-3  # of a range: as near to its end is at its end


class Unknown(NamedTuple):
    """A parameter to be found."""

    key: str
    unit: str
    low: float
    high: float


class Estimate(NamedTuple):
    """A parameter found."""

    key: str
    unit: str
    value: float
    # standard deviation, from how well the log's figures are known and how well the model explains
    # them
    error: float
    assumed: float  #: what the scenario says
    # the search ended at the edge of where it looked: the truth may lie beyond, and `error` says
    # little
    at_bound: bool
    low: float = math.nan  #: of what was searched
    high: float = math.nan


class Figure(NamedTuple):
    """One figure of the gait."""

    name: str
    unit: str
    logged: float
    noise: float  #: how well it is known
    fitted: float


class Fit(NamedTuple):
    """What was found, and how well it explains the log."""

    estimates: tuple[Estimate, ...]
    figures: tuple[Figure, ...]
    #: Differences of the figures over their noise: root of the sum of squares per degree of
    #: freedom. About 1, or less, when the model explains the log.
    misfit: float
    window: tuple[float, float]  #: s, of the log
    setpoint: float
    simulated: int  #: candidates

    @property
    def verdict(self) -> Verdict:
        """What the estimates are worth, in words.

        An estimate at the edge of what was searched says where to search on, not what is true.
        """
        edges = [f"{e.key} = {e.value:.4g} {e.unit}".rstrip() for e in self.estimates if e.at_bound]
        said = (
            "lies at the edge of what was searched: the truth may lie beyond, and its +- says"
            " little"
        )
        return Verdict(tuple(Doubt("estimate_at_edge", f"{edge} {said}") for edge in edges))

    @property
    def settings(self) -> list[str]:
        """For `--set`; nothing where every parameter sits at an edge: that is no answer."""
        if all(e.at_bound for e in self.estimates):
            return []
        return [f"{e.key}={e.value:.6g}" for e in self.estimates]


FIGURES = (
    ("mean pitch", "rad"),
    ("spread of the pitch", "rad"),
    ("mean motor speed", "turns/s"),
    ("spread of the motor speed", "turns/s"),
    ("mean output of the law", "A"),
    ("mean power of the battery", "W"),
)


def fit(
    log: StackLog,
    scenario: str | None = None,
    overrides: Sequence[str] | None = None,
    *,
    progress: Callable[[float], None] | None = None,
) -> Fit:
    """The parameters with which the model walks as logged.

    Viscous friction of the drivetrain, age of the pitch, and torque constant of the motors.

    What the log cannot tell (masses, lengths, winding resistance) is taken from the scenario.
    """
    if not isinstance(log.settings.gains, PidGains):
        raise StackLogError(
            f"{log.path} is of a controller of somebody's own, {log.settings.gains.title[:80]!r}."
            " fit knows the shipped law only, whose gains it has in amperes whatever the motor."
            " Walk once with the shipped law: friction, age of the pitch and motor constant are the"
            " robot's, and hold for any law."
        )
    window, setpoint = _steady(log)
    logged, noise = _figures_of_log(log, window)
    experiment = plant_of_log(log, scenario, overrides).experiment
    constant, stack = float(experiment.system.motor.torque_constant), experiment.system.stack
    room = (
        stack.queue * stack.high_period
        - stack.mid_period
        - float(stack.high_jitter)
        - float(stack.mid_jitter)
    )
    unknowns = (
        Unknown("drivetrain.viscous", "N m s/rad", 0.0, 0.06),
        Unknown("stack.pitch_delay", "s", 0.0, min(LONGEST_DELAY * stack.high_period, room)),
        Unknown("motor.torque_constant", "N m/A", 0.6 * constant, 1.5 * constant),
    )
    bench = _Bench(experiment, log, setpoint, unknowns)
    low, high = (np.array([getattr(u, side) for u in unknowns]) for side in ("low", "high"))
    grid = np.meshgrid(*(np.linspace(0.0, 1.0, n) for n in COARSE), indexing="ij")
    points = low + np.stack([g.ravel() for g in grid], axis=1) * (high - low)
    seen = bench.figures(points)
    tell = progress or (lambda share: None)
    tell(0.3)
    costs = _costs(seen, logged, noise)
    if not np.isfinite(costs).any():
        raise StackLogError(
            f"{log.path}: no candidate walks at the set point of the log, {setpoint:g} rad. Is this"
            " the scenario it was made with?"
        )
    first = int(np.nanargmin(costs))
    best, width = points[first], 0.5 * (high - low) / np.array(COARSE) * 2.0
    tried = [(float(costs[first]), best, seen[first])]
    draw = np.random.default_rng(0)  # the same log gives the same answer
    slopes = None
    for round_ in range(ROUNDS):
        cloud = np.clip(best + width * draw.uniform(-1.0, 1.0, (CLOUD, len(unknowns))), low, high)
        seen = bench.figures(cloud)
        walks = np.isfinite(seen).all(axis=1)
        if np.count_nonzero(walks) >= 4 * len(unknowns):
            # A plane through the cloud: the delay acts in steps of the law's sample time, which a
            # plane smooths out.
            best, found_slopes = _step(
                cloud[walks], seen[walks], logged, noise, best, width, (low, high)
            )
            # Those of the widest cloud, where the delay's steps do not show.
            slopes = found_slopes if slopes is None else slopes
            reached = bench.figures(best[None])
            tried.append((float(_costs(reached, logged, noise)[0]), best, reached[0]))
        width = 0.5 * width
        tell(0.3 + 0.7 * (round_ + 1) / ROUNDS)
    if slopes is None:
        raise StackLogError(
            f"{log.path}: the gait nearest to the log's is about to fall, so nothing can be learned"
            " from its neighbours."
        )
    # A plane may lead astray, even to where no robot walks: the best that was really simulated
    # counts.
    cost, best, found = min(
        (each for each in tried if math.isfinite(each[0])), key=lambda each: each[0]
    )
    misfit = math.sqrt(cost / (len(FIGURES) - len(unknowns)))
    errors = _errors(slopes, noise, misfit, high - low)
    errors[1] = max(errors[1], 0.5 * stack.mid_period)  # the law looks no oftener
    at_bound = np.minimum(best - low, high - best) <= EDGE * (high - low)
    estimates = tuple(
        Estimate(
            u.key,
            u.unit,
            float(value),
            float(error),
            bench.assumed(u.key),
            bool(edge),
            u.low,
            u.high,
        )
        for u, value, error, edge in zip(unknowns, best, errors, at_bound, strict=True)
    )
    figures = tuple(
        Figure(*label, *map(float, row))
        for label, *row in zip(FIGURES, logged, noise, found, strict=True)
    )
    return Fit(estimates, figures, misfit, window, setpoint, bench.count)


def _step(
    cloud: np.ndarray,
    seen: np.ndarray,
    logged: np.ndarray,
    noise: np.ndarray,
    best: np.ndarray,
    width: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """The least squares point of a linear model of the figures, kept inside the cloud.

    And the figures' slopes.
    """
    offsets = (cloud - best) / width
    design = np.concatenate([np.ones((len(cloud), 1)), offsets], axis=1)
    model, *_ = np.linalg.lstsq(design, seen / noise, rcond=None)
    gap, slopes = logged / noise - model[0], model[1:].T
    matrix = slopes.T @ slopes + RIDGE * np.eye(len(best))
    move = np.clip(np.linalg.solve(matrix, slopes.T @ gap), -1.0, 1.0)
    return np.clip(best + move * width, *bounds), slopes * noise[:, None] / width


def _errors(slopes: np.ndarray, noise: np.ndarray, misfit: float, ranges: np.ndarray) -> np.ndarray:
    """Standard deviations of the unknowns, from the figures' slopes (figures x unknowns) and noise.

    A model that misses the figures by more than their noise is wrong somewhere, and so is what it
    says by as much. What the figures do not tell at all is known to lie in its range, no better.
    """
    _, sizes, directions = np.linalg.svd(slopes / noise[:, None] * ranges, full_matrices=False)
    variances = np.sum((directions / np.maximum(sizes, RIDGE)[:, None]) ** 2, axis=0)
    return np.minimum(np.sqrt(variances) * max(1.0, misfit), 1.0) * ranges


def _costs(seen: np.ndarray, logged: np.ndarray, noise: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.sum(((seen - logged) / noise) ** 2, axis=1)


class _Bench:
    """Candidates as lanes of one batch."""

    def __init__(
        self, experiment: Experiment, log: StackLog, setpoint: float, unknowns: Sequence[Unknown]
    ):
        self.experiment, self.log, self.setpoint, self.unknowns = (
            experiment,
            log,
            setpoint,
            unknowns,
        )
        self.count = 0

    def assumed(self, key: str) -> float:
        part, name = key.split(".")
        return float(getattr(getattr(self.experiment.system, part), name))

    def figures(self, points: np.ndarray) -> np.ndarray:
        """The figures of each candidate (a row); NaN where it does not walk."""
        self.count += len(points)
        system, gains = self.experiment.system, self.log.settings.gains
        assert isinstance(gains, PidGains)  # fit refuses others
        columns = {unknown.key: points[:, i] for i, unknown in enumerate(self.unknowns)}
        # The law's numbers are amperes; the scenario has them as torques, which a motor of another
        # constant would turn into others.
        per_ampere = (
            len(system.plant.joints)
            * float(system.motor.gear_ratio)
            * columns["motor.torque_constant"]
        )
        for key, value in (
            ("proportional", gains.proportional),
            ("integral", gains.integral),
            ("derivative", gains.derivative),
            ("integral_limit", gains.integral_limit),
            ("torque_limit", gains.output_limit),
        ):
            columns[f"controller.{key}"] = value * per_ampere
        columns["controller.filter_time"] = np.full(len(points), gains.filter_time)
        columns[system.setpoint_key] = np.full(len(points), self.setpoint)
        many, start = batched(self.experiment, columns)
        step = system.stack.resolution
        every = system.stack.ticks(system.stack.high_period)
        # Every other cycle tells as much of a gait as every one.
        plan = BatchPlan(
            SIMULATED, step, sample=TRACKED, sample_every=2 * every, sample_from=SIMULATED - SETTLED
        )
        result = run_batch(many, start, plan)
        pitch, speed, output, power = (result.samples[name] for name in TRACKED)
        table = _gait(pitch, speed / TURN, output, power).T
        table[result.columns["outcome"] != Outcome.reached_end] = np.nan
        return table


def _steady(log: StackLog) -> tuple[tuple[float, float], float]:
    """The longest stretch with the law on at one set point, without steering or fault, less its
    settling; and that set point.
    """
    t, setpoint = log["t"], log["pitch_setpoint"]
    good = log["setpoint_on"] & (log["fault"] == "") & (np.abs(log["steer"]) < 1e-9)
    change = np.flatnonzero(np.diff(good.astype(int)) != 0) + 1
    change = np.unique(
        np.concatenate([[0, len(t)], change, np.flatnonzero(np.diff(setpoint) != 0) + 1])
    )
    stretches = [
        (t[b - 1] - t[a], a, b) for a, b in itertools.pairwise(change) if good[a] and b - a > 1
    ]
    longest, a, b = max(stretches, default=(0.0, 0, 0))
    if longest < SHORTEST:
        raise StackLogError(
            f"{log.path}: the longest walk at one set point, without steering or a fault, took"
            f" {longest:.3g} s; a fit needs {SHORTEST:g} s."
        )
    return (float(t[a] + SETTLE * longest), float(t[b - 1])), float(setpoint[a])


def _figures_of_log(log: StackLog, window: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """The log's own figures, and how well each is known.

    From how they differ between pieces of the window.
    """
    t = log["t"]
    inside = (t >= window[0]) & (t <= window[1])
    pieces = np.array_split(np.flatnonzero(inside), PIECES)
    whole = _figures(log, inside)
    parts = np.array([_figures(log, rows) for rows in pieces])
    if not np.isfinite(whole).all():
        missing = ", ".join(
            name for (name, _), value in zip(FIGURES, whole, strict=True) if not np.isfinite(value)
        )
        raise StackLogError(
            f"{log.path}: {missing}: never read while it walked, so it cannot be fitted."
        )
    scatter = np.nanstd(parts, axis=0, ddof=1) / math.sqrt(PIECES)
    return whole, np.maximum(scatter, np.array(LEAST_NOISE) * np.abs(whole))


def _figures(log: StackLog, rows: np.ndarray) -> np.ndarray:
    pitch, output = log["pitch"][rows], log["pid_output"][rows]
    with np.errstate(all="ignore"):
        speeds = np.stack([log["motor_vel_l"][rows], log["motor_vel_r"][rows]])
        speed = speeds[0] if np.isnan(speeds[1]).all() else speeds.mean(axis=0)
        power = log["bus_voltage"][rows] * log["bus_current"][rows]
        return _gait(pitch, speed, output, power)


def _gait(
    pitch: np.ndarray, speed: np.ndarray, output: np.ndarray, power: np.ndarray
) -> np.ndarray:
    """The figures of a stretch of a gait (rows of samples).

    Weights that rise and fall smoothly: a part of a step at an end counts little.
    """

    def mean(values: np.ndarray) -> np.ndarray:
        weights = np.hanning(len(values) + 2)[1:-1].reshape(
            -1, *[1] * (values.ndim - 1)
        ) * np.isfinite(values)
        return np.sum(weights * np.where(np.isfinite(values), values, 0.0), axis=0) / np.sum(
            weights, axis=0
        )

    def spread(values: np.ndarray) -> np.ndarray:
        return np.sqrt(mean((values - mean(values)) ** 2))

    return np.array(
        [mean(pitch), spread(pitch), mean(speed), spread(speed), mean(output), mean(power)]
    )
