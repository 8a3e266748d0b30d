"""A robot's WebAssembly module in Node against the CPU's kernel of one lane, in one run.

    python benchmarks/wasm.py [--rounds 5] [--write]

Both make the same 10 000 steps of 1 ms from the same start (RK4, events, ledger, everything on);
rounds alternate and the best of each counts. The module computes all outputs at the end of each
call, too. Needs ziglang and Node."""

import argparse
import gzip
import sys
import tempfile
import time
from pathlib import Path

import footfall as ff
from conditions import write
from footfall.engines.lanes.browser_kernel import browser_kernel
from footfall.engines.lanes.resident import ResidentLane

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.browsers import run_in_node

STEPS, STEP = 10_000, 1e-3
CALLS = [STEPS, "reset"] * 30  # Node compiles a module twice, the second time while it runs
ROBOTS = ("rimless-wheel", "rimless-wheel-turning")


def measure(name: str, rounds: int) -> dict:
    experiment = ff.load(name)
    began = time.perf_counter()
    module = browser_kernel(experiment.system, experiment.start, STEP)
    built = time.perf_counter() - began
    native = ResidentLane(experiment.system, experiment.start, STEP)
    start = native.memory.copy()
    there, here = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            _, _, report = run_in_node(module, CALLS, Path(folder))
            there.append(min(report["milliseconds"]))
            native.go_back(start, 0)
            began = time.perf_counter()
            native.advance(STEPS)
            here.append(1e3 * (time.perf_counter() - began))
    return {
        "bytes": len(module.code),
        "gzipped": len(gzip.compress(module.code, 9)),
        "first_build_s": built,
        "first_call_ms": report["milliseconds"][0],
        "wasm_ms": min(there),
        "native_ms": min(here),
        "native_path": native.path,
        "ratio": min(there) / min(here),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    figures = {}
    for name in ROBOTS:
        figures[name] = found = measure(name, asked.rounds)
        print(
            f"{name}: {found['bytes']} bytes ({found['gzipped']} gzipped), {STEPS} steps in"
            f" {found['wasm_ms']:.1f} ms, native {found['native_ms']:.1f} ms, ratio {found['ratio']:.2f}"
        )
    if asked.write:
        write("wasm", figures)


if __name__ == "__main__":
    main()
