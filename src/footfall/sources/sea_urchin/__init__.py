"""Source 004: A. Kayabasi, "Sea urchin robot" (EE587 report, 2022), item by item.

kinematics   chapters 1 and 3: frames, forward and inverse kinematics, Jacobians
trajectory   chapter 2 and its script: the path of a foot, and what the joints do along it
dynamics     chapter 4: equations of motion of a spike, rolling by a kick, its actuator
control      chapter 5: stiffness control and PID
printed      formulas as they are printed
"""

from footfall.sources.item import Source
from footfall.sources.sea_urchin import control, dynamics, kinematics, trajectory

SOURCE = Source(
    "004",
    "sea-urchin",
    "Sea urchin robot (A. Kayabasi, EE587 project report, 2022)",
    (
        *kinematics.ITEMS,
        *trajectory.ITEMS,
        *kinematics.JACOBIANS,
        *dynamics.ITEMS,
        *control.ITEMS,
    ),
)
