"""Shapes and charts of the sea urchin."""

from typing import TYPE_CHECKING

from footfall.machines.sea_urchin.spike_kinematics import SPIKES
from footfall.scene.sketch import Arrow, Ball, Chart, Ground, Link, Shape

if TYPE_CHECKING:
    from footfall.machines.sea_urchin.robot import UrchinRobot


def urchin_sketch(robot: "UrchinRobot") -> tuple[Shape, ...]:
    """Ground, shell, spikes with their balls, forces under the feet."""
    ball = robot.built_spike.ball
    shapes: list[Shape] = [Ground(robot.terrain.outline, height=robot.terrain.height)]
    for i in range(2 * SPIKES):
        colour = "tab:orange" if i < SPIKES else "seagreen"
        shapes += [
            Link(f"hip.{i}", f"tip.{i}", colour, 0.008),
            Ball(f"tip.{i}", (0.0, 0.0, 0.0), ball, colour),
        ]
    shapes.append(Ball("shell", (0.0, 0.0, 0.0), robot.shell_radius, "rebeccapurple"))
    return (*shapes, *(Arrow(f"tip.{i}", 0.1 / robot.weight) for i in range(2 * SPIKES)))


def urchin_charts(robot: "UrchinRobot") -> tuple[Chart, ...]:
    """Foot paths, tracking, contact, speed, torques."""
    rolls = any(action.verb == "roll" for action in robot.actions)
    feet = range(2 * SPIKES) if rolls else range(SPIKES)

    def each(name: str) -> tuple[str, ...]:
        return tuple(f"{name}.{i}" for i in feet)

    return (
        Chart("Place of the shell", ("travel.distance", "travel.sideways", "shell.z"), "whole"),
        Chart("Speed along the way", ("travel.speed",), "whole"),
        Chart("Heights of the feet", each("tip.z"), "whole"),
        Chart("Joint 1 of spike 0: wanted, measured", ("wanted.swing.0", "joint.swing.0"), "whole"),
        Chart("Joint 2 of spike 0: wanted, measured", ("wanted.sweep.0", "joint.sweep.0"), "whole"),
        Chart("Slide of spike 0: wanted, measured", ("wanted.slide.0", "joint.slide.0"), "whole"),
        Chart("Force of the ground up", ("load.lift", "load.shell"), "whole"),
        Chart("Torques of joint 1", each("drive.swing"), "whole"),
        Chart("Torques of joint 2", each("drive.sweep"), "whole"),
        Chart("Forces of the slides", each("drive.slide"), "whole"),
        Chart("Sides rolled, kicks", ("faces", "kicks"), "whole")
        if rolls
        else Chart("Tilt", ("travel.tilt",), "whole"),
    )
