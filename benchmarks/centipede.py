"""The centipede against a plain C loop of the same equations: one robot, and many.

python benchmarks/centipede.py [--rounds 5] [--lanes 1024] [--write]

The C loop (yardsticks/centipede.c) runs on one thread and keeps no books; ours keeps the energy
ledger, locates events, ticks its reflexes and carries outcomes. Times are per robot and step of 0.1
ms, semi-implicit Euler in both, on level ground and with both reflexes at a gap. A step's cost is
the difference of two runs of different length, so that starting and compiling are not in it; the
whole call is told beside it."""

import argparse
import time

import numpy as np

from conditions import write
from footfall import load
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.scenario.vary import batched
from yardsticks import plain_centipede as plain

STEP = 1e-4
CASES = {
    "level": ("centipede", {}),
    "gap": (
        "centipede-gap",
        {"gap_left": 0.1, "gap_right": 0.225, "lift_reflex": 1, "cantilever_reflex": 1},
    ),
}


def c_loop(case: str, precision: str, steps: int, rounds: int) -> float:
    """Seconds a step."""
    given = plain.parameters(precision, **CASES[case][1])
    best = np.inf
    for _ in range(rounds):
        state = plain.start(given)
        began = time.perf_counter()
        plain.run(given, state, steps)
        best = min(best, time.perf_counter() - began)
    return best / steps


def ours(
    case: str,
    precision: str,
    lanes: int,
    durations: tuple[float, float],
    rounds: int,
    threads: int | None,
) -> dict:
    """Seconds a robot and step, and of the longer whole call."""
    experiment = load(CASES[case][0])
    # Robots that differ, so that nothing is shared between lanes.
    head = np.linspace(-0.006, 0.0, lanes)
    system, state = batched(experiment, {"start.head": head})
    best = [np.inf, np.inf]
    for _ in range(rounds + 1):  # the first compiles
        for i, duration in enumerate(durations):
            plan = BatchPlan(duration, STEP, "semi-implicit-euler", precision)
            began = time.perf_counter()
            result = run_batch(system, state, plan, threads=threads)
            best[i] = min(best[i], time.perf_counter() - began)
    steps = (durations[1] - durations[0]) / STEP
    whole = best[1] / (lanes * durations[1] / STEP)
    return {
        "per_step": (best[1] - best[0]) / (lanes * steps),
        "whole_call": whole,
        "path": result.path,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lanes", type=int, default=1024)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    out: dict = {"lanes": arguments.lanes}
    for case in CASES:
        for short, precision in (("f64", "float64"), ("f32", "float32")):
            loop = c_loop(case, short, 20_000, arguments.rounds)
            single = ours(case, precision, 1, (1.0, 5.0), arguments.rounds, 1)
            many = ours(case, precision, arguments.lanes, (0.1, 0.5), arguments.rounds, None)
            row = {
                "c_loop": loop, "single": single, "batch": many,
                "single_against_c": single["per_step"] / loop, "batch_against_c": loop / many["per_step"],
            }  # fmt: skip
            out[f"{case}, {precision}"] = row
            print(
                f"{case:6s}{precision}: C loop {1e9 * loop:6.0f} ns a step; one robot"
                f" {1e9 * single['per_step']:6.0f} ns = {row['single_against_c']:.2f} times C"
                f" (whole call {1e9 * single['whole_call']:.0f} ns); {arguments.lanes} robots"
                f" {1e9 * many['per_step']:6.1f} ns = C / {row['batch_against_c']:.1f}"
                f" ({many['path']})",
                flush=True,
            )
    if arguments.write:
        write("centipede", out)


if __name__ == "__main__":
    main()
