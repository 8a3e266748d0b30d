"""A run by tolerances through a kernel: the record of the event engine at the speed of C.

The steps and events are those of `lanes/adaptive.py`; rows between them are taken from the
interpolant of each step, and the record is made as for the event engine in JAX, by the same
recorder. That engine stays the reference, and the one that is differentiated.
"""

import math
from typing import NamedTuple

import jax
import numpy as np

from footfall.engines.events.event_engine import EventEngine
from footfall.engines.events.loop_state import Standing
from footfall.engines.events.panels import Panels
from footfall.engines.events.recorder import Observed, Piece
from footfall.engines.lanes.adaptive import ARRIVED, JUMPED, STEPPED
from footfall.engines.lanes.embedded_pair import Pair, pair_of, weights
from footfall.engines.lanes.lane_state import MOST_JUMPS, Lane, Limits
from footfall.engines.lanes.watched_lane import WatchedLane
from footfall.engines.span import Span
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.numerics import panel
from footfall.record.columns import Columns

#: Steps and events per call into the kernel, at most: enough that calls cost nothing, few enough
#: that progress and Ctrl-C come soon. Of a run with samples, as many as make about so many rows.
TURNS_PER_CALL, ROWS_TOGETHER = 1024, 1024


def pair_for(plan: Span) -> Pair | None:
    """The pair of formulas that a kernel would run this plan by, or None where none can."""
    engine = plan.engine
    if not isinstance(engine, EventEngine) or engine.step is not None:
        return None
    return pair_of(engine.solver)


class KernelRun:
    """A run on its way. Raises CannotFuse or NoCompiler where there can be no kernel."""

    def __init__(
        self,
        system: AbstractHybridSystem,
        state: HybridState,
        plan: Span,
        columns: Columns,
        rate: float | None,
    ):
        pair, engine = pair_for(plan), plan.engine
        assert pair is not None and isinstance(engine, EventEngine)
        self.columns, self.pair, self.rate = columns, pair, rate
        self.turns = TURNS_PER_CALL if rate is None else TURNS_PER_CALL // 8
        near = (
            (-np.inf, np.inf) if engine.near_step is None else (engine.near_room, engine.near_step)
        )
        limits = Limits(
            *map(np.float64, (plan.duration, engine.rtol, engine.atol, engine.max_step)),
            np.int32(min(plan.max_jumps, MOST_JUMPS)),
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
        rows = self.robot.go(self.row, self.turns)
        found = _Rows(self, rows)
        if self.rate is not None:
            made = (found.t[-1] - found.t[0]) * self.rate + len(rows)
            self.turns = int(np.clip(len(rows) * ROWS_TOGETHER / made, 8, TURNS_PER_CALL))
        return rows[-1:].copy(), found.piece()

    def state(self, row: np.ndarray) -> HybridState:
        """Where the robot is, in a row."""
        lanes, kind = self.robot.lanes(row), self.robot.kind
        x, m = ([leaf[-1, ..., 0] for leaf in leaves] for leaves in (lanes.x, lanes.m))
        return HybridState(jax.tree.unflatten(kind.x, x), jax.tree.unflatten(kind.m, m))

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
        width = [math.prod(v.shape[1:]) for v in self.lanes.x]
        flows = np.repeat([not held for held in run.robot.facts.held], width)
        found = run.robot.slopes(rows, ends)
        slopes = found
        if not flows.all():
            slopes = np.zeros((*found.shape[:2], len(flows) + run.ports))
            slopes[:, :, np.flatnonzero(np.append(flows, [True] * run.ports))] = found
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
        steps = self.steps
        which = np.maximum(np.searchsorted(steps.start, times, side="right") - 1, 0)
        given = np.concatenate([self.arrived, self.jumped, [len(self.t) - 1, 0]])
        y, t, row, events = self.y[given], self.t[given], given, np.zeros(len(times), int)
        if len(times) and len(steps.start):
            length = np.where(steps.tau > 0, steps.tau, 1.0)[which]
            place = np.clip((times - steps.start[which]) / length, 0.0, 1.0)
            share = steps.tau[which, None] * weights(self.run.pair, place)
            moved = np.matmul(share[:, None], steps.slopes[which])[:, 0]
            y = np.concatenate([y, self.y[steps.row[which]] + moved])
            row, events = np.concatenate([row, steps.row[which]]), steps.events[which]
        elif len(times):
            y, row = (np.concatenate([v, np.repeat(v[-1:], len(times), 0)]) for v in (y, row))
        values, told = self._values(np.concatenate([t, times]), y, row)
        count, first = len(self.arrived), 2 * len(self.arrived) + 2
        return Observed(
            values[first:],
            values[:count],
            values[count : 2 * count],
            values[2 * count],
            values[2 * count + 1],
            events,
            self._panels() if inside else None,
            told[first:],
        )

    def _panels(self) -> Panels | None:
        """What is looked at inside of steps, at the nodes of each."""
        steps, observe = self.steps, self.run.robot.observe
        if observe.told is None or not len(steps.start):
            return None
        places = weights(self.run.pair, panel.NODES)
        y = self.y[steps.row, None] + steps.tau[:, None, None] * np.matmul(places, steps.slopes)
        t = (steps.start[:, None] + steps.tau[:, None] * panel.NODES).ravel()
        x, m = self._leaves(y.reshape(len(t), -1), np.repeat(steps.row, panel.COUNT))
        seen = observe.inside(self.run.robot.system, t, x, m)
        return Panels(
            steps.start, steps.tau, steps.events, seen.reshape(len(steps.start), panel.COUNT, -1)
        )

    def _leaves(self, y: np.ndarray, row: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """States and discrete states at moments, which are their last axis."""
        x, begin = [], 0
        for leaf in self.lanes.x:
            size = math.prod(leaf.shape[1:])
            part = y[:, begin : begin + size]
            x.append(np.ascontiguousarray(part.T if leaf.ndim > 2 else part[:, 0]))
            begin += size
        m = [
            np.ascontiguousarray(leaf[row, :, 0].T if leaf.ndim > 2 else leaf[row, 0])
            for leaf in self.lanes.m
        ]
        return x, m

    def _values(
        self, t: np.ndarray, y: np.ndarray, row: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Every column at moments, and the outputs that are looked at inside of steps."""
        robot, (x, m) = self.run.robot, self._leaves(y, row)
        seen = robot.observe(robot.system, t, x, m)
        discrete = [np.atleast_2d(leaf.astype(float)).T for leaf in m]
        states = y.shape[1] - self.run.ports
        whole = np.concatenate([y[:, :states], *discrete, seen, y[:, states:]], axis=1)
        return whole, seen[:, list(robot.observe.places)]
