"""The water runner against SciPy on the same equations: one second on water, half a second on
ground; and a batch as a C++ kernel.

    python benchmarks/water_runner.py                     all sections, about ten minutes, most of
                                                          it compilation and plain SciPy
    python benchmarks/water_runner.py --write             and results/water_runner.json
    python benchmarks/water_runner.py --sections ground --rounds 3

SciPy's side is `scipy_runner.py`: *plain*, as one writes it from a paper, and *lean*,
hand-optimised Python floats. It keeps no ledger, and locates events only where its row says so.
Ours keeps the ledger and locates every touchdown, lift and turn of the cranks; no samples. Both
have equal tolerances, and each row gives the error it left in the body's six states against DOP853
at 1e-12.

Sides alternate, the best of several rounds counts, compilation is apart. Times are of the
processor, not of the clock: on a machine with other work, a long run is interrupted more often than
a short one, which would flatter ours. Both sides use one thread, and on an idle machine the two
times are the same. "whole loops" is JAX as footfall sets it up (`engines/jax_setup.py`), "started
before" as a program leaves it that uses JAX first; each has a process of its own."""

import argparse
import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import scipy_runner as scipy_side
from conditions import write

SECTIONS = ("water", "ground", "batch")
MODES = ("whole loops", "started before")
BODY = ("x", "y", "pitch", "vx", "vy", "pitch_rate")
WATER = {
    "scenario": "water-runner",
    "duration": 1.0,
    "rtol": 1e-8,
    "atol": 1e-10,
    "ours": ("dopri8", "dopri5", "tsit5"),
}
# Tolerance and longest step of the physics page (section 8) for runs on ground. A solver that
# footfall does not have is left out.
GROUND = {
    "scenario": "water-runner-ground", "duration": 0.5, "rtol": 1e-6, "atol": 1e-8,
    "ours": ("dopri8", "rodas5p", "rodas4", "kvaerno5", "kvaerno3"),
}  # fmt: skip
LONGEST = 5e-3  # s
LANES, STEP, STEPS = 4096, 2.5e-4, 1000
PLAIN_ROUNDS = 2  # plain SciPy takes seconds: twice will do

Run = Callable[[], tuple[np.ndarray, int]]


# --- ours, in a process of its own ----------------------------------------------------------------


def serve() -> None:
    """For each line of (section, solver) on standard input, one line of figures.

    The best of five runs.
    """
    from footfall import load, simulate
    from footfall.engines.events.solvers import SOLVERS

    for line in sys.stdin:
        job, solver = json.loads(line)
        if solver not in SOLVERS:
            print(json.dumps(None), flush=True)
            continue
        words = [f"sim.{key}={job[key]}" for key in ("duration", "rtol", "atol")]
        experiment = load(job["scenario"], ["sim.sample_rate=auto", f"sim.solver={solver}", *words])
        begin = time.perf_counter()
        run = simulate(experiment.system, experiment.start, experiment.plan)
        first, best = time.perf_counter() - begin, np.inf
        for _ in range(5):
            begin = time.process_time()
            run = simulate(experiment.system, experiment.start, experiment.plan)
            best = min(best, time.process_time() - begin)
        print(
            json.dumps({
                "seconds": best,
                "first_call": first,
                "solver_steps": run.ending.steps,
                "jumps": run.ending.jumps,
                "state": [run.ending.state[name] for name in BODY],
                "ledger_residual": run.ledger.relative_residual,
            }),
            flush=True,
        )  # fmt: skip


class Ours:
    """A process that simulates on demand, with small loops compiled whole or not."""

    def __init__(self, mode: str):
        from footfall.engines.jax_setup import FLAG

        environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
        if mode == "started before":
            # XLA's own value; footfall leaves it alone.
            environment["XLA_FLAGS"] = FLAG.rpartition("=")[0] + "=1024"
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, job: dict, solver: str) -> dict | None:
        """Figures, or None for a solver that footfall does not have."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps([job, solver]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{solver}: the process that ran it has ended")
        return json.loads(answer)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


# --- sections -------------------------------------------------------------------------------------


def keep(best: dict, name: str, row: dict) -> None:
    """The fastest round of a row; of first calls the first, which compiled."""
    old = best.get(name, row)
    fastest = min(old, row, key=lambda one: one["seconds"])
    best[name] = fastest | {key: old[key] for key in ("first_call",) if key in old}


def compare(job: dict, theirs: dict[str, Run], exact: np.ndarray, rounds: int) -> dict:
    """Rows by name: seconds, state, and the error against `exact`."""
    best: dict[str, dict] = {}
    sides = {mode: Ours(mode) for mode in MODES}
    for turn in range(rounds):
        for name, run in theirs.items():
            if "plain" in name and turn >= PLAIN_ROUNDS:
                continue
            begin = time.process_time()
            state, evaluations = run()
            seconds = time.process_time() - begin
            keep(
                best,
                f"SciPy {name}",
                {"seconds": seconds, "state": state[:6].tolist(), "evaluations": evaluations},
            )
        for mode, side in sides.items():
            for solver in job["ours"]:
                row = side.run(job, solver)
                if row is not None:
                    keep(best, f"{solver}, {mode}", row)
    for side in sides.values():
        side.close()
    for row in best.values():
        row["error"] = float(np.max(np.abs(np.array(row["state"]) - exact[:6])))
    return best


def show(job: dict, rows: dict, yardsticks: tuple[str, ...]) -> dict:
    """A table; the last columns say how many times faster a row is than each yardstick."""
    print(
        f"\n{job['scenario']}: {job['duration']:g} s, rtol {job['rtol']:g}, atol {job['atol']:g};"
        " times faster than SciPy's"
    )
    print(
        f"  {'':26}{'ms':>9}{'error':>10}{'steps':>8}"
        + "".join(f"{name:>16}" for name in yardsticks)
    )
    for name, row in rows.items():
        row["times_faster_than"] = {
            other: rows[f"SciPy {other}"]["seconds"] / row["seconds"] for other in yardsticks
        }
        ratios = "".join(f"{row['times_faster_than'][other]:>14.1f} x" for other in yardsticks)
        print(
            f"  {name:26}{1e3 * row['seconds']:>9.1f}{row['error']:>10.1e}{row.get('solver_steps', ''):>8}{ratios}",
            flush=True,
        )
    return rows


def scipy_runs(
    job: dict,
    start: np.ndarray,
    flow: Callable,
    words: str,
    methods: tuple[str, ...],
    **options: Any,
) -> dict[str, Run]:
    """Calls of SciPy by name."""

    def run(method: str) -> tuple[np.ndarray, int]:
        return scipy_side.integrate(
            flow, start, job["duration"], method, job["rtol"], job["atol"], **options
        )

    return {f"{method} {words}": functools.partial(run, method) for method in methods}


def on_water(rounds: int) -> dict:
    start, lean, plain = (
        scipy_side.WATER_START,
        scipy_side.water_flow(),
        scipy_side.plain_water_flow(),
    )
    exact, _ = scipy_side.integrate(lean, start, WATER["duration"], "DOP853", 1e-12, 1e-14)
    # Where touchdowns and lifts are located: the state does not depend on them, so it need not be
    # restarted there.
    theirs = (
        scipy_runs(WATER, start, lean, "lean", ("RK45", "DOP853", "LSODA", "odeint"))
        | scipy_runs(
            WATER,
            start,
            lean,
            "lean, events",
            ("RK45", "DOP853"),
            events=scipy_side.water_touches(),
        )
        | scipy_runs(WATER, start, plain, "plain", ("RK45", "DOP853"))
    )
    return show(
        WATER,
        compare(WATER, theirs, exact, rounds),
        ("RK45 lean", "DOP853 lean", "RK45 plain", "DOP853 plain"),
    )


def on_ground(rounds: int) -> dict:
    start, lean, plain = (
        scipy_side.GROUND_START,
        scipy_side.ground_flow(),
        scipy_side.plain_ground_flow(),
    )
    exact, _ = scipy_side.integrate(
        lean, start, GROUND["duration"], "DOP853", 1e-12, 1e-14, max_step=LONGEST
    )
    theirs = scipy_runs(
        GROUND, start, lean, "lean", ("LSODA", "odeint", "Radau", "BDF", "DOP853"), max_step=LONGEST
    )
    theirs |= scipy_runs(GROUND, start, plain, "plain", ("LSODA", "Radau"), max_step=LONGEST)
    return show(
        GROUND,
        compare(GROUND, theirs, exact, rounds),
        ("LSODA lean", "Radau lean", "LSODA plain", "Radau plain"),
    )


def in_batch(rounds: int) -> dict:
    """Whole calls of the step engine, from arrays to tables, with crank frequency and mass of every
    robot its own.
    """
    import equinox as eqx

    from footfall import load, simulate
    from footfall.engines.lanes.batch import run_batch
    from footfall.engines.lanes.batch_plan import BatchPlan

    experiment = load("water-runner", ["sim.sample_rate=auto", f"sim.duration={STEP * STEPS}"])
    draw = np.random.default_rng(4)
    frequency, mass = draw.uniform(6.0, 10.0, LANES), draw.uniform(0.05, 0.07, LANES)
    frequency[0], mass[0] = 8.0, 0.060  # one to compare with the event engine
    system = eqx.tree_at(
        lambda s: (s.drive.frequency, s.body.mass), experiment.system, (frequency, mass)
    )
    exact = simulate(experiment.system, experiment.start, experiment.plan).ending.state
    out = {}
    print(f"\n{LANES} robots on water, {STEPS} steps of {STEP:g} s (rk4), C++ kernel")
    for precision in ("float64", "float32"):
        plan = BatchPlan(duration=STEP * STEPS, step=STEP, precision=precision, path="cpp")
        began = time.perf_counter()
        result = run_batch(system, experiment.start, plan)
        first, seconds = time.perf_counter() - began, np.inf
        for _ in range(rounds):
            began = time.perf_counter()
            result = run_batch(system, experiment.start, plan)
            seconds = min(seconds, time.perf_counter() - began)
        if not result.path.startswith("C++"):
            raise RuntimeError(f"{result.path} ran: {'; '.join(result.notes)}")
        gap = max(abs(float(getattr(result.end.x, name)[0]) - exact[name]) for name in BODY)
        rate = LANES * STEPS / seconds
        out[precision] = {
            "robot_steps_per_second": rate, "seconds": seconds, "first_call": first, "lanes": LANES, "steps": STEPS, "step": STEP,
            "robot_seconds_per_second": rate * STEP, "error": gap, "cores": os.cpu_count(),
        }  # fmt: skip
        print(
            f"  {precision}  {1e-6 * rate:7.2f} million robot-steps/s, {rate * STEP:7.0f}"
            f" robot-seconds/s; error of the first {gap:.1e}; first call {first:.1f} s"
        )
    return out


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        return serve()
    # In the order of SECTIONS, whatever order they were asked in.
    make = {"water": on_water, "ground": on_ground, "batch": in_batch}
    figures = {
        name: make[name](asked.rounds) for name in SECTIONS if name in asked.sections.split(",")
    }
    if asked.write:
        write("water_runner", figures)


if __name__ == "__main__":
    main()
