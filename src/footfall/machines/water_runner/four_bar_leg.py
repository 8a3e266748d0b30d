"""The leg whose foot a crank drives round through a four-bar linkage."""

import numpy as np

from footfall.hybrid.fields import ParameterError, Parametric, choice, param
from footfall.machines.water_runner.linkage import Links, grashof_margin
from footfall.numerics.scalar import Scalar

ASSEMBLIES = {"below": 1, "mirrored": -1}

#: Least Grashof margin, as a share of the longest of ground, coupler and rocker. With less the
#: linkage is singular in all but name: where coupler and rocker come nearest to one line, the
#: joints carry about the foot's load over sin(theta3 - theta2), which goes like the root of this
#: share (at it, 29 times the load with the default proportions); and in a leg of some centimetres
#: it is less than 0.1 mm, the play of its hinges, which would then choose the assembly in which the
#: leg goes on.
LEAST_MARGIN = 1e-3


class FourBarLeg(Parametric):
    """Crank, coupler and rocker without mass.

    The foot sits on the coupler prolonged beyond the crank's tip.

    The crank must be able to turn fully (four-bar.5): what cannot is refused when the leg is made,
    and so is what barely can.
    """

    ground: Scalar = param(
        0.0615, unit="m", doc="ground link L0, from the crank's axis to the rocker's axis", gt=0
    )
    crank: Scalar = param(0.0218, unit="m", doc="crank L1", gt=0)
    coupler: Scalar = param(
        0.0748, unit="m", doc="coupler L2, from the crank's tip to the rocker's tip", gt=0
    )
    rocker: Scalar = param(0.0468, unit="m", doc="rocker L3", gt=0)
    foot_length: Scalar = param(
        0.0624, unit="m", doc="coupler beyond the crank's tip L4, as far as the foot", gt=0
    )
    assembly: str = choice(
        "below",
        options=ASSEMBLIES,
        doc="how the links are joined: foot below the body, or mirrored about the ground link",
    )

    @property
    def links(self) -> Links:
        """The lengths as the linkage's equations take them."""
        return Links(self.ground, self.crank, self.coupler, self.rocker, self.foot_length)

    @property
    def assembly_sign(self) -> int:
        """The assembly as the linkage's equations take it: +1 below, -1 mirrored."""
        return ASSEMBLIES[self.assembly]

    def __check_init__(self) -> None:
        # first: of a length below zero its sign is to be said, not what follows from it
        super().__check_init__()
        _require_full_turn(self.links)


def _require_full_turn(links: Links) -> None:
    """Of a batch, the worst is named. The length beyond the crank's tip has no say in it."""
    loop = links[:4]
    if not all(isinstance(length, int | float | np.ndarray | np.generic) for length in loop):
        return  # traced: checked at the door
    ground, crank, coupler, rocker = (np.asarray(length, dtype=float) for length in loop)
    longest = np.maximum(np.maximum(ground, coupler), rocker)
    spare = grashof_margin(Links(ground, crank, coupler, rocker, 0.0)) / longest - LEAST_MARGIN
    if np.all(spare >= 0):
        return
    worst = int(np.argmin(spare))
    named = (float(v.flat[worst if v.ndim else 0]) for v in (ground, crank, coupler, rocker))
    field, message = _why_it_does_not_turn(*named)
    raise ParameterError(message, field, worst if spare.ndim else None)


def _why_it_does_not_turn(
    ground: float, crank: float, coupler: float, rocker: float
) -> tuple[str, str]:
    """(the field to change first, what is wrong and what to try)."""
    # To mm.
    ground, crank, coupler, rocker = (1e3 * length for length in (ground, crank, coupler, rocker))
    margin = grashof_margin(Links(ground, crank, coupler, rocker, 0.0))
    others = {"ground": ground, "coupler": coupler, "rocker": rocker}
    longest = max(others, key=lambda name: others[name])
    least = LEAST_MARGIN * others[longest]
    stretched, folded = (
        coupler + rocker - ground - crank,
        abs(ground - crank) - abs(coupler - rocker),
    )
    line = (
        "crank angle 180 deg coupler and rocker stretch"
        if stretched < folded
        else "crank angle 0 coupler and rocker fold"
    )
    if abs(margin) <= least:
        what = (
            f"the linkage is singular or all but: near {line} into one line, where joint loads grow"
            " without bound"
        )
    elif min(stretched, folded) > 0:
        what = (
            "the ground link is the shortest, so that the rocker turns round too; a leg needs the"
            " crank to be the shortest"
        )
    else:
        what = f"the crank cannot turn fully: before {line} into one line"
    numbers = (
        f"the margin (the other two links less crank and longest) is {margin:.3g} mm and must be"
        f" {least:.3g} mm or more (ground {ground:.6g}, crank {crank:.6g}, coupler {coupler:.6g},"
        f" rocker {rocker:.6g} mm)"
    )
    most = crank + margin - least  # the longest crank that these three take
    if most > 0:
        return "crank", f"{what}; {numbers}. Try a crank of at most {_rounded_down(most)} mm."
    rest = " or the ".join(name for name in others if name != longest)
    return (
        longest,
        (
            f"{what}; {numbers}. No crank is short enough for that: shorten the {longest}, or"
            f" lengthen the {rest}."
        ),
    )


def _rounded_down(length: float) -> str:
    """Four digits, never more than it is: what a message proposes must be accepted."""
    scale = 10.0 ** (3 - int(np.floor(np.log10(length))))
    return f"{np.floor(length * (1.0 - 1e-9) * scale) / scale:.4g}"
