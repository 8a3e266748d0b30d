"""Rough ground is as rough as it says, whatever its seed, and level where it has not begun."""

import jax
import numpy as np
import pytest

from footfall.machines.parts.terrain.rough import Rough


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_the_roughness_of_a_long_ground_is_its_rise(seed):
    ground = Rough(rise=0.003, wavelength=0.2, seed=seed)
    x = np.linspace(10.0, 10.0 + 4000 * 0.2, 400_001)
    height = np.asarray(ground.height(x))
    # Waves of different lengths are uncorrelated in the long run: over 4000 of them to a percent.
    assert np.sqrt(np.mean(height**2)) == pytest.approx(0.003, rel=0.02)
    assert abs(np.mean(height)) < 0.02 * 0.003


def test_the_slope_of_rough_ground_is_the_derivative_of_its_height():
    ground, x = Rough(shift=3.3), np.linspace(-0.5, 2.0, 997)
    slope = jax.vmap(jax.grad(ground.height))(x)
    np.testing.assert_allclose(ground.slope(x), slope, atol=1e-12)  # rounding of slopes near one


def test_rough_ground_is_level_until_it_begins_and_another_place_when_shifted():
    ground = Rough(begin=0.2)
    assert not np.any(ground.height(np.linspace(-3.0, 0.2, 50)))
    far, moved = Rough(), Rough(shift=0.7)
    x = np.linspace(2.0, 3.0, 50)
    np.testing.assert_allclose(far.height(x + 0.7), moved.height(x), atol=1e-15)
