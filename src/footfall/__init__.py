"""footfall: design, simulate, analyse and control unconventional legged robots.

With reduced-order models.
"""

import importlib
import os
import sys
from typing import TYPE_CHECKING

# Equinox's default reports run-time errors by a host callback, which keeps compiled programs out of
# the on-disk cache. We report failures as outcomes instead. Must be set before equinox is imported.
os.environ.setdefault("EQX_ON_ERROR", "nan")

# 64-bit floats everywhere: events are located to 1e-12 s and ledgers close to 1e-10, which float32
# cannot do. JAX reads this when it is imported, which is left to whoever needs it: a control
# computer runs `footfall.machines.control` without it.
os.environ["JAX_ENABLE_X64"] = "1"
if "jax" in sys.modules:
    sys.modules["jax"].config.update("jax_enable_x64", True)

if TYPE_CHECKING:
    from footfall import parts as parts
    from footfall.engines.analysis.check_system import check_system as check_system
    from footfall.engines.analysis.cycle import find_cycle as find_cycle
    from footfall.engines.analysis.feedback import feedback as feedback
    from footfall.engines.analysis.linearise import linearise as linearise
    from footfall.engines.analysis.lyapunov import lyapunov as lyapunov
    from footfall.engines.analysis.phase_response import phase_response as phase_response
    from footfall.engines.analysis.summary import summarise as summarise
    from footfall.engines.bodies.mujoco_engine import MujocoEngine as MujocoEngine
    from footfall.engines.events.event_engine import EventEngine as EventEngine
    from footfall.engines.lanes.fixed_steps import StepEngine as StepEngine
    from footfall.engines.plan import Plan as Plan
    from footfall.engines.plan import SimPlan as SimPlan
    from footfall.engines.simulate import simulate as simulate
    from footfall.hybrid.outcome import Outcome as Outcome
    from footfall.hybrid.system import HybridState as HybridState
    from footfall.machines import robots as robots
    from footfall.machines.two_leg.robots import Walker as Walker
    from footfall.pictures.ask import basin as basin
    from footfall.pictures.ask import robust as robust
    from footfall.pictures.pictures import animate as animate
    from footfall.pictures.pictures import compare as compare
    from footfall.pictures.pictures import plot as plot
    from footfall.pictures.save_run import save_run as save_run
    from footfall.record.trajectory import Trajectory as Trajectory
    from footfall.scenario.derivatives import endpoint as endpoint
    from footfall.scenario.derivatives import gradient as gradient
    from footfall.scenario.design import design as design
    from footfall.scenario.design import pareto as pareto
    from footfall.scenario.follow import follow as follow
    from footfall.scenario.listing import scenarios as scenarios
    from footfall.scenario.load import Experiment as Experiment
    from footfall.scenario.load import load as load
    from footfall.scenario.open_run import open_run as open_run
    from footfall.sweep.read_back import open_sweep as open_sweep
    from footfall.sweep.rollout import rollout as rollout

#: The names a user types, and the one home of each. They are imported when they are first asked
#: for.
_HOMES = {
    "find_cycle": "engines.analysis.cycle",
    "feedback": "engines.analysis.feedback",
    "linearise": "engines.analysis.linearise",
    "lyapunov": "engines.analysis.lyapunov",
    "phase_response": "engines.analysis.phase_response",
    "summarise": "engines.analysis.summary",
    "Outcome": "hybrid.outcome",
    "HybridState": "hybrid.system",
    "Trajectory": "record.trajectory",
    "Walker": "machines.two_leg.robots",
    "endpoint": "scenario.derivatives",
    "gradient": "scenario.derivatives",
    "design": "scenario.design",
    "pareto": "scenario.design",
    "follow": "scenario.follow",
    "scenarios": "scenario.listing",
    "Experiment": "scenario.load",
    "load": "scenario.load",
    "open_run": "scenario.open_run",
    "check_system": "engines.analysis.check_system",
    "EventEngine": "engines.events.event_engine",
    "MujocoEngine": "engines.bodies.mujoco_engine",
    "Plan": "engines.plan",
    "SimPlan": "engines.plan",
    "StepEngine": "engines.lanes.fixed_steps",
    "simulate": "engines.simulate",
    "open_sweep": "sweep.read_back",
    "rollout": "sweep.rollout",
    "basin": "pictures.ask",
    "robust": "pictures.ask",
    "animate": "pictures.pictures",
    "compare": "pictures.pictures",
    "plot": "pictures.pictures",
    "save_run": "pictures.save_run",
}


def __getattr__(name: str) -> object:
    if name == "parts":
        return importlib.import_module("footfall.parts")
    if name == "robots":
        # Making one may compile something.
        importlib.import_module("footfall.engines.jax_setup").prepare_jax()
        return importlib.import_module("footfall.machines.robots")
    if name in _HOMES:
        return getattr(importlib.import_module(f"footfall.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'footfall' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOMES, "parts", "robots"])
