"""Gains that walk: the table of section 5 of the control stack's specification, in lockstep, as
lanes of one batch.
"""

import numpy as np
import pytest

from footfall import Outcome, load, rollout

#: J2, delay [s], Kp, Ki, Kd, Tf [s] -> speed, step time, least and largest pitch, rms and peak
#: current per motor; None: it falls
ROWS = [
    ((0.0, 0.00, 20, 40, 1.00, 0.01), (0.612, 0.2609, 0.578, 0.617, 4.21, 7.65)),
    ((0.0, 0.01, 20, 40, 1.00, 0.01), None),
    ((0.0, 0.00, 8, 20, 0.40, 0.01), (0.593, 0.2684, 0.564, 0.644, 4.12, 5.48)),
    ((0.0, 0.01, 4, 10, 0.25, 0.01), (0.561, 0.2844, 0.533, 0.695, 4.13, 5.76)),
    ((0.0, 0.01, 2, 5, 0.15, 0.01), (0.467, 0.3403, 0.456, 0.766, 4.04, 5.66)),
    ((0.0, 0.01, 6, 10, 0.45, 0.01), (0.591, 0.2697, 0.556, 0.668, 4.27, 6.23)),
    ((0.01, 0.01, 4, 10, 0.25, 0.01), (0.459, 0.3475, 0.456, 0.748, 4.27, 6.69)),
    ((0.01, 0.01, 6, 10, 0.45, 0.01), (0.561, 0.2842, 0.551, 0.661, 4.19, 6.02)),
    ((0.03, 0.01, 20, 40, 1.00, 0.01), (0.606, 0.2635, 0.576, 0.631, 4.42, 7.14)),
    ((0.03, 0.01, 4, 10, 0.25, 0.01), (0.617, 0.2588, 0.577, 0.618, 4.05, 4.77)),
    ((0.03, 0.01, 6, 10, 0.45, 0.01), (0.604, 0.2647, 0.570, 0.623, 4.08, 5.56)),
]
KEYS = (
    "torso.inertia",
    "stack.pitch_delay",
    "controller.proportional",
    "controller.integral",
    "controller.derivative",
    "controller.filter_time",
)
TRACKED = ("computer.pitch", "motor.current")


def measured(results, row):
    names = (
        "mean_speed",
        "step_time",
        "computer.pitch_min",
        "computer.pitch_max",
        "motor.current_rms",
        "motor.current_max",
    )
    return tuple(float(results[name].values.ravel()[row]) for name in names)


def require(found, expected):
    assert found[:2] == pytest.approx(expected[:2], rel=0.03)  # the page's own tolerance
    # Rad; the page gives three digits, of another integrator.
    assert found[2:4] == pytest.approx(expected[2:4], abs=0.002)
    assert found[4:] == pytest.approx(expected[4:], rel=0.03)


@pytest.fixture(scope="module")
def table():
    designs = {key: [inputs[i] for inputs, _ in ROWS] for i, key in enumerate(KEYS)}
    # The page's runs had no supervisor to cut the motors off.
    designs["stack.speed_limit"] = [1e4] * len(ROWS)
    return rollout(load("rimless-wheel-closed-loop"), designs=designs, track=TRACKED)


@pytest.mark.parametrize("row", range(len(ROWS)))
def test_gains_walk_as_the_page_says(table, row):
    expected, outcome = ROWS[row][1], Outcome[str(table["outcome"].values[row])]
    # "falls after 3 steps (1.54 s)": here the run ends where the spoke would first have to pull.
    if expected is None:
        assert (
            outcome is Outcome.lifted_off
            and table["t_end"].values[row] < 1.54
            and table["footfalls"].values[row] <= 3
        )
        return
    assert outcome is Outcome.reached_end
    require(measured(table, row), expected)


def test_with_a_pitch_every_millisecond_the_stiff_gains_walk_with_a_shorter_filter():
    settings = [
        "stack.high_period=1 ms",
        "controller.proportional=20",
        "controller.integral=40",
        "controller.derivative=1",
    ]
    experiment = load(
        "rimless-wheel-closed-loop",
        [*settings, "stack.pitch_delay=0", "controller.filter_time=2 ms"],
    )
    results = rollout(experiment, vary={"stack.pitch_delay": [0.0]}, track=TRACKED)
    require(measured(results, 0), (0.609, 0.2620, 0.584, 0.614, 4.11, 5.91))


def test_the_default_gains_are_those_of_the_page_in_amperes():
    gains = load("rimless-wheel-closed-loop").system.gains
    # The page gives three digits.
    assert np.array(gains[:3]) == pytest.approx([16.3, 27.2, 1.23], rel=5e-3)
    assert (gains.integral_limit, gains.output_limit, gains.period_us) == (
        pytest.approx(5.0),
        pytest.approx(40.0),
        1000,
    )
