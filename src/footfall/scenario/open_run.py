"""open_run(folder) -> Trajectory: a finished run, or what is left of one that was cut off."""

import contextlib
import dataclasses
import sys
import warnings
from pathlib import Path
from typing import Any

from footfall.record.read_back import KILLED, NoRun, read_run
from footfall.record.trajectory import Trajectory
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load, read_toml
from footfall.scenario.own_code import names_code
from footfall.scene.sketch import Drawing


def open_run(folder: str | Path) -> Trajectory:
    """Read a run back from its folder.

    Rows, events, ending, ledger, verdict and metrics are equal to those of the run itself.

    Arguments:
        folder: what `footfall run` wrote ("runs/rimless-wheel-001"), or was to write: of a long run
            that was killed, what it had put on disk until then is found too, with the outcome
            `interrupted`.

    Returns a `Trajectory`. No code from the folder is executed: the drawing comes from the robot
    its scenario names, and a robot with a Python file of one's own has none. Raises ScenarioError
    where there is no run.

    >>> import footfall as ff
    >>> run = ff.open_run("my-run")
    >>> run.outcome.name, run.events[0].name
    ('reached_end', 'touchdown')
    """
    folder = Path(folder)
    try:
        run, place = read_run(folder)
    except NoRun as error:
        raise ScenarioError(f"{error} `footfall run` makes one.") from None
    file = place / "scenario.toml"
    document = read_toml(file) if file.is_file() else {}
    travel = run.travel
    if run.ending.note == KILLED and file.is_file():  # cut off: how it travels is not on disk
        with contextlib.suppress(ScenarioError):
            travel = _system(file, document).travel()
    return dataclasses.replace(
        run, draw=lambda: _drawing(file, document), scenario=document, travel=travel
    )


def _system(file: Path, document: dict[str, Any]) -> Any:
    """The robot that the scenario names; a ScenarioError where that robot is not ours to make."""
    robot = document.get("robot", {})
    for table in (robot, *robot.values(), *document.values()):
        kind = table.get("kind") if isinstance(table, dict) else None
        if names_code(kind):
            what = "robot" if table is robot else "robot has a part that"
            raise ScenarioError(
                f'its {what} is a Python file ("{kind}"), and opening a run executes no code;'
                " simulate its scenario again to see it."
            )
    try:
        return load(file).system
    except ScenarioError as error:
        raise ScenarioError(f"its scenario does not load any more: {error}") from None


def _drawing(file: Path, document: dict[str, Any]) -> Drawing:
    """Of the robot; nothing, and a word about it, where there is none to be had."""
    try:
        return _system(file, document).drawing()
    except ScenarioError as error:
        _warn(f"{file.parent}: this run has no drawing: {error}")
        return Drawing()


def _warn(said: str) -> None:
    """As of the user's own line.

    A drawing is made when someone looks, however deep in here that is.
    """
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in (
        "footfall",
        "functools",
    ):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(said, stacklevel=depth)
