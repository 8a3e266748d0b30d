"""The two-leg step climber: a plan of joint motions, and what it needs of motors and ground.

Read `robots.py` first (the numbers, with their source), then `walker.py`: a motion plan, so its
state is a time and a place in a table of footsteps (docs/theory/two-leg-walker.md). Beside it:

    route, planner, course   words -> footholds -> the table of footsteps
    single_moves             footsteps that a route writes move by move
    reach, support, ground   whether the legs reach them, and whether the ground holds them
    gait, moves              how long each move takes; where both feet are meanwhile
    kinematics               links, joint torques, zero-moment point
    figures, table           what a plan costs; of thousands of plans
    tuning                   the gait as an optimisation problem (`footfall design`)
    twin                     the same as bodies of MuJoCo, to check one by the other
    sketch, labels           how it looks; the words of its geometry

`functions.py` has its equations as functions of arrays, which are named here: a user types
`ff.robots.two_leg.inverse(...)`.
"""

from footfall.machines.two_leg.functions import Feet as Feet
from footfall.machines.two_leg.functions import Path as Path
from footfall.machines.two_leg.functions import accelerations as accelerations
from footfall.machines.two_leg.functions import affectors_to_angles as affectors_to_angles
from footfall.machines.two_leg.functions import centre_of_mass as centre_of_mass
from footfall.machines.two_leg.functions import cubic_motion_trajectory as cubic_motion_trajectory
from footfall.machines.two_leg.functions import forward as forward
from footfall.machines.two_leg.functions import instantaneous_power as instantaneous_power
from footfall.machines.two_leg.functions import inverse as inverse
from footfall.machines.two_leg.functions import lift_left as lift_left
from footfall.machines.two_leg.functions import lift_right as lift_right
from footfall.machines.two_leg.functions import link_centres as link_centres
from footfall.machines.two_leg.functions import rates as rates
from footfall.machines.two_leg.functions import reaches as reaches
from footfall.machines.two_leg.functions import standing as standing
from footfall.machines.two_leg.functions import static_torques as static_torques
from footfall.machines.two_leg.functions import step_left as step_left
from footfall.machines.two_leg.functions import step_right as step_right
