"""Ten thousand plans of the two-leg walker against a NumPy loop over plans.

    python benchmarks/two_leg_plans.py [--plans 10000] [--rounds 3] [--write]

A plan is the whole course of `two-leg-step` with a lift, stride and speed of its own: energies,
peak torques, margins, at rest and in motion, 201 samples to a move. The loop (below, from the
equations of the physics page, arrays over the samples of a move) is timed on some of the plans:
*every step*, as a simulation would go through them, and *equal steps once*, counted, as footfall
does. Both sides start from numbers and end with figures; ours also checks every footstep against
the ground, which the loop does not; compilation is apart. Ours uses all cores, the loop one
(several processes would divide its time by their number at best)."""

import argparse
import itertools
import time

import numpy as np

from conditions import write

SAMPLES = 201
LENGTH, MASS, GRAVITY, APART, CLIMB = 0.1, 0.1, 9.81, 0.1, 0.05
SHARE = np.linspace(0.0, 1.0, SAMPLES)
PATH = (SHARE**2 * (3 - 2 * SHARE), 6 * SHARE * (1 - SHARE), 6 - 12 * SHARE)


def steps_of(stride: float) -> list[tuple[float, float, int]]:
    """(length, climb, how often) of walk -0.49; climb 0.05; walk_to -1.0."""
    found = []
    for distance, climb in ((0.49, 0.0), (stride, CLIMB), (0.51 - stride, 0.0)):
        count = int(np.ceil(distance / stride - 1e-9))
        found += [(stride, climb, count - 1), (distance - (count - 1) * stride, climb, 1)]
    return [step for step in found if step[2] > 0]


def move(
    u: np.ndarray, v: np.ndarray, foot: int, moved: np.ndarray, length: float
) -> dict[str, np.ndarray]:
    """Torques, powers and the zero-moment point along one move; u, v and `moved` are (value, rate,
    second) of feet and of the moving foot.
    """
    span = np.hypot(u[0], v[0])
    half = np.arccos(span / (2 * LENGTH))
    phi2 = np.arctan2(u[0], v[0]) - half
    phi3 = phi2 + 2 * half
    s2, c2, s3, c3 = np.sin(phi2), np.cos(phi2), np.sin(phi3), np.cos(phi3)
    S = LENGTH * np.sin(2 * half)
    w2, w3 = (u[1] * s3 + v[1] * c3) / S, -(u[1] * s2 + v[1] * c2) / S
    U, V = u[2] + LENGTH * (s2 * w2**2 + s3 * w3**2), v[2] + LENGTH * (c2 * w2**2 + c3 * w3**2)
    a2 = (U * s3 + V * c3) / S
    zero = np.zeros(SAMPLES)
    # Foot 1 in the origin of its own: positions and accelerations of the five points.
    x1, y1 = (moved[0], moved[1]) if foot == 1 else (np.stack([zero] * 3), np.stack([zero] * 3))
    points = [(x1[0], y1[0], x1[2], y1[2]), (x1[0], y1[0] + LENGTH, x1[2], y1[2])]
    points.append((
        x1[0] + LENGTH * s2, y1[0] + LENGTH + LENGTH * c2,
        x1[2] + LENGTH * (c2 * a2 - s2 * w2**2), y1[2] - LENGTH * (s2 * a2 + c2 * w2**2),
    ))  # fmt: skip
    x5, y5 = x1[0] + u[0], y1[0] + v[0]
    points += [(x5, y5 + LENGTH, x1[2] + u[2], y1[2] + v[2]), (x5, y5, x1[2] + u[2], y1[2] + v[2])]
    links = [
        tuple(0.5 * (a + b) for a, b in zip(one, two, strict=True))
        for one, two in itertools.pairwise(points)
    ]
    out = {}
    rates = (w2, w3 - w2, -w3)
    stands = 2 if foot == 1 else 1
    for inertial, name in ((0.0, "static"), (1.0, "dynamic")):
        torques = []
        for i in range(3):
            jx, jy = points[i + 1][:2]
            part = links[i + 1 :] if stands == 1 else links[: i + 1]
            tau = sum(
                MASS * ((y - jy) * inertial * ax - (x - jx) * (inertial * ay + GRAVITY))
                for x, y, ax, ay in part
            )
            torques.append(tau if stands == 1 else -tau)
        powers = [q * rate for q, rate in zip(torques, rates, strict=True)]
        sx, sy = points[0][:2] if stands == 1 else points[4][:2]
        about = sum(
            MASS * ((y - sy) * inertial * ax - (x - sx) * (inertial * ay + GRAVITY))
            for x, y, ax, ay in links
        )
        press = sum(MASS * (inertial * ay + GRAVITY) for _, _, _, ay in links)
        zmp = (-1.0 if stands == 1 else 1.0) * about / press
        out[name] = (torques, powers, zmp, press)
    out["height"] = sum(y for _, y, _, _ in links) / 4
    out["length"] = length
    return out


def plan(lift: float, stride: float, speed: float, once: bool) -> dict[str, float]:
    """Figures of one plan."""
    energy, peaks, zmps, pressures, total, gain = (
        [0.0, 0.0],
        np.zeros((2, 3)),
        {"static": [], "dynamic": []},
        [],
        0.0,
        0.0,
    )
    for length, climb, count in steps_of(stride):
        for _ in range(1 if once else count):
            times = count if once else 1
            for foot in (1, 2):
                u0, v0 = (APART, 0.0) if foot == 1 else (APART + length, -climb)
                way = [(0.0, 0.0), (0.0, lift + climb), (-length, lift + climb), (-length, climb)]
                for (xa, ya), (xb, yb) in itertools.pairwise(way):
                    D = abs(xb - xa) + abs(yb - ya)
                    T = D / speed
                    x = np.stack(
                        [
                            xa + (xb - xa) * PATH[0],
                            (xb - xa) * PATH[1] / T,
                            (xb - xa) * PATH[2] / T**2,
                        ]
                    )
                    y = np.stack(
                        [
                            ya + (yb - ya) * PATH[0],
                            (yb - ya) * PATH[1] / T,
                            (yb - ya) * PATH[2] / T**2,
                        ]
                    )
                    sign = -1.0 if foot == 1 else 1.0
                    base = np.array([[1.0], [0.0], [0.0]])
                    found = move(
                        u0 * base + sign * x, v0 * base + sign * y, foot, np.stack([x, y]), T
                    )
                    for side, name in enumerate(("static", "dynamic")):
                        torques, powers, zmp, press = found[name]
                        for k in range(3):
                            peaks[side, k] = max(peaks[side, k], np.abs(torques[k]).max())
                            energy[side] += times * np.trapezoid(
                                np.maximum(powers[k], 0.0), dx=T / (SAMPLES - 1)
                            )
                        zmps[name] += [zmp.min(), zmp.max()]
                        pressures.append(press.min())
                    total += times * T
                    gain += times * 4 * MASS * GRAVITY * (found["height"][-1] - found["height"][0])
    return {
        "t_end": total, "gain": gain, "static_energy": energy[0], "energy": energy[1],
        **{f"static_peak_torque_{k + 1}": peaks[0, k] for k in range(3)}, **{f"peak_torque_{k + 1}": peaks[1, k] for k in range(3)},
        "static_least_zmp": min(zmps["static"]), "static_most_zmp": max(zmps["static"]), "least_pressure": min(pressures),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plans", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()

    from footfall import load
    from footfall.engines.lanes.plan_figures import evaluate_plan
    from footfall.scenario.vary import batched

    n = arguments.plans
    draw = np.random.default_rng(0)
    columns = {
        "gait.lift": draw.uniform(0.004, 0.02, n),
        "gait.stride": draw.uniform(0.04, 0.085, n),
        "gait.speed": draw.uniform(0.03, 0.3, n),
    }
    system = batched(load("two-leg-step", ["overhang=0.1"]), columns)[0]
    out: dict[str, dict] = {}
    for path in ("cpp", "xla"):
        began = time.perf_counter()
        found = evaluate_plan(system, path)
        first, best = time.perf_counter() - began, np.inf
        for _ in range(arguments.rounds):
            began = time.perf_counter()
            found = evaluate_plan(system, path)
            best = min(best, time.perf_counter() - began)
        out[found.path] = {"seconds": best, "first_call": first, "plans": n}
        figures = found.figures
    some = min(n, 40)
    worst = 0.0
    for name, once in (("NumPy loop, equal steps once", True), ("NumPy loop, every step", False)):
        best = np.inf
        for _ in range(arguments.rounds):
            began = time.perf_counter()
            rows = [
                plan(*(float(values[i]) for values in columns.values()), once) for i in range(some)
            ]
            best = min(best, time.perf_counter() - began)
        out[name] = {"seconds": best * n / some, "timed_plans": some, "plans": n}
        for i, row in enumerate(rows):
            for key, value in row.items():
                scale = max(abs(value), 1e-3)
                worst = max(worst, abs(float(figures[key].values[i]) - value) / scale)
    print(
        f"{n} plans of the whole course, {SAMPLES} samples to a move; largest relative difference"
        f" of a figure {worst:.1e}"
    )
    names = list(out)
    for name, row in out.items():
        ratios = "".join(
            f"{out[other]['seconds'] / row['seconds']:>10.1f} x" for other in names[2:]
        )
        first = f"  first call {row['first_call']:.1f} s" if "first_call" in row else ""
        print(f"  {name:46}{row['seconds']:>9.2f} s{ratios}{first}")
        row["times_faster_than"] = {
            other: out[other]["seconds"] / row["seconds"] for other in names[2:]
        }
    if arguments.write:
        write(
            "two_leg_plans", {"largest_difference": worst, "samples_per_move": SAMPLES, "rows": out}
        )


if __name__ == "__main__":
    main()
