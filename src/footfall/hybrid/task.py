"""What a learner is asked to do with a robot: what it moves, what it sees, what counts.

A robot declares its tasks beside its equations, by the names of its parameters and signals; units
and meanings are those declared there. An action is a number of the scenario that is moved while the
robot runs and held for a period, as an operator moves the set point of a live page.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from footfall.numerics.scalar import Scalar


class Action(NamedTuple):
    """A number that the learner moves."""

    key: str  #: of the scenario: "torso.pitch_setpoint"
    low: float
    high: float


class Observation(NamedTuple):
    """A signal that the learner sees: a continuous state or an output, by its flat name.

    What goes beyond the bounds is seen at them.
    """

    signal: str
    low: float
    high: float
    turns: bool = False  #: an angle that goes on for ever: seen within half a turn of zero


class Moment(NamedTuple):
    """A robot at the begin or the end of a period."""

    t: Scalar
    x: Any
    m: Any
    outputs: Any


class Passage(NamedTuple):
    """What happened while an action was held: what reward terms are made of."""

    system: Any  #: with the action in it
    before: Moment
    after: Moment
    work: Scalar  #: J, what the motors did, through the ports that `travel` names
    seconds: Scalar  #: how long it was, shorter where the run ended
    ended: Scalar  #: 1 where it ended by an outcome, else 0


class Reward(NamedTuple):
    """One term of the reward: a weight times a pure function of a passage, whose name it has."""

    term: Callable[[Passage], Scalar]
    weight: float = 1.0

    @property
    def name(self) -> str:
        return getattr(self.term, "__name__", type(self.term).__name__)


class Task(NamedTuple):
    """Something to learn."""

    about: str
    actions: tuple[Action, ...]
    observations: tuple[Observation, ...]
    rewards: tuple[Reward, ...]
    period: float  #: s, for which an action is held
    step: float  #: s, of the integrator: a whole number of them makes a period
    length: float  #: s, after which an episode is cut off
    #: Of the scenario: parts and values with which this task makes sense.
    settings: Mapping[str, Any] = MappingProxyType({})
    #: What domain randomisation moves where nobody says what: a share either way of each number.
    spread: Mapping[str, float] = MappingProxyType({})

    def __reduce__(self) -> Any:
        """As one with plain dictionaries: a task goes to other processes."""
        said = self._asdict() | {"settings": dict(self.settings), "spread": dict(self.spread)}
        return Task, tuple(said.values())
