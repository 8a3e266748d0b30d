"""The water runner and the two-leg plans on a GPU: does one kernel fit, how fast is it, and are its
numbers those of the CPU?

python benchmarks/gpu_runner.py [--lanes 262144] [--write]        on a machine with a GPU
"""

import argparse
import time

import numpy as np

from conditions import write


def runner(lanes: int, precision: str, steps: int = 400, step: float = 2.5e-4) -> dict:
    import equinox as eqx
    import jax

    from footfall import load
    from footfall.engines.lanes.batch import run_batch
    from footfall.engines.lanes.batch_plan import BatchPlan

    experiment = load("water-runner")
    draw = np.random.default_rng(4)
    frequency, mass = draw.uniform(6.0, 10.0, lanes), draw.uniform(0.05, 0.07, lanes)
    system = eqx.tree_at(
        lambda s: (s.drive.frequency, s.body.mass), experiment.system, (frequency, mass)
    )
    plan = BatchPlan(duration=steps * step, step=step, precision=precision)
    began = time.perf_counter()
    result = run_batch(system, experiment.start, plan)
    first, best = time.perf_counter() - began, np.inf
    for _ in range(3):
        began = time.perf_counter()
        result = run_batch(system, experiment.start, plan)
        best = min(best, time.perf_counter() - began)
    few = 64
    small = eqx.tree_at(
        lambda s: (s.drive.frequency, s.body.mass), experiment.system, (frequency[:few], mass[:few])
    )
    with jax.default_device(jax.devices("cpu")[0]):
        other = run_batch(
            small,
            experiment.start,
            BatchPlan(steps * step, step=step, precision="float64", path="xla"),
        )
    names = ("x", "y", "pitch", "vx", "vy", "pitch_rate")
    gap = max(
        float(
            np.max(
                np.abs(
                    np.asarray(getattr(result.end.x, n))[:few] - np.asarray(getattr(other.end.x, n))
                )
            )
        )
        for n in names
    )
    row = {
        "path": result.path, "notes": list(result.notes), "first_call": first, "seconds": best, "lanes": lanes, "steps": steps,
        "robot_steps_per_second": lanes * steps / best, "difference_from_cpu": gap,
        "residual": float(np.max(result.columns["relative_residual"])),
    }  # fmt: skip
    print(f"water-runner, {precision}: {row}", flush=True)
    return row


def plans(count: int) -> dict:
    from footfall import load
    from footfall.engines.lanes.plan_figures import evaluate_plan
    from footfall.scenario.vary import batched

    draw = np.random.default_rng(0)
    columns = {
        "gait.lift": draw.uniform(0.004, 0.02, count),
        "gait.stride": draw.uniform(0.04, 0.085, count),
        "gait.speed": draw.uniform(0.03, 0.3, count),
    }
    system = batched(load("two-leg-step"), columns)[0]
    began = time.perf_counter()
    found = evaluate_plan(system)
    first, best = time.perf_counter() - began, np.inf
    for _ in range(3):
        began = time.perf_counter()
        found = evaluate_plan(system)
        best = min(best, time.perf_counter() - began)
    row = {"path": found.path, "first_call": first, "seconds": best, "plans": count}
    print(f"two-leg plans: {row}", flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lanes", type=int, default=262_144)
    parser.add_argument("--plans", type=int, default=10_000)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    out = {}
    for precision in ("float32", "float64"):
        try:
            out[precision] = runner(arguments.lanes, precision)
        except Exception as error:  # a kernel that does not fit is a result too
            out[precision] = {"error": f"{type(error).__name__}: {str(error)[:500]}"}
            print(out[precision], flush=True)
    out["plans"] = plans(arguments.plans)
    if arguments.write:
        write("gpu_runner", out)


if __name__ == "__main__":
    main()
