"""The solvers a scenario can name: diffrax's, and those of `integrators`."""

from collections.abc import Callable

import diffrax

from footfall.engines.events.adams_bashforth import AdamsBashforth
from footfall.engines.events.multirate import Multirate
from footfall.engines.events.newton import PatientChord
from footfall.engines.events.rosenbrock import Rodas4
from footfall.engines.events.runge_kutta import RungeKutta4
from footfall.hybrid.fields import nearest

#: Newton's iterations of implicit solvers; the engine puts the run's own tolerances in
#: (`with_tolerances`).
_NEWTON = PatientChord(rtol=1e-8, atol=1e-10)

_Maker = Callable[[float], diffrax.AbstractSolver]


def _adams_bashforth(order: int) -> tuple[_Maker, str]:
    start = ", started with rk4 after every jump" if order > 1 else ", which is Euler's method"
    return (
        lambda _: AdamsBashforth(order),
        f"explicit multistep, order {order}, constant `step`: one slope a step{start}",
    )


_KNOWN: dict[str, tuple[_Maker, str]] = {
    "tsit5": (lambda _: diffrax.Tsit5(), "explicit Runge-Kutta, order 5: for loose tolerances"),
    "dopri5": (lambda _: diffrax.Dopri5(), "explicit Runge-Kutta, order 5: the well-known RK45"),
    "dopri8": (
        lambda _: diffrax.Dopri8(),
        "explicit Runge-Kutta, order 8: for smooth motion and tight tolerances",
    ),
    "bosh3": (lambda _: diffrax.Bosh3(), "explicit Runge-Kutta, order 3: for motion with kinks"),
    "heun": (lambda _: diffrax.Heun(), "explicit Runge-Kutta, order 2"),
    "euler": (lambda _: diffrax.Euler(), "explicit, order 1, constant `step`"),
    "kvaerno3": (
        lambda _: diffrax.Kvaerno3(root_finder=_NEWTON),
        "implicit (L-stable), order 3: for stiff robots, loosely",
    ),
    "kvaerno5": (
        lambda _: diffrax.Kvaerno5(root_finder=_NEWTON),
        "implicit (L-stable), order 5: for stiff robots",
    ),
    "rodas4": (
        lambda _: Rodas4(),
        "linearly implicit (L-stable), order 4: for stiff robots, friction included",
    ),
    "rk4": (lambda _: RungeKutta4(), "classical Runge-Kutta, order 4, constant `step`"),
    **{f"adams-bashforth-{order}": _adams_bashforth(order) for order in range(1, 6)},
    "multirate": (
        lambda fine_step: Multirate(fine_step),
        (
            "slow states extrapolated over a constant `step`, fast ones by rk4 at `fine_step`:"
            " order 3 in the step"
        ),
    ),
}

#: Name in a scenario -> what it is, in a line.
SOLVER_DOCS = {name: doc for name, (_, doc) in _KNOWN.items()}
SOLVERS = tuple(_KNOWN)


def solver_by_name(name: str, fine_step: float = 1e-5) -> diffrax.AbstractSolver:
    """A solver from its name in a scenario; `fine_step` is for a multirate method."""
    if name not in _KNOWN:
        raise ValueError(
            f'"{name}" is not a solver. Known: {", ".join(SOLVERS)}.{nearest(name, SOLVERS)}'
        )
    make, _ = _KNOWN[name]
    return make(fine_step)


def name_of(solver: diffrax.AbstractSolver) -> str:
    """The name that a scenario has for a solver, or that of its class."""
    for name, (make, _) in _KNOWN.items():
        made = make(1e-5)
        same = type(made) is type(solver)
        if same and (not isinstance(solver, AdamsBashforth) or solver.degree == made.degree):
            return name
    return type(solver).__name__
