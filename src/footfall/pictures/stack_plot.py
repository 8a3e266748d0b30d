"""A log and its simulation, signal over signal."""

from pathlib import Path

import numpy as np

from footfall.pictures.names import plain, with_unit
from footfall.pictures.show import Picture
from footfall.pictures.style import SCREEN, faded, name_lines, styled
from footfall.realtime.replay import COMPARED, Replay
from footfall.scene.palette import SERIES, colour_of

CLOSE_UP = 2.0  # s
_WORDS = {
    "pitch": "Pitch",
    "motor_vel_l": "Speed of the left motor",
    "motor_vel_r": "Speed of the right motor",
    "pid_output": "Current asked by the pitch law",
    "bus_voltage": "Voltage of the bus",
    "bus_current": "Current of the bus",
}


def write_replay_plot(replay: Replay, path: Path) -> None:
    """A row for each signal.

    The whole run on the left, its last two seconds with the law on close up on the right.
    """
    with styled():
        _drawn(replay).savefig(path)


def _drawn(replay: Replay) -> Picture:
    names = [row.name for row in replay.mismatches] or [
        n for n in COMPARED if np.isfinite(replay.log[n]).any()
    ]
    figure = Picture(figsize=(SCREEN.width, 2.2 * len(names) + 0.5))
    panels = figure.subplots(len(names), 2, squeeze=False)
    t = replay.t
    on = np.flatnonzero(replay.on)
    end = t[on[-1]] if len(on) else t[-1]
    for (whole, close), name in zip(panels, names, strict=True):
        for axes in (whole, close):
            shown = [
                (replay.log[name], "log", {"color": faded(SERIES[0].light, 0.3), "lw": 2.4}),
                (replay.simulated[name], "lockstep", {"color": SERIES[1].light, "lw": 1.1}),
            ]
            if name == "pitch":
                wanted = {"color": colour_of("target"), "lw": 0.9}
                shown.append((replay.log["pitch_setpoint"], "set point", wanted))
            for values, label, look in shown:
                axes.plot(t, values, label=label, **look)
            axes.margins(x=0.01)
            axes.set_title(with_unit(_WORDS.get(name) or plain(name), COMPARED[name]))
        name_lines(whole)
        close.set_xlim(end - CLOSE_UP, end)
        inside = (t >= end - CLOSE_UP) & (t <= end)
        values = np.concatenate([replay.log[name][inside], replay.simulated[name][inside]])
        values = values[np.isfinite(values)]
        if len(values):
            room = 0.05 * max(np.ptp(values), 1e-6)
            close.set_ylim(values.min() - room, values.max() + room)
    panels[-1, 0].set_xlabel("time [s]")
    panels[-1, 1].set_xlabel("time [s], close up")
    figure.suptitle(
        f"{replay.scenario}: {replay.log.path.name} against the same programs in lockstep",
        x=0.01,
        ha="left",
    )
    return figure
