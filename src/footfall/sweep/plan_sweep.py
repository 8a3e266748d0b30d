"""How the robots of a sweep are moved through time.

The scenario's [sim] table and what was asked for on top of it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from footfall.engines.kernels.fuse_errors import NoCompiler
from footfall.engines.kernels.targets.simd.compiler import find_compiler
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.hybrid.fields import nearest
from footfall.hybrid.flatten import named_leaves, output_fields
from footfall.hybrid.statistics import metrics_of_outputs
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment

_STATISTICS = ("mean", "rms", "min", "max")


def plan_of(experiment: Experiment, **options: Any) -> BatchPlan:
    """A batch plan with what the scenario's [sim] table says.

    The `options` that are not None stand on top of it.

    The scenario's `batch_step` suits its own robot: designs begin with it, and those for which it
    is too long take a shorter one.
    """
    said = {name: getattr(experiment.plan, name) for name in ("duration", "settle", "max_jumps")}
    said["step"] = experiment.event_plan.step
    sim = experiment.document["sim"]
    # A sweep begun by an older version does not say.
    said["method"] = sim.get("batch_method", "rk4")
    if isinstance(sim.get("batch_step"), float):
        said |= {"step": None, "first_step": sim["batch_step"]}
    asked = {name: value for name, value in options.items() if value is not None}
    if "rtol" in asked:
        said |= {"step": None, "first_step": None}
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
            'path "gpu": JAX sees no GPU here. Install "footfall[gpu]" on a machine with one, or'
            ' leave the path at "auto".'
        )


def require_compiler() -> None:
    """There must be one where C++ is asked for by name."""
    try:
        find_compiler()
    except NoCompiler as error:
        raise no_cpp(str(error)) from None


def no_cpp(reason: str) -> ScenarioError:
    """Why C++, asked for by name, cannot be had."""
    return ScenarioError(
        f'path "cpp": {reason}. Leave the path at "auto", which takes the fastest there is.'
    )


def require_tracks(experiment: Experiment, track: tuple[str, ...]) -> None:
    """Outputs to keep statistics of must be outputs of this robot."""
    if not track:
        return
    known = _outputs(experiment)
    for name in track:
        if name not in known:
            said = ", ".join(known)
            raise ScenarioError(
                f'track: this robot has no output "{name}".{nearest(name, known)}\n  Known: {said}.'
            )


def tracks_of_metric(experiment: Experiment, metric: str | None) -> tuple[str, ...]:
    """Outputs to keep so that a sweep has this metric of a summary; none where it always has."""
    return () if metric is None else _offered(experiment).get(metric, ())


def require_quantity(metric: str) -> None:
    """A picture shows a quantity, not a number that stands for something else."""
    if metric in ("outcome", "verdict", "design"):
        what = "number" if metric == "design" else "word"
        raise ScenarioError(
            f"--metric {metric}: this is a {what}, not a quantity. Take a result such as"
            " mean_speed; every picture shows outcomes too."
        )


def require_metric(experiment: Experiment, metric: str, results: Sequence[str]) -> None:
    """What a picture is to show must be one of the `results`."""
    require_quantity(metric)
    if metric in results:
        return
    output, _, statistic = (
        metric.rpartition("_")
        if metric.endswith(tuple(f"_{s}" for s in _STATISTICS))
        else (metric, "", "")
    )
    if output in _outputs(experiment):
        kept = [f"{output}_{s}" for s in _STATISTICS]
        if kept[0] in results:
            raise ScenarioError(
                f"--metric {metric}: of an output its statistics are kept. Take one of"
                f" {', '.join(kept)}."
            )
        wanted = metric if statistic else kept[0]
        raise ScenarioError(
            f"--metric {metric}: this output is not kept. Add --track {output}, and take --metric"
            f" {wanted}."
        )
    if needs := tracks_of_metric(experiment, metric):
        raise ScenarioError(
            f"--metric {metric}: this sweep has not kept what it is made of"
            f" ({', '.join(needs)}). Begin another one with --metric {metric}."
        )
    known = [name for name in results if name not in ("outcome", "verdict")]
    known += [name for name in _offered(experiment) if name not in known]
    raise ScenarioError(
        f"--metric {metric}: there is no such result.{nearest(metric, known)}\n  Known:"
        f" {', '.join(known)}."
    )


def _outputs(experiment: Experiment) -> list[str]:
    return list(output_fields(experiment.system, experiment.start))


def _offered(experiment: Experiment) -> Mapping[str, tuple[str, ...]]:
    """Metrics that a sweep has when it is asked for them, and the outputs that it then keeps."""
    system, (x, m) = experiment.system, experiment.start
    if "step" not in system.engines:
        return {}
    numbers: list[str] = []

    def look() -> int:
        leaves = named_leaves(system.outputs(0.0, x, m))
        numbers.extend(name for name, value, _ in leaves if jnp.ndim(value) == 0)
        return 0

    jax.eval_shape(look)
    return metrics_of_outputs(numbers, system.travel())
