"""Whose code may run.

A scenario can name a Python file, and to load such a scenario is to run that file.

Code runs from a folder that the user said to trust: asked once on a terminal, or told by `--trust`,
`ff.load(path, trust=True)` or `footfall new`, and remembered. The same code, byte for byte, then
runs wherever a copy of it lies, such as in a run folder or a sweep. A folder that footfall wrote is
never trusted as such: no run folder brings code of its own.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from footfall.engines.kernels.cache_folder import cache_folder
from footfall.scenario.errors import ScenarioError

NAME = "trusted.json"
#: What footfall writes into folders of its own.
OWN_MARKS = ("provenance.json", "sweep.json")
#: Versions of robot files that are remembered; the oldest are forgotten.
MOST_CODE = 1000

# Of this process, also where nothing can be written.
_here: dict[str, list[str]] = {"folders": [], "code": []}


def _never(question: str) -> bool:
    del question
    return False


_ask: Callable[[str], bool] = _never


def answer_by(ask: Callable[[str], bool]) -> None:
    """Who says whether a folder is trusted.

    A function of a question, such as a person at a terminal.
    """
    global _ask
    _ask = ask


def trust_folder(folder: Path) -> None:
    """Remember that code may run from this folder."""
    _remember("folders", [str(folder.resolve())])


@contextlib.contextmanager
def accepting(digests: Iterable[str]) -> Iterator[None]:
    """Code with these digests may run here meanwhile.

    For a worker, whose orders come from one who may run it.
    """
    before = list(_here["code"])
    _here["code"] += list(digests)
    try:
        yield
    finally:
        _here["code"] = before


def require_trust(file: Path, code: bytes, folder: Path, where: str, *, told: bool) -> None:
    """Raise unless `code`, of `file`, may run for a scenario in `folder`.

    `told`: the user says so now.
    """
    digest = hashlib.sha256(code).hexdigest()
    known = _known()
    if digest in known["code"]:
        return
    if any((folder / mark).exists() for mark in OWN_MARKS):
        raise ScenarioError(
            f"{where}: {file.name} beside it is code that has not run here before, and from the"
            " copy in a run folder or sweep none does.\n  If it is yours or you have read it, copy"
            " it and the scenario into a folder of your own, and run it there."
        )
    if str(folder.resolve()) not in known["folders"]:
        question = (
            f"{where} names code, {file}: to load it is to run it, and it can do whatever you can."
        )
        if not (told or _ask(question)):
            raise ScenarioError(
                f"{question}\n  If it is yours or you have read it, say so once for this folder:"
                " add --trust to the command, or in Python write footfall.load(path, trust=True)."
            )
        trust_folder(folder)
    _remember("code", [digest])


def _known() -> dict[str, list[str]]:
    kept: dict[str, list[str]] = {"folders": [], "code": []}
    try:
        said = json.loads((cache_folder() / NAME).read_text(encoding="utf-8"))
        kept = {key: [word for word in said[key] if isinstance(word, str)] for key in kept}
    except (OSError, ValueError, KeyError, TypeError):
        pass  # nothing is remembered
    return {
        key: [*kept[key], *(word for word in _here[key] if word not in kept[key])] for key in kept
    }


def _remember(key: str, words: list[str]) -> None:
    _here[key] += words
    known = _known()
    known["code"] = known["code"][-MOST_CODE:]
    path = cache_folder() / NAME
    aside = path.with_name(f".{NAME}-{os.getpid()}")
    with contextlib.suppress(OSError):  # then it holds for this process
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
        aside.chmod(0o600)
        aside.replace(path)
