"""Contracts of friction along the ground.

Any law, and those with the two coefficients of dry friction.
"""

import abc
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import ParameterError, Parametric, param
from footfall.numerics.scalar import Scalar


class AbstractFriction(Parametric):
    """Force along the ground on a foot that slides with `speed` under the load `normal` >= 0.

    A law may keep one number per foot, its bristle, which the caller carries as a state, starts at
    0 and lets grow by `bristle_rate`, in flight too. Where `has_memory` is False there is none:
    callers give 0.0, and need no state.

    Callers may rely on: `force` is odd in (speed, bristle) together and 0 without load; `loss >=
    0`; and

        -force * speed = d(energy)/dt + loss                                            (friction.1)

    for every speed, load and bristle, and however the load changes meanwhile: energy depends on the
    bristle alone.
    """

    has_memory: ClassVar[bool] = False

    @abc.abstractmethod
    def force(self, speed: Scalar, normal: Scalar, bristle: Scalar) -> Scalar:
        """Force on the foot along the ground.

        Without memory it opposes `speed`, with it what `speed` has done of late.
        """

    def bristle_rate(self, speed: Scalar, normal: Scalar, bristle: Scalar) -> Scalar:
        """d(bristle)/dt."""
        del normal, bristle
        return 0.0 * speed

    def energy(self, bristle: Scalar) -> Scalar:
        """Energy stored in the bristle."""
        return 0.0 * bristle

    def loss(self, speed: Scalar, normal: Scalar, bristle: Scalar) -> Scalar:
        """Power turned into heat: all of it, where nothing is stored."""
        return -self.force(speed, normal, bristle) * speed


class AbstractDryFriction(AbstractFriction):
    """Friction in proportion to the load, less while sliding than at the start of it."""

    static_coefficient: Scalar = param(0.4, doc="coefficient mu_s, at which sliding starts", gt=0)
    kinetic_coefficient: Scalar = param(
        0.3, doc="coefficient mu_k of fast sliding, not above the static one", gt=0
    )
    stribeck_speed: Scalar = param(
        0.05,
        unit="m/s",
        doc="speed v_s over which the coefficient falls from one to the other",
        gt=0,
    )

    def coefficient(self, speed: Scalar) -> Scalar:
        """Coefficient of friction at a speed.

        mu(v) = mu_k + (mu_s - mu_k) exp(-(v/v_s)^2)                                    (friction.2)
        """
        ratio = speed / self.stribeck_speed
        return self.kinetic_coefficient + (
            self.static_coefficient - self.kinetic_coefficient
        ) * jnp.exp(-ratio * ratio)

    def __check_init__(self) -> None:
        super().__check_init__()
        _require_static_above_kinetic(
            type(self).__name__, self.static_coefficient, self.kinetic_coefficient
        )


def _require_static_above_kinetic(owner: str, static: Any, kinetic: Any) -> None:
    if not all(
        isinstance(value, int | float | np.ndarray | np.generic) for value in (static, kinetic)
    ):
        return  # traced: checked at the door
    held, slid = np.broadcast_arrays(np.asarray(static, float), np.asarray(kinetic, float))
    worst = int(np.argmin(held - slid))
    mu_s, mu_k = held.flat[worst], slid.flat[worst]
    if mu_k > mu_s:
        raise ParameterError(
            f"{owner}.kinetic_coefficient = {mu_k:g} is above static_coefficient = {mu_s:g}:"
            f" sliding would hold better than sticking. Raise static_coefficient to {mu_k:g} or"
            " more, or lower this one.",
            "kinetic_coefficient",
            worst if held.ndim else None,
        )
