"""Robots built a second time, from the same parameters, as bodies of MuJoCo: both agree.

Three things determine a tree of rigid bodies: where its points are and how they move, its energies
(the kinetic one at any speeds is its mass matrix), and the forces that its accelerations take. All
to 1e-8 of their size, and none of them knows the other's equations.
"""

import dataclasses
from typing import NamedTuple

import jax
import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.hybrid.fields import ParameterError
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.twin import Posture
from footfall.scene.sketch import Seen

CLOSE = 1e-8


class Pair(NamedTuple):
    """A robot, its twin, and moments in which to compare them."""

    system: object
    twin: object
    model: mujoco.MjModel
    data: mujoco.MjData
    moments: list  #: (t, x, m)


def moments_of(state, spread, count=4):
    """States around the start."""
    draw, found = np.random.default_rng(0), []
    for _ in range(count):
        leaves = [
            np.asarray(leaf) + spread * draw.standard_normal(np.shape(leaf))
            for leaf in jax.tree.leaves(state.x)
        ]
        found.append((0.0, jax.tree.unflatten(jax.tree.structure(state.x), leaves), state.m))
    return found


def wheel():
    experiment = ff.load("rimless-wheel", {"terrain": "slope", "wheel_inertia": 0.02})
    system = experiment.system
    torso = dataclasses.replace(system.torso, inertia=0.01)
    return dataclasses.replace(system, torso=torso), moments_of(experiment.start, 0.05)


def stiffening_wheel():
    experiment = ff.load("rimless-wheel", {"leg": "stiffening"})
    return experiment.system, moments_of(experiment.start, 0.02)


def centipede():
    experiment = ff.load("centipede")
    return experiment.system, moments_of(experiment.start, 2e-3)


def spike():
    experiment = ff.load("urchin-spike", {"hinge_friction": 1e-3, "slide_friction": 0.2})
    inside = experiment.start.x
    spread = [(t, _slid(x, inside.slide), m) for t, x, m in moments_of(experiment.start, 0.1)]
    return experiment.system, spread


def _slid(x, slide):
    return dataclasses.replace(x, slide=slide)


def steered_wheel():
    """Going straight: its left and right sides alike."""
    experiment = ff.load("rimless-wheel-turning", {"steering_current": 0.0})
    found = []
    for t, x, m in moments_of(experiment.start, 0.02):
        straight = dict.fromkeys(("roll", "roll_rate", "yaw_rate", "heading"), 0.0)
        found.append((t, dataclasses.replace(x, foot_ahead_right=x.foot_ahead_left, **straight), m))
    return experiment.system, found


def two_leg():
    system = ff.load("two-leg-single-step").system
    state = system.begin(system.Start())
    marks = [dataclasses.replace(state.m, move=np.int32(move)) for move in range(3)]
    found = []
    for footstep in (0, 1):
        for mark in marks:
            m = dataclasses.replace(mark, footsteps=np.int32(footstep))
            _, _, begin = system.row(m)
            if float(system.pose_at(begin, m)[1]):
                found.append((float(begin) + 0.1, state.x, m))
    assert len(found) >= 3
    return system, found


@pytest.fixture(
    scope="module", params=[wheel, stiffening_wheel, steered_wheel, centipede, spike, two_leg]
)
def pair(request):
    system, moments = request.param()
    twin = system.twin()
    model = twin.spec.compile()
    return Pair(system, twin, model, mujoco.MjData(model), moments)


def stand(pair, moment) -> Posture:
    posture = pair.twin.posture(*moment)
    pair.data.qpos[:], pair.data.qvel[:] = posture.qpos, posture.qvel
    mujoco.mj_forward(pair.model, pair.data)
    return posture


def energies(pair, moment):
    stores = {name: value for name, value, _ in named_leaves(pair.system.stores(*moment))}
    height = stores.get("gravity", stores.get("potential"))
    return float(stores["kinetic"]), float(height)


def test_sites_are_where_outputs_are_and_move_alike(pair):
    for moment in pair.moments:
        origin = np.array(stand(pair, moment).origin)
        outputs = {}
        for name, value, _ in named_leaves(pair.system.outputs(*moment)):
            each = np.ravel(np.asarray(value, float))
            outputs |= {f"{name}.{i}": v for i, v in enumerate(each)} if np.ndim(value) else {}
            outputs |= {} if np.ndim(value) else {name: float(each[0])}
        seen, velocity = Seen(outputs), np.zeros(6)
        for number in range(pair.model.nsite):
            name = pair.model.site(number).name
            there = pair.data.site(name).xpos + origin
            assert np.allclose(there, seen.origin(name), atol=CLOSE), name
            mujoco.mj_objectVelocity(
                pair.model, pair.data, mujoco.mjtObj.mjOBJ_SITE, number, velocity, 0
            )
            moving = [seen.get(name, axis) for axis in ("vx", "vy", "vz")]
            if any(moving):  # a foot that stands has no speed among the outputs
                assert np.allclose(velocity[3:], moving, atol=CLOSE), name


def test_both_have_the_same_energies(pair):
    mujoco_energies = []
    pair.model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    # Potential energy of springs is in MuJoCo's too: those of the tree are relaxed for this.
    springs = pair.model.jnt_stiffness.copy(), pair.model.tendon_stiffness.copy()
    pair.model.jnt_stiffness[:], pair.model.tendon_stiffness[:] = 0.0, 0.0
    for moment in pair.moments:
        posture = stand(pair, moment)
        lifted = pair.model.body_mass.sum() * abs(pair.model.opt.gravity[2]) * posture.origin[2]
        potential, kinetic = pair.data.energy
        mujoco_energies.append((kinetic, potential + lifted))
    pair.model.jnt_stiffness[:], pair.model.tendon_stiffness[:] = springs
    ours = np.array([energies(pair, moment) for moment in pair.moments])
    theirs = np.array(mujoco_energies)
    assert np.all(ours[:, 0] > 0)
    assert np.allclose(ours[:, 0], theirs[:, 0], rtol=CLOSE, atol=0)
    differences = np.diff(ours[:, 1]), np.diff(theirs[:, 1])  # from wherever it is counted
    size = np.abs(ours[:, 1]).max()
    assert np.allclose(*differences, atol=CLOSE * size)


def test_both_take_the_same_forces_for_the_same_accelerations(pair):
    for moment in pair.moments:
        posture = stand(pair, moment)
        pair.data.qacc[:] = posture.qacc
        mujoco.mj_inverse(pair.model, pair.data)
        size = np.abs(pair.data.qfrc_bias).max() + np.abs(posture.force).max()
        assert np.allclose(pair.data.qfrc_inverse, posture.force, atol=CLOSE * size)


def test_a_free_spike_swings_alike():
    """Fifty milliseconds without motors: MuJoCo's Runge-Kutta steps against our equations."""
    system = ff.load("urchin-spike").system
    model = system.twin().spec.compile()
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-4
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = (0.2, 1.4, 0.01), (1.0, -0.5, -0.05)
    q, v = np.array(data.qpos), np.array(data.qvel)
    accelerate = jax.jit(
        lambda q, v: ff.robots.sea_urchin.spike_acceleration(q, v, np.zeros(3), system.spike)
    )
    step = 1e-3
    for _ in range(50):
        for _ in range(10):
            mujoco.mj_step(model, data)
        a1 = accelerate(q, v)
        a2 = accelerate(q + step / 2 * v, v + step / 2 * a1)
        a3 = accelerate(q + step / 2 * v + step**2 / 4 * a1, v + step / 2 * a2)
        a4 = accelerate(q + step * v + step**2 / 2 * a2, v + step * a3)
        q, v = (
            q + step * v + step**2 / 6 * (a1 + a2 + a3),
            v + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4),
        )
    assert abs(data.qpos[0] - 0.2) > 0.05
    assert np.allclose(data.qpos, q, atol=1e-8)  # our steps of 1 ms: 1e-9


def driven(builder):
    """A robot, its tree, and how its motors push there at the torques of ours."""
    system, moments = builder()
    twin = system.twin()
    model = twin.spec.compile()
    data, found = mujoco.MjData(model), []
    for t, x, m in moments:
        if builder is two_leg:
            torques = [float(v) for v in system.effort_at(*system.pose_at(t, m)).torques]
        elif builder is steered_wheel:
            torques = [float(side.torque) for side in system.sides(x, m)]
        else:
            torques = [float(system.motor_torque(x, m))]
        posture = twin.posture(t, x, m)
        data.qpos[:], data.qvel[:], data.ctrl[:] = posture.qpos, posture.qvel, torques
        mujoco.mj_forward(model, data)
        found.append((data.qfrc_actuator.copy(), posture.force))
    return found


@pytest.mark.parametrize(
    ("builder", "turned"), [(wheel, [2]), (steered_wheel, [4]), (two_leg, [0, 1, 2])]
)
def test_motors_of_the_tree_push_as_ours(builder, turned):
    """With the sign that ours have: a controller's torques may be given to the exported robot."""
    for pushed, wanted in driven(builder):
        assert np.any(wanted[turned] != 0)
        assert np.allclose(pushed[turned], wanted[turned], rtol=CLOSE, atol=1e-12)


def test_the_axle_turns_as_heavily_as_ours_at_the_set_point():
    """Yaw and roll, with a torso that has an inertia of its own."""
    system, _ = steered_wheel()
    system = dataclasses.replace(system, torso=dataclasses.replace(system.torso, inertia=0.01))
    model = system.twin().spec.compile()
    data = mujoco.MjData(model)
    data.qpos[4] = -float(system.torso.pitch_setpoint)
    mujoco.mj_forward(model, data)
    whole = np.zeros((model.nv, model.nv))
    for row, one in zip(whole, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, row, one)
    wanted = float(system.total_yaw_inertia), float(system.roll_inertia)
    assert np.allclose((whole[2, 2], whole[3, 3]), wanted, rtol=CLOSE)


def test_a_telescoping_spike_is_refused():
    system = ff.load("urchin-spike", {"spike.reading": "telescoping"}).system
    with pytest.raises(ParameterError, match="no rigid body"):
        system.twin()
