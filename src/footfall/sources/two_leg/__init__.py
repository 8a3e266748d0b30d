"""Source 003: "Robotic simulation", the report on a `TwoLegRobot`, item by item.

geometry    sections 2 and 3: joint angles, centre of mass, the foot's length
navigation  section 4: cubic moves, the robot's methods, the terrain
energy      section 4, energy, torque and power; the curves of the appendix
along       what those need: everything along the plan, as arrays
"""

from footfall.sources.item import Source
from footfall.sources.two_leg import energy, geometry, navigation

SOURCE = Source(
    "003",
    "two-leg",
    "Robotic simulation (the TwoLegRobot report)",
    (*geometry.ITEMS, *navigation.ITEMS, *energy.ITEMS),
)
