"""A scout: where a system gets to in its first seconds, so that claims can be checked in every mode and at every event.

Coarse on purpose. What is claimed must hold at any state a run can come to, so an error of the steps does no harm; and all that is
compiled is one flow and the jumps, which takes a tenth of what compiling an engine does.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from footfall.hybrid.flatten import Layout
from footfall.hybrid.system import AbstractHybridSystem, HybridState

#: s; how far it goes at most, its longest step, and one so short that the flow must be blowing up.
SPAN, LONGEST, SHORTEST = 10.0, 0.02, 1e-12
#: Steps and events at most: a second or two, for a stiff robot or one with a fast clock too.
MOST_STEPS, MOST_EVENTS = 60_000, 1200
#: Of the error of a step, relative and absolute.
RTOL, ATOL = 1e-4, 1e-7
#: States kept just before an event of one leg, and on the way after it.
KEPT, KEPT_AFTER = 3, 10
#: So many events without any time between them are a Zeno point.
CROWDED = 64
#: A guard that has just fired counts again above this; nearer to zero is rounding.
ARMED = 1e-9

#: Bogacki and Shampine's method of order 3, and its error: the last stage is the next step's first.
_STAGES = np.array([[0.0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.75, 0, 0], [2 / 9, 1 / 3, 4 / 9, 0]])
_TIMES = _STAGES.sum(axis=1)
_ERROR = np.array([-5 / 72, 1 / 12, 1 / 9, -1 / 8])


class Visited(NamedTuple):
    """A state that a run came to."""

    t: Any
    x: Any
    m: Any
    event: int | None  #: index of the event that happens here, next; None on the way
    leg: int
    after: str  #: the event before it, for people

    @property
    def where(self) -> str:
        return f"t = {float(self.t):.4g} s, {self.after}"


class Journey(NamedTuple):
    """What the scout saw."""

    visited: list[Visited]
    t: float  #: s, how far it came

    def at(self, event: int) -> list[Visited]:
        """States just before this event."""
        return [v for v in self.visited if v.event == event]


class _Now(NamedTuple):
    """Where the scout is; x and all guards as vectors."""

    t: Any
    y: Any
    slope: Any
    guards: Any
    armed: Any
    step: Any  #: the next
    left: Any  #: steps it may try
    crossing: Any  #: the next step has an event inside


class Moves:
    """A system's flow with its guards, and its jumps with the energies they move: each compiled once, for the scout and for its master."""

    def __init__(self, system: AbstractHybridSystem, state: HybridState):
        self.system, self.layout = system, Layout.of(state.x)
        shapes = jax.eval_shape(lambda: system.guards(jnp.zeros(()), *state))
        #: Of each flat guard: its event, and its leg.
        self.flat = [(k, leg) for k, g in enumerate(shapes) for leg in range(int(np.prod(g.shape)))]
        self.legged = [bool(g.shape) for g in shapes]
        self.clock = np.array([system.events[k].period is not None for k, _ in self.flat], bool)
        self.march, self.rates = jax.jit(self._march), jax.jit(self._rates)
        self._jumps: dict[int, Callable[..., Any]] = {}

    def jump(self, k: int) -> Callable[[Any, Any, Any, Any], Any]:
        """(t, x, m, leg) -> what event k does, and the stores before and after it."""
        if k not in self._jumps:

            def at_the_event(t: Any, x: Any, m: Any, leg: Any) -> Any:
                jump = self.system.jump(t, x, m, k, *((leg,) if self.legged[k] else ()))
                return jump, self.system.stores(t, x, m), self.system.stores(t, jump.x, jump.m)

            self._jumps[k] = jax.jit(at_the_event)
        return self._jumps[k]

    def _rates(self, t: Any, flat: Any, m: Any) -> Any:
        """dx/dt and all guards, as vectors."""
        x = self.layout.unpack(flat)
        guards = [jnp.ravel(jnp.asarray(g, float)) for g in self.system.guards(t, x, m)]
        return self.layout.pack(self.system.flow(t, x, m).x), jnp.concatenate([jnp.zeros(0), *guards])

    def _march(self, now: _Now, m: Any, force: Any) -> _Now:
        """Steps until there is an event, in the next one or now, or none is left. One that is forced is taken as it is."""

        def body(now: _Now) -> _Now:
            until = jnp.min(jnp.where(self.clock & (now.guards > 0), now.guards, jnp.inf), initial=jnp.inf)
            h = jnp.where(force, now.step, jnp.minimum(now.step, until))

            def stage(i: Any, carry: Any) -> Any:
                slopes, _, _ = carry
                y = now.y + h * (jnp.asarray(_STAGES)[i] @ slopes)
                slope, guards = self._rates(now.t + jnp.asarray(_TIMES)[i] * h, y, m)
                return slopes.at[i].set(slope), y, guards

            slopes = jnp.zeros((len(_TIMES), now.y.size)).at[0].set(now.slope)
            slopes, y, guards = lax.fori_loop(1, len(_TIMES), stage, (slopes, now.y, now.guards))
            guards = jnp.where(self.clock & (jnp.abs(guards) < 1e-12), 0.0, guards)  # as near as a clock can be met
            off = jnp.abs(h * (jnp.asarray(_ERROR) @ slopes)) / (ATOL + RTOL * jnp.abs(y))
            error = jnp.max(off, initial=1e-9)
            error = jnp.where(jnp.all(jnp.isfinite(guards)) & jnp.all(jnp.isfinite(slopes)), error, 1e9)
            good = (error <= 1.0) | force
            crossing = good & jnp.any(now.armed & (guards <= 0) & ~(self.clock & (guards == 0))) & ~force
            go = good & ~crossing
            factor = jnp.clip(0.9 * error ** (-1 / 3), 0.2, 3.0)
            return _Now(
                t=jnp.where(go, now.t + h, now.t),
                y=jnp.where(go, y, now.y),
                slope=jnp.where(go, slopes[-1], now.slope),
                guards=jnp.where(go, guards, now.guards),
                armed=now.armed | (go & (guards > jnp.where(now.armed, 0.0, ARMED))),
                step=jnp.where(crossing, h, jnp.where(go & (h < now.step), now.step, jnp.minimum(h * factor, LONGEST))),
                left=now.left - 1,
                crossing=crossing,
            )

        def more(now: _Now) -> Any:
            due = jnp.any(now.armed & (now.guards <= 0)) & ~force
            return (now.left > 0) & ~now.crossing & ~due & (now.t < SPAN) & (now.step > SHORTEST)

        return lax.while_loop(more, body, now)


def scout(moves: Moves, state: HybridState) -> Journey:
    """From `state` through SPAN, as far as MOST_STEPS and MOST_EVENTS reach: every event is located and jumped."""
    return _Scout(moves, state).go()


class _Scout:
    def __init__(self, moves: Moves, state: HybridState):
        self.moves, self.m, self.events = moves, state.m, moves.system.events
        y = np.asarray(moves.layout.pack(state.x), float)
        slope, guards = moves.rates(0.0, y, self.m)
        ahead = moves.rates(1e-9, y + 1e-9 * np.asarray(slope), self.m)[1]
        armed = (guards > 0) | ((guards == 0) & (ahead < 0))  # a clock strikes at once
        self.now = _Now(0.0, y, slope, guards, armed, 1e-4, 0, False)
        self.visited: list[Visited] = []
        self.seen: Counter[Any] = Counter()
        self.last: tuple[int, int] | None = None

    def go(self) -> Journey:
        left, events, crowded, chunk = MOST_STEPS, 0, 0, 1
        while left > 0 and events < MOST_EVENTS and crowded < CROWDED and float(self.now.t) < SPAN and not self.enough:
            if bool(np.any(self.now.armed & (self.now.guards <= 0))):
                events, crowded, chunk = events + 1, crowded + 1, 1
                if not self.happen():
                    break
                continue
            before = self.now
            found = self.march(min(chunk, left))
            left -= min(chunk, left) - int(found.left)
            if float(found.t) > float(before.t):
                crowded = 0
            elif not found.crossing and float(found.step) <= SHORTEST:
                break  # it blows up
            self.now = found
            if found.crossing:
                self.now = self.until_event()
                crowded = 0
            self.keep(None)
            chunk *= 2  # ever rarer: a mode changes while it lasts
        return Journey(self.visited, float(self.now.t))

    @property
    def enough(self) -> bool:
        """Every jump was seen often enough. What does not jump is looked at all the way."""
        jumps = [(k, leg) for k, leg in self.moves.flat if self.events[k].outcome is None]
        return bool(jumps) and all(self.seen["before", jump] >= KEPT for jump in jumps)

    def march(self, steps: int, step: Any = None, force: bool = False) -> _Now:
        now = self.now._replace(left=steps, crossing=False, step=self.now.step if step is None else step)
        return self.moves.march(now, self.m, force)

    def until_event(self) -> _Now:
        """The shortest step with an armed guard at or below zero: secants kept inside a bracket that is halved when they dawdle."""
        low, at_low, high, dawdles = 0.0, np.asarray(self.now.guards), float(self.now.step), 0
        armed = np.asarray(self.now.armed)
        there = self.march(1, high, force=True)
        for _ in range(80):
            falls = armed & np.asarray(there.guards <= 0)
            with np.errstate(all="ignore"):
                share = np.where(falls, at_low / (at_low - np.asarray(there.guards)), np.inf)
            guess = low + (high - low) * float(np.clip(np.nanmin(share), 0.0, 1.0))
            if dawdles > 2 or not low < guess < high:
                guess, dawdles = 0.5 * (low + high), 0
            if not low < guess < high or high - low < 1e-15 * max(1.0, float(self.now.t)):
                break
            found, width = self.march(1, guess, force=True), high - low
            if np.any(armed & np.asarray(found.guards <= 0)):
                high, there = guess, found
            else:
                low, at_low = guess, np.asarray(found.guards)
            dawdles = dawdles + 1 if high - low > 0.5 * width else 0
        return there._replace(step=self.now.step, crossing=False)

    def happen(self) -> bool:
        """The first event that is due. False where it is the end."""
        moves, now = self.moves, self.now
        k, leg = moves.flat[int(np.argmax(now.armed & (now.guards <= 0)))]
        self.keep((k, leg))
        if self.events[k].outcome is not None:
            return False
        jump, _, _ = moves.jump(k)(now.t, moves.layout.unpack(jnp.asarray(now.y)), self.m, jnp.int32(leg))
        y, self.m = np.asarray(moves.layout.pack(jump.x), float), jump.m
        slope, guards = moves.rates(now.t, y, self.m)
        renewed = [
            (j, other) == (k, leg)
            or (self.events[j].name in self.events[k].restarts and (moves.legged[j] != moves.legged[k] or other == leg))
            for j, other in moves.flat
        ]
        armed = (np.asarray(now.armed) & ~np.array(renewed)) | np.asarray(guards > ARMED)
        self.now = now._replace(y=y, slope=slope, guards=guards, armed=armed)
        self.last = k, leg
        return True

    def keep(self, event: tuple[int, int] | None) -> None:
        """The state of now, if there are not enough of its kind: those on the way are told apart by what happened last."""
        kind = ("before", event) if event else ("after", self.last)
        self.seen[kind] += 1
        if self.seen[kind] <= (KEPT if event else KEPT_AFTER):
            k, leg = event or (None, 0)
            after = "from the start on" if self.last is None else f'after "{self.events[self.last[0]].name}"'
            x = self.moves.layout.unpack(jnp.asarray(self.now.y))
            self.visited.append(Visited(jnp.asarray(self.now.t), x, self.m, k, leg, after))
