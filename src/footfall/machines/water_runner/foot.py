"""Contract of the foot slot."""

import abc
from typing import Any, NamedTuple

import numpy as np

from footfall.hybrid.fields import Parametric
from footfall.hybrid.system import Event, Jump, Rates
from footfall.machines.water_runner.wet_disc import Medium, WaterLoad
from footfall.numerics.scalar import Scalar
from footfall.scene.sketch import Chart


class FootPoint(NamedTuple):
    """The end F of a leg: place, velocity, unit vector u up the leg, rate of the leg's angle."""

    x: Scalar
    y: Scalar
    vx: Scalar
    vy: Scalar
    ux: Scalar
    uy: Scalar
    rate: Scalar


class Tip(NamedTuple):
    """The point of a foot that meets hard ground."""

    x: Scalar
    y: Scalar
    vx: Scalar
    vy: Scalar


class AbstractFoot(Parametric):
    """What is fixed to the end of a leg, massless or nearly so. Only `tip` must be written.

    On hard ground one point of it, the tip, is pressed and rubbed, and the leg feels that force
    there. In water a foot carries a load of its own; one that has nothing to feel the water with
    feels nothing, and the robot sinks.

    A foot may own states: `rest` gives them, a struct of `signal` fields. The robot carries one
    such struct for each leg and hands it back as `own`; its columns are `feet.LEG.FIELD`. `flow`
    says how they move and what power goes through the foot's own ports, `stores` where its energy
    is. A port or store with a name that the robot has (kinetic) is added to it. Discrete states and
    what changes them are `mode`, `events`, `guards` and `jump`; `mode` comes back with what the
    robot knows of that foot (touching, footfalls) beside the foot's own.

    The robot relies on: the tip's velocity is the derivative of its place; and what the ground does
    to the foot's own motion is in its books. With w what `own` adds to the tip's velocity,

        force . w = d(stores)/dt - sum of ports
    """

    @abc.abstractmethod
    def tip(self, at: FootPoint, own: Any) -> Tip:
        """Where hard ground is met."""

    # --- states, ports and stores of its own
    # ---------------------------------------------------------------------------------------------

    def rest(self) -> Any:
        """Its continuous state when the robot is let go; None: it has none."""
        return None

    def flow(self, at: FootPoint, own: Any, fx: Scalar, fy: Scalar) -> Rates:
        """Rates of its state and power through its ports, under the ground's force at its tip."""
        del at, own, fx, fy
        return Rates(None, None)

    def stores(self, own: Any) -> Any:
        """Energy it keeps, as a struct of `store` fields."""
        del own

    def signals(self, at: FootPoint, own: Any, water: WaterLoad | None) -> Any:
        """What else is to be seen of it, as a struct of `signal` fields: columns `LEG.FIELD`."""
        del at, own, water

    def charts(self, legs: tuple[str, ...], wet: bool) -> tuple[Chart, ...]:
        """Its signals over time, for the plot page."""
        del legs, wet
        return ()

    # --- water
    # ---------------------------------------------------------------------------------------------

    def depth_in_water(self, at: FootPoint, own: Any, level: Scalar) -> Scalar:
        """How deep its lowest point is."""
        return level - self.tip(at, own).y

    def in_water(self, at: FootPoint, own: Any, mode: Any, medium: Medium) -> WaterLoad | None:
        """Force, moment about F and power of the water; None: it feels nothing there."""
        del at, own, mode, medium

    def flow_in_water(self, at: FootPoint, own: Any, water: WaterLoad | None) -> Rates:
        """Rates of its state and power through its ports, under what `in_water` gave.

        With w the twist that `own` adds to what the water pushes, water's power on w is
        d(stores)/dt less the sum of ports, as `flow` has it of the ground's force.
        """
        del water
        return self.flow(at, own, 0.0, 0.0)

    # --- events of its own
    # ---------------------------------------------------------------------------------------------

    def events(self, wet: bool) -> tuple[Event, ...]:
        """What may happen to each foot, on water or on hard ground.

        One with an outcome ends the run as soon as it happens to one of the feet."""
        del wet
        return ()

    def guards(self, at: FootPoint, own: Any, wet: bool) -> tuple[Scalar, ...]:
        """Room left before each of its events."""
        del at, own, wet
        return ()

    def check_start(self, leg: str, rooms: tuple[np.ndarray, ...], wet: bool) -> None:
        """Raise ParameterError where a leg may not start with these rooms of its guards."""
        del leg, rooms, wet

    def needs_driven_cranks(self, wet: bool) -> str | None:
        """Why no drive can turn it whose cranks turn freely; None: any drive can."""
        del wet
        return None

    def mode(self, at: FootPoint, own: Any, wet: bool) -> Any:
        """The discrete state that belongs to this continuous one; None: it has none."""
        del at, own, wet

    def jump(self, own: Any, mode: Any, k: int) -> Jump:
        """What its event number k does to its states, and the work that takes, if any."""
        del k
        return Jump(own, mode)
