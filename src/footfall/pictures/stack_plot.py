"""A log and its simulation, signal over signal."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from footfall.machines.control.microseconds import SECOND
from footfall.pictures.names import plain, with_unit
from footfall.pictures.show import Picture
from footfall.pictures.style import SCREEN, faded, name_lines, styled
from footfall.realtime.fit import Fit
from footfall.realtime.replay import COMPARED, Replay
from footfall.scene.palette import SERIES, colour_of

CLOSE_UP = 2.0  # s
LOST = 2.5  # periods of the high level without a record: a line is not drawn across them
MOST_WORDS = 60  # of a fault
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
    t, gaps = replay.t, lost(replay)
    faults = fault_starts(replay)
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
                axes.plot(*parted(t, values, gaps), label=label, **look)
            for row in faults:
                axes.axvline(t[row], color=colour_of("doubt"), lw=1.0, ls="--")
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
    for row in faults:
        panels[0, 0].annotate(
            _short(str(replay.log["fault"][row])),
            (t[row], 1.0),
            xycoords=panels[0, 0].get_xaxis_transform(),
            xytext=(-3, -2),
            textcoords="offset points",
            ha="right",
            va="top",
            color=colour_of("doubt"),
            bbox={"fc": colour_of("paper"), "ec": "none", "alpha": 0.85, "pad": 1.5},
        )
    panels[-1, 0].set_xlabel("time [s]")
    panels[-1, 1].set_xlabel("time [s], close up")
    figure.suptitle(
        f"{replay.scenario}: {replay.log.path.name} against the same programs in lockstep",
        x=0.01,
        ha="left",
    )
    return figure


def lost(replay: Replay) -> np.ndarray:
    """Rows of the log before which records are missing: dropped, or never made."""
    period = replay.log.settings.high_period_us / SECOND
    missing = np.diff(replay.log["cycle"]) > 1
    return np.flatnonzero(missing | (np.diff(replay.t) > LOST * period)) + 1


def parted(t: np.ndarray, values: np.ndarray, gaps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A line that stops at every gap and begins anew behind it."""
    return np.insert(t, gaps, t[gaps]), np.insert(np.asarray(values, float), gaps, np.nan)


def fault_starts(replay: Replay) -> list[int]:
    """Rows at which a fault is new: the motors were cut off there."""
    said = replay.log["fault"]
    before = np.concatenate([[""], said[:-1]])
    return np.flatnonzero((said != "") & (said != before)).tolist()


def _short(words: str) -> str:
    return words if len(words) <= MOST_WORDS else words[: MOST_WORDS - 1] + "…"


def write_fit_plot(found: Fit, scenario: str, path: Path) -> None:
    """What a fit found, in the range that was searched, and how well it explains the log."""
    with styled():
        fit_figure(found, scenario).savefig(path)


def fit_figure(found: Fit, scenario: str) -> Picture:
    """A row for each parameter on the left, for each figure of the gait on the right."""
    rows = max(len(found.estimates), len(found.figures))
    figure = Picture(figsize=(SCREEN.width, 0.5 * rows + 1.6))
    left, right = figure.subplots(1, 2)
    ours, theirs, quiet = SERIES[0].light, colour_of("quiet"), colour_of("grid")
    for row, e in enumerate(found.estimates):
        span = e.high - e.low
        place, error, assumed = ((v - e.low) / span for v in (e.value, e.low + e.error, e.assumed))
        left.barh(row, 1.0, height=0.5, color=quiet, label=None if row else "searched")
        left.errorbar(
            place, row, xerr=error, fmt="o", capsize=3, color=colour_of("doubt") if e.at_bound
            else ours, label=None if row else "found",
        )  # fmt: skip
        left.plot(assumed, row, "|", ms=14, color=theirs, label=None if row else "scenario")
        edge = ", at the edge" if e.at_bound else ""
        said = f"{e.key} = {e.value:.4g} ± {e.error:.2g} {e.unit}{edge}"
        left.annotate(said, (0.0, row - 0.33), va="bottom", fontsize=8)
    left.set_title("Parameters, in the range that was searched")
    left.set_xlim(-0.05, 1.05)
    left.set_xticks([0.0, 1.0], ["least", "most"])
    _rows(left, len(found.estimates))
    right.axvspan(-1.0, 1.0, color=quiet, label="how well the log is known")
    for row, f in enumerate(found.figures):
        right.plot((f.fitted - f.logged) / f.noise, row, "o", color=ours)
        right.annotate(
            f"{f.name}: log {f.logged:.4g}, fitted {f.fitted:.4g} {f.unit}",
            (0.02, row - 0.18), xycoords=right.get_yaxis_transform(), va="bottom", fontsize=8,
        )  # fmt: skip
    reach = max([2.0, *(abs(f.fitted - f.logged) / f.noise for f in found.figures)])
    right.set_xlim(-1.15 * reach, 1.15 * reach)
    right.set_title("Figures of the gait: fitted less logged, in units of how well each is known")
    _rows(right, len(found.figures))
    for axes in (left, right):
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3, frameon=False)
    figure.suptitle(f"{scenario}: fit to a log, misfit {found.misfit:.2f}", x=0.01, ha="left")
    return figure


def _rows(axes: Axes, count: int) -> None:
    """From the top down, with room for a line of words above each."""
    axes.set_ylim(count - 0.4, -0.7)
    axes.set_yticks([])
    axes.grid(False)
