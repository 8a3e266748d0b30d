"""Linear systems: the passive wheel in closed form, the driven one from its mass matrix, both as
SciPy takes them.
"""

import dataclasses

import numpy as np
import pytest
import scipy.linalg
import scipy.signal

import footfall as ff


def test_a_falling_wheel_is_an_inverted_pendulum():
    """theta_dd = g / l sin(theta - gamma):

    A = [[0, 1], [g / l cos(theta - gamma), 0]], and nobody drives it.
    """
    wheel = ff.load("passive-wheel")
    lin = ff.linearise(wheel)
    angle, length, gravity = (
        wheel.start.x.spoke_angle,
        wheel.system.leg.length,
        wheel.system.gravity,
    )
    assert lin.states == ("spoke_angle", "spoke_rate") and lin.units["spoke_rate"] == "rad/s"
    assert np.allclose(
        lin.A, [[0.0, 1.0], [gravity / length * np.cos(angle - 0.08), 0.0]], rtol=1e-14
    )
    assert lin.B.shape == (2, 0) and lin.inputs == () and lin.D.shape == (len(lin.outputs), 0)
    speed = lin.C[lin.outputs.index("travel.speed")]  # -l theta_dot cos(theta)
    rate = wheel.start.x.spoke_rate
    assert np.allclose(speed, [length * rate * np.sin(angle), -length * np.cos(angle)], rtol=1e-14)
    assert "2 states, 0 inputs" in repr(lin)


def test_joint_torques_are_the_inputs_of_a_robot_that_has_joints():
    """M(q) q_dd = ... + (0, -1, 1) T for q = (l, theta, phi); the law itself is taken off, its
    torque is the operating point.
    """
    wheel = ff.load("rimless-wheel", {"start.torso_angle": 0.5, "start.torso_rate": 0.2})
    lin = ff.linearise(wheel)
    system, x = wheel.system, wheel.start.x
    between = x.spoke_angle - x.torso_angle
    l_dd, theta_dd, phi_dd = np.linalg.solve(
        np.array(system.mass_matrix(x.spoke_length, np.sin(between), np.cos(between)), float),
        [0.0, -1.0, 1.0],
    )
    wanted = [0.0, 0.0, 0.0, theta_dd, phi_dd, l_dd, 0.0]
    assert np.allclose(lin.B, np.array([wanted, wanted]).T, rtol=1e-12, atol=1e-12)
    own = float(system.motor_torque(x, wheel.start.m))
    assert own != 0 and lin.u0 == pytest.approx([own / 2, own / 2], rel=1e-10)
    assert np.allclose(lin.D[lin.outputs.index("motor.torque")], [1.0, 1.0])
    # Without its law nothing reads the integral of the pitch error: its column is zero, and A is
    # that of these torques.
    assert not lin.A[:, lin.states.index("pitch_integral")].any()
    # central differences of the stance equations: h^2 and 1e-16 / h, times accelerations of 1e3
    h = 1e-6
    turned = [
        system.accelerations(dataclasses.replace(x, torso_angle=x.torso_angle + s * h), own)
        for s in (-1, 1)
    ]
    slope = (np.array(turned[1]) - np.array(turned[0])) / (2 * h)
    assert np.allclose(lin.A[3:6, 1], slope, rtol=1e-6, atol=1e-6)


def test_other_torques_may_be_asked_for_and_scipy_takes_the_matrices():
    wheel = ff.load("rimless-wheel-turning")
    lin = ff.linearise(wheel, torques=(1.0, -0.5))
    assert lin.inputs == ("torque.left", "torque.right") and lin.u0.tolist() == [1.0, -0.5]
    assert lin.y0[lin.outputs.index("left_motor.torque")] == 1.0
    system = scipy.signal.StateSpace(lin.A, lin.B, lin.C, lin.D)
    t, kick = np.linspace(0.0, 0.02, 5), 1e-3 * np.arange(len(lin.states))
    _, seen, _ = scipy.signal.lsim(system, np.zeros((len(t), 2)), t, X0=kick)
    wanted = [lin.C @ scipy.linalg.expm(lin.A * moment) @ kick for moment in t]
    assert np.allclose(seen, wanted, rtol=1e-9, atol=1e-9)
    with pytest.raises(ValueError, match="expected one for each"):
        ff.linearise(wheel, torques=(1.0,))
    with pytest.raises(TypeError, match="MuJoCo"):
        ff.linearise(ff.load("urchin-walk"))
