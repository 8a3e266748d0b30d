"""Section 3: the three programs, their rates and lines."""

from footfall.machines import robots
from footfall.pictures.style import Style
from footfall.sources.item import Made, Value


def rates(style: Style) -> Made:
    """How often each level runs."""
    del style
    stack = robots.rimless_wheel_3d_closed_loop().stack
    rows = (
        ("high level, Raspberry Pi", stack.high_period, 100.0, 0.5),
        ("mid level, Teensy", stack.mid_period, 1000.0, 0.5),
        ("low level, ODrive (around 4 kHz)", stack.low_period, 4000.0, 500.0),
    )
    return Made(
        tuple(
            Value(what, 1.0 / period, "Hz", said, tolerance)
            for what, period, said, tolerance in rows
        )
    )
