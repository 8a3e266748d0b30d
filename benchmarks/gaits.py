"""Gaits: a cycle with its multipliers, a branch, a design (a basin: basin.py); compilation apart.

    python benchmarks/gaits.py

The yardstick of the cycle is what one writes today: SciPy's solve_ivp from footfall to footfall, its
fixed point by fsolve, the multipliers by central differences; the fastest of three methods counts,
each at tolerances at which its multipliers are good to 1e-5. Both sides begin at the scenario's own
start, one round of each in turn, best of several. Processor time stands beside wall time, because
cores may be shared.
"""

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import footfall as ff
from conditions import write
from footfall.scenario.follow import begun, follower_of, walked
from footfall.scenario.gait import fine_plan
from scipy_wheels import ALPHA, LENGTH, torso_rhs, torso_touchdown, torso_transfer

WHEEL = "rimless-wheel"
#: Of SciPy's methods, relative tolerance and length of differences: what each can keep to 1e-5.
METHODS = {"DOP853": (1e-9, 1e-4), "LSODA": (1e-10, 1e-4), "RK45": (1e-9, 1e-4)}
#: Numbers of the wheel just after a footfall, all but the spoke's length, which is then as at rest.
UNKNOWNS = [0, 1, 3, 4, 5, 6]
DESIGN = {"leg.stiffness": (8e3, 4e4), "leg.damping": None, "torso.pitch_setpoint": (0.3, 1.0)}
LIMITS = ["mean_speed >= 0.6", "largest_multiplier <= 0.8"]


def timed(work: Callable[[], Any]) -> tuple[dict, Any]:
    """Wall and processor seconds of a piece of work, and what it returns."""
    wall, processor = time.perf_counter(), time.process_time()
    found = work()
    return {
        "wall_s": time.perf_counter() - wall,
        "processor_s": time.process_time() - processor,
        "load": os.getloadavg()[0],
    }, found


def least(figures: list[dict]) -> dict:
    """Of several rounds, the shortest."""
    return min(figures, key=lambda figure: figure["processor_s"])


# --- a cycle and its multipliers ------------------------------------------------------------------


def scipy_map(method: str, rtol: float) -> Callable[[np.ndarray], np.ndarray]:
    """From just after a footfall to just after the next, in UNKNOWNS."""

    def lands(t: float, y: np.ndarray) -> float:
        return torso_touchdown(t, y)

    lands.terminal, lands.direction = True, -1

    def after(v: np.ndarray) -> np.ndarray:
        y = np.insert(v, 2, LENGTH)
        flown = solve_ivp(
            torso_rhs, (0.0, 2.0), y, method=method, rtol=rtol, atol=1e-2 * rtol, events=lands
        )
        return torso_transfer(flown.y[:, -1])[UNKNOWNS]

    return after


def scipy_cycle(method: str) -> np.ndarray:
    """Multipliers of the wheel's gait, largest first."""
    rtol, length = METHODS[method]
    after = scipy_map(method, rtol)
    start = np.array([ALPHA / 2, 0.6, -3.5, 0.0, 0.0, 0.0])
    fixed = fsolve(lambda v: after(v) - v, start, xtol=1e-8, epsfcn=length**2)
    ways = length * np.eye(len(fixed))
    slopes = np.array([(after(fixed + way) - after(fixed - way)) / (2 * length) for way in ways]).T
    values = np.linalg.eigvals(slopes)
    return values[np.argsort(-np.abs(values))]


def cycles(rounds: int) -> dict:
    """Both sides in turn."""
    wheel = ff.load(WHEEL)
    plan = fine_plan(wheel)

    def ours() -> Any:
        return ff.find_cycle(wheel.system, wheel.start, "touchdown", plan)

    first, exact = timed(ours)
    found: dict[str, list[dict]] = {name: [] for name in ("footfall", *METHODS)}
    error = {"footfall": 0.0}
    for _ in range(rounds):
        for method in METHODS:
            figure, multipliers = timed(lambda method=method: scipy_cycle(method))
            found[method].append(figure)
            error[method] = float(np.max(np.abs(np.abs(multipliers) - padded(exact, multipliers))))
        for _ in range(3):
            found["footfall"].append(timed(ours)[0])
    best = {name: least(rows) | {"error": error[name]} for name, rows in found.items()}
    best["footfall"] |= {
        "first_call_s": first["wall_s"],
        "wall_s": min(row["wall_s"] for row in found["footfall"]),
    }
    yardstick = min(best[method]["processor_s"] for method in METHODS)
    for row in best.values():
        row["times_faster_than_scipy"] = yardstick / row["processor_s"]
    return best


def padded(cycle: Any, like: np.ndarray) -> np.ndarray:
    """Moduli of a gait's multipliers, as many as `like` has: what is gone has 0."""
    sizes = np.zeros(len(like))
    known = np.abs(cycle.multipliers)[: len(like)]
    sizes[: len(known)] = known
    return sizes


# --- the rest -------------------------------------------------------------------------------------


def branch() -> dict:
    """Points of the wheel's branch over the torso's set point, per point and for 100."""
    key, low, high = "torso.pitch_setpoint", 0.3, 1.6
    wheel = ff.load(WHEEL)
    cycle = begun(wheel, key, low, high, None, 1)
    walker, start = follower_of(wheel, cycle, key, low, high)

    def points() -> int:
        return sum(len(walked(walker, cycle, start, way, 100)) for way in (-1.0, 1.0))

    points()
    figure, count = timed(points)
    shares = {f"{name}_of_100": 100 / count * figure[name] for name in ("wall_s", "processor_s")}
    return figure | {"points": count} | shares


def design() -> dict:
    """The design of the how-to, twice: the second has most of its programs compiled."""
    wheel = ff.load(WHEEL)

    def best() -> Any:
        return ff.design(wheel, "cost_of_transport", DESIGN, LIMITS)

    first, _ = timed(best)
    again, found = timed(best)
    return again | {"first": first, "cost_of_transport": found.value}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="cycle,branch,design", help="parts, by comma")
    asked = parser.parse_args()
    parts = {"cycle": lambda: cycles(asked.rounds), "branch": branch, "design": design}
    figures = {name: parts[name]() for name in asked.only.split(",")}
    for name, figure in figures.items():
        print(name)
        for key, value in figure.items():
            print("  ", key, value)
    write("gaits", figures)


if __name__ == "__main__":
    main()
