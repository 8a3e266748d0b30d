"""Adams-Bashforth methods with steps of any length.

The slopes of the steps before are the only stages.
"""

from typing import Any, NamedTuple

import diffrax
import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from footfall.engines.events.runge_kutta import AbstractFixedStep, rk4_step_in_a_loop

#: Slopes are used only while their weights, in units of the step, add up to less than this in
#: absolute value. It is 2 to 12 for equal steps of orders 2 to 5. It grows when a step is many
#: times longer than those before it (by 13 for order 4), and then multiplies whatever noise the
#: slopes carry.
MOST_WEIGHT = 1e3


class History(NamedTuple):
    """Slopes of the steps before, with their ages.

    An engine may count time from the start of each step.
    """

    slope: Array  #: at the start of the next step
    older: Array  #: (slopes - 1, states), at the starts of the steps before, newest first
    ages: Array  #: time from each of them to the start of the next step
    known: Array  #: how many of them belong to the present vector field

    @classmethod
    def begin(cls, slope: Array, slopes: int) -> "History":
        """Nothing known but the slope here; ages that are not known yet only have to differ."""
        older = jnp.zeros((slopes - 1, *slope.shape), slope.dtype)
        return cls(
            slope, older, jnp.arange(1.0, slopes, dtype=slope.dtype), jnp.zeros((), jnp.int32)
        )

    @property
    def slopes(self) -> Array:
        """All of them, newest first."""
        return jnp.concatenate([self.slope[None], self.older])

    def restarted(self, slope: Array, made_jump: Any) -> "History":
        """With the slope here; what was stored before a jump belongs to another vector field."""
        return self._replace(slope=slope, known=jnp.where(made_jump, 0, self.known))

    def after(self, length: Any, end: Array) -> "History":
        """A step later."""
        room = len(self.ages)
        ages = jnp.concatenate([jnp.zeros(1, self.ages.dtype), self.ages]) + length
        return History(end, self.slopes[:room], ages[:room], jnp.minimum(self.known + 1, room))


class Extrapolation(NamedTuple):
    """The polynomial through the slopes of a history, integrated from the start of a step."""

    # (slopes, slopes): row k holds the weight of each slope in the coefficient of x^(k+1), x in [0,
    # 1]
    powers: Array
    usable: Array  #: the history is full, and not bunched together so closely that weights explode

    @classmethod
    def of(cls, history: History, length: Any) -> "Extrapolation":
        """For a step of this length.

        With nodes x_j = -age_j / h, Lagrange's polynomials L_j(x) = prod_(m != j) (x - x_m) / (x_j
        - x_m), and integral_0^x L_j = sum_k powers[k, j] x^(k+1)                    (integrators.2)
        """
        nodes = jnp.concatenate([jnp.zeros(1, history.ages.dtype), -history.ages / length])
        count = len(nodes)
        eye = np.eye(count)
        # Row: power of x, column: which polynomial.
        lagrange = jnp.zeros((count, count), nodes.dtype).at[0].set(1.0)
        for m in range(count):
            raised = jnp.concatenate([jnp.zeros((1, count), nodes.dtype), lagrange[:-1]])  # times x
            factor = (raised - nodes[m] * lagrange) / jnp.where(eye[m] == 1, 1.0, nodes - nodes[m])
            lagrange = jnp.where(eye[m] == 1, lagrange, factor)
        powers = lagrange / np.arange(1.0, count + 1)[:, None]
        usable = (history.known >= count - 1) & (
            jnp.sum(jnp.abs(jnp.sum(powers, axis=0))) < MOST_WEIGHT
        )
        return cls(powers, usable)


class AdamsBashforth(AbstractFixedStep):
    """Adams-Bashforth of orders 1 to 5, at one slope a step.

    y1 = y0 + h sum_j w_j f_j                                                        (integrators.3)
    w_j = (1/h) integral over the step of the Lagrange polynomial of slope j

    The weights come from the true ages of the slopes, so the method is exact for polynomials of its
    order whatever the steps. A step of another length than the last one is therefore no reason to
    restart, and must not be one: an engine cuts steps where a guard arms, at the end of a run and
    near the ground, and each restart would cost the slopes of a Runge-Kutta start.

    A jump is a reason. Slopes stored before it belong to another vector field, so the first order -
    1 steps after it (and at the beginning) are classical Runge-Kutta ones, whose error of h^5 a
    step keeps every order up to 5. A step so much longer than those before it that the weights
    explode (MOST_WEIGHT) is a Runge-Kutta one too, and forgets nothing.

    Samples between steps lie on a cubic through both ends with their slopes: an error of h^4, so at
    order 5 samples lose one order; the steps themselves, the events and the end of a run do not.
    """

    degree: int = eqx.field(default=4, static=True)

    def __init__(self, order: int = 4):
        if order not in range(1, 6):
            raise ValueError(
                f"AdamsBashforth(order={order}): orders are 1 to 5; above that the start would need"
                " another method."
            )
        self.degree = order

    def order(self, terms: Any) -> int:
        return self.degree

    def init(self, terms: Any, t0: Any, t1: Any, y0: Array, args: Any) -> History:
        return History.begin(terms.vf(t0, y0, args), self.degree)

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

        def field(t: Any, y: Array) -> Array:
            return terms.vf(t, y, args)

        drawn = Extrapolation.of(solver_state, length)

        def multistep() -> tuple[Array, Array]:
            weights = length * jnp.sum(drawn.powers, axis=0)
            return y0 + jnp.sum(weights[:, None] * solver_state.slopes, axis=0), solver_state.slope

        def anew() -> tuple[Array, Array]:
            if self.degree == 1:
                slope = field(t0, y0)
                return y0 + length * slope, slope
            return rk4_step_in_a_loop(field, t0, length, y0)

        # A branch, so that the stages of the start are not computed in every step.
        y1, slope = lax.cond(drawn.usable & ~jnp.asarray(made_jump), multistep, anew)
        end = field(t1, y1)
        history = solver_state.restarted(slope, made_jump).after(length, end)
        return (
            y1,
            None,
            {"y0": y0, "y1": y1, "k0": length * slope, "k1": length * end},
            history,
            diffrax.RESULTS.successful,
        )
