"""What a planar linkage is declared with: rods between joints, masses, landings, locks, drives.

Angles are from the vertical, leaning forward, as house pitch is. A rod has a lower and an upper
joint: at angle zero the one is below the other.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.parts.terrain.planes import Flat
from footfall.numerics.scalar import Scalar


class Rod(NamedTuple):
    """A straight link between two joints, which are hinges where other rods end there too."""

    name: str  #: of its angle in the state; its rate is NAME_rate
    lower: str
    upper: str
    length: Scalar | None  #: m; None: it slides, and NAME_length and NAME_speed are states
    mass: Scalar = 0.0  #: kg
    centre: Scalar | None = None  #: m, of its mass, from the lower joint; None: half its length
    inertia: Scalar = 0.0  #: kg m^2, about its centre
    welded: str | None = None  #: a rod that it turns with; it then has no angle of its own
    turned: Scalar = 0.0  #: rad, how far it is turned from that rod
    color: str = "leg"

    @property
    def slides(self) -> bool:
        return self.length is None


class Mass(NamedTuple):
    """A point mass at a joint; with an inertia, a body that turns with a rod."""

    joint: str
    mass: Scalar  #: kg
    inertia: Scalar = 0.0  #: kg m^2
    turns_with: str | None = None


class Landing(NamedTuple):
    """An event: a joint comes down to the ground and takes over from the one that stands there.

    The impact is plastic: the new foot sticks, the old one leaves without an impulse. The rods of
    each pair in `swaps` exchange their names, so that the same linkage stands again.
    """

    name: str  #: of the event, and of what it takes in the ledger
    joint: str
    swaps: tuple[tuple[str, str], ...]
    #: m; it may land once it has been so far ahead of the standing foot: straight legs swing
    #: through the ground before (an event JOINT_passes says when). None: wherever it comes down.
    ahead: Scalar | None = None
    locked: tuple[str, ...] = ()  #: locks without which it does not land


class Lock(NamedTuple):
    """An event: two rods come in line and stay so (a knee with its kneecap), until a landing."""

    name: str  #: of the event, and of what it takes in the ledger
    bent: str  #: the rod that leans further forward while the lock is open ...
    against: str  #: ... than this one
    opens: str  #: the landing that opens it again


class Spring(NamedTuple):
    """A spring between two rods [N m/rad], or along one that slides [N/m]."""

    name: str
    on: str
    against: str | None
    stiffness: Scalar
    rest: Scalar = 0.0  #: angle of `on` less that of `against`, or length, without force


class Damper(NamedTuple):
    """A damper between two rods [N m s/rad], or along one that slides [N s/m]."""

    name: str
    on: str
    against: str | None
    damping: Scalar


class Motor(NamedTuple):
    """A torque on a rod, and its opposite on another; `torques` of the robot says how much."""

    name: str
    on: str
    against: str | None  #: None: along a rod that slides, a force


class Linkage(NamedTuple):
    """Rods and masses that stand on the ground with one joint."""

    rods: tuple[Rod, ...]
    stands_on: str  #: the joint that is on the ground
    body: str  #: the joint whose way is the robot's
    masses: tuple[Mass, ...] = ()
    landings: tuple[Landing, ...] = ()
    locks: tuple[Lock, ...] = ()
    springs: tuple[Spring, ...] = ()
    dampers: tuple[Damper, ...] = ()
    motors: tuple[Motor, ...] = ()
    gravity: Scalar = 9.81  #: m/s^2
    ground: AbstractTerrain = Flat()

    @property
    def joints(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(end for rod in self.rods for end in (rod.lower, rod.upper)))

    @property
    def turning(self) -> tuple[int, ...]:
        """Rods with an angle of their own."""
        return tuple(r for r, rod in enumerate(self.rods) if rod.welded is None)

    @property
    def sliding(self) -> tuple[int, ...]:
        """Rods with a length of their own."""
        return tuple(r for r, rod in enumerate(self.rods) if rod.slides)

    def index(self, name: str) -> int:
        return next(r for r, rod in enumerate(self.rods) if rod.name == name)

    def host(self, r: int) -> int:
        """The rod whose angle turns rod r."""
        welded = self.rods[r].welded
        return r if welded is None else self.host(self.index(welded))

    def turned(self, r: int) -> Scalar:
        """How far rod r is turned from its host."""
        rod = self.rods[r]
        if rod.welded is None:
            return 0.0
        host = self.turned(self.index(rod.welded))
        return rod.turned if type(host) is float and host == 0.0 else host + rod.turned

    def line(self, r: int) -> int:
        """The rod in whose direction rod r is by structure: a host that it is not turned from."""
        turned = self.turned(r)
        return self.host(r) if type(turned) is float and turned == 0.0 else r

    @property
    def lines(self) -> tuple[int, ...]:
        """A rod for each direction."""
        return tuple(dict.fromkeys(self.line(r) for r in range(len(self.rods))))

    def between(self) -> Iterator[Any]:
        """Springs, dampers and motors: what acts between two rods."""
        yield from (*self.springs, *self.dampers, *self.motors)
