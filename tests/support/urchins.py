"""Walks and kicks of the whole sea urchin, measured as section 7 of the physics page does."""

import functools
import math
from typing import NamedTuple

import numpy as np

from footfall import load, simulate

#: The script's lift, of profile P: 3 sqrt(3) - 4.2 cm.
SCRIPT_LIFT = f"gait.lift={0.03 * math.sqrt(3.0) - 0.042!r}"
SOURCE = "controller.gains=source"
SCRIPT = ("profile=P", SCRIPT_LIFT)
SETTLE = 1.0


class Walk(NamedTuple):
    """What a row of the page's table says of a walk."""

    speed: float  #: mm/s, over the cycles that count
    errors: tuple[float, float, float]  #: rms of the six walking spikes: rad, rad, m
    turned: float  #: deg
    least_feet: float
    tilt: float  #: deg
    run: object


def walk(*settings: str, period: float = 6.0, cycles: int = 3) -> Walk:
    """One second of standing, then `cycles` cycles; speed over all but the first of three, over
    both of two.
    """
    return _walk(settings, period, cycles)


@functools.lru_cache(maxsize=32)
def _walk(settings: tuple[str, ...], period: float, cycles: int) -> Walk:
    experiment = load("urchin-walk", list(settings), duration=SETTLE + cycles * period)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    walking = run.t >= SETTLE - 1e-9
    counted = run.t >= (SETTLE + (period if cycles > 2 else 0.0)) - 1e-9
    gone, t = run["travel.distance"][counted], run.t[counted]
    errors = [
        np.sqrt(np.mean([run[f"error.{joint}.{i}"][walking] ** 2 for i in range(6)]))
        for joint in ("swing", "sweep", "slide")
    ]
    yaw = run["shell.yaw"][walking]
    return Walk(
        speed=1e3 * float((gone[-1] - gone[0]) / (t[-1] - t[0])),
        errors=tuple(float(e) for e in errors),
        turned=math.degrees(yaw[-1] - yaw[0]),
        least_feet=float(run["load.feet"][walking].min()),
        tilt=math.degrees(run["travel.tilt"][walking].max()),
        run=run,
    )


class Kick(NamedTuple):
    """What became of one kick."""

    angle: float  #: deg, rolled over
    faces: float
    distance: float  #: mm
    axis_up: float  #: of the body's axis: 0 lies, 1 stands, -1 stands on its head
    run: object


@functools.lru_cache(maxsize=16)
def kick(force: float, *settings: str) -> Kick:
    """Lie for half a second, kick once with the rear pair, three seconds in all."""
    words = [f"roll.force={force}", 'program="roll 1; hold 60"', "roll.patience=60", *settings]
    experiment = load("urchin-roll", words, duration=3.0)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    begin = int(np.searchsorted(run.t, 0.5 - 1e-9))
    # The axis of the body lies along y: how far the body's x axis has turned in the plane of x and
    # z.
    w, x, y, z = (run[f"qpos.{i}"] for i in range(3, 7))
    angle = np.unwrap(np.arctan2(1 - 2 * (y * y + z * z), 2 * (x * z - w * y)))
    gone = run["travel.distance"]
    return Kick(
        angle=math.degrees(abs(angle[-1] - angle[begin])),
        faces=float(run["faces"][-1]),
        distance=1e3 * float(gone[-1] - gone[begin]),
        axis_up=float((1 - 2 * (x * x + y * y))[-1]),
        run=run,
    )
