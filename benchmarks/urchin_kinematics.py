"""Inverse kinematics of a million foot points of the sea urchin against plain NumPy.

    python benchmarks/urchin_kinematics.py [--points 1000000] [--rounds 10] [--write]

The same formulas on both sides (`inverse` of footfall.machines.sea_urchin.spike_kinematics,
compiled; np.arctan2 and np.sqrt), float64, arrays ready in memory, results waited for; compilation
is apart. Rates and accelerations of the joints, which a controller needs too, are timed as well.
Ours uses all cores, NumPy one."""

import argparse
import time

import numpy as np

from conditions import write


def plain_inverse(ball, prism, x, y, z):
    """As one writes it from the page."""
    w = y - ball
    rho = np.sqrt(x**2 + w**2)
    return np.arctan2(w, x), np.arctan2(rho, -z), np.sqrt(rho**2 + z**2) - ball - prism


def best_of(rounds, call):
    found, best = None, np.inf
    for _ in range(rounds):
        began = time.perf_counter()
        found = call()
        best = min(best, time.perf_counter() - began)
    return found, best


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()

    import jax

    import footfall  # noqa: F401  (64-bit floats)
    from footfall.machines.sea_urchin.spike_kinematics import (
        SpikeShape,
        inverse,
        joint_accelerations,
        joint_rates,
    )

    n, shape = arguments.points, SpikeShape()
    draw = np.random.default_rng(0)
    place = [
        draw.uniform(low, high, n) for low, high in ((0.04, 0.07), (0.02, 0.05), (-0.02, 0.02))
    ]
    velocity, acceleration = ([draw.uniform(-0.05, 0.05, n) for _ in range(3)] for _ in range(2))
    on_device = jax.tree.map(jax.numpy.asarray, (place, velocity, acceleration))

    def whole(place, velocity, acceleration):
        q = inverse(shape, *place)
        v = joint_rates(shape, q, velocity)
        return q, v, joint_accelerations(shape, q, v, acceleration)

    joints = jax.jit(lambda place: inverse(shape, *place))
    moving = jax.jit(whole)
    began = time.perf_counter()
    jax.block_until_ready(joints(on_device[0]))
    compiled = time.perf_counter() - began
    jax.block_until_ready(moving(*on_device))
    rounds = arguments.rounds
    ours, seconds = best_of(rounds, lambda: jax.block_until_ready(joints(on_device[0])))
    _, with_rates = best_of(rounds, lambda: jax.block_until_ready(moving(*on_device)))
    theirs, plain = best_of(rounds, lambda: plain_inverse(0.005, 0.04, *place))
    worst = max(float(np.max(np.abs(np.asarray(a) - b))) for a, b in zip(ours, theirs, strict=True))
    rows = {
        "footfall, joints": {
            "seconds": seconds,
            "first_call": compiled,
            "times_faster_than_numpy": plain / seconds,
        },
        "footfall, joints, rates and accelerations": {"seconds": with_rates},
        "NumPy, joints": {"seconds": plain},
    }
    print(f"{n} points, float64; largest difference {worst:.1e}")
    for name, row in rows.items():
        ratio = (
            f"{row['times_faster_than_numpy']:>8.1f} x NumPy"
            if "times_faster_than_numpy" in row
            else ""
        )
        print(f"  {name:46}{row['seconds'] * 1e3:>9.1f} ms{ratio}")
    if arguments.write:
        write("urchin_kinematics", {"points": n, "largest_difference": worst, "rows": rows})


if __name__ == "__main__":
    main()
