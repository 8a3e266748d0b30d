"""What can be said of a spike's control before it runs.

How soft it may be, and how short the steps of an explicit integrator must be.
"""

import numpy as np

from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_control import AbstractSpikeControl, StiffnessControl
from footfall.machines.sea_urchin.spike_dynamics import mass_matrix
from footfall.machines.sea_urchin.spike_kinematics import Vector
from footfall.numerics.scalar import Scalar

#: In the middle of the stroke, pointing along the normal of the shell.
MIDDLE: Vector = (np.pi / 6, np.pi / 2, 0.02)


def least_stiffness(weight: Scalar, lift: Scalar, feet: int = 3) -> Scalar:
    """K_y below which the body sags by more than a foot is lifted: W/(n lift)            (spike.18)

    Below it, swinging feet drag.

    n feet stand: three of a tripod.
    """
    return weight / (feet * lift)


def sag_warning(
    controller: AbstractSpikeControl, weight: float, lift: float, feet: int = 3
) -> str | None:
    """Words for a user whose foot springs are too soft for the lift of the gait, or None."""
    if not isinstance(controller, StiffnessControl):
        return None
    # A foot that is not lifted cannot drag.
    least = float(least_stiffness(weight, lift, feet)) if lift > 0 else 0.0
    given = float(controller.stiffness_y)
    if given >= least:
        return None
    sag = f"by {weight / (feet * given) * 1e3:.3g} mm" if given > 0 else "to the end"
    return (
        f"controller.stiffness_y = {given:g} N/m is below W/({feet} lift) = {least:.0f} N/m: on"
        f" {feet} feet the body sags {sag}, more than the lift of {lift * 1e3:.3g} mm, and swinging"
        " feet drag on the ground. Stiffen it, or lift the feet higher."
    )


def stiffness_at(controller: AbstractSpikeControl, spike: Spike, q: Vector = MIDDLE) -> np.ndarray:
    """Effort of each joint per unit of error of each, near q: columns are errors."""
    still, columns = (0.0, 0.0, 0.0), []
    for j in range(3):
        target = tuple(float(value) + (1.0 if i == j else 0.0) for i, value in enumerate(q))
        columns.append([float(e) for e in controller.wanted(q, still, target, still, still, spike)])
    return np.array(columns).T


def stiff_gains_warning(
    controller: AbstractSpikeControl, spike: Spike, step: float, q: Vector = MIDDLE
) -> str | None:
    """Words for gains that are too stiff for a step, or None.

    For a step whose damping is taken at its end and whose spring at its begin.

    J v' = J v - h (P x + D v'),   x' = x + h v':   stable where h^2 P < 4 J + 2 h D      (spike.22)

    Contacts make it worse: from 0.4 of that on there is a warning.
    """
    stiffness, inertia = (
        np.diag(stiffness_at(controller, spike, q)),
        mass_matrix(spike.inertia(q[2]), q[1]),
    )
    for joint, p, d, j in zip(
        ("first hinge", "second hinge", "slide"),
        stiffness,
        controller.damping,
        inertia,
        strict=True,
    ):
        # Against h^2 P: no quotient of numbers that may be zero.
        bearable = 4.0 * float(j) + 2.0 * step * float(d)
        if step * step * p > 0.4 * bearable:
            most = bearable / step / step
            share = f"{p / most:.2g}" if most > 0 else "far more than all"
            return (
                f"a stiffness of {p:.3g} on the {joint} is {share} of what steps of {step:g} s can"
                f" bear, {most:.3g}: expect chatter or worse. Soften it, damp it more, or take"
                " shorter steps (sim.step)."
            )
    return None


def explicit_step_limit(
    controller: AbstractSpikeControl, spike: Spike, q: Vector = MIDDLE
) -> float:
    """Longest step of Euler's explicit method with which the closed loop is stable near q:

    min over the roots s of det(D s^2 + K_v s + K) of -2 Re(s)/|s|^2                      (spike.19)
    It is 2 J/K_v where damping rules.

    The integral is left out: it is slow. Other explicit methods allow up to 1.4 times as much. 0:
    not stable with any step.
    """
    inverse = 1.0 / np.array([float(d) for d in mass_matrix(spike.inertia(q[2]), q[1])])
    stiffness, damping = (
        stiffness_at(controller, spike, q),
        np.diag([float(d) for d in controller.damping]),
    )
    loop = np.block(
        [
            [np.zeros((3, 3)), np.eye(3)],
            [-inverse[:, None] * stiffness, -inverse[:, None] * damping],
        ]
    )
    roots = np.linalg.eigvals(loop)
    return float(max(0.0, np.min(-2.0 * roots.real / np.maximum(np.abs(roots) ** 2, 1e-300))))
