"""The centipede on a GPU: leg-contact steps per second, and whether its numbers are those of the
CPU.

python benchmarks/gpu_centipede.py [--lanes 262144] [--path xla] [--write]        on a machine with
a GPU
"""

import argparse
import time

import jax
import numpy as np

from conditions import write
from footfall import load
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.scenario.vary import batched

STEP = 1e-4


def measured(lanes: int, precision: str, steps: int, rounds: int, path: str = "auto") -> dict:
    experiment = load("centipede-gap")
    draw = np.random.default_rng(0)
    columns = {
        "terrain.gap_width": draw.uniform(0.02, 0.2, lanes),
        "terrain.gap_start": draw.uniform(0.03, 0.16, lanes),
    }
    times, plans = (
        [],
        [
            BatchPlan(n * STEP, STEP, "semi-implicit-euler", precision, path=path)
            for n in (steps // 4, steps)
        ],
    )
    batch = batched(experiment, columns)
    first = time.perf_counter()
    for plan in plans:
        run_batch(*batch, plan)
    first = time.perf_counter() - first
    for plan in plans:
        best = np.inf
        for _ in range(rounds):
            began = time.perf_counter()
            result = run_batch(*batch, plan)
            best = min(best, time.perf_counter() - began)
        times.append(best)
    # A quarter of the steps takes a quarter of the kernel's time: where the two calls hardly differ,
    # they measure the host.
    if times[1] - times[0] < 0.5 * times[1]:
        raise RuntimeError(f"{times} s for {steps // 4} and {steps} steps: too short, take more")
    per_step = (times[1] - times[0]) / (steps - steps // 4)
    few = 32
    small = batched(experiment, {key: values[:few] for key, values in columns.items()})
    with jax.default_device(jax.devices("cpu")[0]):
        plan = BatchPlan(steps * STEP, STEP, "semi-implicit-euler", "float64", path="xla")
        other = run_batch(*small, plan)
    gap = float(
        np.max(np.abs(np.asarray(result.end.x.nodes.x)[:, :few] - np.asarray(other.end.x.nodes.x)))
    )
    row = {
        "path": result.path, "notes": list(result.notes), "lanes": lanes, "steps": steps, "first_calls": first,
        "seconds_per_step": per_step, "robot_steps_per_second": lanes / per_step, "leg_contact_steps_per_second": 12 * lanes / per_step,
        "whole_call": times[1], "difference_from_cpu": gap,
    }  # fmt: skip
    print(f"centipede-gap, {precision}: {row}", flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lanes", type=int, default=262_144)
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--path", default="auto", choices=("auto", "gpu", "xla"))
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    out = {"device": str(jax.devices()[0].device_kind)}
    for precision in ("float32", "float64"):
        out[precision] = measured(
            arguments.lanes, precision, arguments.steps, arguments.rounds, arguments.path
        )
    if arguments.write:
        write("gpu_centipede", out)


if __name__ == "__main__":
    main()
