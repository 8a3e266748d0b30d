"""A run by tolerances through a kernel: the record of the event engine at the speed of C.

The steps and events are those of `lanes/adaptive.py`; rows between them are taken from the
interpolant of each step, and the record is made as for the event engine in JAX, by the same
recorder. That engine stays the reference, and the one that is differentiated.
"""

from typing import NamedTuple

import jax
import numpy as np

from footfall.engines.events.event_engine import EventEngine
from footfall.engines.events.loop_state import Standing
from footfall.engines.events.panels import Panels
from footfall.engines.events.recorder import Observed, Piece
from footfall.engines.lanes.adaptive import ARRIVED, JUMPED, STEPPED
from footfall.engines.lanes.embedded_pair import Pair, pair_of, weights
from footfall.engines.lanes.lane_state import Lane, Limits
from footfall.engines.lanes.watched_lane import WatchedLane
from footfall.engines.span import Span
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.numerics import panel
from footfall.record.columns import Columns

#: Steps and events per call into the kernel: enough that calls cost nothing, few enough that
#: progress and Ctrl-C come soon.
ROWS_PER_CALL = 1024


def pair_for(plan: Span) -> Pair | None:
    """The pair of formulas that a kernel would run this plan by, or None where none can."""
    engine = plan.engine
    if not isinstance(engine, EventEngine) or engine.step is not None:
        return None
    return pair_of(engine.solver)


class KernelRun:
    """A run on its way. Raises CannotFuse or NoCompiler where there can be no kernel."""

    def __init__(
        self, system: AbstractHybridSystem, state: HybridState, plan: Span, columns: Columns
    ):
        pair, engine = pair_for(plan), plan.engine
        assert pair is not None and isinstance(engine, EventEngine)
        self.columns, self.pair = columns, pair
        near = (
            (-np.inf, np.inf) if engine.near_step is None else (engine.near_room, engine.near_step)
        )
        limits = Limits(
            *map(np.float64, (plan.duration, engine.rtol, engine.atol, engine.max_step)),
            np.int32(min(plan.max_jumps, 2**31 - 2)),
            *map(np.float64, near),
        )
        self.robot = WatchedLane(system, state, pair, limits)
        self.row = self.robot.first_row()
        facts = self.robot.facts
        flat = {place: n for n, place in enumerate(columns.guards)}
        every = [*facts.searched, *((k, None) for k in facts.clocks)]
        self.guards = np.array([flat[place] for place in every], int)
        self.searched, self.ports = len(facts.searched), len(columns.ports)

    def standing(self) -> Standing:
        """At the start."""
        return self._standing(self.robot.lanes(self.row), None, 0, 0)

    def advance(self) -> tuple[np.ndarray, Piece]:
        """Some steps and events more: the row to go on from, and what they add."""
        rows = np.concatenate([self.row, self.robot.go(ROWS_PER_CALL)])
        return rows[-1:].copy(), _Rows(self, rows).piece()

    def keep(self, row: np.ndarray) -> None:
        """Go on from here."""
        self.row = row

    def _standing(self, lanes: Lane, cause: int | None, events: int, steps: int) -> Standing:
        own = lanes.own
        assert own is not None
        last = jax.tree.map(lambda leaf: leaf[-1], lanes)
        least = np.zeros(len(self.columns.guards))
        least[self.guards[: self.searched]] = [float(v[0]) for v in last.least]
        return Standing(
            t=float(own.t[-1, 0]),
            throughput=float(last.through[0]),
            y=np.concatenate(
                [np.ravel(v) for v in [*last.x, *last.q[: self.ports]]] or [np.zeros(0)]
            ),
            stores=np.array([float(v[0]) for v in last.stored]),
            jump_work=np.array([float(v[0]) for v in last.jump_work]),
            least_room=least,
            outcome=int(last.outcome[0]),
            cause=-1 if cause is None else cause,
            jumps=int(last.jumps[0]) + sum(int(n[0]) for n in last.own.ticks),
            steps=int(last.own.steps[0]),
            tried=int(last.own.tried[0]),
            event_count=events,
            step_count=steps,
        )


class _Steps(NamedTuple):
    """Steps of a piece: where each begins among its rows, and of what its interpolant is made."""

    row: np.ndarray  #: at which it begins
    start: np.ndarray
    tau: np.ndarray
    events: np.ndarray  #: of this piece before it
    slopes: np.ndarray  #: (steps, stages, states and ports)


class _Rows:
    """What a kernel left of a piece of a run, row by row; the first row is the end of the one
    before.
    """

    def __init__(self, run: KernelRun, rows: np.ndarray):
        self.run, self.lanes = run, run.robot.lanes(rows)
        own = self.lanes.own
        assert own is not None
        self.t, moment = own.t[:, 0], own.moment[:, 0].copy()
        moment[0] = 0  # what came before is told already
        self.arrived = np.flatnonzero(moment == ARRIVED)
        self.jumped = np.flatnonzero(moment == JUMPED)
        # A kept step ends at a row; at an event that fired where the robot was there is none.
        ends = np.flatnonzero((moment == STEPPED) | ((moment == ARRIVED) & (own.tau[:, 0] > 0)))
        stages = run.robot.stages(rows[ends])
        flowing = [i for i, held in enumerate(run.robot.facts.held) if not held]
        n = len(self.lanes.x)
        width = [int(np.prod(v.shape[1:])) for v in self.lanes.x]
        slopes = np.zeros((len(ends), len(stages), sum(width) + run.ports))
        first = np.cumsum([0, *width])
        for s, slope in enumerate(stages):
            for i, value in zip(flowing, slope.x, strict=True):
                slopes[:, s, first[i] : first[i + 1]] = value.reshape(len(ends), -1)
            for i, value in enumerate(slope.q):
                slopes[:, s, first[n] + i] = value[:, 0]
        self.steps = _Steps(
            ends - 1,
            self.t[ends - 1],
            own.tau[ends, 0],
            np.searchsorted(self.jumped, ends),
            slopes,
        )
        self.y = np.concatenate(
            [v.reshape(len(rows), -1) for v in [*self.lanes.x, *self.lanes.q[: run.ports]]]
            or [np.zeros((len(rows), 0))],
            axis=1,
        )

    def piece(self) -> Piece:
        run, lanes = self.run, self.lanes
        own = lanes.own
        assert own is not None
        at = own.at[self.arrived, 0]
        guard = run.guards[at]
        work = np.stack([v[:, 0] for v in lanes.jump_work], axis=1) if lanes.jump_work else None
        done = np.zeros((len(at), 0)) if work is None else work[self.jumped] - work[self.jumped - 1]
        outcome = int(lanes.outcome[-1, 0])
        by_event = outcome and len(self.jumped) and self.jumped[-1] == len(self.t) - 1
        cause = int(guard[-1]) if by_event and outcome != Outcome.reached_end else None
        standing = run._standing(lanes, cause, len(at), len(self.steps.start))
        return Piece(standing, self.t[self.arrived], guard, done, self.look)

    def look(self, times: np.ndarray, inside: bool) -> Observed:
        """Rows at times, and on both sides of the events of this piece."""
        steps, run = self.steps, self.run
        nodes = np.zeros((0, panel.COUNT))
        if inside and run.robot.observe.told and len(steps.start):
            nodes = steps.start[:, None] + steps.tau[:, None] * panel.NODES
        which = np.maximum(np.searchsorted(steps.start, times, side="right") - 1, 0)
        place = np.zeros(len(times))
        if len(steps.start):
            length = np.where(steps.tau > 0, steps.tau, 1.0)[which]
            place = np.clip((times - steps.start[which]) / length, 0.0, 1.0)
        of_node = np.repeat(np.arange(len(nodes)), panel.COUNT)
        y = self._inside(
            np.concatenate([which[: len(times)], of_node]),
            np.concatenate([place, np.tile(panel.NODES, len(nodes))]),
        )
        given = np.concatenate([self.arrived, self.jumped, [len(self.t) - 1, 0]])
        row_of = steps.row if len(steps.row) else np.zeros(1, int)
        from_row = np.concatenate([given, row_of[which[: len(times)]], row_of[of_node]]).astype(int)
        values, told = self._values(
            np.concatenate([self.t[given], times, nodes.ravel()]),
            np.concatenate([self.y[given], y]),
            from_row,
        )
        count, first = len(self.arrived), 2 * len(self.arrived) + 2
        samples = slice(first, first + len(times))
        panels = None
        if len(nodes):
            seen = told[first + len(times) :].reshape(len(nodes), panel.COUNT, -1)
            panels = Panels(steps.start, steps.tau, steps.events, seen)
        events = steps.events if len(steps.events) else np.zeros(1, int)
        return Observed(
            values[samples],
            values[:count],
            values[count : 2 * count],
            values[2 * count],
            values[2 * count + 1],
            events[which[: len(times)]],
            panels,
            told[samples],
        )

    def _inside(self, step: np.ndarray, place: np.ndarray) -> np.ndarray:
        """States and works inside of steps, on the interpolant of the pair."""
        if not len(step):
            return np.zeros((0, self.y.shape[1]))
        steps = self.steps
        if not len(steps.start):
            return np.repeat(self.y[:1], len(step), axis=0)
        share = steps.tau[step, None] * weights(self.run.pair, place)
        moved = np.einsum("rs,rsn->rn", share, steps.slopes[step])
        return self.y[steps.row[step]] + moved

    def _values(
        self, t: np.ndarray, y: np.ndarray, row: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Every column at moments, and the outputs that are looked at inside of steps."""
        run, lanes = self.run, self.lanes
        x, begin = [], 0
        for leaf in lanes.x:
            size = int(np.prod(leaf.shape[1:]))
            part = y[:, begin : begin + size]
            x.append(np.ascontiguousarray(part.T if leaf.ndim > 2 else part[:, 0]))
            begin += size
        m = [
            np.ascontiguousarray(leaf[row, :, 0].T if leaf.ndim > 2 else leaf[row, 0])
            for leaf in lanes.m
        ]
        seen = run.robot.observe(run.robot.system, t, x, m)
        discrete = [np.atleast_2d(leaf.astype(float)).T for leaf in m]
        states = y[:, : y.shape[1] - run.ports]
        whole = np.concatenate([states, *discrete, seen, y[:, states.shape[1] :]], axis=1)
        return whole, seen[:, list(run.robot.observe.told)]
