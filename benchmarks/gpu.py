"""The batch engine on an NVIDIA GPU against a CUDA loop by hand and plain XLA: the rimless wheel
with everything on.

    python benchmarks/gpu.py                                           small sizes: does everything
    run?
    python benchmarks/gpu.py --lanes 1048576 --steps 4000 --rounds 3 --write
    python benchmarks/gpu.py --sections million --designs 10000000 --duration 10

Needs nvcc, NumPy, JAX with CUDA and what `import footfall` needs; no SciPy. PYTHONPATH may name
src/ where footfall is not installed.

The CUDA loop (yardsticks/wheel.cu) is timed by the device's events: the kernel alone. For us the
whole call is timed (arrays to the device, kernel, results back as NumPy arrays). The kernel's rate,
on both sides, is taken from what twice the steps cost more: no robot steps in the first 0.06 s, so
the beginning of a run flatters. "ieee" is nvcc as it comes, "div" divides float32 as our kernel does,
"fast" is --use_fast_math; "flat" lets the lanes of a warp share a Runge-Kutta step while one of
them goes to an event, "nested" makes them wait. The best block size and register limit are looked
for first, per variant.

Sections: check (CUDA against C and us against CUDA), cuda, ours, lanes, million.
"""

import argparse
import datetime
import functools
import importlib.metadata
import itertools
import json
import math
import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from batch_engine import MECHANICAL, PERIOD, machine, results_of
from yardsticks import plain

RESULTS = Path(__file__).parent / "results"
SECTIONS = ("check", "cuda", "ours", "lanes", "million")
# Threads per block; registers per thread, 0: any.
BLOCKS, LIMITS = ((64, 128, 256), {"f32": (0, 96, 80), "f64": (0, 168, 128)})


class Variant(NamedTuple):
    """One build of the CUDA loop."""

    precision: str
    trig: str
    math: str
    flat: bool

    @property
    def name(self) -> str:
        return f"CUDA {self.precision} {self.trig} {self.math} {'flat' if self.flat else 'nested'}"


def variants() -> list[Variant]:
    """All that differ: fast-math changes nothing in float64."""
    every = itertools.product(plain.PRECISIONS, plain.TRIGS, plain.CUDA_MATH, (False, True))
    return [Variant(*v) for v in every if v[0] == "f32" or v[2] == "ieee"]


class Plan(NamedTuple):
    h: float
    per_tick: int
    steps: int
    rounds: int


def versions() -> dict[str, str]:
    out = {}
    for name in ("footfall", "jax", "jaxlib", "diffrax", "equinox", "numpy"):
        try:
            out[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            out[name] = "not installed"
    return out


def conditions() -> dict:
    """Machine and versions."""

    def said(*command: str) -> str:
        try:
            return subprocess.run(
                command, capture_output=True, text=True, timeout=60
            ).stdout.strip()
        except (OSError, subprocess.TimeoutExpired):
            return ""

    return {
        "date": datetime.date.today().isoformat(),
        "gpu": said(
            "nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm", "--format=csv,noheader"
        ),
        "nvcc": said(os.environ.get("NVCC", "nvcc"), "--version").splitlines()[-1:],
        "python": platform.python_version(),
        "versions": versions(),
        "command": " ".join(sys.argv),
    }


# --- the CUDA loop --------------------------------------------------------------------------------


def build_all() -> None:
    """Every variant at once, on all cores of the host."""
    tasks = [(v, limit) for v in variants() for limit in LIMITS[v.precision]]
    began = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda task: plain.cuda_library(*task[0], task[1])[1], tasks))
    print(
        f"{len(tasks)} builds of the CUDA loop in {time.perf_counter() - began:.1f} s; the longest"
        f" took {max(done):.1f} s",
        flush=True,
    )


def tuned(given: plain.Arrays, plan: Plan, variant: Variant) -> dict:
    """Best block size and register limit of one variant on a quarter of the steps, then its time on
    all of them and on twice as many.
    """
    short = max(plan.per_tick, plan.steps // 4 // plan.per_tick * plan.per_tick)
    tried = []
    for limit in LIMITS[variant.precision]:
        with plain.CudaWheel(given, *variant[:3], flat=variant.flat, registers=limit) as wheel:
            for block in BLOCKS:
                wheel.run(plan.h, short, plan.per_tick, 0.0, block)
                tried.append((wheel.run(plan.h, short, plan.per_tick, 0.0, block), limit, block))
    _, limit, block = min(tried)
    with plain.CudaWheel(given, *variant[:3], flat=variant.flat, registers=limit) as wheel:
        settle = 0.5 * plan.steps * plan.h
        seconds = min(
            wheel.run(plan.h, plan.steps, plan.per_tick, settle, block)
            for _ in range(plan.rounds + 1)
        )
        results, lanes = wheel.results(), wheel.lanes
        twice = min(
            wheel.run(plan.h, 2 * plan.steps, plan.per_tick, settle, block)
            for _ in range(plan.rounds)
        )
        return {
            "seconds": seconds,
            "whole_steps_per_second": lanes * plan.steps / seconds,
            "steps_per_second": lanes * plan.steps / (twice - seconds),
            "block": block,
            "register_limit": limit,
            **wheel.describe(block),
            "running": float(np.mean(results["outcome"] == 0)),
            "mean_speed": plain.median(plain.metrics(given, results)["mean_speed"]),
            "median_ledger_residual": float(
                np.median(np.abs(plain.ledger_residual(given, results)))
            ),
        }


def cuda_section(given: plain.Arrays, plan: Plan) -> dict:
    out = {}
    print(
        f"\n{'':32}{'Gsteps/s':>10}{'block':>7}{'limit':>7}{'regs':>6}{'local B':>9}{'running':>9}{'speed':>9}{'|ledger| J':>12}"
    )
    for variant in variants():
        row = out[variant.name] = tuned(given, plan, variant)
        print(
            f"{variant.name:32}{1e-9 * row['steps_per_second']:10.2f}{row['block']:7}{row['register_limit']:7}{row['registers']:6}"
            f"{row['local_bytes']:9}{row['running']:9.1%}{row['mean_speed']:9.4f}{row['median_ledger_residual']:12.1e}",
            flush=True,
        )
    return out


# --- ours -----------------------------------------------------------------------------------------


class Ours(NamedTuple):
    """A population ready to run: building the system is not part of a call."""

    system: object
    state: object
    lanes: int

    @classmethod
    def of(cls, given: plain.Arrays, *, every: bool = False) -> "Ours":
        return cls(*machine(given, every=every), len(given["stiffness"]))

    def run(self, h: float, steps: int, precision: str, path: str):
        """(results by name, seconds of the whole call)."""
        from footfall.engines.lanes.batch import run_batch
        from footfall.engines.lanes.batch_plan import BatchPlan

        long = {"f64": "float64", "f32": "float32"}[precision]
        plan = BatchPlan(
            duration=steps * h, step=h, precision=long, settle=0.5 * steps * h, path=path
        )
        began = time.perf_counter()
        result = run_batch(self.system, self.state, plan)
        seconds = time.perf_counter() - began
        return results_of(result, path), seconds


def ours_section(given: plain.Arrays, plan: Plan, cuda: dict) -> dict:
    """First call, whole call, rate of the kernel; every parameter that varies per lane, and once
    all of them.
    """
    out = {}
    print(
        f"\n{'':32}{'first s':>9}{'call s':>9}{'call Gsteps/s':>15}{'kernel Gsteps/s':>17}{'of best CUDA':>14}{'of CUDA poly':>14}"
    )
    for path, precision, every in (
        *itertools.product(("gpu", "xla"), ("f32", "f64"), (False,)),
        ("gpu", "f32", True),
        ("gpu", "f64", True),
    ):
        name = f"ours {path} {precision}" + (", all per lane" if every else "")
        batch = Ours.of(given, every=every)
        steps = (
            plan.steps
            if path == "gpu"
            else max(plan.per_tick, plan.steps // 4 // plan.per_tick * plan.per_tick)
        )
        first = batch.run(plan.h, steps, precision, path)[1]
        once = min(batch.run(plan.h, steps, precision, path)[1] for _ in range(plan.rounds))
        twice = min(batch.run(plan.h, 2 * steps, precision, path)[1] for _ in range(plan.rounds))
        kernel = batch.lanes * steps / (twice - once) if twice > once else math.nan
        mine = {n: r["steps_per_second"] for n, r in cuda.items() if precision in n}
        best = max((v for n, v in mine.items() if "fast" not in n), default=math.nan)
        poly = max((v for n, v in mine.items() if "poly ieee" in n), default=math.nan)
        nested = max((v for n, v in mine.items() if "poly ieee nested" in n), default=math.nan)
        out[name] = {
            "first_call": first,
            "call": once,
            "steps": steps,
            "call_steps_per_second": batch.lanes * steps / once,
            "kernel_steps_per_second": kernel,
            "of_best_cuda_without_fast_math": kernel / best,
            "of_cuda_poly_ieee": kernel / poly,
            "of_cuda_poly_ieee_nested": kernel / nested,
        }
        print(
            f"{name:32}{first:9.2f}{once:9.3f}{1e-9 * batch.lanes * steps / once:15.2f}{1e-9 * kernel:17.2f}{kernel / best:14.2f}"
            f"{kernel / poly:14.2f}",
            flush=True,
        )
    return out


# --- sections -------------------------------------------------------------------------------------


def check_section(plan: Plan) -> dict:
    """Every variant of the CUDA loop against the C loop, us against both; 2 s, float64 to
    rounding.
    """
    given = plain.population(4099)  # no multiple of any block
    steps, settle = round(2.0 / PERIOD) * plan.per_tick, 1.0
    exact = plain.run_c(given, plan.h, steps, plan.per_tick, settle)[0]
    runs = {v.name: functools.partial(_cuda_results, given, plan, steps, v) for v in variants()}
    for path, precision in itertools.product(("gpu", "xla"), ("f64", "f32")):
        runs[f"ours {path} {precision}"] = functools.partial(
            _our_results, given, plan, steps, precision, path
        )
    out = {}
    print(
        f"\nlargest difference from the C loop in float64 after 2 s (step {plan.h:g} s), lanes"
        " whose outcome or footfalls differ"
    )
    for name, run in runs.items():
        try:
            state, outcome, jumps = run()
        except (
            Exception
        ) as error:  # one side failing must not cost the others their turn on the machine
            print(f"  {name:32} FAILED {type(error).__name__}: {str(error)[:500]}", flush=True)
            out[name] = {"failed": str(error)}
            continue
        gap = max(float(np.abs(np.asarray(state[k], float) - exact[k]).max()) for k in MECHANICAL)
        other = int(np.sum((exact["jumps"] != jumps) | (exact["outcome"] != outcome)))
        out[name] = {"difference": gap, "lanes_that_differ": other}
        print(f"  {name:32} {gap:.1e}  {other}", flush=True)
    return out


def _cuda_results(given: plain.Arrays, plan: Plan, steps: int, v: Variant):
    results, _ = plain.run_cuda(given, plan.h, steps, plan.per_tick, 1.0, *v[:3], flat=v.flat)
    return results, results["outcome"], results["jumps"]


def _our_results(given: plain.Arrays, plan: Plan, steps: int, precision: str, path: str):
    results = Ours.of(given).run(plan.h, steps, precision, path)[0]
    # "reached the end" is "running" to the loops by hand.
    outcome = np.where(results["outcome"] == 1, 0, results["outcome"])
    return results, outcome, results["jumps"]


def lanes_section(plan: Plan, sizes: list[int]) -> dict:
    """Kernel rate by number of lanes."""
    out: dict = {}
    names = ("CUDA poly f32", "ours gpu f32", "CUDA poly f64", "ours gpu f64")
    print("\nGsteps/s by lanes: CUDA's kernel (best of both forms), our whole call")
    print(f"{'lanes':>9}" + "".join(f"{name:>16}" for name in names))
    for lanes in sizes:
        given = plain.population(lanes)
        batch, row = Ours.of(given), {}
        for precision in ("f32", "f64"):
            best = min(
                plain.run_cuda(
                    given,
                    plan.h,
                    plan.steps,
                    plan.per_tick,
                    0.0,
                    precision,
                    "poly",
                    flat=flat,
                    rounds=plan.rounds,
                )[1]
                for flat in (False, True)
            )
            row[f"CUDA poly {precision}"] = lanes * plan.steps / best
            batch.run(plan.h, plan.steps, precision, "gpu")
            ours = min(
                batch.run(plan.h, plan.steps, precision, "gpu")[1] for _ in range(plan.rounds)
            )
            row[f"ours gpu {precision}"] = lanes * plan.steps / ours
        out[lanes] = row
        print(f"{lanes:9}" + "".join(f"{1e-9 * row[name]:16.3f}" for name in names), flush=True)
    return out


def million_section(designs: int, duration: float, plan: Plan) -> dict:
    """Many designs, from NumPy arrays to NumPy arrays.

    Compilation apart: a first call of two ticks does it.
    """
    out: dict = {}
    steps = round(duration / PERIOD) * plan.per_tick
    print(f"\n{designs} designs x {duration:g} s, step {plan.h:g} s: seconds from arrays to arrays")
    given = plain.population(designs)
    batch = Ours.of(given)
    for precision in ("f32", "f64"):
        first = batch.run(plan.h, 2 * plan.per_tick, precision, "gpu")[1]
        ours = batch.run(plan.h, steps, precision, "gpu")[1]
        rate = designs * duration / ours
        out[f"ours gpu {precision}"] = {
            "first_call": first,
            "seconds": ours,
            "robot_seconds_per_second": rate,
        }
        print(
            f"  ours gpu {precision}        {ours:8.2f} s, {rate:.3g} robot-seconds/s; first call"
            f" {first:.2f} s",
            flush=True,
        )
        began = time.perf_counter()
        with plain.CudaWheel(given, precision, "poly", flat=True) as wheel:
            kernel = wheel.run(plan.h, steps, plan.per_tick, 0.5 * duration)
            wheel.results()
        whole = time.perf_counter() - began
        out[f"CUDA poly {precision} flat"] = {"seconds": whole, "kernel_seconds": kernel}
        print(
            f"  CUDA poly {precision} flat  {whole:8.2f} s, of which the kernel {kernel:.2f} s",
            flush=True,
        )
    return out


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lanes", type=int, default=65536)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--per-tick", type=int, default=10, help="steps per control tick of 5 ms")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--sizes", default="1024,16384,262144", help="numbers of lanes of the section lanes"
    )
    parser.add_argument("--designs", type=int, default=100_000)
    parser.add_argument("--duration", type=float, default=1.0, help="s, of the section million")
    parser.add_argument(
        "--design-per-tick", type=int, default=5, help="steps per tick of the section million"
    )
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument(
        "--write",
        nargs="?",
        const=str(RESULTS / "gpu.json"),
        help="write the figures (default results/gpu.json)",
    )
    options = parser.parse_args()
    sections = options.sections.split(",")
    if unknown := set(sections) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    where = conditions()
    plan = Plan(PERIOD / options.per_tick, options.per_tick, options.steps, options.rounds)
    print(
        f"{where['gpu']}  jax {where['versions']['jax']}  {options.lanes} lanes, {plan.steps} steps"
        f" of {plan.h:g} s, best of {plan.rounds}"
    )
    figures: dict = {
        "lanes": options.lanes,
        "steps": plan.steps,
        "step": plan.h,
        "per_tick": plan.per_tick,
    }
    build_all()
    given = plain.population(options.lanes)
    run = {
        "check": lambda: check_section(plan._replace(h=PERIOD / 5, per_tick=5)),
        "cuda": lambda: cuda_section(given, plan),
        "ours": lambda: ours_section(given, plan, figures.get("cuda", {})),
        "lanes": lambda: lanes_section(plan, [int(n) for n in options.sizes.split(",")]),
        "million": lambda: million_section(
            options.designs,
            options.duration,
            plan._replace(h=PERIOD / options.design_per_tick, per_tick=options.design_per_tick),
        ),
    }
    for section in sorted(sections, key=SECTIONS.index):  # ours is measured against cuda
        figures[section] = run[section]()
        if options.write:  # after each section: what was measured is kept if a later one fails
            Path(options.write).parent.mkdir(parents=True, exist_ok=True)
            Path(options.write).write_text(
                json.dumps({"conditions": where, "figures": figures}, indent=2) + "\n"
            )
    if options.write:
        print(f"written: {options.write}")


if __name__ == "__main__":
    main()
