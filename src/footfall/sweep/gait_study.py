"""footfall gait: the limit cycle of a scenario, how it goes and whether it is stable.

A study of one case, so that it has a folder, a table and a picture as the others have.
"""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from footfall.engines.analysis.cycle import Cycle
from footfall.engines.analysis.cycle_check import Checked, check_multipliers
from footfall.engines.analysis.gait_doubts import gait_doubts
from footfall.engines.analysis.lyapunov import Lyapunov, long_walk
from footfall.engines.analysis.modes import said_number
from footfall.engines.analysis.phase_response import phase_response
from footfall.engines.analysis.return_map import NoCycle, ReturnMap
from footfall.hybrid.doubt import Doubt, word_of
from footfall.hybrid.fields import Parametric, choice, param, text
from footfall.hybrid.study import AbstractStudy, Answer, Answers, Progress, Sheet, finite
from footfall.scenario.gait import (
    figures,
    fine_plan,
    gait_of,
    nearest_to_gait,
    usual_event,
)
from footfall.scenario.open_run import open_run
from footfall.sweep.nearest_walker import nearest_walker

#: Figures in the order of the page: what people ask first.
SAID = {
    "mean_speed": ("speed", "m/s"),
    "step_time": ("step time", "s"),
    "step_length": ("step length", "m"),
    "cost_of_transport": ("cost of transport", ""),
    "mean_power": ("mean power", "W"),
    "least_leg_force": ("least leg force", "N"),
}

#: Steps of a robot that is left alone: before what it does is judged, and for that.
SETTLED, WALKED = 100, 300
#: Share of a period by which steps that come sooner or later by rounding only do.
ROUNDED = 1e-12
#: Share of what a number changes by in a step, for which later steps are said to come sooner.
PUSH = 0.01


class GaitRequest(Parametric):
    """Where a step ends, and where to begin."""

    event: str = text("", doc="event a step ends with")
    count: int = param(1, ge=1, static=True, doc="number of events in a period")
    leg: int = param(0, ge=0, static=True, doc="leg, of like ones, whose event it is")
    free_clock: str = choice(
        "no", options=("no", "yes"), doc="whether its clock runs on through footfalls"
    )
    check: str = choice(
        "none", options=("none", "differences"), doc="what its multipliers are compared with"
    )
    vary: str = text("", doc="key and range in which to look for a gait where there is none")
    run: str = text("", doc="folder of a run to begin where it nearly repeats itself")


class Gait(AbstractStudy):
    """A gait, found."""

    name, place, doing, file = "gait", "gaits", "finding the gait", "gait"
    Request = GaitRequest
    noun, rows_key = "gaits", "gaits"

    def __init__(self, request: GaitRequest, subject: Any):
        super().__init__(request, subject)
        subject.require_flow("a gait")
        self.why = ""  #: no gait was found, where what the robot does instead is told

    @property
    def cases(self) -> list[dict[str, Any]]:
        return [{"event": self.request.event, "count": self.request.count}]

    @functools.cached_property
    def result(self) -> Cycle | Lyapunov:
        """The gait, or what a robot without one does that walks on.

        Raises ScenarioError where it does not, with what happened and what to try.
        """
        try:
            return self._sought()
        except NoCycle as none:
            walk = self.left_alone
            if walk is not None and not walk.ended:
                try:
                    return self._where_it_leads(walk)
                except NoCycle:
                    self.why = str(none)
                    return walk
            raise self.subject.refuse(self._why_none(str(none))) from None
        except ValueError as error:
            raise self.subject.refuse(f"{error}") from None

    def _where_it_leads(self, walk: Lyapunov) -> Cycle:
        """The gait that a walk has come to. Raises NoCycle where it repeats nothing."""
        if not walk.repeats_after:
            raise NoCycle(walk.words)
        request = self.request
        return gait_of(
            self.subject.experiment,
            request.event or None,
            count=walk.repeats_after,
            leg=request.leg,
            start=walk.last,
            warm_up=0,
        )

    def _why_none(self, none: str) -> str:
        """What happened, where there is a gait, and what to try."""
        walk, origin = self.left_alone, self.subject.origin
        what = f"{none[0].upper()}{none[1:]}"
        if walk is not None and walk.ended == none:
            what = f"From its start {walk.words}"
        elif walk is not None and walk.steps:
            what = f"{what} From its start {walk.words}"
        lines = [f"no gait was found. {what}"]
        if self.request.vary:
            near = nearest_walker(self.subject, self.request.vary, self.request.event or None)
            lines.append(near.said(origin))
        else:
            lines.append(
                "--vary KEY=FROM:TO says at which value of a key, near this one, it has a gait."
            )
        lines.append(
            f"`footfall run {origin}` shows what the robot does from its start; change it with"
            " --set start.KEY=VALUE, or begin where a run that walks ended, with --from RUN."
        )
        return "\n  ".join(lines)

    def _sought(self) -> Cycle:
        request, experiment = self.request, self.subject.experiment
        event, count, leg = request.event or None, request.count, request.leg
        if request.free_clock == "yes":
            return gait_of(experiment, event, leg=leg, free_clock=True)
        if not request.run:
            return gait_of(experiment, event, count=count, leg=leg)
        start = nearest_to_gait(experiment, open_run(Path(request.run)), event, count, leg)
        # It has walked already.
        return gait_of(experiment, event, count=count, leg=leg, start=start, warm_up=0)

    @functools.cached_property
    def left_alone(self) -> Lyapunov | None:
        """What the robot does from its start; None where a clock that runs free was asked for."""
        if self.request.free_clock == "yes":
            return None
        experiment = self.subject.experiment
        event = self.request.event or usual_event(experiment.system, experiment.start)
        plan, leg = fine_plan(experiment), self.request.leg
        steps = ReturnMap.of(experiment.system, experiment.start, event, plan, leg=leg)
        return long_walk(steps, WALKED, SETTLED)

    @functools.cached_property
    def checked(self) -> Checked | None:
        """Multipliers by differences, where they were asked for."""
        asked = self.request.check == "differences" and isinstance(self.result, Cycle)
        return check_multipliers(self.result) if asked else None

    def answers(
        self, places: Sequence[int], before: Answers, progress: Progress
    ) -> Sequence[Answer]:
        del places, before, progress
        cycle = self.result
        if isinstance(cycle, Lyapunov):
            row: dict[str, Any] = {"event": self.request.event, "count": 0, "stable": False}
            doubts = (Doubt("gait_not_found", self.why),) if cycle.repeats_after else ()
            row |= {"verdict": word_of(doubts), "largest_exponent": finite(cycle.largest)}
            return [Answer(row | {"repeats_after": cycle.repeats_after}, doubts)]
        row = {"event": cycle.event, "count": cycle.count, "stable": cycle.stable}
        doubts = gait_doubts(cycle) + (self.checked.doubts if self.checked else ())
        row["verdict"] = word_of(doubts)
        row |= {name: finite(value) for name, value in figures(cycle).items()}
        row |= {
            f"state.{name}": float(value)
            for name, value in zip(
                cycle.unknowns, cycle.point.flat[cycle.quotient.kept], strict=True
            )
        }
        return [Answer(row, doubts)]

    def summary(self, found: Answers) -> dict[str, Any]:
        cycle = self.result
        if isinstance(cycle, Lyapunov):
            said = {"verdict_of_gait": cycle.words, "why_no_gait": self.why}
            return said | {"lyapunov": _plain(cycle)}
        sooner = _sooner(cycle)
        return {
            "verdict_of_gait": cycle.verdict,
            "multipliers": [
                [float(v.real), float(v.imag)] for v in map(complex, cycle.multipliers)
            ],
            "modes": [
                {
                    "multiplier": said_number(mode.multiplier),
                    "words": mode.words,
                    "shares": {name: round(share, 6) for name, share in mode.shares.items()},
                }
                for mode in cycle.modes
            ],
            "held": dict(cycle.held),
            "repeats_after": cycle.repeats_after,
            "clock_periods": cycle.clock_periods,
            "residual": cycle.residual,
            "derivative": np.asarray(cycle.derivative).tolist(),
            "unknowns": list(cycle.unknowns),
            "phase_response": sooner,
            "left_alone": _plain(self.left_alone) if self._says_what_else(cycle) else None,
            "multipliers_apart": None if self.checked is None else finite(self.checked.apart),
        }

    def _says_what_else(self, cycle: Cycle) -> bool:
        """Of an unstable gait it is worth knowing what the robot does instead."""
        return not cycle.stable and self.left_alone is not None

    def page(self, found: Answers, took: float | None) -> list[Sheet | str]:
        cycle = self.result
        if isinstance(cycle, Lyapunov):
            rows = [[f"{k + 1}", f"{value:.4g}"] for k, value in enumerate(cycle.exponents)]
            return [
                f"no gait was found, but {cycle.words}",
                self.why,
                f"step time {cycle.step_time:.6g} s, over {cycle.steps} steps",
                Sheet(["Lyapunov exponent", "per step"], rows),
            ]
        known = figures(cycle)
        rows = [
            [word, f"{known[name]:.6g}", unit]
            for name, (word, unit) in SAID.items()
            if name in known
        ]
        paid = [
            [f"work of {name.removeprefix('work.')}", f"{value:.6g}", "J"]
            for name, value in known.items()
            if name.startswith("work.")
        ]
        modes = [
            [f"{abs(mode.multiplier):.4f}", said_number(mode.multiplier), mode.words]
            for mode in cycle.modes
            if not mode.gone and mode.multiplier.imag >= 0
        ]
        gone = sum(mode.gone for mode in cycle.modes)
        often = "" if cycle.count == 1 else f", {cycle.count} events"
        often += f", {cycle.clock_periods} periods of its clock" if cycle.clock_periods else ""
        held = [f"{name} held at {value:.8g} J" for name, value in cycle.held.items()]
        instead = (
            [f"from its start {self.left_alone.words}"]
            if self._says_what_else(cycle) and self.left_alone is not None
            else []
        )
        return [
            f"a gait of period {cycle.period:.8g} s{often}, from {cycle.event} to {cycle.event}",
            cycle.verdict,
            *instead,
            *held,
            Sheet(["", "", ""], [*rows, *paid], left=(0, 2)),
            Sheet(["modulus", "multiplier", "what a small disturbance does"], modes, left=(2,)),
            *([f"{gone} more are gone after one step"] if gone else []),
            *([self.checked.words] if self.checked else []),
            *_state_sheet(cycle),
        ]


def _state_sheet(cycle: Cycle) -> list[Sheet | str]:
    """The numbers of the gait, and what a push of each does to the time of all later steps."""
    sooner, scale = _sooner(cycle), np.asarray(cycle.scale)
    values = cycle.point.flat[cycle.quotient.kept]
    rows = [[name, f"{value:.8g}"] for name, value in zip(cycle.unknowns, values, strict=True)]
    if not sooner:
        return [Sheet([f"state {cycle.when}", ""], rows, left=(0,))]
    for row, size in zip(rows, scale, strict=True):
        shift = 1e3 * PUSH * size * sooner.get(row[0], 0.0)
        moved = f"{abs(shift):.3g} ms {'sooner' if shift > 0 else 'later'}"
        row.append(moved if abs(shift) > 1e3 * ROUNDED * cycle.period else "as before")
    return [
        Sheet([f"state {cycle.when}", "", "later steps come"], rows, left=(0, 2)),
        f"(for {100 * PUSH:g} % more of a number, of what it changes by in a step)",
    ]


def _sooner(cycle: Cycle) -> dict[str, float]:
    """How much sooner all later steps come [s] per unit of each number; empty where none can."""
    try:
        found = phase_response(cycle).sooner
    except ValueError:
        return {}
    return {name: float(values[0]) for name, values in found.items()}


def _plain(walk: Lyapunov | None) -> dict[str, Any] | None:
    if walk is None:
        return None
    return {
        "words": walk.words,
        "exponents": [float(v) for v in walk.exponents],
        "error": finite(walk.error),
        "steps": walk.steps,
        "step_time": finite(walk.step_time),
        "repeats_after": walk.repeats_after,
    }
