"""`footfall share`: a robot that runs in a page of its own, one file for anyone."""

from pathlib import Path

from footfall.cli.page_file import require_page, tell_page
from footfall.cli.phases import Phases, told_by_jax
from footfall.cli.run import own_code
from footfall.engines.kernels.fuse_errors import NoCompiler
from footfall.pages.html_file import write_page
from footfall.pages.live import live_page
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load


def share_scenario(name: str, settings: list[str], out_file: str | None, force: bool) -> int:
    """Build the page and say how to open it."""
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
