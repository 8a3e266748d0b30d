"""Source 000: N. Thatte, "Water Runner Simulation" (2012), item by item.

figures     figures 1 and 2: the labelled leg, free bodies
feet        section 1: water and ground on a foot
compared    section 1.2: compliant feet on water and on ground
linkage     sections 2 and 3: the four-bar leg
forces      section 4: loads of links and robot
numerics    section 5: swapping parts, integrators
"""

from footfall.sources.item import Source
from footfall.sources.water_runner import compared, feet, figures, forces, linkage, numerics

SOURCE = Source(
    "000",
    "water-runner",
    "Water Runner Simulation (N. Thatte, 2012)",
    (*feet.ITEMS, *compared.ITEMS, *figures.ITEMS, *linkage.ITEMS, *forces.ITEMS, *numerics.ITEMS),
)
