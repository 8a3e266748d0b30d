"""The classical Runge-Kutta step, on its own and as a diffrax solver."""

from collections.abc import Callable
from typing import Any, ClassVar

import diffrax
import jax.numpy as jnp
from jax import Array, lax

Field = Callable[[Any, Array], Array]


def rk4_step(field: Field, t: Any, length: Any, y: Array, slope: Array) -> Array:
    """State after a step of `length` from (t, y), where the field is `slope`.

    k1 = f(t, y), k2 = f(t + h/2, y + h k1/2), k3 = f(t + h/2, y + h k2/2), k4 = f(t + h, y + h k3)
    y1 = y + h (k1 + 2 k2 + 2 k3 + k4) / 6                                           (integrators.1)
    """
    second = field(t + 0.5 * length, y + 0.5 * length * slope)
    third = field(t + 0.5 * length, y + 0.5 * length * second)
    fourth = field(t + length, y + length * third)
    return y + (length / 6.0) * (slope + 2.0 * (second + third) + fourth)


def rk4_step_in_a_loop(field: Field, t: Any, length: Any, y: Array) -> tuple[Array, Array]:
    """The same, and the slope at its start.

    The field is compiled once instead of four times: for steps that are rare.
    """

    def stage(slope: Array, at: Array) -> tuple[Array, Array]:
        slope = field(t + at * length, y + at * length * slope)
        return slope, slope

    _, slopes = lax.scan(stage, jnp.zeros_like(y), jnp.array([0.0, 0.5, 0.5, 1.0], y.dtype))
    return y + (length / 6.0) * (slopes[0] + 2.0 * (slopes[1] + slopes[2]) + slopes[3]), slopes[0]


class AbstractFixedStep(diffrax.AbstractSolver):
    """What our solvers share.

    One vector, no estimate of their error, a cubic through both ends of a step with their slopes.

    The slope at a step's end is kept as the start of the next one, and handed out with the cubic
    (`k0` and `k1`, times the step's length), so an engine that needs slopes at the ends does not
    compute them again.
    """

    term_structure: ClassVar = diffrax.ODETerm
    interpolation_cls: ClassVar = diffrax.ThirdOrderHermitePolynomialInterpolation

    def func(self, terms: Any, t0: Any, y0: Array, args: Any) -> Array:
        return terms.vf(t0, y0, args)


class RungeKutta4(AbstractFixedStep):
    """Classical Runge-Kutta, order 4, four slopes a step.

    Samples between steps lie on a cubic, of the same order.
    """

    def order(self, terms: Any) -> int:
        return 4

    def init(self, terms: Any, t0: Any, t1: Any, y0: Array, args: Any) -> Array:
        return terms.vf(t0, y0, args)

    def step(
        self,
        terms: Any,
        t0: Any,
        t1: Any,
        y0: Array,
        args: Any,
        solver_state: Array,
        made_jump: Any,
    ) -> tuple:
        length = t1 - t0
        slope = lax.cond(made_jump, lambda: terms.vf(t0, y0, args), lambda: solver_state)
        y1 = rk4_step(lambda t, y: terms.vf(t, y, args), t0, length, y0, slope)
        end = terms.vf(t1, y1, args)
        return (
            y1,
            None,
            {"y0": y0, "y1": y1, "k0": length * slope, "k1": length * end},
            end,
            diffrax.RESULTS.successful,
        )
