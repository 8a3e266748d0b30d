"""Named machines: numbers, their source, a choice of parts."""

from footfall.robots.rimless_wheel import passive_wheel as passive_wheel
from footfall.robots.rimless_wheel import rimless_wheel as rimless_wheel
from footfall.robots.rimless_wheel import rimless_wheel_3d as rimless_wheel_3d
