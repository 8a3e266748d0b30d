"""Centipedes for tests.

Batches on the step engine as the physics page runs them, and states that touch everything.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from footfall import load
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.hybrid.system import HybridState
from footfall.scenario.vary import batched

STEP = 1e-4  # s, of the physics page


def march(system, state, duration, *, step=STEP, method="semi-implicit-euler", **options):
    """A batch or one robot through time."""
    return run_batch(system, state, BatchPlan(duration, step, method, **options))


def lanes(scenario, columns, settings=()):
    """(system, state) of a scenario with one lane for each value."""
    return batched(
        load(scenario, settings),
        {key: np.asarray(values, float) for key, values in columns.items()},
    )


def shaken(system, seed, *, size=1.0):
    """A state in which everything is bent, in motion and in touch.

    Its start, disturbed, and lowered into the ground.
    """
    draw = np.random.default_rng(seed)
    x, m = system.Start().state(system)

    def noise(like, scale):
        return size * scale * draw.standard_normal(np.shape(like))

    def points(p, low):
        moved = dataclasses.replace(
            p,
            x=p.x + noise(p.x, 0.004),
            z=p.z - low + noise(p.z, 0.004),
            vx=p.vx + noise(p.vx, 0.2),
            vz=p.vz + noise(p.vz, 0.2),
        )
        return moved if p.bristle is None else dataclasses.replace(moved, bristle=noise(p.x, 1e-4))

    legs = dataclasses.replace(
        x.legs,
        phase=x.legs.phase + noise(x.legs.phase, 2.0),
        lift=np.abs(noise(x.legs.lift, 0.02)),
        unsupported=draw.uniform(0, 1, x.legs.unsupported.shape),
    )
    state = dataclasses.replace(
        x, nodes=points(x.nodes, 0.035), tips=points(x.tips, 0.003), legs=legs
    )
    missing = draw.integers(0, 2, m.missing.shape).astype(float)
    tree = jax.tree.map(lambda v: jnp.asarray(v, float), state)
    return HybridState(tree, dataclasses.replace(m, missing=jnp.asarray(missing)))


def momentum(system, x):
    """(linear x, linear z, angular about the origin), by the masses of segments and tips."""
    parts = [(system.body.mass, x.nodes), (system.tip_masses(x.tips.x), x.tips)]
    return np.array(
        [
            sum(np.sum(m * p.vx) for m, p in parts),
            sum(np.sum(m * p.vz) for m, p in parts),
            sum(np.sum(m * (p.x * p.vz - p.z * p.vx)) for m, p in parts),
        ]
    )
