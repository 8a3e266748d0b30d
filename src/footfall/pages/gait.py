"""A page that plays a gait: it starts on the cycle, and may be disturbed along each of its modes.

Beside what every live page holds (`page.py`) its object has

gait        {event, verdict, period, modes, disarmed, counter, back, numbers}
    modes       {words, multiplier: [real, imaginary], by, told}, the slowest first, of a pair one:
                `by` is the disturbance as a change of each of `numbers`, the largest as much as its
                number changes by in a step; `told` are two weights for each number, which give the
                (complex) amplitude of the mode from how far the numbers are off
    numbers     {name, leg, value}: an input of the kernel, which of its legs, and its value on the
                cycle
    disarmed    rooms of the kernel that count only once they have been positive: the event has
                just been
    counter     the input of the kernel that counts this event, or null
    back        the module that finds the state just after the event (browser_back), or null
"""

import operator
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from footfall.engines.analysis.cycle import Cycle
from footfall.engines.analysis.return_map import is_real
from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.lanes.browser_back import browser_back
from footfall.engines.lanes.lane_loop import LaneLoop
from footfall.hybrid.system import HybridState
from footfall.pages.live import live_page, module_said
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment


def gait_page(
    experiment: Experiment, cycle: Cycle, *, progress: Callable[[str], None] = lambda doing: None
) -> dict[str, Any]:
    """Everything a page needs to play this gait. Raises as `live_page` does."""
    page = live_page(experiment, start=cycle.state, progress=progress)
    progress("building what tells how far it is off")
    return page | {
        "title": f"{page['title']}: its gait",
        "gait": {
            "event": cycle.event,
            "period": cycle.period,
            "verdict": cycle.verdict,
            "numbers": _numbers(cycle),
            "modes": _modes(cycle),
            "disarmed": _disarmed(experiment.system, cycle),
            "counter": _counter(experiment.system, cycle) if cycle.count == 1 else None,
            "back": _back(experiment.system, cycle, page["live"]["step"]),
        },
    }


def study_page(study: Any, progress: Callable[[str], None]) -> dict[str, Any]:
    """The page of `footfall gait`. Raises ScenarioError where there is no gait to play."""
    cycle = study.result
    if not isinstance(cycle, Cycle):
        raise ScenarioError(f"--page plays a gait, and there is none: {cycle.words}.")
    if cycle.clock_periods:
        raise ScenarioError("--page plays gaits from event to event: leave out --free-clock.")
    return gait_page(study.subject.experiment, cycle, progress=progress)


def _numbers(cycle: Cycle) -> list[dict[str, Any]]:
    """The unknowns in the order of the map, by their names in the kernel."""
    said = []
    for part, struct in zip("xm", cycle.state, strict=True):
        for path, value in jax.tree_util.tree_leaves_with_path(struct):
            if is_real(value):
                name = f"{part}.{jax.tree_util.keystr(path, simple=True, separator='.')}"
                values = np.ravel(value)
                said += [
                    {"name": name, "leg": leg, "value": float(v)} for leg, v in enumerate(values)
                ]
    return said


def _modes(cycle: Cycle) -> list[dict[str, Any]]:
    """Those that are not gone after a step; of a pair the real part of its direction."""
    if cycle.derivative is None or not cycle.modes:
        return []
    # Of the whole map, where the modes may be those at one energy.
    values, vectors = np.linalg.eig(cycle.derivative)
    duals = np.linalg.pinv(vectors)
    scale = np.asarray(cycle.scale)
    said = []
    for mode in cycle.modes:
        if mode.gone or mode.multiplier.imag < 0:
            continue
        dual = duals[np.argmin(np.abs(values - mode.multiplier))]
        dual = dual / (dual @ mode.direction)
        phase = mode.direction[np.argmax(np.abs(mode.direction) / scale)]
        direction = mode.direction * np.exp(-1j * np.angle(phase))
        unit = np.max(np.abs(direction.real) / scale)
        # The amplitude of the mode, 1 where it is disturbed by `by`: a pair's real part is half of
        # each of the two.
        share = 0.5 if mode.multiplier.imag else 1.0
        weights = (dual * np.exp(1j * np.angle(phase)) * unit / share) @ cycle.quotient.reads
        said.append(
            {
                "words": mode.words,
                "multiplier": [mode.multiplier.real, mode.multiplier.imag],
                "by": cycle.quotient.spread(direction.real / unit).tolist(),
                "told": [weights.real.tolist(), weights.imag.tolist()],
            }
        )
    return said


def _disarmed(system: Any, cycle: Cycle) -> list[str]:
    """What has just been, and what that restarts."""
    state = jax.tree.map(lambda leaf: np.asarray(leaf)[..., None], cycle.state)
    loop = LaneLoop(system, state, "rk4", np.dtype("float64"), ())
    names = [event.name for event in system.events]
    at = names.index(cycle.event)
    fallen = {cycle.event, *system.events[at].restarts}
    return [f"lane.room.{j}" for j, (k, _) in enumerate(loop.searched) if names[k] in fallen]


def _counter(system: Any, cycle: Cycle) -> str | None:
    """Which discrete state counts the event of the gait, and no other event."""
    travel = system.travel()
    if travel is None or np.ndim(system.guards(0.0, *cycle.state)[_index(system, cycle)]):
        return None
    after = system.jump(0.0, *cycle.state, _index(system, cycle)).m
    for name in travel.step_counters:
        of = operator.attrgetter(name)
        if np.ndim(of(after)) == 0 and of(after) != of(cycle.state.m):
            return f"m.{name}"
    return None


def _index(system: Any, cycle: Cycle) -> int:
    return [event.name for event in system.events].index(cycle.event)


def _back(system: Any, cycle: Cycle, step: float) -> dict[str, Any] | None:
    try:
        return module_said(browser_back(system, HybridState(*cycle.state), step))
    except (CannotFuse, jax.errors.JAXTypeError):
        return None
