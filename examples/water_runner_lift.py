"""How much can a water runner carry, and what does it cost? Lift and lift per watt against crank
frequency and hip height.

    python examples/water_runner_lift.py               a table, and water_runner_lift.png beside you
                                                       (under a minute)
    python examples/water_runner_lift.py --quick       a few designs only

Two questions, after Floyd and Sitti's design studies of the same robot:

1. One leg, the body held still at some hip height: the mean lift over a turn of the crank. Nothing
   moves but the crank, so nothing is integrated in time: one compiled function gives the load at a
   crank angle, and all angles, frequencies and heights at once.
2. The whole robot, let go: which mass does it carry at which frequency? Hundreds of robots run for
   4 s each, as one C++ kernel.

Measured lift of their four-legged prototypes with circular feet approached 80 g and exceeded 12 g
per watt (Floyd and Sitti 2008). Their watts are electrical, at the battery; ours are mechanical, at
the crank shaft: a motor and its gear stand between the two. The most our robot carries, it carries
with its hips down at the water.

Where not to believe it: a pad is wet for two thirds of a turn, and the drag law holds until the
cavity behind it closes, some 0.1 s after entry. Below about 6.5 Hz the numbers are extrapolated.
"""

import argparse
import math
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import footfall as ff
from footfall.cli.runtime import prepare
from footfall.machines.water_runner.foot import FootPoint
from footfall.machines.water_runner.four_bar_leg import FourBarLeg
from footfall.machines.water_runner.linkage import pose
from footfall.machines.water_runner.pads import BreakawayPad
from footfall.machines.water_runner.wet_disc import Medium
from footfall.numerics.trig import sincos

GRAVITY = 9.81
WATER = Medium(level=0.0, density=1000.0, gravity=GRAVITY)
PUBLISHED_LIFT, PUBLISHED_PER_WATT = 80.0, 12.0  # g, and g per watt of electrical power
# of a turn: the load jumps where the pad folds, which costs the mean about 1/2048 of the jump
INSTANTS = 2048
DURATION, STEP = 4.0, 2.5e-4  # s


# --- one leg, the body held -----------------------------------------------------------------------


@jax.jit
def leg_means(leg: FourBarLeg, foot: BreakawayPad, frequency: Any, height: Any) -> Any:
    """(lift [N], thrust [N], shaft power [W]) of one leg, means over a turn; hips at `height`, a
    grid of any shape.
    """
    rate = 2.0 * math.pi * frequency

    def instant(crank: Any) -> Any:
        at = pose(leg.links, *sincos(crank), leg.assembly_sign)
        end = FootPoint(
            at.fx,
            height + at.fy,
            at.dfx * rate,
            at.dfy * rate,
            at.ux,
            at.uy,
            at.coupler_rate * rate,
        )
        load = foot.water_load(end, WATER, jnp.where(foot.fold_speed(end) < 0, 1.0, 0.0))
        # Links without mass pass power on: what the foot takes is what the crank gives.
        torque = -(load.fx * at.dfx + load.fy * at.dfy + load.moment * at.coupler_rate)
        return jnp.stack([load.fy, -load.fx, torque * rate])

    turn = 2.0 * math.pi * (jnp.arange(INSTANTS) + 0.5) / INSTANTS
    return jnp.mean(jax.lax.map(instant, turn), axis=0)


def one_leg(frequencies: np.ndarray, heights: np.ndarray) -> dict[str, np.ndarray]:
    """Arrays over (height, frequency), of the default leg with a pad that folds at once."""
    frequency, height = np.meshgrid(frequencies, heights)
    lift, thrust, power = np.asarray(
        leg_means(FourBarLeg(), BreakawayPad(folding="hard"), frequency, height)
    )
    grams = 1e3 * lift / GRAVITY
    return {
        "lift": lift,
        "thrust": thrust,
        "power": power,
        "grams": grams,
        "per_watt": grams / power,
    }


# --- the whole robot, let go ----------------------------------------------------------------------


def whole_robot(frequencies: np.ndarray, masses: np.ndarray) -> dict[str, np.ndarray]:
    """Arrays over (mass, frequency).

    Settled hip height, speed and power, NaN where the robot sinks or tips over.
    """
    frequency, mass = (grid.ravel() for grid in np.meshgrid(frequencies, masses))
    # A rod of 0.3 m.
    designs = {
        "drive.frequency": frequency,
        "body.mass": mass,
        "body.inertia": mass * 0.3**2 / 12.0,
    }
    runs = ff.rollout(
        ff.load("water-runner"), designs=designs, duration=DURATION, step=STEP, track=("body.z",)
    )
    shape = (len(masses), len(frequencies))
    names = {"height": "body.z_mean", "speed": "mean_speed", "power": "mean_power"}
    found = {name: np.asarray(runs[column]).reshape(shape) for name, column in names.items()}
    found["runs"] = np.asarray(runs.outcome).reshape(shape) == "reached_end"
    found["per_watt"] = 1e3 * masses[:, None] / found["power"]
    return found


def capacity(masses: np.ndarray, runs: np.ndarray) -> np.ndarray:
    """Largest mass at each frequency below which every mass tried runs; NaN if not even the
    smallest does.
    """
    count = np.cumprod(runs, axis=0).sum(axis=0)
    return np.where(count > 0, masses[np.maximum(count - 1, 0)], np.nan)


# --- table ----------------------------------------------------------------------------------------


def print_tables(
    frequencies: Any, heights: Any, leg: dict, run_frequencies: Any, masses: Any, robot: dict
) -> None:
    print(
        "One leg, body held: mean lift [N] and, in brackets, four legs [g] and lift per watt of"
        " shaft power [g/W]"
    )
    print("  hip height" + "".join(f"{f:>22.3g} Hz" for f in frequencies))
    for row, height in enumerate(heights):
        cells = zip(leg["lift"][row], leg["grams"][row], leg["per_watt"][row], strict=True)
        print(
            f"  {1e3 * height:7.0f} mm"
            + "".join(f"{lift:>10.4f} ({4 * g:5.1f}, {w:4.1f})" for lift, g, w in cells)
        )
    print(
        "\nWhole robot, let go: the largest mass that runs, and how it runs with it; with 60 g for"
        " comparison"
    )
    print(
        f"  {'':10}{'carries':>9}{'hips at':>10}{'speed':>11}{'per watt':>11}  "
        f" {'60 g: hips':>11}{'speed':>11}{'per watt':>11}"
    )
    most = capacity(masses, robot["runs"])
    usual = int(np.argmin(np.abs(masses - 0.060)))

    def cells(row: int, column: int) -> str:
        return "".join(
            f"{scale * robot[name][row, column]:{width}.{digits}f} {unit}"
            for name, scale, width, digits, unit in (
                ("height", 1e3, 7, 1, "mm"), ("speed", 1.0, 7, 2, "m/s"), ("per_watt", 1.0, 7, 1, "g/W")
            )
        )  # fmt: skip

    for column, frequency in enumerate(run_frequencies):
        if np.isnan(most[column]):
            print(f"  {frequency:6.3g} Hz   sinks with every mass tried")
            continue
        row = int(np.argmin(np.abs(masses - most[column])))
        more = ">=" if row == len(masses) - 1 else "  "
        print(
            f"  {frequency:6.3g} Hz {more}{1e3 * most[column]:5.0f} g{cells(row, column)}  "
            f" {cells(usual, column)}"
        )
    print(
        "\nPublished (Floyd and Sitti 2008), four-legged prototypes with circular feet: lift"
        f" approached {PUBLISHED_LIFT:.0f} g and exceeded {PUBLISHED_PER_WATT:.0f} g/W.\nTheir"
        " watts are electrical; ours are at the crank shaft, before motor and gear take their"
        " part.\nBelow about 6.5 Hz the cavity behind a pad would close before it leaves the"
        " water: extrapolated."
    )


# --- figure ---------------------------------------------------------------------------------------


def draw(
    path: Path,
    frequencies: Any,
    heights: Any,
    leg: dict,
    run_frequencies: Any,
    masses: Any,
    robot: dict,
) -> None:
    figure = Figure(figsize=(12.0, 9.0), layout="constrained")
    axes = figure.subplots(2, 2)
    _draw_leg(axes[0], frequencies, heights, leg)
    _draw_heights(axes[1, 0], run_frequencies, masses, robot)
    _draw_per_watt(axes[1, 1], run_frequencies, masses, robot)
    for axis in axes.flat:
        axis.set_xlabel("crank frequency [Hz]")
    figure.suptitle("Lift of the water runner, and what it costs")
    figure.savefig(path, dpi=130)


def _published(axis: Axes, value: float, text: str) -> None:
    axis.axhline(
        value, color="tab:red", linestyle="--", linewidth=1.5, zorder=3, label=f"published: {text}"
    )


def _draw_leg(axes: Any, frequencies: Any, heights: Any, leg: dict) -> None:
    colors = colormaps["viridis"](np.linspace(0.0, 0.85, len(heights)))
    for row, height in enumerate(heights):
        for axis, name in zip(axes, ("grams", "per_watt"), strict=True):
            axis.plot(
                frequencies,
                leg[name][row],
                color=colors[row],
                label=f"hips at {1e3 * height:.0f} mm",
            )
    here = one_leg(np.array([8.0]), np.array([0.05]))
    for axis, name, unit, scale in zip(
        axes, ("grams", "per_watt"), ("g on four legs", "g/W"), (4.0, 1.0), strict=True
    ):
        value = here[name].item()
        axis.plot(8.0, value, "ko", markersize=5, zorder=4)
        axis.annotate(
            f"8 Hz, 50 mm: {scale * value:.0f} {unit}", (8.0, value), xytext=(8, -42 if scale > 1 else 26),
            textcoords="offset points", fontsize=9, arrowprops={"arrowstyle": "-", "color": "0.3"}, zorder=5,
        )  # fmt: skip
    axes[0].set(
        title="One leg, body held still", ylabel="mean lift of one leg [g]", ylim=(0.0, None)
    )
    _published(axes[0], PUBLISHED_LIFT / 4, "approached 80 g on four legs")
    axes[0].secondary_yaxis("right", functions=(lambda g: 4 * g, lambda g: g / 4)).set_ylabel(
        "four legs [g]"
    )
    axes[1].set(
        title="One leg, body held still",
        ylabel="lift per watt at the crank shaft [g/W]",
        ylim=(0.0, None),
    )
    _published(axes[1], PUBLISHED_PER_WATT, "exceeded 12 g per electrical watt")
    for axis, place in zip(axes, ("upper left", "upper right"), strict=True):
        axis.grid(alpha=0.3)
        axis.legend(loc=place)


def _draw_heights(axis: Axes, frequencies: Any, masses: Any, robot: dict) -> None:
    height, grams = 1e3 * robot["height"], 1e3 * masses
    shown = axis.pcolormesh(frequencies, grams, height, shading="nearest", cmap="viridis")
    axis.figure.colorbar(shown, ax=axis, label="settled hip height [mm]")
    axis.set_facecolor("0.88")
    if not robot["runs"].all():
        axis.text(0.06, 0.6, "sinks", transform=axis.transAxes, fontsize=12, color="0.35")
    if min(height.shape) > 2:
        lines = axis.contour(
            frequencies,
            grams,
            height,
            levels=[10.0, 20.0, 30.0, 40.0],
            colors="white",
            linewidths=0.8,
        )
        axis.clabel(lines, fmt="%.0f mm", fontsize=8)
    # The upper edge of its cell.
    most = 1e3 * capacity(masses, robot["runs"]) + 0.5 * (grams[1] - grams[0])
    inside = most < grams[-1]
    axis.step(
        frequencies[inside],
        most[inside],
        where="mid",
        color="black",
        linewidth=2.0,
        label="most it carries",
    )
    axis.plot(8.0, 60.0, "k*", markersize=9, label="the robot as shipped")
    axis.set(title="Whole robot, let go: what it carries", ylabel="mass of the robot [g]")
    _published(axis, PUBLISHED_LIFT, "lift approached 80 g")
    axis.legend(loc="upper left", fontsize=9)


def _draw_per_watt(axis: Axes, frequencies: Any, masses: Any, robot: dict) -> None:
    chosen = sorted({int(np.argmin(np.abs(masses - m))) for m in (0.04, 0.06, 0.08, 0.12, 0.16)})
    colors = colormaps["plasma"](np.linspace(0.0, 0.85, len(chosen)))
    for row, color in zip(chosen, colors, strict=True):
        axis.plot(
            frequencies,
            robot["per_watt"][row],
            "o-",
            markersize=3,
            color=color,
            label=f"{1e3 * masses[row]:.0f} g",
        )
    axis.set(
        title="Whole robot, let go: what that costs",
        ylabel="mass per watt at the crank shaft [g/W]",
        ylim=(0.0, None),
    )
    _published(axis, PUBLISHED_PER_WATT, "exceeded 12 g per electrical watt")
    axis.grid(alpha=0.3)
    axis.legend(loc="upper right")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, default=Path("water_runner_lift.png"), help="where the figure goes"
    )
    parser.add_argument("--quick", action="store_true", help="a few designs only")
    asked = parser.parse_args()
    prepare()  # as the command line does: compiled programs are kept, and run faster
    heights = np.array([0.03, 0.04, 0.05, 0.06])
    shown = np.array([5.0, 8.0, 10.0])
    frequencies = np.linspace(4.0, 12.0, 5 if asked.quick else 33)
    run_frequencies = np.linspace(4.0, 12.0, 3 if asked.quick else 17)
    masses = np.array([0.06, 0.10]) if asked.quick else np.arange(0.02, 0.205, 0.01)
    robot = whole_robot(run_frequencies, masses)
    print_tables(shown, heights, one_leg(shown, heights), run_frequencies, masses, robot)
    draw(
        asked.out,
        frequencies,
        heights,
        one_leg(frequencies, heights),
        run_frequencies,
        masses,
        robot,
    )
    print(f"figure: {asked.out}")


if __name__ == "__main__":
    main()
