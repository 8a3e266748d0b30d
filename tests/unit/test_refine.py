"""Labels of a plane, refined where they change; chances from counts; indices from samples."""

import math

import numpy as np
import pytest

from footfall.numerics.chances import Z95, saltelli, sobol_indices, wilson
from footfall.numerics.refine import UNKNOWN, cells, lattice, shares, wanted


def labelled(rule, coarse, depth):
    """The plane of a rule, the number of points that were asked for, and rounds of each level."""
    labels, asked, rounds = lattice(coarse, depth), 0, []
    for level in range(depth + 1):
        rounds.append(0)
        while len((points := wanted(labels, coarse, level))[0]):
            assert np.all(labels[points] == UNKNOWN)
            x, y = (p / (labels.shape[0] - 1) for p in points)
            labels[points] = rule(x, y)
            asked, rounds[-1] = asked + len(x), rounds[-1] + 1
    return labels, asked, rounds


def disc(x, y):
    return (np.hypot(x - 0.5, y - 0.45) < 0.31).astype(int)


def test_the_area_of_a_disc_lies_within_its_bounds_which_shrink_with_the_cells():
    true, gaps = math.pi * 0.31**2, []
    for depth in (0, 2, 4):
        labels, _, _ = labelled(disc, 16, depth)
        low, guess, high = shares(labels, 16, np.array([1]))
        assert low < true < high and low < guess < high
        gaps.append(high - low)
    # An edge of length s cuts about 4 s / (pi h) cells of side h on average, so the gap is
    # proportional to h; 20 % for the lattice's chance.
    assert gaps[0] / gaps[1] == pytest.approx(4, rel=0.2)
    assert gaps[1] / gaps[2] == pytest.approx(4, rel=0.2)


def test_points_are_asked_for_along_the_edge_only():
    labels, asked, _ = labelled(disc, 16, 5)
    assert asked < 0.05 * labels.size
    found = cells(labels, 16)
    assert np.sum(found.size.astype(float) ** 2) == (labels.shape[0] - 1) ** 2  # a whole tiling
    assert np.all(found.size[found.label == UNKNOWN] == 1)  # what the edge cuts is cut to the end


def test_an_edge_is_followed_into_cells_whose_corners_agree():
    """A tongue that enters between the corners of coarse cells is seen by finer neighbours."""

    def tongue(x, y):
        return ((x < 0.26) | ((np.abs(y - 0.53) < 0.02) & (x < 0.8))).astype(int)

    labels, _, rounds = labelled(tongue, 8, 5)
    low, _, high = shares(labels, 8, np.array([1]))
    assert low < 0.26 + 0.54 * 0.04 < high
    assert max(rounds) > 1


def test_wilson_is_the_set_of_chances_that_the_count_does_not_refute():
    for count, of in ((0, 10), (3, 10), (250, 256), (256, 256)):
        for edge in wilson(np.array(count), of, Z95):
            # Squared, so that rounding of an edge at 0 or 1 stays rounding.
            variance = Z95**2 * edge * (1 - edge) / of
            assert (count / of - edge) ** 2 == pytest.approx(variance, abs=1e-14)


def test_indices_of_the_ishigami_function_are_those_of_its_closed_form():
    """f = sin a + 7 sin^2 b + 0.1 c^4 sin a on [-pi, pi]^3 (Ishigami & Homma 1990)."""
    from scipy.stats import qmc

    a, b = 7.0, 0.1
    alone = 0.5 * (1 + b * math.pi**4 / 5) ** 2
    second = a * a / 8
    with_c = b * b * math.pi**8 * (1 / 18 - 1 / 50)
    variance = alone + second + with_c
    points = saltelli(qmc.Sobol(6, rng=np.random.default_rng(1)).random(2048))
    x = math.pi * (2 * points - 1)
    values = np.sin(x[..., 0]) * (1 + b * x[..., 2] ** 4) + a * np.sin(x[..., 1]) ** 2
    found = sobol_indices(values)
    # Both estimators are means over 2048 points whose spread, divided by V, is about 1:
    # three standard errors of a random sample; a Sobol' sample is better.
    error = 3 / math.sqrt(2048)
    assert found.first == pytest.approx([alone / variance, second / variance, 0], abs=error)
    total = [(alone + with_c) / variance, second / variance, with_c / variance]
    assert found.total == pytest.approx(total, abs=error)
    for truth, ends in ((total, found.total_range), (found.first, found.first_range)):
        assert np.all((ends[0] - 0.02 < truth) & (truth < ends[1] + 0.02))


def test_points_without_a_number_are_left_out_and_a_constant_has_no_indices():
    values = np.random.default_rng(0).normal(size=(4, 64))
    values[2, :8] = np.nan
    assert sobol_indices(values).rows == 56
    assert sobol_indices(np.full((4, 64), 2.0)) is None
