"""The planar centipede by hand, in C on one core: built, loaded and fed from NumPy arrays.

    python benchmarks/yardsticks/plain_centipede.py                    nanoseconds per robot and step, on flat ground and at a gap
    python benchmarks/yardsticks/plain_centipede.py --steps 50000 --rounds 9

    given = parameters(gap_left=0.1, gap_right=0.225, lift_reflex=1)   # one robot; the names are those of centipede.c
    state = start(given)
    run(given, state, 10_000)                                          # moves `state` on by a second
    state["x"][: int(given["nodes"])]

Needs NumPy and a C compiler. What the loop does is said in centipede.c; libraries are kept in
benchmarks/.build, which git ignores."""

import argparse
import ctypes
import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / ".build"

PRECISIONS = {"f64": np.float64, "f32": np.float32}
MOST_NODES = 64
HIGHEST_TARGET = -0.004  # of a tip below its node, m

#: The default robot, in the order of centipede.c's Parameters; whole numbers are int64 there.
ROBOT = {
    "nodes": 12, "lift_reflex": 0, "cantilever_reflex": 0,
    "node_mass": 0.10, "tip_mass": 0.02, "spacing": 0.05, "height": 0.05,
    "stride": 0.015, "swing_height": 0.015, "stance_depth": 0.002, "frequency": 2 * np.pi, "phase_lag": 2 * np.pi / 3, "radius": 0.01,
    "axial_stiffness": 4000.0, "axial_damping": 8.0, "bend_stiffness": 8.0, "bend_damping": 0.02,
    "leg_stiffness": 2000.0, "leg_damping": 10.0, "hip_stiffness": 4.0, "hip_damping": 0.03,
    "ground_stiffness": 5000.0, "ground_damping": 10.0, "friction": 0.8, "slip_gain": 50.0, "gravity": 9.81,
    "gap_left": 0.0, "gap_right": 0.0, "corner_blend": 0.0,
    "load_gain": 0.0, "neighbour_gain": 0.0,
    "block_force": 0.3, "lift_up": 0.10, "lift_down": 0.03, "lift_max": 0.045,
    "load_threshold": 0.1, "support_time": 0.1, "moment_max": 2.0,
    "dt": 1e-4,
}  # fmt: skip

#: The rows of centipede.c's State, each with room for MOST_NODES nodes.
STATE = (
    "x", "z", "vx", "vz", "tip_x", "tip_z", "tip_vx", "tip_vz", "phase", "lift", "flag", "unsupported",
    "tip_fx", "tip_fz", "node_fx", "node_fz",
)  # fmt: skip


def parameters(precision: str = "f64", **changed: float) -> np.ndarray:
    """One robot's Parameters: a NumPy record, fields by name."""
    unknown = changed.keys() - ROBOT.keys()
    if unknown:
        raise ValueError(f"no such parameter: {', '.join(sorted(unknown))}")
    real = PRECISIONS[precision]
    kind = np.dtype(
        [(name, np.int64 if isinstance(value, int) else real) for name, value in ROBOT.items()],
        align=True,
    )
    given = np.array(tuple((ROBOT | changed).values()), kind)
    if not 3 <= given["nodes"] <= MOST_NODES:
        raise ValueError(f"nodes: 3 to {MOST_NODES}, not {given['nodes']}")
    return given


def start(given: np.ndarray, head_x: float = 0.0, phases: np.ndarray | None = None) -> np.ndarray:
    """A straight body at rest at leg height with tips at their targets; `phases` in place of the
    wave, if given.
    """
    real = given.dtype["dt"]
    n = int(given["nodes"])
    p = {name: float(given[name]) for name in ROBOT}
    state = np.zeros((), [(name, real, MOST_NODES) for name in STATE])
    nodes = np.arange(n)
    phase = np.mod(1.5 * np.pi - nodes * p["phase_lag"] if phases is None else phases, 2 * np.pi)
    swing = phase < np.pi
    x = np.where(swing, -p["stride"] * np.cos(phase), p["stride"] * (3 - 2 * phase / np.pi))
    z = np.where(swing, p["swing_height"], p["stance_depth"]) * np.sin(phase) - p["height"]
    state["phase"][:n] = phase
    state["x"][:n] = head_x - nodes * p["spacing"]
    state["z"][:n] = p["height"]
    state["tip_x"][:n] = head_x - nodes * p["spacing"] + x
    state["tip_z"][:n] = p["height"] + np.minimum(z, HIGHEST_TARGET)
    return state


def processor() -> str:
    """-march=native means something else on another one."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next(
        (line for line in lines if line.startswith(("flags", "Features"))), platform.processor()
    )


@functools.cache
def library(precision: str, source: Path = HERE / "centipede.c") -> ctypes.CDLL:
    """The C loop, compiled when it is not there yet. The compiler is $CC, cc or gcc."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise RuntimeError("no C compiler: neither $CC, cc nor gcc was found")
    command = [
        compiler,
        "-std=gnu11",
        "-O3",
        "-march=native",
        "-fPIC",
        "-shared",
        *["-DSINGLE"] * (precision == "f32"),
    ]
    digest = hashlib.sha256(
        "\0".join([source.read_text(), processor(), *command]).encode()
    ).hexdigest()[:16]
    BUILD.mkdir(exist_ok=True)
    (BUILD / ".gitignore").write_text("*\n")
    path = BUILD / f"{source.name.replace('.', '_')}-{digest}.so"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            aside = Path(folder) / "library.so"
            done = subprocess.run(
                [*command, str(source), "-o", str(aside), "-lm"], capture_output=True, text=True
            )
            if done.returncode:
                raise RuntimeError(
                    f"{' '.join(command)} {source} failed:\n{done.stdout}{done.stderr}"
                )
            aside.replace(path)
    loop = ctypes.CDLL(str(path))
    real = {"f64": ctypes.c_double, "f32": ctypes.c_float}[precision]
    loop.centipede_run.restype = loop.centipede_contact.restype = None
    loop.centipede_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    loop.centipede_contact.argtypes = [ctypes.c_void_p, *[real] * 4, ctypes.c_void_p]
    return loop


def loop_of(given: np.ndarray) -> ctypes.CDLL:
    return library("f64" if given.dtype["dt"] == np.float64 else "f32")


def run(given: np.ndarray, state: np.ndarray, steps: int) -> np.ndarray:
    """Moves `state` on by so many steps, in place, and returns it."""
    if state.dtype["x"].base != given.dtype["dt"]:
        raise ValueError("parameters and state differ in precision")
    loop_of(given).centipede_run(given.ctypes.data, state.ctypes.data, steps)
    return state


def contact(given: np.ndarray, x: float, z: float, vx: float, vz: float) -> np.ndarray:
    """Force (x, z) of the ground on one point."""
    force = np.zeros(2, given.dtype["dt"])
    loop_of(given).centipede_contact(given.ctypes.data, x, z, vx, vz, force.ctypes.data)
    return force


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    cases = {
        "flat": ({}, 0),
        "gap, both reflexes": (
            {"gap_left": 0.1, "gap_right": 0.225, "lift_reflex": 1, "cantilever_reflex": 1},
            50_000,
        ),
    }
    print(
        f"one robot of {ROBOT['nodes']} nodes, one core, {options.steps} steps, best of"
        f" {options.rounds}"
    )
    for case, (changed, ahead) in cases.items():  # `ahead`: steps to where the gap is being crossed
        for precision in PRECISIONS:
            given = parameters(precision, **changed)
            begin = run(given, start(given), ahead)
            best = np.inf
            for _ in range(options.rounds):
                state = begin.copy()
                began = time.perf_counter()
                run(given, state, options.steps)
                best = min(best, time.perf_counter() - began)
            speed = state["x"][0] - begin["x"][0]
            speed /= options.steps * given["dt"]
            print(
                f"{case:20} {precision} {1e9 * best / options.steps:8.1f} ns per robot-step   head"
                f" {1e3 * speed:.3f} mm/s"
            )


if __name__ == "__main__":
    main()
