"""Designs of a motion plan: what it costs is a function of its knobs, in layouts of steps.

Which layout is best cannot be asked of a derivative, so that each is a piece of the landscape. What
is found is evaluated once more with many samples, as a run would be.
"""

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import qmc

from footfall.engines.analysis.design_search import (
    AbstractLandscape,
    Found,
    Look,
    Problem,
    Refused,
)
from footfall.engines.jax_setup import prepare_jax
from footfall.engines.lanes.plan_figures import evaluate_plan
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.motion_plan import AbstractTunablePlan
from footfall.hybrid.outcome import Outcome
from footfall.scenario.errors import ScenarioError
from footfall.scenario.gait import number_at
from footfall.scenario.load import Experiment, with_settings

#: Points looked at in every layout to begin from a good one: from far outside the limits SLSQP does
#: not always find in.
SPREAD = 256
#: So many of them are begun from: SLSQP stops early where several torques reach the limit together.
STARTS = 6


class PlanLandscape(AbstractLandscape):
    """The knobs of a plan that are free; the others stay as the scenario has them."""

    searches = 1  # from many starts

    def __init__(
        self, experiment: Experiment, free: Mapping[str, tuple[float, float] | None] | None
    ):
        """`free` None: every knob. Raises ParameterError, Refused."""
        prepare_jax()
        assert isinstance(experiment.system, AbstractTunablePlan)
        self.experiment, plan = experiment, experiment.system
        names = [knob.name for knob in plan.tuning({}).knobs]
        mine = {name: number_at(experiment, name) for name in names}
        free = dict.fromkeys(names) if free is None else free
        held = {name: (value, value) for name, value in mine.items() if name not in free}
        # What is no knob has no range either, and is refused by its name.
        asked = {name: span or (np.nan, np.nan) for name, span in free.items()}
        usual = [name for name, span in free.items() if span is None and name in names]
        self.tuning = plan.tuning(
            {name: span for name, span in (held | asked).items() if name not in usual}
        )
        self.keys = tuple(name for name in names if name in free)
        self._free = np.array([name in free for name in names])
        self.own_values = {key: mine[key] for key in self.keys}
        self.units = {knob.name: knob.unit for knob in self.tuning.knobs if knob.name in free}
        self.pieces = list(self.tuning.layouts())
        if not self.pieces:
            raise Refused("the ground refuses every stride in these ranges.")
        self.own = _figures(experiment)[0]

        def costs(share: Any, layout: Any) -> Any:
            return self.tuning.costs(self._whole(share), layout)

        def twice(share: Any, layout: Any) -> Any:
            found = costs(share, layout)
            return found, found

        def values(share: Any, layout: Any) -> Any:
            return self.tuning.values(self._whole(share), layout)

        self._values, self._value_slopes = jax.jit(values), jax.jit(jax.jacfwd(values))
        middle = np.full(len(self.keys), 0.5)
        self.known = tuple(jax.eval_shape(costs, middle, self.pieces[0]).figures)
        self._both = jax.jit(jax.jacfwd(twice, has_aux=True))
        self._many = jax.jit(jax.vmap(costs, (0, None)))
        self._points = qmc.Halton(len(self.keys), scramble=False).random(SPREAD + 1)[1:]
        self._spread: dict[bytes, Any] = {}

    def _whole(self, share: Any) -> Any:
        """A point with a coordinate for each knob."""
        return jnp.zeros(len(self._free)).at[np.flatnonzero(self._free)].set(share)

    def look(self, share: np.ndarray, piece: np.ndarray, near: Look | None) -> Look:
        del near
        slopes, costs = jax.device_get(self._both(share, piece))
        if not all(np.all(np.isfinite(v)) for v in jax.tree.leaves((slopes, costs))):
            raise Refused("no number comes out there")
        return Look(costs.figures, slopes.figures, costs.rooms, slopes.rooms)

    def values(self, share: np.ndarray, piece: np.ndarray) -> dict[str, float]:
        values = self._values(share, piece)
        return {name: float(values[name]) for name in self.keys}

    def value_slopes(self, share: np.ndarray, piece: np.ndarray) -> np.ndarray:
        slopes = self._value_slopes(share, piece)
        return np.array([slopes[name] for name in self.keys])

    def limits(self, piece: np.ndarray) -> dict[str, tuple[float, float]]:
        ends = [self.values(np.full(len(self.keys), share), piece) for share in (0.0, 1.0)]
        return {key: (ends[0][key], ends[1][key]) for key in self.keys}

    def starts(self, problem: Problem, piece: np.ndarray, search: int) -> list[np.ndarray]:
        """The best of many spread points that keep the limits, or break them least."""
        del search
        key = piece.tobytes()
        if key not in self._spread:
            self._spread[key] = jax.tree.map(np.asarray, self._many(self._points, piece))
        figures, rooms = self._spread[key]
        ranks = {}
        for k, point in enumerate(self._points):
            at = {name: value[k] for name, value in figures.items()}
            left = {name: value[k] for name, value in rooms.items()}
            if all(np.all(np.isfinite(v)) for v in (*at.values(), *left.values())):
                ranks[k] = problem.rank(Found(point, piece, Look(at, {}, left, {})))
        best = sorted(ranks, key=ranks.__getitem__)
        return [self._points[k].copy() for k in best[:STARTS]]

    def refuses(self, found: Found) -> str | None:
        """A design counts only if its scenario loads and its plan arrives."""
        try:
            measured, _ = self.measured(found)
        except ScenarioError as error:
            return str(error).rpartition("] ")[2]
        outcome = Outcome(int(measured["outcome"]))
        if outcome is Outcome.arrived:
            return None
        return f"with {self._said(found)} the plan ends as {outcome.name}: {outcome.meaning}."

    def narrower(self, piece: np.ndarray) -> list[np.ndarray]:
        return [np.asarray(layout) for layout in self.tuning.narrower(piece)]

    def tuned(self, found: Found) -> Experiment:
        """The scenario of a design."""
        return self._evaluated(self._said(found))[0]

    @functools.lru_cache(maxsize=64)  # noqa: B019  a landscape lives as long as its search
    def _evaluated(self, said: str) -> tuple[Experiment, dict[str, float], tuple[Doubt, ...]]:
        tuned = with_settings(self.experiment, said.split(", "))
        return tuned, *_figures(tuned)

    def recalled(self, share: Any, piece: Any) -> Found:
        """A design that was found before, by its point and its layout."""
        share, piece = np.array(share, float), np.array(piece, float)
        return Found(share, piece, self.look(share, piece, None))

    def remembered(self, found: Found) -> list[list[float]]:
        """What `recalled` takes: plain JSON."""
        return [found.share.tolist(), found.piece.tolist()]

    def measured(self, found: Found) -> tuple[dict[str, float], tuple[Doubt, ...]]:
        """All figures of its plan, and what is doubtful in them."""
        return self._evaluated(self._said(found))[1:]

    def _said(self, found: Found) -> str:
        values = self.values(found.share, found.piece)
        return ", ".join(f"{name}={value!r}" for name, value in values.items())


def _figures(experiment: Experiment) -> tuple[dict[str, float], tuple[Doubt, ...]]:
    plan: Any = experiment.system
    found = {name: float(f.values[0]) for name, f in evaluate_plan(plan).figures.items()}
    return found, tuple(plan.figure_doubts(found))
