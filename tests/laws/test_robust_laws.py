"""Disturbances of the passive wheel, whose speed and whose falls have closed forms."""

import math

import numpy as np
import pytest

import footfall as ff
from footfall.scenario.errors import ScenarioError
from support.wheel_basin import slowest


@pytest.fixture(scope="module")
def wheel():
    return ff.load("passive-wheel", duration=10)


@pytest.fixture(scope="module")
def found(wheel):
    return ff.robust(wheel, {"leg.length": "5%", "mass": 0.05}, push=1.0, runs=64)


def test_the_speed_of_the_passive_wheel_is_explained_by_its_spokes_and_not_by_its_mass(found):
    """It is proportional to the root of the spoke length, and mass cancels (rigid.1, rigid.2)."""
    told = found["indices"]["mean_speed"]
    length, mass = told["leg.length"], told["mass"]
    # The total index of what alone matters is 1 up to the spread of a sample variance, here of 64
    # even points; of what does not matter it is 0 to the solver's error.
    low, high = length["total_range"]
    assert low < 1.0 < high and abs(length["total"] - 1.0) < 0.2
    assert mass["total"] < 1e-6 and abs(mass["first"]) < 1e-3
    row = next(row for row in found.rows if row["source"] == "tolerances")
    assert row["falls"] == 0 and row["share_range"][1] == pytest.approx(0.0148, abs=1e-4)
    # Evenly spread by 5 %, 5 % and 95 % of the lengths are at 0.955 and 1.045; 64 even points.
    speed, ends = found["nominal"]["mean_speed"], row["mean_speed"]
    assert ends["p5"] == pytest.approx(speed * math.sqrt(0.955), rel=2e-3)
    assert ends["p95"] == pytest.approx(speed * math.sqrt(1.045), rel=2e-3)


def test_a_push_at_any_time_of_a_stride_rocks_the_wheel_back_when_its_energy_does_not_do(
    wheel, found
):
    study = found.study
    source = next(one for one in study.sources if one.name == "push on spoke_rate")
    words = study.of_source(found.answers, source.name)["does"]
    run, (first, last) = study.gait.run, study.gait.rows
    rows = first + np.searchsorted(run.t[first : last + 1] - run.t[first], source.drawn["time"])
    rate = run["spoke_rate"][rows] + source.drawn["push"]
    angle = run["spoke_angle"][rows]
    falls = (-rate < slowest(wheel.system, angle)) | (rate >= 0)
    # Rolling back may end on the foot behind: not told here. Lifting off is another law.
    sure = (rate < -1e-6) & (words != "lifted_off") & (np.abs(source.drawn["push"]) > 0)
    assert 5 < np.sum(falls[sure]) < np.sum(sure) - 5
    assert np.array_equal(words[sure] == "rocked_back", falls[sure])


def test_ground_that_does_not_fit_is_left_out_with_the_reason(found):
    assert found["remarks"] == [
        'rough ground is left out: it is level on the whole, and this is "slope"'
    ]
    assert "rough ground is left out" in repr(found)


def test_tolerances_that_mean_nothing_are_refused_with_what_to_write(wheel):
    for given, words in (
        ({"leg.lenght": 0.1}, 'Did you mean "'),
        ({"inertia": 0.1}, "it is 0"),
        ({"spokes": 0.1}, "no number that is built with a spread"),
        ({"mass": "5 kg"}, "--tolerance mass=5 kg"),
    ):
        with pytest.raises(ScenarioError) as caught:
            ff.robust(wheel, given)
        assert words in str(caught.value)
