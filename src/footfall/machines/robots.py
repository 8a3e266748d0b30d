"""Named machines: numbers, their source, a choice of parts.

>>> import footfall as ff
>>> wheel = ff.robots.passive_wheel()
>>> wheel.spokes, wheel.leg.length
(10, 0.26)

Kinematics of a robot by itself, for arrays, are modules beside them: `ff.robots.four_bar`,
`ff.robots.two_leg`, `ff.robots.sea_urchin`.
"""

from footfall.machines import sea_urchin as sea_urchin
from footfall.machines import two_leg as two_leg
from footfall.machines.centipede.robots import centipede as centipede
from footfall.machines.centipede.robots import centipede_gap as centipede_gap
from footfall.machines.rimless_wheel.robots import passive_wheel as passive_wheel
from footfall.machines.rimless_wheel.robots import rimless_wheel as rimless_wheel
from footfall.machines.rimless_wheel.robots import rimless_wheel_3d as rimless_wheel_3d
from footfall.machines.rimless_wheel.robots import (
    rimless_wheel_3d_closed_loop as rimless_wheel_3d_closed_loop,
)
from footfall.machines.rimless_wheel.robots import (
    rimless_wheel_closed_loop as rimless_wheel_closed_loop,
)
from footfall.machines.sea_urchin.numbers import urchin_kick as urchin_kick
from footfall.machines.sea_urchin.numbers import urchin_spike as urchin_spike
from footfall.machines.sea_urchin.numbers import (
    urchin_spike_closed_loop as urchin_spike_closed_loop,
)
from footfall.machines.sea_urchin.robots import urchin as urchin
from footfall.machines.two_leg.robots import Walker as Walker
from footfall.machines.two_leg.robots import two_leg_walker as two_leg_walker
from footfall.machines.water_runner import four_bar as four_bar
from footfall.machines.water_runner.robots import water_runner as water_runner
from footfall.machines.water_runner.robots import water_runner_biped as water_runner_biped
from footfall.machines.water_runner.robots import water_runner_ground as water_runner_ground
