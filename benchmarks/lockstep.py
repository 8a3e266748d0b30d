"""What lockstep costs: seconds of real time in a second of computing, one robot and many, against
the same loop in plain Python bytes.

python benchmarks/lockstep.py --write
"""

import argparse
import dataclasses
import json
import os
import platform
import time
from pathlib import Path

import numpy as np

import footfall as ff
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.lanes.resident import ResidentLane
from footfall.machines.control.mid import MidProgram
from footfall.machines.control.virtual_bench import VirtualBench
from footfall.realtime.plant import load_plant
from footfall.scenario.vary import batched

NAME = "rimless-wheel-closed-loop"
RESULTS = Path(__file__).parent / "results" / "lockstep.json"


def best(what, rounds):
    what()  # compiles
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        what()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--duration", type=float, default=12.0)
    parser.add_argument("--lanes", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    experiment = ff.load(NAME, duration=asked.duration)
    system, start = experiment.system, experiment.start
    rows, load = {}, os.getloadavg()[0]

    def note(name, seconds, robots=1):
        rows[name] = {"seconds": seconds, "times_real_time": robots * asked.duration / seconds}
        print(f"{name:45s} {seconds:8.3f} s   {rows[name]['times_real_time']:12.0f} x real time")

    def bare():
        robot = ResidentLane(system, start, 250e-6, duration=asked.duration)
        began = time.perf_counter()
        robot.advance(round(asked.duration / 250e-6))
        return time.perf_counter() - began

    bare()
    note("one robot, motion only", min(bare() for _ in range(asked.rounds)))
    plan = dataclasses.replace(experiment.plan, sample_rate=100.0)
    note(
        "one robot, simulate() at 100 samples/s",
        best(lambda: ff.simulate(system, start, plan), asked.rounds),
    )
    note("one robot, simulate() at 1000 samples/s",
         best(lambda: ff.simulate(system, start, dataclasses.replace(plan, sample_rate=1000.0)), asked.rounds))  # fmt: skip
    for precision in ("float64", "float32"):
        many = batched(experiment, {"stack.seed": np.arange(float(asked.lanes))})
        batch = BatchPlan(asked.duration, 250e-6, precision=precision)
        seconds = best(lambda many=many, batch=batch: run_batch(*many, batch), 2)
        note(f"{asked.lanes} robots, {precision}", seconds, asked.lanes)

    def bytes_bench():
        _, stepper, settings, windings, battery = load_plant("rimless-wheel")
        bench = VirtualBench(
            settings,
            stepper,
            MidProgram(settings),
            windings,
            battery,
            ["0.05 motors-on", "0.1 run"],
        )
        bench.run(asked.duration)

    note("the programs with real bytes, virtual time", best(bytes_bench, 1))
    if asked.write:
        conditions = {
            "scenario": NAME,
            "duration": asked.duration,
            "step": 250e-6,
            "machine": platform.processor() or platform.machine(),
            "cores": len(os.sched_getaffinity(0)),
            "load_before": load,
            "python": platform.python_version(),
        }
        RESULTS.write_text(json.dumps({"conditions": conditions, "rows": rows}, indent=2) + "\n")
        print(f"written: {RESULTS}")


if __name__ == "__main__":
    main()
