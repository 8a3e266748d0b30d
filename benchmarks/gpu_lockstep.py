"""The wheel with its control computer on a GPU: does one kernel fit, how fast is it, and are its
numbers those of the CPU?

python benchmarks/gpu_lockstep.py [--lanes 262144] [--seconds 2] [--write]        on a machine with
a GPU
"""

import argparse
import time

import numpy as np

from conditions import write


def measure(lanes: int, precision: str, seconds: float) -> dict:
    import jax

    from footfall import load
    from footfall.engines.lanes.batch import run_batch
    from footfall.engines.lanes.batch_plan import BatchPlan
    from footfall.scenario.vary import batched

    experiment = load("rimless-wheel-closed-loop")
    columns = {
        "stack.seed": np.arange(float(lanes)),
        "stack.frame_loss": np.linspace(0.0, 0.3, lanes),
    }
    plan = BatchPlan(seconds, 250e-6, precision=precision)
    system, start = batched(experiment, columns)
    began = time.perf_counter()
    result = run_batch(system, start, plan)
    first, best = time.perf_counter() - began, np.inf
    for _ in range(3):
        began = time.perf_counter()
        result = run_batch(system, start, plan)
        best = min(best, time.perf_counter() - began)
    few = 64
    rows = np.unique(np.linspace(0, lanes - 1, few).round().astype(int))
    with jax.default_device(jax.devices("cpu")[0]):
        other = run_batch(
            *batched(experiment, {k: v[rows] for k, v in columns.items()}),
            BatchPlan(seconds, 250e-6, path="xla"),
        )
    ends = ("spoke_angle", "torso_angle", "spoke_length", "spoke_rate", "torso_rate")
    gaps = [
        np.abs(np.asarray(getattr(result.end.x, n))[rows] - np.asarray(getattr(other.end.x, n)))
        for n in ends
    ]
    row = {
        "path": result.path,
        "notes": list(result.notes),
        "first_call": first,
        "seconds": best,
        "lanes": lanes,
        "simulated": seconds,
        "robot_steps_per_second": lanes * seconds / 250e-6 / best,
        "times_real_time": lanes * seconds / best,
        "difference_from_cpu_median": float(np.median(np.max(gaps, axis=0))),
        "difference_from_cpu_worst": float(np.max(gaps)),
        "equal_outcomes": float(
            np.mean(result.columns["outcome"][rows] == other.columns["outcome"])
        ),
    }
    print(f"{precision}: {row}", flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanes", type=int, default=262144)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    figures = {
        precision: measure(asked.lanes, precision, asked.seconds)
        for precision in ("float32", "float64")
    }
    if asked.write:
        write("gpu_lockstep", figures)


if __name__ == "__main__":
    main()
