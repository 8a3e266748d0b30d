"""What ground does to a point that touches it.

Any terrain, any law of the normal force, any law of friction.
"""

from typing import NamedTuple

from footfall.machines.parts.contact.base import AbstractContact
from footfall.machines.parts.friction.base import AbstractFriction
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.numerics.scalar import Scalar


class Touch(NamedTuple):
    """Force of the ground on the point, and where its power goes:

    -F . v = d(energy)/dt + contact_loss + friction_loss - corner                          (touch.1)
    """

    fx: Scalar
    fz: Scalar
    energy: Scalar  #: J, in the ground pressed in
    contact_loss: Scalar  #: W
    friction_loss: Scalar  #: W
    corner: Scalar  #: W, given by a corner whose force is blended
    bristle_rate: Scalar
    load: Scalar  #: N, normal to the surface


def touch(
    terrain: AbstractTerrain,
    contact: AbstractContact,
    friction: AbstractFriction,
    x: Scalar,
    z: Scalar,
    vx: Scalar,
    vz: Scalar,
    bristle: Scalar = 0.0,
) -> Touch:
    """What every face of the ground does to a point, each by its share.

    It pushes along its normal by the law of contact and rubs along itself under that load.
    """
    total = Touch(*[0.0 * x] * 8)
    for face in terrain.faces(x, z, vx, vz):
        rate = -(face.nx * vx + face.nz * vz)
        push = contact.force(face.depth, rate)
        along_x, along_z = face.nz / face.stretch, -face.nx / face.stretch
        slide, load = along_x * vx + along_z * vz, push * face.stretch
        rub = friction.force(slide, load, bristle)
        energy = contact.energy(face.depth)
        part = Touch(
            fx=push * face.nx + rub * along_x,
            fz=push * face.nz + rub * along_z,
            energy=energy,
            contact_loss=contact.loss(face.depth, rate),
            friction_loss=friction.loss(slide, load, bristle),
            corner=0.0 * x,
            bristle_rate=friction.bristle_rate(slide, load, bristle),
            load=load,
        )
        total = Touch(*(a + face.share * b for a, b in zip(total, part, strict=True)))
        total = total._replace(corner=total.corner + face.share_rate * energy)
    return total
