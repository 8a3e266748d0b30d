"""The rimless wheel by hand, in C on all cores and in CUDA: built, loaded and fed from NumPy
arrays.

    python benchmarks/yardsticks/plain.py                              the C loop, every precision and trigonometry
    python benchmarks/yardsticks/plain.py --lanes 16384 --steps 2000
    python benchmarks/yardsticks/plain.py --build-cuda                 compile the CUDA loop and show registers (needs nvcc, no GPU)

Needs NumPy only. What the loop does is said in wheel_loop.h; libraries are kept in
benchmarks/.build, which git ignores."""

import argparse
import ctypes
import hashlib
import itertools
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

#: Rows of the arrays, in the order of the enums of wheel_loop.h.
PARAMETERS = (
    "wheel_mass", "wheel_inertia", "gravity", "rest_length", "stiffness", "damping", "torso_mass", "com_distance", "torso_inertia",
    "pitch_setpoint", "proportional", "integral", "derivative", "torque_limit",
)  # fmt: skip
STATE = (
    "spoke_angle",
    "torso_angle",
    "spoke_length",
    "spoke_rate",
    "torso_rate",
    "spoke_speed",
    "pitch_integral",
)
STARTS = (*STATE, "foot_x")
REALS = (
    *STARTS, "end_time", "motor_work", "damper_loss", "impact_loss", "spring_loss", "least_force", "first_time", "first_distance",
    "first_work", "last_time", "last_distance", "last_work",
)  # fmt: skip
COUNTS = ("outcome", "jumps", "first_steps", "last_steps")

#: The robot of footfall.machines.rimless_wheel.robots; the torque limit is that of each motor.
ROBOT = {
    "wheel_mass": 2.46, "wheel_inertia": 0.0, "gravity": 9.81, "rest_length": 0.26, "stiffness": 15000.0, "damping": 400.0,
    "torso_mass": 4.45, "com_distance": 0.06, "torso_inertia": 0.0, "pitch_setpoint": 0.6, "proportional": 20.0, "integral": 40.0,
    "derivative": 1.0, "torque_limit": 5.4 * 0.034 * 40.0,
}  # fmt: skip

PRECISIONS = {"f64": np.float64, "f32": np.float32}
TRIGS = ("libm", "poly")
#: Compiler options of nvcc by name. Our kernels divide float32 as `-prec-div=false` does; "fast" is the
#: whole of fast-math.
CUDA_MATH = {"ieee": [], "div": ["-prec-div=false"], "fast": ["--use_fast_math"]}

Arrays = dict[str, np.ndarray]


def population(lanes: int, seed: int = 0, **fixed: float) -> Arrays:
    """Parameters and start of each lane; the phase is spread, so that events fall evenly over the
    steps.

    `fixed` sets any of them for all lanes. The draws do not depend on each other's being fixed.
    """
    random = np.random.default_rng(seed)
    drawn = {
        "stiffness": random.uniform(12e3, 2e4, lanes),
        "damping": random.uniform(300.0, 500.0, lanes),
        "pitch_setpoint": random.uniform(0.5, 1.0, lanes),
        "spoke_rate": random.uniform(-3.7, -3.3, lanes),
        "spoke_angle": random.uniform(-0.1, 0.31, lanes),
    }
    given = ROBOT | drawn | fixed
    rest = {"torso_angle": given["pitch_setpoint"], "spoke_length": given["rest_length"]}
    zero = {"torso_rate": 0.0, "spoke_speed": 0.0, "pitch_integral": 0.0}
    given = zero | rest | given
    # The hub starts above x = 0.
    given = {"foot_x": given["spoke_length"] * np.sin(given["spoke_angle"])} | given
    return {
        name: np.broadcast_to(np.asarray(given[name], float), (lanes,)).copy()
        for name in (*PARAMETERS, *STARTS)
    }


def rows(arrays: Arrays, names: tuple[str, ...], precision: str) -> np.ndarray:
    """One row per name, one column per lane."""
    return np.ascontiguousarray(np.stack([arrays[name] for name in names]), PRECISIONS[precision])


def named(reals: np.ndarray, counts: np.ndarray) -> Arrays:
    """Results by name; the statistics that follow from them are added by `metrics`."""
    return dict(zip(REALS, reals, strict=True)) | dict(zip(COUNTS, counts, strict=True))


def metrics(given: Arrays, results: Arrays) -> Arrays:
    """Mean speed, step time and cost of transport between the first and the last footfall after
    settling; NaN where there are none.
    """
    r = {name: np.asarray(value, float) for name, value in results.items()}
    steps, seconds = r["last_steps"] - r["first_steps"], r["last_time"] - r["first_time"]
    distance, work = r["last_distance"] - r["first_distance"], r["last_work"] - r["first_work"]
    weight = (given["wheel_mass"] + given["torso_mass"]) * given["gravity"]
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = {
            "mean_speed": distance / seconds,
            "step_time": seconds / steps,
            "cost_of_transport": work / (weight * distance),
        }
    return {name: np.where(steps > 0, value, np.nan) for name, value in parts.items()}


def median(values: np.ndarray) -> float:
    """Of those that are numbers; 0 where none is."""
    return float(np.median(values[np.isfinite(values)])) if np.isfinite(values).any() else 0.0


def stored(given: Arrays, state: Arrays) -> np.ndarray:
    """Kinetic, gravity and spring energy, in float64."""
    p = given
    x = {name: np.asarray(state[name], float) for name in STATE}
    s, c, sp, cp = (
        np.sin(x["spoke_angle"]),
        np.cos(x["spoke_angle"]),
        np.sin(x["torso_angle"]),
        np.cos(x["torso_angle"]),
    )
    l, com, mass = x["spoke_length"], p["com_distance"], p["torso_mass"]
    hub_x, hub_z = (
        -x["spoke_speed"] * s - l * x["spoke_rate"] * c,
        x["spoke_speed"] * c - l * x["spoke_rate"] * s,
    )
    torso_x, torso_z = hub_x + com * x["torso_rate"] * cp, hub_z + com * x["torso_rate"] * sp
    kinetic = p["wheel_mass"] * (hub_x**2 + hub_z**2) + mass * (torso_x**2 + torso_z**2)
    kinetic += p["wheel_inertia"] * x["spoke_rate"] ** 2 + p["torso_inertia"] * x["torso_rate"] ** 2
    gravity = p["gravity"] * (p["wheel_mass"] * l * c + mass * (l * c - com * cp))
    return 0.5 * kinetic + gravity + 0.5 * p["stiffness"] * (l - p["rest_length"]) ** 2


def ledger_residual(given: Arrays, results: Arrays) -> np.ndarray:
    """Stored at the end less stored at the start less work plus losses, J."""
    r = {
        name: np.asarray(results[name], float)
        for name in ("motor_work", "damper_loss", "impact_loss", "spring_loss")
    }
    change = stored(given, results) - stored(given, given)
    return change - r["motor_work"] + r["damper_loss"] + r["impact_loss"] + r["spring_loss"]


def processor() -> str:
    """-march=native means something else on another one."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next(
        (line for line in lines if line.startswith(("flags", "Features"))), platform.processor()
    )


def build(command: list[str], source: str, key: str = "") -> tuple[Path, float, str]:
    """The shared library, the seconds its compilation took (0 when it was there) and what the
    compiler said.
    """
    text = "".join((HERE / name).read_text() for name in ("wheel_loop.h", source))
    digest = hashlib.sha256("\0".join([text, key, *command]).encode()).hexdigest()[:16]
    BUILD.mkdir(exist_ok=True)
    (BUILD / ".gitignore").write_text("*\n")
    path = BUILD / f"{source.replace('.', '_')}-{digest}.so"
    if path.exists():
        return path, 0.0, ""
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        aside = Path(folder) / "library.so"
        began = time.perf_counter()
        done = subprocess.run(
            [*command, str(HERE / source), "-o", str(aside)], capture_output=True, text=True
        )
        seconds = time.perf_counter() - began
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} {source} failed:\n{done.stdout}{done.stderr}")
        aside.replace(path)
    return path, seconds, done.stdout + done.stderr


def choices(precision: str, trig: str, flat: bool) -> list[str]:
    """The macros of wheel_loop.h."""
    if precision not in PRECISIONS or trig not in TRIGS:
        raise ValueError(
            f"precision is one of {', '.join(PRECISIONS)} and trig one of {', '.join(TRIGS)}"
        )
    return ["-DSINGLE"] * (precision == "f32") + ["-DPOLY"] * (trig == "poly") + ["-DFLAT"] * flat


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def c_library(precision: str, trig: str, flat: bool = False) -> tuple[ctypes.CDLL, float]:
    """The C loop and its compile seconds. The compiler is $CC, cc or gcc."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise RuntimeError("no C compiler: neither $CC, cc nor gcc was found")
    options = [
        "-std=gnu11",
        "-O3",
        "-march=native",
        "-fPIC",
        "-shared",
        *choices(precision, trig, flat),
        "-pthread",
    ]
    path, seconds, _ = build([compiler, *options, "-lm"], "wheel.c", processor())
    library = ctypes.CDLL(str(path))
    library.run.restype = ctypes.c_int
    library.run.argtypes = (
        [ctypes.c_void_p] * 4
        + [ctypes.c_long, ctypes.c_int, ctypes.c_int]
        + [ctypes.c_double] * 2
        + [ctypes.c_int]
    )
    return library, seconds


def run_c(
    given: Arrays, h: float, steps: int, per_tick: int, settle: float, precision: str = "f64", trig: str = "poly", threads: int = 0,
    *, flat: bool = False,
) -> tuple[Arrays, float]:  # fmt: skip
    """Results by name, and the seconds of the run itself (building and copying apart).

    No `threads`: all cores.
    """
    library, _ = c_library(precision, trig, flat)
    parameters, start = rows(given, PARAMETERS, precision), rows(given, STARTS, precision)
    lanes = parameters.shape[1]
    reals, counts = (
        np.full((len(REALS), lanes), np.nan, PRECISIONS[precision]),
        np.full((len(COUNTS), lanes), -1, np.int32),
    )
    arrays = [pointer(a) for a in (parameters, start, reals, counts)]
    began = time.perf_counter()
    error = library.run(
        *arrays, lanes, steps, per_tick, h, settle, threads or len(os.sched_getaffinity(0))
    )
    seconds = time.perf_counter() - began
    if error:
        raise RuntimeError(f"the C loop could not start its threads: {os.strerror(error)}")
    return named(reals, counts), seconds


def cuda_library(
    precision: str, trig: str, math: str = "ieee", flat: bool = False, registers: int = 0
) -> tuple[Path, float, str]:
    """The CUDA loop, its compile seconds and nvcc's words on registers, of which there may be at
    most `registers` (0: any number).
    """
    compiler = os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not Path(compiler).exists():
        raise RuntimeError("no nvcc: neither $NVCC, the path nor /usr/local/cuda/bin has one")
    options = [
        "-O3",
        "-arch=sm_90",
        "-Xcompiler",
        "-fPIC",
        "-shared",
        "-Xptxas",
        "-v",
        *CUDA_MATH[math],
    ]
    options += [f"-maxrregcount={registers}"] * (registers > 0)
    return build([compiler, *options, *choices(precision, trig, flat)], "wheel.cu")


class CudaWheel:
    """A population on the GPU:

    `run` as often as wanted, then `results`. The memory is given back by `close` or `with`.
    """

    def __init__(
        self,
        given: Arrays,
        precision: str = "f64",
        trig: str = "poly",
        math: str = "ieee",
        *,
        flat: bool = False,
        registers: int = 0,
    ):
        path, self.compile_seconds, self.compiler_said = cuda_library(
            precision, trig, math, flat, registers
        )
        self.kind = PRECISIONS[precision]
        self.library = ctypes.CDLL(str(path))
        self.library.error_text.restype = ctypes.c_char_p
        self.library.upload.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_long]
        self.library.run.argtypes = (
            [ctypes.c_int] * 2 + [ctypes.c_double] * 2 + [ctypes.c_int, ctypes.c_void_p]
        )
        self.library.download.argtypes = [ctypes.c_void_p] * 2
        self.library.describe.argtypes = [ctypes.c_int, ctypes.c_void_p]
        parameters, start = rows(given, PARAMETERS, precision), rows(given, STARTS, precision)
        self.lanes = parameters.shape[1]
        self._check(self.library.upload(pointer(parameters), pointer(start), self.lanes))

    def _check(self, code: int) -> None:
        if code:
            raise RuntimeError(f"CUDA error {code}: {self.library.error_text(code).decode()}")

    def run(self, h: float, steps: int, per_tick: int, settle: float, block: int = 128) -> float:
        """Seconds by the device's clock, from the start of the population."""
        milliseconds = ctypes.c_float()
        self._check(self.library.run(steps, per_tick, h, settle, block, ctypes.byref(milliseconds)))
        return 1e-3 * milliseconds.value

    def results(self) -> Arrays:
        reals, counts = (
            np.full((len(REALS), self.lanes), np.nan, self.kind),
            np.full((len(COUNTS), self.lanes), -1, np.int32),
        )
        self._check(self.library.download(pointer(reals), pointer(counts)))
        return named(reals, counts)

    def describe(self, block: int = 128) -> dict[str, int]:
        """Registers and bytes of local memory per thread, and threads that fit on a multiprocessor
        at once.
        """
        three = (ctypes.c_int * 3)()
        self._check(self.library.describe(block, three))
        return dict(zip(("registers", "local_bytes", "threads_at_once"), three, strict=True))

    def close(self) -> None:
        self._check(self.library.release())

    def __enter__(self) -> "CudaWheel":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def run_cuda(
    given: Arrays, h: float, steps: int, per_tick: int, settle: float, precision: str = "f64", trig: str = "poly", math: str = "ieee",
    *, flat: bool = False, registers: int = 0, block: int = 128, rounds: int = 1,
) -> tuple[Arrays, float]:  # fmt: skip
    """Results by name, and the best seconds of `rounds` runs by the device's clock, after one that
    warms up.
    """
    with CudaWheel(given, precision, trig, math, flat=flat, registers=registers) as wheel:
        wheel.run(h, min(steps, 10 * per_tick), per_tick, settle, block)
        seconds = min(wheel.run(h, steps, per_tick, settle, block) for _ in range(rounds))
        return wheel.results(), seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lanes", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--h", type=float, default=1e-3)
    parser.add_argument("--per-tick", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    parser.add_argument(
        "--build-cuda", action="store_true", help="compile every variant of the CUDA loop and stop"
    )
    options = parser.parse_args()
    if options.build_cuda:
        for precision, trig, math, flat in itertools.product(
            PRECISIONS, TRIGS, CUDA_MATH, (False, True)
        ):
            _, seconds, said = cuda_library(precision, trig, math, flat)
            used = [
                line.split(":", 1)[-1].strip()
                for line in said.splitlines()
                if "registers" in line or "spill" in line
            ]
            print(
                f"{precision} {trig} {math:4} {'flat  ' if flat else 'nested'} {seconds:5.1f} s "
                f" {'; '.join(used)}",
                flush=True,
            )
        return
    given = population(options.lanes)
    settle = 0.5 * options.steps * options.h
    kinds = list(itertools.product(PRECISIONS, TRIGS, (False, True)))
    best: dict[tuple, float] = {}
    found: dict[tuple, Arrays] = {}
    # Alternating: the machine's noise hits all.
    for _, kind in itertools.product(range(options.rounds), kinds):
        precision, trig, flat = kind
        plan = (options.h, options.steps, options.per_tick, settle)
        found[kind], seconds = run_c(given, *plan, precision, trig, options.threads, flat=flat)
        best[kind] = min(seconds, best.get(kind, np.inf))
    print(
        f"{options.lanes} lanes, {options.steps} steps of {options.h:g} s,"
        f" {options.threads or len(os.sched_getaffinity(0))} threads"
    )
    print(
        f"{'':18}{'ns/lane-step':>13}{'Msteps/s':>10}{'jumps':>7}{'running':>9}{'speed':>8}{'median |ledger| J':>19}"
    )
    for kind in kinds:
        precision, trig, flat = kind
        r = found[kind]
        nanoseconds = 1e9 * best[kind] / (options.lanes * options.steps)
        print(
            f"{precision} {trig}"
            f" {'flat' if flat else 'nested':8}{nanoseconds:13.1f}{1e3 / nanoseconds:10.2f}{r['jumps'].mean():7.2f}"
            f"{np.mean(r['outcome'] == 0):9.1%}{median(metrics(given, r)['mean_speed']):8.4f}"
            f"{np.median(np.abs(ledger_residual(given, r))):19.1e}"
        )


if __name__ == "__main__":
    main()
