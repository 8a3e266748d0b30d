"""Panels without a time axis: phase portraits, the path from above, a part cut free."""

import numpy as np
from matplotlib.axes import Axes

from footfall.engines.analysis.summary import Summary
from footfall.pictures.draw import draw_pose, side_view
from footfall.pictures.names import axis_name
from footfall.pictures.style import Style
from footfall.pictures.time_panels import broken, recent
from footfall.record.trajectory import Trajectory
from footfall.scene.palette import colour_of
from footfall.scene.sketch import Arrow, Link, Shape


def phase_panel(
    axes: Axes, run: Trajectory, summary: Summary, position: str, rate: str, style: Style
) -> None:
    """Rate against position, the settled part in colour, jumps as dotted lines."""
    _, x, y = broken(run, position, rate)
    axes.plot(x, y, lw=0.4 * style.line, color=colour_of("idle_leg"))
    late = run.t >= summary.window["from"]
    first = int(np.argmax(late))
    xs, ys, js = run[position][first:], run[rate][first:], run.j[first:]
    cuts = np.flatnonzero(np.diff(js) > 0) + 1
    axes.plot(np.insert(xs, cuts, np.nan), np.insert(ys, cuts, np.nan), color=colour_of("leg"))
    for i in cuts[-3:]:
        axes.plot(xs[i - 1 : i + 1], ys[i - 1 : i + 1], ls=":", color=colour_of("impact"))
    axes.set(
        title="Phase portrait, the settled part blue, jumps dotted",
        xlabel=axis_name(run.signals[position]),
        ylabel=axis_name(run.signals[rate]),
    )


def path_panel(axes: Axes, run: Trajectory) -> None:
    """The path from above, with where it pointed."""
    assert run.travel is not None and run.travel.heading is not None
    group = run.travel.heading.rpartition(".")[0]
    x, y, yaw = run[f"{group}.x"], run[f"{group}.y"], run[run.travel.heading]
    axes.plot(x, y, color=colour_of("leg"))
    # Along the way, not in time.
    gone = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    marks = np.searchsorted(gone, np.linspace(0.0, gone[-1], 14)[1:-1])
    size = 0.05 * max(np.ptp(x), np.ptp(y))
    for i in marks:
        ahead = size * np.array([np.cos(yaw[i]), np.sin(yaw[i])])
        axes.annotate(
            "", (x[i] + ahead[0], y[i] + ahead[1]), (x[i], y[i]),
            arrowprops={"arrowstyle": "-|>", "color": colour_of("body"), "mutation_scale": 9},
        )  # fmt: skip
    for i, mark, word, role in ((0, "o", "start", "target"), (-1, "s", "end", "mark")):
        axes.plot(x[i], y[i], mark, ms=6, color=colour_of(role), mec=colour_of("paper"), zorder=4)
        axes.annotate(word, (x[i], y[i]), (6.0, 5.0), textcoords="offset points")
    axes.set(title="Path from above", xlabel="x forward [m]", ylabel="y left [m]")
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.1)


def close_up_panel(
    axes: Axes, run: Trajectory, summary: Summary, title: str, shapes: tuple[Shape, ...]
) -> None:
    """A part of the robot at the moment when it carries most, with its forces."""
    groups = [shape.at for shape in shapes if isinstance(shape, Arrow)]
    carried = sum((run[f"{g}.fx"] ** 2 + run[f"{g}.fz"] ** 2 for g in groups), np.zeros_like(run.t))
    row = int(np.argmax(np.where(run.t >= recent(run, summary, 1), carried, -1.0)))
    seen = run.seen(row)
    points = np.array(
        [
            seen.origin(end)[[0, 2]]
            for shape in shapes
            if isinstance(shape, Link)
            for end in (shape.start, shape.end)
        ]
    )
    forces = {group: seen.force(group)[[0, 2]] for group in groups}
    most = max((float(np.hypot(*force)) for force in forces.values()), default=0.0)
    # The longest arrow: half the part's size.
    scale = 0.5 * float(np.ptp(points, axis=0).max()) / most if most > 0 else 0.0
    shapes = tuple(
        shape._replace(metres_per_newton=scale) if isinstance(shape, Arrow) else shape
        for shape in shapes
    )
    draw_pose(axes, shapes, seen, side_view)
    heads = [(group, seen.origin(group)[[0, 2]] + scale * force) for group, force in forces.items()]
    for group, (x, z) in heads:
        size_of = float(np.hypot(*forces[group]))
        axes.annotate(f"{size_of:.2g} N", (x, z), (4.0, 4.0), textcoords="offset points")
    axes.update_datalim([*points, *(head for _, head in heads)])  # arrows do not count otherwise
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.2)
    axes.autoscale_view()
    axes.set(title=f"{title}, t = {run.t[row]:.4g} s", xlabel="x [m]", ylabel="z [m]")
