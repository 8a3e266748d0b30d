"""Every shipped robot that flows can be differentiated by its parameters and by its start."""

import jax
import numpy as np
import pytest

import footfall as ff
from footfall.hybrid.fields import describe
from footfall.scenario.vary import batched, find_knob, placed


def _numbers_of_start(experiment):
    """Keys of [start] that hold a number now."""
    table = experiment.document["start"]
    keys = [
        k
        for k, info in describe(experiment.start_options).items()
        if info.role == "param" and isinstance(table[k], float)
    ]
    return {
        f"start.{k}": table[k]
        for k in keys
        if not find_knob(experiment, f"start.{k}", "").structural
    }


FLOWING = (
    "passive-wheel", "rimless-wheel", "rimless-wheel-turning", "rimless-wheel-closed-loop", "water-runner-ground", "centipede",
    "urchin-kick",
)  # fmt: skip


@pytest.mark.parametrize("name", FLOWING)
def test_the_start_of_every_robot_moves_with_its_numbers(name):
    experiment = ff.load(name)
    values = _numbers_of_start(experiment)
    for table, field in (("leg", "length"), ("leg", "rest_length")):
        if hasattr(getattr(experiment.system, table, None), field):
            values[f"{table}.{field}"] = float(getattr(getattr(experiment.system, table), field))
    # Off the edges, where there is no derivative: a start may stand on two spokes, roll to neither
    # side, lock its pitch.
    values = {
        key: 0.97 * value + 0.001 for key, value in values.items() if key != "start.pitch_rate"
    }

    def start(numbers):
        leaves = jax.tree.leaves(placed(experiment, numbers)[1])
        return [
            v
            for v in leaves
            if np.issubdtype(np.asarray(v).dtype if np.isscalar(v) else v.dtype, np.floating)
        ]

    slopes = jax.jacfwd(lambda n: start(jax.tree.map(jax.numpy.asarray, n)))(values)
    for key, value in values.items():
        h = 1e-5 * max(abs(value), 0.1)
        _, two = batched(
            experiment, {k: v + h * np.array([-1.0, 1.0]) * (k == key) for k, v in values.items()}
        )
        reals = [
            np.asarray(v)
            for v in jax.tree.leaves(two)
            if np.issubdtype(np.asarray(v).dtype, np.floating)
        ]
        for slope, leaf in zip((s[key] for s in slopes), reals, strict=True):
            difference = (
                (leaf[..., 1] - leaf[..., 0]) / (2 * h)
                if np.ndim(leaf) and leaf.shape[-1] == 2
                else 0.0
            )
            # Central differences: h^2 = 1e-12 of a third derivative, and rounding of 1e-16 / h =
            # 1e-10.
            assert np.allclose(slope, difference, rtol=1e-7, atol=1e-8), key


def test_what_a_robot_works_out_of_its_numbers_when_it_is_made_follows_them():
    lift = {"gait.lift": 0.013}
    walker, _ = placed(ff.load("two-leg-single-step"), lift)
    assert float(walker.plan_time) == float(ff.load("two-leg-single-step", lift).system.plan_time)
    assert float(walker.plan_time) != float(ff.load("two-leg-single-step").system.plan_time)
