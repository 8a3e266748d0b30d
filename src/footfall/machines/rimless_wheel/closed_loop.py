"""The wheels under their three-level control software."""

from footfall.machines.control.loops import with_computer
from footfall.machines.rimless_wheel.steered_wheel import SteeredWheel
from footfall.machines.rimless_wheel.torso_wheel import TorsoWheel

WheelLoop = with_computer(
    TorsoWheel,
    "WheelLoop",
    "The sagittal rimless wheel under its three-level control software, in lockstep.",
)
SteeredWheelLoop = with_computer(
    SteeredWheel,
    "SteeredWheelLoop",
    "The two-sided rimless wheel under its three-level control software, in lockstep.",
)
