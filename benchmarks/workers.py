"""Two Dask workers against one, each held to one core: robots per second of the same sweep, workers
warm.

    python benchmarks/workers.py [--rounds 3] [--write]

A worker counts from when it has computed a small sweep (so it has imported, compiled and cached
everything). One and two workers take turns; the best round of each counts, on a machine that does
nothing else."""

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path

from conditions import write

DESIGNS = {"warm": 8, "timed": 64}  # stiffnesses, times 256 set points


def rate(workers: int, folder: Path) -> float:
    """Robots per second of the timed sweep."""
    import footfall as ff
    from footfall.sweep.begin_sweep import begin_sweep
    from footfall.sweep.executors import local_workers
    from footfall.sweep.parse import parse_designs
    from footfall.sweep.plan_sweep import plan_of
    from footfall.sweep.run_sweep import run_sweep

    experiment, per_second = ff.load("rimless-wheel"), 0.0
    with local_workers(workers) as executor:
        for name, count in DESIGNS.items():
            texts = [f"leg.stiffness=8e3:4e4:{count}:log", "torso.pitch_setpoint=0.5:1.2:256"]
            place = folder / f"{name}-{workers}"
            shutil.rmtree(place, ignore_errors=True)
            plan = plan_of(experiment, step=0.000625)
            begin_sweep(place, experiment, parse_designs(experiment, texts), plan, shard_size=1024)
            began = time.perf_counter()
            report = run_sweep(place, executor=executor, threads=1)
            per_second = report.computed / (time.perf_counter() - began)
    return per_second


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rates: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for workers, found in rates.items():
                found.append(rate(workers, Path(folder)))
                print(
                    f"{workers} worker{'s' if workers > 1 else ''}: {found[-1]:.0f} robots/s (load"
                    f" {os.getloadavg()[0]:.1f})",
                    flush=True,
                )
    ratio = max(rates[2]) / max(rates[1])
    print(f"two workers against one: {ratio:.2f} x")
    if options.write:
        write("workers", {"robots_per_second": rates, "ratio_of_best": ratio})


if __name__ == "__main__":
    main()
