"""The two-leg walker's gait as an optimisation problem.

Lift, stride, speed and the split of the time between moves.

How many steps a walk takes jumps with the stride. Between two jumps (a layout) the plan's costs are
smooth, and the ends of that range are the strides that divide a walk evenly.
"""

import itertools
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import ParameterError, nearest
from footfall.hybrid.motion_plan import AbstractTuning, Costs, Knob
from footfall.machines.two_leg.course import Footstep, Walk
from footfall.machines.two_leg.figures import Row, footsteps, plan_of
from footfall.machines.two_leg.ground import refused_by_ground
from footfall.machines.two_leg.route import blocks_of, parse_route, stacked

if TYPE_CHECKING:
    from footfall.machines.two_leg.walker import TwoLegWalker

#: Samples to a move: energies err by less than 1e-4 of themselves, and what is found is evaluated
#: again with many more.
SAMPLES = 101
#: Strides looked at to find the layouts; one that is met by none of them is too narrow to matter.
STRIDES = 1001
#: What of a foot and of the weight is left between a found gait and tipping or lifting off: a run
#: looks between the samples.
SPARED = 2e-3
#: A range of strides is narrowed into this many where the ground refuses its best gait, and not
#: below this width [m].
PIECES, NARROWEST = 8, 1e-4
#: How near to stretched legs may come, as a share of their reach.
NEAREST = 2e-3
#: Share of the torque limit that is left, for a run looks at the last digit too.
SPARED_TORQUE = 1e-3


class TwoLegTuning(AbstractTuning):
    """Knobs: gait.lift, gait.stride, gait.speed, gait.lift_pace.

    A layout: (steps of each walk..., shortest stride, longest stride), of strides that the ground
    does not refuse.
    """

    def __init__(self, walker: "TwoLegWalker", ranges: Mapping[str, tuple[float, float]]):
        if walker.gait.timing != "mean-speed":
            raise ParameterError(
                'only a gait with timing = "mean-speed" has a speed to tune.', "gait.timing"
            )
        self.walker = walker
        self.verbs = parse_route(walker.route)
        L, apart = float(walker.link_length), float(walker.separation)
        self._reach = 2.0 * L * (1.0 - NEAREST)
        self._climb = max(
            (abs(verb.value) for verb in self.verbs if verb.name == "climb"), default=0.0
        )
        usual = (
            Knob("gait.lift", "m", 0.02 * L, 0.3 * L),
            Knob("gait.stride", "m", 0.2 * L, self._reach - apart),
            Knob("gait.speed", "m/s", 0.02, 0.5),
            Knob("gait.lift_pace", "", 0.1, 10.0),
        )
        names = [knob.name for knob in usual]
        for name in ranges:
            if name not in names:
                raise ParameterError(
                    f'"{name}" cannot be tuned. Known: {", ".join(names)}.{nearest(name, names)}',
                    "gait",
                )
        self.knobs = tuple(
            (
                knob._replace(low=ranges[knob.name][0], high=ranges[knob.name][1])
                if knob.name in ranges
                else knob
            )
            for knob in usual
        )
        for knob in self.knobs:
            if not 0.0 < knob.low <= knob.high < math.inf:
                raise ParameterError(
                    f"{knob.name} from {knob.low:g} to {knob.high:g}: not a range of positive"
                    " numbers.",
                    "gait",
                )
        if self._longest(self.knobs[0].low) <= self.knobs[1].low:
            raise ParameterError(
                f"legs of {2e3 * L:g} mm that lift a foot"
                f" {1e3 * (self.knobs[0].low + self._climb):.3g} mm reach no stride of"
                f" {1e3 * self.knobs[1].low:.3g} mm: at most"
                f" {1e3 * max(self._longest(self.knobs[0].low), 0.0):.3g} mm.",
                "gait",
            )
        self._forward = [
            b.walk.forward for b in self._blocks(self.knobs[1].low) if b.walk is not None
        ]

    def _blocks(self, stride: Any) -> list[Any]:
        """The route with that stride; of an array, elementwise."""
        return blocks_of(
            eqx.tree_at(lambda w: w.gait.stride, self.walker, np.asarray(stride, float)), self.verbs
        )

    def _longest(self, lift: Any) -> Any:
        """The longest stride within reach.

        The feet are a stride further apart than usual, one of them lifted, above the step or beside
        it.
        """
        high = lift + self._climb
        return jnp.sqrt(jnp.maximum(self._reach**2 - high * high, 0.0)) - self.walker.separation

    def _counts(self, stride: Any) -> np.ndarray:
        """Steps of each walk, per stride."""
        rows = [
            np.broadcast_to(b.walk.count, np.shape(stride))
            for b in self._blocks(stride)
            if b.walk is not None
        ]
        return np.stack(rows, axis=-1) if rows else np.zeros((*np.shape(stride), 0))

    def layouts(self) -> list[np.ndarray]:
        knob = self.knobs[1]
        strides = np.linspace(
            knob.low, min(knob.high, float(self._longest(self.knobs[0].low))), STRIDES
        )
        counts, refused = self._counts(strides), self._refused(strides)
        found, low = [], strides[0]
        for k in range(1, STRIDES + 1):
            if k < STRIDES and (counts[k] == counts[k - 1]).all() and refused[k] == refused[k - 1]:
                continue
            if k == STRIDES:
                high = after = strides[-1]
            elif (counts[k] != counts[k - 1]).any():
                like = counts[k - 1]
                high, after = self._edge(
                    lambda x, like=like: (self._counts(x) == like).all(axis=1),
                    strides[k - 1],
                    strides[k],
                )
            else:
                like = refused[k - 1]
                high, after = self._edge(
                    lambda x, like=like: self._refused(x) == like, strides[k - 1], strides[k]
                )
            if not refused[k - 1]:
                found.append(np.array([*counts[k - 1], low, high]))
            low = after
        return found

    def _refused(self, strides: np.ndarray) -> np.ndarray:
        """Whether the ground refuses each stride, at any lift."""
        refused = np.ones(strides.shape, bool)
        for lift in (self.knobs[0].low, self.knobs[0].high):
            walker = eqx.tree_at(
                lambda w: (w.gait.stride, w.gait.lift), self.walker, (strides, lift + 0.0 * strides)
            )
            refused &= refused_by_ground(
                walker, *stacked(blocks_of(walker, self.verbs), len(strides))
            )
        return refused

    @staticmethod
    def _edge(
        same: Callable[[np.ndarray], np.ndarray], low: float, high: float
    ) -> tuple[float, float]:
        """The last stride like the one at `low`, and the first that is not."""
        for _ in range(9):
            between = np.linspace(low, high, 66)
            alike = same(between)
            k = int(np.argmin(alike)) if not alike.all() else len(between) - 1
            low, high = between[k - 1], between[k]
        return float(low), float(high)

    def narrower(self, layout: Any) -> list[np.ndarray]:
        low, high = float(layout[-2]), float(layout[-1])
        if high - low < NARROWEST:
            return []
        return [
            np.array([*layout[:-2], a, b])
            for a, b in itertools.pairwise(np.linspace(low, high, PIECES + 1))
        ]

    def values(self, share: Any, layout: Any) -> dict[str, Any]:
        lift, stride, speed, pace = self.knobs
        scaled = lambda s, knob: knob.low * (knob.high / knob.low) ** s  # noqa: E731
        raised = scaled(share[0], lift)
        low, high = layout[-2], jnp.minimum(layout[-1], self._longest(raised))
        return {
            lift.name: raised,
            stride.name: low + share[1] * (jnp.maximum(high, low) - low),
            speed.name: scaled(share[2], speed),
            pace.name: scaled(share[3], pace),
        }

    def costs(self, share: Any, layout: Any) -> Costs:
        w, values = self.walker, self.values(share, layout)
        gait = eqx.tree_at(
            lambda g: (g.lift, g.stride, g.speed, g.lift_pace), w.gait, tuple(values.values())
        )
        walks = [Walk(forward, layout[i]) for i, forward in enumerate(self._forward)]
        blocks = blocks_of(eqx.tree_at(lambda v: v.gait, w, gait), self.verbs, walks)
        rows = [step for block in blocks for step in block.steps]
        steps = Footstep(
            *(
                jnp.stack([jnp.asarray(row[i], float) for row in rows])
                for i in range(len(Footstep._fields))
            )
        )
        each = footsteps(Row(w.limbs, gait, steps, w.motor, w.regeneration), SAMPLES)
        plan = plan_of(each, steps.times)
        side = each.dynamic if w.dynamics == "full" else each.static
        made = steps.times > 0
        # Where a long lift leaves no stride of this layout within reach, the layout's shortest
        # stride stretches the legs.
        rooms = {"reach": (self._longest(values["gait.lift"]) - layout[-2])[None] / w.link_length}
        if w.feet == "free":
            tipping = (
                jnp.concatenate([side.least_zmp, w.foot_length - side.most_zmp]) / w.foot_length
                - SPARED
            )
            pressure = each.least_pressure / (4.0 * w.link_mass * w.gravity) - SPARED
            rooms["tipping"] = jnp.where(jnp.tile(made, 2), tipping, 1.0)
            if w.dynamics == "full":
                rooms["lift-off"] = jnp.where(made, pressure, 1.0)
        torques = jnp.concatenate([jnp.where(made, torque, 0.0) for torque in side.peak_torque])
        rooms["torque"] = 1.0 - torques / ((1.0 - SPARED_TORQUE) * w.motor.limit)
        figures = {"t_end": plan.time}
        for before, of_each, of_all in (
            ("", each.dynamic, plan.dynamic),
            ("static_", each.static, plan.static),
        ):
            given_back = w.regeneration * sum(of_all.returned)
            figures[f"{before}energy"] = sum(of_all.energy) - given_back
            figures[f"{before}electrical_energy"] = of_all.electrical
            for number, torque in enumerate(of_each.peak_torque, 1):
                figures[f"{before}peak_torque_{number}"] = jnp.where(made, torque, 0.0)
        return Costs(figures, rooms)
