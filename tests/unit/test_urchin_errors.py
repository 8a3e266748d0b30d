"""Bad input to the sea urchin's spike, gait, control and kick: a small lesson each."""

import math

import numpy as np
import pytest

from footfall import load
from footfall.hybrid.fields import ParameterError
from footfall.machines.sea_urchin.gain_advice import explicit_step_limit, sag_warning
from footfall.machines.sea_urchin.kick_actuator import ConstantForce
from footfall.machines.sea_urchin.kick_roll import KickRoll, KickStart
from footfall.machines.sea_urchin.numbers import urchin_spike
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_control import SpikePid, StiffnessControl
from footfall.machines.sea_urchin.spike_gait import SpikeGait
from footfall.machines.sea_urchin.spike_kinematics import (
    SpikeShape,
    attachment,
    require_joints,
    require_reach,
)
from footfall.machines.sea_urchin.spike_start import SpikeStart
from footfall.scenario.errors import ScenarioError


@pytest.mark.parametrize(
    ("options", "field", "said"),
    [
        (
            {"swing_time": 10.0},
            "swing_time",
            ["0.2308 of a cycle", "tripod needs at least 0.5", "at most 1 times", "ignored"],
        ),
        (
            {"pattern": "pairs", "swing_time": 3.0},
            "swing_time",
            ["pairs needs at least 0.6667", "at most 0.5 times"],
        ),
        (
            {"pattern": "wave", "swing_time": 3.0},
            "swing_time",
            ["wave needs at least 0.8333", "at most 0.2 times"],
        ),
        ({"pattern": "together"}, "pattern", ["no duty below 1", "Choose another pattern"]),
        ({"pattern": "custom"}, "offsets", ["needs 6 offsets", "got 0"]),
        ({"pattern": "custom", "offsets": (0.0, 0.5)}, "offsets", ["needs 6 offsets", "got 2"]),
        ({"offsets": (0.0,) * 6}, "offsets", ["for pattern", "tripod has its own"]),
        ({"pattern": "custom", "offsets": (0.0,) * 6}, "pattern", ["custom", "no duty below 1"]),
        ({"stride": -0.03}, "stride", ["-0.03 m", "> 0"]),
        ({"lift": 0.0}, "lift", ["how high a foot is lifted", "> 0"]),
        ({"stance_time": math.nan}, "stance_time", ["out of range"]),
        ({"pattern": "trot"}, "pattern", ["trot", "Known: tripod, pairs, wave, together, custom"]),
        ({"swing_ends": "match"}, "swing_ends", ['Did you mean "matched"?']),
    ],
)
def test_a_gait_that_cannot_be_is_told_in_words(options, field, said):
    with pytest.raises(ParameterError) as caught:
        SpikeGait(**options)
    assert caught.value.field == field
    for words in said:
        assert words in str(caught.value), str(caught.value)


def test_of_many_gaits_the_first_that_does_not_stand_is_named():
    with pytest.raises(ParameterError, match=r"0\.3333 of a cycle") as caught:
        SpikeGait(swing_time=np.array([1.0, 3.0, 6.0, 9.0]))
    assert caught.value.lane == 2
    SpikeGait(swing_time=np.array([1.0, 3.0, 6.0]), support="ignored")


def test_a_foothold_out_of_reach_is_told_with_the_reach():
    with pytest.raises(ParameterError) as caught:
        require_reach(SpikeShape(), 0.09, 0.05196152, 0.015, "foothold_x")
    for words in (
        "(90, 51.96, 15) mm is out of reach",
        "102.6 mm",
        "from 45 to 85 mm",
        "d_3 = 57.62 mm of 0 to 40",
    ):
        assert words in str(caught.value), str(caught.value)
    with pytest.raises(ParameterError, match=r"d_3 = -25") as caught:
        require_reach(SpikeShape(), np.array([0.06, 0.02]), 0.005, 0.0, "foothold_x")  # too near
    assert caught.value.lane == 1
    with pytest.raises(ParameterError, match="out of reach"):
        require_reach(SpikeShape(), math.nan, 0.03, 0.0, "foothold_x")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            ["foothold_x=90 mm", "foothold_y=51.96 mm"],
            ["foothold_x", "out of reach", "from 45 to 85 mm"],
        ),
        (
            ["gait.stride=9 cm"],
            ["the foot's path at", "out of reach"],
        ),  # the foothold is fine, an end of the stride is not
        (["gait.swing_time=10 s"], ["[gait] swing_time", "needs at least 0.5"]),
        (["start.slide=5 cm"], ["[start] slide", "d_3 = 50 mm", "stroke of 0 to 40 mm"]),
        (["start.joint_2=-10 deg"], ["[start] joint_2", "outside its range, 0 to pi"]),
        (["controller=reflexes"], ["does not fit", "spike-pid, stiffness"]),
        (["controller.gains=sorce"], ["gains", 'Did you mean "source"?']),
        (["controller.torque_limit=0"], ["torque_limit", "> 0"]),
        (["spike.bodies=sticks"], ["bodies", "rods, points"]),
        (["index=6"], ["index", "<= 5"]),
    ],
)
def test_a_scenario_that_cannot_be_points_at_the_key(settings, said):
    with pytest.raises(ScenarioError) as caught:
        load("urchin-spike", settings)
    for words in said:
        assert words in str(caught.value), str(caught.value)


def test_joints_outside_their_limits_are_refused():
    shape = SpikeShape()
    require_joints(shape, 0.5, 1.5, 0.04, "pose")
    for q, said in (
        ((0.5, 1.5, 0.041), "41 mm"),
        ((0.5, math.pi, 0.02), "0 to pi"),
        ((math.inf, 1.5, 0.02), "not an angle"),
    ):
        with pytest.raises(ParameterError, match=said):
            require_joints(shape, *q, "pose")
    with pytest.raises(ParameterError) as caught:
        SpikeStart(slide=np.array([0.01, 0.05])).state(urchin_spike())
    assert caught.value.lane == 1
    with pytest.raises(ValueError, match="numbered from 0 to 5"):
        attachment(0.06, False, 6)


def test_springs_too_soft_for_the_lift_are_warned_of_with_the_limit():
    weight = 1.232 * 9.81
    told = sag_warning(StiffnessControl(stiffness_y=300.0), weight, 0.01)
    assert told is not None
    for words in ("stiffness_y = 300 N/m", "403 N/m", "13.4 mm", "lift of 10 mm", "drag"):
        assert words in told, told
    assert sag_warning(StiffnessControl(stiffness_y=404.0), weight, 0.01) is None
    assert sag_warning(StiffnessControl(stiffness_y=0.0), weight, 0.01) is not None
    assert sag_warning(SpikePid(), weight, 0.01) is None


def test_the_step_limit_is_where_euler_s_method_begins_to_grow():
    """On the linear loop itself, a little below and above."""
    spike = Spike()
    for law in (
        SpikePid(),
        SpikePid(gains="source", hinge_integral=0.0, slide_integral=0.0),
        StiffnessControl(),
    ):
        limit = explicit_step_limit(law, spike)
        for step, grows in ((0.99 * limit, False), (1.01 * limit, True)):
            assert (_euler_growth(law, spike, step) > 1.0) is grows


def _euler_growth(law, spike, step):
    """Largest factor by which a deviation grows in a step, from the equations of motion rather than
    from the loop's matrix.
    """
    from footfall.machines.sea_urchin.gain_advice import MIDDLE
    from footfall.machines.sea_urchin.spike_dynamics import mass_matrix

    mass = np.array([float(d) for d in mass_matrix(spike.inertia(MIDDLE[2]), MIDDLE[1])])
    columns = []
    for j in range(6):
        e, v = np.eye(6)[j][:3], np.eye(6)[j][3:]
        target = tuple(np.add(MIDDLE, -e))  # errors are linear: springs at the target's pose
        effort = np.array(
            [float(f) for f in law.wanted(MIDDLE, tuple(v), target, (0.0,) * 3, (0.0,) * 3, spike)]
        )
        columns.append(np.concatenate([e + step * v, v + step * effort / mass]))
    return float(np.max(np.abs(np.linalg.eigvals(np.array(columns).T))))


def test_a_kick_that_does_not_lift_the_body_is_refused():
    system = KickRoll(actuator=ConstantForce(force=10.0))
    with pytest.raises(
        ParameterError, match=r"a kick of 10 N does not push the body off: .* carries 10\.47 N"
    ):
        KickStart().state(system)
    with pytest.raises(ParameterError, match="whole stroke or more"):
        KickStart(extension=0.04).state(KickRoll())
    weak = ConstantForce(force=np.array([40.0, 20.0, 5.0]))
    with pytest.raises(ParameterError) as caught:
        KickStart().state(KickRoll(actuator=weak))
    assert caught.value.lane == 2
    with pytest.raises(ScenarioError, match=r"\[start\] angle: a kick of 10 N"):
        load("urchin-kick", ["force=10"])
