"""linearise(system, state) -> A, B, C, D.

The flow and the outputs to the first order, with names and units.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.simulate import as_arrays, as_floats
from footfall.hybrid.flatten import Layout, named_leaves
from footfall.hybrid.plant import AbstractPlant
from footfall.hybrid.system import AbstractHybridSystem, HybridState


@dataclasses.dataclass(frozen=True, repr=False)
class LinearSystem:
    """A system near a state, to the first order, while the discrete state is held.

    dx' = rate + A (x - x0) + B (u - u0), y = y0 + C (x - x0) + D (u - u0).
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    units: dict[str, str]  #: of every state, input and output
    x0: np.ndarray  #: where it was taken
    u0: np.ndarray
    y0: np.ndarray
    rate: np.ndarray  #: dx/dt there: zero only at an equilibrium

    def __repr__(self) -> str:
        def said(names: tuple[str, ...]) -> str:
            shown = ", ".join(f"{name} [{self.units[name] or '1'}]" for name in names[:8])
            return (shown or "none") + (f" and {len(names) - 8} more" if len(names) > 8 else "")

        poles = np.linalg.eigvals(self.A) if len(self.states) else np.zeros(0)
        fast = ", ".join(f"{p:.4g}" for p in sorted(poles, key=lambda p: -p.real)[:6])
        return "\n".join(
            [
                (
                    f"linear system: {len(self.states)} states, {len(self.inputs)} inputs,"
                    f" {len(self.outputs)} outputs"
                ),
                f"  states: {said(self.states)}",
                f"  inputs: {said(self.inputs)}",
                f"  outputs: {said(self.outputs)}",
                f"  eigenvalues of A [1/s]: {fast}{' ...' if len(poles) > 6 else ''}",
            ]
        )


def linearise(
    system: Any, state: HybridState | None = None, *, torques: tuple[float, ...] | None = None
) -> LinearSystem:
    """The motion near a state, between two events, as a linear system with names and units.

    dx' = A dx + B du, dy = C dx + D du.

    Arguments:
        system: an experiment as `ff.load` gives it, or a system.
        state: where; without it the experiment's start, or the system's usual one. The discrete
            state is held.
        torques: of the driven joints there [N m]; without them, those that the robot's own law
            gives at this state.

    Returns a `LinearSystem` with A, B, C, D (exact derivatives) and the names of states, inputs and
    outputs, ready for python-control: control.ss(lin.A, lin.B, lin.C, lin.D). Inputs are the
    torques of driven joints: of a robot that has such joints (rimless-wheel, rimless-wheel-turning)
    its own law is taken off, because that is what is to be designed. Any other robot is taken as it
    is and has no inputs: B and D have no columns. A law with a clock is not in A: between ticks its
    torque is held.

    >>> import footfall as ff
    >>> lin = ff.linearise(ff.load("rimless-wheel"))
    >>> lin.A.shape, lin.B.shape, lin.inputs
    ((7, 7), (7, 2), ('torque.left', 'torque.right'))
    >>> lin.units["spoke_rate"]
    'rad/s'
    """
    if all(hasattr(system, name) for name in ("system", "start")):
        system, state = system.system, system.start if state is None else state
    if not isinstance(system, AbstractHybridSystem):
        raise TypeError(
            f"linearise needs a robot with equations of its own, not {type(system).__name__}."
            " Robots stepped by MuJoCo have none."
        )
    system, state = as_floats(system), system.begin(system.Start()) if state is None else state
    state = HybridState(as_floats(state.x), as_arrays(state.m))
    inputs, given = (), state
    own, t = system, jnp.zeros(())
    if isinstance(system, AbstractPlant):
        system, state = _opened(system, state)
        inputs = tuple(f"torque.{joint}" for joint in system.joints)
    layout = Layout.of(state.x)

    def rates(x: Any, u: Any) -> Any:
        return layout.pack(system.flow(t, layout.unpack(x), _driven(system, state.m, u)).x)

    def outputs(x: Any, u: Any) -> Any:
        return _flat(system.outputs(t, layout.unpack(x), _driven(system, state.m, u)))

    x0, u0 = layout.pack(state.x), jnp.zeros(len(inputs))
    if inputs and torques is None:
        # Torques enter linearly, so these are exactly what makes the open robot move as the one
        # with its law does.
        missing = layout.pack(own.flow(t, *given).x) - rates(x0, u0)
        u0 = jnp.linalg.lstsq(jax.jacfwd(rates, 1)(x0, u0), missing)[0]
    elif inputs:
        if len(torques) != len(inputs):
            raise ValueError(
                f"torques: expected one for each of {', '.join(inputs)}, got {len(torques)}."
            )
        u0 = jnp.asarray(torques, float)
    (A, B), (C, D) = (jax.jit(jax.jacfwd(f, (0, 1)))(x0, u0) for f in (rates, outputs))
    names = [_names(struct) for struct in (state.x, system.outputs(t, *state))]
    units = names[0] | dict.fromkeys(inputs, "N m") | names[1]
    found = (A, B, C, D, x0, u0, outputs(x0, u0), rates(x0, u0))
    A, B, C, D, *point = (np.asarray(v) for v in found)
    return LinearSystem(A, B, C, D, tuple(names[0]), inputs, tuple(names[1]), units, *point)


def _opened(plant: AbstractPlant, state: HybridState) -> tuple[AbstractPlant, HybridState]:
    """The robot without its own law: somebody else decides its torques.

    Of the discrete state, what it shares with that robot's is kept.
    """
    bare = dataclasses.replace(plant, **plant.commanded)
    m = as_arrays(bare.begin(bare.Start()).m)
    shared = {
        f.name: getattr(state.m, f.name) for f in dataclasses.fields(m) if hasattr(state.m, f.name)
    }
    return bare, HybridState(state.x, dataclasses.replace(m, **shared))


def _driven(system: Any, m: Any, u: Any) -> Any:
    return system.driven(m, tuple(u)) if u.shape[0] else m


def _flat(struct: Any) -> Any:
    return jnp.concatenate(
        [jnp.ravel(jnp.asarray(value, float)) for _, value, _ in named_leaves(struct)]
    )


def _names(struct: Any) -> dict[str, str]:
    """Flat name -> unit; of like legs one each: "tip.z.3"."""
    named = {}
    for name, value, info in named_leaves(struct):
        legs = (
            [""] if np.ndim(value) == 0 else [f".{i}" for i in range(int(np.prod(np.shape(value))))]
        )
        named |= {f"{name}{leg}": info.unit for leg in legs}
    return named
