"""save_run(run, folder): a run of the library kept as the command line keeps its own."""

import importlib.util
from pathlib import Path

from footfall.engines.analysis.summary import summarise
from footfall.pictures.plot_page import write_plot_page
from footfall.record.run_folder import write_run
from footfall.record.trajectory import Trajectory
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment


def save_run(run: Trajectory, folder: str | Path, *, force: bool = False) -> Path:
    """Write a run to a folder as `footfall run` does.

    Rows, summary, scenario, provenance, and the plot page.

    Arguments:
        run: what `ff.simulate` or `experiment.run()` gave for an experiment.
        folder: where to; it is made, whole or not at all.
        force: overwrite a run that is there.

    Returns the folder, for `ff.open_run`. Without matplotlib the picture is left out. Raises
    FolderError where it cannot be written.

    >>> import footfall as ff
    >>> run = ff.load("passive-wheel", duration=1).run()
    >>> ff.open_run(run.save("kept")).outcome.name
    'reached_end'
    """
    if not isinstance(run.experiment, Experiment):
        raise ScenarioError(
            "this run has no scenario to be written with it. Simulate an experiment"
            ' (ff.load(...).run()), or keep its table: run.to_pandas().to_parquet("run.parquet").'
        )
    experiment, summary = run.experiment, summarise(run)

    def pictures(aside: Path) -> None:
        write_plot_page(
            run.thinned(),
            summary,
            aside / "plots.png",
            title=experiment.about.title or experiment.name,
        )

    drawn = importlib.util.find_spec("matplotlib") is not None
    return write_run(
        Path(folder),
        run,
        summary.to_dict(),
        experiment.to_toml(),
        force=force,
        pictures=pictures if drawn else None,
        files=experiment.own_files,
    )
