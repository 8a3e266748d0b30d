"""Chapters 1 and 3: frames, forward and inverse kinematics, Jacobians."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from footfall.machines.sea_urchin import functions as urchin
from footfall.machines.sea_urchin.labels import (
    placed,
    shell_shapes,
    spike_frame_labels,
    spike_shapes,
)
from footfall.machines.sea_urchin.numbers import SHELL_RADIUS, UPPER_POSE, profile_t
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_kinematics import AZIMUTHS, SPIKES, attachment, jacobian
from footfall.pictures.draw import slanted_view
from footfall.pictures.schematic import Panel, schematic
from footfall.pictures.style import Style
from footfall.scene.labels import Anchor, Frame, Name
from footfall.sources.item import EXACT, Item, Made, Value
from footfall.sources.sea_urchin import printed

#: Joints at which formulas are compared.
Q = (0.3, 1.1, 0.02)
#: The source's foothold: 9 cm out, 3 sqrt(3) cm down, and the two radii of its ball [m].
OUT, DOWN = 0.09, 0.03 * math.sqrt(3.0)
TEXT, SCRIPT = Spike(ball=0.005), Spike(ball=0.04)


def _mid_stance() -> tuple[float, float, float]:
    foothold, spike = profile_t().foothold, profile_t().spike
    q1, q2, d3 = urchin.spike_inverse([float(foothold.x), float(foothold.y), 0.0], spike)
    return float(q1), float(q2), float(d3)


def _figure_1_1(style: Style) -> Made:
    profile = profile_t()
    joints = dict.fromkeys(range(SPIKES), _mid_stance())
    joints |= dict.fromkeys(range(SPIKES, 2 * SPIKES), UPPER_POSE)
    seen = placed(profile.spike, SHELL_RADIUS, profile.stand_height, joints)
    _, shell = shell_shapes(SHELL_RADIUS)
    spikes = [shape for i in joints for shape in spike_shapes(profile.spike, i)]
    labels = [Frame(Anchor("shell", (0.0, 0.0, SHELL_RADIUS)), 0.04, ("$x_b$", "$y_b$", "$z_b$"))]
    behind = 1  # its number would stand on the shell
    names = [
        Name(f"{i + 1}", Anchor(f"tip.{i}"), (0.0, -12.0)) for i in range(SPIKES) if i != behind
    ]
    panel = Panel((shell, *spikes), seen, (*labels, *names), project=slanted_view)
    picture = schematic([panel], "Fig 1.1. The robot", style._replace(width=0.6 * style.width))
    r_s = 0.1 * 2 / math.sqrt(3)
    return Made(
        (
            Value("spikes", float(len(joints)), "", 12.0, 0.0),
            Value("degrees of freedom of a spike", float(len(joints[0])), "", 3.0, 0.0),
            Value("radius of a ring over r_s", math.hypot(*attachment(r_s, False, 2)[0][:2]) / r_s,
                  "", math.sqrt(3) / 2, EXACT),
        ),
        picture,
        "r_s is not given; ours is 6 cm",
    )  # fmt: skip


def _figure_1_2(style: Style) -> Made:
    profile, q = profile_t(), _mid_stance()
    seen = placed(profile.spike, SHELL_RADIUS, profile.stand_height, {0: q})
    shapes = (*shell_shapes(SHELL_RADIUS), *spike_shapes(profile.spike, 0))
    labels = spike_frame_labels(q, SHELL_RADIUS, 0.03)
    panel = Panel(shapes, seen, labels)
    small = style._replace(width=0.75 * style.width)
    return Made(
        (
            Value("length of the prism", 1e2 * float(profile.spike.prism), "cm", 4.0, 0.0),
            Value("largest extension", 1e2 * float(profile.spike.stroke), "cm", 4.0, 0.0),
            Value("radius of the ball", 1e2 * float(profile.spike.ball), "cm", 0.5, 1e-15),
        ),
        schematic([panel], "Fig 1.2. One spike and its frames", small),
        "spike 1 of the bottom ring, seen along the ring; z and z_0 point to the viewer",
    )


def _table_1_1(style: Style) -> Made:
    """The product of the table's matrices, place by place, against ours."""
    del style
    index, r_s = 2, 0.06
    q1, q2, d3 = Q
    down = -math.pi / 2
    base = printed.dh(AZIMUTHS[index], -r_s / 2, r_s * math.sqrt(3) / 2, down)
    product = (
        base
        @ printed.dh(q1, 0.0, 0.0, math.pi / 2)
        @ printed.dh(q2, 0.0, 0.0, math.pi / 2)
        @ printed.dh(0.0, printed.PRISM + d3, 0.0, 0.0)
    )
    place, turn = attachment(r_s, False, index)
    thin = Spike(ball=1e-300)
    ours = np.array(place) + np.array(turn) @ np.asarray(urchin.spike_forward(Q, thin))
    axes = np.array(turn) @ np.asarray(urchin.spike_rotation(Q))
    values = [
        Value(f"{name} of the cylinder's end, in the body", float(a), "m", float(b), EXACT)
        for name, a, b in zip("xyz", ours, product[:3, 3], strict=True)
    ]
    values.append(
        Value("axes of the cylinder, largest difference",
              float(np.abs(axes - product[:3, :3]).max()), "", 0.0, EXACT)
    )  # fmt: skip
    values += [
        Value(
            f"theta_spk of spike {i}", math.degrees(AZIMUTHS[i - 1]), "deg", 60.0 * (i - 1), 1e-12
        )
        for i in (1, 6)
    ]
    return Made(tuple(values), words="spike 3 of the bottom ring at (0.3, 1.1) rad, 20 mm out")


def _forward(style: Style) -> Made:
    del style
    matrix = printed.end_of_cylinder(*Q)
    turn = np.asarray(urchin.spike_rotation(Q))
    place = np.asarray(urchin.spike_forward(Q, Spike(ball=1e-300)))
    return Made((
        Value("rotation, largest difference", float(np.abs(turn - matrix[:3, :3]).max()), "", 0.0,
              EXACT),
        *(
            Value(f"{name} of the cylinder's end", float(a), "m", float(b), EXACT)
            for name, a, b in zip("xyz", place, matrix[:3, 3], strict=True)
        ),
    ))  # fmt: skip


def _contact(style: Style) -> Made:
    """Eq 1.5 to 1.7: from the contact point back to the end of the cylinder."""
    del style
    q = np.asarray(urchin.spike_inverse([0.06, 0.03, 0.01], TEXT))
    axis = np.asarray(urchin.spike_rotation(q))[:, 2]
    contact = np.array([0.06, 0.03, 0.01])
    end = contact - 0.005 * np.array([0.0, 1.0, 0.0]) - 0.005 * axis
    ours = np.asarray(urchin.spike_forward(q, Spike(ball=1e-300)))
    both = np.asarray(urchin.spike_forward(q, SCRIPT))
    wrong = "0.005 stands where r belongs"
    return Made((
        *(
            Value(f"{name} of c", float(a), "m", float(b), EXACT)
            for name, a, b in zip("xyz", ours, end, strict=True)
        ),
        Value("y of the contact with r = 0.04, by eq 1.7", float(both[1]) + 0.04, "m",
              float(both[1]) + 0.005, 1e-6, wrong),
    ))  # fmt: skip


def _hinge_1(style: Style) -> Made:
    del style
    x, w = -0.02, 0.06
    ours = float(urchin.spike_inverse([x, w + 0.005, 0.01], TEXT)[0])
    good = float(urchin.spike_inverse([0.02, w + 0.005, 0.01], TEXT)[0])
    return Made((
        Value("θ1 at x = 20 mm", good, "rad", math.atan(w / 0.02), EXACT),
        Value("θ1 at x = -20 mm", ours, "rad", math.atan(w / x), 1e-6,
              "the angle of a ratio loses the quadrant"),
    ))  # fmt: skip


def _hinge_2(style: Style) -> Made:
    del style
    z = 0.015
    rho = math.hypot(OUT, DOWN - 0.04)
    ours = np.asarray(urchin.spike_inverse([OUT, DOWN, z], SCRIPT))
    said = math.atan2(-rho, z)
    return Made((
        Value("θ2", float(ours[1]), "rad", said, 1e-6, "half a turn off: the signs of both"),
        Value("r + k + d3", 0.08 + float(ours[2]), "m", -z / math.cos(said), 1e-6,
              "with that angle the length is below zero"),
        Value("tan θ2", math.tan(float(ours[1])), "", -rho / z, 1e-11),
    ))  # fmt: skip


def _slide(style: Style) -> Made:
    del style
    ahead = np.asarray(urchin.spike_inverse([OUT, DOWN, 0.015], SCRIPT))
    middle = np.asarray(urchin.spike_inverse([OUT, DOWN, 0.0], SCRIPT))
    quotient = -0.015 / math.cos(float(ahead[1])) - 0.08
    return Made((
        Value("d3 at z = 15 mm", 1e3 * float(ahead[2]), "mm", 1e3 * quotient, 1e-9),
        Value("d3 at z = 0", 1e3 * float(middle[2]), "mm",
              1e3 * printed.inverse_kinematic(OUT, DOWN, 0.0, 0.04, 0.04)[2], 1e-6,
              "-z/cos(θ2) is nothing by nothing at z = 0: it gives -r - k"),
    ))  # fmt: skip


def _function(style: Style) -> Made:
    del style
    values = []
    for z in (0.015, -0.015):
        ours = np.asarray(urchin.spike_inverse([OUT, DOWN, z], SCRIPT))
        said = printed.inverse_kinematic(OUT, DOWN, z, 0.04, 0.04)
        values += [
            Value(f"{name} at z = {1e3 * z:g} mm", float(a), unit, float(b), 1e-12)
            for name, unit, a, b in zip(
                ("ang1", "ang2", "d3"), ("rad", "rad", "m"), ours, said, strict=True
            )
        ]
    far = float(urchin.spike_inverse([OUT, DOWN, 0.015], TEXT)[2])
    values.append(
        Value("d3 with the text's ball of 5 mm", 1e2 * far, "cm", 4.0, 0.01,
              "the text's foothold is out of reach of the text's spike, which extends 4 cm")
    )  # fmt: skip
    return Made(tuple(values), words="in the comments R is the extension, in the text the ball")


# --- chapter 3 ------------------------------------------------------------------------------------


def _angular(style: Style) -> Made:
    """R' R^T of the spike's own orientation, along a motion of the joints."""
    del style
    v = (0.7, -0.4, 0.1)
    ours = np.asarray(urchin.spike_angular_jacobian(Q))
    said = printed.angular_jacobian(Q[0])
    turn, rate = jax.jvp(urchin.spike_rotation, (jnp.array(Q),), (jnp.array(v),))
    spin = np.asarray(rate @ turn.T)
    omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    found = ours @ np.array(v)
    return Made((
        Value("ours less the matrix printed, largest", float(np.abs(ours - said).max()), "", 0.0,
              EXACT),
        *(
            Value(f"angular velocity about {name}, by R' Rᵀ", float(a), "rad/s", float(b), EXACT)
            for name, a, b in zip("xyz", found, omega, strict=True)
        ),
    ))  # fmt: skip


def _linear(style: Style) -> Made:
    del style
    said = printed.tip_jacobian(*Q)
    # End of the cylinder and its middle, as derivatives of their places.
    tip, middle = (
        np.asarray(jax.jacfwd(lambda q, share=share: _along(q, share))(jnp.array(Q)))
        for share in (1.0, 0.5)
    )
    names = ("θ1", "θ2", "d3")
    wrong = "the columns of the angles are those of the cylinder's middle"
    values = [
        Value(
            f"largest of column {name}, end of the cylinder",
            float(np.abs(tip[:, i]).max()),
            "",
            float(np.abs(said[:, i]).max()),
            1e-6,
            wrong if i < 2 else "",
        )
        for i, name in enumerate(names)
    ]
    off = np.abs(middle - said).max(axis=0)
    values += [
        Value(
            f"the middle's column {name} less it, largest",
            float(off[i]),
            "",
            0.0,
            EXACT,
            "" if i < 2 else "the middle moves half as fast as the slide",
        )
        for i, name in enumerate(names)
    ]
    ball = np.asarray(urchin.spike_jacobian(Q, TEXT))
    lam = 0.045 + Q[2]
    ours = np.array(jacobian(lam, 1.0, Q[0], Q[1]), float)
    values += [
        Value(
            "ours of the ball's centre less (spike.4)",
            float(np.abs(ball - ours).max()),
            "",
            0.0,
            EXACT,
        ),
        Value("its determinant", float(np.linalg.det(ball)), "m^2", lam**2 * math.sin(Q[1]), EXACT),
    ]
    return Made(tuple(values))  # fmt: skip


def _along(q, share: float):
    """The point of the cylinder's axis at k + share d_3."""
    q1, q2, d3 = q
    out = printed.PRISM + share * d3
    return out * jnp.array([jnp.cos(q1) * jnp.sin(q2), jnp.sin(q1) * jnp.sin(q2), -jnp.cos(q2)])


def _python(call: str) -> str:
    return f'python -c "import footfall as ff; print(ff.robots.sea_urchin.{call})"'


ITEMS = (
    Item(
        "fig-1.1",
        "3D model of the robot",
        "a spherical shell with twelve spikes, six below its middle and six above.",
        _figure_1_1,
        "footfall run urchin-walk",
    ),
    Item(
        "fig-1.2",
        "Front profile of the robot",
        "one spike with its frames, the angles and the extension d_3.",
        _figure_1_2,
        erratum="z_0 and z_1 name other axes in the text of 1.1 than in chapter 3; ours are those"
        " of chapter 3.",
    ),
    Item(
        "table-1.1",
        "Denavit-Hartenberg assignment",
        "four rows from the body to the end of the cylinder, and theta_spk = 60 (i - 1) (eq 1.1).",
        _table_1_1,
    ),
    Item(
        "eq-1.4",
        "Forward kinematics",
        "homogeneous matrices of eq 1.2 to 1.4, from the attachment to the end of the cylinder.",
        _forward,
        _python("spike_forward((0.3, 1.1, 0.02))"),
    ),
    Item(
        "eq-1.7",
        "From the contact point to the end of the cylinder",
        "eq 1.5 to 1.7: back by the ball's radius, upwards and along the spike.",
        _contact,
        erratum="y_e - 0.005 stands beside a symbolic r; y_e - r is meant.",
    ),
    Item(
        "eq-1.8",
        "Angle of the first hinge",
        "theta_1 as the angle of a ratio.",
        _hinge_1,
        _python("spike_inverse((0.0563, 0.0375, 0.01))"),
        "atan2 needs two numbers, not their ratio.",
    ),
    Item(
        "eq-1.9",
        "Angle of the second hinge",
        "theta_2 from the root of x_e^2 + (y_e - r)^2, and z_e.",
        _hinge_2,
        erratum="Both signs are wrong, so the angle is half a turn off; the function of figure 1.3"
        " is right.",
    ),
    Item(
        "eq-1.10",
        "Extension of the slide",
        "d_3 = -z_e/cos(theta_2) - r - k.",
        _slide,
        _python("spike_reaches(ff.robots.sea_urchin.spike_inverse((0.0563, 0.0375, 0)))"),
        "Nothing by nothing in mid-stance; ours is the root of all three squares. It is the third"
        " equality of 1.7 that is divided, not of 1.9.",
    ),
    Item(
        "fig-1.3",
        "Matlab function inverse_kinematic",
        "five lines: both angles and the extension from the contact point.",
        _function,
        _python("spike_inverse(((0.0563, 0.0375, 0.01), (0.0563, 0.0375, 0)))"),
        "The ball is 5 mm in the text and 40 mm in the script; with 5 mm its foothold is out of"
        " reach. Ours: profile T (5 mm, a foothold within reach) and P (as the script).",
    ),
)

JACOBIANS = (
    Item(
        "eq-3.1",
        "Lower part of the Jacobian, J_w",
        "angular velocity from the joint rates: the axes of the hinges.",
        _angular,
        _python("spike_angular_jacobian((0.3, 1.1, 0.02))"),
    ),
    Item(
        "eq-3.2",
        "Upper part of the Jacobian, J_v",
        "velocity of the tip from the joint rates.",
        _linear,
        _python("spike_jacobian((0.3, 1.1, 0.02))"),
        "Two columns belong to the middle of the cylinder, the third to its end; none to the ball.",
    ),
)
