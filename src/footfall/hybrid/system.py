"""The contract: what flows, what happens at events, what can be seen, and where the energy is.

A system is an immutable pytree of parameters. Everything that changes travels beside it: the
continuous state `x` and the discrete state `m`, which only jumps change. So one system serves any
integrator, any batch and any derivative.
"""

import abc
import math
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from footfall.hybrid.bound import Bound
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.fields import Parametric
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.suggestion import Suggestion
from footfall.hybrid.task import Task
from footfall.hybrid.twin import Twin
from footfall.numerics.namespace import choose
from footfall.numerics.scalar import Scalar
from footfall.scene.labels import Label
from footfall.scene.sketch import Chart, Drawing, Shape


class Rates(NamedTuple):
    """What `flow` returns."""

    x: Any  #: dx/dt, of the same type as x
    #: struct of `port` fields, W, positive when energy enters the stores; None if there are none
    power: Any = None


class Jump(NamedTuple):
    """What `jump` returns."""

    x: Any
    m: Any
    # struct of `port` fields, J, positive when the jump adds energy to the stores; None if it adds
    # and takes none
    work: Any = None


class HybridState(NamedTuple):
    """A complete state: continuous x, which flows, and discrete m, which only jumps change.

    >>> import footfall as ff
    >>> state = ff.load("passive-wheel").start
    >>> state.x.spoke_rate, int(state.m.steps)
    (-3.0, 0)
    """

    x: Any
    m: Any


class Event(NamedTuple):
    """The name and meaning of one guard.

    An `outcome` makes it the end of the run; without one the run jumps and goes on.

    `restarts` names guards that mean something new after this event (a new stance has a new
    previous spoke): like at the start of a run, they count only once they have been positive.

    `period` is for what a clock does (a control tick): the event happens at 0, period, 2 period,
    ... and its guard is the time left. An engine with fixed steps then aligns its steps with it
    instead of searching.

    `contact` says that the guard is the height of a foot above the ground [m], so that steps can be
    kept short near it. `push` says that it is the force with which a foot pushes on the ground [N]:
    below zero the foot would pull, which it cannot."""

    name: str
    doc: str
    outcome: Outcome | None = None
    restarts: tuple[str, ...] = ()
    period: float | None = None  #: s
    contact: bool = False  #: its guard is the height of a foot above the ground, in metres
    unit: str = ""  #: of its guard
    push: bool = False  #: its guard is the force with which a foot pushes on the ground, in newtons


class Travel(NamedTuple):
    """How a system that goes somewhere is measured."""

    distance: str  #: output that holds the distance gone along the ground
    #: Discrete states that count footfalls, one per side that steps on its own.
    step_counters: tuple[str, ...]
    weight: Scalar  #: N, for the cost of transport
    #: Ports whose work the robot pays for: of the flow, of jumps, or of both.
    motor_ports: tuple[str, ...]
    heading: str | None = None  #: output that holds the heading, for robots that turn
    #: Signals that are positive while a foot touches, for robots with several feet.
    contacts: tuple[str, ...] = ()
    means: tuple[str, ...] = ()  #: outputs whose mean a person wants to know
    legs: str = "leg"  #: what the numbers of like feet count
    friction: tuple[str, ...] = ()  #: outputs that hold the coefficient of friction a foot needs
    planned: bool = False  #: a plan with a begin and an end: all of it counts, and nothing settles


def only_while(mode: Any, room: Scalar) -> Scalar:
    """A guard that exists only while `mode` holds: `room` then, +inf else.

    An event that a mode has not cannot happen in it. Where the mode begins, the guard counts as at
    the start of a run: once it has been positive.

    >>> only_while(True, 0.25), only_while(False, 0.25)
    (0.25, inf)
    """
    return choose(mode, room, math.inf)


class AbstractHybridSystem(Parametric):
    """A machine that flows between events, jumps at them, and can be observed.

    All methods are pure and elementwise in their scalars. `k` is static: the index of a guard. A
    guard may be an array over like legs; its event is then (k, leg), and `jump` takes the traced
    leg index as a fifth argument. `Start` is the class of its [start] table (see hybrid/start.py).
    """

    Start: ClassVar[type]
    engines: ClassVar[tuple[str, ...]] = ("event", "step")  #: that can run it, the usual one first
    largest: ClassVar[float] = math.inf  #: number of a state
    #: Keys of a scenario that an operator moves while it runs: what drives it, then what turns it.
    steered_by: ClassVar[tuple[str, ...]] = ()
    #: What a learner may be asked to do with it, the usual task first: see hybrid/task.py.
    tasks: ClassVar[Mapping[str, Task]] = MappingProxyType({})

    def begin(self, start: Any) -> HybridState:
        """The complete state that a [start] table means for this system."""
        return start.state(self)

    @property
    @abc.abstractmethod
    def events(self) -> tuple[Event, ...]:
        """Name and meaning of each guard, in the order of `guards`. Ties go in this order."""

    @abc.abstractmethod
    def flow(self, t: Scalar, x: Any, m: Any) -> Rates:
        """Continuous motion while m is held, and the power through each port."""

    @abc.abstractmethod
    def guards(self, t: Scalar, x: Any, m: Any) -> tuple[Scalar, ...]:
        """Room left before each event, in natural units: positive, then zero at the event.

        +inf where the mode has no such event (`only_while`).
        """

    @abc.abstractmethod
    def jump(self, t: Scalar, x: Any, m: Any, k: int) -> Jump:
        """What event k does. Never called for an event that has an outcome."""

    def together(self, t: Scalar, x: Any, m: Any, k: int) -> dict[int, Scalar]:
        """Other events that `jump` k makes as well where they are due in the same instant.

        index -> whether it does so now.

        For a robot whose two feet may land at once. Derivatives then take each at its own time, by
        `jump_alone`. Events of like legs cannot.
        """
        del t, x, m, k
        return {}

    def jump_alone(self, t: Scalar, x: Any, m: Any, k: int, *leg: Scalar) -> Jump:
        """What event k does without those that happen `together` with it."""
        return self.jump(t, x, m, k, *leg)

    def restarted(self, m: Any) -> Any:
        """The discrete state of a new run that goes on where one with `m` has just had an event.

        Clocks at zero, counts begun anew.

        A return map starts its clock at zero with each step; a system whose guards compare that
        clock with what m counts (a control tick) says here what m is then. Floating-point numbers
        kept are unknowns of a gait. Raises ValueError where no step can repeat another.
        """
        return m

    @property
    def clock_period(self) -> float | None:
        """[s] Time after which all its clocks are where they were; None without a clock.

        A system whose programs run at every n-th tick says here when they meet again.
        """
        clocks = [event.period for event in self.events if event.period is not None]
        if not clocks:
            return None
        periods = [Fraction(float(period)).limit_denominator(10**9) for period in clocks]
        tops, bottoms = zip(*((p.numerator, p.denominator) for p in periods), strict=True)
        return math.lcm(*tops) / math.gcd(*bottoms)

    def mirrored(self, x: Any, m: Any) -> tuple[Any, Any] | None:
        """The same state with left and right exchanged; None for a robot without such a symmetry.

        A walker whose two steps are mirror images has a gait of half a stride: see `mirror` of
        `ff.find_cycle`.
        """
        del x, m

    @abc.abstractmethod
    def stores(self, t: Scalar, x: Any, m: Any) -> Any:
        """Energy kept in each place, as a struct of `store` fields."""

    @abc.abstractmethod
    def outputs(self, t: Scalar, x: Any, m: Any) -> Any:
        """Named signals in the house frame.

        A struct of structs of `signal` fields (one inner struct per body, leg or motor).
        """

    def sketch(self) -> tuple[Shape, ...]:
        """Simple shapes that follow the outputs, for any renderer."""
        return ()

    def close_ups(self) -> dict[str, tuple[Shape, ...]]:
        """Parts of the robot worth a picture of their own: title -> shapes.

        A renderer shows them where their forces are largest.
        """
        return {}

    def charts(self) -> tuple[Chart, ...]:
        """Outputs to plot over time; without any, torques and leg forces are."""
        return ()

    def labels(self) -> tuple[Label, ...]:
        """Words for a labelled schematic: names, lengths and angles of the sketch."""
        return ()

    def drawing(self) -> Drawing:
        """All of these."""
        return Drawing(self.sketch(), self.close_ups(), self.charts(), self.labels())

    @property
    def own_time(self) -> float | None:
        """How long its motion takes, where that is given [s]."""
        return None

    def idle_parts(self) -> dict[str, str]:
        """Slots whose part changes nothing as the robot is now, each with the reason.

        {"contact": "there is no hard ground"}.
        """
        return {}

    def remarks(self, t: Any, columns: Any) -> list[str]:
        """What a person should know of a run beyond its outcome and figures.

        `columns` holds every signal by its flat name.
        """
        del t, columns
        return []

    def suggestions(self, outcome: Outcome) -> tuple[Suggestion, ...]:
        """Commands to try after a run that ended so, for people.

        First what may avoid a bad end, then what else there is to see.
        """
        del outcome
        return ()

    def bounds(self) -> tuple[Bound, ...]:
        """What its outputs may be while its equations mean something, for runs and for batches.

        See hybrid/bound.py.
        """
        return ()

    def doubts(self, t: Any, columns: Any) -> list[Doubt]:
        """Why a run with these columns should not be believed, where no bound can say it.

        Batches do not ask. See hybrid/doubt.py.
        """
        del t, columns
        return []

    def twin(self) -> Twin | None:
        """The same robot as rigid bodies of MuJoCo, where somebody has built it: hybrid/twin.py."""
        return None

    def travel(self) -> Travel | None:
        """How to measure progress, or None for a machine that stays where it is."""
        return None
