"""Logs of the control stack made without a clock.

From the bench of virtual time, and from lockstep.
"""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np

from footfall import load, simulate
from footfall.machines.control.mid import MidProgram
from footfall.machines.control.virtual_bench import VirtualBench
from footfall.realtime.plant import load_plant, stack_settings
from footfall.realtime.stack_log import StackLog, StackLogWriter, read_stack_log, to_json

STARTED = "2026-01-01T00:00:00+00:00"


def bench_log(
    path: Path,
    duration: float,
    *,
    overrides=(),
    age_us: int = 0,
    script=("0.05 motors-on", "0.1 run"),
    name: str = "rimless-wheel",
    watch=None,
) -> Path:
    """stack.mcap of a walk on the bench. `watch` gets (experiment, stepper) at every cycle."""
    experiment, stepper, settings, windings, battery = load_plant(name, overrides)
    bench = VirtualBench(
        settings,
        stepper,
        MidProgram(settings),
        windings,
        battery,
        list(script),
        sensor_lead_us=age_us,
    )
    for cycle in range(round(100 * duration) if watch else 0):
        bench.at(0.01 * cycle, lambda: watch(experiment, stepper))
    bench.run(duration)
    about = {
        "settings": settings.to_json(),
        "scenario": name,
        "versions": "{}",
        "started": STARTED,
    }
    with path.open("wb") as stream:
        writer = StackLogWriter(stream, about)
        for record in bench.records:
            writer.add(to_json(record))
        writer.finish("the time was over")
    return path


def damaged_log(
    path: Path,
    good: Path,
    *,
    settings: dict | None = None,
    about: dict | None = None,
    records: dict | None = None,
) -> Path:
    """A copy of a log with some of its settings, of what it says about itself, or of its records
    (by number) changed, unchecked.
    """
    log = read_stack_log(good)
    said = {
        "settings": log.settings.to_json(),
        "scenario": log.scenario,
        "versions": "{}",
        "started": STARTED,
    } | (about or {})
    if settings:
        changed = json.loads(said["settings"])
        changed["gains"] |= settings.pop("gains", {})
        said["settings"] = json.dumps(changed | settings)
    with path.open("wb") as stream:
        writer = StackLogWriter(stream, said)
        for number, record in enumerate(log.records()):
            values = to_json(record) | (records or {}).get(number, {})
            writer.add_data(json.dumps(values).encode())
        writer.finish("made")
    return path


def lockstep_log(truth: dict[str, float], duration: float = 14.0) -> StackLog:
    """What a supervisor would have logged of a robot with these parameters, whose law has the usual
    numbers in amperes.
    """
    usual = load("rimless-wheel-closed-loop")
    settings = stack_settings(usual.system)
    gains = settings.gains
    per_ampere = 2 * float(usual.system.motor.gear_ratio) * truth["motor.torque_constant"]
    law = dict(
        zip(
            ("proportional", "integral", "derivative", "integral_limit", "torque_limit"),
            gains[:5],
            strict=True,
        )
    )
    changes = [f"{key}={value}" for key, value in truth.items()]
    changes += [f"controller.{key}={value * per_ampere}" for key, value in law.items()]
    experiment = load("rimless-wheel-closed-loop", changes, duration=duration)
    run = simulate(
        experiment.system, experiment.start, dataclasses.replace(experiment.plan, sample_rate=100.0)
    )
    rows, turn = len(run.t), 2 * math.pi
    unknown, nothing = np.full(rows, np.nan), np.zeros(rows, int)
    columns = {
        "t": run.t,
        "cycle": np.arange(rows),
        "pitch": run["computer.pitch"],
        "pitch_setpoint": run["computer.setpoint"],
        "motor_pos_l": unknown,
        "motor_pos_r": unknown,
        "motor_vel_l": run["computer.motor_speed_1"] / turn,
        "motor_vel_r": run["computer.motor_speed_2"] / turn,
        "pid_output": run["computer.output"],
        "bus_voltage": run["computer.bus_voltage"],
        "bus_current": run["computer.bus_current"],
        "setpoint_on": np.ones(rows, bool),
        "steer": np.zeros(rows),
        "motors_on": np.ones(rows, bool),
        "fault": np.array([""] * rows),
        "late_cycles": nothing,
        "dropped_records": nothing,
        "rejected_frames": nothing,
        "period": unknown,
        "work": unknown,
    }
    return StackLog(Path("made.mcap"), columns, settings, "rimless-wheel", {}, STARTED, None)
