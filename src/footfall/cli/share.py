"""`footfall share`: a robot that runs in a page of its own, one file for anyone."""

import dataclasses
from pathlib import Path
from typing import Any

from footfall.cli.page_file import require_page, tell_page
from footfall.cli.phases import Phases, told_by_jax
from footfall.cli.run import own_code
from footfall.engines.analysis.summary import summarise
from footfall.engines.kernels.fuse_errors import NoCompiler
from footfall.pages.html_file import write_page
from footfall.pages.live import live_page
from footfall.pages.replay import replay_page, with_ghost
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load
from footfall.scenario.open_run import open_run


def share_scenario(
    name: str, ghost: str | None, settings: list[str], out_file: str | None, force: bool
) -> int:
    """Build the page and say how to open it."""
    if Path(name).is_dir():
        return _share_run(Path(name), ghost, settings, out_file, force)
    if ghost is not None:
        raise ScenarioError(
            f"{name} {ghost}: a ghost stands beside a recorded run, and {name} is no folder of one."
            "\n  Record both first: footfall run writes such folders under runs/."
        )
    experiment = load(name, settings)
    path = Path(out_file or f"{experiment.name}.html")
    require_page(path, "--out", force=force)
    with Phases("looking at the robot") as phases, told_by_jax(phases, "compiling"):
        try:
            with own_code(experiment):
                page = live_page(experiment, progress=phases.say)
        except NoCompiler as error:
            raise ScenarioError(f"{name}: no page without a compiler: {error}.") from None
    write_page(path, page)
    tell_page(path)
    return 0


def _share_run(
    folder: Path, ghost: str | None, settings: list[str], out_file: str | None, force: bool
) -> int:
    """The page of a recorded run, beside another one."""
    if settings:
        raise ScenarioError(
            f"{folder} is a run that is recorded, and --set changes nothing in it.\n  Run it anew:"
            f" footfall run {folder}/scenario.toml --set {settings[0]} --page page.html."
        )
    path = Path(out_file or f"{folder.resolve().name}.html")
    require_page(path, "--out", force=force)
    with Phases("reading the run"):
        page = _recorded(folder)
        if ghost is not None:
            names = (folder.resolve().name, Path(ghost).resolve().name)
            page = with_ghost(page, _recorded(Path(ghost)), names)
    write_page(path, page)
    tell_page(path)
    return 0


def _recorded(folder: Path) -> dict[str, Any]:
    run = open_run(folder)
    if len(run.t) < 2:
        raise ScenarioError(f"{folder}: this run ended as it began; there is nothing to replay.")
    experiment = load(folder / "scenario.toml")  # only code that may run here
    run = dataclasses.replace(run, draw=experiment.system.drawing)
    with own_code(experiment):
        summary = summarise(run, experiment.name, experiment.plan.settle)
        return replay_page(experiment, run, summary)
