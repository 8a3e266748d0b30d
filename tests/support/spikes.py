"""One spike derived anew: by SymPy from its Lagrangian, and by MuJoCo from a tree of bodies."""

import contextlib
from collections.abc import Iterator
from unittest import mock

import mujoco
import numpy as np
import sympy as sp

from footfall.machines.sea_urchin import spike_dynamics
from footfall.machines.sea_urchin import spike_kinematics as spike
from footfall.machines.sea_urchin.spike_dynamics import AxialBody

Q = sp.symbols("q1 q2 d3", real=True)
V = sp.symbols("v1 v2 v3", real=True)
GRAVITY = sp.Symbol("g", positive=True)


@contextlib.contextmanager
def symbolic(*modules) -> Iterator[None]:
    """The library's own formulas on symbols.

    All they need besides + and * is a sine and a cosine.
    """
    with contextlib.ExitStack() as stack:
        for module in modules or (spike, spike_dynamics):
            stack.enter_context(
                mock.patch.object(module, "sincos", lambda angle: (sp.sin(angle), sp.cos(angle)))
            )
        yield


def symbolic_bodies(share) -> tuple[AxialBody, ...]:
    """A prism that stays, a cylinder that goes with the slide by `share`, a ball that goes all the
    way.
    """
    m1, m2, m3, a1, a2, a3, t1, t2, axial = sp.symbols("m1 m2 m3 a1 a2 a3 t1 t2 I_a", positive=True)
    return (AxialBody(m1, a1, 0, t1, axial), AxialBody(m2, a2, share, t2), AxialBody(m3, a3, 1))


def axis() -> sp.Matrix:
    """z_2 by turning S about its z axis, then about the axis (s1, -c1, 0), as the chain of joints
    does.
    """
    q1, q2, _ = Q
    turn1 = sp.Matrix([[sp.cos(q1), -sp.sin(q1), 0], [sp.sin(q1), sp.cos(q1), 0], [0, 0, 1]])
    # About (0, -1, 0).
    turn2 = sp.Matrix([[sp.cos(q2), 0, -sp.sin(q2)], [0, 1, 0], [sp.sin(q2), 0, sp.cos(q2)]])
    return turn1 * turn2 * sp.Matrix([0, 0, -1])


def lagrangian(bodies: tuple[AxialBody, ...]) -> tuple[sp.Expr, sp.Expr]:
    """Kinetic and potential energy from positions and angular velocities alone; y is down."""
    q, v = sp.Matrix(Q), sp.Matrix(V)
    z2 = axis()
    omega = V[0] * sp.Matrix([0, 0, 1]) + V[1] * sp.Matrix([sp.sin(Q[0]), -sp.cos(Q[0]), 0])
    kinetic = potential = sp.Integer(0)
    for body in bodies:
        place = (body.offset + body.share * Q[2]) * z2
        velocity = place.jacobian(q) * v
        along = omega.dot(z2)
        spin = body.transverse * (omega.dot(omega) - along**2) + body.axial * along**2
        kinetic += (body.mass * velocity.dot(velocity) + spin) / 2
        potential -= body.mass * GRAVITY * place[1]
    return kinetic, potential


def christoffel(mass: sp.Matrix) -> sp.Matrix:
    """C of the symbols of the first kind."""
    return sp.Matrix(
        3,
        3,
        lambda k, j: sum(
            (sp.diff(mass[k, j], Q[i]) + sp.diff(mass[k, i], Q[j]) - sp.diff(mass[i, j], Q[k]))
            * V[i]
            / 2
            for i in range(3)
        ),
    )


def vanishes(matrix: sp.Matrix) -> bool:
    """Whether every entry is zero for all angles.

    As a polynomial in sines and cosines, with cos^2 = 1 - sin^2.
    """
    pairs = [(angle, *sp.symbols(f"sin_{angle} cos_{angle}")) for angle in Q[:2]]
    for entry in matrix:
        plain = sp.expand(entry)
        for angle, s, c in pairs:
            plain = sp.rem(
                sp.expand(plain.subs({sp.sin(angle): s, sp.cos(angle): c})), c**2 + s**2 - 1, c
            )
        if sp.expand(plain) != 0:
            return False
    return True


def mujoco_spike(part) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """The same spike as a tree of rigid bodies.

    Hinge (0, 0, 1), hinge (0, -1, 0), slide (0, 0, -1) in S at zero angles.
    """
    prism, cylinder, tip = part.axial_bodies
    axial = 1e-12  # MuJoCo wants some; of a moment of 1e-4 it is nothing

    def inertial(body: AxialBody) -> str:
        across = max(float(body.transverse), axial)
        return (
            f'<inertial mass="{body.mass}" pos="0 0 {-body.offset}" diaginertia="{across} {across}'
            f' {axial + body.axial}"/>'
        )

    model = mujoco.MjModel.from_xml_string(f"""
      <mujoco><compiler angle="radian" boundmass="0" boundinertia="0"/><option gravity="0 0 -9.81"/>
      <worldbody><body xyaxes="1 0 0 0 0 -1">
        <body><joint type="hinge" axis="0 0 1"/><inertial mass="1e-12" pos="0 0 0" diaginertia="1e-14 1e-14 1e-14"/>
          <body><joint type="hinge" axis="0 -1 0"/>{inertial(prism)}
            <body><joint type="slide" axis="0 0 -1"/>{inertial(cylinder)}
              <body>{inertial(tip)}</body>
            </body></body></body></body></worldbody></mujoco>""")
    return model, mujoco.MjData(model)


def mujoco_terms(model: mujoco.MjModel, data: mujoco.MjData, q, v) -> tuple[np.ndarray, np.ndarray]:
    """Mass matrix and C v + g."""
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(model, data)
    mass = np.zeros((3, 3))
    if hasattr(data, "qM"):  # before MuJoCo 4
        mujoco.mj_fullM(model, mass, data.qM)
    else:
        mujoco.mj_fullM(model, data, mass)
    return mass, np.array(data.qfrc_bias)


def to_body(r_s, upper, index, p):
    """A point of a spike's frame S in the frame of the body."""
    place, rows = spike.attachment(r_s, upper, index)
    return tuple(
        o + row[0] * p[0] + row[1] * p[1] + row[2] * p[2]
        for o, row in zip(place, rows, strict=True)
    )
