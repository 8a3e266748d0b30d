"""How the robots of a sweep are moved through time: the scenario's [sim] table and what was asked for on top of it."""

from typing import Any

import jax

from footfall.hybrid.fields import nearest
from footfall.hybrid.flatten import named_leaves
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment
from footfall.sim.batch_plan import BatchPlan


def plan_of(experiment: Experiment, **options: Any) -> BatchPlan:
    """A batch plan with what the scenario's [sim] table says, and the `options` that are not None on top of it."""
    said = {name: getattr(experiment.plan, name) for name in ("duration", "step", "settle", "max_jumps")}
    asked = {name: value for name, value in options.items() if value is not None}
    if said["settle"] is not None and said["settle"] >= asked.get("duration", said["duration"]):
        said["settle"] = None
    try:
        return BatchPlan(**{**said, **asked})
    except ValueError as error:
        raise ScenarioError(str(error).replace("BatchPlan.", "")) from None


def require_gpu() -> None:
    """There must be one where it is asked for by name."""
    if jax.default_backend() != "gpu":
        raise ScenarioError(
            '--path gpu: JAX sees no GPU here. Install "footfall[gpu]" on a machine with one, or leave the path at "auto".'
        )


def require_tracks(experiment: Experiment, track: tuple[str, ...]) -> None:
    """Outputs to keep statistics of must be outputs of this robot."""
    if not track:
        return
    outputs = jax.eval_shape(experiment.system.outputs, 0.0, experiment.start.x, experiment.start.m)
    known = [name for name, _, _ in named_leaves(outputs)]
    for name in track:
        if name not in known:
            said = ", ".join(known)
            raise ScenarioError(f'--track {name}: this robot has no output "{name}".{nearest(name, known)}\n  Known: {said}.')
