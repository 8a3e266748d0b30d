"""Named machines: numbers, their source, a choice of parts.

>>> import footfall as ff
>>> wheel = ff.robots.passive_wheel()
>>> wheel.spokes, wheel.leg.length
(10, 0.26)
"""

from footfall.robots.centipede import centipede as centipede
from footfall.robots.centipede import centipede_gap as centipede_gap
from footfall.robots.rimless_wheel import passive_wheel as passive_wheel
from footfall.robots.rimless_wheel import rimless_wheel as rimless_wheel
from footfall.robots.rimless_wheel import rimless_wheel_3d as rimless_wheel_3d
from footfall.robots.rimless_wheel import rimless_wheel_3d_closed_loop as rimless_wheel_3d_closed_loop
from footfall.robots.rimless_wheel import rimless_wheel_closed_loop as rimless_wheel_closed_loop
from footfall.robots.sea_urchin import urchin as urchin
from footfall.robots.two_leg import Walker as Walker
from footfall.robots.two_leg import two_leg_walker as two_leg_walker
from footfall.robots.urchin import urchin_kick as urchin_kick
from footfall.robots.urchin import urchin_spike as urchin_spike
from footfall.robots.urchin import urchin_spike_closed_loop as urchin_spike_closed_loop
from footfall.robots.water_runner import water_runner as water_runner
from footfall.robots.water_runner import water_runner_biped as water_runner_biped
from footfall.robots.water_runner import water_runner_ground as water_runner_ground
