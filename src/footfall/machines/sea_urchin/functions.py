"""The equations of one spike as functions of arrays: `ff.robots.sea_urchin`.

Joints q = (theta_1, theta_2, d_3), places and rates stand in the last axis, of length 3; any axes
before it are lanes. NumPy arrays and plain numbers give NumPy arrays; JAX arrays give JAX arrays,
also under `jax.jit`, `jax.vmap` and `jax.grad`. Places are in the frame S of the spike: origin at
its attachment, x radially outwards, y straight DOWN, z along the ring, counter-clockwise.
A `spike` that is not given is that of profile T, `ff.parts.Spike()`.

>>> import footfall as ff
>>> q = ff.robots.sea_urchin.spike_inverse([0.0563, 0.0375, 0.01])
>>> q.round(4).tolist()
[0.5235, 1.7234, 0.0208]
>>> ff.robots.sea_urchin.spike_mass_matrix(q).shape
(3, 3)
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from footfall.machines.sea_urchin import spike_dynamics, spike_kinematics
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_kinematics import Rows, Vector
from footfall.numerics.namespace import namespace

Array = Any  #: of NumPy or JAX, or nested lists of numbers


def spike_forward(q: Array, spike: Spike | None = None) -> Array:
    """The ball's centre (r + k + d_3) z_2 (..., 3) in S [m]; the floor is the ball's radius below.

    Arguments:
        q: joints (..., 3) [rad, rad, m].
        spike: lengths; without it those of profile T.
    """
    return _vector(spike_kinematics.forward(_shape(spike), *_parts(q)), q)


def spike_inverse(contact: Array, spike: Spike | None = None) -> Array:
    """Joints (..., 3) that put the point where the ball touches a level floor at `contact`.

    Arguments:
        contact: points (..., 3) in S [m].
        spike: lengths; without it those of profile T.

    The branch has theta_2 in (0, pi). The slide is not cut off at its ends: see `spike_reaches`.
    """
    return _vector(spike_kinematics.inverse(_shape(spike), *_parts(contact)), contact)


def spike_reaches(q: Array, spike: Spike | None = None) -> Array:
    """Whether the slide can be where these joints (..., 3) have it: 0 <= d_3 <= stroke; (...)."""
    return spike_kinematics.within_stroke(_shape(spike), _parts(q)[2])


def spike_rotation(q: Array) -> Array:
    """Axes of the cylinder in S, as columns (..., 3, 3); the last is the spike's direction z_2."""
    q1, q2, _ = _parts(q)
    return _matrix(spike_kinematics.orientation(q1, q2), q)


def spike_jacobian(q: Array, spike: Spike | None = None) -> Array:
    """J (..., 3, 3) of the ball's centre: its velocity in S is J q'; a force f needs J^T f."""
    return _matrix(spike_kinematics.ball_jacobian(_shape(spike), *_parts(q)), q)


def spike_angular_jacobian(q: Array) -> Array:
    """J_w (..., 3, 3): the angular velocity of the spike in S is J_w q'."""
    return _matrix(spike_kinematics.angular_jacobian(_parts(q)[0]), q)


def spike_rates(q: Array, velocity: Array, spike: Spike | None = None) -> Array:
    """Joint rates (..., 3) that move the ball's centre with `velocity` (..., 3) in S."""
    found = spike_kinematics.joint_rates(_shape(spike), _parts(q), _parts(velocity))
    return _vector(found, q, velocity)


def spike_mass_matrix(q: Array, spike: Spike | None = None) -> Array:
    """D (..., 3, 3) of effort = D q'' + C q' + g, a diagonal matrix."""
    d1, d2, d3 = spike_dynamics.mass_matrix(_inertia(spike, q), _parts(q)[1])
    return _matrix(((d1, 0.0, 0.0), (0.0, d2, 0.0), (0.0, 0.0, d3)), q)


def spike_coriolis_matrix(q: Array, v: Array, spike: Spike | None = None) -> Array:
    """C (..., 3, 3) by Christoffel's symbols, at joint rates v (..., 3): D' - 2 C is skew."""
    return _matrix(spike_dynamics.coriolis(_inertia(spike, q), _parts(q)[1], _parts(v)), q, v)


def spike_gravity(q: Array, spike: Spike | None = None, gravity: float = 9.81) -> Array:
    """Efforts g(q) (..., 3) that hold the spike still: N m, N m, N."""
    q1, q2, _ = _parts(q)
    return _vector(spike_dynamics.gravity_load(_inertia(spike, q), q1, q2, gravity), q)


def spike_effort(
    q: Array, v: Array, a: Array, spike: Spike | None = None, gravity: float = 9.81
) -> Array:
    """Efforts D a + C v + g (..., 3) for joint accelerations a at joint rates v: N m, N m, N."""
    inertia = _inertia(spike, q)
    weights = spike_dynamics.mass_matrix(inertia, _parts(q)[1])
    bias = spike_dynamics.bias(inertia, _parts(q), _parts(v), gravity)
    rows = zip(weights, _parts(a), bias, strict=True)
    one, two, three = (d * acceleration + b for d, acceleration, b in rows)
    return _vector((one, two, three), q, v, a)


def spike_acceleration(
    q: Array, v: Array, effort: Array, spike: Spike | None = None, gravity: float = 9.81
) -> Array:
    """Joint accelerations D^-1 (effort - C v - g) (..., 3)."""
    inertia = _inertia(spike, q)
    found = spike_dynamics.accelerations(inertia, _parts(q), _parts(v), _parts(effort), gravity)
    return _vector(found, q, v, effort)


def _shape(spike: Spike | None) -> spike_kinematics.SpikeShape:
    return (Spike() if spike is None else spike).shape


def _inertia(spike: Spike | None, q: Array) -> spike_dynamics.SpikeInertia:
    return (Spike() if spike is None else spike).inertia(_parts(q)[2])


def _parts(vectors: Array) -> Vector:
    """(..., 3) as three arrays of the lanes."""
    vectors = vectors if namespace(vectors) is jnp else np.asarray(vectors, float)
    if vectors.ndim == 0 or vectors.shape[-1] != 3:
        raise ValueError(
            f"three numbers are needed in the last axis, and this has the shape {vectors.shape}."
        )
    return vectors[..., 0], vectors[..., 1], vectors[..., 2]


def _vector(parts: Vector, *given: Array) -> Array:
    xp = namespace(*given)
    return xp.stack(xp.broadcast_arrays(*map(xp.asarray, parts)), axis=-1)


def _matrix(rows: Rows, *given: Array) -> Array:
    xp = namespace(*given)
    cells = xp.broadcast_arrays(*(xp.asarray(cell) for row in rows for cell in row))
    return xp.stack(cells, axis=-1).reshape(*cells[0].shape, 3, 3)
