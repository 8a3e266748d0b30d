"""A log against the same programs on a bench of virtual time, under the same operator: what the robot did, what the model says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from footfall.realtime.plant import load_plant
from footfall.realtime.stack_log import StackLog, StackLogError
from footfall.stack.microseconds import SECOND
from footfall.stack.mid import MidProgram
from footfall.stack.operator_sources import RecordedOperator
from footfall.stack.virtual_bench import VirtualBench

#: What is compared, with units.
COMPARED = {
    "pitch": "rad",
    "motor_vel_l": "turns/s",
    "motor_vel_r": "turns/s",
    "pid_output": "A",
    "bus_voltage": "V",
    "bus_current": "A",
}
#: A gait drifts in phase: differences are also told at the shift within this [s] that makes them least.
MOST_SHIFT = 0.5
SETTLE = 1.0  # s after the law is switched on that are not compared
FEWEST = 50  # cycles with the law on, or there is nothing to compare


class Mismatch(NamedTuple):
    """One signal, where the law was on in both."""

    name: str
    unit: str
    logged_mean: float
    simulated_mean: float
    logged_spread: float  #: standard deviation
    simulated_spread: float
    difference: float  #: root mean square, as it is
    shifted_difference: float  #: the same at the best shift
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


def replay(
    log: StackLog,
    scenario: str | None = None,
    overrides: Sequence[str] | None = None,
    *,
    age: float = 0.0,
    progress: Callable[[float], None] | None = None,
) -> Replay:
    """Simulate what was logged. `scenario` and `overrides` are the log's own unless given; `age` [s] is how old a pitch is when the
    supervisor reads it. `progress` is told the simulated time."""
    if len(log) < 2:
        raise StackLogError(f"{log.path} has {len(log)} records: nothing to replay.")
    name = scenario or log.scenario
    plant = load_plant(name, log.changes if overrides is None else overrides)
    settings = log.settings
    cycles, rest = divmod(round(age * SECOND), settings.high_period_us)
    bench = VirtualBench(
        settings,
        plant.stepper,
        MidProgram(settings),
        plant.windings,
        plant.battery,
        RecordedOperator(log.records(), settings),
        sensor_delay_us=cycles * settings.high_period_us,
        sensor_lead_us=rest // settings.low_period_us * settings.low_period_us,
    )
    end = float(log["t"][-1]) + settings.high_period_us / SECOND
    if progress is not None:
        for t in np.arange(0.0, end, 0.25):
            bench.at(float(t), lambda t=t: progress(float(t)))
    bench.run(end)
    t, simulated = log["t"], {}
    made = bench.records
    times = np.array([record.t for record in made])
    # The cycle nearest in time: the log's cycles are where the machine let them be.
    nearest = np.clip(np.searchsorted(times, t), 1, len(times) - 1)
    nearest -= (t - times[nearest - 1]) < (times[nearest] - t)
    for column in COMPARED:
        values = np.array([np.nan if (v := getattr(record, column)) is None else v for record in made], float)
        simulated[column] = values[nearest]
    also = np.array([record.setpoint_on for record in made], bool)[nearest]
    on = log["setpoint_on"] & also
    if on.any():
        on = on & (t > t[np.argmax(on)] + SETTLE)
    rows = tuple(_mismatch(name, t, log[name], simulated[name], on) for name in COMPARED if _known(log[name], on))
    fault = bench.supervisor.fault if bench.supervisor is not None else ""
    return Replay(log, name, t, simulated, on, rows, plant.stepper.outcome.name, fault)


def _known(values: np.ndarray, on: np.ndarray) -> bool:
    return int(np.count_nonzero(np.isfinite(values) & on)) >= FEWEST


def _mismatch(name: str, t: np.ndarray, logged: np.ndarray, simulated: np.ndarray, on: np.ndarray) -> Mismatch:
    good = on & np.isfinite(logged) & np.isfinite(simulated)
    a, b = logged[good], simulated[good]
    if len(a) < FEWEST:
        nan = float("nan")
        return Mismatch(name, COMPARED[name], *(float(np.mean(v)) if len(v) else nan for v in (a, b)), *[nan] * 5)
    period = float(np.median(np.diff(t)))
    shifts = np.arange(-round(MOST_SHIFT / period), round(MOST_SHIFT / period) + 1)
    differences = []
    for shift in shifts:  # of whole cycles
        first, last = max(0, -shift), len(a) - max(0, shift)
        differences.append(_rms(a[first:last] - b[first + shift : last + shift]))
    best = int(np.argmin(differences))
    return Mismatch(
        name,
        COMPARED[name],
        float(a.mean()),
        float(b.mean()),
        float(a.std()),
        float(b.std()),
        _rms(a - b),
        differences[best],
        float(-shifts[best] * period),
    )


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values * values))) if len(values) else float("inf")
