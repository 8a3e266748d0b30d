"""What the event engine is given, carries from step to step, keeps of them, and reports.

Structs without behaviour.
"""

from typing import Any, NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


def as_floats(tree: Any) -> Any:
    """Every number as a strong 64-bit float.

    So changing a value never compiles anything again.
    """
    return jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), tree)


def as_arrays(tree: Any) -> Any:
    """The same for a discrete state, whose counters and flags stay what they are."""
    return jax.tree.map(
        lambda leaf: as_floats(leaf) if np.issubdtype(leaf.dtype, np.floating) else leaf,
        jax.tree.map(np.asarray, tree),
    )


class Settings(NamedTuple):
    """What shapes the compiled loop (static)."""

    solver: diffrax.AbstractSolver
    adaptive: bool
    keep_steps: int  #: room for this many steps per call; 0 keeps none
    keep_events: int
    sampled: bool = False  #: there are rows between events, taken from the steps kept
    fine_rooms: bool = False  #: least rooms by the minima of cubics, so that they have slopes


class Limits(NamedTuple):
    """Numbers of the plan (traced: a new duration or tolerance compiles nothing)."""

    t_end: Any
    rtol: Any
    atol: Any
    max_step: Any
    max_jumps: Any
    stop_event: Any  #: flat guard index whose `stop_count`-th event ends the run, or -1
    stop_count: Any
    tries_per_call: Any  #: a call returns after this many solver steps at the latest
    near_room: Any  #: while a contact's guard is below this ...
    near_step: Any  #: ... steps are no longer than this


class Carry(NamedTuple):
    """Everything the loop needs to go on: hand it back in and the run continues."""

    t: Array
    y: Array  #: packed (x, work through each port)
    m: Any
    solver_state: Any
    made_jump: Array
    guards: Array
    armed: Array
    rising: Array  #: rate of each unarmed guard that was rising at the last event, else 0
    step: Array  #: next step size
    last_error: Array
    outcome: Array
    cause: Array  #: flat index of the guard that ended the run, or -1
    jumps: Array
    crowded: Array  #: events in a row closer than ZENO_INTERVAL
    last_event: Array
    stop_left: Array
    stores: Array
    jump_work: Array
    throughput: Array
    path: Array  #: sum of |change| of each number of y, flowing and at events
    least_room: Array  #: smallest value of each guard since the first jump that is not a clock's
    begun: Array  #: there has been one
    steps: Array  #: accepted, in all
    tried: Array  #: solver steps taken, in all


class March(NamedTuple):
    """What changes while stepping from one event to the next: the lean inner loop's state."""

    t: Array
    y: Array
    solver_state: Any
    made_jump: Array
    guards: Array
    armed: Array
    rising: Array
    step: Array
    cap: Array  #: longest next step, once
    last_error: Array
    stores: Array
    throughput: Array
    path: Array
    least_room: Array
    steps: Array
    tried: Array
    stuck: Array  #: outcome that ends the run here, or 0
    crossing: Array  #: a guard was seen at or below zero inside the next step
    tau: Array  #: length of the last step tried
    looked: Array  #: guards at the looks into it, its start first
    rows: Any
    row_count: Array


class Search(NamedTuple):
    """Newton in a bracket for the time of an event, local to the step it was seen in."""

    tau: Array  #: where the values below were taken
    target: Array  #: where to look next
    low: Array
    high: Array
    tries: Array
    done: Array
    hit: Array
    y: Array
    solver_state: Any
    dense: Any
    which: Array


class Steps(NamedTuple):
    """Accepted steps of one call, for sampling."""

    start: Array
    tau: Array
    dense: Any
    event_row: Array  #: events of this call that came before the step


class Events(NamedTuple):
    """Events of one call."""

    t: Array
    guard: Array
    before: Array
    after: Array
    m: Any
    work: Array  #: done by the jump


class Chunk(NamedTuple):
    """What one compiled call adds."""

    steps: Steps | None
    step_count: Array
    events: Events
    event_count: Array


class Report(NamedTuple):
    """Where a run stands, as two arrays.

    Fetching one costs about as much as a solver step, so few are fetched.
    """

    reals: Any
    counts: Any

    @classmethod
    def of(cls, c: Carry, chunk: Chunk) -> "Report":
        reals = jnp.concatenate(
            [jnp.stack([c.t, c.throughput]), c.y, c.stores, c.jump_work, c.least_room]
        )
        counts = (
            c.outcome,
            c.cause,
            c.jumps,
            c.steps,
            c.tried,
            chunk.event_count,
            chunk.step_count,
        )
        return cls(reals, jnp.stack([jnp.asarray(n, jnp.int64) for n in counts]))

    def read(self, stores: int, works: int, guards: int) -> "Standing":
        """On the host."""
        reals, counts = np.asarray(self.reals), np.asarray(self.counts).tolist()
        states = len(reals) - 2 - stores - works - guards
        y, kept, work, room = np.split(reals[2:], np.cumsum([states, stores, works]))
        return Standing(float(reals[0]), float(reals[1]), y, kept, work, room, *counts)


class Standing(NamedTuple):
    """A report, read."""

    t: float
    throughput: float
    y: np.ndarray
    stores: np.ndarray
    jump_work: np.ndarray
    least_room: np.ndarray
    outcome: int
    cause: int
    jumps: int
    steps: int
    tried: int
    event_count: int
    step_count: int
