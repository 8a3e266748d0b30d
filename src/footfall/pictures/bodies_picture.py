"""A picture of a robot of rigid bodies.

Rendered by MuJoCo where there is OpenGL, drawn from its sketch where there is none.

Rendering runs in a process of its own: which OpenGL MuJoCo takes is decided when it is imported,
and a broken driver must not take the run with it.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from footfall.record.trajectory import Trajectory

BACKENDS = ("egl", "osmesa", "glfw")
SIZE = (960, 720)
_LONGEST = 60.0  # s

_PROGRAM = """
import sys, numpy, mujoco
xml, state, picture, width, height, distance = sys.argv[1:]
model = mujoco.MjModel.from_xml_path(xml)
data = mujoco.MjData(model)
data.qpos[:] = numpy.load(state)
mujoco.mj_forward(model, data)
camera = mujoco.MjvCamera()
camera.lookat[:] = data.qpos[:3]
camera.distance = float(distance) or 1.5 * model.stat.extent
camera.azimuth, camera.elevation = 125.0, -20.0
with mujoco.Renderer(model, int(height), int(width)) as renderer:
    renderer.update_scene(data, camera)
    numpy.save(picture, renderer.render())
"""


def write_picture(system: Any, run: Trajectory, path: Path, row: int = -1) -> str:
    """Write the robot as it is in one row of a run; returns how it was drawn."""
    pixels = _rendered(system, _qpos(run, row))
    if pixels is not None:
        from matplotlib import image

        image.imsave(path, pixels)
        return "rendered by MuJoCo"
    _sketched(run, path, row)
    return "drawn from its sketch: no OpenGL for MuJoCo here"


def _qpos(run: Trajectory, row: int) -> np.ndarray:
    names = [name for name in run.of_role("state") if name.startswith("qpos.")]
    return np.array([run[name][row] for name in names])


def _rendered(system: Any, qpos: np.ndarray) -> np.ndarray | None:
    """Pixels, or None where no backend works. Someone who set MUJOCO_GL gets that one only."""
    chosen = os.environ.get("MUJOCO_GL")
    with tempfile.TemporaryDirectory() as folder:
        xml, state, picture = (
            Path(folder) / name for name in ("robot.xml", "state.npy", "picture.npy")
        )
        system.write_mjcf(xml)
        np.save(state, qpos)
        for backend in (chosen,) if chosen else BACKENDS:
            command = [
                sys.executable,
                "-c",
                _PROGRAM,
                str(xml),
                str(state),
                str(picture),
                str(SIZE[0]),
                str(SIZE[1]),
                str(system.view_distance or 0.0),
            ]
            try:
                done = subprocess.run(
                    command,
                    env={**os.environ, "MUJOCO_GL": backend},
                    capture_output=True,
                    timeout=_LONGEST,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                continue
            if done.returncode == 0 and picture.exists():
                return np.load(picture)
    return None


def _sketched(run: Trajectory, path: Path, row: int) -> None:
    from matplotlib.figure import Figure

    from footfall.pictures.draw import draw_pose, slanted_view

    figure = Figure(figsize=(SIZE[0] / 100, SIZE[1] / 100), dpi=100)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    draw_pose(axes, run.sketch, run.seen(row % len(run.t)), slanted_view)
    axes.autoscale_view()
    figure.savefig(path)
