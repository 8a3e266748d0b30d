"""A basin of 1e5 starts of the wheel with a torso: all of them run, and the same edge refined.

Processor time beside wall time, because the cores may be shared; compilation apart.
"""

import os
import time

import numpy as np

import footfall as ff
from conditions import write
from footfall.engines.analysis.basin_study import Basin, BasinRequest
from footfall.sweep.study import carry_out
from footfall.sweep.subject import Subject

SIDE = 317  # starts along each side: 1e5 in all
BOX = "torso_angle=0:1.2; spoke_rate=-6:0"


def timed(work) -> dict:
    """Wall and processor seconds of a piece of work, and what it returns."""
    wall, processor = time.perf_counter(), time.process_time()
    count = work()
    taken = time.perf_counter() - wall
    return {
        "starts": count,
        "wall_s": taken,
        "processor_s": time.process_time() - processor,
        "starts_per_s": count / taken,
        "load": os.getloadavg()[0],
    }


def main() -> None:
    study = Basin(BasinRequest(vary=BOX, resolution=512), Subject(ff.load("rimless-wheel")))
    study.prepare(lambda _: None)
    sides = (axis.between(np.linspace(0.0, 1.0, SIDE)) for axis in study.axes)
    keys = [axis.key for axis in study.axes]
    points = (grid.ravel() for grid in np.meshgrid(*sides, indexing="ij"))
    grid = dict(zip(keys, points, strict=True))
    study.walking.words({key: values[::12] for key, values in grid.items()}, lambda _: None)

    def every() -> int:
        return len(study.walking.words(grid, lambda _: None))

    def refined() -> int:
        return study.summary(carry_out(study, {}))["starts"]

    carry_out(study, {})  # compiles what only pushes need
    figures = {"every start of 317 x 317": timed(every), "refined to 512 x 512": timed(refined)}
    for name, figure in figures.items():
        print(name, {key: round(value, 2) for key, value in figure.items()})
    write("basin", figures)


if __name__ == "__main__":
    main()
