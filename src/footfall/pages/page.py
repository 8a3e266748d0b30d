"""What a page holds: the contract between Python and the front end in `web/`.

A page is one HTML file with the front end and one JSON object. Everything is in SI units and in the
house frame. The object has:

format      PAGE_FORMAT; the front end refuses another
name, title, about, look_for
            words of the scenario
parameters  every key of the scenario: {key, table, name, value, unit, doc, kind}; of kind "number"
            with its bounds {gt, ge, lt, le} and the range {low, high} of its slider, of kind
            "switch" (1 or 0), or of kind "text", which is only shown
command     what runs the scenario, with what was set beside the file
toml        the scenario as TOML, with ⟦key⟧ in the place of each number
palette     {roles: role -> [light, dark], series: [[light, dark], ...]}: scene/palette.py
scene       {shapes, ground}: see `drawn.py`; a shape's colour is a role, or a colour's name
outputs     {name, unit, doc} of each number that a row holds
rates       {name, unit, doc} of the states that are rates: what a push may change
steered_by  keys of the parameters that an operator steers by: the one that drives it, then the
            one that turns it; none in a replay
charts      {title, signals, style, rows}: which outputs belong together
travel      {distance, counters, contacts, legs, heading}, or null
ledger      {stores, works, jump_works}: each a list of {name, doc, kind}, named as the columns of
            a trajectory; `limit`: above this share of the throughput the books are open
outcomes    number -> {name, meaning, event} of each ending
success     names of the outcomes that the scenario calls success
duration, settle
            s; metrics are taken from footfall to footfall after `settle`, as docs/conventions.md
            says
live        of a page that simulates:
            kernel, start, ground, push: modules {code, layout}, code as base64; `start` makes
            the kernel's inputs from the parameters (input names are keys) and the numbers that
            shapes ask for ("sketch.0", ...); `ground` gives the height z at x, `push` what a force
            does (engines/lanes/browser_push.py); these two may be null
            step, method: as the scenario's batch engine has them
replay      of a page that shows a run:
            columns: names, `t` first; rows: their number; data: float32, column after column,
            deflated, as base64; sentence: how the run ended; metrics: {name, value, unit};
            books: {stored_start, stored_end, work, ...} of the ledger
ghost       of a replay beside another run: {name, title, shapes, replay} of that one, drawn
            translucent in the same scene; both begin at the same time
"""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from footfall.hybrid.system import Travel
from footfall.pages.parameters import Parameter
from footfall.record.signal import Signal
from footfall.scenario.document import TABLES, at, paths, write_tables
from footfall.scenario.load import Experiment
from footfall.scene.palette import ROLES, SERIES
from footfall.scene.sketch import Chart

PAGE_FORMAT = 1


def words(experiment: Experiment, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """What every page holds of its scenario."""
    about, plan = experiment.about, experiment.plan
    return {
        "format": PAGE_FORMAT,
        "name": experiment.name,
        "title": about.title or experiment.name,
        "about": about.about,
        "look_for": about.look_for,
        "success": list(about.success),
        "parameters": [parameter.words() for parameter in parameters],
        "command": command(experiment),
        "toml": toml_template(experiment, parameters),
        "palette": {"roles": dict(ROLES), "series": list(SERIES)},
        "duration": plan.duration,
        "settle": plan.duration / 2 if plan.settle is None else plan.settle,
    }


def command(experiment: Experiment) -> str:
    """What runs the experiment from a shell."""
    there = set(paths(experiment.document))
    said = ["footfall", "run", experiment.origin or experiment.name]
    for path in experiment.overrides:
        if path in there and path[0] in TABLES:
            value = at(experiment.document, path)
            text = value if isinstance(value, str) else json.dumps(value)
            said += ["--set", f"{'.'.join(path)}={text}"]
    return shlex.join(said)


def toml_template(experiment: Experiment, parameters: Sequence[Parameter]) -> str:
    """The scenario with ⟦key⟧ for each value that the page may change."""
    document = _copied(experiment.document)
    marked: dict[str, str] = {}
    for parameter in parameters:
        if parameter.kind == "number":
            mark = f"⟦{parameter.key}⟧"
            at(document, parameter.path[:-1])[parameter.path[-1]] = mark
            marked[f'"{mark}"'] = mark
        elif parameter.kind == "switch":
            mark = f"⟦{'.'.join(parameter.path[:-1])}⟧"
            at(document, parameter.path[:-2])[parameter.path[-2]] = mark
            marked[f'"{mark}"'] = mark
    text = write_tables(document, experiment.unit_of)
    for quoted, mark in marked.items():
        text = text.replace(quoted, mark)
    return text


def _copied(document: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _copied(v) if isinstance(v, Mapping) else v for k, v in document.items()}


def outputs_said(fields: Mapping[str, Any]) -> list[dict[str, str]]:
    """Name, unit and meaning of each output; `fields` have `unit` and `doc`."""
    return [{"name": name, "unit": f.unit, "doc": f.doc} for name, f in fields.items()]


def charts_said(charts: Iterable[Chart], outputs: Sequence[str]) -> list[dict[str, Any]]:
    """The robot's own charts, or torques and forces where it has none."""
    known = set(outputs)
    given = tuple(charts) or (
        Chart("Torques", tuple(n for n in outputs if n.endswith(".torque"))),
        Chart("Forces of the ground", tuple(n for n in outputs if n.endswith(".fz"))),
    )
    made = [
        chart._replace(signals=tuple(s for s in chart.signals if s in known)) for chart in given
    ]
    return [chart._asdict() for chart in made if chart.signals]


def travel_said(travel: Travel | None) -> dict[str, Any] | None:
    """How progress is measured."""
    if travel is None:
        return None
    return {
        "distance": travel.distance,
        "counters": list(travel.step_counters),
        "contacts": list(travel.contacts),
        "legs": travel.legs,
        "heading": travel.heading,
        "weight": float(travel.weight),
    }


def ledger_said(signals: Iterable[Signal], limit: float) -> dict[str, Any]:
    """Stores, works of ports and works of jumps among the columns of a trajectory."""
    said: dict[str, Any] = {"stores": [], "works": [], "jump_works": [], "limit": limit}
    for signal in signals:
        if (kind := f"{signal.role}s") in said:
            said[kind].append({"name": signal.name, "doc": signal.doc, "kind": signal.kind})
    return said
