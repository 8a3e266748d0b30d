"""A log against the same programs on a bench of virtual time, under the same operator.

What the robot did, what the model says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from footfall.hybrid.doubt import Doubt
from footfall.machines.control.microseconds import SECOND
from footfall.machines.control.operator_sources import RecordedOperator
from footfall.machines.control.own_law import OwnLaw
from footfall.machines.control.settings import StackSettings
from footfall.machines.control.virtual_bench import VirtualBench
from footfall.realtime.firmware_build import CannotBuild
from footfall.realtime.own_law import mid_program
from footfall.realtime.plant import plant_of_log
from footfall.realtime.stack_log import StackLog, StackLogError
from footfall.record.verdict import Verdict

#: What is compared, with units.
COMPARED = {
    "pitch": "rad",
    "motor_vel_l": "turns/s",
    "motor_vel_r": "turns/s",
    "pid_output": "A",
    "bus_voltage": "V",
    "bus_current": "A",
}
#: A gait drifts in phase: differences are also told at the shift within this [s] that makes them
#: least.
MOST_SHIFT = 0.5
SETTLE = 1.0  # s after each time the law is switched on that are not compared
FEWEST = 50  # cycles with the law on, or there is nothing to compare
#: Ticks of its fastest clock for which a log is simulated: half an hour at 4 kHz, and two gigabytes
#: of what flowed at each.
MOST_TICKS = 8_000_000
#: A log has a record of each cycle but for those that were dropped: one with so many fewer, beyond
#: the first SPARE, is damaged.
MOST_CYCLES_A_RECORD, SPARE = 10, 10_000


class Mismatch(NamedTuple):
    """One signal, where the law was on in both."""

    name: str
    unit: str
    logged_mean: float
    simulated_mean: float
    logged_spread: float  #: standard deviation
    simulated_spread: float
    difference: float  #: root mean square, as it is
    shifted_difference: float  #: the same, of the same cycles of the log, at the best shift
    shift: float  #: s, positive: the simulation is ahead


class Replay(NamedTuple):
    """A log and its simulation on the log's own times."""

    log: StackLog
    scenario: str
    t: np.ndarray
    simulated: dict[str, np.ndarray]
    on: np.ndarray  #: where the law was on in both, settled
    mismatches: tuple[Mismatch, ...]
    outcome: str  #: how the simulated robot fared: "running", or what became of it
    fault: str  #: of the simulated supervisor

    @property
    def verdict(self) -> Verdict:
        """A comparison of nothing, or with gaps in it, says nothing about the model."""
        gaps = [
            row.name
            for row in self.mismatches
            if not all(np.isfinite(v) for v in row if isinstance(v, float))
        ]
        if not self.mismatches:
            return Verdict(
                (
                    Doubt(
                        "not_finite",
                        "the law was not on for long enough in both to compare anything",
                    ),
                )
            )
        return Verdict((Doubt("not_finite", f"{', '.join(gaps)}: not a number"),) if gaps else ())


def replay(
    log: StackLog,
    scenario: str | None = None,
    overrides: Sequence[str] | None = None,
    *,
    age: float = 0.0,
    progress: Callable[[float], None] | None = None,
) -> Replay:
    """Simulate what was logged.

    `scenario` and `overrides` are the log's own unless given; `age` [s] is how old a pitch is when
    the supervisor reads it. `progress` is told the simulated time.
    """
    if len(log) < 2:
        raise StackLogError(f"{log.path} has {len(log)} records: nothing to replay.")
    plant = plant_of_log(log, scenario, overrides)
    settings = _with_given_law(log, plant.settings)
    end = float(log["t"][-1]) + settings.high_period_us / SECOND
    ticks = (
        end * SECOND / min(settings.low_period_us, settings.high_period_us, plant.stepper.step_us)
    )
    if ticks > MOST_TICKS:
        raise StackLogError(
            f"{log.path}: {end:.4g} s are {ticks:.3g} ticks of its fastest clock; at most"
            f" {MOST_TICKS:.3g} are simulated."
        )
    if end * SECOND / settings.high_period_us > MOST_CYCLES_A_RECORD * len(log) + SPARE:
        raise StackLogError(
            f"{log.path}: {len(log)} records of {end:.4g} s, with a cycle every"
            f" {settings.high_period_us} us. Expected nearly one a cycle."
        )
    cycles, rest = divmod(round(age * SECOND), settings.high_period_us)
    try:
        bench = VirtualBench(
            settings,
            plant.stepper,
            mid_program(settings),
            plant.windings,
            plant.battery,
            RecordedOperator(log.records(), settings),
            sensor_delay_us=cycles * settings.high_period_us,
            sensor_lead_us=rest // settings.low_period_us * settings.low_period_us,
        )
        if progress is not None:
            for moment in np.arange(0.0, end, 0.25).tolist():
                bench.at(moment, lambda moment=moment: progress(moment))
        bench.run(end)
    except CannotBuild as error:
        raise StackLogError(f"{log.path}: its controller cannot run here: {error}") from None
    except ValueError as error:  # settings that each make sense, but not together
        raise StackLogError(
            f"{log.path}: the programs do not run with its settings ({error})."
        ) from None
    t, made = log["t"], bench.records
    times = np.array([record.t for record in made])
    if len(times) < 2:
        raise StackLogError(f"{log.path}: {end:.3g} s are less than two cycles: nothing to replay.")
    signals = {
        column: np.array(
            [np.nan if (v := getattr(record, column)) is None else v for record in made], float
        )
        for column in COMPARED
    }
    nearest = _nearest(t, times)
    logged_on = _settled(t, log["setpoint_on"])
    simulated_on = _settled(times, np.array([record.setpoint_on for record in made], bool))
    on = logged_on & simulated_on[nearest]
    period = settings.high_period_us / SECOND
    rows = tuple(
        _mismatch(
            column, period, (log[column], logged_on), (signals[column], simulated_on), nearest
        )
        for column in COMPARED
        if int(np.count_nonzero(np.isfinite(log[column]) & on)) >= FEWEST
    )
    simulated = {column: values[nearest] for column, values in signals.items()}
    fault = bench.supervisor.fault if bench.supervisor is not None else ""
    return Replay(
        log, scenario or log.scenario, t, simulated, on, rows, plant.stepper.outcome.name, fault
    )


def _with_given_law(log: StackLog, given: StackSettings) -> StackSettings:
    """The log's settings. A law of its own is run as it was given now, with the log's numbers.

    For the log's is C that somebody may have put there.
    """
    logged, own = log.settings.gains, given.gains
    if not isinstance(logged, OwnLaw):
        return log.settings
    if not isinstance(own, OwnLaw):
        raise StackLogError(
            f"{log.path} is of a controller of somebody's own, {logged.title[:80]!r}, and"
            " a log is not trusted to bring code. Name its file yourself: --set"
            " controller=FILE.py:CLASS, with the other changes of that run."
        )
    if own != logged._replace(numbers=own.numbers) or list(own.numbers) != list(logged.numbers):
        raise StackLogError(
            f"{log.path} is of the controller {logged.title[:80]!r}, and {own.title!r} is another"
            " law now: its C differs. Give the file as it was at that run (footfall"
            f" {log.versions.get('footfall', '?')[:20]} wrote it)."
        )
    return dataclasses.replace(log.settings, gains=own._replace(numbers=logged.numbers))


def _nearest(t: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Of each of these moments the number of the cycle nearest in time.

    The log's cycles are where the machine let them be.
    """
    nearest = np.clip(np.searchsorted(times, t), 1, len(times) - 1)
    return nearest - ((t - times[nearest - 1]) < (times[nearest] - t))


def _settled(t: np.ndarray, on: np.ndarray) -> np.ndarray:
    """Where the law is on and has been for SETTLE, each time anew."""
    rises = on & ~np.concatenate([[False], on[:-1]])
    since = t[np.maximum.accumulate(np.where(rises, np.arange(len(t)), 0))]
    return on & (t > since + SETTLE)


def _mismatch(
    name: str,
    period: float,
    log: tuple[np.ndarray, np.ndarray],
    simulation: tuple[np.ndarray, np.ndarray],
    nearest: np.ndarray,
) -> Mismatch:
    """`log`: values and where they count, a row each.

    `simulation`: the same, one each cycle without a gap; `nearest`: each row's cycle.

    The simulation is shifted by whole cycles of its own, so that a gap in the log does not move
    what follows it. Every shift is judged by the same rows of the log, those from which the largest
    shift either way stays where the law was on: a shift that had fewer rows to answer for would
    look better by chance.
    """
    (logged, logged_on), (simulated, simulated_on) = log, simulation
    count = len(simulated)
    good = logged_on & np.isfinite(logged)
    here = good & simulated_on[nearest] & np.isfinite(simulated[nearest])
    a, b = logged[here], simulated[nearest[here]]
    if len(a) < FEWEST:
        nan = float("nan")
        return Mismatch(
            name,
            COMPARED[name],
            *(float(np.mean(v)) if len(v) else nan for v in (a, b)),
            *[nan] * 5,
        )
    most = min(round(MOST_SHIFT / period), _longest(simulated_on) // 4)
    so_far = np.concatenate([[0], np.cumsum(simulated_on)])
    inside = (nearest >= most) & (nearest < count - most)
    on_around = (
        so_far[np.minimum(nearest + most + 1, count)] - so_far[np.maximum(nearest - most, 0)]
        == 2 * most + 1
    )
    window = here & inside & on_around
    if np.count_nonzero(window) < FEWEST // 4:
        most, window = 0, here
    shifts = np.arange(-most, most + 1)
    differences = [_rms(logged[window] - simulated[nearest[window] + shift]) for shift in shifts]
    best = most if differences[most] <= min(differences) else int(np.argmin(differences))
    return Mismatch(
        name,
        COMPARED[name],
        float(a.mean()),
        float(b.mean()),
        float(a.std()),
        float(b.std()),
        differences[most],
        differences[best],
        float(-shifts[best] * period),
    )


def _longest(flags: np.ndarray) -> int:
    """Length of the longest run of true ones."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return int(np.max(edges[1::2] - edges[::2], initial=0))


def _rms(differences: np.ndarray) -> float:
    """Of those that are known; infinite where most are not."""
    known = differences[np.isfinite(differences)]
    return (
        float(np.sqrt(np.mean(known * known)))
        if 2 * len(known) > len(differences)
        else float("inf")
    )
