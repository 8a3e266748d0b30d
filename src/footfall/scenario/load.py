"""TOML -> Experiment, with errors that point at the key."""

import contextlib
import copy
import dataclasses
import html
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import jax
import numpy as np
import pydantic

from footfall.engines.analysis.check_system import check_system
from footfall.engines.analysis.cycle import Cycle, find_cycle
from footfall.engines.events.multirate import Multirate
from footfall.engines.events.packed_system import fast_states
from footfall.engines.jax_setup import prepare_jax
from footfall.engines.lanes.batch_inputs import timing
from footfall.engines.plan import EventEngine, Plan, StepEngine
from footfall.engines.simulate import simulate
from footfall.engines.span import AbstractEngine
from footfall.hybrid.fields import ParameterError, describe, nearest
from footfall.hybrid.start import AbstractStart
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.numerics.namespace import traced
from footfall.numerics.shown import clipped, shown
from footfall.numerics.units import UnitError, to_si
from footfall.record.trajectory import Trajectory
from footfall.scenario.catalog import WITH_COMPUTER, kind_of_robot, kinds_for, shipped_scenarios
from footfall.scenario.document import (
    TOP_SLOTS,
    Document,
    apply_settings,
    at,
    document_of,
    merged,
    paths,
    read_tables,
    slot_path,
    slot_types,
    write_tables,
)
from footfall.scenario.errors import ScenarioError
from footfall.scenario.files import classics
from footfall.scenario.own_code import Own, OwnCode, told_with_line
from footfall.scenario.schema import AboutTable, SimTable, table_model

#: Texts of --set, or values by key.
Settings: TypeAlias = Sequence[str] | Mapping[str, Any]
LARGEST_FILE = 1_000_000  # bytes; a scenario is a page of text


@dataclasses.dataclass(frozen=True, repr=False, init=False)
class Experiment:
    """A system, where it starts and how to run it; and the words and choices it came from.

    `ff.load` makes one from a scenario, `ff.Experiment(system)` from a robot of your own making;
    `run`, `check`, `cycle` and `sweep` ask of it. `document` has every value of its scenario, in
    SI.

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel")
    >>> wheel.document["terrain"]["angle"], wheel.system.mass, wheel.start.x.spoke_rate
    (0.08, 6.91, -3.0)
    >>> steep = ff.robots.passive_wheel(terrain=ff.parts.Slope(angle=0.1))
    >>> mine = ff.Experiment(steep, engine=ff.StepEngine(step=1e-3), duration=2)
    >>> mine.run().outcome.name
    'reached_end'
    """

    system: Any  #: an AbstractHybridSystem, or AbstractRigidBodies
    start: HybridState
    plan: Plan
    name: str
    about: AboutTable
    document: Document  #: complete and in SI: what the run folder keeps
    own: Mapping[str, Own]  #: classes of the user's own files, by the kinds that name them
    origin: str  #: the name or path it was loaded by
    start_options: AbstractStart | None  #: the [start] table that `start` was made from
    overrides: tuple[tuple[str, ...], ...]  #: paths of what was set beside the file
    typed: Mapping[tuple[str, ...], str]  #: their values as they were written

    def __init__(
        self,
        system: Any,
        start: HybridState | AbstractStart | None = None,
        plan: Plan | None = None,
        *,
        engine: AbstractEngine | None = None,
        duration: float | str | None = None,
        name: str = "",
        about: AboutTable | None = None,
        document: Document | None = None,
        own: Mapping[str, Own] | None = None,
        origin: str = "",
        start_options: AbstractStart | None = None,
        overrides: tuple[tuple[str, ...], ...] = (),
        typed: Mapping[tuple[str, ...], str] | None = None,
    ):
        """Of a system as it is, without a file.

        Arguments:
            system: a robot (`ff.robots.rimless_wheel(leg=...)`) or a system of your own.
            start: a state, or options (`system.Start(...)`); without it the usual start.
            plan: how long and by which engine; without it the usual one.
            engine, duration: instead of those of the plan; a duration may be a text, "30 s".
            The rest is what `ff.load` knows of its scenario.
        """
        if not hasattr(system, "engines"):
            hint = f' ff.load("{system}") makes one by name.' if isinstance(system, str) else ""
            raise ScenarioError(
                f"an experiment is made of a system, not of {type(system).__name__}.{hint}"
            )
        prepare_jax()
        if start is None or isinstance(start, AbstractStart):
            start_options = system.Start() if start is None else start
            start = system.begin(start_options)
        if plan is None:
            plan = Plan() if system.own_time is None else Plan(duration=system.own_time)
        changes = {"engine": engine, "duration": seconds("duration", duration)}
        changes = {key: value for key, value in changes.items() if value is not None}
        plan = dataclasses.replace(plan, **changes).for_machine(system)
        if document is None:
            kind = kind_of_robot(system)
            document = document_of(system, kind, start_options, SimTable.of(plan))
            name = name or kind
        given = {
            "system": system,
            "start": start,
            "plan": plan,
            "name": name,
            "about": about or AboutTable(),
            "document": document,
            "own": own or {},
            "origin": origin,
            "start_options": start_options,
            "overrides": overrides,
            "typed": typed or {},
        }
        for field, value in given.items():
            object.__setattr__(self, field, value)

    @property
    def event_plan(self) -> Plan:
        """Its plan by the event engine, as the [sim] table has that: for what follows events."""
        if isinstance(self.plan.engine, EventEngine):
            return self.plan
        sim = {k: None if v == "auto" else v for k, v in self.document["sim"].items()}
        return dataclasses.replace(self.plan, engine=SimTable(**sim).engines()["event"]())

    def __repr__(self) -> str:
        """What it is, of which parts, for how long: a line each."""
        robot, engine = self.document["robot"], self.plan.told()["engine"]
        by = {"event": "solver", "step": "batch_method"}.get(engine)
        tables = {
            **{k: v for k, v in robot.items() if isinstance(v, dict)},
            **{k: self.document.get(k) for k in TOP_SLOTS},
        }
        parts = ", ".join(f"{slot} {table['kind']}" for slot, table in tables.items() if table)
        start = ", ".join(
            f"{k} {v:.5g}" if isinstance(v, float) else f"{k} {v}"
            for k, v in self.document["start"].items()
        )
        return "\n".join(
            [
                f"{self.name}: {self.about.title or self.about.about or robot['kind']}",
                f"  robot: {robot['kind']}" + (f" ({parts})" if parts else ""),
                *([f"  start: {start}"] if start else []),
                *([f"  set: {self.said_overrides()}"] if self.overrides else []),
                f"  sim: {self.plan.duration:g} s, {self.document['sim'].get(by, engine)}",
                "  experiment.run() simulates it; experiment.document has every value",
            ]
        )

    def _repr_html_(self) -> str:
        """For a notebook: the same."""
        return f"<pre>{html.escape(repr(self))}</pre>"

    def run(self, *, progress: Callable[[float, int], None] | None = None) -> Trajectory:
        """Simulate it: `ff.simulate(experiment)`. `progress` is called as progress(t, jumps)."""
        return simulate(self, progress=progress)

    def check(self) -> Any:
        """Check that its robot keeps the contract: see `ff.check_system`."""
        require_flow(self, "check()")
        return check_system(self.system, self.start)

    def cycle(self, event: str, **how: Any) -> Cycle:
        """Its periodic gait from event to event, with multipliers.

        See `ff.find_cycle`, which takes the rest.
        """
        require_flow(self, "cycle()")
        return find_cycle(self.system, self.start, event, **how)

    def follow(self, key: str, low: float, high: float, **how: Any) -> Any:
        """Its gait over a key, as a branch: see `ff.follow`, which takes the rest."""
        return sys.modules["footfall"].follow(self, key, low, high, **how)

    def sweep(self, vary: Any = None, **how: Any) -> Any:
        """Many designs of it at once: see `ff.rollout`, which takes the rest.

        With folder="study" they are kept there.
        """
        return sys.modules["footfall"].rollout(self, vary, **how)

    def to_toml(self) -> str:
        """The resolved scenario.

        Every value in SI, its unit beside it, so that it can be run again after defaults have
        changed.
        """
        own = "" if self.start_options else "# It began at a state given in Python, not here.\n"
        return own + write_tables(self.document, self.unit_of)

    @property
    def own_files(self) -> dict[str, Path]:
        """The user's own files by the path under which the scenario names each.

        The run folder keeps a copy there.
        """
        return OwnCode(found=self.own).files

    def unit_of(self, path: tuple[str, ...]) -> str:
        """The unit of the value at a path of the document, or an empty string."""
        *table, key = path
        slot = next(
            (s for s in slot_types(type(self.system)) if slot_path(s) == tuple(table)), None
        )
        owner = {"robot": self.system, "start": self.start_options, "sim": SimTable}.get(
            ".".join(table)
        )
        owner = owner if slot is None else getattr(self.system, slot)
        infos = (
            {} if owner is None else SimTable.describe() if owner is SimTable else describe(owner)
        )
        return infos[key].unit if key in infos else ""

    def said_overrides(self) -> str:
        """What was set beside the file, by its full name, quantities as typed.

        "robot.torso.mass = 3 kg, terrain.angle = 4 deg".
        """
        there = set(paths(self.document))  # another kind of part may have taken its place since
        return ", ".join(
            f"{'.'.join(path)} = {self._said(path)}" for path in self.overrides if path in there
        )

    def _said(self, path: tuple[str, ...]) -> str:
        value = at(self.document, path)
        text = f"{value:.10g}" if isinstance(value, float) else clipped(str(value))
        text = f"{text} {self.unit_of(path)}".strip() if value != "auto" else text
        typed = self.typed.get(path, "").strip().strip("\"'")
        if isinstance(value, float) and not _is_number(typed):
            text = clipped(typed) or text
        idle = {slot_path(slot): why for slot, why in self.idle_parts().items()}
        return f"{text} (no effect: {idle[path[:-1]]})" if path[:-1] in idle else text

    def idle_parts(self) -> dict[str, str]:
        """Slots whose part changes nothing in this experiment, each with the reason."""
        return self.system.idle_parts()


def seconds(name: str, value: Any) -> float | None:
    """A time in seconds, from a number or "1 ms"."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float | np.number):
        raise ScenarioError(
            f'{name} is a number of seconds or a text such as "1 ms", not {type(value).__name__}.'
        )
    try:
        return to_si(value if isinstance(value, str) else float(value), "s")
    except UnitError as error:
        raise ScenarioError(f"{name}: {error}") from None


def find_scenario(name: str) -> Path:
    """A shipped scenario by name, or a file by path."""
    shipped = shipped_scenarios()
    if name in shipped:
        return shipped[name]
    path = Path(name)
    # os.path: False, not an error, for a name too long.
    if path.suffix == ".toml" or os.path.exists(path):  # noqa: PTH110
        return path
    if name in classics():
        raise ScenarioError(
            f'"{name}" is a classic of the zoo: a robot to begin one of your own with.'
            f"\n  footfall new --from {name} my-robot, then my-robot/my_robot.toml in its place."
        )
    raise ScenarioError(
        f'"{clipped(name)}" is neither a scenario nor a file.{nearest(name, shipped)}\n  Scenarios:'
        f" {', '.join(shipped)}."
    )


def with_computer(name: str) -> str:
    """Of a shipped scenario without a control computer, the one that has it.

    Any other name as it is.
    """
    return WITH_COMPUTER.get(name, name)


def load(
    name: str | Path,
    settings: Settings = (),
    *,
    duration: float | str | None = None,
    trust: bool = False,
) -> Experiment:
    """Load a scenario by name or path, with other values or parts where `settings` says so.

    Arguments:
        name: a shipped scenario (`ff.scenarios()` lists them) or the path of a TOML file.
        settings: values by key: {"leg.stiffness": 2e4, "terrain.angle": "4 deg", "leg":
            "stiffening"}; or the same as texts of `--set`: ["leg.stiffness=20000",
            "leg=stiffening"]. Numbers are SI; any unique end of a key's path will do.
        duration: seconds to simulate, or a text such as "30 s".
        trust: code that the file or a setting names may run, now and whenever code of its folder
            is named (scenario/trust.py).

    Returns an `Experiment`, ready for `ff.simulate`. Raises ScenarioError, which says which key is
    wrong and what would be right.

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel", {"terrain.angle": "5 deg"}, duration=2)
    >>> round(wheel.system.terrain.angle, 4), wheel.plan.duration
    (0.0873, 2.0)
    """
    path = find_scenario(str(name))
    given = read_toml(path)
    prepare_jax()  # making a robot may compile something
    where = str(name) if str(name) in shipped_scenarios() else str(path)
    own = OwnCode(path.parent, where, trust=trust)
    document, system = merged(given, where, own)
    extra = _texts(settings) + ([f"sim.duration={duration}"] if duration is not None else [])
    own.looking_in(Path.cwd(), _with(where, extra))
    changed = apply_settings(document, extra, type(system), own, _before(settings))
    experiment = build(document, type(system), path.stem, _with(where, extra), system, own)
    return dataclasses.replace(
        experiment,
        origin=str(name),
        overrides=tuple(dict.fromkeys(changed)),
        typed=_typed(changed, extra),
    )


def _typed(paths: list[tuple[str, ...]], settings: list[str]) -> dict[tuple[str, ...], str]:
    """The values of settings as they were written, by the paths they mean."""
    return {path: text.partition("=")[2] for path, text in zip(paths, settings, strict=True)}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _with(where: str, settings: list[str] | tuple[str, ...]) -> str:
    """A scenario and what was set on it, as messages name them."""
    return f"{where} with {clipped(', '.join(settings), 120)}" if settings else where


def require_flow(experiment: Experiment, what: str) -> None:
    """Raise for a robot that MuJoCo steps, where equations of motion of our own are needed."""
    if "event" not in experiment.system.engines:
        raise ScenarioError(
            f"{experiment.origin or experiment.name}: {what} needs a robot with equations of its"
            " own; this one is stepped by MuJoCo, one run at a time. `footfall run` runs it."
        )


def _before(settings: Settings) -> str:
    """What stands before a setting in a message: who gave a dictionary typed no --set."""
    return "" if isinstance(settings, Mapping) else "--set "


def _texts(settings: Settings) -> list[str]:
    """As `--set` would have them: one grammar for the command line and the library."""
    if isinstance(settings, str):
        raise ScenarioError(
            f'settings are a dictionary or a list of texts: ["{settings}"], with brackets.'
        )
    if not isinstance(settings, Mapping):
        return list(settings)
    return [f"{key}={_text(key, value)}" for key, value in settings.items()]


def _text(key: Any, value: Any) -> str:
    """A value as TOML writes it; words and quantities as they are."""
    if traced(value):
        raise ScenarioError(
            f"{key}: JAX is tracing this number, and a scenario holds plain ones. To differentiate"
            " a run by it, use"
            f' ff.endpoint(experiment, {{"{key}": value}}) or ff.gradient(measure, experiment,'
            f' wrt=["{key}"]).'
        )
    if value is None:
        return "auto"
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) or np.ndim(value) == 1:
        return (
            f"[{', '.join(json.dumps(v) if isinstance(v, str) else _text(key, v) for v in value)}]"
        )
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if np.ndim(value) == 0 and isinstance(
        value, int | float | np.integer | np.floating | np.ndarray | jax.Array
    ):
        return repr(value.item() if hasattr(value, "item") else value)
    raise ScenarioError(
        f'{key}: a value is a number, a text such as "4 deg" or a list of them, not'
        f" {type(value).__name__}."
    )


def with_settings(experiment: Experiment, settings: Settings) -> Experiment:
    """The same experiment with other values or parts, as `--set` would have made it."""
    document, robot = copy.deepcopy(experiment.document), type(experiment.system)
    before, settings = _before(settings), _texts(settings)
    own = OwnCode(found=experiment.own)
    changes = apply_settings(document, settings, robot, own, before)
    where = _with(experiment.origin or experiment.name, settings)
    changed = build(document, robot, experiment.name, where, experiment.system, own)
    overrides = tuple(dict.fromkeys((*experiment.overrides, *changes)))
    typed = {**experiment.typed, **_typed(changes, settings)}
    return dataclasses.replace(changed, origin=experiment.origin, overrides=overrides, typed=typed)


def read_toml(path: Path) -> dict[str, Any]:
    """The file's tables, or an error that says what is wrong with it."""
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise ScenarioError(
                f"{path}: {size / 1e6:.1f} MB is too large for a scenario (at most"
                f" {LARGEST_FILE / 1e6:g} MB)."
            )
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise ScenarioError(f"{path}: there is no such file.") from None
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise ScenarioError(f"{path}: this is not a text file.") from None
    except ValueError:
        raise ScenarioError(f"{clipped(str(path))}: this cannot be the name of a file.") from None
    try:
        return read_tables(text)
    except ValueError as error:
        hint = 'Words and quantities need quotes: kind = "spring", rest_length = "26 cm".'
        raise ScenarioError(
            f"{path}: not valid TOML: {clipped(str(error), 200)}.\n  {hint}"
        ) from None


def build(
    document: Document,
    robot: type,
    name: str,
    where: str,
    prototype: AbstractHybridSystem,
    own: OwnCode,
) -> Experiment:
    """Validate every table, make the parts, compose the robot, put it at its start."""
    with told_with_line(own.files.values()):
        made = _built(document, robot, name, where, prototype, own.classes)
    return dataclasses.replace(made, own=own.found)


def _built(
    document: Document,
    robot: type,
    name: str,
    where: str,
    prototype: AbstractHybridSystem,
    own: Mapping[str, type],
) -> Experiment:
    with _computing("[robot]", where):
        _ = prototype.events  # declares the robot's own endings, which `success` may name
    about = _validated(
        AboutTable, {k: v for k, v in document.items() if k in AboutTable.model_fields}, (), where
    )
    resolved: Document = about.model_dump()
    parts: dict[str, Any] = {}
    resolved["robot"] = {}
    for slot, slot_type in slot_types(robot).items():
        path = slot_path(slot)
        table = dict(at(document, path))
        kind = table.pop("kind")
        cls = (kinds_for(slot_type) | own).get(kind, type(getattr(prototype, slot)))
        values = _validated(table_model(cls), table, path, where).model_dump()
        parts[slot] = _made(cls, values, path, where, getattr(prototype, slot))
        at(resolved, path[:-1])[slot] = {"kind": kind, **_plain(values)}
    own = {k: v for k, v in document["robot"].items() if k != "kind" and not isinstance(v, dict)}
    values = _validated(table_model(robot), own, ("robot",), where).model_dump()
    resolved["robot"] = {"kind": document["robot"]["kind"], **_plain(values), **resolved["robot"]}
    system = _made(robot, {**values, **parts}, ("robot",), where, prototype)
    starts = _validated(table_model(robot.Start), document["start"], ("start",), where).model_dump()
    start = _made(robot.Start, starts, ("start",), where)
    resolved["start"] = _plain(starts)
    sim = _validated(SimTable, document["sim"], ("sim",), where)
    resolved["sim"] = _plain(sim.model_dump(include=set(document["sim"])))
    with _computing("[start]", where):
        state = system.begin(start)
    require_finite(state, where, system.largest)
    try:
        plan = sim.plan(system)
        match plan.engine:  # raise where they do not fit the robot
            case EventEngine(solver=Multirate()):
                fast_states(system, state.x)
            case StepEngine(step=step):
                timing(system, plan.duration, step)
    except ValueError as error:
        raise ScenarioError(f"{where}: [sim] {error}") from None
    return Experiment(
        system, state, plan, name=name, about=about, document=resolved, start_options=start
    )


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {k: "auto" if v is None else v for k, v in values.items()}


def _same(made: Any, value: Any) -> bool:
    """Whether a field holds just this value.

    A whole number is not the same as a fraction: they make different programs.
    """
    if isinstance(value, list):
        # Switches are kept as numbers: those are made anew.
        return isinstance(made, tuple) and made == tuple(value)
    return made is value or (
        type(made) is type(value) and isinstance(value, int | float | str) and made == value
    )


def _made(
    cls: type, values: dict[str, Any], path: tuple[str, ...], where: str, known: Any = None
) -> Any:
    """A part, made and checked; `known` itself, which has been, where it is that very part."""
    if type(known) is cls and all(
        _same(getattr(known, name), value) for name, value in values.items()
    ):
        return known
    with _computing(f"[{'.'.join(path)}]", where):
        return cls(**values)


@contextlib.contextmanager
def _computing(table: str, where: str) -> Iterator[None]:
    """Values that cannot be, and those at the edge of what can be computed with, are answered with
    their table, without warnings.
    """
    try:
        with np.errstate(all="ignore"):
            yield
    except ParameterError as error:
        raise ScenarioError(f"{where}: {table} {error.field}: {error}") from None
    except (ArithmeticError, ValueError, MemoryError) as error:
        said = clipped(f"{type(error).__name__}: {error}", 160)
        raise ScenarioError(
            f"{where}: {table} has numbers that are too large or too small to compute with, or that"
            f" do not fit together ({said})."
        ) from error


def require_finite(state: HybridState, where: str, most: float = np.inf) -> None:
    """A start of numbers.

    What overflows on the way from the [start] table to the state is no start.
    """
    for path, leaf in jax.tree_util.tree_leaves_with_path(state):
        values = np.asarray(leaf)
        if values.dtype.kind == "f" and not np.all(
            good := np.isfinite(values) & (np.abs(values) <= most)
        ):
            name = jax.tree_util.keystr(path[1:], simple=True, separator=".")
            raise ScenarioError(
                f"{where}: [start] gives {name} = {values.flat[np.argmin(good)]:g}:"
                " the numbers of the start or the robot are too large or too small to compute with."
            )


def _validated(
    model: type[pydantic.BaseModel], table: dict[str, Any], path: tuple[str, ...], where: str
) -> Any:
    try:
        return model.model_validate(table)
    except pydantic.ValidationError as error:
        raise ScenarioError(
            "\n".join(_explain(e, model, path, where) for e in error.errors())
        ) from None


def _explain(error: Any, model: type[pydantic.BaseModel], path: tuple[str, ...], where: str) -> str:
    key = str(error["loc"][0]) if error["loc"] else ""
    place = f"[{'.'.join(path)}] {key}" if path else key
    came = error.get("input")
    match error["type"]:
        case "extra_forbidden":
            return (
                f"{where}: {place} is not a known key.\n  Known:"
                f" {', '.join(model.model_fields)}.{nearest(key, model.model_fields)}"
            )
        case "literal_error":
            options = error["ctx"]["expected"].replace(" or ", ", ").replace("'", "")
            near = nearest(came, options.split(", ")) if isinstance(came, str) else ""
            return f"{where}: {place} = {shown(came)} is not an option.\n  Known: {options}.{near}"
        case "value_error":
            return f"{where}: {place} = {shown(came)}: {error['ctx']['error']}"
        case _:
            return f"{where}: {place} = {shown(came)}: {error['msg']}."
