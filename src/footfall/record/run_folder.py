"""The run folder: written aside, then renamed, so that it is either whole or not there.

Aside is a hidden folder next to it, `.NAME-xxxxxxxx`. A long run makes it when it begins to write
rows: `rows/*.parquet`, whole files in the order of their names, whose schema has units, meanings
and provenance ("outcome" says "running"), and `scenario.toml`. A run that was killed leaves it so,
and read_back.py finds what there is.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from footfall.record.export import write_parquet
from footfall.record.mcap_log import MOST_LOGGED, write_mcap
from footfall.record.read_back import kept_of
from footfall.record.row_stream import StreamedColumns
from footfall.record.trajectory import Trajectory


class FolderError(Exception):
    """The run folder cannot be written, and why."""


class FolderExists(FolderError):
    """There is a folder of that name already."""


def require_writable(folder: Path, *, force: bool) -> None:
    """Fail before a long run, not after it."""
    try:
        if folder.exists() and not force:
            raise FolderExists(
                f"{folder} exists already. Choose another folder with --out, or overwrite it with"
                " --force."
            )
        if folder.exists() and not folder.is_dir():
            raise FolderError(f"{folder} is a file, not a folder.")
        if folder.is_dir() and any(folder.iterdir()) and not (folder / "summary.json").exists():
            raise FolderError(
                f"{folder} is not a run folder; --force will not delete it. Choose another with"
                " --out."
            )
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".footfall-"):
            pass
    except OSError as error:
        raise FolderError(f"{folder.parent} cannot be written to: {error.strerror}.") from None


def begin_aside(folder: Path, scenario: str) -> Path:
    """The place for the rows of a long run, beside the folder it will be."""
    aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    (aside / "scenario.toml").write_text(scenario)
    rows = aside / "rows"
    rows.mkdir()
    return rows


def write_run(
    folder: Path,
    run: Trajectory,
    summary: dict[str, Any],
    scenario: str,
    *,
    force: bool = False,
    pictures: Callable[[Path], None] | None = None,
    files: Mapping[str, Path] | None = None,
    progress: Callable[[int, int], bool | None] | None = None,
    most_logged: int = MOST_LOGGED,
) -> Path:
    """Write the folder of a run.

    trajectory.parquet, run.mcap, summary.json, scenario.toml, provenance.json, pictures, and copies
    of `files`.

    `files` has them by the path under which the scenario names them, so that what is written loads
    again. `progress` gets the rows of run.mcap, which takes longest, that are written and all of
    them (at most `most_logged`), and may end it there by True.
    """
    require_writable(folder, force=force)
    streamed = run.columns if isinstance(run.columns, StreamedColumns) else None
    aside = (
        streamed.folder.parent
        if streamed
        else Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    )
    try:
        write_parquet(run, aside / "trajectory.parquet")
        with (aside / "run.mcap").open("wb") as stream:
            write_mcap(run, stream, progress, most_logged)
        # Of a long run it is too long to be made at once.
        with (aside / "summary.json").open("w", encoding="utf-8") as text:
            json.dump(summary | {"record": kept_of(run)}, text, indent=2, allow_nan=False)
            text.write("\n")
        (aside / "scenario.toml").write_text(scenario, encoding="utf-8")
        (aside / "provenance.json").write_text(json.dumps(run.provenance, indent=2) + "\n")
        for name, file in (files or {}).items():
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, aside / name)
        if pictures is not None:
            pictures(aside)
        aside.chmod(0o755)
        if streamed:
            shutil.rmtree(streamed.folder)
        if folder.exists():
            old = folder.with_name(f".{folder.name}-old-{os.getpid()}")
            folder.rename(old)
            try:
                aside.rename(folder)
            except OSError:
                old.rename(folder)
                raise
            shutil.rmtree(old)
        else:
            aside.rename(folder)
        if streamed:
            streamed.moved(folder, (folder / "trajectory.parquet",))
    except OSError as error:
        kept = (
            f" The rows are in {streamed.folder}." if streamed and streamed.folder.exists() else ""
        )
        raise FolderError(
            f"{folder} could not be written: {error.strerror or error}.{kept}"
        ) from None
    finally:
        if not (streamed and streamed.folder.parent == aside and streamed.folder.exists()):
            shutil.rmtree(aside, ignore_errors=True)
    return folder
