"""Section 4: cubic moves, the robot's methods, the terrain and the way over it."""

from collections.abc import Callable

import numpy as np

from footfall.hybrid.fields import ParameterError
from footfall.machines.two_leg import functions as two_leg
from footfall.machines.two_leg.course import Footstep
from footfall.machines.two_leg.gait import InchwormGait
from footfall.machines.two_leg.labels import bare
from footfall.machines.two_leg.moves import legs_of
from footfall.machines.two_leg.robots import two_leg_walker
from footfall.pictures.schematic import Panel, schematic, seen_at
from footfall.pictures.show import Picture
from footfall.pictures.style import Style, name_lines, series
from footfall.scene.labels import Anchor, Label, Name, Span
from footfall.scene.sketch import Seen
from footfall.sources.item import EXACT, Item, Made, Value
from footfall.sources.two_leg import printed
from footfall.sources.two_leg.along import Along, along
from footfall.sources.two_leg.printed import LIFT, SPEED, STEP, STRIDE

#: The script's five lines.
ROUTE = "walk -0.49; climb 0.05; walk_to -1.0"


# --- moves ----------------------------------------------------------------------------------------


def _cubic(style: Style) -> Made:
    """Speed and place are integrated from the acceleration, not taken from the formula."""
    del style
    duration = LIFT / SPEED
    a = -6.0 * LIFT / duration**3
    t = np.linspace(0.0, duration, 2001)
    speed = a * t * (t - duration)
    way = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(t))])
    ours = np.asarray(two_leg.cubic_motion_trajectory(0.0, LIFT, duration, 2001))
    return Made((
        Value("way after T", float(ours[-1]), "m", LIFT, EXACT),
        Value("way after 0.3 T", float(ours[600]), "m", float(way[600]), 1e-8),
        Value("largest speed over the mean", float(np.max(np.gradient(ours, t))) / SPEED, "",
              float(speed.max()) / SPEED, 1e-5),
        Value("speed at the end", float((ours[-1] - ours[-2]) / (t[1] - t[0])), "m/s", 0.0, 1e-4),
    ))  # fmt: skip


def _cubic_function(style: Style) -> Made:
    picture = Picture(figsize=(0.6 * style.width, style.panel + 0.6), style=style)
    axes = picture.subplots()
    t = np.linspace(0.0, 0.2, 101)
    ours = np.asarray(two_leg.cubic_motion_trajectory(0.02, LIFT, 0.2, 101))
    axes.plot(t, 1e3 * ours, **series(0))
    axes.set(title="A foot lifted by 10 mm at 0.05 m/s: height [mm]", xlabel="time [s]")
    printed = LIFT * t**2 * (3 * 0.2 - 2 * t) / 0.2**3 + 0.02
    off = float(np.max(np.abs(ours - printed)))
    return Made((Value("ours less the three lines printed", off, "m", 0.0, EXACT),), picture)


def _single(name: str, move: Callable[..., two_leg.Path], distance: float, style: Style) -> Made:
    """A method of one foot, from where it is called in a step of the source."""
    is_left, across = name.endswith("left"), name.startswith("step")
    feet = two_leg.standing()
    if not is_left:
        feet = two_leg.Feet(feet.left + np.array([STRIDE, 0.0]), feet.right)
    if across:
        feet = (two_leg.lift_left if is_left else two_leg.lift_right)(feet, LIFT).end
    path = move(feet, distance, degrees=True)
    t, turns = np.asarray(path.t), np.asarray(path.turns)
    moved, held = (path.left, path.right) if is_left else (path.right, path.left)
    picture = Picture(figsize=(style.width, style.panel + 0.4), style=style)
    left, right = picture.subplots(1, 2)
    left.plot(t, 1e3 * np.asarray(moved)[:, 0 if across else 1], **series(0))
    left.set(title=f"{'x' if across else 'y'} of the moving foot [mm]", xlabel="time [s]")
    for i in range(3):
        right.plot(t, turns[:, i], label=f"θ{i + 1}", **series(i))
    right.set(title="Turns of the motors [deg]", xlabel="time [s]")
    name_lines(right, style)
    start, end = (np.asarray(moved)[i] for i in (0, -1))
    ends = [np.asarray(foot)[-1] for foot in (path.left, path.right)]
    lines = printed.angles(*(ends[1] - ends[0]))
    return Made(
        (
            Value("distance moved", float((end - start)[0 if across else 1]), "m", distance, EXACT),
            Value("time", float(t[-1]), "s", abs(distance) / SPEED, EXACT),
            Value("way of the other foot", float(np.ptp(np.asarray(held), axis=0).max()), "m", 0.0,
                  0.0),
            *(
                Value(f"θ{i + 1} at its end", float(turns[-1, i]), "deg", float(lines[i]), 1e-11)
                for i in range(3)
            ),
        ),
        picture,
    )  # fmt: skip


def _method(name: str, distance: float) -> Item:
    move = getattr(two_leg, name)
    foot = "left" if name.endswith("left") else "right"
    what = "carries across" if name.startswith("step") else "lifts, or puts down,"
    before = "" if name.startswith("lift") else f".lift_{foot}(0.01)"
    python = f"ff.Walker(){before}.{name}({distance})"
    return Item(
        name,
        f"The method {name}",
        f"one move that {what} the {foot} foot along the cubic.",
        lambda style: _single(name, move, distance, style),
        f'python -c "import footfall as ff; print({python})"',
    )


# --- the robot's methods --------------------------------------------------------------------------


def _horizontal(style: Style) -> Made:
    del style
    feet, time = two_leg.standing(), 0.0
    moves = (
        (two_leg.lift_left, LIFT), (two_leg.step_left, STRIDE), (two_leg.lift_left, -LIFT),
        (two_leg.lift_right, LIFT), (two_leg.step_right, STRIDE), (two_leg.lift_right, -LIFT),
    )  # fmt: skip
    for move, distance in moves:
        path = move(feet, distance)
        feet, time = path.end, time + float(path.t[-1])
    one = along().first(2)
    single = "; ".join(f"{move.__name__} {distance}" for move, distance in moves)
    return Made(
        (
            Value("time of the six moves", time, "s", float(one.t[-1, -1, -1]), 1e-12),
            Value("time of one foot's step", time / 2, "s", 2.0, 1e-12),
            Value("x1 at the end", float(feet.left[0]), "m", STRIDE, EXACT),
            Value("x5 at the end", float(feet.right[0]), "m", 0.1 + STRIDE, EXACT),
            Value("time of the route of six verbs", _plan_time(single), "s", time, 1e-12),
        )
    )


def _plan_time(route: str) -> float:
    return float(two_leg_walker(route=route).plan_time)


def _refused(route: str) -> str:
    try:
        two_leg_walker(route=route)
    except ParameterError as error:
        return str(error)
    return ""


def _walk_distance(style: Style) -> Made:
    del style
    backward, usual = two_leg_walker(route="walk 0.3"), two_leg_walker(route="walk -0.49")
    assert backward.schedule is not None and usual.schedule is not None
    wrong = "for a positive distance the loop never runs: one step of all the distance"
    longest = float(np.max(np.abs(backward.schedule.steps.across)))
    left = 0.3 - printed.full_steps(0.3) * STRIDE
    giant = "lift_right 0.01; step_right 0.3; lift_right -0.01"
    return Made(
        (
            Value("longest footstep of a walk of +0.3 m", longest, "m", left, 1e-6, wrong),
            Value("footsteps of a walk of -0.49 m", float(usual.schedule.count), "",
                  2.0 * (printed.full_steps(-0.49) + 1), 0.0),
        ),
        words=f'such a step is refused: "{_refused(giant)}"',
    )  # fmt: skip


def _navigate(style: Style) -> Made:
    del style
    walker = two_leg_walker(route="walk -0.49; climb 0.05")
    assert walker.schedule is not None
    first = int(walker.schedule.count) - 2  # of the climb
    sizes = np.diff(np.asarray(walker.schedule.begins)[first]) * SPEED
    down = legs_of(InchwormGait(), Footstep(1, STRIDE, -STEP, 0.1, 0.0)).distances
    return Made(
        (
            Value("foot 1 up", float(sizes[0]), "m", STEP + LIFT, 1e-9),
            Value("foot 1 across", float(sizes[1]), "m", -STRIDE, 1e-9),
            Value("foot 1 down", float(sizes[2]), "m", LIFT, 1e-9),
            Value("first move of a step down by 50 mm", float(down[0]), "m", -STEP + LIFT, 1e-9,
                  "with a negative height it drives the foot down first, into the ground"),
        )
    )  # fmt: skip


# --- the terrain ----------------------------------------------------------------------------------


def _figure_4(style: Style) -> Made:
    walker = two_leg_walker()
    edge, height = 0.5, 0.05
    labels: tuple[Label, ...] = (
        Span("$h$", Anchor("", (edge, 0.0, 0.0)), Anchor("", (edge, 0.0, height)), away=0.05),
        Span("0.49 m", Anchor("foot_1"), Anchor("", (0.49, 0.0, 0.0)), away=-0.06),
        Span("1.0 m", Anchor("foot_1"), Anchor("", (1.0, 0.0, 0.0)), away=-0.12),
        Name("goal", Anchor("", (1.0, 0.0, height)), (0.0, 12.0), dot=True),
    )
    state = walker.Start().state(walker)
    shapes = bare(walker)
    picture = schematic([Panel(shapes, seen_at(walker, state), labels)],
                        "Fig 4. The terrain", style)  # fmt: skip
    return Made(picture=picture, words="forward is to the right here, to the left in the source")


def _poses(run: Along) -> list[Seen]:
    """At the begin of every other footstep, and at the end."""
    groups = ("foot_1", "ankle_1", "knee", "ankle_2", "foot_2", "centre")
    count = len(run.t)
    places = [(i, 0, 0) for i in range(0, count, 4)] + [(count - 1, 2, -1)]
    seen = []
    for at in places:
        row = {f"{g}.{axis}": float(getattr(getattr(run.seen, g), axis)[at])
               for g in groups for axis in "xz"}  # fmt: skip
        seen.append(Seen(row))
    return seen


def _figure_5(style: Style) -> Made:
    walker, run = two_leg_walker(), along()
    *before, last = _poses(run)
    panel = Panel(walker.sketch(), last, (), paler=tuple(before))
    return Made(
        picture=schematic([panel], "Fig 5. The robot navigates the terrain", style),
        words="every other footstep",
    )


def _script(style: Style) -> Made:
    del style
    run = along()
    x1, x5 = -float(run.seen.foot_1.x[-1, -1, -1]), -float(run.seen.foot_2.x[-1, -1, -1])
    total = float(run.t[-1, -1, -1])
    # One sample to begin with and int(T/dt) for each move, dt = 1 ms.
    sizes = printed.moves()
    counted = 1e-3 * (1 + sum(int(size / SPEED / 1e-3) for size in sizes))
    return Made(
        (
            Value("x1 at the end", x1, "m", -1.0, 1e-9),
            Value("x5 at the end", x5, "m", -0.9, 1e-9),
            Value("footsteps", float(len(run.t)), ""),
            Value("time to the goal", total, "s", 53.119, 5e-4,
                  "the way over the speed is 2.66/0.05; samples that int() cuts off come near"),
            Value("sizes of all moves over speed", sum(sizes) / SPEED, "s", total, 1e-9),
            Value("time counted in samples of 1 ms, cut off", counted, "s"),
        ),
        words=f'the route "{ROUTE}"; rounding shifts the counted time by some milliseconds',
    )  # fmt: skip


ITEMS = (
    Item(
        "fig-4",
        "Terrain",
        "flat ground with one step of 0.05 m, and the goal.",
        _figure_4,
        "footfall show two-leg-step",
        'It carries a second caption, "Figure 2". Where the edge is is not said; 0.5 m fits the'
        " approach of 0.49 m.",
    ),
    Item(
        "sec-4-cubic",
        "Cubic motion trajectories",
        "a quadratic speed with zero ends, a = -6 y_lift/T^3, and the cubic that follows.",
        _cubic,
        "footfall run two-leg-step --set gait.law=quintic",
    ),
    Item(
        "cubic_motion_trajectory",
        "Python function of the cubic",
        "three lines that sample the cubic at N times.",
        _cubic_function,
        'python -c "import footfall as ff;'
        ' print(ff.robots.two_leg.cubic_motion_trajectory(0, 0.01, 0.2, 5))"',
    ),
    _method("lift_left", LIFT),
    _method("step_left", STRIDE),
    _method("lift_right", LIFT),
    _method("step_right", STRIDE),
    Item(
        "take_horizontal_step",
        "The method take_horizontal_step",
        "six moves: left up, across, down, then right.",
        _horizontal,
        'footfall run two-leg-single-step --set "route=lift_left 0.01; step_left -0.08;'
        ' lift_left -0.01; lift_right 0.01; step_right -0.08; lift_right -0.01"',
    ),
    Item(
        "walk_distance",
        "The method walk_distance",
        "full steps while they fit, and one of what is left.",
        _walk_distance,
        'footfall run two-leg-single-step --set "route=walk -0.49"',
        "It works for negative distances and strides only: a positive distance makes one step of"
        " all of it, a positive stride never ends, a distance of 0 divides by zero.",
    ),
    Item(
        "navigate_step",
        "The method navigate_step",
        "one step up by the height of the step and y_lift, down by y_lift.",
        _navigate,
        'footfall run two-leg-step --set "route=walk -0.49; climb 0.05"',
        "It cannot descend. A foot that lands over the edge must be held down.",
    ),
    Item(
        "sec-4-script",
        "Main script and total time",
        "five lines that cross the terrain; with the parameters chosen it takes 53.119 s.",
        _script,
        "footfall run two-leg-step",
        "53.119 s should be 53.2 s.",
    ),
    Item(
        "fig-5",
        "The robot on its way",
        "poses of the simulated robot over the terrain.",
        _figure_5,
        "footfall run two-leg-step --animate two-leg.gif",
    ),
)
