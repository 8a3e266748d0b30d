"""RODAS: an L-stable method for stiff systems.

It solves linear equations only, with the exact Jacobian.
"""

from typing import Any, ClassVar

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

#: Hairer and Wanner, Solving Ordinary Differential Equations II (2nd ed.), IV.7, method RODAS of
#: their code rodas.f, in the form without products with the Jacobian.
_GAMMA = 0.25
_A = np.array([
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [1.544, 0.0, 0.0, 0.0, 0.0],
    [0.9466785280815826, 0.2557011698983284, 0.0, 0.0, 0.0],
    [3.314825187068521, 2.896124015972201, 0.9986419139977817, 0.0, 0.0],
    [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 0.0],
    [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1.0],
])  # fmt: skip
_C = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [-5.6688, 0.0, 0.0, 0.0, 0.0],
        [-2.430093356833875, -0.2063599157091915, 0.0, 0.0, 0.0],
        [-0.1073529058151375, -9.594562251023355, -20.47028614809616, 0.0, 0.0],
        [7.496443313967647, -10.24680431464352, -33.99990352819905, 11.7089089320616, 0.0],
        [
            8.083246795921522,
            -7.981132988064893,
            -31.52159432874371,
            16.31930543123136,
            -6.058818238834054,
        ],
    ]
)
_TIMES = np.array([0.0, 0.386, 0.21, 0.63, 1.0, 1.0])
_TIME_SLOPES = np.array([0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0])
#: Of the cubic between the ends: y(x) = (1 - x) y0 + x (y1 + (1 - x) (d0 + x d1)).
_DENSE = np.array(
    [
        [
            10.12623508344586,
            -7.487995877610167,
            -34.80091861555747,
            -7.992771707568823,
            1.025137723295662,
        ],
        [
            -0.6762803392801253,
            6.087714651680015,
            16.43084320892478,
            24.76722511418386,
            -6.594389125716872,
        ],
    ]
)
_STAGES = len(_TIMES)


class Rodas4(diffrax.AbstractAdaptiveSolver):
    """Rosenbrock method of order 4, L-stable and stiffly accurate.

    Its error estimate is of order 3.

    (I - h gamma J) u_i = h gamma (f(t + alpha_i h, y0 + sum_j a_ij u_j) + h d_i df/dt) + gamma
    sum_j c_ij u_j
    y1 = y0 + sum_j a_6j u_j + u_6,   error estimate u_6                             (integrators.5)

    Six slopes, one Jacobian (forward mode, exact) and one inverse a step, and no Newton iteration
    that could fail: regularised friction, whose slope changes within the width of its
    regularisation, stops Newton long before it stops the accuracy. Samples lie on the method's own
    cubic; the slopes at the ends are that cubic's, not the field's, which a stiff system multiplies
    by its fastest rate times whatever error there is.
    """

    term_structure: ClassVar = diffrax.ODETerm
    interpolation_cls: ClassVar = diffrax.ThirdOrderHermitePolynomialInterpolation

    def order(self, terms: Any) -> int:
        return 4

    def init(self, terms: Any, t0: Any, t1: Any, y0: Array, args: Any) -> None:
        return None

    def func(self, terms: Any, t0: Any, y0: Array, args: Any) -> Array:
        return terms.vf(t0, y0, args)

    def step(
        self, terms: Any, t0: Any, t1: Any, y0: Array, args: Any, solver_state: None, made_jump: Any
    ) -> tuple:
        del solver_state, made_jump  # nothing is kept
        length, size = t1 - t0, y0.shape[0]

        def field(at: Array) -> Array:
            return terms.vf(at[size], at[:size], args)

        jacobian = jax.jacfwd(field)(jnp.append(y0, t0))
        solve = jnp.linalg.inv(jnp.eye(size) - length * _GAMMA * jacobian[:, :size])
        in_time = jacobian[:, size]

        def stage(i: Any, u: Array) -> Array:
            a, c, alpha, d = (jnp.asarray(table)[i] for table in (_A, _C, _TIMES, _TIME_SLOPES))
            slope = terms.vf(t0 + alpha * length, y0 + a @ u[:5], args) + length * d * in_time
            return u.at[i].set(solve @ (_GAMMA * (length * slope + c @ u[:5])))

        u = lax.fori_loop(0, _STAGES, stage, jnp.zeros((_STAGES, size), y0.dtype))
        y1 = y0 + jnp.asarray(_A[5]) @ u[:5] + u[5]
        first, second = jnp.asarray(_DENSE) @ u[:5]
        rise = y1 - y0
        dense = {"y0": y0, "y1": y1, "k0": rise + first, "k1": rise - first - second}
        return y1, u[5], dense, None, diffrax.RESULTS.successful
