"""footfall gait: the limit cycle of a scenario, how it goes and whether it is stable.

A study of one case, so that it has a folder, a table and a picture as the others have.
"""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from footfall.engines.analysis.cycle import Cycle
from footfall.engines.analysis.gait_doubts import gait_doubts
from footfall.engines.analysis.modes import said_number
from footfall.engines.analysis.return_map import NoCycle
from footfall.hybrid.doubt import word_of
from footfall.hybrid.fields import Parametric, choice, param, text
from footfall.hybrid.study import AbstractStudy, Answer, Answers, Progress, Sheet, finite
from footfall.scenario.gait import figures, gait_of, nearest_to_gait
from footfall.scenario.open_run import open_run

#: Figures in the order of the page: what people ask first.
SAID = {
    "mean_speed": ("speed", "m/s"),
    "step_time": ("step time", "s"),
    "step_length": ("step length", "m"),
    "cost_of_transport": ("cost of transport", ""),
    "mean_power": ("mean power", "W"),
    "least_leg_force": ("least leg force", "N"),
}


class GaitRequest(Parametric):
    """Where a step ends, and where to begin."""

    event: str = text("", doc="event a step ends with")
    count: int = param(1, ge=1, static=True, doc="number of events in a period")
    leg: int = param(0, ge=0, static=True, doc="leg, of like ones, whose event it is")
    clock: str = choice(
        "set", options=("set", "free"), doc="whether its clock is set at the event or runs on"
    )
    run: str = text("", doc="folder of a run to begin where it nearly repeats itself")


class Gait(AbstractStudy):
    """A gait, found."""

    name, place, doing, file = "gait", "gaits", "finding the gait", "gait"
    Request = GaitRequest
    noun, rows_key = "gaits", "gaits"

    def __init__(self, request: GaitRequest, subject: Any):
        super().__init__(request, subject)
        subject.require_flow("a gait")

    @property
    def cases(self) -> list[dict[str, Any]]:
        return [{"event": self.request.event, "count": self.request.count}]

    @functools.cached_property
    def cycle(self) -> Cycle:
        """Raises ScenarioError, with what happened and what to try."""
        request, experiment = self.request, self.subject.experiment
        event, count, leg = request.event or None, request.count, request.leg
        try:
            if request.clock == "free":
                return gait_of(experiment, event, leg=leg, free_clock=True)
            if not request.run:
                return gait_of(experiment, event, count=count, leg=leg)
            run = open_run(Path(request.run))
            start = nearest_to_gait(experiment, run, event, count, leg)
            # It has walked already.
            return gait_of(experiment, event, count=count, leg=leg, start=start, warm_up=0)
        except NoCycle as none:
            raise self.subject.refuse(
                f"no gait was found. {str(none)[0].upper()}{str(none)[1:]}\n  `footfall run"
                f" {self.subject.origin}` shows what the robot does from its start; change it with"
                " --set start.KEY=VALUE, or begin where a run that walks ended, with --from RUN."
            ) from None
        except ValueError as error:
            raise self.subject.refuse(f"{error}") from None

    def answers(
        self, places: Sequence[int], before: Answers, progress: Progress
    ) -> Sequence[Answer]:
        del places, before, progress
        cycle = self.cycle
        row: dict[str, Any] = {"event": cycle.event, "count": cycle.count, "stable": cycle.stable}
        doubts = gait_doubts(cycle)
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
        cycle = self.cycle
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
            "residual": cycle.residual,
            "derivative": np.asarray(cycle.derivative).tolist(),
            "unknowns": list(cycle.unknowns),
        }

    def page(self, found: Answers, took: float | None) -> list[Sheet | str]:
        cycle, known = self.cycle, figures(self.cycle)
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
        state = [
            [name, f"{value:.8g}"]
            for name, value in zip(
                cycle.unknowns, cycle.point.flat[cycle.quotient.kept], strict=True
            )
        ]
        often = "" if cycle.count == 1 else f", {cycle.count} events"
        often += f", {cycle.clock_periods} periods of its clock" if cycle.clock_periods else ""
        held = [f"{name} held at {value:.8g} J" for name, value in cycle.held.items()]
        return [
            f"a gait of period {cycle.period:.8g} s{often}, from {cycle.event} to {cycle.event}",
            cycle.verdict,
            *held,
            Sheet(["", "", ""], [*rows, *paid], left=(0, 2)),
            Sheet(["modulus", "multiplier", "what a small disturbance does"], modes, left=(2,)),
            *([f"{gone} more are gone after one step"] if gone else []),
            Sheet([f"state {cycle.when}", ""], state, left=(0,)),
        ]
