"""What `footfall view` can open: scenarios, recorded runs and sweeps, each by a name.

Only what is listed here can be asked for, so no name leads out of the working folder. Files are
read as data; nothing in them is executed.
"""

import json
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from footfall.scenario.errors import ScenarioError
from footfall.scenario.files import shipped_scenarios

#: Entries of a kind that are listed, the newest first.
MOST = 200
#: The largest scenario file that is looked into [bytes]; others are none.
LARGEST = 1_000_000
RUNS, SWEEPS, SCENARIOS = "runs", "sweeps", "scenarios"
RUN_MARK, SWEEP_MARK, FILE = "provenance.json", "sweep.json", "scenario.toml"


class Entry(NamedTuple):
    """Something to open."""

    kind: str  #: "scenario", "run" or "sweep"
    name: str  #: what the command line calls it
    path: Path
    title: str
    about: str = ""
    own: bool = False  #: a file of the user

    def said(self) -> dict[str, Any]:
        """As JSON has it."""
        return {key: getattr(self, key) for key in ("kind", "name", "title", "about", "own")}


class Found:
    """Everything under a working folder, and `also`, what the command named."""

    def __init__(self, root: Path, also: Entry | None = None):
        self.root, self.also = root.resolve(), also

    def listed(self) -> list[Entry]:
        """Scenarios by name, own ones first; runs and sweeps, the newest first."""
        entries = [*self._own_scenarios(), *_shipped()]
        entries += self._folders("run", RUNS, RUN_MARK)
        entries += self._folders("sweep", SWEEPS, SWEEP_MARK)
        if self.also is not None and self.also[:2] not in {entry[:2] for entry in entries}:
            entries.insert(0, self.also)
        return entries

    def entry(self, kind: str, name: str) -> Entry:
        """The one of this name, or an error."""
        for entry in self.listed():
            if (entry.kind, entry.name) == (kind, name):
                return entry
        raise ScenarioError(f"there is no {kind} {name!r} in {self.root}.")

    def _own_scenarios(self) -> list[Entry]:
        shipped = {path.resolve() for path in shipped_scenarios().values()}
        files = sorted(self.root.glob("*.toml")) + sorted((self.root / SCENARIOS).glob("*.toml"))
        inside = (f for f in files if self._inside(f) and f.resolve() not in shipped)
        entries = (_scenario(str(file.relative_to(self.root)), file, own=True) for file in inside)
        return [entry for entry in entries if entry is not None][:MOST]

    def _folders(self, kind: str, under: str, mark: str) -> list[Entry]:
        marked = [
            folder
            for folder in (self.root / under).glob("*")
            if not folder.name.startswith(".")
            and (folder / mark).is_file()
            and self._inside(folder)
        ]
        marked.sort(key=lambda folder: (folder.stat().st_mtime, folder.name), reverse=True)
        return [_folder(kind, f"{under}/{f.name}", f) for f in marked[:MOST]]

    def _inside(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self.root)


def named(target: str) -> Entry:
    """What the command's argument means: the folder of a run or a sweep, or a scenario."""
    path = Path(target)
    if path.is_dir():
        for kind, mark in (("sweep", SWEEP_MARK), ("run", RUN_MARK)):
            if (path / mark).is_file():
                return _folder(kind, target.rstrip("/"), path.absolute())
        raise ScenarioError(
            f"{target} is neither the folder of a run nor of a sweep: it has no {RUN_MARK} and no"
            f" {SWEEP_MARK}.\n  footfall run and footfall sweep make such folders."
        )
    if target in (shipped := shipped_scenarios()):
        path = shipped[target]
    if path.is_file() and (entry := _scenario(target, path, own=target not in shipped)):
        return entry
    raise ScenarioError(
        f"{target} is no scenario and no folder of a run or a sweep.\n  footfall view without an"
        " argument lists what there is."
    )


def _shipped() -> list[Entry]:
    entries = (_scenario(name, path, own=False) for name, path in shipped_scenarios().items())
    return [entry for entry in entries if entry is not None]


def _scenario(name: str, file: Path, *, own: bool) -> Entry | None:
    """None for a TOML file that describes something else."""
    try:
        if file.stat().st_size > LARGEST:
            return None
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        given = {"title": "this file cannot be read as TOML: run it to see why"}
    else:
        if "robot" not in given:
            return None
    title, about = (str(given.get(key, "")) for key in ("title", "about"))
    return Entry("scenario", name, file, title or name, about, own)


def _folder(kind: str, name: str, folder: Path) -> Entry:
    """A run or a sweep, by its small files."""
    try:
        kept = json.loads((folder / (RUN_MARK if kind == "run" else SWEEP_MARK)).read_text())
        title = str(kept.get("scenario" if kind == "run" else "name", ""))
        began = str(kept.get("started", ""))[:19].replace("T", " ")
    except (OSError, ValueError, AttributeError):
        title, began = "", ""
    return Entry(kind, name, folder, title or name, began)
