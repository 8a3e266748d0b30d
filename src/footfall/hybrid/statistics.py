"""Which outputs of a robot are worth statistics.

Chosen once, here, for every engine and every summary.
"""

from collections.abc import Iterable
from typing import Any

from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.system import Travel

#: Outputs by their own name, within a motor or joint, of which mean, root-mean-square and peak are
#: told.
TOLD = ("torque", "current", "angle_error", "extension_error")
#: ... of which the integral is told: energy drawn.
SUMMED = "electrical_power"


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
