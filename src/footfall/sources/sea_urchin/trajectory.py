"""Chapter 2 and its script: the path of a foot, and what the joints do along it."""

import functools

import numpy as np

from footfall.machines.sea_urchin import functions as urchin
from footfall.machines.sea_urchin.labels import path_labels, path_shapes, rows_of_path
from footfall.machines.sea_urchin.numbers import profile_p, profile_t
from footfall.machines.sea_urchin.spike_gait import SpikeGait
from footfall.machines.sea_urchin.spike_kinematics import joint_accelerations
from footfall.pictures.schematic import Panel, schematic
from footfall.pictures.show import Picture
from footfall.pictures.style import Style, name_lines, series
from footfall.sources.item import Item, Made, Value
from footfall.sources.sea_urchin import printed
from footfall.sources.sea_urchin.kinematics import DOWN, OUT, SCRIPT

STRIDE, STANCE, SWING, SPEED = 0.03, 3.0, 10.0, 0.01
#: Solving the source's six equations in times of up to 10 s: condition 1e7.
SOLVED = 1e-9


@functools.cache
def _gait(via: float = 0.02, ends: str = "resting") -> SpikeGait:
    """The script's path; ours with `via` = 0 and `ends` = "matched"."""
    return SpikeGait(
        motion="turn", stride=STRIDE, stance_time=STANCE, swing_time=SWING, swing_ends=ends,
        via_speed=via, lift=profile_p().lift, support="ignored",
    )  # fmt: skip


def _phases(style: Style) -> Made:
    profile = profile_t()
    gait = SpikeGait(lift=profile.lift)
    stand, rise, sink = (float(length) for length in gait.stage_lengths)
    times = [0.5 * stand, 0.0, stand - 1e-9, stand + rise]
    now, *others = rows_of_path(gait, profile.foothold, profile.spike, times)
    panel = Panel(
        path_shapes(gait, profile.spike), now, path_labels(gait, profile.foothold),
        paler=tuple(others),
    )  # fmt: skip
    small = style._replace(width=0.75 * style.width)
    return Made(
        (
            Value("T_stance + T_h + T_f", stand + rise + sink, "s", float(gait.period), 1e-12),
            Value("time on the floor over the cycle, least for a tripod", gait.least_duty),
        ),
        schematic([panel], "Fig 2.1. Phases of a step", small),
        "our path: the foot leaves and lands at the floor's speed, so it overshoots both ends a"
        " little",
    )


def _stance(style: Style) -> Made:
    del style
    gait = _gait()
    at = [gait.path(t) for t in (0.0, 1.2, STANCE - 1e-12)]
    foot = gait.foot(1.2, (OUT, DOWN), 0.0, 0.0).position
    return Made((
        Value("z_e at its begin", float(at[0].s), "m", STRIDE / 2, 1e-15),
        Value("z_e at its end", float(at[2].s), "m", -STRIDE / 2, 1e-12),
        Value("speed", float(at[1].s_rate), "m/s", -STRIDE / STANCE, 1e-15),
        Value("acceleration", float(at[1].s_second), "m/s^2", 0.0, 0.0),
        Value("z_e at 1.2 s (eq 2.1)", float(foot[2]), "m", STRIDE / 2 - SPEED * 1.2, 1e-15),
        Value("x_e", float(foot[0]), "m", 0.09, 1e-15),
        Value("y_e", float(foot[1]), "m", 0.03 * np.sqrt(3.0), 1e-15),
    ))  # fmt: skip


def _transfer(style: Style) -> Made:
    del style
    gait, mended = _gait(), _gait(0.0, "matched")
    t = STANCE + np.linspace(0.0, SWING, 20001)[:-1]
    path = gait.path(t)
    half = gait.path(STANCE + SWING / 2)
    landing = gait.path(STANCE + SWING - 1e-9)
    low = 1e3 * float(np.min(path.rise))
    lift_off = [gait.path(STANCE + dt) for dt in (-1e-9, 1e-9)]
    jump = float(lift_off[1].s_rate - lift_off[0].s_rate)
    ours = [mended.path(STANCE + dt) for dt in (-1e-9, 1e-9)]
    return Made((
        Value("z_e at lift-off", float(path.s[0]), "m", -STRIDE / 2, 1e-12),
        Value("z_e at touch-down", float(landing.s), "m", STRIDE / 2, 1e-9),
        Value("y_e at T_h", DOWN - float(half.rise), "m", 0.042, 1e-12),
        Value("speed of y_e at T_h", -float(half.rise_rate), "m/s", 0.02, 1e-12),
        Value("lowest height of the foot on the printed path", low, "mm", 0.0, 0.01,
              "+2 cm/s at the highest point sends it below the floor"),
        Value("speed of z_e gained at lift-off, printed", jump, "m/s", 0.0, 1e-6,
              "stance ends at -V and swing begins at rest"),
        Value("the same of our path", float(ours[1].s_rate - ours[0].s_rate), "m/s", 0.0, 1e-8),
        Value("share of the cycle on the floor", float(gait.duty), "", 0.5, 1e-3,
              "3 of 13 s: a tripod with these times stands on nothing for 7 s of each cycle"),
    ))  # fmt: skip


def _matrix(style: Style) -> Made:
    del style
    gait, half = _gait(), SWING / 2
    swing = printed.quintic((-STRIDE / 2, 0, 0), (STRIDE / 2, 0, 0), 0.0, SWING)
    down = printed.quintic((0.042, 0.02, 0), (DOWN, 0, 0), half, SWING)
    up = printed.quintic((DOWN, 0, 0), (0.042, 0.02, 0), 0.0, half)
    values = []
    for t in (1.0, 2.5, 5.0, 8.0):
        path, powers = gait.path(STANCE + t), t ** np.arange(6)
        values += [
            Value(f"z_e at {t:g} s", float(path.s), "m", float(swing @ powers), SOLVED),
            Value(f"y_e at {t:g} s", DOWN - float(path.rise), "m",
                  float((up if t <= half else down) @ powers), SOLVED),
        ]  # fmt: skip
    return Made(tuple(values), words="ours are closed forms of one quintic; no matrix is solved")


def _along(gait: SpikeGait, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Joints, rates and accelerations (n, 3) that keep the script's foot on the path."""
    foot = gait.foot(t, (OUT, DOWN), 0.0, 0.0)
    place, velocity, acceleration = (
        np.stack(np.broadcast_arrays(*map(np.asarray, vector)), axis=-1) for vector in foot
    )
    q = np.asarray(urchin.spike_inverse(place, SCRIPT))
    v = np.asarray(urchin.spike_rates(q, velocity, SCRIPT))
    found = joint_accelerations(SCRIPT.shape, tuple(q.T), tuple(v.T), tuple(acceleration.T))
    return q, v, np.stack([np.asarray(a) for a in found], axis=-1)


def _joints(style: Style) -> Made:
    t = np.linspace(0.0, 4 * (STANCE + SWING), 4001)[:-1]
    picture = Picture(figsize=(style.width, 3 * style.panel), style=style)
    wide = 3 if style.columns > 1 else 1
    grid = np.atleast_2d(picture.subplots(9 // wide, wide, sharex=True)).ravel()
    names = (("joint 1", "rad"), ("joint 2", "rad"), ("slide", "m"))
    for k, (gait, word) in enumerate(((_gait(), "printed"), (_gait(0.0, "matched"), "ours"))):
        for order, motion in enumerate(_along(gait, t)):
            for i, (name, unit) in enumerate(names):
                axes = grid[3 * i + order]
                axes.plot(t, motion[:, i], label=word, **series(k))
                unit = (unit, f"{unit}/s", f"{unit}/s²")[order]
                axes.set(title=f"{name}{(': place', ': rate', ': acceleration')[order]} [{unit}]")
    for axes in grid[-wide:]:
        axes.set_xlabel("time [s]")
    name_lines(grid[0], style)
    inside = np.linspace(1.0, 2.0, 1001)
    q, v, a = _along(_gait(), inside)
    off, off_2 = (
        float(np.abs(np.gradient(place, inside, axis=0)[1:-1] - rate[1:-1]).max())
        for place, rate in ((q, v), (v, a))
    )
    low = float(_along(_gait(), t)[0][:, 2].min())
    return Made(
        (
            Value("rates less differences of the joints, largest", off, "", 0.0, 1e-8),
            Value("accelerations less differences of the rates, largest", off_2, "", 0.0, 1e-8),
            Value("least extension", 1e3 * low, "mm"),
        ),
        picture,
        "four cycles; the printed path dips below the floor, ours has no jump of speed",
    )


def _script(style: Style) -> Made:
    """The appendix: 500 samples of each phase, differences by a step of 0.02 s."""
    del style
    gait = _gait()
    stance = np.linspace(0.0, STANCE, 500)
    s = np.asarray(gait.path(stance[:-1]).s)
    by_step = float(np.gradient(s, 0.02)[100])
    swing = np.linspace(0.0, SWING, 500)[1]
    wrong = "the samples are not 0.02 s apart"
    return Made((
        Value("step of the samples in swing", float(swing), "s", 0.02, 1e-6, wrong),
        Value("step of the samples in stance", float(stance[1]), "s", 0.02, 1e-6, wrong),
        Value("speed of z_e in stance by the script's gradient", -SPEED, "m/s", by_step, 1e-6,
              wrong),
    ))  # fmt: skip


ITEMS = (
    Item(
        "fig-2.1",
        "Transfer and stance phase",
        "the foot goes back from 1 to 2 on the floor, takes off, lands at 1 again.",
        _phases,
        "footfall run urchin-spike",
        "The text lifts the foot to H'; H is meant, H' is the height of the attachment.",
    ),
    Item(
        "table-2.1",
        "Conditions of the stance phase",
        "z_e from R/2 to -R/2 at the speed -R/T_stance (eq 2.1).",
        _stance,
        'python -c "import footfall as ff; print(ff.parts.SpikeGait().path(1.2))"',
    ),
    Item(
        "table-2.2",
        "Conditions of the transfer phase",
        "place, speed and acceleration of z_e and y_e at lift-off, at the top and at touch-down.",
        _transfer,
        "footfall run urchin-spike-source",
        "The via speed of +2 cm/s should be 0; y_e(T_f) should be y_e(T_h + T_f); swing must begin"
        " and end at the speed of stance. As a stroke of all spikes along their ring it turns the"
        " robot on the spot and does not walk.",
    ),
    Item(
        "eq-2.4",
        "Quintic trajectories",
        "eq 2.2 to 2.4: a polynomial of fifth order from six conditions, as a matrix.",
        _matrix,
    ),
    Item(
        "fig-2.2",
        "Joint space position, velocity and acceleration",
        "theta_1, theta_2, d_3 and their derivatives over four cycles.",
        _joints,
        "footfall run urchin-spike-source --plots all",
        "Made with the wrong steps of the script (see appendix-trajectory).",
    ),
    Item(
        "appendix-trajectory",
        "Script of the transfer and stance trajectory",
        "Matlab that samples both phases, differentiates and plots them.",
        _script,
        "footfall run urchin-spike-source",
        "gradient(..., 0.02) for samples 0.02004 s and 0.006012 s apart: rates in stance come out"
        " 0.30 of the true ones, accelerations 0.09; samples where phases meet are double.",
    ),
)
