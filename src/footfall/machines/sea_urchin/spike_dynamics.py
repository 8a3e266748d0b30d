"""Dynamics of one spike on a fixed base: effort = D q'' + C q' + g, in closed form.

Coordinates q = (q1, q2, d_3) and the frame S of machines/sea_urchin/spike_kinematics.py, y down.
Every body has its centre on the spike axis at a distance lam = offset + share d_3, so all of them
together are five sums over the bodies. Elementwise. Theory: docs/theory/sea-urchin.md, section 3.
"""

from typing import NamedTuple

from footfall.machines.sea_urchin.spike_kinematics import Rows, Vector
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos


class AxialBody(NamedTuple):
    """A body whose centre of mass is on the spike axis.

    lam = offset + share d_3 from the joints.
    """

    mass: Scalar
    offset: Scalar
    #: 0 is fixed to the prism, 1 goes with the slide, 1/2 is the middle of a telescope.
    share: Scalar = 0.0
    transverse: Scalar = 0.0  #: inertia about its centre, square to the axis
    axial: Scalar = 0.0  #: inertia about the axis


class SpikeInertia(NamedTuple):
    """The sums that the equations need, at one extension:

    Jm = sum(m lam^2 + I_t), eta = Jm'/2 = sum(m lam lam'),                               (spike.11)
    m_s = sum(m lam'^2), M = sum(m lam), M' = sum(m lam')
    """

    moment: Scalar  #: Jm
    eta: Scalar
    slide: Scalar  #: m_s
    first: Scalar  #: M
    first_rate: Scalar  #: M'
    axial: Scalar = 0.0  #: I_a


def inertia(bodies: tuple[AxialBody, ...], d3: Scalar) -> SpikeInertia:
    """Of all bodies together with the slide at d_3.

    The source's telescope (lam' = 1/2) moves a quarter of its mass, m_s = m_2/4, not all of it.
    """
    moment = eta = slide = first = first_rate = axial = 0.0
    for body in bodies:
        lam = body.offset + body.share * d3
        weighed = body.mass * lam
        moment = moment + weighed * lam + body.transverse
        eta = eta + weighed * body.share
        slide = slide + body.mass * body.share * body.share
        first = first + weighed
        first_rate = first_rate + body.mass * body.share
        axial = axial + body.axial
    return SpikeInertia(moment, eta, slide, first, first_rate, axial)


def mass_matrix(i: SpikeInertia, q2: Scalar) -> Vector:
    """The diagonal of D, which has nothing else:

    D = diag(Jm s^2 + I_a c^2, Jm, m_s),   s = sin q2, c = cos q2                         (spike.12)
    """
    s, c = sincos(q2)
    return i.moment * (s * s) + i.axial * (c * c), i.moment, i.slide


def coriolis(i: SpikeInertia, q2: Scalar, v: Vector) -> Rows:
    """Rows of C, by Christoffel's symbols, so that D' - 2 C is skew:

    C = [[h v2 + eta s^2 v3, h v1, eta s^2 v1],
         [-h v1, eta v3, eta v2],
         [-eta s^2 v1, -eta v2, 0]]                                                       (spike.13)

    with h = (Jm - I_a) s c.
    """
    s, c = sincos(q2)
    v1, v2, v3 = v
    h, swung = (i.moment - i.axial) * (s * c), i.eta * (s * s)
    return (
        (h * v2 + swung * v3, h * v1, swung * v1),
        (-h * v1, i.eta * v3, i.eta * v2),
        (-swung * v1, -i.eta * v2, 0.0 * v1),
    )


def gravity_load(i: SpikeInertia, q1: Scalar, q2: Scalar, gravity: Scalar) -> Vector:
    """What the joints must give to hold the spike still.

    y is DOWN, so the height of a body is -lam s1 s2 (the source has it upside down):

    P = -g M s1 s2,   g(q) = dP/dq = -g (M c1 s2, M s1 c2, M' s1 s2)                      (spike.14)
    """
    s1, c1 = sincos(q1)
    s2, c2 = sincos(q2)
    weighed = -gravity * i.first
    return weighed * (c1 * s2), weighed * (s1 * c2), -gravity * i.first_rate * (s1 * s2)


def bias(i: SpikeInertia, q: Vector, v: Vector, gravity: Scalar) -> Vector:
    """C q' + g."""
    pull = gravity_load(i, q[0], q[1], gravity)
    one, two, three = (
        row[0] * v[0] + row[1] * v[1] + row[2] * v[2] + p
        for row, p in zip(coriolis(i, q[1], v), pull, strict=True)
    )
    return one, two, three


def accelerations(i: SpikeInertia, q: Vector, v: Vector, effort: Vector, gravity: Scalar) -> Vector:
    """q'' = D^-1 (effort - C q' - g)."""
    one, two, three = (
        (e - b) / d
        for e, b, d in zip(effort, bias(i, q, v, gravity), mass_matrix(i, q[1]), strict=True)
    )
    return one, two, three


def kinetic_energy(i: SpikeInertia, q2: Scalar, v: Vector) -> Scalar:
    d1, d2, d3 = mass_matrix(i, q2)
    return 0.5 * (d1 * v[0] * v[0] + d2 * v[1] * v[1] + d3 * v[2] * v[2])


def potential_energy(i: SpikeInertia, q1: Scalar, q2: Scalar, gravity: Scalar) -> Scalar:
    """P, zero at the height of the joints."""
    (s1, _), (s2, _) = sincos(q1), sincos(q2)
    return -gravity * i.first * (s1 * s2)
