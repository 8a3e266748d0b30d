"""The diffrax solvers a scenario can name."""

import diffrax

from footfall.hybrid.fields import nearest

_EXPLICIT = {
    "tsit5": diffrax.Tsit5,
    "dopri5": diffrax.Dopri5,
    "dopri8": diffrax.Dopri8,
    "bosh3": diffrax.Bosh3,
    "heun": diffrax.Heun,
    "euler": diffrax.Euler,
}
_IMPLICIT = {"kvaerno3": diffrax.Kvaerno3, "kvaerno5": diffrax.Kvaerno5}

SOLVERS = (*_EXPLICIT, *_IMPLICIT)


def solver_by_name(name: str, rtol: float, atol: float) -> diffrax.AbstractSolver:
    """A solver from its name in a scenario. The Newton iterations of implicit ones follow the tolerances."""
    if name in _EXPLICIT:
        return _EXPLICIT[name]()
    if name in _IMPLICIT:
        return _IMPLICIT[name](root_finder=diffrax.VeryChord(rtol=rtol, atol=atol))
    raise ValueError(f'"{name}" is not a solver. Known: {", ".join(SOLVERS)}.{nearest(name, SOLVERS)}')
