"""Which outputs of a robot are worth statistics:

chosen once, here, for every engine and every summary.
"""

from collections.abc import Iterable

from footfall.hybrid.system import Travel

#: Outputs by their own name, within a motor or joint, of which mean, root-mean-square and peak are
#: told -> unit.
TOLD = {"torque": "N m", "current": "A", "angle_error": "rad", "extension_error": "m"}
#: ... of which the integral is told: energy drawn.
SUMMED = "electrical_power"


def worth_statistics(outputs: Iterable[str], travel: Travel | None) -> tuple[str, ...]:
    """Those of these outputs (flat names) that an engine integrates along a run, in their order."""
    means = () if travel is None else travel.means
    return tuple(
        name for name in outputs if name in means or name.rpartition(".")[2] in (*TOLD, SUMMED)
    )
