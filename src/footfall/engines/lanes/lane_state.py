"""What the step engine carries for each robot of a batch: structs without behaviour.

Every leaf has one value per lane.
"""

from typing import Any, NamedTuple

from jax import Array


class Mark(NamedTuple):
    """Where a robot stood at a footfall: metrics are taken from footfall to footfall."""

    t: Array
    distance: Array
    work: Array  #: of the motors, through their ports and at jumps
    steps: Array  #: -1: no footfall yet


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


class Clock(NamedTuple):
    """Numbers shared by all lanes (traced: a new step or limit compiles nothing)."""

    step: Any  #: s
    max_jumps: Any
    tick_steps: tuple[Any, ...]  #: steps between ticks, for each event with a period
