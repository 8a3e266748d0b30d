"""What the urchin's computer is given, and what may be said to it.

References without a break, headings, limits, gains.
"""

import numpy as np
import pytest

from footfall import load, simulate
from footfall.machines.sea_urchin.gain_advice import stiff_gains_warning
from footfall.machines.sea_urchin.reference import walking_joints


@pytest.mark.as_compiled
@pytest.mark.parametrize("pattern", ["tripod", "pairs", "wave"])
@pytest.mark.parametrize("stance", [3.0, 1.7])
def test_references_have_no_break_wherever_a_sample_falls(pattern, stance):
    """Samples of a compiled program lie on the borders of pieces to the last bit, or beside them.

    Neither may move a foot.
    """
    robot = load("urchin-walk", [f"gait.pattern={pattern}", f"gait.stance_time={stance}"]).system
    period = float(robot.gait.period)
    t = np.concatenate([np.arange(0.0, 2 * period, 1e-3), np.arange(1, 25) * period / 12])
    joints = walking_joints(robot, np.sort(t))[0]
    # 1 ms of the fastest reference: a few times the lift of 10 mm over 65 mm in half the air time,
    # which is at least 0.17 s.
    assert np.max(np.abs(np.diff(joints, axis=0))) < 0.01
    assert np.ptp(joints[..., 0]) > 0.1  # they do move


def test_a_heading_is_the_bodys_and_the_way_is_measured_along_it():
    runs = []
    for settings in ([], ["start.yaw=90 deg"], ["gait.heading=90 deg"]):
        experiment = load("urchin-walk", settings, duration=7.0)
        run = simulate(experiment.system, experiment.start, experiment.plan)
        runs.append(
            (
                run["travel.distance"][-1],
                run["shell.x"][-1] - run["shell.x"][0],
                run["shell.y"][-1] - run["shell.y"][0],
            )
        )
    for gone, x, y in runs:
        # a tripod's spikes lie otherwise about another heading.
        assert gone == pytest.approx(runs[0][0], rel=0.05) and gone > 0.05
        assert gone == pytest.approx(np.hypot(x, y), rel=0.01)
    assert abs(runs[0][2]) < 0.002 and abs(runs[1][1]) < 0.002 and runs[1][2] > 0.05


def test_books_close_with_motors_at_their_limits():
    experiment = load(
        "urchin-walk", ["controller.force_limit=1.5", "controller.torque_limit=0.15"], duration=7.0
    )
    run = simulate(experiment.system, experiment.start, experiment.plan)
    # It was at the limit.
    assert np.max(np.abs([run[f"drive.slide.{i}"] for i in range(6)])) == pytest.approx(
        1.5, rel=1e-9
    )
    # Of order 1 in the step; 1e-3 with the damping of motors that MuJoCo cuts.
    assert run.ledger.relative_residual < 1e-5


def test_gains_too_stiff_for_the_step_are_warned_of_before_they_blow_up():
    """(spike.22): h^2 P < 4 J + 2 h D, checked on the linear recursion itself."""
    robot = load("urchin-walk").system
    spike, usual = robot.built_spike, robot.controller
    assert stiff_gains_warning(usual, spike, 1e-3) is None
    stiff = load("urchin-walk", ["controller.hinge_proportional=4000"]).system.controller
    assert "first hinge is 2.9 of what steps of 0.001 s can bear" in (
        stiff_gains_warning(stiff, spike, 1e-3) or ""
    )
    loose = load(
        "urchin-walk", ["controller.slide_derivative=0", "controller.slide_proportional=100000"]
    ).system.controller
    assert "slide" in (stiff_gains_warning(loose, spike, 1e-3) or "")
    inertia, damping, step = 1e-4, 0.5, 1e-3
    most = (4 * inertia + 2 * step * damping) / step**2
    for share, stable in ((0.98, True), (1.02, False)):
        p = share * most
        matrix = np.array([[1.0, step], [0.0, 1.0]]) @ (
            np.array([[1.0, 0.0], [-step * p, inertia]])
            / np.array([[1.0], [inertia + step * damping]])
        )
        assert (np.max(np.abs(np.linalg.eigvals(matrix))) < 1.0) == stable


def test_controller_and_gait_may_be_called_by_the_words_people_use():
    assert load("urchin-walk", ["controller=pid"]).document["controller"]["kind"] == "spike-pid"
    assert (
        load("urchin-walk", ["controller=pid", "controller.gains=source"]).system.controller.gains
        == "source"
    )
    assert load("urchin-walk", ["gait=wave"]).system.gait.pattern == "wave"
    assert (
        load("urchin-walk", ["gait=pairs", "controller=stiffness"]).document["controller"]["kind"]
        == "stiffness"
    )
    assert load("rimless-wheel", ["controller=pid"]).document["controller"]["kind"] == "pid"
