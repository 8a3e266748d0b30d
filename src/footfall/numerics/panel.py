"""A smooth function on a panel (a solver step), known at a few nodes: its integral, its running integral and its peak.

Nodes are those of Gauss and Lobatto, both ends among them: nine integrate polynomials up to degree 15 exactly.
"""

import numpy as np
from numpy.polynomial import Legendre, legendre

COUNT = 9
#: A function whose last two Legendre coefficients are below this share of its size is smooth: its peak may be read off the polynomial.
SMOOTH = 1e-4
#: Points at which a smooth function is looked at for its peak, before a parabola refines it.
FINE = 65

_inside = Legendre.basis(COUNT - 1).deriv().roots()
_ends = np.concatenate([[-1.0], np.sort(_inside.real), [1.0]])
#: Places of the nodes in the panel, from 0 to 1.
NODES = 0.5 * (_ends + 1.0)
#: Weights of a panel of length one.
WEIGHTS = 1.0 / (COUNT * (COUNT - 1) * legendre.legval(_ends, [0.0] * (COUNT - 1) + [1.0]) ** 2)
#: Legendre coefficients from the values at the nodes.
_COEFFICIENTS = np.linalg.inv(legendre.legvander(_ends, COUNT - 1))
_FINE = legendre.legvander(np.linspace(-1.0, 1.0, FINE), COUNT - 1) @ _COEFFICIENTS


def running_weights(place: np.ndarray) -> np.ndarray:
    """(places, nodes): the integral from 0 to each place of a panel of length one, of what is known at the nodes."""
    sums = legendre.legint(np.eye(COUNT), lbnd=-1.0, axis=0)  # coefficients of the integral of each polynomial
    return 0.5 * legendre.legvander(2.0 * np.asarray(place) - 1.0, COUNT) @ sums @ _COEFFICIENTS


def largest(values: np.ndarray) -> np.ndarray:
    """(panels, functions): the largest size of functions given at the nodes, (panels, nodes, functions).

    Of a smooth function that of the polynomial through them, off by less than SMOOTH of it; of one with a kink inside (a torque at
    its limit) that of the nodes, which no polynomial may overshoot.
    """
    seen = np.abs(values).max(axis=1)
    tail = np.abs(np.einsum("cn,pnf->pcf", _COEFFICIENTS[-2:], values)).max(axis=1)
    fine = np.abs(np.einsum("gn,pnf->pgf", _FINE, values))
    at = np.clip(fine.argmax(axis=1), 1, FINE - 2)
    left, top, right = (np.take_along_axis(fine, (at + k)[:, None], axis=1)[:, 0] for k in (-1, 0, 1))
    bend = left - 2.0 * top + right
    peak = np.where(bend < 0, top - (right - left) ** 2 / np.where(bend < 0, 8.0 * bend, 1.0), top)
    inside = np.abs(right - left) < -2.0 * bend  # the vertex lies between the neighbours
    peak = np.maximum(np.where(inside, peak, top), fine.max(axis=1))
    return np.where(tail <= SMOOTH * seen, np.maximum(peak, seen), seen)
