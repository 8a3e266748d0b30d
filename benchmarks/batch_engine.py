"""The batch engine on a CPU against a C loop by hand, SciPy and vmapped diffrax: the rimless wheel
with everything on.

    python benchmarks/batch_engine.py                                  small sizes, all sections, a
    few minutes
    python benchmarks/batch_engine.py --lanes 16384 --steps 2000 --rounds 5 --write
    python benchmarks/batch_engine.py --sections speed,accuracy

The job, the same for the C loop and for us: torso, springy spokes, PID ticks every 5 ms, classical
RK4 with a constant step, four guards, events located and jumped, ledger, statistics, outcomes; see
yardsticks/wheel_loop.h. SciPy and diffrax do less (touchdown only, no ledger, no statistics). We do
a little more than the C loop: we also look for guards that dip below zero and come back inside a
step. Sides alternate in one run and the best of several rounds counts: the machine's noise hits
all. Compilation has its own section.

Sections: accuracy (the step that just reaches a state error of 1e-5 after 5 s, on a few robots that
are the same for every side), speed, scipy and diffrax (their tolerance or step that just reaches
it, then all sides in turn), lanes, duration, memory, compile."""

import argparse
import functools
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from conditions import RESULTS, write
from yardsticks import plain

PERIOD = 5e-3  # of the control ticks
REACH, SPAN = 1e-5, 5.0  # "equal accuracy": this state error after this many seconds
MECHANICAL = plain.STATE[:6]  # the controller's memory follows from them
VARIED = ("stiffness", "damping", "pitch_setpoint")
ALPHA = 2 * math.pi / 10
SECTIONS = ("accuracy", "speed", "scipy", "diffrax", "lanes", "duration", "memory", "compile")
WORDS = {"cpp": "C++", "xla": "XLA", "gpu": "CUDA"}  # how a path names itself
Timed = tuple[dict[str, np.ndarray], float]


# --- ours -----------------------------------------------------------------------------------------


def machine(
    given: plain.Arrays,
    *,
    lane: int | None = None,
    every: bool = False,
    period: float | None = PERIOD,
):
    """(system, state): all lanes, or one robot.

    `every` makes every parameter an array over lanes, not only those that vary.
    """
    from footfall.machines.parts.actuators.motors import DcMotor
    from footfall.machines.rimless_wheel.pitch_laws import PitchPid
    from footfall.machines.rimless_wheel.spring_leg import SpringLeg
    from footfall.machines.rimless_wheel.torso import Torso
    from footfall.machines.rimless_wheel.torso_wheel import TorsoWheel

    def leaf(name: str, scale: float = 1.0):
        if lane is None and (every or name in (*VARIED, "spoke_angle", "spoke_rate")):
            return scale * given[name]
        return scale * float(given[name][lane or 0])

    system = TorsoWheel(
        wheel_mass=leaf("wheel_mass"),
        wheel_inertia=leaf("wheel_inertia"),
        gravity=leaf("gravity"),
        control_period=period,
        leg=SpringLeg(
            rest_length=leaf("rest_length"), stiffness=leaf("stiffness"), damping=leaf("damping")
        ),
        torso=Torso(
            mass=leaf("torso_mass"),
            com_distance=leaf("com_distance"),
            inertia=leaf("torso_inertia"),
            pitch_setpoint=leaf("pitch_setpoint"),
        ),
        motor=DcMotor(
            gear_ratio=5.4,
            torque_constant=0.034,
            current_limit=leaf("torque_limit", 1 / (5.4 * 0.034)),
        ),
        controller=PitchPid(
            proportional=leaf("proportional"),
            integral=leaf("integral"),
            derivative=leaf("derivative"),
        ),
    )
    return system, TorsoWheel.Start(
        spoke_angle=leaf("spoke_angle"), spoke_rate=leaf("spoke_rate")
    ).state(system)


def run_ours(
    given: plain.Arrays,
    h: float,
    steps: int,
    precision: str,
    path: str,
    *,
    every: bool = False,
    threads: int | None = None,
) -> Timed:
    """Results by name, and the seconds of the call.

    Another path than the one asked for is an error here.
    """
    from footfall.engines.lanes.batch import run_batch
    from footfall.engines.lanes.batch_plan import BatchPlan

    system, state = machine(given, every=every)
    long = {"f64": "float64", "f32": "float32"}[precision]
    plan = BatchPlan(duration=steps * h, step=h, precision=long, settle=0.5 * steps * h, path=path)
    began = time.perf_counter()
    result = run_batch(system, state, plan, threads=threads)
    seconds = time.perf_counter() - began
    return results_of(result, path), seconds


def results_of(result, path: str) -> dict[str, np.ndarray]:
    """Columns and final state by name. Another path than the one asked for is an error here."""
    if not result.path.startswith(WORDS[path]):
        raise RuntimeError(
            f"asked for the path {path}, {result.path} ran: {'; '.join(result.notes)}"
        )
    return result.columns | {name: np.asarray(getattr(result.end.x, name)) for name in plain.STATE}


# --- equal accuracy -------------------------------------------------------------------------------


def reference(
    given: plain.Arrays, lane: int, duration: float, period: float | None = PERIOD
) -> np.ndarray:
    """Final mechanical state of one robot by the event engine, two digits beyond what is asked of
    anyone here.
    """
    from footfall import SimPlan, simulate

    run = simulate(
        *machine(given, lane=lane, period=period),
        SimPlan(duration=duration, rtol=1e-11, atol=1e-12, sample_rate=None),
    )
    if run.ending.t < duration:
        raise RuntimeError(f"lane {lane} did not walk to the end: {run.ending.sentence}")
    return np.array([run.ending.state[name] for name in MECHANICAL])


def errors(state: dict[str, np.ndarray], exact: list[np.ndarray]) -> np.ndarray:
    """Largest state error of each of the first lanes."""
    found = np.stack([np.asarray(state[name], float)[: len(exact)] for name in MECHANICAL], axis=1)
    return np.abs(found - np.stack(exact)).max(axis=1)


def accuracy(few: plain.Arrays) -> dict:
    """State error after 5 s by step, and the longest step (whole steps per tick) within REACH for
    every robot looked at.
    """
    lanes = len(few["stiffness"])
    exact = [reference(few, lane, SPAN) for lane in range(lanes)]
    print(
        f"\nstate error after {SPAN:g} s against the event engine, {lanes} robots: largest (median)"
    )
    print(f"{'step':>10}{'C f64':>22}{'C f32':>22}" + f"{'ours cpp f64':>22}{'ours cpp f32':>22}")
    rows, chosen = [], None
    for per_tick in (2, 3, 4, 5, 6, 7, 8, 10, 20):
        h, steps = PERIOD / per_tick, round(SPAN / PERIOD) * per_tick
        row: dict = {"step": h, "per_tick": per_tick}
        for precision in plain.PRECISIONS:
            row[f"C {precision}"] = errors(
                plain.run_c(few, h, steps, per_tick, 0.5 * SPAN, precision)[0], exact
            )
        for precision in plain.PRECISIONS:
            row[f"ours {precision}"] = errors(run_ours(few, h, steps, precision, "cpp")[0], exact)
        shown = [
            f"{v.max():.1e} ({np.median(v):.1e})" for v in row.values() if isinstance(v, np.ndarray)
        ]
        print(f"{h:10.3g}" + "".join(f"{text:>22}" for text in shown))
        judged = row["ours f64"].max()
        if chosen is None and judged <= REACH:
            chosen = per_tick
        rows.append(
            {
                k: {"max": v.max(), "median": np.median(v)} if isinstance(v, np.ndarray) else v
                for k, v in row.items()
            }
        )
    print(
        f"step that just reaches {REACH:g}: {PERIOD / chosen:g} s"
        if chosen
        else f"no step tried reaches {REACH:g}"
    )
    return {
        "lanes": lanes,
        "rows": rows,
        "step": PERIOD / chosen if chosen else None,
        "per_tick": chosen,
    }


# --- SciPy ----------------------------------------------------------------------------------------


def lean_flow(p: dict[str, float], y, torque: float) -> tuple[float, float, float]:
    """(theta_dd, phi_dd, l_dd) in plain Python floats.

    Several times faster than NumPy on numbers this few.
    """
    theta, phi, l, theta_dot, phi_dot, l_dot = y[0], y[1], y[2], y[3], y[4], y[5]
    total, m2c, g = (
        p["wheel_mass"] + p["torso_mass"],
        p["torso_mass"] * p["com_distance"],
        p["gravity"],
    )
    st, ct, sp, cp = math.sin(theta), math.cos(theta), math.sin(phi), math.cos(phi)
    s, c = st * cp - ct * sp, ct * cp + st * sp
    force = -p["stiffness"] * (l - p["rest_length"]) - p["damping"] * l_dot
    b1 = force - total * g * ct + total * l * theta_dot * theta_dot - m2c * phi_dot * phi_dot * c
    b2 = (
        -torque
        + total * g * l * st
        - 2 * total * l * l_dot * theta_dot
        + m2c * l * phi_dot * phi_dot * s
    )
    b3 = (
        torque
        - m2c * g * sp
        + 2 * m2c * l_dot * theta_dot * c
        - m2c * l * theta_dot * theta_dot * s
    )
    a13, a23, a22 = -m2c * s, -m2c * l * c, total * l * l + p["wheel_inertia"]
    a33 = m2c * p["com_distance"] + p["torso_inertia"]
    phi_dd = (b3 - a13 * b1 / total - a23 * b2 / a22) / (a33 - a13 * a13 / total - a23 * a23 / a22)
    return (b2 - a23 * phi_dd) / a22, phi_dd, (b1 - a13 * phi_dd) / total


def lean_transfer(p: dict[str, float], y: np.ndarray) -> np.ndarray:
    """For wheels without inertia, where the velocities are rewritten exactly."""
    c, s, rest = math.cos(ALPHA), math.sin(ALPHA), p["rest_length"]
    after = y.copy()
    after[0], after[2] = y[0] + ALPHA, rest
    after[3], after[5] = (y[2] * y[3] * c - y[5] * s) / rest, y[5] * c + y[2] * y[3] * s
    return after


def scipy_walk(
    p: dict[str, float], law: str, method: str, rtol: float, duration: float
) -> np.ndarray:
    """Final mechanical state by solve_ivp with a terminal event.

    Restarted at footfalls, and if `law` is "held" at ticks too.
    """
    from scipy.integrate import solve_ivp

    y = np.array([p[name] for name in plain.STATE])
    setpoint, limit = p["pitch_setpoint"], p["torque_limit"]

    def wanted(y) -> float:
        each = (
            p["proportional"] * (setpoint - y[1]) + p["integral"] * y[6] - p["derivative"] * y[4]
        ) / 2
        return 2 * min(max(each, -limit), limit)

    def touchdown(t, y):
        return y[2] * math.cos(y[0]) - p["rest_length"] * math.cos(y[0] + ALPHA)

    touchdown.terminal, touchdown.direction = True, -1

    def march(y: np.ndarray, begin: float, end: float, field: Callable) -> np.ndarray:
        while begin < end:
            part = solve_ivp(
                field, (begin, end), y, method=method, rtol=rtol, atol=1e-2 * rtol, events=touchdown
            )
            begin, y = part.t[-1], part.y[:, -1]
            y = lean_transfer(p, y) if part.status == 1 else y
        return y

    if law == "continuous":

        def field(t, y):
            theta_dd, phi_dd, l_dd = lean_flow(p, y, wanted(y))
            return (y[3], y[4], y[5], theta_dd, phi_dd, l_dd, setpoint - y[1])

        return march(y, 0.0, duration, field)[:6]
    for k in range(round(duration / PERIOD)):
        y[6] += PERIOD * (setpoint - y[1])
        torque = wanted(y)

        def field(t, y, torque=torque):
            theta_dd, phi_dd, l_dd = lean_flow(p, y, torque)
            return (y[3], y[4], y[5], theta_dd, phi_dd, l_dd, 0.0)

        y = march(y, k * PERIOD, (k + 1) * PERIOD, field).copy()
    return y[:6]


def robot(given: plain.Arrays, lane: int) -> dict[str, float]:
    return {name: float(values[lane]) for name, values in given.items()}


def scipy_section(given: plain.Arrays, rounds: int) -> dict:
    """Each method's seconds per robot-second at the tolerance that just reaches REACH; `compare`
    takes the fastest from here.
    """
    from scipy_wheels import walk

    out: dict = {}
    lanes = len(given["stiffness"])
    print(
        f"\nSciPy at a state error of {REACH:g} after {SPAN:g} s (the same {lanes} robots; atol ="
        " rtol / 100)"
    )
    for law, period in (("continuous", None), ("held", PERIOD)):
        exact = [reference(given, lane, SPAN, period) for lane in range(lanes)]
        found: dict[str, dict] = {}
        for method in ("RK23", "RK45", "DOP853", "LSODA"):
            for rtol in 10.0 ** -np.arange(3.0, 10.1, 0.5):
                gap = 0.0
                for lane in range(lanes):  # the first robot that is too far off ends it
                    gap = max(
                        gap,
                        np.abs(
                            scipy_walk(robot(given, lane), law, method, rtol, SPAN) - exact[lane]
                        ).max(),
                    )
                    if gap > REACH:
                        break
                if gap <= REACH:
                    found[method] = {"rtol": float(rtol), "error": float(gap)}
                    break
        for method, row in found.items():
            tasks = [(robot(given, lane), law, method, row["rtol"], SPAN) for lane in range(lanes)]
            whole = min(
                _clock(lambda tasks=tasks: [scipy_walk(*task) for task in tasks])
                for _ in range(rounds)
            )
            row["seconds_per_robot_second"] = whole / (lanes * SPAN)
            print(
                f"  {law:11}{method:8} rtol {row['rtol']:.0e} "
                f" {1e3 * row['seconds_per_robot_second']:9.2f} ms per robot-second"
            )
        out[law] = found
    # The repository's own yardstick for single runs, with NumPy's solver inside: the nominal robot
    # only, the continuous law.
    usual = plain.population(
        1, **{k: plain.ROBOT[k] for k in VARIED}, spoke_angle=math.pi / 10, spoke_rate=-3.5
    )
    exact = reference(usual, 0, SPAN, None)
    for method in ("RK45", "LSODA"):
        for rtol in 10.0 ** -np.arange(3.0, 10.1, 0.5):
            if (
                np.abs(walk("rimless-wheel", method, SPAN, rtol, 1e-2 * rtol)[0][:6] - exact).max()
                <= REACH
            ):
                seconds = (
                    min(
                        _clock(walk, "rimless-wheel", method, SPAN, rtol, 1e-2 * rtol)
                        for _ in range(rounds)
                    )
                    / SPAN
                )
                out.setdefault("scipy_wheels.walk", {})[method] = {
                    "rtol": float(rtol),
                    "seconds_per_robot_second": seconds,
                }
                print(
                    f"  scipy_wheels.walk  {method:8} rtol {rtol:.0e}  {1e3 * seconds:9.2f} ms per"
                    " robot-second"
                )
                break
    return out


def _clock(function: Callable, *arguments) -> float:
    began = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - began


def _star(task: tuple) -> np.ndarray:
    return scipy_walk(*task)


# --- the rest -------------------------------------------------------------------------------------


def diffrax_section(few: plain.Arrays, lanes: int, rounds: int) -> dict:
    """Robot-seconds per second of the longest constant step that reaches REACH, for both control
    laws.
    """
    from yardsticks import diffrax_batch

    some, out = plain.population(lanes), {}
    print(
        f"\nvmapped diffrax (Tsit5, constant step, Event), {lanes} lanes, 1 s, at a state error of"
        f" {REACH:g} after {SPAN:g} s"
    )
    for law in diffrax_batch.LAWS:
        exact = [
            reference(few, i, SPAN, PERIOD if law == "held" else None)
            for i in range(len(few["stiffness"]))
        ]
        for per_tick in (1, 2, 3, 4, 5, 8, 10, 20):
            states = np.asarray(diffrax_batch.prepare(few, law, PERIOD / per_tick, SPAN)()[0])
            gap = np.abs(states[:, :6] - np.stack(exact)).max()
            if gap <= REACH:
                break
        else:
            print(f"  {law:11} no step tried is accurate enough")
            continue
        run = diffrax_batch.prepare(some, law, PERIOD / per_tick, 1.0)
        first = _clock(run)
        seconds = min(_clock(run) for _ in range(rounds))
        out[law] = {
            "step": PERIOD / per_tick, "error": float(gap), "lanes": lanes, "first_call": first, "robot_seconds_per_second": lanes / seconds
        }  # fmt: skip
        print(
            f"  {law:11} step {PERIOD / per_tick:.3g} s  {lanes / seconds:9.0f} robot-seconds/s "
            f" first call {first:.1f} s"
        )
    return out


def contestants() -> dict[str, Callable[..., Timed]]:
    """name -> run(given, h, steps, per_tick)."""
    out: dict[str, Callable[..., Timed]] = {}
    for precision in plain.PRECISIONS:
        for trig in plain.TRIGS:
            out[f"C {trig} {precision}"] = functools.partial(_run_c, precision, trig)
    for path in ("cpp", "xla"):
        for precision in plain.PRECISIONS:
            out[f"ours {path} {precision}"] = functools.partial(_run_path, precision, path, False)
    for precision in plain.PRECISIONS:
        out[f"ours cpp {precision}, all per lane"] = functools.partial(
            _run_path, precision, "cpp", True
        )
    return out


def _run_c(
    precision: str, trig: str, given: plain.Arrays, h: float, steps: int, per_tick: int
) -> Timed:
    return plain.run_c(given, h, steps, per_tick, 0.5 * steps * h, precision, trig)


def _run_path(
    precision: str, path: str, every: bool, given: plain.Arrays, h: float, steps: int, per_tick: int
) -> Timed:
    del per_tick
    return run_ours(given, h, steps, precision, path, every=every)


def interleaved(
    runs: dict[str, Callable[[], Timed]], rounds: int
) -> tuple[dict[str, float], dict[str, dict]]:
    """Best seconds and last results of each, the sides alternating after one round that warms
    up.
    """
    best: dict[str, float] = dict.fromkeys(runs, math.inf)
    last = {name: run()[0] for name, run in runs.items()}
    for _ in range(rounds):
        for name, run in runs.items():
            last[name], seconds = run()
            best[name] = min(best[name], seconds)
    return best, last


def lanes_of(name: str, lanes: int) -> int:
    """XLA works in blocks of 256 lanes and is slow: a few blocks say it as well."""
    return min(lanes, 1024) if "xla" in name else lanes


def part(given: plain.Arrays, lanes: int) -> plain.Arrays:
    return {name: values[:lanes] for name, values in given.items()}


def speed(lanes: int, steps: int, h: float, per_tick: int, rounds: int) -> dict:
    """Robot-steps per second of the C loops and of our paths (whole calls), and ratios to the C
    loops of the same precision.
    """
    given = plain.population(lanes)
    count = {name: lanes_of(name, lanes) for name in contestants()}
    runs = {
        n: functools.partial(run, part(given, count[n]), h, steps, per_tick)
        for n, run in contestants().items()
    }
    best, last = interleaved(runs, rounds)
    pace = {name: 1e9 * seconds / (count[name] * steps) for name, seconds in best.items()}
    out = {}
    cores = len(os.sched_getaffinity(0))
    print(
        f"\n{lanes} lanes (XLA: {lanes_of('xla', lanes)}), {steps} steps of {h:g} s, {cores} cores;"
        f" best of {rounds}"
    )
    print(
        f"{'':28}{'ns/lane-step':>13}{'steps/s':>11}{'robot-s/s':>11}{'x C poly':>10}{'x C libm':>10}{'gap to C':>10}"
    )
    for name, nanoseconds in pace.items():
        kind = "f32" if "f32" in name else "f64"
        plainly = last[f"C poly {kind}"]
        row = {
            "ns_per_lane_step": nanoseconds,
            "steps_per_second": 1e9 / nanoseconds,
            "robot_seconds_per_second": 1e9 * h / nanoseconds,
            "times_c_poly": pace[f"C poly {kind}"] / nanoseconds,
            "times_c_libm": pace[f"C libm {kind}"] / nanoseconds,
            "largest_difference_from_c_poly": max(
                float(np.abs(last[name][k] - plainly[k][: count[name]]).max()) for k in MECHANICAL
            ),
        }
        out[name] = row
        print(
            f"{name:28}{row['ns_per_lane_step']:13.2f}{row['steps_per_second']:11.3g}{row['robot_seconds_per_second']:11.3g}"
            f"{row['times_c_poly']:10.2f}{row['times_c_libm']:10.2f}{row['largest_difference_from_c_poly']:10.1e}"
        )
    return {
        "lanes": lanes,
        "steps": steps,
        "step": h,
        "per_tick": per_tick,
        "rounds": rounds,
        "rows": out,
    }


def growth_with_lanes(sizes: list[int], per_tick: int, rounds: int) -> dict:
    """ns per lane-step of whole calls of half a second, by number of lanes.

    Beyond 65536 our kernel runs alone.
    """
    names = [
        "C poly f64",
        "C poly f32",
        "ours cpp f64",
        "ours cpp f32",
        "ours xla f64",
        "ours xla f32",
    ]
    out: dict[str, dict] = {name: {} for name in names}
    everyone, steps = contestants(), round(0.5 / PERIOD) * per_tick
    print(f"\nns per lane-step, {steps} steps")
    print(f"{'lanes':>9}" + "".join(f"{name:>14}" for name in names))
    for lanes in sizes:
        given = plain.population(lanes)
        chosen = [n for n in names if lanes <= (4096 if "xla" in n else 65536) or "cpp" in n]
        runs = {
            n: functools.partial(everyone[n], given, PERIOD / per_tick, steps, per_tick)
            for n in chosen
        }
        for name, seconds in interleaved(runs, rounds)[0].items():
            out[name][lanes] = 1e9 * seconds / (lanes * steps)
        print(
            f"{lanes:9}"
            + "".join(f"{out[n][lanes]:14.2f}" if n in chosen else f"{'-':>14}" for n in names),
            flush=True,
        )
    return out


def growth_with_duration(per_tick: int, rounds: int) -> dict:
    """ns per lane-step by duration.

    But for what a call costs it is constant if nothing piles up.
    """
    names = ["C poly f64", "ours cpp f64", "ours xla f64"]
    out: dict[str, dict] = {name: {} for name in names}
    everyone, count = contestants(), {n: 256 if "xla" in n else 2048 for n in names}
    print("\nns per lane-step by duration, 2048 lanes (XLA: 256)")
    print(f"{'s':>9}" + "".join(f"{name:>16}" for name in names))
    for duration in (0.5, 1.0, 2.0, 5.0):
        steps = round(duration / PERIOD) * per_tick
        runs = {
            n: functools.partial(
                everyone[n], plain.population(k), PERIOD / per_tick, steps, per_tick
            )
            for n, k in count.items()
        }
        for name, seconds in interleaved(runs, rounds)[0].items():
            out[name][duration] = 1e9 * seconds / (count[name] * steps)
        print(f"{duration:9g}" + "".join(f"{out[n][duration]:16.2f}" for n in names), flush=True)
    return out


def worker(task: dict) -> dict:
    """In a process of its own.

    Seconds of the first and second call, and the peak of resident memory.
    """
    given = plain.population(task["lanes"])
    began = time.perf_counter()
    run_ours(given, PERIOD / task["per_tick"], task["steps"], task["precision"], task["path"])
    first = time.perf_counter() - began
    again = run_ours(
        given, PERIOD / task["per_tick"], task["steps"], task["precision"], task["path"]
    )[1]
    return {"first": first, "again": again, "peak": peak_memory()}


def peak_memory() -> int:
    """Bytes, of this program alone: what getrusage says includes the process that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))


def in_process(cache: str | None = None, **task) -> dict:
    environment = os.environ | (
        {"FOOTFALL_CACHE": cache, "JAX_ENABLE_COMPILATION_CACHE": "false"} if cache else {}
    )
    done = subprocess.run(
        [sys.executable, __file__, "--worker", json.dumps(task)],
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def memory(per_tick: int) -> dict:
    """Bytes per lane (what the peak of resident memory grows by), for a short and a long run."""
    out = {}
    print("\nbytes per lane, from the peak of resident memory; short run, run four times as long")
    few = 4096
    for path in ("cpp", "xla"):
        for precision in plain.PRECISIONS:
            figures, many = [], {"cpp": 262144, "xla": 65536}[path]
            for steps in (2 * per_tick, 8 * per_tick):
                task = {"steps": steps, "per_tick": per_tick, "precision": precision, "path": path}
                low, high = (
                    in_process(lanes=few, **task)["peak"],
                    in_process(lanes=many, **task)["peak"],
                )
                figures.append((high - low) / (many - few))
            out[f"ours {path} {precision}"] = {"short": figures[0], "long": figures[1]}
            print(f"  ours {path} {precision:6}{figures[0]:10.0f}{figures[1]:10.0f}", flush=True)
    return out


def compilation(per_tick: int) -> dict:
    """First call of a fresh process with empty caches, then with what the one before left there."""
    out = {}
    print("\nfirst call in a fresh process: nothing kept, kernel kept [s]; imports apart")
    for path in ("cpp", "xla"):
        for precision in plain.PRECISIONS:
            with tempfile.TemporaryDirectory() as cache:
                task = {
                    "lanes": 64,
                    "steps": 2 * per_tick,
                    "per_tick": per_tick,
                    "precision": precision,
                    "path": path,
                }
                cold, kept = (in_process(cache, **task)["first"] for _ in range(2))
            out[f"ours {path} {precision}"] = {"nothing_kept": cold, "kernel_kept": kept}
            print(f"  ours {path} {precision:6}{cold:8.2f}{kept:8.2f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        plain.BUILD, usual = plain.Path(folder), plain.BUILD
        out["C"] = {
            f"{p} {t}": plain.c_library(p, t)[1] for p in plain.PRECISIONS for t in plain.TRIGS
        }
        plain.BUILD = usual
    print("  the C loop:", ", ".join(f"{name} {seconds:.2f}" for name, seconds in out["C"].items()))
    return out


def compare(
    figures: dict, few: plain.Arrays, lanes: int, steps: int, per_tick: int, rounds: int
) -> dict:
    """Robot-seconds per second of every side at equal accuracy, alternating, and how many times the
    others we are.
    """
    from scipy_wheels import walk
    from yardsticks import diffrax_batch

    h, given, cores = PERIOD / per_tick, plain.population(lanes), len(os.sched_getaffinity(0))
    runs: dict[str, Callable[[], Timed]] = {}
    size: dict[str, float] = {}  # robot-seconds of a run
    for name in ["C poly f64", *["ours cpp f64", "ours xla f64"]]:
        count = lanes_of(name, lanes)
        runs[name] = functools.partial(contestants()[name], part(given, count), h, steps, per_tick)
        size[name] = count * steps * h
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        for law, methods in figures.get("scipy", {}).items():
            if not methods:
                continue
            method = min(methods, key=lambda m, rows=methods: rows[m]["seconds_per_robot_second"])
            rtol = methods[method]["rtol"]
            if law == "scipy_wheels.walk":
                runs[f"{law} {method}"] = _timed(
                    functools.partial(walk, "rimless-wheel", method, SPAN, rtol, 1e-2 * rtol)
                )
                size[f"{law} {method}"] = SPAN
                continue
            tasks = [
                (robot(few, lane), law, method, rtol, SPAN) for lane in range(len(few["stiffness"]))
            ]
            runs[f"SciPy {law} {method}"] = _timed(lambda tasks=tasks: list(map(_star, tasks)))
            size[f"SciPy {law} {method}"] = len(tasks) * SPAN
            many = tasks * cores  # a user with many robots would use all cores
            runs[f"SciPy {law} {method}, {cores} processes"] = _timed(
                lambda many=many: list(pool.map(_star, many))
            )
            size[f"SciPy {law} {method}, {cores} processes"] = len(many) * SPAN
        for law, row in figures.get("diffrax", {}).items():
            runs[f"diffrax {law}"] = _timed(
                diffrax_batch.prepare(plain.population(row["lanes"]), law, row["step"], 1.0)
            )
            size[f"diffrax {law}"] = row["lanes"]
        best, _ = interleaved(runs, rounds)
    rate = {name: size[name] / seconds for name, seconds in best.items()}
    shown = [n for n in ("ours cpp f64", "ours xla f64", "C poly f64") if n in rate]
    print(
        f"\nat equal accuracy ({REACH:g} after {SPAN:g} s), alternating, best of {rounds}:"
        " robot-seconds per second, and how many times"
    )
    print(f"{'':40}{'robot-s/s':>11}" + "".join(f"{name:>15}" for name in shown))
    for name, pace in rate.items():
        print(f"{name:40}{pace:11.4g}" + "".join(f"{rate[n] / pace:13.4g} x" for n in shown))
    return {
        name: {"robot_seconds_per_second": pace, **{n: rate[n] / pace for n in shown}}
        for name, pace in rate.items()
    }


def _timed(function: Callable[[], object]) -> Callable[[], Timed]:
    return lambda: ({}, _clock(function))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lanes", type=int, default=4096)
    parser.add_argument(
        "--steps",
        type=int,
        default=1200,
        help="at least half a second: no robot steps before 0.06 s",
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--per-tick",
        type=int,
        default=0,
        help="steps per control tick of 5 ms; 0: the fewest that are accurate enough",
    )
    parser.add_argument(
        "--robots",
        type=int,
        default=4,
        help="robots whose accuracy is looked at, the same for every side",
    )
    parser.add_argument("--diffrax-lanes", type=int, default=512)
    parser.add_argument("--sizes", default="1,16,256,4096,65536", help="of the section lanes")
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--write", action="store_true", help="write results/batch_engine.json")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(worker(json.loads(options.worker))))
        return
    sections = options.sections.split(",")
    if unknown := set(sections) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    figures: dict = {}
    few, per_tick = plain.population(options.robots), options.per_tick or 5
    if "accuracy" in sections:
        figures["accuracy"] = accuracy(few)
        per_tick = options.per_tick or figures["accuracy"]["per_tick"] or per_tick
    h = PERIOD / per_tick
    if "speed" in sections:
        figures["speed"] = speed(options.lanes, options.steps, h, per_tick, options.rounds)
    if "scipy" in sections:
        figures["scipy"] = scipy_section(few, options.rounds)
    if "diffrax" in sections:
        figures["diffrax"] = diffrax_section(few, options.diffrax_lanes, options.rounds)
    if "scipy" in figures or "diffrax" in figures:
        sizes = (options.lanes, options.steps, per_tick, options.rounds)
        figures["at_equal_accuracy"] = compare(figures, few, *sizes)
    if "lanes" in sections:
        sizes = [int(n) for n in options.sizes.split(",")]
        figures["growth_with_lanes"] = growth_with_lanes(sizes, per_tick, options.rounds)
    if "duration" in sections:
        figures["growth_with_duration"] = growth_with_duration(per_tick, options.rounds)
    if "memory" in sections:
        figures["bytes_per_lane"] = memory(per_tick)
    if "compile" in sections:
        figures["compile_seconds"] = compilation(per_tick)
    if options.write:
        # Sections that were not run keep what an earlier run said of them.
        before = RESULTS / "batch_engine.json"
        kept = json.loads(before.read_text())["figures"] if before.exists() else {}
        write("batch_engine", kept | figures)


if __name__ == "__main__":
    main()
