"""Newton's iteration for implicit solvers, patient enough to converge."""

from typing import Any

import diffrax
import equinox as eqx
import jax.numpy as jnp
import optimistix as optx


class PatientChord(diffrax.VeryChord):
    """diffrax's chord iteration, which goes on while it converges.

    diffrax's own reports divergence whenever its second iteration has not yet converged, so it
    never makes a third, and a solver rejects every step that would have needed one: on friction
    that is half of them. Divergence here means that corrections stop shrinking.
    """

    def terminate(self, fn, y, args, options, state, tags):
        del fn, y, args, options, tags
        judged = state.step >= 2  # two corrections make a rate
        rate = state.diffsize / state.diffsize_prev
        left = state.diffsize * rate / (1.0 - rate)  # what all further corrections would add up to
        tiny = state.diffsize < 1e-13
        diverged = judged & (~jnp.isfinite(rate) | (rate >= 1.0)) & ~tiny
        converged = judged & (tiny | ((left >= 0.0) & (left < self.kappa)))
        failed = state.result != optx.RESULTS.successful
        result = optx.RESULTS.where(
            failed,
            state.result,
            optx.RESULTS.where(
                diverged & ~converged, optx.RESULTS.nonlinear_divergence, optx.RESULTS.successful
            ),
        )
        return failed | diverged | converged, result


def with_tolerances(solver: diffrax.AbstractSolver, rtol: Any, atol: Any) -> diffrax.AbstractSolver:
    """An implicit solver whose `PatientChord` follows a run's tolerances, which may be traced.

    Another tolerance, same program.
    """
    if not (
        isinstance(solver, diffrax.AbstractImplicitSolver)
        and isinstance(solver.root_finder, PatientChord)
    ):
        return solver
    return eqx.tree_at(lambda s: (s.root_finder.rtol, s.root_finder.atol), solver, (rtol, atol))
