"""CUDA kernels from the traced models, on one GPU, in one run of a few minutes: what twice the
steps cost more, whole calls, first calls; against CUDA by hand and against XLA.

    tools/gpu_folder.sh                                       here: what pure Python needs
    PYTHONPATH=src:.gpu-deps python3 benchmarks/gpu_kernels.py --write     on the machine with the GPU
    python benchmarks/gpu_kernels.py --lanes 64 --steps 20 --sections first,wheel    does it run?

Sections: check (float64 against the C loop by hand, 2 s), first (first calls, in fresh processes
with an empty cache), wheel (the rimless wheel with everything on), hand (the best CUDA form by
hand: flat, the same sine or the library's, the same division), blocks (how many blocks of threads
at once are best), profile (where a whole call goes), centipede (CUDA against XLA), robots (the
others: speed, and equality with the CPU).

The job of `wheel` and `hand` is that of batch_engine.py. The kernel's rate, on both sides, is taken
from what twice the steps cost more: no robot steps in the first 0.06 s, so the beginning of a run
flatters. A section that fails is a line in the figures, and the others go on."""

import argparse
import cProfile
import io
import json
import math
import os
import pstats
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np

from batch_engine import MECHANICAL, PERIOD
from gpu import LIMITS, RESULTS, Ours, Plan, Variant, conditions, tuned
from yardsticks import plain

SECTIONS = ("check", "first", "wheel", "hand", "blocks", "profile", "centipede", "robots")
#: The forms by hand worth a place: the same sine (poly) and the library's, each with the division
#: of our kernel.
BY_HAND = (
    Variant("f32", "poly", "div", True),
    Variant("f32", "libm", "div", True),
    Variant("f64", "poly", "ieee", True),
    Variant("f64", "libm", "ieee", True),
)
LONG = {"f32": "float32", "f64": "float64"}


def device() -> str:
    import jax

    return str(jax.devices()[0].device_kind)


def path_here() -> str:
    """The GPU's kernel; without a GPU the CPU's, to try the script."""
    from footfall.engines.lanes.batch_program import has_gpu

    return "gpu" if has_gpu() else "cpp"


def rates(batch: Ours, plan: Plan, precision: str, path: str) -> dict:
    """Seconds of the first and of the best whole call; robot-steps per second by both measures."""
    first = batch.run(plan.h, plan.steps, precision, path)[1]
    once = min(batch.run(plan.h, plan.steps, precision, path)[1] for _ in range(plan.rounds))
    twice = min(batch.run(plan.h, 2 * plan.steps, precision, path)[1] for _ in range(plan.rounds))
    work = batch.lanes * plan.steps
    kernel = work / (twice - once) if twice > once else math.nan
    return {
        "first_call_here": first,
        "call": once,
        "call_of_twice": twice,
        "steps_per_second": kernel,
        "whole_steps_per_second": work / once,
        "whole_over_kernel": work / once / kernel,
        "whole_over_kernel_of_twice": 2 * work / twice / kernel,
    }


def check_section(plan: Plan, lanes: int = 4099) -> dict:
    """Against the C loop by hand in float64: no multiple of any block, 2 s."""
    given, per_tick = plain.population(lanes), 5
    h, steps = PERIOD / per_tick, round(2.0 / PERIOD) * per_tick
    exact = plain.run_c(given, h, steps, per_tick, 1.0)[0]
    out = {}
    for precision in LONG:
        results = Ours.of(given).run(h, steps, precision, path_here())[0]
        gap = max(float(np.abs(np.asarray(results[k], float) - exact[k]).max()) for k in MECHANICAL)
        outcome = np.where(results["outcome"] == 1, 0, results["outcome"])
        other = int(np.sum((exact["jumps"] != results["jumps"]) | (exact["outcome"] != outcome)))
        out[precision] = {"difference": gap, "lanes_that_differ": other}
        print(f"  {precision}: largest difference {gap:.1e}, {other} lanes differ", flush=True)
    return out


FIRST = """
import json, sys, time
began = time.perf_counter()
import jax
jax.devices()
jax.numpy.zeros(3).block_until_ready()
started = time.perf_counter()
sys.path[:0] = json.loads(sys.argv[1])
from gpu import Ours
from yardsticks import plain
batch = Ours.of(plain.population(int(sys.argv[2])))
made = time.perf_counter()
batch.run(5e-4, 200, sys.argv[3], sys.argv[4])
done = time.perf_counter()
batch.run(5e-4, 200, sys.argv[3], sys.argv[4])
print("FIRST", json.dumps({"start_jax": started - began, "imports": made - started,
      "first_call": done - made, "second_call": time.perf_counter() - done}))
"""


def first_section(plan: Plan, lanes: int) -> dict:
    """In a fresh process: cache empty, then with what the first one kept."""
    out, here = {}, str(Path(__file__).resolve().parent)
    for precision in LONG:
        with tempfile.TemporaryDirectory() as cache:
            for state in ("empty cache", "kernel kept"):
                command = [sys.executable, "-c", FIRST, json.dumps([here]), str(lanes), precision]
                done = subprocess.run(
                    [*command, path_here()],
                    capture_output=True,
                    text=True,
                    env=os.environ | {"FOOTFALL_CACHE": cache},
                )
                line = [x for x in done.stdout.splitlines() if x.startswith("FIRST")]
                if not line:
                    raise RuntimeError(done.stderr[-600:])
                out[f"{precision}, {state}"] = json.loads(line[0].removeprefix("FIRST "))
                print(f"  {precision}, {state}: {line[0]}", flush=True)
    return out


def wheel_section(given: plain.Arrays, plan: Plan) -> dict:
    out = {}
    for every in (False, True):
        batch = Ours.of(given, every=every)
        for precision in LONG:
            name = precision + (", all per lane" if every else "")
            row = out[name] = rates(batch, plan, precision, path_here())
            print(
                f"  {name:20} kernel {1e-9 * row['steps_per_second']:6.2f}  whole call"
                f" {1e-9 * row['whole_steps_per_second']:6.2f} Gsteps/s"
                f" ({row['whole_over_kernel']:.2f}), call {row['call']:.3f} s",
                flush=True,
            )
    return out


def hand_section(given: plain.Arrays, plan: Plan, wheel: dict) -> dict:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        builds = [(v, limit) for v in BY_HAND for limit in LIMITS[v.precision]]
        list(pool.map(lambda task: plain.cuda_library(*task[0], task[1]), builds))
    out: dict = {}
    for variant in BY_HAND:
        row = out[variant.name] = tuned(given, plan, variant)
        ours = wheel.get(variant.precision, {}).get("steps_per_second", math.nan)
        row["ours_over_it"] = ours / row["steps_per_second"]
        print(
            f"  {variant.name:30} {1e-9 * row['steps_per_second']:6.2f} Gsteps/s, ours"
            f" {row['ours_over_it']:.2f} of it",
            flush=True,
        )
    return out


def blocks_section(given: plain.Arrays, plan: Plan) -> dict:
    """Fewer registers a thread, more threads at once."""
    from footfall.engines.kernels.targets.cuda import cuda_source
    from footfall.engines.lanes import batch_program

    out, batch, usual = {}, Ours.of(given), dict(cuda_source.AT_ONCE)
    try:
        for precision, counts in {"f64": (2, 3, 4, 5), "f32": (3, 4, 5, 6)}.items():
            for count in counts:
                cuda_source.AT_ONCE[LONG[precision]] = count
                batch_program._cuda.cache_clear()
                row = rates(batch, plan, precision, path_here())
                out[f"{precision}, {count} blocks"] = row
                print(
                    f"  {precision} {count}: {1e-9 * row['steps_per_second']:6.2f} Gsteps/s",
                    flush=True,
                )
    finally:
        cuda_source.AT_ONCE.update(usual)
        batch_program._cuda.cache_clear()
    return out


def profile_section(given: plain.Arrays, plan: Plan) -> dict:
    out, batch = {}, Ours.of(given)
    for precision in LONG:
        batch.run(plan.h, plan.steps, precision, path_here())
        profile = cProfile.Profile()
        profile.enable()
        batch.run(plan.h, plan.steps, precision, path_here())
        profile.disable()
        text = io.StringIO()
        stats = pstats.Stats(profile, stream=text).sort_stats("tottime")
        stats.print_stats(22)
        lines = [x[:150] for x in text.getvalue().splitlines() if x.strip()]
        out[precision] = lines
        print("\n".join(lines[:26]), flush=True)
    return out


def centipede_section(lanes: int, steps: int, rounds: int) -> dict:
    from gpu_centipede import measured

    out: dict = {}
    for precision in LONG.values():
        ours = measured(lanes, precision, steps, rounds, "auto")
        xla = measured(lanes, precision, max(4, steps // 4), rounds, "xla")
        out[precision] = {
            "cuda": ours,
            "xla": xla,
            "ours_over_xla": ours["robot_steps_per_second"] / xla["robot_steps_per_second"],
        }
        print(f"  {precision}: {out[precision]['ours_over_xla']:.2f} times XLA", flush=True)
    return out


def robots_section(lanes: int) -> dict:
    from gpu_lockstep import measure
    from gpu_runner import runner

    out: dict = {}
    for precision in LONG.values():
        out[f"closed loop, {precision}"] = measure(lanes, precision, 0.5)
        out[f"water runner, {precision}"] = runner(lanes, precision)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lanes", type=int, default=1 << 20)
    parser.add_argument("--legged-lanes", type=int, default=1 << 18)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--legged-steps", type=int, default=8000)
    parser.add_argument("--per-tick", type=int, default=10, help="steps per control tick of 5 ms")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--seconds", type=float, default=450.0, help="begin no section after this")
    parser.add_argument("--write", nargs="?", const=str(RESULTS / "gpu_kernels.json"))
    options = parser.parse_args()
    wanted = options.sections.split(",")
    if unknown := set(wanted) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    plan = Plan(PERIOD / options.per_tick, options.per_tick, options.steps, options.rounds)
    given, figures, began = plain.population(options.lanes), {}, time.perf_counter()
    legged = (options.legged_lanes, options.legged_steps)
    run = {
        "check": lambda: check_section(plan, min(4099, options.lanes)),
        "first": lambda: first_section(plan, options.lanes),
        "wheel": lambda: wheel_section(given, plan),
        "hand": lambda: hand_section(given, plan, figures.get("wheel", {})),
        "blocks": lambda: blocks_section(given, plan._replace(rounds=2)),
        "profile": lambda: profile_section(given, plan),
        "centipede": lambda: centipede_section(*legged, 2),
        "robots": lambda: robots_section(options.legged_lanes),
    }
    where = conditions() | {"device": device(), "lanes": options.lanes, "steps": plan.steps}
    where |= {"step": plan.h, "legged_lanes": legged[0], "legged_steps": legged[1]}
    for section in sorted(wanted, key=SECTIONS.index):
        passed = time.perf_counter() - began
        print(f"\n{section} (after {passed:.0f} s)", flush=True)
        if passed > options.seconds:
            figures[section] = {"skipped": f"after {passed:.0f} s"}
            continue
        try:
            figures[section] = run[section]()
        except Exception as error:  # a failed section must not cost the others their turn
            traceback.print_exc(limit=-4)
            figures[section] = {"failed": f"{type(error).__name__}: {str(error)[:500]}"}
        if options.write:  # after each section: what was measured is kept
            Path(options.write).parent.mkdir(parents=True, exist_ok=True)
            Path(options.write).write_text(
                json.dumps({"conditions": where, "figures": figures}, indent=2) + "\n"
            )
    print(f"\nall in {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
