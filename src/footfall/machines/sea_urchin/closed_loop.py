"""One hinge of a spike under the three-level control software."""

from footfall.machines.control.loops import with_computer
from footfall.machines.sea_urchin.spike_hinge import SpikeHinge

SpikeHingeLoop = with_computer(
    SpikeHinge,
    "SpikeHingeLoop",
    "One hinge of an urchin's spike under the same three-level software, in lockstep.",
)
