"""Event engine against the SciPy loop: 10 s of a wheel at 1e-8, ledger on, sampling off,
compilation apart.

    python benchmarks/event_engine.py

Ratios are taken in one run, the two sides alternating, best of several: the machine's noise hits
both. "whole loops" is JAX as footfall sets it up (`engines/jax_setup.py`), "started before" as it
is when the program has started JAX first; each in a process of its own."""

import json
import os
import subprocess
import sys
import time

from conditions import write
from scipy_wheels import WHEELS, walk

DURATION, RTOL, ATOL, ROUNDS = 10.0, 1e-8, 1e-10, 5


def ours(names: list[str]) -> dict:
    """Seconds of one run and of the first call (with compilation), and the final state, for each
    scenario.
    """
    import numpy as np

    from footfall import load, simulate

    out = {}
    for name in names:
        experiment = load(name, ["sim.sample_rate=auto"], duration=DURATION)
        began = time.perf_counter()
        run = simulate(experiment.system, experiment.start, experiment.plan)
        first = time.perf_counter() - began
        times = []
        for _ in range(5):
            began = time.perf_counter()
            run = simulate(experiment.system, experiment.start, experiment.plan)
            times.append(time.perf_counter() - began)
        out[name] = {
            "seconds": float(np.min(times)),
            "first_call": first,
            "solver_steps": run.ending.steps,
            "state": list(run.ending.state.values()),
            "ledger_residual": run.ledger.relative_residual,
            "steps": run.ending.jumps,
        }
    return out


def in_process(mode: str) -> dict:
    """`ours` in a fresh process, with small loops compiled whole or not."""
    from footfall.engines.jax_setup import FLAG

    environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    if mode == "started before":
        # XLA's own value; footfall leaves it alone.
        environment["XLA_FLAGS"] = FLAG.rpartition("=")[0] + "=1024"
    done = subprocess.run(
        [sys.executable, __file__, "--ours"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def main() -> None:
    best: dict[str, dict] = {name: {} for name in WHEELS}
    for _ in range(ROUNDS):
        for name in WHEELS:
            for method in ("RK45", "LSODA"):
                began = time.perf_counter()
                state, steps = walk(name, method, DURATION, RTOL, ATOL)
                seconds = time.perf_counter() - began
                if seconds < best[name].get(method, {"seconds": 9e9})["seconds"]:
                    best[name][method] = {
                        "seconds": seconds,
                        "state": state.tolist(),
                        "steps": steps,
                    }
        for mode in ("started before", "whole loops"):
            for name, figure in in_process(mode).items():
                if figure["seconds"] < best[name].get(mode, {"seconds": 9e9})["seconds"]:
                    best[name][mode] = figure
    for name, rows in best.items():
        scipy = min(rows["RK45"]["seconds"], rows["LSODA"]["seconds"])
        print(f"\n{name}: {DURATION:g} s at rtol {RTOL:g}")
        for kind, row in rows.items():
            row["times_faster_than_scipy"] = scipy / row["seconds"]
            gap = max(
                abs(a - b) for a, b in zip(row["state"], rows["LSODA"]["state"], strict=False)
            )
            row["state_difference_from_lsoda"] = gap
            first = f"  first call {row['first_call']:.2f} s" if "first_call" in row else ""
            print(
                f"  {kind:13} {1e3 * row['seconds']:9.2f} ms  {scipy / row['seconds']:6.1f} x  "
                f" state within {gap:.1e} of LSODA{first}"
            )
    write("event_engine", best)


if __name__ == "__main__":
    if "--ours" in sys.argv:
        print(json.dumps(ours(list(WHEELS))))
    else:
        main()
