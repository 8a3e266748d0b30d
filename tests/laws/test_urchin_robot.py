"""The whole sea urchin against derivations of its own.

Kinematics, inertia, control laws, gaits on slopes, what its program may say.
"""

import math

import mujoco
import numpy as np
import pytest

from footfall import load, robots, simulate
from footfall.engines.bodies.mujoco_engine import compiled
from footfall.hybrid.fields import ParameterError
from footfall.machines.parts.terrain.bumps import Bumps
from footfall.machines.sea_urchin.driver import walk_reference
from footfall.machines.sea_urchin.laws import law_of
from footfall.machines.sea_urchin.program import Action, parse_program
from footfall.machines.sea_urchin.robot import UrchinRobot
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_control import HeldEffort, SpikePid, StiffnessControl
from footfall.machines.sea_urchin.spike_dynamics import mass_matrix
from footfall.machines.sea_urchin.spike_kinematics import SPIKES, forward
from support.spikes import to_body

DRAW = np.random.default_rng(7)


def poses(count=12):
    """Joints all over their range."""
    return np.stack(
        [
            DRAW.uniform(-1.2, 1.2, count),
            DRAW.uniform(0.5, 2.6, count),
            DRAW.uniform(0.0, 0.04, count),
        ],
        axis=1,
    )


@pytest.mark.parametrize("profile", ["T", "P"])
def test_mujoco_puts_the_balls_where_our_kinematics_does(profile):
    robot = UrchinRobot(profile=profile)
    model = compiled(robot, 1e-3)
    data = mujoco.MjData(model)
    data.qpos[3:7] = np.array([0.3, -0.5, 0.7, 0.2]) / np.linalg.norm([0.3, -0.5, 0.7, 0.2])
    data.qpos[:3] = 0.1, -0.2, 0.3
    data.qpos[7:] = (q := poses()).ravel()
    mujoco.mj_forward(model, data)
    turn = data.body("shell").xmat.reshape(3, 3)
    shape = robot.built_spike.shape
    for i, name in enumerate(robot.touching[:12]):
        ball = to_body(0.06, i >= SPIKES, i % SPIKES, forward(shape, *map(float, q[i])))
        assert data.geom(name).xpos == pytest.approx(
            data.qpos[:3] + turn @ np.array(ball), abs=1e-12
        )


def test_outputs_put_tips_where_mujoco_does():
    experiment = load("urchin-roll", ['program="roll 1"'], duration=1.0)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    model = compiled(experiment.system, 1e-3)
    data = mujoco.MjData(model)
    for row in (0, 120, len(run.t) - 1):
        data.qpos[:] = [run[f"qpos.{i}"][row] for i in range(model.nq)]
        mujoco.mj_forward(model, data)
        for i, name in enumerate(experiment.system.touching[:12]):
            ours = [run[f"tip.{axis}.{i}"][row] for axis in "xyz"]
            assert ours == pytest.approx(data.geom(name).xpos, abs=1e-12)
        hip = [run[f"hip.{axis}.8"][row] for axis in "xyz"]
        assert hip == pytest.approx(data.body("upper_3_prism").xpos, abs=1e-12)


def test_a_spike_in_mujoco_has_the_inertia_of_the_closed_form():
    robot = UrchinRobot()
    model = compiled(robot, 1e-3)
    data = mujoco.MjData(model)
    data.qpos[7:] = (q := poses()).ravel()
    mujoco.mj_forward(model, data)
    whole = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, whole, data.qM)
    except (TypeError, AttributeError):  # MuJoCo 4 keeps it elsewhere
        mujoco.mj_fullM(model, data, whole)
    for i in range(12):
        block = whole[6 + 3 * i : 9 + 3 * i, 6 + 3 * i : 9 + 3 * i]
        expected = np.diag(
            [float(d) for d in mass_matrix(robot.built_spike.inertia(q[i, 2]), q[i, 1])]
        )
        # Inertias of 1e-9 kg m^2 stand for those of thin rods about their axes.
        assert block == pytest.approx(expected, rel=1e-4, abs=4e-9)


def test_it_weighs_what_the_page_says():
    robot = robots.urchin()
    assert robot.mass == pytest.approx(1.232, rel=1e-12)
    assert compiled(robot, 1e-3).body_mass.sum() == pytest.approx(1.232, rel=1e-9)
    assert robot.stand_height == pytest.approx(0.0675)
    assert robots.urchin("P").stand_height == pytest.approx(0.0819615, abs=1e-7)
    assert robot.lying_height - 0.005 == pytest.approx(0.0909 * math.cos(math.pi / 6), rel=1e-3)


@pytest.mark.parametrize(
    "control",
    [
        SpikePid(),
        SpikePid(gains="source", feed_forward="gravity"),
        StiffnessControl(),
        StiffnessControl(
            stiffness_x=500.0, stiffness_y=3000.0, stiffness_z=1200.0, feed_forward="gravity"
        ),
        HeldEffort(torque_1=0.3, torque_2=-0.2, force=1.5),
    ],
    ids=[
        *("pid", "source with feed-forward", "stiffness", "uneven stiffness with feed-forward"),
        "held",
    ],
)
def test_the_whole_robots_laws_are_those_of_the_control_parts(control):
    spike, step = Spike(ball=0.04), 1e-3
    q, v, wanted, rates = poses(), DRAW.normal(size=(12, 3)), poses(), DRAW.normal(size=(12, 3))
    out = np.zeros((12, 3))
    law, damping = (
        law_of(control, spike, 9.81, step, q, v, out),
        np.array([float(d) for d in control.damping]),
    )
    law(wanted, damping * rates)
    for i in range(12):
        integral = tuple(step * (wanted[i] - q[i]))
        expected = control.effort(
            *(tuple(map(float, x[i])) for x in (q, v, wanted, rates)), integral, spike, 9.81
        )
        # The actuators add -damping * v themselves.
        assert out[i] - damping * v[i] == pytest.approx(
            [float(e) for e in expected], rel=1e-11, abs=1e-11
        )


def test_an_integral_does_not_wind_up_behind_a_limit():
    control = SpikePid(gains="source", torque_limit=0.1, force_limit=1.0)
    q, v, out = np.zeros((12, 3)), np.zeros((12, 3)), np.zeros((12, 3))
    law = law_of(control, Spike(), 9.81, 1e-3, q, v, out)
    for _ in range(1000):
        law(np.full((12, 3), 0.5), np.zeros((12, 3)))
    assert np.all(law.integral == 0.0)  # wanted is beyond the limits from the begin
    law(np.full((12, 3), 1e-5), np.zeros((12, 3)))
    assert np.all(law.integral > 0.0)


def test_limits_of_the_controller_are_kept_by_the_motors():
    experiment = load(
        "urchin-walk", ["controller.torque_limit=0.1", "controller.force_limit=1.5"], duration=1.5
    )
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert max(np.abs(run[f"drive.swing.{i}"]).max() for i in range(6)) == pytest.approx(
        0.1, rel=1e-12
    )
    assert max(np.abs(run[f"drive.slide.{i}"]).max() for i in range(6)) <= 1.5
    assert run.ledger.relative_residual < 2e-3


def test_references_repeat_where_a_cycle_is_a_whole_number_of_steps():
    robot = robots.urchin()
    once, whole = walk_reference(robot, 20_000, 1e-3), walk_reference(robot, 20_000, 0.97e-3)
    assert once.repeats and len(once.joints) == 6000
    assert not whole.repeats and len(whole.joints) == 20_001
    assert np.all(once.joints[:, 6:] == np.array(robot.upper_pose))
    rates = np.gradient(once.joints[:, :6], 1e-3, axis=0)[1:-1]
    assert once.feed[1:-1, :6] / np.array([0.5, 0.5, 100.0]) == pytest.approx(rates, abs=1e-4)


def test_it_walks_up_and_down_a_slope_along_it():
    for angle, near in ((-5.0, 0.05), (5.0, 0.05)):
        experiment = load(
            "urchin-walk",
            ["terrain=slope", f'terrain.angle="{angle} deg"', "gait.stance_time=1"],
            duration=5.0,
        )
        run = simulate(experiment.system, experiment.start, experiment.plan)
        walked = run.t >= 1.0
        speed = (run["travel.distance"][-1] - run["travel.distance"][walked][0]) / 4.0
        assert speed == pytest.approx(0.03, rel=near)
        assert run["shell.z"][-1] - run["shell.z"][0] == pytest.approx(
            -math.sin(math.radians(angle)) * speed * 4.0, rel=0.1
        )
        assert run["load.lift"][run.t > 1.5].mean() == pytest.approx(
            experiment.system.weight, rel=0.01
        )
        assert run.ledger.relative_residual < 1e-4


def test_it_walks_over_bumps_and_feels_them():
    settings = ["gait.stance_time=1", "controller=stiffness"]
    level = load("urchin-walk", settings, duration=7.0)
    rough = load("urchin-walk", [*settings, "terrain=bumps", "terrain.begin=0.12"], duration=7.0)
    a, b = (simulate(e.system, e.start, e.plan) for e in (level, rough))
    assert b.outcome.name == "reached_end"
    assert np.std(b["shell.z"][b.t > 2]) > 1.5 * np.std(a["shell.z"][a.t > 2])
    assert b["travel.distance"][-1] > 0.8 * a["travel.distance"][-1]


def test_bumps_repeat_by_seed_and_scale_with_their_height():
    low, high, other = Bumps(), Bumps(highest=0.008), Bumps(seed=1)
    x = np.linspace(0.0, 1.5, 3001)
    assert np.asarray(high.height(x)) == pytest.approx(2.0 * np.asarray(low.height(x)))
    assert not np.allclose(np.asarray(low.height(x)), np.asarray(other.height(x)))
    assert np.all(np.asarray(low.height(x[x < 0.14])) == 0.0)
    assert float(np.asarray(low.height(x)).max()) <= 0.004
    for begin, end, height in low.boxes()[:5]:
        assert float(low.height(0.5 * (begin + end))) == pytest.approx(height)


def test_the_mjcf_it_writes_is_the_robot_it_runs(tmp_path):
    robot = UrchinRobot(terrain=Bumps(bars=3))
    robot.write_mjcf(tmp_path / "urchin.xml")
    read, made = mujoco.MjModel.from_xml_path(str(tmp_path / "urchin.xml")), compiled(robot, 1e-3)
    names = (
        "body_mass",
        "body_inertia",
        "body_ipos",
        "geom_size",
        "geom_friction",
        "geom_solref",
        "actuator_biasprm",
        "jnt_range",
    )
    for name in names:  # MJCF is written with six digits
        assert np.asarray(getattr(read, name)) == pytest.approx(
            np.asarray(getattr(made, name)), rel=1e-5, abs=1e-12
        ), name
    assert (
        read.opt.timestep == made.opt.timestep
        and read.opt.impratio == 10.0
        and read.opt.cone == made.opt.cone
    )


# ---- the program


def test_a_program_is_read_word_by_word():
    assert parse_program("walk 2; lie; roll 5; rise; walk") == (
        Action("walk", 2.0), Action("lie"), Action("roll", 5.0), Action("rise"), Action("walk"),
    )  # fmt: skip
    assert parse_program("hold 1.5; roll") == (Action("hold", 1.5), Action("roll"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("wlak 2", 'Did you mean "walk"'),
        ("walk; roll 3", 'put "lie" before it'),
        ("roll 2; walk", 'put "rise" before it'),
        ("roll 2.5", "a whole number above zero"),
        ("walk -1", "above zero"),
        ("walk two", "a number above zero"),
        ("walk 1 2", "one number, cycles of the gait"),
        ("lie 2", "no number"),
        (" ; ", "an empty program"),
    ],
)
def test_a_program_that_cannot_be_is_refused_with_a_reason(text, said):
    with pytest.raises(ParameterError, match=said):
        UrchinRobot(program=text)


def test_it_walks_lies_down_rolls_rises_and_walks_on_the_same_way():
    experiment = load(
        "urchin-roll",
        ['program="walk 1; lie; roll 3; rise; walk 1"', "gait.stance_time=1.5"],
        duration=20.0,
    )
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run["strides"][-1] == 2 and run["faces"][-1] == 3 and run["mode"][-1] == 0
    assert math.degrees(run["travel.tilt"][-1]) < 1.0
    for stride in (run["mode"] == 1.0,):
        cuts = np.split(
            np.flatnonzero(stride), np.flatnonzero(np.diff(np.flatnonzero(stride)) > 1) + 1
        )
        gains = [
            run["travel.distance"][rows[-1]] - run["travel.distance"][rows[0]] for rows in cuts
        ]
        assert len(gains) == 2
        # After it rolled its body points elsewhere, its way does not.
        assert gains == pytest.approx([0.06, 0.06], rel=0.1)
    assert run.ledger.relative_residual < 1e-3


# ---- what is said before a run


def test_soft_feet_are_warned_of_with_the_limit_of_403_newtons_a_metre():
    soft = UrchinRobot(controller=StiffnessControl(stiffness_y=300.0))
    (said,) = [s for s in soft.cautions(1e-3) if "stiffness_y" in s]
    assert "403 N/m" in said
    assert not UrchinRobot(controller=StiffnessControl()).cautions(1e-3)


def test_a_path_beyond_the_slides_and_gains_beyond_the_step_are_warned_of():
    (said,) = UrchinRobot(profile="P").cautions(1e-3)
    # The page walks it all the same, its stops being soft.
    assert "from -7.2 to 28.4 mm (spikes 0, 3)" in said
    (said,) = UrchinRobot(controller=SpikePid(gains="source")).cautions(1e-3)
    assert "contacts leave out the damping" in said
    assert not UrchinRobot(controller=SpikePid(gains="source")).cautions(1e-5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"profile": "custom"}, "needs a foothold"),
        ({"foothold_x": 0.2}, "out of reach"),
        ({"foothold_y": 0.0299, "foothold_x": 0.06}, "in the ground"),
        ({"spike": Spike(ball=0.01)}, "set profile=custom"),
        ({"spike": Spike(reading="telescoping")}, "is no rigid body"),
        ({"upper_pose": (0.0, 1.0)}, "three joints"),
        ({"shell_mass": -1.0}, "out of range"),
    ],
)
def test_a_robot_that_cannot_be_is_refused_with_a_reason(options, said):
    with pytest.raises(ParameterError, match=said):
        UrchinRobot(**options)
