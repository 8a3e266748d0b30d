"""The two-sided wheel with its roll locked: the free one but for the moment that holds it."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from footfall.machines import robots

FREE = robots.rimless_wheel_3d(steering_current=0.5)
LOCKED = dataclasses.replace(FREE, roll="locked")
LANES = 300


def any_states():
    """On both spokes, in full motion, rolled and rolling."""
    start = FREE.Start().state(FREE)
    draw = np.random.default_rng(6)
    sizes = {"height": 0.02, "roll": 0.05, "foot_ahead_left": 0.08, "foot_ahead_right": 0.08}
    x = jax.tree_util.tree_map_with_path(
        lambda path, v: float(v) + draw.uniform(-1, 1, LANES) * sizes.get(path[-1].name, 1.0),
        start.x,
    )
    return x, start.m


def test_only_the_roll_is_held():
    x, m = any_states()
    free, locked = FREE.flow(0.0, x, m).x, LOCKED.flow(0.0, x, m).x
    assert locked.roll_rate == 0.0 and np.std(free.roll_rate) > 1.0
    same = dataclasses.replace(locked, roll_rate=free.roll_rate)
    for a, b in zip(jax.tree.leaves(same), jax.tree.leaves(free), strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_holds_it_is_in_the_books():
    """The stores grow by what the ports bring, also of one that is let go while it rolls."""
    x, m = any_states()
    flow = LOCKED.flow(0.0, x, m)
    whole = jax.tree.map(lambda v: jnp.asarray(v) + jnp.zeros(LANES), (x, flow.x))
    _, grown = jax.jvp(
        lambda x: sum(jax.tree.leaves(LOCKED.stores(0.0, x, m))), *((v,) for v in whole)
    )
    ports = jax.tree.leaves(flow.power)
    size = sum(np.abs(v) for v in ports)
    assert np.max(np.abs(grown - sum(ports)) / size) < 1e-12  # rounding
    assert np.std(flow.power.lock) > 1.0
    still = dataclasses.replace(x, roll_rate=0.0 * x.roll_rate)
    assert not np.any(LOCKED.flow(0.0, still, m).power.lock)
