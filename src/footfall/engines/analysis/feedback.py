"""Feedback on the return map: parameters corrected at each step from how far the state is off.

To the first order a step takes a deviation d of the gait, and changes u of some inputs that are
held over it, to

    d+ = A d + B u,   A = dP/dv, B = dP/du                                             (gaits.14)

with both exact. A law u = -K d makes A - B K of A. Modes that are gone after one step are left
alone, and energy that is conserved is no deviation: what is designed for is y = W d with the left
invariant subspace W of the slow modes, y+ = A_y y + W B u, in units of what a step changes.

LQR minimises the sum of (|y|^2 + price |u|^2) / r^2n over all steps n to come, u in units that move
the state by one unit: the regulator of A/r and B/r. Multipliers that inputs reach are then within
r. Deadbeat brings y to zero in as few steps as there are inputs for.
"""

import dataclasses
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import schur, solve_discrete_are

from footfall.engines.analysis.cycle import Cycle, find_cycle
from footfall.engines.analysis.modes import GONE, said_number
from footfall.engines.analysis.return_map import moved_only
from footfall.hybrid.fields import describe, nearest
from footfall.hybrid.step_feedback import StepFeedback
from footfall.hybrid.system import HybridState

LAWS = ("lqr", "deadbeat")
#: An input that moves a mode by less than this share of what moves it most does not reach it.
REACHED = 1e-9


@dataclasses.dataclass(frozen=True, repr=False)
class Feedback:
    """A law on the return map, and the robot with it."""

    system: StepFeedback  #: the robot with the law
    start: HybridState  #: on the gait
    law: str
    gain: np.ndarray  #: K: a row for each input, a column for each of the gait's unknowns
    open: np.ndarray  #: multipliers without the law
    multipliers: np.ndarray  #: with it, predicted: of A - B K, largest modulus first
    of: Cycle  #: the gait

    def cycle(self, **how: Any) -> Cycle:
        """The gait of the robot with the law, found anew: its multipliers are those predicted."""
        return find_cycle(self.system, self.start, self.of.event, self.of.map.plan, **how)

    def disturbed(self, state: HybridState) -> HybridState:
        """A state of the robot without the law, as a start of the robot with it.

        As if the event had just been: the inputs are what the law says there.
        """
        closed = self.system.closed(state)
        names = [name for name in closed.m.__dataclass_fields__ if name.startswith("corrected_")]
        values = self.system.corrections(state.x, state.m)
        changes = dict(zip(names, values, strict=True))
        return HybridState(closed.x, dataclasses.replace(closed.m, **changes))

    def __repr__(self) -> str:
        lines = [f"{self.law} of {', '.join(self.system.inputs)} at each {self.of.event}"]
        for key, unit, row in zip(self.system.inputs, self.system.units, self.gain, strict=True):
            order = [i for i in np.argsort(-np.abs(row * self.of.scale)) if row[i] != 0.0]
            said = ", ".join(f"{-row[i]:.4g} per {self.of.unknowns[i]}" for i in order[:4])
            lines.append(f"  {key} [{unit or '1'}]: {said or 'nothing to correct'}")
        for word, values in (("without", self.open), ("with", self.multipliers)):
            shown = ", ".join(said_number(complex(v)) for v in values[:4])
            lines.append(f"  multipliers {word} it: {shown}")
        return "\n".join(lines)


def feedback(
    cycle: Cycle,
    inputs: Sequence[str],
    law: str = "lqr",
    *,
    price: float = 1.0,
    within: float = 1.0,
    limits: Mapping[str, float] | None = None,
) -> Feedback:
    """Correct some numbers of a robot at each step, so that disturbances of its gait die out.

    Arguments:
        cycle: a gait of one event, as `ff.find_cycle` or `experiment.cycle` gives it.
        inputs: parameters of the robot that are held over a step ("torso.pitch_setpoint").
        law: "lqr", or "deadbeat": nothing is left after as few steps as there are inputs for.
        price: of moving an input so far that it moves the state by what a step changes; small for
            strong corrections (lqr only).
        within: modulus that no multiplier is to exceed (lqr only).
        limits: the most that an input is moved, by name; without it as far as the law says.

    Returns a `Feedback`: the robot with the law (`system`, `start`), the gain, and the multipliers
    that it will have. Raises ValueError where an input does not reach what has to be corrected.

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel").cycle("touchdown")
    >>> law = ff.feedback(wheel, ["wheel_torque"], price=0.1)
    >>> print(f"{abs(law.open[0]):.3f} without, {abs(law.multipliers[0]):.3f} with it")
    0.655 without, 0.196 with it

    A robot with the law is run as any other: `ff.simulate(law.system, law.start)`.
    """
    _require(cycle, inputs, law, price, within)
    keys = [inputs] if isinstance(inputs, str) else list(inputs)
    robot = cycle.map.system
    units = tuple(_unit(robot, key) for key in keys)
    _require_books(cycle, keys)
    matrix, moves, frame = _in_units(cycle, keys)
    slow, left = _slow(matrix)
    sizes = np.linalg.norm(moves, axis=0)
    _require_reach(cycle, keys, sizes, slow, left @ moves, within)
    reach = left @ (moves / sizes)
    if law == "lqr":
        small = _lqr(slow / within, reach / within, price)
    else:
        small = _deadbeat(slow, reach, keys)
    inner = small / sizes[:, None] @ left
    gain = inner @ frame.T / cycle.scale
    closed = matrix - moves @ inner
    system = _closed(cycle, keys, units, gain, limits or {})
    start = system.closed(cycle.state)
    return Feedback(system, start, law, gain, cycle.multipliers, _ordered(closed), cycle)


def _require(cycle: Cycle, inputs: Sequence[str], law: str, price: float, within: float) -> None:
    if law not in LAWS:
        raise ValueError(f'law: "{law}" is none. Known: {", ".join(LAWS)}.{nearest(law, LAWS)}')
    if not inputs:
        raise ValueError("feedback needs an input: a parameter of the robot to correct.")
    if not price > 0:
        raise ValueError(f"price = {price}: it is above zero.")
    if not 0 < within <= 1:
        raise ValueError(f"within = {within}: multipliers have a modulus between 0 and 1.")
    if cycle.count != 1 or cycle.map.begins != "the event":
        raise ValueError(
            "feedback corrects a gait that repeats after one event; this one is of"
            f" {cycle.count if cycle.count > 1 else 'half a stride'}."
        )
    if cycle.map.clocked:
        raise ValueError(
            "feedback: this robot has a clock of its own, which no event sets back; take one with"
            " continuous control (control_period = auto)."
        )
    if not len(cycle.multipliers):
        raise ValueError("feedback: nothing of this gait can be disturbed at this event.")


def _unit(robot: Any, key: str) -> str:
    """Of a parameter by its path; raises where there is none such."""
    known = dict(_parameters(robot))
    if key not in known:
        raise ValueError(
            f'inputs: "{key}" is no parameter of {type(robot).__name__}. Known:'
            f" {', '.join(known)}.{nearest(key, known)}"
        )
    return known[key]


def _require_books(cycle: Cycle, keys: list[str]) -> None:
    """An input that changes what is stored at the event would do work there that no port has."""
    robot, (x, m) = cycle.map.system, cycle.state
    for key in keys:
        get = operator.attrgetter(key)

        def stored(value: Any, get: Any = get) -> Any:
            stores = eqx.tree_at(get, robot, value).stores(0.0, x, m)
            return sum(jnp.sum(jnp.asarray(v, float)) for v in jax.tree.leaves(stores))

        now = jnp.asarray(get(robot), float)
        if float(jax.jvp(stored, (now,), (jnp.ones(()),))[1]) != 0.0:
            raise ValueError(
                f'inputs: "{key}" changes what is stored just after {cycle.event}, so that to'
                " correct it there would do work; take an input that stores nothing there, or"
                " another event."
            )


def _parameters(part: Any, prefix: str = "") -> Any:
    for name, info in describe(part).items():
        value = getattr(part, name)
        if info.role == "part":
            yield from _parameters(value, f"{prefix}{name}.")
        elif (
            info.role == "param"
            and not part.__dataclass_fields__[name].metadata.get("static")
            and value is not None
            and np.ndim(value) == 0
        ):
            yield f"{prefix}{name}", info.unit


def _in_units(cycle: Cycle, keys: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A and B in units of what a step changes, on the surface of what is held; its basis."""
    assert cycle.scale is not None and cycle.derivative is not None
    robot, point = cycle.map.system, cycle.point
    along = jax.tree.map(lambda _: np.zeros(len(keys)), robot)
    for i, key in enumerate(keys):
        along = eqx.tree_at(operator.attrgetter(key), along, np.eye(len(keys))[i])
    mapped = cycle.map.at(point.flat, point.counts, moved_only(along))
    size, scale = len(point.flat), cycle.scale
    moves = (mapped.slopes.numbers[size:] @ cycle.quotient.reads.T).T / scale[:, None]
    matrix = cycle.derivative * scale[None, :] / scale[:, None]
    frame = np.eye(len(scale))
    if cycle.held:
        energy = mapped.slopes.begin_energy[:size][cycle.quotient.kept] * scale
        frame = np.linalg.svd(energy[None])[2][1:].T
    return frame.T @ matrix @ frame, frame.T @ moves, frame


def _slow(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(A_y, W): W A = A_y W for the modes that are not gone after one step."""
    found: Any = schur(matrix.T, sort=lambda re, im: np.hypot(re, im) > GONE)
    triangle, basis, count = found
    return triangle[:count, :count].T, basis[:, :count].T


def _require_reach(
    cycle: Cycle,
    keys: list[str],
    sizes: np.ndarray,
    slow: np.ndarray,
    reach: np.ndarray,
    within: float,
) -> None:
    for key, size in zip(keys, sizes, strict=True):
        if size == 0.0:
            raise ValueError(
                f'inputs: "{key}" changes nothing from one {cycle.event} to the next; take another'
                " input, or another event."
            )
    values, vectors = np.linalg.eig(slow.T)
    for value, vector in zip(values, vectors.T, strict=True):
        if np.max(np.abs(vector @ (reach / sizes))) < REACHED and abs(value) >= within:
            raise ValueError(
                f"inputs: {', '.join(keys)} do not reach the mode of the multiplier"
                f" {said_number(complex(value))}, which is to be within {within:g}: take another"
                " input."
            )


def _lqr(slow: np.ndarray, reach: np.ndarray, price: float) -> np.ndarray:
    size, count = reach.shape
    if not size:
        return np.zeros((count, 0))
    cost = solve_discrete_are(slow, reach, np.eye(size), price * np.eye(count))
    inner = price * np.eye(count) + reach.T @ cost @ reach
    return np.linalg.solve(inner, reach.T @ cost @ slow)


def _deadbeat(slow: np.ndarray, reach: np.ndarray, keys: list[str]) -> np.ndarray:
    """The first of the least inputs that bring y to zero in n steps, n inputs being its size."""
    size, count = reach.shape
    steps = max(1, -(-size // count))
    if count < size and steps * count != size:
        raise ValueError(
            f"deadbeat: {size} modes and {count} inputs ({', '.join(keys)}) do not go together: as"
            " many inputs as modes, one, or a number that divides theirs; or take lqr."
        )
    blocks = [np.linalg.matrix_power(slow, steps - 1 - n) @ reach for n in range(steps)]
    over = np.concatenate(blocks, axis=1)
    if np.linalg.matrix_rank(over, tol=REACHED * max(np.linalg.norm(over, 2), 1e-300)) < size:
        raise ValueError(
            f"deadbeat: {', '.join(keys)} do not reach all of the {size} modes that last; take more"
            " inputs, or lqr."
        )
    whole = np.linalg.pinv(over) @ np.linalg.matrix_power(slow, steps)
    return whole[:count]


def _closed(
    cycle: Cycle,
    keys: list[str],
    units: tuple[str, ...],
    gain: np.ndarray,
    limits: Mapping[str, float],
) -> StepFeedback:
    for key in limits:
        if key not in keys:
            raise ValueError(f'limits: "{key}" is no input. Known: {", ".join(keys)}.')
    state = jax.tree.map(np.asarray, cycle.map.like)
    paths = jax.tree_util.tree_flatten_with_path(state)[0]
    names = [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in paths]
    names = [f"{'xm'[int(n[0])]}{n[1:]}" if n[0].isdigit() else n for n in names]
    if any(np.ndim(value) for _, value in paths):
        raise ValueError("feedback: robots with like legs in arrays cannot be corrected yet.")
    whole = gain @ cycle.quotient.reads
    used = np.flatnonzero(np.any(whole != 0.0, axis=0))
    flat = cycle.point.flat
    return StepFeedback(
        machine=cycle.map.system,
        section=[event.name for event in cycle.map.system.events].index(cycle.event),
        inputs=tuple(keys),
        units=units,
        numbers=tuple(names[i] for i in used),
        gain=tuple(tuple(float(row[i]) for i in used) for row in whole),
        reference=tuple(float(flat[i]) for i in used),
        limit=tuple(float(limits.get(key, np.inf)) for key in keys),
    )


def _ordered(matrix: np.ndarray) -> np.ndarray:
    values = np.linalg.eigvals(matrix)
    values = values[np.argsort(-np.abs(values), kind="stable")]
    return values.real if np.all(values.imag == 0.0) else values
