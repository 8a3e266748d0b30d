"""The command line from file to file, in processes of its own.

A process costs seconds, so each journey makes several claims, and commands that only answer share
one process."""

import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
import uuid

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from footfall.scenario.load import load
from support.commands import COMMAND, PATIENCE, environment, footfall, several

FILES = {"trajectory.parquet", "run.mcap", "summary.json", "scenario.toml", "provenance.json"}


def everything_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def suggested(text):
    """The commands under "Try next"."""
    return [line.strip() for line in text.partition("Try next")[2].splitlines() if line.strip()]


# --- run ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """`footfall run rimless-wheel --json`, once."""
    place = tmp_path_factory.mktemp("walked")
    return place, footfall(
        "run", "rimless-wheel", "--json", "--no-plots", "--out", "walk", cwd=place
    )


def test_run_json_prints_one_object_with_the_reference_gait(walked):
    _, answer = walked
    assert answer.status == 0, answer.err
    assert len(answer.out.splitlines()) == 1
    result = json.loads(answer.out)
    assert {"scenario", "outcome", "metrics", "ledger", "events"} <= set(result)
    assert result["scenario"] == "rimless-wheel"
    assert result["outcome"]["name"] == "reached_end"
    metrics = result["metrics"]
    # Reference page, section 8, set B; 1e-3 is its tolerance for an independent code.
    expected = {
        "mean_speed": 0.60849,
        "step_time": 0.26234,
        "step_length": 0.15963,
        "cost_of_transport": 0.08530,
        "mean_power": 3.5185,
    }
    assert {name: metrics[name] for name in expected} == pytest.approx(expected, rel=1e-3)
    assert metrics["motor_work"] / metrics["steps"] == pytest.approx(0.92306, rel=1e-3)
    assert result["ledger"]["relative_residual"] < 1e-9
    assert {event["name"] for event in result["events"]} == {"touchdown"}
    assert len(result["events"]) == result["outcome"]["jumps"] == pytest.approx(10 / 0.262, abs=2)
    # from the last footfall before the middle of the run; a step takes 0.262 s
    assert (
        4.7 < result["window"]["from"] <= 5.0
        and result["window"]["to"] <= 10.0
        and result["window"]["settled"]
    )


def test_run_writes_a_folder_that_reads_back_and_runs_again(walked):
    place, answer = walked
    folder = place / "walk"
    # And no plots.png.
    assert everything_below(place) == ["walk", *sorted(f"walk/{name}" for name in FILES)]
    result, kept = json.loads(answer.out), json.loads((folder / "summary.json").read_text())
    assert {key: kept[key] for key in result} == result
    table = pq.read_table(folder / "trajectory.parquet")
    assert table["t"][-1].as_py() == 10.0
    # 200 Hz, both ends, both sides of every jump.
    assert table.num_rows == 2001 + 2 * len(result["events"])
    source = json.loads((folder / "provenance.json").read_text())
    assert source["precision"] == "float64" and source["command"].startswith(
        "footfall run rimless-wheel --"
    )
    assert (
        load(folder / "scenario.toml").document
        == load("rimless-wheel").document
        == tomllib.loads((folder / "scenario.toml").read_text())
    )


def test_an_existing_folder_is_refused_then_forced_and_rocking_back_is_status_1(walked, tmp_path):
    """0.3 rad is too little for set B (reference page, speed against pitch).

    It stops. Written as 17.2 deg, to go through the door.
    """
    place = tmp_path
    folder = shutil.copytree(walked[0] / "walk", place / "walk")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    arguments = [
        "run",
        "rimless-wheel",
        "--json",
        "--no-plots",
        "--out",
        "walk",
        "--set",
        "torso.pitch_setpoint=17.2 deg",
        "--duration",
        "8 s",
    ]
    refused = footfall(*arguments, cwd=place)
    assert refused.status == 2
    assert "walk exists already" in refused.err and "--force" in refused.err
    assert refused.out == "" and "Traceback" not in refused.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    forced = footfall(*arguments, "--force", cwd=place)
    assert forced.status == 1, forced.err
    outcome = json.loads(forced.out)["outcome"]
    assert (outcome["name"], outcome["event"]) == ("rocked_back", "rock_back")
    assert 0 < outcome["t"] < 8.0
    assert outcome["state"]["spoke_rate"] > 0  # it was rolling back
    assert json.loads((folder / "summary.json").read_text())["outcome"] == outcome
    resolved = tomllib.loads((folder / "scenario.toml").read_text())
    assert resolved["robot"]["torso"]["pitch_setpoint"] == pytest.approx(
        np.radians(17.2), rel=1e-15
    )
    assert resolved["sim"]["duration"] == 8
    assert everything_below(place) == ["walk", *sorted(f"walk/{name}" for name in FILES)]


def test_run_for_people_prints_a_summary_draws_plots_and_an_animation_and_suggests_what_next(
    tmp_path,
):
    answer = footfall(
        "run", "passive-wheel", "--duration", "1.5 s", "--animate", "roll.gif", cwd=tmp_path
    )
    assert answer.status == 0, answer.err
    for words in (
        "Passive rimless wheel",
        "with: sim.duration = 1.5 s",
        "reached_end",
        "mean speed",
        "m/s",
        "Energy ledger",
        "residual",
        "events: ",
        "touchdown",
    ):
        assert words in answer.out
    ideas = suggested(answer.out)
    assert len(ideas) == 3
    for idea in ideas:  # each would work
        words = shlex.split(idea, comments=True)
        settings = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
        assert words[0] == "footfall" and load(words[2], settings)
    (folder,) = (tmp_path / "runs").iterdir()
    assert re.fullmatch(r"passive-wheel-\d{8}-\d{6}", folder.name)
    assert {path.name for path in folder.iterdir()} == FILES | {"plots.png"}
    assert f"runs/{folder.name}" in answer.err
    with Image.open(folder / "plots.png") as image:
        assert image.format == "PNG" and np.asarray(image.convert("L"), float).std() > 5
    with Image.open(tmp_path / "roll.gif") as image:
        assert image.format == "GIF" and image.n_frames == 30  # 20 a second
    paper, wrong = several(
        [["run", "passive-wheel", "--duration", "1", "--style", "paper", "--plots", "all", "--out", "paper"],
         ["run", "passive-wheel", "--plots", "some"]],
        tmp_path,
    )  # fmt: skip
    page = (tmp_path / "paper" / "plots.pdf").read_bytes()
    assert paper.status == 0 and "plots.pdf" in paper.err and page.startswith(b"%PDF")
    assert not (tmp_path / "paper" / "plots.png").exists()
    assert wrong.status == 2 and "'main', 'all'" in wrong.err
    shutil.rmtree(tmp_path / "paper")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["roll.gif", "runs"]


def test_bad_input_is_status_2_with_words_and_writes_nothing(tmp_path):
    (tmp_path / "binary.toml").write_bytes(b"\x89PNG\x00\xff" * 20)
    (tmp_path / "truncated.toml").write_text('[robot]\nkind = "rimless-wheel"\n[robot.leg')
    (tmp_path / "large.toml").write_text("# nothing\n" * 1_000_000)
    (tmp_path / "unknown.toml").write_text('[robot]\nkind = "rimless-wheel"\nwheel_mas = 1\n')
    (tmp_path / "a-file").write_text("")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
    (tmp_path / "own.toml").write_text('[robot]\nkind = "hopper"\n')
    run = ["run", "rimless-wheel", "--no-plots"]
    cases = {
        "there is no such file": ["run", "none.toml"],
        'Did you mean "rimless-wheel"?': ["run", "rimless-weel"],
        "not a text file": ["run", "binary.toml"],
        "not valid TOML": ["run", "truncated.toml"],
        "10.0 MB": ["run", "large.toml"],
        'Did you mean "wheel_mass"?': ["run", "unknown.toml"],
        "directory": ["run", "thesis"],
        "--set leg.stifness=1": [*run, "--set", "leg.stifness=1"],
        "but this needs kg": [*run, "--set", "wheel_mass=4 deg"],
        "must be > 0": [*run, "--set", "wheel_mass=-1"],
        ">= 3": [*run, "--set", "spokes=2"],
        "not a finite number": [*run, "--set", "wheel_mass=nan"],
        "below ground": [*run, "--set", "start.height=10 cm"],
        "time to simulate must be > 0": [*run, "--duration", "0"],
        "is not an option": [*run, "--set", "solver=rk5"],
        "give a constant `step`": [*run, "--set", "solver=euler"],
        "cannot be written to": [*run, "--out", "a-file/run"],
        "/proc/nothing": [*run, "--out", "/proc/nothing/run"],
        "not a run folder": [*run, "--out", "thesis", "--force"],
        "is a file, not a folder": [*run, "--out", "a-file", "--force"],
        "write it as a .gif file": [*run, "--out", "thesis/run", "--animate", "film.mp4"],
        "there is no folder": [*run, "--out", "thesis/run", "--animate", "films/a.gif"],
        "No such option": [*run, "--frobnicate"],
        "neither a scenario nor a file": ["show", "nothing"],
        "is not a robot": ["check", "own.toml"],
        "cannot be a robot's name": ["new", "3 wheels"],
        "exists already": ["new", "thesis"],
    }  # fmt: skip
    before = everything_below(tmp_path)
    # Nor does an impossible cache matter.
    answers = several(list(cases.values()), tmp_path, FOOTFALL_CACHE="/proc/nothing")
    for (words, arguments), answer in zip(cases.items(), answers, strict=True):
        assert answer.status == 2, f"{arguments}: {answer}"
        assert words in answer.err, f"{arguments}: {answer.err}"
        assert answer.out == ""
    assert everything_below(tmp_path) == before
    alone = footfall("run", "unknown.toml", cwd=tmp_path)  # the same in a process of its own
    assert (alone.status, alone.out) == (2, "") and "Traceback" not in alone.err
    assert alone.err.startswith("error: unknown.toml: [robot] ")
    assert everything_below(tmp_path) == before


def test_bad_input_does_not_leave_an_empty_runs_folder(tmp_path):
    (answer,) = several([["run", "rimless-wheel", "--animate", "film.mp4"]], tmp_path)
    assert answer.status == 2
    assert everything_below(tmp_path) == []


SAME_SECOND = """
import datetime, types
import footfall.cli.run as module
stopped = types.SimpleNamespace(now=lambda tz=None: datetime.datetime(2024, 1, 1, tzinfo=tz))
module.datetime, original = types.SimpleNamespace(datetime=stopped, UTC=datetime.UTC), module.simulate
def while_another_runs(*arguments, **more):
    module.simulate = original
    try:
        app(["run", "passive-wheel", "--no-plots", "--json", "--duration", "1"])
    except SystemExit as end:
        assert not end.code
    return original(*arguments, **more)
module.simulate = while_another_runs
"""


def test_two_runs_started_in_the_same_second_are_both_kept(tmp_path):
    (answer,) = several(
        [["run", "passive-wheel", "--no-plots", "--json", "--duration", "1"]],
        tmp_path,
        before=SAME_SECOND,
    )
    assert answer.status == 0, answer.err
    assert len(list((tmp_path / "runs").iterdir())) == 2


# --- list, show, check, new -----------------------------------------------------------------------


def test_list_show_and_check_answer(tmp_path):
    names = ("passive-wheel", "rimless-wheel", "rimless-wheel-stiff", "rimless-wheel-turning")
    listed, shown, changed, checked = several(
        [["list"], ["show", "rimless-wheel"], ["show", "rimless-wheel", "--set", "leg=stiffening", "--set", "pitch_setpoint=45 deg"],
         ["check", "passive-wheel"]],
        tmp_path,
    )  # fmt: skip
    assert (listed.status, shown.status, changed.status, checked.status) == (0, 0, 0, 0)
    assert all(name in listed.out for name in (*names, "slope", "stiffening", "dc-motor", "pid"))
    # Every key with value, unit and range, as the loader knows it.
    for line in (
        r"wheel_mass +2\.46 kg +.*> 0",
        r"stiffness +15000 N/m .*> 0",
        r"pitch_setpoint +0\.6 rad .*> -3\.2 and < 3\.2",
        r"spokes +10 .*>= 3",
    ):
        assert re.search(line, shown.out), line
    for table in (
        "[robot]",
        "[robot.leg]",
        "[robot.torso]",
        "[robot.motor]",
        "[controller]",
        "[terrain]",
        "[start]",
        "[sim]",
    ):
        assert table in shown.out
    # Other kinds, and what to look for.
    assert "(or: stiffening)" in shown.out and "0.6085 m/s" in shown.out
    assert "doubling_deflection" in changed.out and re.search(
        r"pitch_setpoint +0\.785398 rad", changed.out
    )
    assert "the scenario is valid" in checked.out and "RigidWheel keeps the contract" in checked.out
    assert "FAIL" not in checked.out and checked.out.count("ok  ") >= 12
    assert everything_below(tmp_path) == []


def test_show_gives_units_and_meanings_in_the_sim_table_too(tmp_path):
    (shown,) = several([["show", "rimless-wheel"]], tmp_path)
    assert re.search(r"duration +10 s\b", shown.out)


def test_new_writes_a_robot_that_checks_runs_and_tests(tmp_path):
    made, again, checked, ran = several(
        [["new", "my-robot"], ["new", "my-robot"], ["check", "my-robot/my_robot.toml"],
         ["run", "my-robot/my_robot.toml", "--no-plots", "--json", "--out", "hop"]],
        tmp_path,
    )  # fmt: skip
    assert made.status == 0
    assert everything_below(tmp_path / "my-robot") == [
        "my_robot.py",
        "my_robot.toml",
        "test_my_robot.py",
    ]
    assert suggested(made.out) == [
        "footfall check my-robot/my_robot.toml",
        "footfall run my-robot/my_robot.toml",
        "pytest my-robot   # pip install pytest, if it is missing",
    ]
    assert again.status == 2 and "exists already" in again.err
    assert checked.status == 0 and "MyRobot keeps the contract" in checked.out
    assert ran.status == 0, ran.err
    result = json.loads(ran.out)
    assert result["ledger"]["relative_residual"] < 1e-9
    # what the motor does at its jumps is what the hopper pays for: 1 kg, 9.81 m/s^2
    told = result["metrics"]
    assert told["cost_of_transport"] == pytest.approx(
        told["motor_work_per_step"] / (9.81 * told["step_length"]), rel=1e-12
    )
    assert told["motor_work_per_step"] > 0.5 * 2000 * 0.01**2  # of a spring stretched from no load
    program = [sys.executable, "-m", "pytest", "-q", "my-robot"]
    tested = subprocess.run(
        program, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    assert tested.returncode == 0, tested.stdout
    assert "3 passed" in tested.stdout


def test_new_begins_with_a_classic_that_runs_under_its_new_name(tmp_path):
    listed, made, wrong, ran = several(
        [["list"], ["new", "--from", "stick-slip", "my-block"],
         ["new", "--from", "stickslip", "other"],
         ["run", "my-block/my_block.toml", "--no-plots", "--json", "--out", "slid"]],
        tmp_path,
    )  # fmt: skip
    assert "stick-slip" in listed.out and "new --from NAME" in listed.out
    assert made.status == 0
    assert everything_below(tmp_path / "my-block") == [
        "my_block.py",
        "my_block.toml",
        "test_my_block.py",
    ]
    assert wrong.status == 2 and 'Did you mean "stick-slip"?' in wrong.err
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["ledger"]["relative_residual"] < 1e-8
    assert 'kind = "my_block.py:MyBlockRobot"' in (tmp_path / "my-block/my_block.toml").read_text()


def test_the_run_of_a_robot_of_ones_own_can_be_run_again_and_suggests_commands_that_work(tmp_path):
    _, ran, again = several(
        [
            ["new", "my-robot"],
            ["run", "my-robot/my_robot.toml", "--no-plots", "--duration", "1", "--out", "hop"],
            ["check", "hop/scenario.toml"],
        ],
        tmp_path,
    )
    assert ran.status == 0
    failures = [] if again.status == 0 else [again.err]
    failures += [
        a.err
        for a in several([["show", shlex.split(idea)[2]] for idea in suggested(ran.out)], tmp_path)
        if a.status
    ]
    assert not failures


def test_code_in_a_folder_that_came_from_elsewhere_runs_only_when_told(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    new = uuid.uuid4()  # code that ran here before would be known
    code = (
        "from footfall.machines.rimless_wheel.rigid_wheel import RigidWheel\nprint('their code"
        f" ran')  # {new}\n"
    )
    (theirs / "x.py").write_text(code)
    (theirs / "x.toml").write_text('[robot]\nkind = "x.py:RigidWheel"\n')
    refused, told, later = several(
        [["show", "theirs/x.toml", *more] for more in ([], ["--trust"], [])], tmp_path
    )
    assert (
        refused.status == 2
        and "--trust" in refused.err
        and "their code ran" not in refused.out + told.err + refused.err
    )
    assert told.status == later.status == 0 and "their code ran" in told.out


def test_new_can_be_given_a_name_that_the_template_uses_itself(tmp_path):
    made, checked = several([["new", "state"], ["check", "state/state.toml"]], tmp_path)
    assert made.status == 2 or checked.status == 0


# --- faults ---------------------------------------------------------------------------------------


def test_without_matplotlib_pictures_are_left_out_with_the_install_line_and_data_still_comes(
    tmp_path,
):
    """A picture asked for by name is an error; one drawn by default is left out."""
    install = 'pip install "footfall[plots]"'
    animated, plotted, plain, swept = several(
        [["run", "passive-wheel", "--no-plots", "--animate", "x.gif", "--out", "a"],
         ["run", "passive-wheel", "--json", "--duration", "1", "--out", "b"],
         ["run", "passive-wheel", "--no-plots", "--json", "--duration", "1", "--out", "c"],
         ["sweep", "passive-wheel", "--vary", "terrain.angle=0.1,0.12", "--duration", "1", "--step", "2 ms", "--json", "--out", "d"]],
        tmp_path,
        before='sys.modules["matplotlib"] = None',
    )  # fmt: skip
    assert animated.status == 2 and animated.out == "" and install in animated.err
    for answer in (plotted, plain):
        assert answer.status == 0, answer.err
        assert json.loads(answer.out)["outcome"]["name"] == "reached_end"
    assert "no plots.png: this needs matplotlib" in plotted.err and install in plotted.err
    assert "matplotlib" not in plain.err
    assert (
        swept.status == 0
        and "no picture: this needs matplotlib" in swept.err
        and swept.said["picture"] is None
    )
    assert {path.name for path in tmp_path.iterdir()} == {"b", "c", "d"}
    assert not list(tmp_path.rglob("*.png"))


def test_the_summary_is_out_before_plots_are_drawn_and_a_failure_to_write_leaves_nothing(tmp_path):
    """A plot page that cannot be written (disk full) comes after the printed summary, and takes the
    half-written folder with it.
    """
    full = (
        "import footfall.pictures.plot_page as page\n"
        "def fail(*a, **k): raise OSError(28, 'No space left on device')\n"
        "page.write_plot_page = fail"
    )
    (answer,) = several(
        [["run", "passive-wheel", "--duration", "1", "--out", "a"]], tmp_path, before=full
    )
    assert "Energy ledger" in answer.out and "reached_end" in answer.out
    assert answer.status == 2
    assert "a could not be written: No space left on device" in answer.err
    assert everything_below(tmp_path) == []


def test_a_very_long_run_shows_progress_and_ctrl_c_keeps_what_it_has(tmp_path):
    """On a terminal, as a person would: wait for the bar, interrupt, and read the folder."""
    terminal, end = pty.openpty()
    arguments = [
        "run",
        "rimless-wheel",
        "--duration",
        "1e6",
        "--json",
        "--no-plots",
        "--out",
        "long",
    ]
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=tmp_path,
        env=environment(TERM="xterm"),
        stdout=subprocess.PIPE,
        stderr=end,
        text=True,
    )
    os.close(end)
    shown = bytearray()

    def read(seconds):
        if select.select([terminal], [], [], seconds)[0]:
            try:
                shown.extend(os.read(terminal, 65536))
            except OSError:  # the other end is closed
                return False
        return True

    try:
        deadline = time.monotonic() + PATIENCE
        while (
            b"s of 1e+06 s" not in shown and time.monotonic() < deadline and process.poll() is None
        ):
            read(0.1)
        assert b"s of 1e+06 s" in shown, shown.decode(errors="replace")
        process.send_signal(signal.SIGINT)
        interrupted = time.monotonic()
        drain = threading.Thread(
            target=lambda: [None for _ in iter(lambda: read(0.1) and process.poll() is None, False)]
        )
        drain.start()
        out, _ = process.communicate(timeout=PATIENCE)
        took = time.monotonic() - interrupted
        drain.join()
    finally:
        if process.poll() is None:
            process.kill()
        os.close(terminal)
    # A chunk is a fraction of a second; the rest is writing, on a machine that may be busy.
    assert took < 15.0
    assert process.returncode == 130 and b"what was computed is kept (" in shown
    result = json.loads(out)
    assert result["outcome"]["name"] == "interrupted"
    reached = result["outcome"]["t"]
    assert 1.0 < reached < 1e6
    assert result["metrics"]["mean_speed"] == pytest.approx(0.60849, rel=1e-3)
    assert result["ledger"]["relative_residual"] < 1e-9
    table = pq.read_table(tmp_path / "long" / "trajectory.parquet")
    t = table["t"].to_numpy()
    assert np.all(np.diff(t) >= 0) and reached - 10.0 < t[-1] <= reached
    assert table.num_rows >= 2 * len(result["events"]) == 2 * result["outcome"]["jumps"]
    assert set(FILES) == {path.name for path in (tmp_path / "long").iterdir()}
    assert (
        json.loads((tmp_path / "long" / "summary.json").read_text())["outcome"]["name"]
        == "interrupted"
    )


# --- processes and caches -------------------------------------------------------------------------

COUNTED = """
import collections, json, sys
import jax.monitoring
counts = collections.Counter()
jax.monitoring.register_event_listener(lambda event, **more: counts.update([event]))
{does}
print(json.dumps(counts), file=sys.stderr)
"""
BY_COMMAND = """
from footfall.cli.main import app
try:
    app(["run", "passive-wheel", "--no-plots", "--json", "--set", sys.argv[2], "--out", sys.argv[1]])
except SystemExit as end:
    assert not end.code
"""
IN_PYTHON = """
import footfall as ff, pyarrow, pyarrow.parquet, pathlib
experiment = ff.load("passive-wheel", [sys.argv[2]])
run = ff.simulate(experiment.system, experiment.start, experiment.plan)
pathlib.Path(sys.argv[1]).mkdir()
table = pyarrow.table({"t": run.t, "j": run.j, **run.columns})
pyarrow.parquet.write_table(table, sys.argv[1] + "/trajectory.parquet")
"""


@pytest.mark.parametrize("solver, by_xla", [("dopri8", False), ("kvaerno3", True)])
def test_a_second_process_compiles_nothing_and_gives_the_same_bits(tmp_path, solver, by_xla):
    """By JAX's own counters, and by what the cache has of kernels.

    Every program the second process asks for comes from the first one's cache, in a command or in
    Python.
    """
    counts, kept, columns, cache = [], [], [], tmp_path / "cache"
    for folder, does in (("first", BY_COMMAND), ("second", BY_COMMAND), ("library", IN_PYTHON)):
        done = subprocess.run(
            [sys.executable, "-c", COUNTED.format(does=does), folder, f"sim.solver={solver}"],
            cwd=tmp_path,
            env=environment(FOOTFALL_CACHE=str(cache)),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        counted = json.loads(done.stderr.splitlines()[-1])
        counts.append(
            {
                name: counted.get(f"/jax/compilation_cache/{name}", 0)
                for name in ("cache_hits", "cache_misses", "compile_requests_use_cache")
            }
        )
        kept.append({path.name: path.stat().st_mtime_ns for path in cache.rglob("*.so")})
        table = pq.read_table(tmp_path / folder / "trajectory.parquet")
        columns.append({name: table[name].to_numpy() for name in table.column_names})
    first, *later = counts
    # The cache was empty, and the counters count.
    assert (first["cache_misses"] > 0, bool(kept[0])) == (by_xla, not by_xla)
    assert kept[0] == kept[1] == kept[2]
    for other in later:
        assert (other["cache_hits"] > 0) is by_xla
        assert other["cache_misses"] == 0
        assert other["cache_hits"] == other["compile_requests_use_cache"]
    assert columns[0].keys() == columns[1].keys() == columns[2].keys()
    for name, values in columns[0].items():
        for other in columns[1:]:
            assert values.tobytes() == other[name].tobytes(), name  # to the last bit


LIGHT = """
import json, sys
import footfall
from jax._src import xla_bridge
heavy = ("matplotlib", "mujoco", "viser", "dask", "distributed", "pandas", "xarray", "gymnasium", "serial", "scipy.integrate")
print(json.dumps({"loaded": [name for name in heavy if name in sys.modules], "backends": list(xla_bridge._backends)}))
"""


def test_importing_footfall_is_light_and_starts_no_device(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LIGHT],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"loaded": [], "backends": []}


def test_a_run_that_ends_at_its_start_says_so_and_suggests_another_start(tmp_path):
    settings = ("--set", "start.spoke_speed=1.5", "--set", "leg.damping=300")
    answer = footfall(
        "run", "rimless-wheel", *settings, "--no-plots", "--out", "pulled", cwd=tmp_path
    )
    assert answer.status == 1, answer.err
    said = " ".join(answer.out.split())
    # 300 N s/m times 1.5 m/s, the spring unstretched
    assert (
        "lifted_off at t = 0 s" in said
        and "the start itself leaves no room for it (-450 N)" in said
    )
    tried = suggested(answer.out)
    assert tried[0] == "footfall run rimless-wheel --set leg.damping=300   # the start of the file"
    assert not any("spoke_speed" in line for line in tried)
