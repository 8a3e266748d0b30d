"""Which gains should the pitch law of the rimless wheel have? A map of Kp and Kd under the whole
control stack, and the gait of the best.

    python examples/tune_control_stack.py              a table, and tune_control_stack.png beside
                                                       you (under a minute)
    python examples/tune_control_stack.py --quick      a few gains only

The robot walks under its three programs in lockstep (docs/theory/control-stack.md). What it is told
of its pitch is 0 to 10 ms old, and nobody knows exactly how old. So every pair of gains walks with
each delay, all of them lanes of one batch; gains count only where the robot walks with every delay
and with the neighbouring gains too (at the edge of falling the pitch can be steadiest), and the
best hold the pitch steadiest in their worst case. For these a gait search then says how fast a
disturbance dies out from step to step: exactly, by the multipliers of the return map with the law's
memory in it."""

import argparse
from pathlib import Path
from typing import Any

import diffrax
import numpy as np
from matplotlib.figure import Figure

import footfall as ff
from footfall.cli.runtime import prepare

SCENARIO = "rimless-wheel-closed-loop"
DELAYS = (0.0, 0.005, 0.01)  # s, of the pitch
DURATION = 6.0  # s; metrics are those of the second half
PAGE = (6.0, 0.45)  # gains of the specification


def ripple(proportional: np.ndarray, derivative: np.ndarray) -> np.ndarray:
    """[rad] from least to largest pitch in the worst of the delays, for each pair (Kp, Kd); nan
    where some delay makes it fall.
    """
    vary = {
        "controller.proportional": proportional,
        "controller.derivative": derivative,
        "stack.pitch_delay": DELAYS,
    }
    runs = ff.rollout(ff.load(SCENARIO), vary=vary, duration=DURATION, track=("computer.pitch",))
    swing = runs["computer.pitch_max"].values - runs["computer.pitch_min"].values
    walks = runs["outcome"].values == "reached_end"
    return np.where(walks.all(axis=-1), swing.max(axis=-1), np.nan)


def with_margin(swing: np.ndarray) -> np.ndarray:
    """The same, nan also beside gains that fall and at the edge of the map, beyond which nothing is
    known.
    """
    around = np.pad(swing, 1, constant_values=np.nan)
    rows, columns = swing.shape
    neighbours = [around[i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    return np.where(np.isfinite(neighbours).all(axis=0), swing, np.nan)


def gait(proportional: float, derivative: float) -> Any:
    """The cycle with a pitch that is 10 ms old; messages unrounded, currents set every millisecond,
    which makes it four times cheaper.
    """
    settings = [f"controller.proportional={proportional}", f"controller.derivative={derivative}"]
    exact = [
        "stack.pitch_step=0",
        "stack.current_step=0",
        "stack.resolution=1 ms",
        "stack.low_period=1 ms",
    ]
    robot = ff.load(SCENARIO, [*settings, *exact])
    engine = ff.EventEngine(rtol=1e-9, atol=1e-11, solver=diffrax.Tsit5())
    plan = ff.Plan(duration=1.0, engine=engine)
    return ff.find_cycle(robot.system, robot.start, "touchdown", plan, warm_up=40, tolerance=1e-9)


def draw(
    out: Path,
    proportional: np.ndarray,
    derivative: np.ndarray,
    swing: np.ndarray,
    best: tuple[float, float],
) -> None:
    figure = Figure(figsize=(9, 7), layout="constrained")
    axis = figure.subplots()
    axis.set_facecolor("0.88")
    mesh = axis.pcolormesh(
        derivative, proportional, 1e3 * swing, shading="nearest", cmap="viridis_r"
    )
    figure.colorbar(mesh, label="pitch, largest minus least, in the worst delay [mrad]")
    axis.plot(
        *best[::-1], "r*", markersize=14, label=f"steadiest: Kp {best[0]:.2f}, Kd {best[1]:.2f}"
    )
    axis.plot(*PAGE[::-1], "ko", label=f"as shipped: Kp {PAGE[0]:g}, Kd {PAGE[1]:g}")
    axis.set(
        xlabel="Kd [N m s/rad]",
        ylabel="Kp [N m/rad]",
        title="Pitch ripple with a pitch 0 to 10 ms old; grey: falls with some delay",
    )
    axis.legend(loc="upper left")
    figure.savefig(out, dpi=140)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, default=Path("tune_control_stack.png"), help="where the figure goes"
    )
    parser.add_argument("--quick", action="store_true", help="a few gains only")
    asked = parser.parse_args()
    prepare()  # as the command line does: compiled programs are kept, and run faster
    proportional = np.linspace(0.5, 15.5, 7 if asked.quick else 31)
    derivative = np.linspace(0.1, 0.8, 7 if asked.quick else 29)
    swing = ripple(proportional, derivative)
    row, column = np.unravel_index(np.nanargmin(with_margin(swing)), swing.shape)
    best = (float(proportional[row]), float(derivative[column]))
    share = np.mean(np.isfinite(swing))
    print(
        f"{swing.size} pairs of gains, {len(DELAYS)} delays each: {100 * share:.0f} % walk with"
        " every delay"
    )
    print(
        f"steadiest: Kp {best[0]:.2f} N m/rad, Kd {best[1]:.3f} N m s/rad: pitch within"
        f" {1e3 * swing[row, column]:.0f} mrad"
    )
    for name, gains in (("steadiest", best), ("as shipped", PAGE)):
        found = gait(*gains)
        largest = abs(found.multipliers[0])
        print(
            f"{name:10s} step {found.period:.4f} s, of a push {largest:.3f} is left after each step"
        )
    draw(asked.out, proportional, derivative, swing, best)
    print(f"figure: {asked.out}")


if __name__ == "__main__":
    main()
