"""Which outputs of a robot are worth statistics.

Chosen once, here, for every engine and every summary.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.system import Travel

#: Outputs by their own name, within a motor or joint, of which mean, root-mean-square and peak are
#: told.
TOLD = ("torque", "current", "angle_error", "extension_error")
#: ... of which the integral is told: energy drawn.
SUMMED = "electrical_power"


#: Of these, by their place in `told_names`, mean and root-mean-square are means over time.
PEAK = 2


def mean_name(output: str) -> str:
    """The metric that is the mean of an output over time."""
    return f"mean_{output.replace('.', '_')}"


def told_names(output: str) -> tuple[str, ...]:
    """Names of the mean, root-mean-square and peak of an output, if they are told of it."""
    group, _, leaf = output.rpartition(".")
    label = group.replace(".", "_")
    return tuple(f"{label}_{what}_{leaf}" for what in ("mean", "rms", "peak")) * (leaf in TOLD)


def metrics_of_outputs(
    outputs: Iterable[str], travel: Travel | None
) -> Mapping[str, tuple[str, ...]]:
    """Metrics of a summary that are made of outputs, and the outputs that each needs.

    The other metrics need distance, heading and counters of the robot alone.
    """
    names, needs = list(outputs), {}
    if travel is not None:
        needs |= {mean_name(name): (name,) for name in travel.means if name in names}
        if travel.friction:
            needs["friction_needed"] = travel.friction
    for name in names:
        needs |= dict.fromkeys(told_names(name), (name,))
    drawn = tuple(name for name in names if name.rpartition(".")[2] == SUMMED)
    if drawn:
        shafts = tuple(f"{name.rpartition('.')[0]}.power" for name in drawn)
        energy = (*drawn, *(name for name in shafts if name in names))
        needs["electrical_energy"] = energy
        if travel is not None:
            needs["electrical_cost_of_transport"] = energy
    return needs


def worth_statistics(outputs: Iterable[str], travel: Travel | None) -> tuple[str, ...]:
    """Those of these outputs (flat names) that an engine integrates along a run, in their order."""
    means = () if travel is None else travel.means
    return tuple(
        name for name in outputs if name in means or name.rpartition(".")[2] in (*TOLD, SUMMED)
    )


def looked_at(outputs: Iterable[str], travel: Travel | None, power: Any) -> tuple[str, ...]:
    """Outputs that are looked at inside every step.

    Those worth statistics, then those of which ports are a part.
    """
    parts = (
        [info.part_of for _, _, info in named_leaves(power) if info.part_of] if power != () else []
    )
    return tuple(dict.fromkeys([*worth_statistics(outputs, travel), *parts]))
