"""A robot built a second time, as a tree of rigid bodies of MuJoCo: to check one by the other.

The tree is made from the same parameters, and knows nothing of our equations. What both must agree
on: where its sites are and how they move, its energies, and the forces that its accelerations take.
It is also what `footfall export` writes as MJCF and URDF.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from footfall.numerics.scalar import Scalar


class Posture(NamedTuple):
    """A moment of ours in the coordinates of the tree, by its degrees of freedom."""

    qpos: np.ndarray
    qvel: np.ndarray
    qacc: np.ndarray  #: as our equations have it
    force: np.ndarray  #: of motors, springs and ground that are not in the tree
    origin: tuple[float, float, float]  #: of the tree, in the house frame


class Twin(NamedTuple):
    """The tree, and how a state of ours stands in it.

    Sites have the names of groups of outputs ("hub", "tip.3").
    """

    spec: Any  #: mujoco.MjSpec
    posture: Callable[[Scalar, Any, Any], Posture]  #: of (t, x, m)
    left_out: str = ""  #: what the tree has not, in words


#: Of a body that has none in our equations: MuJoCo wants some inertia [kg m^2] and mass [kg]. A
#: millionth of a millionth of the smallest we have.
THIN = 1e-14


def point(*numbers: Any) -> np.ndarray:
    """Plain numbers, for the tree."""
    return np.array([float(number) for number in numbers])
