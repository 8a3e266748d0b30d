"""Small things a person sees.

One line of progress, the guess before the list, figures that are none, an experiment in a notebook.
"""

import io

import numpy as np
import pytest
from rich.console import Console

from footfall.cli import phases as phases_module
from footfall.cli.phases import Phases
from footfall.cli.summary_table import plan_table
from footfall.hybrid.motion_plan import Figure
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load


def test_the_line_of_progress_is_one_line_that_changes_its_words(monkeypatch):
    """It was taken away and put back at each phase, which flickered."""
    monkeypatch.setattr(phases_module, "err", Console(file=io.StringIO(), force_terminal=True))
    with Phases("loading") as phases:
        first = phases._task
        phases.count("simulating", 1.0, 2.0, "t = 1 s")
        assert phases._bar.tasks[-1].percentage == 50.0
        phases.say("starting the run", late="compiling")
        (task,) = phases._bar.tasks
        assert task.id == first and task.description == "starting the run"
        assert (
            task.total is None
            and task.completed == 0
            and task.fields == {"at": "", "late": "compiling"}
        )


@pytest.mark.parametrize(
    ("name", "settings", "guess"),
    [("rimless-weel", [], "rimless-wheel"), ("passive-wheel", ["sim.durration=3"], "duration")],
)
def test_a_guess_stands_before_the_list_of_what_there_is(name, settings, guess):
    with pytest.raises(ScenarioError) as caught:
        load(name, settings)
    assert (
        "Did you mean" in str(caught.value).split("\n")[0]
        and guess in str(caught.value).split("\n")[0]
    )


def test_a_figure_that_is_not_defined_is_none():
    figures = {
        "least_zmp": Figure(np.array([np.nan]), "m", "least"),
        "energy": Figure(np.array([2.0]), "J", "all"),
    }
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(plan_table(figures, ()))
    said = console.export_text()
    assert "nan" not in said and "none" in said and "2" in said


def test_an_experiment_in_a_notebook_says_what_it_is():
    experiment = load("passive-wheel", ["terrain.angle=4 deg"])
    shown = experiment._repr_html_()
    assert (
        shown.startswith("<pre>passive-wheel: ")
        and "terrain.angle = 4 deg" in shown
        and shown.endswith("</pre>")
    )
