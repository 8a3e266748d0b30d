"""A smooth function on a panel (a solver step), known at a few nodes.

Its integral, its running integral and its peak.

Nodes are those of Gauss and Lobatto, both ends among them: nine integrate polynomials up to degree
15 exactly.
"""

import itertools

import numpy as np
from numpy.polynomial import Legendre, legendre

COUNT = 9
#: Coefficients (a pair of neighbours) of a smooth function are less than this share of the pair
#: before.
FALLS = 0.1
#: A panel on which the polynomial may be wrong by more than this share of its size is worth
#: splitting.
WRONG = 1e-4
#: Roots of a polynomial with a smaller imaginary part than this are real.
ROOT = 1e-9
#: Of sums over the nodes.
ROUNDING = 1e-15
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
#: Half the coefficients of the integrals of the polynomials, from the values at the nodes.
_INTEGRALS = 0.5 * legendre.legint(np.eye(COUNT), lbnd=-1.0, axis=0) @ _COEFFICIENTS
#: Slopes at both ends from the values at the nodes.
_END_SLOPES = legendre.legvander(np.array([-1.0, 1.0]), COUNT - 2) @ legendre.legder(_COEFFICIENTS)
_FINE = legendre.legvander(np.linspace(-1.0, 1.0, FINE), COUNT - 1) @ _COEFFICIENTS


def running_weights(place: np.ndarray) -> np.ndarray:
    """Weights of running integrals, (places, nodes).

    The integral from 0 to each place of a panel of length one, of what is known at the nodes.
    """
    return legendre.legvander(2.0 * np.asarray(place) - 1.0, COUNT) @ _INTEGRALS


def largest(values: np.ndarray) -> np.ndarray:
    """The largest size of functions on each panel, (panels, functions).

    The functions are given at the nodes, (panels, nodes, functions).

    That of the polynomial through them where it stands out from what the polynomial may be wrong
    by, judged by how its last coefficients fall off; else that of the nodes: at a kink (a torque at
    its limit) a polynomial overshoots. Two neighbours that share the largest value are at a limit.
    """
    panels, _, functions = values.shape
    values = _nodes_first(values)
    size = np.abs(values)
    seen = size.max(axis=0)
    earlier, before, last = _pairs(values)
    wrong = last * np.minimum(1.0, last / np.where(before > 0, before, 1.0)) + ROUNDING * seen
    smooth = (last <= FALLS * before) & (before <= FALLS**0.5 * earlier) | (
        before <= 100 * ROUNDING * seen
    )
    top = size == seen
    limited = (top[1:] & top[:-1]).any(axis=0)
    # Between two nodes there can only be a peak where the largest is inside, or where the function
    # grows from the end that is the largest: few panels, as a rule.
    first, last_slope = _END_SLOPES @ values
    grows = np.where(top[0], np.sign(values[0]) * first > 0, np.sign(values[-1]) * last_slope < 0)
    inside = ~top[0] & top[1:-1].any(axis=0)
    place = np.flatnonzero(smooth & ~limited & (inside | grows))
    peak = _peaks(values[:, place].T)
    stands = peak - seen[place] > 3.0 * wrong[place]
    seen[place[stands]] = peak[stands]
    return seen.reshape(panels, functions)


def _peaks(values: np.ndarray) -> np.ndarray:
    """The largest size of each function, given at the nodes (functions, nodes)."""
    fine = np.abs(values @ _FINE.T)
    at = np.clip(fine.argmax(axis=1), 1, FINE - 2)
    left, top, right = (fine[np.arange(len(at)), at + k] for k in (-1, 0, 1))
    bend = left - 2.0 * top + right
    # The vertex of the parabola lies between the neighbours.
    inside = np.abs(right - left) < -2.0 * bend
    return np.where(
        inside,
        top - (right - left) ** 2 / np.where(inside, 8.0 * bend, 1.0),
        fine.max(axis=1, initial=0.0),
    )


def doubt(values: np.ndarray) -> np.ndarray:
    """By how much the polynomial through the nodes may be wrong at most, (panels, functions).

    By all that its coefficients tell.

    At a kink they fall off so slowly that the first of them tell as much as the last, which may be
    small by accident.
    """
    panels, _, functions = values.shape
    earlier, before, last = _pairs(_nodes_first(values))
    most = np.maximum(last, np.maximum(FALLS * before, FALLS**2 * earlier))
    return most.reshape(panels, functions)


def _pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sizes of the Legendre coefficients of order 3 and 4, 5 and 6, 7 and 8, the larger of each
    pair, of functions given at the nodes (nodes, functions).
    """
    size = np.abs(_COEFFICIENTS[-6:] @ values)
    return np.maximum(*size[:2]), np.maximum(*size[2:4]), np.maximum(*size[4:])


def _nodes_first(values: np.ndarray) -> np.ndarray:
    """(nodes, functions of all panels): operations over few functions at a time are slow."""
    return values.transpose(1, 0, 2).reshape(values.shape[1], -1)


def bounds(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest value of functions given at the nodes, (functions, nodes)."""
    fine = values @ _FINE.T
    return fine.min(axis=1), fine.max(axis=1)


def positive_part(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The integral of the positive part of a function given at the nodes.

    From 0 to each place of a panel of length one.

    The polynomial through them is integrated from zero to zero.
    """
    place = np.asarray(place, float)
    series = _COEFFICIENTS @ values
    roots = legendre.legroots(legendre.legtrim(series))
    inside = np.sort(roots.real[(np.abs(roots.imag) < ROOT) & (np.abs(roots.real) < 1.0)])
    cuts = np.concatenate([[-1.0], inside, [1.0]])
    whole, x, total = legendre.legint(series), 2.0 * place - 1.0, np.zeros_like(place)
    for a, b in itertools.pairwise(cuts):
        if legendre.legval(0.5 * (a + b), series) > 0:
            total += legendre.legval(np.clip(x, a, b), whole) - legendre.legval(a, whole)
    return 0.5 * total
