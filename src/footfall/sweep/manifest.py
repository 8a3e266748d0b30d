"""sweep.json: everything a sweep was asked for, written before its first shard.

So it can go on later, and says by itself what it holds.
"""

import dataclasses
import datetime
import functools
import hashlib
import importlib.metadata
import json
import platform
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.lanes.step_ladder import StepLadder
from footfall.scenario.load import Experiment, load
from footfall.sweep.designs import TABLE, Designs, Table, from_spec
from footfall.sweep.errors import SweepError
from footfall.sweep.files import write_aside
from footfall.sweep.shards import digest

NAME, SCENARIO = "sweep.json", "scenario.toml"
FORMAT = 2  # 1: outcomes were codes, and all designs of a sweep had one step
WORDS = ("title", "about", "look_for")  # of a scenario: they change nothing
_PACKAGES = ("footfall", "jax", "numpy", "scipy", "pyarrow")


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What defines a sweep. Two sweeps with the same `id` have the same results, shard by shard."""

    name: str  #: of the scenario
    origin: str  #: the name or path it was loaded by
    scenario: str  #: resolved, as TOML
    files: dict[str, str]  #: a user's own robot files -> digest
    designs: dict[str, Any]
    count: int
    shard_size: int
    plan: dict[str, Any]  #: of BatchPlan
    step_source: str  #: "given" or how it was chosen
    #: Of StepLadder, where the plan has no step: which step each design takes.
    ladder: dict[str, Any] | None = None
    #: Results of all structures, where there are several.
    columns: dict[str, str] = dataclasses.field(default_factory=dict)
    versions: dict[str, str] = dataclasses.field(default_factory=dict)
    machine: str = ""
    started: str = ""

    @property
    def id(self) -> str:
        """A digest of all that decides results.

        The path is none of it: kernels agree to rounding.
        """
        plan = {k: v for k, v in self.plan.items() if k != "path"}
        words = json.dumps(
            [
                FORMAT,
                _settings_of(self.scenario),
                self.files,
                self.designs,
                self.count,
                self.shard_size,
                plan,
                self.ladder,
                list(self.columns.items()),
            ],
            sort_keys=True,
        )
        return hashlib.sha256(words.encode()).hexdigest()[:32]

    @property
    def shards(self) -> int:
        return -(-self.count // self.shard_size)

    def span(self, shard: int) -> tuple[int, int]:
        """First design of a shard, and the one after its last."""
        return shard * self.shard_size, min((shard + 1) * self.shard_size, self.count)

    def batch_plan(self) -> BatchPlan:
        return BatchPlan(
            **{k: tuple(v) if isinstance(v, list) else v for k, v in self.plan.items()}
        )

    def step_ladder(self) -> StepLadder | None:
        return None if self.ladder is None else StepLadder.from_dict(self.ladder)

    def to_json(self) -> str:
        return (
            json.dumps({"format": FORMAT, "id": self.id, **dataclasses.asdict(self)}, indent=2)
            + "\n"
        )

    def differences(self, other: "Manifest") -> list[str]:
        """What another request wants otherwise, key by key.

        "robot.leg.damping: 400 here, 450 asked for".
        """
        return list(_differences(self, other))


def describe_sweep(
    experiment: Experiment,
    designs: Designs,
    plan: BatchPlan,
    shard_size: int,
    step_source: str,
    columns: dict[str, str] | None = None,
    ladder: StepLadder | None = None,
) -> Manifest:
    """The manifest of a new sweep."""
    return Manifest(
        name=experiment.name,
        origin=experiment.origin,
        scenario=experiment.to_toml(),
        files={name: digest_file(file) for name, file in experiment.own_files.items()},
        designs=designs.spec(),
        count=designs.count,
        shard_size=shard_size,
        plan=dataclasses.asdict(plan),
        step_source=step_source,
        ladder=None if ladder is None else ladder.to_dict(),
        columns=columns or {},
        versions=_versions(),
        machine=platform.platform(),
        started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )


def write_manifest(folder: Path, manifest: Manifest, experiment: Experiment) -> None:
    """Put scenario, a user's own files and, last of all, the manifest into the sweep's folder."""
    for name, file in experiment.own_files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_aside(folder / name, lambda aside, file=file: shutil.copy(file, aside))
    write_aside(
        folder / SCENARIO, lambda aside: aside.write_text(manifest.scenario, encoding="utf-8")
    )
    write_aside(folder / NAME, lambda aside: aside.write_text(manifest.to_json(), encoding="utf-8"))


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a sweep, or an error that says why there is none."""
    path = folder / NAME
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        form, written_id = said.pop("format"), said.pop("id")
        if form != FORMAT:
            raise SweepError(
                f"{path}: written by another version of footfall (format {form}; this one knows"
                f" {FORMAT}).\n  Its shards are plain Parquet and can still be read:"
                f" pandas.read_parquet({str(folder / 'shards')!r}). To go on with it, install that"
                " version; to start again, --force."
            )
        manifest = Manifest(**said)
    except FileNotFoundError:
        raise SweepError(f"{folder} is not a sweep: there is no {NAME} in it.") from None
    except OSError as error:
        raise SweepError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SweepError(f"{path} is damaged. Start the sweep again with --force.") from None
    if manifest.id != written_id:
        raise SweepError(
            f"{path} has been changed by hand: it no longer describes its shards. Start the sweep"
            " again with --force."
        )
    return manifest


@dataclasses.dataclass(frozen=True)
class OpenedSweep:
    """A sweep's folder, ready to compute any of its shards."""

    folder: Path
    manifest: Manifest
    experiment: Experiment
    designs: Designs


def open_folder(folder: Path) -> OpenedSweep:
    """Load scenario and designs as the manifest has them."""
    manifest = read_manifest(folder)
    for name, written in manifest.files.items():
        if not (folder / name).is_file() or digest_file(folder / name) != written:
            raise SweepError(
                f"{folder / name} has been changed since the sweep began. Start the sweep again"
                " with --force."
            )
    scenario = folder / SCENARIO
    if not scenario.is_file() or scenario.read_text(encoding="utf-8") != manifest.scenario:
        raise SweepError(
            f"{scenario} has been changed since the sweep began. Start the sweep again with"
            " --force."
        )
    experiment = dataclasses.replace(load(scenario), name=manifest.name, origin=manifest.origin)
    return OpenedSweep(folder, manifest, experiment, _designs(folder, manifest))


def _designs(folder: Path, manifest: Manifest) -> Designs:
    try:
        designs = from_spec(manifest.designs, folder)
        intact = not isinstance(designs, Table) or digest(designs.held) == designs.digest
    except Exception as error:  # Arrow answers damaged files with many kinds of error
        raise SweepError(
            f"{folder / TABLE} cannot be read ({type(error).__name__}). Start the sweep again with"
            " --force."
        ) from None
    if designs.count != manifest.count:
        raise SweepError(
            f"{folder / NAME} has been changed since the sweep began: it says {manifest.count}"
            f" designs, and there are {designs.count}."
        )
    if not intact:
        raise SweepError(
            f"{folder / TABLE} has been changed since the sweep began. Start the sweep again with"
            " --force."
        )
    return designs


def digest_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def _settings_of(scenario: str) -> dict[str, Any]:
    """A scenario without its words."""
    return {key: value for key, value in tomllib.loads(scenario).items() if key not in WORDS}


def flat(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, (*path, key))
    else:
        yield ".".join(path), value


def _differences(here: Manifest, asked: Manifest) -> Iterator[str]:
    then, now = dict(flat(_settings_of(here.scenario))), dict(flat(_settings_of(asked.scenario)))
    for key in {**then, **now}:
        if then.get(key) != now.get(key):
            yield f"{key}: {then.get(key, 'absent')} here, {now.get(key, 'absent')} asked for"
    for name in {**here.files, **asked.files}:
        if here.files.get(name) != asked.files.get(name):
            yield f"{name}: the file has changed"
    yield from _design_differences(here.designs, asked.designs)
    for key in ("duration", "step", "rtol", "method", "precision", "settle", "max_jumps", "track"):
        then, now = here.plan.get(key), asked.plan.get(key)
        if then != now and not (key == "track" and tuple(then) == tuple(now)):
            then, now = (", ".join(v) or "nothing" if key == "track" else v for v in (then, now))
            yield f"{key}: {then} here, {now} asked for"
    if here.shard_size != asked.shard_size:
        yield f"shard size: {here.shard_size} here, {asked.shard_size} asked for"


def _design_differences(here: dict[str, Any], asked: dict[str, Any]) -> Iterator[str]:
    if here["kind"] != asked["kind"]:
        yield f"designs: a {here['kind']} here, a {asked['kind']} asked for"
        return
    for key in ("method", "count", "seed", "digest"):
        if here.get(key) != asked.get(key):
            yield f"designs, {key}: {here.get(key)} here, {asked.get(key)} asked for"
    then, now = (
        {axis["path"]: {k: v for k, v in axis.items() if k != "key"} for axis in d["axes"]}
        for d in (here, asked)
    )
    for path in {**then, **now}:
        if path not in now or path not in then:
            yield f"{path}: varied {'here only' if path in then else 'in what is asked for only'}"
        elif then[path] != now[path]:
            yield f"{path}: {_axis_words(then[path])} here, {_axis_words(now[path])} asked for"
    if list(then) != list(now) and set(then) == set(now):
        yield f"designs: varied in the order {', '.join(then)} here, {', '.join(now)} asked for"


def _axis_words(axis: dict[str, Any]) -> str:
    if "values" in axis:
        return ",".join(map(str, axis["values"]))
    if "low" not in axis:
        return "a column of a file"
    return (
        f"{axis['low']:g}:{axis['high']:g}"
        + (f":{axis['count']}" if "count" in axis else "")
        + (":log" if axis["log"] else "")
    )
