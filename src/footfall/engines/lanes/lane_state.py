"""What the step engine carries for each robot of a batch: structs without behaviour.

Every leaf has one value per lane.
"""

from typing import Any, NamedTuple

from jax import Array

#: As many jumps as a lane can count.
MOST_JUMPS = 2**31 - 2


class Mark(NamedTuple):
    """Where a robot stood at a footfall: metrics are taken from footfall to footfall."""

    t: Array
    distance: Array
    work: Array  #: of the motors, through their ports and at jumps
    steps: Array  #: of all sides; -1: no footfall yet
    heading: Array | None = None  #: of a robot that has one
    counts: tuple[Array, ...] = ()  #: footfalls of each side, where there are two or more
    totals: tuple[Array, ...] = ()  #: integrals of tracked outputs and of their squares


class Extremes(NamedTuple):
    """Least and largest value of a tracked output at the ends of steps."""

    low: Array
    high: Array


class Watched(NamedTuple):
    """Of an output with a bound: see lane_bounds.py."""

    # a peak or least value since the last count; of a mean, the value at the end of the last step
    now: Array
    # a peak or least value of the whole steps before; of a mean, the integral since the first count
    before: Array


class Watch(NamedTuple):
    """What is kept for the robot's bounds."""

    since: list[Array]  #: when each counter first counted; infinite before
    kept: list[Watched]  #: one for each bound


class Search(NamedTuple):
    """Newton in a bracket for the time of an event, from the start of the step it was seen in."""

    low: Array
    high: Array  #: 0: nothing is searched
    target: Array  #: where to look next
    tries: Array
    hit: Array  #: a guard was seen at or below zero
    which: Array  #: ... namely this


class Progress(NamedTuple):
    """Where a lane stood when its progress was last looked at."""

    tried: Array
    t: Array


class Own(NamedTuple):
    """What a lane keeps that chooses its steps by tolerances."""

    t: Array
    step: Array  #: next
    cap: Array  #: longest next one, once
    error: Array  #: scaled, of the last good step
    slope_x: list[Array]  #: of the states that flow
    slope_q: list[Array]
    armed: list[Array]
    rising: list[Array]  #: rate of each unarmed guard that was rising at the last event, else 0
    ticks: list[Array]  #: of each clock so far
    search: Search
    at: Array  #: event that the lane has come to and that has not happened yet, or -1
    moment: Array  #: of a lane that is watched: what it has just done
    tau: Array  #: length of the last step kept
    crowded: Array  #: events in a row that follow each other at once
    last_event: Array
    begun: Array  #: there has been an event that is no tick
    steps: Array  #: kept
    tried: Array
    progress: Progress


class Lane(NamedTuple):
    """A robot in a batch, between two steps: all that must be kept to go on."""

    x: list[Array]
    m: list[Array]
    #: Integrals: work through each port, then value and square of each tracked output.
    q: list[Array]
    room: list[Array]  #: guards, armed exactly when positive
    least: list[Array]  #: smallest room since the first jump, of the guards worth keeping it for
    jump_work: list[Array]
    stored: list[Array]  #: energy in each store
    through: Array  #: throughput so far, as record/ledger.py defines it
    extremes: list[Extremes]
    watch: Watch | None
    last: Mark | None  #: the last footfall
    outcome: Array
    jumps: Array  #: events located; ticks of a clock are not counted
    ended: Array  #: time at which it ended
    cap: Array | None  #: longest attempt for now, for methods that start small after a jump
    own: Own | None = None  #: of a lane whose steps adapt


class Moving(NamedTuple):
    """A lane on its way through a step: what follows from it, and how far the step has come."""

    lane: Lane
    slope_x: list[Array]  #: rates of the states that flow, at lane.x
    slope_q: list[Array]
    room_rate: list[Array]
    pace: Array  #: the full step while running, 0 once the lane has ended
    left: Array  #: of the current step
    target: Array  #: length of the next attempt
    at: Array  #: event expected at the end of the attempt, or -1
    passes: Array  #: events in the current step


class Limits(NamedTuple):
    """Numbers shared by lanes whose steps adapt (traced)."""

    t_end: Any
    rtol: Any
    atol: Any
    max_step: Any
    max_jumps: Any
    near_room: Any  #: while a contact's guard is below this ...
    near_step: Any  #: ... steps are no longer than this


class Clock(NamedTuple):
    """Numbers shared by all lanes (traced: a new step or limit compiles nothing)."""

    step: Any  #: s
    max_jumps: Any
    tick_steps: tuple[Any, ...]  #: steps between ticks, for each event with a period
