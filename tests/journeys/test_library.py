"""The library a person types.

Every public name teaches, results print as summaries, runs come back from their folders.
"""

import dataclasses
import doctest
import inspect
import json
import re
import warnings
from pathlib import Path

import matplotlib.image
import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import footfall as ff
from footfall.cli.main import app
from footfall.record.run_folder import write_run
from footfall.scenario.errors import ScenarioError


def call(*arguments):
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A place with a run and a sweep in it, as the examples of docstrings find them."""
    place = tmp_path_factory.mktemp("library")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        call("run", "passive-wheel", "--duration", "2", "--out", "my-run", "--no-plots")
        angles = "--vary=terrain.angle=0.08,0.1"
        call("sweep", "passive-wheel", angles, "--duration", "4", "--out", "my-sweep", "--no-plots")
    return place


# --- every public name teaches --------------------------------------------------------------------


def test_dir_shows_public_names_only():
    assert not [
        name
        for name in dir(ff)
        if name.startswith("_") or name in ("os", "sys", "importlib", "TYPE_CHECKING")
    ]
    assert {
        "load",
        "simulate",
        "open_run",
        "plot",
        "compare",
        "gradient",
        "linearise",
        "robots",
    } <= set(dir(ff))


@pytest.mark.parametrize("name", dir(ff))
def test_help_of_every_public_name_opens_with_a_line_and_has_an_example_that_runs(
    name, folder, monkeypatch
):
    monkeypatch.chdir(folder)
    thing = getattr(ff, name)
    text = inspect.getdoc(thing) or ""
    first, _, rest = text.partition("\n\n")
    assert re.fullmatch(r"[^\n]{10,120}[.]", first), first
    assert ">>> import footfall as ff" in rest
    if inspect.isfunction(thing) and inspect.signature(thing).parameters:
        assert "Arguments:" in rest and "Returns" in rest
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=report.append)
    assert not report, "".join(report)


# --- results print as summaries -------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel():
    return ff.load(
        "rimless-wheel", {"leg.stiffness": 1e4, "torso.pitch_setpoint": "35 deg"}, duration=3
    )


@pytest.fixture(scope="module")
def run(wheel):
    return ff.simulate(wheel)


def test_values_may_come_as_a_dictionary(wheel):
    assert wheel.system.leg.stiffness == 1e4 and wheel.system.torso.pitch_setpoint == pytest.approx(
        np.deg2rad(35)
    )
    same = ff.load(
        "rimless-wheel", ["leg.stiffness=10000", "torso.pitch_setpoint=35 deg"], duration=3
    )
    assert same.document == wheel.document
    several = {"missing_legs": [3, 4], "controller.reflexes": ("lift",), "sim.solver": "dopri8"}
    assert ff.load("centipede", several).document["controller"]["reflexes"] == ["lift"]
    assert (
        ff.load(
            "rimless-wheel", {"start.height": None, "leg.damping": np.float64(300)}
        ).system.leg.damping
        == 300.0
    )
    for wrong in ({"leg.stiffness": object()}, {"leg.stifness": 1.0}, "leg.stiffness=1"):
        with pytest.raises(ScenarioError):
            ff.load("rimless-wheel", wrong)


def test_an_experiment_simulates_as_its_parts_do(wheel, run):
    parts = ff.simulate(wheel.system, wheel.start, wheel.plan)
    assert np.array_equal(parts["hub.x"], run["hub.x"])
    assert run.provenance["scenario"] == "rimless-wheel" and run.scenario == wheel.document
    shorter = ff.simulate(wheel, plan=ff.SimPlan(duration=0.5))
    assert shorter.ending.t == 0.5
    with pytest.raises(TypeError, match=r'ff\.load\("rimless-wheel"\)'):
        ff.simulate("rimless-wheel")


def test_a_run_prints_as_a_short_summary_of_itself(run):
    said = repr(run)
    assert said.count("\n") < 12 and len(said) < 1000
    speed = run.metrics["mean_speed"]
    for words in (
        "rimless-wheel: reached_end at t = 3 s",
        "verdict: ",
        f"mean speed: {speed:.5g} m/s",
        "touchdown",
        "residual",
    ):
        assert words in said
    assert said.splitlines()[0] == repr(ff.summarise(run)).splitlines()[0]


def test_a_notebook_shows_the_plot_page(run, monkeypatch):
    assert '<img src="data:image/png;base64,iVBOR' in run._repr_html_()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "<img" not in run._repr_html_() and "mean speed" in run._repr_html_()
    with pytest.raises(ModuleNotFoundError, match=r"footfall\[plots\]"):
        run.plot()


def test_experiments_and_cycles_print_in_a_few_lines(wheel):
    said = repr(wheel)
    assert (
        said.count("\n") < 8
        and "leg spring" in said
        and "set: robot.leg.stiffness = 10000 N/m" in said
        and "Rimless wheel" in said
    )
    passive = ff.load("passive-wheel")
    cycle = ff.find_cycle(passive.system, passive.start, "touchdown")
    assert repr(cycle).startswith("stable gait of period 0.25") and repr(cycle).count("\n") < 8
    assert "spoke_rate = " in repr(cycle) and "0.6545" in repr(cycle)


# --- pictures -------------------------------------------------------------------------------------


def test_two_runs_over_each_other_say_what_differs(run, tmp_path):
    softer = ff.simulate(
        ff.load(
            "rimless-wheel", {"leg.stiffness": 9e3, "torso.pitch_setpoint": "35 deg"}, duration=2
        )
    )
    figure = ff.compare(run, softer, tmp_path / "two.png")
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [
        "leg.stiffness = 10000, sim.duration = 3",
        "leg.stiffness = 9000, sim.duration = 2",
    ]
    axes = next(
        a for a in figure.axes if a.get_title("left").startswith("Length of the stance spoke")
    )
    for line, one in zip(axes.lines, (run, softer), strict=True):
        drawn = line.get_ydata()
        assert np.array_equal(drawn[np.isfinite(drawn)], one["spoke_length"])
    assert matplotlib.image.imread(
        tmp_path / "two.png"
    ).std() > 0.05 and figure._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="no signal in common"):
        ff.compare(run, dataclasses.replace(run, columns={}))


def test_animate_refuses_what_is_no_gif(run, tmp_path):
    with pytest.raises(ValueError, match=r"\.gif"):
        run.animate(tmp_path / "walk.mp4")


def test_scenarios_are_listed_with_a_sentence_each():
    listed = ff.scenarios()
    assert set(listed) >= {"rimless-wheel", "urchin-walk"}
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in listed.values())
    assert len(repr(listed).splitlines()) == len(listed)
    assert (
        repr(listed)
        .splitlines()[list(listed).index("passive-wheel")]
        .endswith("a slope of 0.08 rad.")
    )


# --- a run comes back from its folder -------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("rimless-wheel", {"sim.duration": 3, "sim.settle": 1}),
        ("rimless-wheel-closed-loop", {"sim.duration": 2}),  # footfalls located between rows
        ("urchin-roll", {"sim.duration": 1}),  # MuJoCo
    ],
)
def test_a_run_read_back_is_the_run(name, settings, tmp_path):
    experiment = ff.load(name, settings)
    run = ff.simulate(experiment)
    back = ff.open_run(
        write_run(tmp_path / "back", run, ff.summarise(run).to_dict(), experiment.to_toml())
    )
    assert all(np.array_equal(run[name], back[name], equal_nan=True) for name in run.columns)
    for part in (
        "signals",
        "events",
        "ending",
        "ledger",
        "least_room",
        "travel",
        "scenario",
        "provenance",
        "verdict",
        "metrics",
    ):
        assert getattr(back, part) == getattr(run, part), part
    assert back.drawing.shapes == run.drawing.shapes and repr(back) == repr(run)


def test_metrics_of_a_run_read_back_are_those_in_its_summary(folder):
    written = json.loads((folder / "my-run" / "summary.json").read_text())
    again = ff.summarise(ff.open_run(folder / "my-run")).to_dict()
    assert again == {key: written[key] for key in again}


def test_opening_a_run_executes_no_code_and_says_that_there_is_no_drawing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call("new", "hopper")
    toml = next(tmp_path.rglob("*.toml"))
    call("run", toml, "--out", "own", "--duration", "1", "--no-plots")
    copy = next((tmp_path / "own").glob("*.py"))
    copy.write_text("raise SystemExit('executed')")
    run = ff.open_run("own")
    assert run.metrics == json.loads((tmp_path / "own" / "summary.json").read_text())["metrics"]
    with pytest.warns(UserWarning, match="no drawing: its robot is a Python file") as told:
        assert run.sketch == ()
    assert told[0].filename == __file__  # the line that looked at it, not one of ours
    # The push works at jumps, and is what the way is paid with: that of the last step, over which
    # metrics are taken.
    push, (before, last) = run["jump_work.push"], run.events_named("touchdown")[-2:]
    paid = push[last.row_before] - push[before.row_after]
    assert (
        run.metrics["steps"] == 1 and run.metrics["motor_work"] == pytest.approx(paid) and paid > 0
    )
    with warnings.catch_warnings(action="ignore"):
        assert run.plot(tmp_path / "page.png").axes


def test_what_is_left_of_a_run_that_was_killed_is_read(folder, tmp_path):
    """Pieces of rows in a hidden folder beside the one it was to become; the last one was being
    written.
    """
    rows = tmp_path / ".walk-k2j4h5g6" / "rows"
    rows.mkdir(parents=True)
    table = pq.read_table(folder / "my-run" / "trajectory.parquet")
    for i, first in enumerate((0, 150)):
        pq.write_table(table.slice(first, 150), rows / f"{i:05d}.parquet")
    (rows / "00002.part").write_bytes(b"PAR1")
    (rows.parent / "scenario.toml").write_bytes((folder / "my-run" / "scenario.toml").read_bytes())
    run, whole = ff.open_run(tmp_path / "walk"), ff.open_run(folder / "my-run")
    assert run.outcome is ff.Outcome.interrupted and np.array_equal(
        run["hub.x"], whole["hub.x"][:300]
    )
    assert (
        run.sketch == whole.sketch
        and run.provenance == whole.provenance
        and run.signals == whole.signals
    )
    assert (
        f"passive-wheel: interrupted at t = {whole.t[299]:.6g} s" in repr(run) and run.plot().axes
    )
    (rows / "00001.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(ScenarioError, match="cannot be read"):
        ff.open_run(tmp_path / "walk")
    for nothing, words in ((tmp_path / "nowhere", "no such folder"), (tmp_path, "no run in it")):
        with pytest.raises(ScenarioError, match=words):
            ff.open_run(nothing)


@pytest.mark.parametrize("page", ["library", "derivatives"])
def test_code_on_the_pages_about_the_library_runs(page, tmp_path, monkeypatch, capsys):
    text = (Path(__file__).parents[2] / "docs" / "how-to" / f"{page}.md").read_text()
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, {})
    if page == "library":
        assert (tmp_path / "wheel.gif").read_bytes().startswith(b"GIF8") and (
            tmp_path / "wheel.png"
        ).stat().st_size > 10_000
    said = capsys.readouterr().out
    assert (
        "verdict: sound" in said
        if page == "library"
        else "by terrain.angle: 2.84149 per rad" in said
    )


def test_the_ten_lines_of_the_readme_run(tmp_path, monkeypatch, capsys):
    text = (Path(__file__).parents[2] / "README.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(block, names)
    said = capsys.readouterr().out
    assert "verdict: sound" in said and abs(names["gait"].multipliers[0]) < 1
    assert {path.name for path in tmp_path.iterdir()} == {"walk.png", "both.png"}
    assert names["many"].mean_speed.shape == (3, 3)


# --- an experiment is asked -----------------------------------------------------------------------


def test_an_experiment_runs_is_checked_and_finds_its_gait():
    wheel = ff.load("passive-wheel", {"terrain.angle": "0.08 rad"}, duration=2)
    assert wheel.run().ending.t == ff.simulate(wheel).ending.t == 2.0
    assert wheel.check().ok
    # the rimless wheel's closed form: the multiplier is cos(2 pi/n)^2
    assert wheel.cycle("touchdown").multipliers[0].real == pytest.approx(
        np.cos(2 * np.pi / 10) ** 2, abs=1e-9
    )


def test_a_sweep_into_a_folder_is_kept_and_gone_on_with(tmp_path):
    wheel = ff.load("passive-wheel", duration=2)
    vary = {"terrain.angle": [0.08, 0.1]}
    kept = wheel.sweep(vary, folder=tmp_path / "study")
    here = wheel.sweep(vary)
    # The same kernel, the same steps.
    assert kept.to_pandas().mean_speed.tolist() == here.mean_speed.values.tolist()
    shard = next((tmp_path / "study").rglob("*.parquet"))
    written = shard.stat().st_mtime_ns
    wheel.sweep(vary, folder=tmp_path / "study")
    assert shard.stat().st_mtime_ns == written
    with pytest.raises(Exception, match="another sweep"):
        wheel.sweep({"terrain.angle": [0.08, 0.11]}, folder=tmp_path / "study")
    listed = wheel.sweep(designs={"terrain.angle": [0.09]}, folder=tmp_path / "listed")
    assert listed.to_pandas()["terrain.angle"].tolist() == [0.09]


def test_a_run_of_the_library_is_saved_as_the_command_line_saves_its_own(tmp_path):
    run = ff.load("passive-wheel", {"mass": 5.0}, duration=1).run()
    folder = run.save(tmp_path / "one")
    assert {
        "trajectory.parquet",
        "summary.json",
        "scenario.toml",
        "provenance.json",
        "plots.png",
    } <= {f.name for f in folder.iterdir()}
    again = ff.open_run(folder)
    assert np.array_equal(again["hub.x"], run["hub.x"]) and again.metrics == run.metrics
    assert ff.load(folder / "scenario.toml").run()["hub.x"].tolist() == run["hub.x"].tolist()
    with pytest.raises(Exception, match="exists already"):
        run.save(folder)
    with pytest.raises(ScenarioError, match="no scenario"):
        ff.simulate(ff.robots.passive_wheel(), plan=ff.SimPlan(duration=0.1)).save(
            tmp_path / "bare"
        )
