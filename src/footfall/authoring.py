"""Names for people who write a robot or a part.

The contract, the fields it declares, what it is drawn with.

>>> from footfall.authoring import Event, HybridSystem, Jump, Rates, param, port, signal, store
"""

from footfall.hybrid.bound import Bound
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.fields import ParameterError, choice, param, part, port, signal, store
from footfall.hybrid.frame import Body, PlanarFrame
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.start import AbstractStart
from footfall.hybrid.suggestion import Suggestion
from footfall.hybrid.system import AbstractHybridSystem as HybridSystem
from footfall.hybrid.system import Event, HybridState, Jump, Rates, Travel, only_while
from footfall.hybrid.task import Action, Observation, Passage, Reward, Task
from footfall.machines.control.controller import AbstractController
from footfall.machines.linkage.pieces import (
    Damper,
    Landing,
    Linkage,
    Lock,
    Mass,
    Motor,
    Rod,
    Spring,
)
from footfall.machines.linkage.robot import LinkageRobot
from footfall.machines.parts.curves.base import AbstractPhaseCurve
from footfall.machines.parts.curves.curves import (
    BezierCurve,
    BSplineCurve,
    ConstantCurve,
    FourierCurve,
)
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.parts.terrain.planes import Flat, Slope
from footfall.machines.water_runner.drive import AbstractDrive
from footfall.machines.water_runner.foot import AbstractFoot, FootPoint, Tip
from footfall.numerics.namespace import choose, clamp
from footfall.numerics.scalar import Scalar
from footfall.numerics.small_solve import solve_spd
from footfall.numerics.trig import sincos
from footfall.scene.sketch import Arrow, Ball, Bar, Chart, Disc, Ground, Link, Shape

__all__ = [
    "AbstractController",
    "AbstractDrive",
    "AbstractFoot",
    "AbstractPhaseCurve",
    "AbstractStart",
    "AbstractTerrain",
    "Action",
    "Arrow",
    "BSplineCurve",
    "Ball",
    "Bar",
    "BezierCurve",
    "Body",
    "Bound",
    "Chart",
    "ConstantCurve",
    "Damper",
    "Disc",
    "Doubt",
    "Event",
    "Flat",
    "FootPoint",
    "FourierCurve",
    "Ground",
    "HybridState",
    "HybridSystem",
    "Jump",
    "Landing",
    "Link",
    "Linkage",
    "LinkageRobot",
    "Lock",
    "Mass",
    "Motor",
    "Observation",
    "Outcome",
    "ParameterError",
    "Passage",
    "PlanarFrame",
    "Rates",
    "Reward",
    "Rod",
    "Scalar",
    "Shape",
    "Slope",
    "Spring",
    "Suggestion",
    "Task",
    "Tip",
    "Travel",
    "choice",
    "choose",
    "clamp",
    "only_while",
    "param",
    "part",
    "port",
    "signal",
    "sincos",
    "solve_spd",
    "store",
]
