"""Derivatives of a run by the numbers of its scenario.

`gradient` asks for some, `endpoint` goes into jax.grad and jax.jacfwd.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.analysis.endpoint import NO_DERIVATIVE, End, course, find_end, follow
from footfall.engines.plan import Plan
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.scenario.document import at
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, require_flow
from footfall.scenario.vary import find_knob, placed


class Gradient(NamedTuple):
    """What was measured at the end of a run, and its derivative by each key.

    Per SI unit of the key.
    """

    value: Any
    slopes: dict[str, Any]
    units: dict[str, str]  #: of the keys
    end: End

    def __repr__(self) -> str:
        return "\n".join(
            [f"value: {_said(self.value)}"]
            + [
                f"by {key}: {_said(slope)} per {self.units[key] or '1'}"
                for key, slope in self.slopes.items()
            ]
        )


def endpoint(
    experiment: Experiment | AbstractHybridSystem,
    values: Mapping[str, Any] | HybridState | None = None,
    plan: Plan | None = None,
    *,
    event: str | None = None,
    count: int = 1,
    leg: int = 0,
    duration: float | None = None,
) -> End:
    """Where a run ends, as a function that can be differentiated exactly, through every event.

    `jax.grad` and `jax.jacfwd` take its derivatives, also by several numbers at once.

    Arguments:
        experiment: as `ff.load` gives it (or a system, with a state in place of `values`).
        values: numbers to put in before the run, in SI, by key as in `--set`:
            {"leg.stiffness": 1.2e4}. These may be traced by JAX: they are what to differentiate by.
        event, count, leg: run until just after the `count`-th event of this name (of like legs: of
            this one); without an event, to the end of the plan's span.
        duration: another span [s]; with an event, the longest to wait for it.

    Returns an `End`: time `t`, states `x` and `m`, `outputs`, `stores`, `work` through each port,
    `jump_work`, and the code of the `outcome`. Derivatives hold while the same events come in the
    same order.

    How the time of the third footfall moves with the slope:

    >>> import footfall as ff
    >>> import jax
    >>> wheel = ff.load("passive-wheel")
    >>> def time(slope):
    ...     return ff.endpoint(wheel, {"terrain.angle": slope}, event="touchdown", count=3).t
    >>> print(f"{time(0.08):.4f} s, {jax.grad(time)(0.08):.3f} s/rad")
    0.6837 s, -2.311 s/rad
    """
    system, state, plan = _parts(experiment, values, plan, duration)
    return find_end(system, state, course(system, state, plan, event, count, leg))


def gradient(
    measure: Callable[[End], Any],
    experiment: Experiment,
    wrt: Sequence[str],
    *,
    event: str | None = None,
    count: int = 1,
    leg: int = 0,
    duration: float | None = None,
) -> Gradient:
    """Derivatives of what is measured at the end of a run by numbers of its scenario.

    They are exact, through every event.

    Arguments:
        measure: takes the `End` of a run (see `ff.endpoint`) and returns a number, or a struct of
            numbers.
        experiment: as `ff.load` gives it; the derivative is taken at its values.
        wrt: keys of the scenario as in `--set`, of parameters and of the start: ["leg.stiffness",
            "start.spoke_rate"].
        event, count, leg, duration: where to end, as in `ff.endpoint`.

    Returns a `Gradient`: the `value`, `slopes` by key, per SI unit, and the `end`. Raises
    ScenarioError where the run does not come that far, and where there is no derivative.

    How the speed after the third footfall depends on slope and start:

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel")
    >>> speed = lambda end: end.outputs.travel.speed
    >>> keys = ["terrain.angle", "start.spoke_rate", "leg.length"]
    >>> ff.gradient(speed, wheel, wrt=keys, event="touchdown", count=3)
    value: 0.681886
    by terrain.angle: 2.84149 per rad
    by start.spoke_rate: -0.0754249 per rad/s
    by leg.length: 1.74646 per m
    """
    if not isinstance(experiment, Experiment):
        raise ScenarioError(
            f"gradient takes an experiment, as ff.load gives it, not {type(experiment).__name__}."
        )
    keys = [wrt] if isinstance(wrt, str) else list(wrt)
    if not keys:
        raise ScenarioError(
            'gradient needs a key to differentiate by, such as wrt=["leg.stiffness"].'
        )
    now, units = {}, {}
    for key in keys:
        knob = find_knob(experiment, key, f'"{key}"')
        value = at(experiment.document, knob.path) if knob.number else None
        if knob.number and not isinstance(value, int | float):
            raise ScenarioError(
                f'"{key}" is {value!r}: give it a number first, to say where the derivative is to'
                " be taken."
            )
        now[key], units[key] = value, knob.unit
    system, state, plan = _parts(experiment, now, None, duration)
    way = course(system, state, plan, event, count, leg)
    spread = jnp.asarray(list(now.values()), float)

    def put(vector: Any) -> Any:
        return eqx.filter(placed(experiment, dict(zip(keys, vector, strict=True))), _is_real)

    directions = jax.vmap(lambda v: jax.jvp(put, (spread,), (v,))[1])(jnp.eye(len(keys)))
    end, slopes = follow(system, state, directions, way)
    _require_end(end, event, count, plan)
    reals, rest = eqx.partition(end, _is_real)

    def measured(reals: Any) -> Any:
        return measure(eqx.combine(reals, rest))

    value = jax.tree.map(np.asarray, measure(end))
    moved = jax.vmap(lambda along: jax.jvp(measured, (reals,), (along,))[1])(slopes)
    by_key = {
        key: jax.tree.map(lambda v, i=i: np.asarray(v[i]), moved) for i, key in enumerate(keys)
    }
    require_numbers(by_key)
    return Gradient(value, by_key, units, jax.tree.map(np.asarray, end))


def _parts(
    what: Any, values: Any, plan: Plan | None, duration: float | None
) -> tuple[AbstractHybridSystem, HybridState, Plan]:
    if isinstance(what, Experiment):
        require_flow(what, "a derivative")
        system, state = placed(what, values) if values else (what.system, what.start)
        plan = plan or what.event_plan
    elif isinstance(what, AbstractHybridSystem):
        system, state = what, what.begin(what.Start()) if values is None else values
    else:
        raise ScenarioError(
            "endpoint takes an experiment, as ff.load gives it, or a system, not"
            f" {type(what).__name__}."
        )
    plan = plan or Plan()
    if duration is not None:
        plan = dataclasses.replace(plan, duration=float(duration), settle=None)
    return system, state, plan


def _require_end(end: End, event: str | None, count: int, plan: Plan) -> None:
    ended = Outcome(int(end.outcome))
    if event is not None and ended is Outcome.reached_end:
        short = f'fewer than {count} "{event}" events' if count > 1 else f'no "{event}" event'
        raise ScenarioError(f"{short} within {plan.duration:g} s; give a longer duration.")
    if ended not in (Outcome.reached_event, Outcome.reached_end):
        raise ScenarioError(
            f"the run ended before that, at t = {float(end.t):.6g} s: {ended.name},"
            f" {ended.meaning}."
        )


def require_numbers(slopes: Mapping[str, Any]) -> None:
    """Refuse slopes that are no numbers."""
    for key, slope in slopes.items():
        if any(np.any(np.isnan(leaf)) for leaf in jax.tree.leaves(slope)):
            raise ScenarioError(
                f"there is no derivative by {key} here: what is measured is no number, or"
                f" {NO_DERIVATIVE}. Move the start or a parameter a little, or take differences to"
                " one side."
            )


def _is_real(leaf: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(leaf), jnp.floating)


def _said(value: Any) -> str:
    return (
        f"{float(value):.6g}" if isinstance(value, np.ndarray) and value.ndim == 0 else str(value)
    )
