"""Error against cost.

One start of one system, moved through the same span by many methods at many settings.
"""

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import diffrax
import jax
import numpy as np

from footfall.engines.events.adams_bashforth import AdamsBashforth
from footfall.engines.events.multirate import Multirate
from footfall.engines.events.runge_kutta import RungeKutta4
from footfall.engines.events.solvers import SOLVERS, solver_by_name
from footfall.engines.plan import Plan
from footfall.engines.simulate import simulate
from footfall.engines.stability_limit import Spectrum, StabilityLimit, limit_of, spectrum
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.flatten import Layout, named_leaves
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.record.trajectory import Trajectory
from footfall.record.verdict import Verdict, verdict

#: Compared when nobody says which: one of each kind. Every method has to be compiled.
DEFAULT = (
    "tsit5",
    "dopri8",
    "kvaerno5",
    "rk4",
    "adams-bashforth-2",
    "adams-bashforth-4",
    "multirate",
)
TOLERANCES = (1e-4, 1e-6, 1e-8)
#: Absolute tolerance as a share of the relative one, as in the default plan.
ATOL_SHARE = 1e-2
#: A fixed step begins at this share of the span where stability does not ask for less, and is
#: halved from there.
LONGEST_STEP = 1 / 25
HALVINGS = 4
#: The coarse steps of a multirate method begin at this many fine ones.
COARSE = 100
#: Steps of one run; a series of halvings ends here.
MOST_STEPS = 300_000
#: s; a run that takes longer is given up.
PATIENCE = 20.0
#: Two tight runs that differ by more than this (scaled) ask for a third.
AGREEMENT = 1e-7
#: Rows kept of the reference, for its eigenvalues.
ROWS = 1000

FAMILIES = {
    "explicit": "explicit Runge-Kutta, adaptive",
    "implicit": "implicit Runge-Kutta, adaptive",
    "fixed": "explicit Runge-Kutta, fixed step",
    "multistep": "explicit multistep, fixed step",
    "multirate": "two rates, fixed step",
}


class Errors(NamedTuple):
    """How far a run ended from the reference."""

    scaled: float  #: largest |x - x_ref| / (1 + |x_ref|) over the states
    worst: str  #: the state that has it
    #: Largest |x - x_ref| over states that are not fast; None for a system without fast ones.
    slow: float | None


@dataclasses.dataclass(frozen=True)
class Reference:
    """A much tighter run, and how far another one as tight is from it."""

    method: str
    rtol: float
    against: str  #: the other one; empty where no other ends alike
    uncertainty: Errors
    run: Trajectory
    seen: Spectrum

    def to_dict(self) -> dict[str, Any]:
        ending, (value, t) = self.run.ending, self.seen.largest
        return {
            "method": self.method,
            "rtol": self.rtol,
            "against": self.against,
            "uncertainty": _number(self.uncertainty.scaled),
            "slow_uncertainty": _number(self.uncertainty.slow),
            "outcome": ending.outcome.name,
            "verdict": self.run.verdict.to_dict(),
            "t": ending.t,
            "jumps": ending.jumps,
            "state": ending.state,
            "largest_eigenvalue": {"real": value.real, "imag": abs(value.imag), "t": t},
        }


@dataclasses.dataclass(frozen=True)
class Trial:
    """One method at one setting."""

    method: str
    family: str  #: a key of FAMILIES
    setting: str
    plan: Plan
    limit: StabilityLimit | None = None  #: of an explicit method, along the reference


@dataclasses.dataclass(frozen=True)
class Result:
    """What came of a trial; numbers that make no sense for it are None."""

    method: str
    family: str
    setting: str
    rtol: float | None
    step: float | None
    outcome: str  #: an outcome's name, "too slow" or "not possible"
    error: float | None  #: scaled, over all states
    worst: str | None
    slow_error: float | None
    steps: int | None
    tried: int | None
    evaluations: int | None
    evaluations_are_least: bool  #: an implicit method takes at least as many
    seconds: float | None
    compile_seconds: float | None
    residual: float | None  #: of the energy ledger, as a share of its throughput
    jumps: int | None
    above_limit: bool  #: its step is longer than the longest stable one
    remark: str = ""
    verdict: str = ""  #: "sound", or the words against it; empty where nothing ran

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            k: _number(v) if isinstance(v, float) else v
            for k, v in dataclasses.asdict(self).items()
        }


class NoReference(RuntimeError):
    """No tight run gets through."""


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


# --- the reference --------------------------------------------------------------------------------


def find_reference(
    system: AbstractHybridSystem,
    state: HybridState,
    plan: Plan,
    say: Callable[[str], None] = lambda _: None,
) -> Reference:
    """The tight run that agrees best with another one.

    Two explicit methods at rtol 1e-12; where they do not agree, or a stiff system wears them out,
    an implicit one as well. How far the two that agree best are from each other is the reference's
    own uncertainty.
    """
    runs: dict[str, tuple[float, Trajectory]] = {}
    pairs: list[tuple[Errors, str, str]] = []
    for name, rtol in (("dopri8", 1e-12), ("tsit5", 1e-12), ("kvaerno5", 1e-10)):
        if pairs and min(pairs)[0].scaled < AGREEMENT:
            break
        say(f"reference: {name} at rtol {rtol:g}")
        run = _patiently(system, state, tight(plan, name, rtol, sampled=not runs))
        if run is None or run.outcome in (Outcome.diverged, Outcome.zeno):
            continue
        for other, (_, there) in runs.items():
            if there.outcome is run.outcome and there.ending.jumps == run.ending.jumps:
                pairs.append((errors_of(there, run, state), other, name))
        runs[name] = (rtol, run)
    if not runs:
        raise NoReference(
            "no tight run gets through this span: dopri8, tsit5 and kvaerno5 diverge or take too"
            " long."
        )
    unknown = Errors(math.inf, "", None)
    uncertainty, name, against = min(pairs, default=(unknown, next(iter(runs)), ""))
    rtol, run = runs[name]
    if name != next(iter(runs)):  # only the first has samples
        run = _patiently(system, state, tight(plan, name, rtol, sampled=True)) or run
    return Reference(name, rtol, against, uncertainty, run, spectrum(system, state, run))


def tight(plan: Plan, name: str, rtol: float, sampled: bool) -> Plan:
    """Adaptive, with samples for the eigenvalues or without."""
    atol = ATOL_SHARE * rtol
    return dataclasses.replace(
        plan,
        solver=solver_by_name(name),
        rtol=rtol,
        atol=atol,
        step=None,
        sample_rate=ROWS / plan.duration if sampled else None,
    )


def errors_of(reference: Trajectory, run: Trajectory, state: HybridState) -> Errors:
    """How far `run` ended from the reference, state by state.

    Of runs that an event ended, when it did counts too.
    """
    there, here = reference.ending, run.ending
    gaps = {
        name: (abs(here.state[name] - value), abs(value)) for name, value in there.state.items()
    }
    gaps["t"] = (abs(here.t - there.t), there.t)
    scaled = {name: gap / (1.0 + size) for name, (gap, size) in gaps.items()}
    worst = max(scaled, key=lambda name: scaled[name])
    fast = fast_states(state)
    slow = max(gap for name, (gap, _) in gaps.items() if name not in fast) if fast else None
    return Errors(scaled[worst], worst, slow)


def fast_states(state: HybridState) -> set[str]:
    """Flat names of the states that are marked fast."""
    out: set[str] = set()
    for name, value, info in named_leaves(state.x):
        if info.fast:
            out |= (
                {name} if np.shape(value) == () else {f"{name}.{i}" for i in range(np.size(value))}
            )
    return out


# --- trials ---------------------------------------------------------------------------------------


def plan_trials(
    plan: Plan, state: HybridState, reference: Reference, methods: Iterable[str]
) -> list[Trial]:
    """For each method a few settings.

    Tolerances, or a series of halved steps around what stability and the span ask for.
    """
    plan = dataclasses.replace(plan, sample_rate=None)
    trials: list[Trial] = []
    for name in methods:
        solver = solver_by_name(name)
        family = family_of(solver)
        if family in ("explicit", "implicit"):
            for rtol in TOLERANCES:
                atol = ATOL_SHARE * rtol
                made = dataclasses.replace(plan, solver=solver, rtol=rtol, atol=atol, step=None)
                trials.append(Trial(name, family, f"rtol {rtol:.0e}", made))
            continue
        limit = limit_of(reference.seen, solver, plan.duration)
        if family == "multirate":
            if not fast_states(state):
                continue
            solver, limit = _fine_enough(solver, limit), None
            steps = step_series(plan.duration, COARSE / 2 * solver.fine_step)
        else:
            steps = step_series(plan.duration, limit.step if limit else math.inf)
        for step in steps:
            made = dataclasses.replace(plan, solver=solver, step=step)
            trials.append(Trial(name, family, f"step {step:.2e}", made, limit))
    return trials


def family_of(solver: diffrax.AbstractSolver) -> str:
    """Its key in FAMILIES."""
    if isinstance(solver, Multirate):
        return "multirate"
    if isinstance(solver, AdamsBashforth):
        return "multistep"
    if isinstance(solver, diffrax.AbstractImplicitSolver):
        return "implicit"
    return "explicit" if isinstance(solver, diffrax.AbstractAdaptiveSolver) else "fixed"


def _fine_enough(solver: diffrax.AbstractSolver, limit: StabilityLimit | None) -> Multirate:
    """A multirate method whose fine step is stable."""
    assert isinstance(solver, Multirate)
    if limit is None or solver.fine_step <= 0.9 * limit.step:
        return solver
    return Multirate(float(f"{0.5 * limit.step:.0e}"), solver.slopes)


def step_series(span: float, limit: float) -> list[float]:
    """Whole fractions of the span, each about half of the one before.

    Where stability sets the pace the first is twice the limit, to show what happens there.
    """
    stiff = limit < LONGEST_STEP * span
    first = 2 * limit if stiff else LONGEST_STEP * span
    counts = [
        math.ceil(span / (first / 2**k) * (1 + (0.02 if stiff and k else 0.0)))
        for k in range(HALVINGS + 1)
    ]
    kept = [n for n in counts if n <= MOST_STEPS] or [MOST_STEPS]
    return [span / n for n in kept]


def run_trial(
    system: AbstractHybridSystem,
    state: HybridState,
    trial: Trial,
    reference: Reference,
    look: Callable[[], None] = lambda: None,
) -> Result:
    """Compile, run, time the run without the compilation, compare.

    Raises KeyboardInterrupt, and nothing else; `look` is called on the way, and may.
    """
    try:
        began = time.perf_counter()
        # Same program, no steps.
        simulate(
            system, state, dataclasses.replace(trial.plan, duration=1e-9 * trial.plan.duration)
        )
        compiled = time.perf_counter() - began
        look()
        run, seconds, more = _timed(system, state, trial.plan, look)
    except ValueError as error:  # a solver that needs what this system does not have
        return _nothing(trial, "not possible", str(error).splitlines()[0])
    if run is None:
        return _nothing(trial, "too slow", f"{trial.setting} takes more than {PATIENCE:g} s")
    ending = run.ending
    outcome = ending.outcome.name
    finite = np.isfinite(list(ending.state.values())).all() and math.isfinite(run.ledger.residual)
    if not finite:
        outcome = Outcome.diverged.name
    alike = finite and ending.outcome is reference.run.outcome and outcome != Outcome.diverged.name
    errors = errors_of(reference.run, run, state) if alike else None
    evaluations, least = evaluations_of(trial, run, state)
    return Result(
        **_identity(trial),
        outcome=outcome,
        error=errors.scaled if errors else None,
        worst=errors.worst if errors else None,
        slow_error=errors.slow if errors else None,
        steps=ending.steps,
        tried=ending.tried,
        evaluations=evaluations,
        evaluations_are_least=least,
        seconds=seconds,
        compile_seconds=compiled + more,
        residual=run.ledger.relative_residual if finite else None,
        jumps=ending.jumps,
        verdict=_verdict(trial, run).word,
    )


def _verdict(trial: Trial, run: Trajectory) -> Verdict:
    """Of one trial, whose limit is known already."""
    doubts = [
        *run.doubts,
        *([Doubt("step_unstable", trial.setting)] if _above_limit(trial) else []),
    ]
    return verdict(run.ledger, doubts, outcome=run.outcome)


def _above_limit(trial: Trial) -> bool:
    return bool(trial.plan.step and trial.limit and trial.plan.step > trial.limit.step)


def _identity(trial: Trial) -> dict[str, Any]:
    fixed = trial.plan.step is not None
    return {
        "method": trial.method,
        "family": trial.family,
        "setting": trial.setting,
        "rtol": None if fixed else trial.plan.rtol,
        "step": trial.plan.step,
        "above_limit": _above_limit(trial),
    }


def _nothing(trial: Trial, outcome: str, remark: str) -> Result:
    empty = dict.fromkeys(
        (
            "error",
            "worst",
            "slow_error",
            "steps",
            "tried",
            "evaluations",
            "seconds",
            "compile_seconds",
            "residual",
            "jumps",
        )
    )
    return Result(
        **_identity(trial), **empty, outcome=outcome, evaluations_are_least=False, remark=remark
    )


def _timed(
    system: AbstractHybridSystem, state: HybridState, plan: Plan, look: Callable[[], None]
) -> tuple[Trajectory | None, float, float]:
    """The run, the shortest time of a few, and how much longer the first took.

    A run of many chunks compiles more on its way.
    """
    times: list[float] = []
    run = None
    while len(times) < 2 or (sum(times) < 0.3 and len(times) < 5):
        began = time.perf_counter()
        run = _patiently(system, state, plan, look)
        times.append(time.perf_counter() - began)
        if run is None:
            break
    return run, min(times), times[0] - min(times)


def _patiently(
    system: AbstractHybridSystem,
    state: HybridState,
    plan: Plan,
    look: Callable[[], None] = lambda: None,
) -> Trajectory | None:
    """The run, or None when it takes too long.

    A user's Ctrl-C, which ends a run as `interrupted`, is raised again.
    """
    chunks, deadline = 0, math.inf

    def progress(t: float, jumps: int) -> None:
        nonlocal chunks, deadline
        look()
        now, chunks = time.perf_counter(), chunks + 1
        if chunks == 2:  # the first two may have been compiled for
            deadline = now + PATIENCE
        if now > deadline:
            raise KeyboardInterrupt  # how a run is ended from outside

    run = simulate(system, state, plan, progress=progress)
    if run.outcome is not Outcome.interrupted:
        return run
    if time.perf_counter() < deadline:
        raise KeyboardInterrupt
    return None


def evaluations_of(trial: Trial, run: Trajectory, state: HybridState) -> tuple[int | None, bool]:
    """Evaluations of the flow that the method needed, and whether that is only a lower bound.

    The engine's own, for events, are apart. Newton's iterations are not counted, but there are at
    least two to a stage. A Jacobian counts once per state.
    """
    solver, tried, restarts = trial.plan.solver, run.ending.tried, run.ending.jumps + 1
    # Steps that were cut or thrown away are taken to be as long as the rest.
    if isinstance(solver, Multirate):
        return (
            int(4 * run.ending.t / solver.fine_step * tried / max(1, run.ending.steps)) + tried,
            False,
        )
    if isinstance(solver, AdamsBashforth):
        return tried + 4 * (solver.degree - 1) * restarts, False  # the start is by Runge-Kutta
    if isinstance(solver, RungeKutta4):
        return 4 * tried + restarts, False
    if isinstance(solver, diffrax.Euler):
        return tried, False
    tableau = getattr(solver, "tableau", None)
    if not isinstance(tableau, diffrax.ButcherTableau):
        return None, False
    if isinstance(solver, diffrax.AbstractImplicitSolver):
        states = Layout.of(state.x).size
        return tried * (2 * (tableau.num_stages - 1) + states), True
    # The last stage is the next step's first.
    again = tableau.num_stages - 1 if tableau.fsal else tableau.num_stages
    return tried * again + (restarts if tableau.fsal else 0), False


def known_methods(names: Sequence[str]) -> tuple[str, ...]:
    """The methods meant: their names, or "all". Raises ValueError for a name that is none."""
    if list(names) == ["all"]:
        return SOLVERS
    for name in names:
        solver_by_name(name)
    return tuple(dict.fromkeys(names))


def device() -> str:
    return jax.devices()[0].device_kind
