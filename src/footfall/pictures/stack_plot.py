"""A log and its simulation, signal over signal."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from footfall.realtime.replay import COMPARED, Replay

CLOSE_UP = 2.0  # s


def write_replay_plot(replay: Replay, path: Path) -> None:
    """A row for each signal.

    The whole run on the left, its last two seconds with the law on close up on the right.
    """
    names = [row.name for row in replay.mismatches] or [
        n for n in COMPARED if np.isfinite(replay.log[n]).any()
    ]
    figure, axes = plt.subplots(
        len(names), 2, figsize=(14, 2.1 * len(names) + 0.8), squeeze=False, layout="constrained"
    )
    t = replay.t
    on = np.flatnonzero(replay.on)
    end = t[on[-1]] if len(on) else t[-1]
    for (whole, close), name in zip(axes, names, strict=True):
        for axis in (whole, close):
            axis.plot(t, replay.log[name], lw=1.2, color="tab:blue", label="log")
            axis.plot(t, replay.simulated[name], lw=1.0, color="tab:orange", label="lockstep")
            axis.set_ylabel(f"{name} [{COMPARED[name]}]")
            axis.grid(alpha=0.3)
        if name == "pitch":
            for axis in (whole, close):
                axis.plot(
                    t, replay.log["pitch_setpoint"], lw=0.8, color="tab:green", label="set point"
                )
        close.set_xlim(end - CLOSE_UP, end)
        inside = (t >= end - CLOSE_UP) & (t <= end)
        shown = np.concatenate([replay.log[name][inside], replay.simulated[name][inside]])
        shown = shown[np.isfinite(shown)]
        if len(shown):
            room = 0.05 * max(np.ptp(shown), 1e-6)
            close.set_ylim(shown.min() - room, shown.max() + room)
    axes[0, 0].legend(loc="upper right", fontsize="small")
    axes[-1, 0].set_xlabel("t [s]")
    axes[-1, 1].set_xlabel("t [s], close up")
    figure.suptitle(
        f"{replay.scenario}: {replay.log.path.name} against the same programs in lockstep"
    )
    figure.savefig(path, dpi=110)
    plt.close(figure)
