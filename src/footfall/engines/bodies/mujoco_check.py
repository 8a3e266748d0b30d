"""Does a robot of rigid bodies keep its contract?

Its velocities, its ledger, its repeatability, seen on short runs.
"""

import numpy as np

from footfall.engines.bodies.mujoco_engine import MujocoEngine, compiled, simulate_bodies
from footfall.engines.span import Span
from footfall.hybrid.conformance import Check, Report
from footfall.hybrid.rigid_bodies import AbstractRigidBodies
from footfall.hybrid.system import HybridState
from footfall.record.trajectory import Trajectory

#: Length of the runs [s]; what a ledger may be off by, relative to throughput; what a velocity may
#: differ from a difference of positions.
SPAN, BOOKS, NEAR = 0.3, 1e-2, 0.02


def examine_bodies(system: AbstractRigidBodies, state: HybridState, span: float = SPAN) -> Report:
    """Claims about a robot, from runs at its usual step, twice, and at half of it."""
    step = system.usual_step
    model = compiled(system, step)
    found = [
        Check(
            "MuJoCo builds it",
            True,
            f"{model.nbody - 1} bodies, {model.nv} degrees of freedom, {model.nu} motors",
        )
    ]
    run, again, finer = (
        simulate_bodies(system, state, Span(span, 1.0 / h, engine=MujocoEngine(h)))
        for h in (step, step, 0.5 * step)
    )
    finite = all(np.isfinite(values).all() for values in run.columns.values())
    found.append(
        Check(
            "everything seen is finite",
            finite,
            f"{len(run.columns)} signals, {len(run.t)} rows, {run.outcome.name}",
        )
    )
    same = all(np.array_equal(run[name], again[name]) for name in run.columns)
    found.append(Check("a run repeats itself to the last bit", same, "two runs"))
    worst, name = _worst_rate(run, step)
    found.append(
        Check("velocities are derivatives", worst < NEAR, f"{name}: off by {worst:.1e} of its size")
    )
    books, finer_books = run.ledger.relative_residual, finer.ledger.relative_residual
    found.append(
        Check(
            "the energy ledger closes",
            books < BOOKS,
            f"{books:.1e} of the throughput, {finer_books:.1e} at half the step",
        )
    )
    return Report(type(system).__name__, found)


def _worst_rate(run: Trajectory, step: float) -> tuple[float, str]:
    """Largest difference between a rate and what its signal gained in the step before, which is how
    MuJoCo moves on, in the mean over rows.
    """
    worst, which = 0.0, "no rates"
    for name, signal in run.signals.items():
        if signal.role == "output" and signal.rate_of is not None and signal.rate_of in run.columns:
            gained = np.diff(run[signal.rate_of]) / step
            size = float(np.mean(np.abs(gained))) + 1e-6
            off = float(np.mean(np.abs(run[name][1:] - gained))) / size
            if off > worst:
                worst, which = off, name
    return worst, which
