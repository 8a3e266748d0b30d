"""`footfall sweep` and `rollout`, from the command to the files and back."""

import json
import math
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import pyarrow.parquet as pq
import pytest
from PIL import Image

import footfall as ff
from footfall.cli.main import app
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.pictures.sweep_heatmap import binned
from footfall.pictures.sweep_plots import sweep_title
from footfall.scenario import load as loading
from footfall.scenario.errors import ScenarioError
from footfall.sweep.batches import Variants, result_columns, run_designs
from footfall.sweep.begin_sweep import default_shard_size
from footfall.sweep.errors import SweepError
from footfall.sweep.read_back import digest_sweep

FAST = ("--step", "2 ms", "--duration", "4")
ANGLES, LENGTHS = 12, 5
GRID = (
    "--vary",
    f"terrain.angle=1 deg:8 deg:{ANGLES}",
    "--vary",
    f"leg.length=0.2:0.4:{LENGTHS}:log",
)


@pytest.fixture
def command(capsys, monkeypatch, tmp_path):
    """footfall ARGUMENTS in this process, in an empty folder: (status, out, err)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments):
        capsys.readouterr()
        try:
            app([str(a) for a in arguments])
        except SystemExit as end:
            status = end.code or 0
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


# --- the whole way --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A small sweep by the command in a process of its own, in shards of 25."""
    place = tmp_path_factory.mktemp("study")
    script = Path(sys.executable).with_name("footfall")
    program = [
        str(script),
        "sweep",
        "passive-wheel",
        *GRID,
        *FAST,
        "--shard-size",
        "25",
        "--out",
        "study",
        "--json",
    ]
    done = subprocess.run(
        program,
        cwd=place,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return place / "study", json.loads(done.stdout), done.stderr


def test_a_sweep_leaves_shards_checksums_manifest_scenario_summary_and_heat_map(study):
    folder, said, err = study
    names = sorted(p.name for p in folder.iterdir() if not p.name.startswith("."))
    assert names == [
        "checksums",
        "heatmap.png",
        "scenario.toml",
        "shards",
        "summary.json",
        "sweep.json",
    ]
    assert [p.name for p in sorted((folder / "shards").iterdir())] == [
        f"part-{i:06d}.parquet" for i in range(3)
    ]
    assert [pq.read_metadata(p).num_rows for p in sorted((folder / "shards").iterdir())] == [
        25,
        25,
        10,
    ]
    with Image.open(folder / "heatmap.png") as picture:
        assert min(picture.size) > 400
    assert "heatmap.png" in err and "study/shards" in err
    manifest = json.loads((folder / "sweep.json").read_text())
    assert manifest["plan"]["step"] == 0.002 and manifest["plan"]["precision"] == "float64"
    assert manifest["shard_size"] == 25 and {"footfall", "jax", "numpy"} <= set(
        manifest["versions"]
    )
    assert 'kind = "passive-wheel"' in manifest["scenario"]
    assert said["designs"] == 60 and sum(said["outcomes"].values()) == 60 and said["shards"] == 3
    assert json.loads((folder / "summary.json").read_text())["outcomes"] == said["outcomes"]


def test_checksums_are_those_that_sha256sum_makes(study):
    folder, _, _ = study
    checked = subprocess.run(
        ["sha256sum", "-c", "--quiet", *(str(p) for p in sorted((folder / "checksums").iterdir()))],
        cwd=folder / "shards",
    )
    assert checked.returncode == 0


def test_every_design_is_there_once_with_its_values_units_and_the_speed_of_a_single_run(study):
    folder, said, _ = study
    sweep = ff.open_sweep(folder)
    table = sweep.to_pandas()
    assert table["design"].tolist() == list(range(60))
    assert table["terrain.angle"].unique() == pytest.approx(np.radians(np.linspace(1, 8, ANGLES)))
    assert table["leg.length"][:LENGTHS].to_numpy() == pytest.approx(
        np.geomspace(0.2, 0.4, LENGTHS)
    )
    assert sweep.unit("terrain.angle") == "rad" and sweep.unit("mean_speed") == "m/s"
    rolled = table[table.outcome == "reached_end"]
    assert {"reached_end", "rocked_back"} == set(table.outcome)
    fastest = rolled.loc[rolled.mean_speed.idxmax()]
    assert (
        said["fastest"]["number"] == fastest.design
        and said["fastest"]["metric"] == fastest.mean_speed
    )
    assert (fastest["terrain.angle"], fastest["leg.length"]) == pytest.approx(
        (math.radians(8), 0.4)
    )
    alone = ff.load(
        "passive-wheel",
        [f"terrain.angle={fastest['terrain.angle']}", f"leg.length={fastest['leg.length']}"],
        duration=4,
    )
    run = ff.summarise(ff.simulate(alone.system, alone.start, alone.plan))
    # The windows may differ by one step, and after 2 s a transient of cos(36 deg)^(2 n), n about 12
    # steps, is left: 1e-3 or less.
    assert fastest.mean_speed == pytest.approx(run.metrics["mean_speed"], rel=1e-3)
    assert table.relative_residual.max() < 1e-6


def test_a_finished_sweep_resumes_to_nothing_and_another_metric_is_drawn(study, command):
    folder, _, _ = study
    before = {p.name: p.stat().st_mtime_ns for p in (folder / "shards").iterdir()}
    status, out, _ = command("sweep", "--resume", "--out", folder, "--metric", "step_time")
    assert status == 0 and "nothing was left to do" in out
    assert {p.name: p.stat().st_mtime_ns for p in (folder / "shards").iterdir()} == before
    status, _, err = command("sweep", "--resume", "--out", folder, "--metric", "step_tme")
    assert status == 2 and 'Did you mean "step_time"?' in err


def test_the_printed_summary_says_what_a_person_asks_first(command):
    status, out, err = command(
        "sweep", "passive-wheel", "--vary", "terrain.angle=1 deg:6 deg:9", *FAST, "--out", "one"
    )
    assert status == 0, err
    for words in (
        "9 designs of terrain.angle",
        "reached_end",
        "rocked_back",
        "fastest",
        "step 0.002 s (given)",
        "rk4, float64",
    ):
        assert words in out, words
    for words in (
        "path: ",
        "robots per second",
        " s in all",
        "largest relative residual",
        "footfall run one/scenario.toml --set terrain.angle=",
    ):
        assert words in out, words
    assert Path("one/curves.png").exists() and "one/curves.png" in err
    status, _, err = command("sweep", "--resume", "--out", "one", "--style", "paper")
    assert status == 0 and Path("one/curves.pdf").read_bytes().startswith(b"%PDF"), err


def test_what_to_try_next_is_the_best_design_with_the_settings_and_duration_of_the_sweep(command):
    Path("my study").mkdir()  # an empty folder may be used
    vary = ("--vary", "spokes=8,10", "--vary", "terrain.angle=0.08,0.1")
    status, out, err = command(
        "sweep",
        "passive-wheel",
        "--set",
        "leg.length=0.3",
        *vary,
        *FAST,
        "--out",
        "my study",
        "--no-plots",
    )
    assert status == 0, err
    line = next(line for line in out.splitlines() if line.strip().startswith("footfall run"))
    best = json.loads(Path("my study/summary.json").read_text())["fastest"]
    _, *arguments = shlex.split(line)
    status, out, err = command(*arguments, "--json", "--no-plots", "--out", "alone")
    assert status == 0, err
    run = json.loads(out)
    assert run["outcome"]["t"] == 4.0
    assert run["metrics"]["mean_speed"] == pytest.approx(best["metric"], rel=1e-3)


def test_one_design_is_counted_as_one(command):
    status, out, err = command(
        "sweep", "passive-wheel", "--vary", "terrain.angle=1 deg", *FAST, "--out", "one"
    )
    assert status == 0, err
    assert (
        "1 design of" in out
        and "1 robot simulated" in out
        and "Best designs" not in out
        and "Try next" not in out
    )


def test_two_sampled_keys_are_drawn_as_dots_and_nothing_is_drawn_of_nothing(command):
    vary = ("--vary", "terrain.angle=1 deg:8 deg", "--vary", "leg.length=0.2:0.4:log")
    status, _, err = command(
        "sweep", "passive-wheel", *vary, "--sample", "lhs:16", *FAST, "--out", "dots"
    )
    assert status == 0 and Path("dots/scatter.png").exists(), err
    vary = ("--vary", "terrain.angle=0.2 deg:0.5 deg:3", "--vary", "leg.length=0.2,0.3")
    status, _, err = command("sweep", "passive-wheel", *vary, *FAST, "--out", "fallen")
    assert status == 0 and "no design that reached the end has a mean speed; run longer" in err
    assert not list(Path("fallen").glob("*.png"))


def test_samples_of_several_structures_do_not_depend_on_how_they_are_cut_into_shards(command):
    vary = [
        "--vary",
        "terrain.angle=4 deg:8 deg",
        "--vary",
        "leg.length=0.2:0.3",
        "--vary",
        "on_liftoff=stop,report",
    ]
    arguments = ["sweep", "passive-wheel", *vary, "--sample", "sobol:32", "--seed", "3", *FAST]
    status, _, err = command(*arguments, "--out", "first", "--shard-size", "16")
    assert status == 0, err
    assert Path("first/designs.png").exists()
    table = ff.open_sweep("first").to_pandas()
    assert set(table.on_liftoff) == {"stop", "report"} and len(table) == 32
    # Every shard has the same columns, whatever structures it holds: plain readers need no help.
    assert len({tuple(pq.read_schema(p).names) for p in Path("first/shards").iterdir()}) == 1
    assert command(*arguments, "--out", "second", "--no-plots")[0] == 0
    assert not Path("second/designs.png").exists()
    assert_same(ff.open_sweep("first"), ff.open_sweep("second"))


def test_results_have_the_columns_of_all_structures_whichever_a_shard_holds():
    variants = Variants(ff.load("passive-wheel"), ())
    columns, plan = {"terrain.angle": np.array([0.08, 0.1])}, BatchPlan(duration=4.0, step=0.002)
    expected = {
        "least_of_another": "<f8",
        "ticks_of_another": "<i4",
        **result_columns(variants, columns, plan)[0],
    }
    results = run_designs(variants, columns, plan, expected=expected).columns
    assert {name: values.dtype.str for name, values in results.items()} == expected
    assert np.isnan(results["least_of_another"]).all() and results["ticks_of_another"].tolist() == [
        0,
        0,
    ]
    assert (
        results["outcome"].tolist() == ["reached_end"] * 2
        and results["verdict"].tolist() == ["sound"] * 2
    )


def test_designs_from_a_file_are_kept_in_the_sweep_and_need_the_file_no_more(command):
    Path("mine.csv").write_text("terrain.angle,leg.length\n3 deg,0.26\n0.1,0.3\n0.02,0.25\n")
    status, _, err = command(
        "sweep", "passive-wheel", "--designs", "mine.csv", *FAST, "--out", "listed", "--no-plots"
    )
    assert status == 0, err
    Path("mine.csv").unlink()
    for shard in Path("listed/shards").iterdir():
        shard.unlink()
    status, _, err = command("sweep", "--resume", "--out", "listed", "--metric", "mean_sped")
    assert (
        status == 2
        and 'Did you mean "mean_speed"?' in err
        and not list(Path("listed/shards").iterdir())
    )
    assert command("sweep", "--resume", "--out", "listed", "--no-plots")[0] == 0
    table = ff.open_sweep("listed").to_pandas()
    assert table["terrain.angle"].tolist() == [math.radians(3), 0.1, 0.02]
    assert table["outcome"].tolist() == ["reached_end", "reached_end", "rocked_back"]


def test_a_robot_of_ones_own_is_swept_with_its_file_kept(command):
    assert command("new", "hopper")[0] == 0
    status, out, err = command(
        "sweep",
        "hopper/hopper.toml",
        "--vary",
        "push=0.008:0.02:6",
        "--step",
        "1 ms",
        "--out",
        "mine",
        "--no-plots",
    )
    assert status == 0, err
    assert Path("mine/hopper.py").exists() and "fastest" in out
    Path("mine/hopper.py").write_text(Path("mine/hopper.py").read_text() + "\n# changed\n")
    status, _, err = command("sweep", "--resume", "--out", "mine", "--no-plots")
    assert status == 2 and "hopper.py has been changed" in err


# --- whether to believe it ------------------------------------------------------------------------


def test_doubtful_designs_are_counted_named_hatched_and_make_the_status_3_unless_accepted(command):
    """5 ms is above the limit of stability for a derivative of 20 N m s/rad, 0.9 ms; the same at 2
    of 4 designs.
    """
    vary = ("--vary", "controller.derivative=1,20", "--vary", "leg.damping=400,500")
    status, out, err = command(
        "sweep", "rimless-wheel", *vary, "--step", "5 ms", "--duration", "2", "--out", "d"
    )
    assert status == 3, err
    assert "Doubtful: 2 designs" in out and "step_unstable" in out and "; 2 doubtful" in out
    table = ff.open_sweep("d").to_pandas()
    assert ["step_unstable" in word.split(", ") for word in table.verdict] == [
        False,
        False,
        True,
        True,
    ]
    assert table.verdict[0] == "sound" and set(table.time_step) == {0.005}
    sweep = ff.open_sweep("d")
    axes = sweep.designs.axes
    assert binned(
        sweep, sweep.designs, axes, (2, 2), "t_end", ["reached_end"]
    ).doubtful.tolist() == [[False] * 2, [True] * 2]
    assert sweep_title("Wheel", 4, 2) == "Wheel: 4 designs, 2 of them DOUBTFUL (marked red)"
    status, out, _ = command(
        "sweep", "--resume", "--out", "d", "--accept-doubt", "--json", "--no-plots"
    )
    said = json.loads(out)
    assert (
        status == 0 and sum(said["doubtful"].values()) == 2 and said["doubts"]["step_unstable"] == 2
    )
    assert said["steps"] == [{"step": 0.005, "designs": 4}]


def test_outcomes_and_verdicts_are_words_in_the_parquet_and_stored_once_each(study):
    folder, _, _ = study
    file = folder / "shards" / "part-000000.parquet"
    assert pandas.read_parquet(file).outcome.isin(["reached_end", "rocked_back"]).all()
    chunks = pq.read_metadata(file).row_group(0)
    kept = {
        chunks.column(i).path_in_schema: chunks.column(i).encodings
        for i in range(chunks.num_columns)
    }
    assert all("RLE_DICTIONARY" in kept[name] for name in ("outcome", "verdict"))


def test_stiff_designs_have_steps_of_their_own_whatever_shard_they_are_in(command):
    arguments = (
        "sweep",
        "rimless-wheel",
        "--vary",
        "controller.derivative=1,5,20,2",
        "--duration",
        "2",
        "--no-plots",
    )
    status, out, err = command(*arguments, "--out", "whole")
    assert status == 0 and "have shorter steps" in out, err
    assert command(*arguments, "--out", "cut", "--shard-size", "1")[0] == 0
    whole, cut = ff.open_sweep("whole"), ff.open_sweep("cut")
    assert len(set(whole.columns(["time_step"])["time_step"].tolist())) > 1
    assert_same(whole, cut)
    lost = Path("cut/shards/part-000002.parquet")
    before = lost.read_bytes()
    lost.unlink()
    assert command("sweep", "--resume", "--out", "cut", "--no-plots")[0] == 0
    assert lost.read_bytes() == before


def test_a_folder_of_the_first_format_is_refused_with_how_to_read_it(study, tmp_path):
    folder = Path(shutil.copytree(study[0], tmp_path / "old"))
    said = json.loads((folder / "sweep.json").read_text())
    (folder / "sweep.json").write_text(json.dumps({**said, "format": 1}))
    with pytest.raises(SweepError, match="format 1; this one knows 2") as caught:
        ff.open_sweep(folder)
    assert "pandas.read_parquet" in str(caught.value) and "--force" in str(caught.value)


def test_a_sweep_loads_and_builds_its_scenario_once(command, monkeypatch):
    built = []
    real = loading.build
    monkeypatch.setattr(loading, "build", lambda *a, **k: built.append(1) or real(*a, **k))
    status, _, err = command(
        "sweep", "passive-wheel", "--vary", "terrain.angle=0.08,0.09,0.1", *FAST, "--out", "three"
    )
    assert status == 0 and len(built) == 1, err


# --- rollout --------------------------------------------------------------------------------------


def test_rollout_gives_one_dimension_per_key_with_units_and_named_outcomes():
    experiment = ff.load("passive-wheel")
    told = []
    angles = np.radians([1.5, 4.0, 6.0])
    data = ff.rollout(
        experiment,
        {"terrain.angle": angles, "leg.length": [0.2, 0.3]},
        duration=4.0,
        step=0.002,
        track=["foot.fz"],
        progress=told.append,
    )
    assert data.mean_speed.dims == ("terrain.angle", "leg.length") and data.mean_speed.shape == (
        3,
        2,
    )
    assert (
        data.mean_speed.units == "m/s"
        and data.mean_speed.long_name
        and data["terrain.angle"].units == "rad"
    )
    assert data.outcome[:, 0].values.tolist() == ["rocked_back", "reached_end", "reached_end"]
    good = data.isel({"terrain.angle": [1, 2]})
    assert (good["foot.fz_min"] <= good["foot.fz_mean"]).all() and (
        good["foot.fz_mean"] <= good["foot.fz_max"]
    ).all()
    assert (
        data.attrs["step"] == 0.002
        and data.attrs["path"]
        and data.attrs["scenario"] == "passive-wheel"
    )
    assert told[-1] == pytest.approx(1.0) and told == sorted(told)


def test_rollout_of_listed_designs_chooses_its_step_and_agrees_with_the_grid():
    experiment = ff.load("passive-wheel", duration=2.0)
    listed = ff.rollout(
        experiment, designs={"terrain.angle": [0.08, 0.1], "leg.length": [0.26, 0.3]}
    )
    assert listed.mean_speed.dims == ("design",) and 0 < listed.attrs["step"] <= 0.01
    grid = ff.rollout(
        experiment,
        {"terrain.angle": [0.08, 0.1], "leg.length": [0.26, 0.3]},
        step=listed.attrs["step"],
    )
    assert listed.mean_speed.values.tolist() == np.diag(grid.mean_speed.values).tolist()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "either `vary`"),
        ({"vary": {"terrain.angle": [0.1]}, "designs": {"terrain.angle": [0.1]}}, "either `vary`"),
        ({"vary": {"terrain.angle": ["steep"]}}, '"steep" is not a number in rad'),
        ({"vary": {"terrain.angle": [True]}}, "expected numbers in rad"),
        ({"vary": {"terrain.angle": [None]}}, "expected numbers in rad"),
        ({"vary": {"terrain.angle": ["2 kg"]}}, "is in kg"),
        ({"vary": {"terrain.angle": []}}, '"terrain.angle" is empty'),
        ({"vary": {"terrain.angle": [[0.1, 0.2]]}}, "a row of values"),
        ({"vary": {"terrain.angle": [[0.1], [0.1, 0.2]]}}, "a row of values"),
        ({"vary": {"terrain.angle": [0.1, math.inf]}}, "must be finite"),
        ({"vary": {}}, "vary is empty"),
        ({"designs": {}}, "designs is empty"),
        ({"designs": [0.1, 0.2]}, "designs is a dictionary"),
        ({"vary": "terrain.angle"}, "vary is a dictionary"),
        ({"vary": {0: [0.1]}}, "0 is not a key"),
        ({"vary": {"terrain.angle": [0.1]}, "step": "1 kg"}, "step: "),
        ({"vary": {"terrain.angle": [0.1]}, "step": [0.1]}, "step is a number of seconds"),
        ({"vary": {"terrain.angle": [0.1]}, "track": "foot.fz"}, "must be a tuple of names"),
        ({"vary": {"terrain.angel": [0.1]}}, 'Did you mean "terrain.angle"'),
        ({"vary": {"terrain.angle": [0.1]}, "track": ["foot.fy2"]}, "no output"),
        ({"vary": {"terrain.angle": [0.1]}, "step": -1.0}, "step = -1"),
        ({"vary": {"terrain.angle": [0.1]}, "step": 0.003, "duration": 1.0}, "does not divide"),
        ({"vary": {"terrain.angle": [0.1]}, "method": "rk5"}, 'Did you mean "rk4"'),
        (
            {"designs": {"terrain.angle": [0.1, 0.2], "leg.length": [0.2]}},
            "terrain.angle has 2, leg.length has 1",
        ),
    ],
)
def test_a_wrong_rollout_is_answered_in_words(arguments, said):
    with pytest.raises(ScenarioError) as caught:
        ff.rollout(ff.load("passive-wheel"), **arguments)
    assert said in str(caught.value) and "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("first", "said"), [("passive-wheel", 'ff.load("passive-wheel")'), (None, "not NoneType")]
)
def test_what_is_not_an_experiment_is_answered_with_how_to_get_one(first, said):
    with pytest.raises(ScenarioError) as caught:
        ff.rollout(first, {"terrain.angle": [0.1]})
    assert said in str(caught.value)


def test_rollout_takes_data_frames_and_units():
    experiment = ff.load("passive-wheel")
    plain = ff.rollout(
        experiment,
        designs={"terrain.angle": np.radians([4, 5]), "spokes": [8, 10]},
        step=0.002,
        duration=4.0,
    )
    frame = pandas.DataFrame({"terrain.angle": ["4 deg", "5 deg"], "spokes": [8.0, 10.0]})
    framed = ff.rollout(experiment, designs=frame, step="2 ms", duration="4 s")
    assert framed.mean_speed.values.tolist() == plain.mean_speed.values.tolist()
    assert framed.spokes.values.tolist() == [8, 10]
    assert (
        framed.mean_speed.long_name == "mean speed"
        and "settling time" in framed.mean_speed.description
    )
    assert "units" not in framed.cost_of_transport.attrs  # xarray would print []


def test_importing_footfall_imports_neither_xarray_nor_scipy_nor_dask_nor_matplotlib():
    heavy = ("xarray", "scipy", "distributed", "matplotlib", "pandas", "footfall.sweep")
    program = f"import sys, footfall; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() in ("[]", "['scipy']"), done.stderr  # JAX itself imports scipy


# --- what is asked wrongly ------------------------------------------------------------------------

VARY = ("--vary", "terrain.angle=0.05:0.1:3")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name the scenario"),
        (("passive-wheel",), "something to vary"),
        (("passive-weel", *VARY), 'Did you mean "passive-wheel"?'),
        (("passive-wheel", *VARY, "--seed", "1"), "--seed is for --sample"),
        (
            (
                "passive-wheel",
                "--vary",
                "terrain.angle=0.05:0.1",
                "--sample",
                "sobol:4",
                "--seed",
                "-1",
            ),
            "must be 0 or larger",
        ),
        (("passive-wheel", *VARY, "--designs", "x.csv"), "choose one"),
        (("passive-wheel", *VARY, "--metric", "outcome"), "a word, not a quantity"),
        (("passive-wheel", *VARY, "--metric", "mean_sped"), 'Did you mean "mean_speed"?'),
        (
            ("passive-wheel", *VARY, "--metric", "foot.fz_max"),
            "Add --track foot.fz, and take --metric foot.fz_max",
        ),
        (
            ("passive-wheel", *VARY, "--metric", "foot.fz", "--track", "foot.fz"),
            "Take one of foot.fz_mean, foot.fz_rms",
        ),
        (("passive-wheel", *VARY, "--resume"), "--resume needs the folder"),
        (("passive-wheel", *VARY, "--resume", "--force", "--out", "x"), "choose one"),
        (("passive-wheel", *VARY, "--resume", "--out", "nowhere"), "is not a sweep"),
        (
            ("passive-wheel", *VARY, "--workers", "2", "--scheduler", "tcp://127.0.0.1:1"),
            "choose one",
        ),
        (("passive-wheel", *VARY, "--workers", "0"), "--workers 0"),
        (("passive-wheel", *VARY, "--shard-size", "0"), "at least one design"),
        (("passive-wheel", *VARY, "--step", "2 kg"), "--step 2 kg"),
        (("passive-wheel", *VARY, "--step", "3 ms"), "does not divide the duration"),
        (("passive-wheel", *VARY, "--step", "-1"), "step = -1"),
        (("passive-wheel", *VARY, "--method", "rk5"), 'Did you mean "rk4"?'),
        (("passive-wheel", *VARY, "--precision", "float16"), "float32"),
        (("passive-wheel", *VARY, "--path", "cuda"), "gpu"),
        (("passive-wheel", *VARY, "--path", "gpu"), "JAX sees no GPU here"),
        (("passive-wheel", *VARY, "--track", "foot.fzz"), 'Did you mean "foot.fz"?'),
        (
            ("passive-wheel", "--vary", "start.spoke_angle=0.1:1.2:4", "--step", "2 ms"),
            "design 3 (start.spoke_angle = 1.2)",
        ),
        (("passive-wheel", "--vary", "spokes=10,12", "--step", "2 ms"), "spokes=12"),
        (("passive-wheel", "--vary", "spokes=6.5,7"), "6.5 must be a whole number"),
        (("passive-wheel", "--vary", "on_liftoff=stop,reprot"), 'Did you mean "report"?'),
        (("passive-wheel", "--vary", "terrain=flat,slop"), 'Did you mean "slope"?'),
    ],
)
def test_what_is_asked_wrongly_is_answered_before_anything_is_written(command, arguments, said):
    status, out, err = command("sweep", *arguments, "--no-plots")
    assert status == 2 and said in err, err
    assert "Traceback" not in err and not out
    assert list(Path().iterdir()) == []


def test_a_cpp_path_without_a_compiler_is_refused_and_auto_goes_another_way(command, monkeypatch):
    monkeypatch.setenv("FOOTFALL_CXX", "none")
    sweep = ("sweep", "passive-wheel", *VARY, "--step", "10 ms", "--duration", "1", "--no-plots")
    status, _, err = command(*sweep, "--path", "cpp")
    assert (
        status == 2
        and err.strip().count("\n") == 0
        and 'path "cpp": switched off by FOOTFALL_CXX' in err
    )
    with pytest.raises(ScenarioError, match="switched off"):
        ff.rollout(ff.load("passive-wheel"), {"terrain.angle": [0.1]}, path="cpp")
    # Of which no kernel has been compiled yet.
    status, out, err = command(*sweep, "--method", "rk2")
    assert status == 0 and "XLA" in out and "no C++ kernel: switched off" in out, err


def test_an_existing_folder_does_not_hide_what_else_is_wrong(command):
    Path("there").mkdir()
    Path("there/cat.jpg").touch()
    for wrong, said in (
        (("--metric", "mean_sped"), "mean_speed"),
        (("--step", "3 ms"), "does not divide"),
        ((), "not a sweep"),
    ):
        status, _, err = command("sweep", "passive-wheel", *VARY, "--out", "there", *wrong)
        assert status == 2 and said in err, err


def test_nothing_that_is_there_is_overwritten_unasked(command):
    sweep = ("sweep", "passive-wheel", *VARY, *FAST, "--no-plots")
    Path("photos").mkdir()
    Path("photos/cat.jpg").touch()
    for force in ((), ("--force",)):
        status, _, err = command(*sweep, "--out", "photos", *force)
        assert status == 2 and ("exists already" in err or "not a sweep" in err)
    assert command(*sweep, "--out", "study")[0] == 0
    status, _, err = command(*sweep, "--out", "study")
    assert status == 2 and "--resume" in err and "--force" in err
    assert (
        command(
            "sweep",
            "passive-wheel",
            "--vary",
            "terrain.angle=0.06,0.07",
            *FAST,
            "--no-plots",
            "--out",
            "study",
            "--force",
        )[0]
        == 0
    )
    assert digest_sweep(ff.open_sweep("study")).designs == 2
    assert Path("photos/cat.jpg").exists()


def test_default_shards_are_alike_and_give_every_worker_some():
    assert default_shard_size(40_000, "cpp") == 13_334
    assert default_shard_size(100, "cpp") == 100
    assert default_shard_size(40_000, "cpp", workers=2) == 5000
    assert default_shard_size(10_000_000, "gpu") == 1_000_000


def assert_same(one, other):
    a, b = one.columns(), other.columns()
    assert list(a) == list(b)
    for name in a:
        assert a[name].dtype == b[name].dtype, name
        assert (
            a[name].tobytes() == b[name].tobytes()
            if a[name].dtype.kind != "O"
            else a[name].tolist() == b[name].tolist()
        ), name


def test_the_sweep_of_the_readme_in_small_on_two_workers_agrees_with_single_runs(tmp_path):
    """The same command with fewer designs and seconds; Dask workers on loopback, started and
    stopped by it.
    """
    script = str(Path(sys.executable).with_name("footfall"))
    vary = ["--vary", "leg.stiffness=8e3:4e4:3:log", "--vary", "torso.pitch_setpoint=0.4:1.2:3"]
    program = [
        script,
        "sweep",
        "rimless-wheel",
        *vary,
        "--duration",
        "5",
        "--workers",
        "2",
        "--shard-size",
        "5",
        "--out",
        "study",
    ]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert (
        "2 workers" in done.stdout and (tmp_path / "study" / "heatmap.png").stat().st_size > 10_000
    )
    table = pandas.read_parquet(tmp_path / "study" / "shards").set_index("design")
    assert len(table) == 9 and {"reached_end", "rocked_back"} <= set(table.outcome)
    for design in (0, 4):  # rocks back; walks
        row = table.loc[design]
        keys = [f"{key}={row[key]!r}" for key in ("leg.stiffness", "torso.pitch_setpoint")]
        experiment = ff.load(
            "rimless-wheel",
            [text.replace("np.float64(", "").replace(")", "") for text in keys],
            duration=5,
        )
        run = ff.simulate(experiment.system, experiment.start, experiment.plan)
        assert row.outcome == run.outcome.name
        # The step was chosen for a state error of 1e-5.
        assert row.t_end == pytest.approx(run.ending.t, abs=1e-4)
        if run.outcome.name == "reached_end":
            assert row.mean_speed == pytest.approx(
                ff.summarise(run).metrics["mean_speed"], rel=1e-5
            )
