"""The two-leg walker's gait as an optimisation problem: lift, stride, speed and the split of the time between moves.

How many steps a walk takes jumps with the stride. Between two jumps (a layout) the plan's costs are smooth, and the ends of that range are the
strides that divide a walk evenly.
"""

import itertools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import ParameterError, nearest
from footfall.hybrid.motion_plan import AbstractTuning, Costs, Knob
from footfall.models.two_leg_course import Footstep, Walk
from footfall.models.two_leg_figures import Row, footsteps, plan_of
from footfall.models.two_leg_route import blocks_of, parse_route

if TYPE_CHECKING:
    from footfall.models.two_leg_walker import TwoLegWalker

#: Samples to a move: energies err by less than 1e-4 of themselves, and what is found is reckoned again with many more.
SAMPLES = 101
#: Strides looked at to find the layouts; one that is met by none of them is too narrow to matter.
STRIDES = 4001
#: How near to stretched legs may come, as a share of their reach.
NEAREST = 2e-3


class TwoLegTuning(AbstractTuning):
    """Knobs: gait.lift, gait.stride, gait.speed, gait.lift_pace. A layout: (steps of each walk..., shortest stride, longest stride)."""

    def __init__(self, walker: "TwoLegWalker", ranges: Mapping[str, tuple[float, float]]):
        if walker.gait.timing != "mean-speed":
            raise ParameterError('only a gait with timing = "mean-speed" has a speed to tune.', "gait.timing")
        self.walker = walker
        self.torque_limit = float(walker.motor.limit)
        self.verbs = parse_route(walker.route)
        L, apart = float(walker.link_length), float(walker.separation)
        self._reach = 2.0 * L * (1.0 - NEAREST)
        self._climb = max((abs(verb.value) for verb in self.verbs if verb.name == "climb"), default=0.0)
        usual = (
            Knob("gait.lift", "m", 0.02 * L, 0.3 * L),
            Knob("gait.stride", "m", 0.2 * L, self._reach - apart),
            Knob("gait.speed", "m/s", 0.02, 0.5),
            Knob("gait.lift_pace", "", 0.1, 10.0),
        )
        names = [knob.name for knob in usual]
        for name in ranges:
            if name not in names:
                raise ParameterError(f'"{name}" cannot be tuned. Known: {", ".join(names)}.{nearest(name, names)}', "gait")
        self.knobs = tuple(
            knob._replace(low=ranges[knob.name][0], high=ranges[knob.name][1]) if knob.name in ranges else knob
            for knob in usual
        )
        for knob in self.knobs:
            if not 0.0 < knob.low <= knob.high < math.inf:
                raise ParameterError(
                    f"{knob.name} from {knob.low:g} to {knob.high:g}: not a range of positive numbers.", "gait"
                )
        if self._longest(self.knobs[0].low) <= self.knobs[1].low:
            raise ParameterError(
                f"legs of {2e3 * L:g} mm that lift a foot {1e3 * (self.knobs[0].low + self._climb):.3g} mm reach no stride of"
                f" {1e3 * self.knobs[1].low:.3g} mm: at most {1e3 * max(self._longest(self.knobs[0].low), 0.0):.3g} mm.",
                "gait",
            )
        self._forward = [b.walk.forward for b in self._blocks(self.knobs[1].low) if b.walk is not None]

    def _blocks(self, stride: Any) -> list[Any]:
        """The route with that stride; of an array, elementwise."""
        return blocks_of(eqx.tree_at(lambda w: w.gait.stride, self.walker, np.asarray(stride, float)), self.verbs)

    def _longest(self, lift: Any) -> Any:
        """The longest stride within reach: the feet are a stride further apart than usual, one of them lifted, above the step or beside it."""
        high = lift + self._climb
        return jnp.sqrt(jnp.maximum(self._reach**2 - high * high, 0.0)) - self.walker.separation

    def _counts(self, stride: Any) -> np.ndarray:
        """Steps of each walk, per stride."""
        rows = [np.broadcast_to(b.walk.count, np.shape(stride)) for b in self._blocks(stride) if b.walk is not None]
        return np.stack(rows, axis=-1) if rows else np.zeros((*np.shape(stride), 0))

    def layouts(self) -> list[np.ndarray]:
        knob = self.knobs[1]
        strides = np.linspace(knob.low, min(knob.high, float(self._longest(self.knobs[0].low))), STRIDES)
        counts = self._counts(strides)
        jumps = [k for k in range(1, STRIDES) if (counts[k] != counts[k - 1]).any()]
        ends = [strides[0], *(self._edge(strides[k - 1], strides[k]) for k in jumps), strides[-1]]
        firsts = [0, *jumps]
        return [np.array([*counts[k], low, high]) for k, (low, high) in zip(firsts, itertools.pairwise(ends), strict=True)]

    def _edge(self, low: float, high: float) -> float:
        """Where the counts jump, to the last digits."""
        before = self._counts(np.asarray(low))
        while high - low > 1e-15:
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            low, high = (middle, high) if (self._counts(np.asarray(middle)) == before).all() else (low, middle)
        return high

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
        gait = eqx.tree_at(lambda g: (g.lift, g.stride, g.speed, g.lift_pace), w.gait, tuple(values.values()))
        walks = [Walk(forward, layout[i]) for i, forward in enumerate(self._forward)]
        blocks = blocks_of(eqx.tree_at(lambda v: v.gait, w, gait), self.verbs, walks)
        rows = [step for block in blocks for step in block.steps]
        steps = Footstep(*(jnp.stack([jnp.asarray(row[i], float) for row in rows]) for i in range(len(Footstep._fields))))
        each = footsteps(Row(w.limbs, gait, steps, w.motor, w.regeneration), SAMPLES)
        plan = plan_of(each, steps.times)
        side, mine = (each.dynamic, plan.dynamic) if w.dynamics == "full" else (each.static, plan.static)
        made = steps.times > 0
        # Where a long lift leaves no stride of this layout within reach, the layout's shortest stride stretches the legs.
        rooms = [(self._longest(values["gait.lift"]) - layout[-2])[None] / w.link_length]
        if w.feet == "free":
            rooms += [
                side.least_zmp / w.foot_length,
                1.0 - side.most_zmp / w.foot_length,
                each.least_pressure / (w.link_mass * w.gravity),
            ]
        return Costs(
            energy=mine.electrical,
            time=plan.time,
            torques=jnp.concatenate([jnp.where(made, q, 0.0) for q in side.peak_torque]),
            room=jnp.concatenate([rooms[0], *(jnp.where(made, room, 1.0) for room in rooms[1:])]),
        )
