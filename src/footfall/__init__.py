"""footfall: design, simulate, analyse and control unconventional legged robots with reduced-order models."""

import os
from typing import TYPE_CHECKING

# Equinox's default reports run-time errors by a host callback, which keeps compiled programs out of the on-disk cache.
# We report failures as outcomes instead. Must be set before equinox is imported.
os.environ.setdefault("EQX_ON_ERROR", "nan")

import jax

# 64-bit floats everywhere: events are located to 1e-12 s and ledgers close to 1e-10, which float32 cannot do.
jax.config.update("jax_enable_x64", True)

from footfall import robots as robots
from footfall.analysis.return_map import find_cycle as find_cycle
from footfall.analysis.summary import summarise as summarise
from footfall.hybrid.conformance import check_system as check_system
from footfall.hybrid.outcome import Outcome as Outcome
from footfall.hybrid.system import HybridState as HybridState
from footfall.record.trajectory import Trajectory as Trajectory
from footfall.robots.two_leg import Walker as Walker
from footfall.scenario.load import Experiment as Experiment
from footfall.scenario.load import load as load
from footfall.sim.plan import SimPlan as SimPlan
from footfall.sim.simulate import simulate as simulate

if TYPE_CHECKING:
    from footfall.sweep.read_back import open_sweep as open_sweep
    from footfall.sweep.rollout import rollout as rollout


def __getattr__(name: str) -> object:
    """Names that few programs need and that cost time to import."""
    if name == "rollout":
        from footfall.sweep.rollout import rollout

        return rollout
    if name == "open_sweep":
        from footfall.sweep.read_back import open_sweep

        return open_sweep
    raise AttributeError(f"module 'footfall' has no attribute {name!r}")
