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
        colour = "leg" if i < SPIKES else "far_leg"
        shapes += [
            Link(f"hip.{i}", f"tip.{i}", colour, 0.004),
            Ball(f"tip.{i}", (0.0, 0.0, 0.0), ball, colour),
        ]
    shapes.append(Ball("shell", (0.0, 0.0, 0.0), robot.shell_radius, "body"))
    return (*shapes, *(Arrow(f"tip.{i}", 0.1 / robot.weight) for i in range(2 * SPIKES)))


def urchin_charts(robot: "UrchinRobot") -> tuple[Chart, ...]:
    """Foot paths, tracking, contact, speed, torques."""
    rolls = any(action.verb == "roll" for action in robot.actions)
    feet = range(2 * SPIKES) if rolls else range(SPIKES)

    def each(name: str) -> tuple[str, ...]:
        return tuple(f"{name}.{i}" for i in feet)

    def joint(title: str, name: str) -> Chart:
        both = (f"joint.{name}.0", f"wanted.{name}.0")
        return Chart(title, both, "whole", names=("measured", "wanted"))

    return (
        Chart(
            "Place of the shell",
            ("travel.distance", "travel.sideways", "shell.z"),
            "whole",
            main=rolls,
            names=("along the way", "to the left", "up"),
        ),
        Chart("Heights of the feet", each("tip.z"), "whole", main=not rolls),
        joint("Joint 1 of spike 0", "swing"),
        joint("Joint 2 of spike 0", "sweep"),
        joint("Slide of spike 0", "slide"),
        Chart(
            "Force of the ground up",
            ("load.lift", "load.shell"),
            "whole",
            main=True,
            names=("on all of it", "on the shell"),
        ),
        Chart("Torques of joint 1", each("drive.swing"), "whole", main=not rolls),
        Chart("Torques of joint 2", each("drive.sweep"), "whole"),
        Chart("Forces of the slides", each("drive.slide"), "whole"),
        Chart("Sides rolled, kicks", ("faces", "kicks"), "whole", main=True)
        if rolls
        else Chart("Tilt", ("travel.tilt",), "whole"),
    )
