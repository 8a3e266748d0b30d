"""Carry a study out: case by case, every answer kept as it comes, going on where it was cut.

Its folder has request.json (what was asked) and scenario.toml from the first answer on, and a line
of answers.jsonl for each case that was answered. When all are, the table, the picture and last of
all results.json are written, and answers.jsonl goes: a folder with results.json is finished.
"""

import contextlib
import csv
import importlib.metadata
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from footfall.hybrid.doubt import Doubt
from footfall.hybrid.study import AbstractStudy, Answer, Answers, plain_request
from footfall.record.verdict import Verdict, together
from footfall.sweep.errors import SweepError
from footfall.sweep.files import locked, write_aside
from footfall.sweep.manifest import SCENARIO, WORDS, digest_file, flat

REQUEST, RESULTS, ANSWERS = "request.json", "results.json", "answers.jsonl"
LOCK = ".lock"


def carry_out(
    study: AbstractStudy,
    found: dict[int, Answer],
    *,
    keep: Callable[[Mapping[int, Answer]], None] = lambda _: None,
    progress: Callable[[float], None] = lambda _: None,
) -> dict[int, Answer]:
    """Answer what is missing in `found`, which is filled on the way.

    `keep` gets the answers as they come, `progress` the number of cases that are done.
    """
    missing = [place for place in range(len(study.cases)) if place not in found]
    for first in range(0, len(missing), study.at_once):
        places, done = missing[first : first + study.at_once], len(found)

        def told(share: float, done: int = done, size: int = len(places)) -> None:
            progress(done + share * size)

        told(0.0)
        answers = study.answers(places, found, told)
        # As they will be read back, so that a study that was cut cannot tell.
        new = {p: _from_json(json.loads(_json(a))) for p, a in zip(places, answers, strict=True)}
        keep(new)
        found.update(new)
    return found


def results_of(study: AbstractStudy, found: Answers) -> dict[str, Any]:
    """results.json: what was asked, whether to believe it, what the rows say, the rows."""
    return {
        "study": study.name,
        "scenario": study.subject.name,
        "request": plain_request(study.request),
        "complete": len(found) == len(study.cases),
        "verdict": verdict_of(study, found).to_dict(),
        **study.summary(found),
        study.rows_key: [answer.row for answer in study.kept(found)],
    }


def verdict_of(study: AbstractStudy, found: Answers) -> Verdict:
    """Of the whole study."""
    own = study.doubts()
    if own is not None:
        return Verdict(own)
    return together([Verdict(answer.doubts) for answer in study.kept(found)], study.noun)


class StudyFolder:
    """Where a study keeps what was computed. Nothing is made before the first answer."""

    def __init__(self, path: Path, study: AbstractStudy, *, force: bool = False):
        """Raises SweepError for a folder that is no place for this study."""
        self.path, self._study, self._force = path, study, force
        self._asked = _asked(study)
        self._lock, self._ready = contextlib.ExitStack(), False
        self.goes_on = _goes_on(path, self._asked, force=force)  #: what is there
        if self.goes_on:
            self._lock.enter_context(locked(path))

    def __enter__(self) -> "StudyFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def read(self) -> dict[int, Answer]:
        """The answers that are there, by the place of their cases. A torn line is none."""
        if not self.goes_on:
            return {}
        places = {_key(case): place for place, case in enumerate(self._study.cases)}
        lines = list(_whole_lines(self.path / ANSWERS))
        text = "".join(json.dumps(line) + "\n" for line in lines)
        write_aside(self.path / ANSWERS, lambda aside: aside.write_text(text, encoding="utf-8"))
        known = [(places.get(_key(line["case"])), line) for line in lines]
        return {place: _from_json(line["answer"]) for place, line in known if place is not None}

    def keep(self, answers: Mapping[int, Answer]) -> None:
        """Write them down, to the disk."""
        self._make()
        cases = self._study.cases
        text = "".join(
            f'{{"case": {json.dumps(cases[place])}, "answer": {_json(answer)}}}\n'
            for place, answer in answers.items()
        )
        try:
            with (self.path / ANSWERS).open("a", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise SweepError(
                f"{self.path / ANSWERS} could not be written: {error.strerror or error}."
            ) from None

    def finish(
        self, found: Answers, results: dict[str, Any], draw: Callable[[], None] = lambda: None
    ) -> None:
        """Write table, files, picture and results; what is only for going on goes."""
        self._make()
        try:
            _write_table([answer.row for answer in self._study.kept(found)], self.table)
            for name, data in self._study.files(found).items():
                (self.path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
            draw()
        except OSError as error:
            raise SweepError(
                f"{self.path} could not be written: {error.strerror or error}. What was computed"
                " is kept: the same command goes on."
            ) from None
        for name in filter(None, (self._study.older_results, RESULTS)):
            _write_json(self.path / name, results)
        (self.path / ANSWERS).unlink(missing_ok=True)
        self._lock.close()
        (self.path / LOCK).unlink(missing_ok=True)

    @property
    def table(self) -> Path:
        return self.path / f"{self._study.file}.csv"

    def _make(self) -> None:
        """The folder, with what was asked."""
        if self._ready:
            return
        try:
            if self._force and self.path.exists():
                shutil.rmtree(self.path)
            self.path.mkdir(parents=True, exist_ok=True)
            if not self.goes_on:
                self._lock.enter_context(locked(self.path))
            _write_json(self.path / REQUEST, self._asked)
            (self.path / SCENARIO).write_text(self._study.subject.to_toml(), encoding="utf-8")
            for name, file in self._study.subject.own_files.items():
                (self.path / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, self.path / name)
        except OSError as error:
            raise SweepError(f"{self.path} could not be made: {error.strerror or error}.") from None
        self._ready = True


def _asked(study: AbstractStudy) -> dict[str, Any]:
    """All that decides the answers, as JSON."""
    subject = study.subject
    return {
        "study": study.name,
        "scenario": subject.name,
        "footfall": importlib.metadata.version("footfall"),
        "request": plain_request(study.request),
        "settings": {k: v for k, v in subject.document.items() if k not in WORDS},
        "files": {name: digest_file(file) for name, file in subject.own_files.items()},
    }


def _goes_on(path: Path, asked: dict[str, Any], *, force: bool) -> bool:
    """Whether there is such a study in a folder, cut before its end. Raises for what is in the way.

    Fails before the work, and touches nothing.
    """
    if not path.exists():
        above = next(parent for parent in path.absolute().parents if parent.exists())
        if not (above.is_dir() and os.access(above, os.W_OK)):
            raise SweepError(f"{above} cannot be written to.")
        return False
    if not path.is_dir():
        raise SweepError(f"{path} is a file, not a folder.")
    if {file.name for file in path.iterdir()} <= {LOCK}:
        return False
    try:
        there = json.loads((path / REQUEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = "; --force will not delete it" if force else ""
        raise SweepError(
            f"{path} exists already and is no folder of a study{kept}. Choose another with --out."
        ) from None
    if force:
        return False
    if (path / RESULTS).exists():
        raise SweepError(
            f"{path} exists already. Choose another folder with --out, or overwrite it with"
            " --force."
        )
    then, now = dict(flat(there)), dict(flat(json.loads(json.dumps(asked))))
    other = [key for key in {**then, **now} if then.get(key) != now.get(key)]
    if other:
        said = "; ".join(
            f"{key}: {then.get(key, 'absent')} there, {now.get(key, 'absent')} asked for"
            for key in other[:3]
        )
        raise SweepError(
            f"{path} has a study that was cut and asked something else ({said}). Ask the same to"
            " go on, choose another folder with --out, or begin again with --force."
        )
    return True


def _whole_lines(path: Path) -> Iterator[dict[str, Any]]:
    with contextlib.suppress(OSError, ValueError):
        for line in path.read_text(encoding="utf-8").split("\n"):
            yield json.loads(line)


def _write_table(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Columns are those of all rows: a gait may have a figure that its neighbour has not."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, fieldnames=names)
        table.writeheader()
        for row in rows:
            table.writerow(
                {k: "; ".join(map(str, v)) if isinstance(v, list) else v for k, v in row.items()}
            )


def _write_json(path: Path, what: dict[str, Any]) -> None:
    text = json.dumps(what, indent=1, allow_nan=False) + "\n"
    write_aside(path, lambda aside: aside.write_text(text, encoding="utf-8"))


def _key(case: Mapping[str, Any]) -> str:
    return json.dumps(case, sort_keys=True)


def _json(answer: Answer) -> str:
    return json.dumps([answer.row, list(map(list, answer.doubts)), answer.memory], allow_nan=False)


def _from_json(said: list[Any]) -> Answer:
    row, doubts, memory = said
    return Answer(row, tuple(Doubt(*doubt) for doubt in doubts), memory)
