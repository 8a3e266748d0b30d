"""Two rates in one step.

Slow states are extrapolated over it, fast ones follow in many small Runge-Kutta steps.
"""

import math
from typing import Any, ClassVar

import diffrax
import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from footfall.engines.events.adams_bashforth import Extrapolation, History
from footfall.engines.events.runge_kutta import AbstractFixedStep, rk4_step
from footfall.hybrid.fields import param


class TwoCubics(diffrax.AbstractLocalInterpolation):
    """A step seen through the state and slope at both ends and at a fraction `split` of it.

    Slopes are times its length.
    """

    t0: Any
    t1: Any
    y0: Array
    y1: Array
    k0: Array
    k1: Array
    split: Array
    middle: Array
    k_middle: Array

    def evaluate(self, t0: Any, t1: Any = None, left: bool = True) -> Array:
        if t1 is not None:
            return self.evaluate(t1, left=left) - self.evaluate(t0, left=left)
        length = self.t1 - self.t0
        at = jnp.where(length > 0, (t0 - self.t0) / jnp.where(length > 0, length, 1.0), 0.0)

        def cubic(start: Any, end: Any, y0: Array, y1: Array, k0: Array, k1: Array) -> Array:
            part = end - start
            curve = diffrax.ThirdOrderHermitePolynomialInterpolation(
                t0=start, t1=end, y0=y0, y1=y1, k0=part * k0, k1=part * k1
            )
            return curve.evaluate(at)

        before = cubic(jnp.zeros(()), self.split, self.y0, self.middle, self.k0, self.k_middle)
        after = cubic(self.split, jnp.ones(()), self.middle, self.y1, self.k_middle, self.k1)
        return jnp.where(at < self.split, before, after)


class Multirate(AbstractFixedStep):
    """A coarse step H for slow states and fine ones h for fast states (feet), in one pass.

    slow path        Y(s) = y_n + integral_0^s P,
                     P the polynomial through the slow slopes of the last p coarse points
    fast states      dz/ds = f(s, Y(s), z) by ceil(H/h) classical Runge-Kutta steps along that path
    slow states      y_(n+1) = y_n + H mean of f(s, Y(s), z(s)),
                     by the weights of the same Runge-Kutta steps                    (integrators.4)

    Y errs by H^(p+1) within a step, its slope's mean is off by as much, so the method is of order p
    + 1 in H; with p = 1 a position gets H v + H^2 a/2. What the fine steps add is of order 4 in h.
    The mean, not a slope at one instant, is what lets a force that rings within H act on a slow
    body.

    For the first p - 1 steps after a jump, and when the weights explode (see AdamsBashforth), every
    state counts as fast: the whole system moves in fine Runge-Kutta steps, and no other start is
    needed.

    The whole field is evaluated in every fine step, so what is saved is what an engine does once a
    step: guards, looks, stores. A fast state that rings within H is sampled on two cubics only, and
    an engine looks for its events on curves as coarse: near the ground let it cut the step
    (`near_room`, `near_step` of an EventEngine).

    `fast` says which entries of the vector are fast; `for_states` binds it. `fine_step` is compiled
    in: a new one compiles anew.
    """

    interpolation_cls: ClassVar = TwoCubics

    fine_step: float = param(
        1e-5, unit="s", gt=0, static=True, doc="step of the fast states (multirate only)"
    )
    slopes: int = eqx.field(default=2, static=True)  #: p
    fast: tuple[bool, ...] | None = eqx.field(default=None, static=True)

    def __check_init__(self) -> None:
        if not (math.isfinite(self.fine_step) and self.fine_step > 0):
            raise ValueError(
                f"Multirate.fine_step = {self.fine_step:g} s must be a positive, finite number."
            )
        if self.slopes not in range(1, 4):
            raise ValueError(
                f"Multirate.slopes = {self.slopes} must be 1 to 3: the order is one more, and that"
                " of the fine steps is 4."
            )

    def for_states(self, fast: Any) -> "Multirate":
        """The same solver, told which entries of the state vector are fast."""
        return Multirate(self.fine_step, self.slopes, tuple(bool(f) for f in fast))

    def order(self, terms: Any) -> int:
        return self.slopes + 1

    def init(self, terms: Any, t0: Any, t1: Any, y0: Array, args: Any) -> History:
        if self.fast is None or len(self.fast) != y0.shape[0] or not any(self.fast):
            raise ValueError(
                f"Multirate needs to know which of {y0.shape[0]} states are fast, and has"
                f" {self.fast}: use `for_states`."
            )
        return History.begin(terms.vf(t0, y0, args), self.slopes)

    def step(
        self,
        terms: Any,
        t0: Any,
        t1: Any,
        y0: Array,
        args: Any,
        solver_state: History,
        made_jump: Any,
    ) -> tuple:
        length = t1 - t0
        slope = lax.cond(made_jump, lambda: terms.vf(t0, y0, args), lambda: solver_state.slope)
        history = solver_state.restarted(slope, made_jump)
        drawn = Extrapolation.of(history, length)
        coefficients = length * jnp.sum(drawn.powers[:, :, None] * history.slopes, axis=1)
        own = np.asarray(self.fast) | ~drawn.usable

        def rate(x: Any, y: Array) -> Array:
            """Slope times H at fraction x of the step.

            Of fast states as they are, of slow ones on their path.
            """
            path = jnp.zeros_like(y0)
            for row in coefficients[::-1]:
                path = x * (path + row)
            return length * terms.vf(t0 + x * length, jnp.where(own, y, y0 + path), args)

        # Slightly less than the ratio, so that a step of ten fine ones is not cut into eleven.
        count = jnp.maximum(1.0, jnp.ceil(lax.stop_gradient(length) / self.fine_step * (1 - 1e-9)))
        half = jnp.floor(0.5 * count)

        def fine(i: Array, carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            y, middle, k_middle = carry
            x = i.astype(count.dtype) / count
            first, seen = rate(x, y), i == half
            return (
                rk4_step(rate, x, 1.0 / count, y, first),
                jnp.where(seen, y, middle),
                jnp.where(seen, first, k_middle),
            )

        y1, middle, k_middle = lax.fori_loop(0, count.astype(int), fine, (y0, y0, y0))
        end = terms.vf(t1, y1, args)
        dense = {
            "y0": y0, "y1": y1, "k0": length * slope, "k1": length * end,
            "split": half / count, "middle": middle, "k_middle": k_middle,
        }  # fmt: skip
        return y1, None, dense, history.after(length, end), diffrax.RESULTS.successful
