"""How a push moves all later steps of a stable gait in time: its phase response.

A change dv of the state just after an event makes the step longer by tau dv and leaves J dv to the
next, which makes that longer, and so on. All later events come later by

    tau (I + J + J^2 + ...) dv = tau (I - J)^-1 dv                                       (gaits.12)

and a change of the state within a step adds what it does to the rest of that step: tau_s dx for its
time, J_s dx for the state it ends with. This is the left vector of the flow's own multiplier one.
"""

from typing import Any, NamedTuple

import jax
import numpy as np

from footfall.engines.analysis.cycle import Cycle
from footfall.engines.analysis.return_map import numbers_of
from footfall.hybrid.flatten import Layout
from footfall.hybrid.system import HybridState


class PhaseResponse(NamedTuple):
    """How much sooner all later events come [s] for a change of each number, per its unit."""

    phases: np.ndarray  #: from 0 just after the event to 1 just before the next
    sooner: dict[str, np.ndarray]  #: s per unit, over the phases


def phase_response(cycle: Cycle, points: int = 1) -> PhaseResponse:
    """How a push at some phase of a stable gait moves all later steps in time.

    Arguments:
        cycle: as `ff.find_cycle` gives it.
        points: phases, evenly spread over a step; the first is just after the event.

    Returns a `PhaseResponse`: `phases`, and by name of each number how much `sooner` all later
    events come [s] per unit of it. Raises ValueError where they have no time to come to: an
    unstable gait, one of a family, one with a clock.

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel")
    >>> found = ff.phase_response(wheel.cycle("touchdown"))
    >>> print(f"{found.sooner['spoke_rate'][0]:.4f} s for a rad/s more")
    -0.3197 s for a rad/s more
    """
    if not cycle.stable or cycle.held or cycle.map.clocked or cycle.map.begins != "the event":
        why = (
            "is unstable: what is pushed does not come back to it"
            if not cycle.stable
            else "is one of a family: a push leads to another"
            if cycle.held
            else "has a clock, or is half a stride"
        )
        raise ValueError(f"phase_response: this gait {why}.")
    phases = np.arange(points) / points
    later = _later(cycle)
    names, rows = cycle.map.names, [later]
    if points > 1:
        x, m, _ = cycle.map.path(cycle.point.flat, cycle.point.counts, phases[1:] * cycle.period)
        rows += [_within(cycle, x, m, k, later) for k in range(points - 1)]
    found = -np.stack(rows)
    moving = cycle.point.mapped.stride.path > 0
    return PhaseResponse(phases, {n: found[:, j] for j, n in enumerate(names) if moving[j]})


def _later(cycle: Cycle) -> np.ndarray:
    """How much later all events come for a change of each number just after an event."""
    size, quotient = len(cycle.point.flat), cycle.quotient
    slopes = cycle.point.mapped.slopes
    jacobian = quotient.matrix(slopes.numbers[:size].T)
    # Along a shift that nothing notices no time changes, so that the numbers that are kept tell.
    tau = slopes.t[:size][quotient.kept]
    each = np.linalg.solve((np.eye(len(tau)) - jacobian).T, tau)
    return each @ quotient.reads


def _within(cycle: Cycle, x: Any, m: Any, k: int, later: np.ndarray) -> np.ndarray:
    """The same for a change within a step."""
    state = jax.tree.map(lambda leaf: np.asarray(leaf[k]), HybridState(x, m))
    numbers, counts = numbers_of(state)
    flat = np.array(Layout.of(cycle.map.like).pack(numbers))
    mapped = cycle.map.at(flat, counts)
    return mapped.slopes.t[: len(flat)] + mapped.slopes.numbers[: len(flat)] @ later
