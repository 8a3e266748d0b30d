"""What a person at a terminal sees: something at once, what goes on, and one manner of stopping."""

import json
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from footfall.cli.study import STUDIES, study_by_name
from support.commands import PATIENCE, environment, footfall, several
from support.terminal import on_terminal

#: A second is what nobody should wait for a sign of life; the rest is for a machine that has other
#: things to do.
SILENCE = 2.0
DATA = {"trajectory.parquet", "run.mcap", "summary.json", "scenario.toml", "provenance.json"}


def test_a_first_run_never_leaves_the_terminal_blank_and_says_what_it_does(tmp_path):
    """With an empty cache: everything is compiled. Before, 28 s went by without a word."""
    shown = on_terminal(
        "run", "passive-wheel", "--out", "a", cwd=tmp_path, FOOTFALL_CACHE=str(tmp_path / "cache")
    )
    assert shown.status == 0, shown.text
    assert shown.longest_silence < SILENCE
    phases = (
        "loading",
        "loading the robot",
        "compiling (first time",
        "simulating",
        "Energy ledger",
        "writing",
        " panels",
    )
    places = [shown.text.find(words) for words in phases]
    assert -1 not in places and places == sorted(places), dict(zip(phases, places, strict=True))


def test_ctrl_c_before_there_is_anything_says_so_and_leaves_nothing(tmp_path):
    """While JAX is imported, where an exception can get lost."""
    shown = on_terminal("run", "passive-wheel", "--out", "a", cwd=tmp_path, ctrl_c_on="loading")
    assert shown.status == 130
    assert "stopped: nothing was computed yet" in shown.text and "Traceback" not in shown.text
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_ends_a_process_that_is_inside_the_compiler_at_once(tmp_path):
    """The main thread hears no signal there, and compiling takes seconds."""
    cache = tmp_path / "cache"
    shown = on_terminal(
        "run",
        "passive-wheel",
        "--out",
        "a",
        cwd=tmp_path,
        ctrl_c_on="compiling (first",
        FOOTFALL_CACHE=str(cache),
    )
    assert shown.status == 130 and "stopped: nothing was computed yet" in shown.text
    assert shown.after_ctrl_c < 1.0
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


@pytest.mark.parametrize(
    ("moment", "more"),  # while it simulates: test_command_line.py
    [("writing", ["--no-plots"]), ("panels", []), ("frames", ["--animate", "a.gif"])],
)
def test_ctrl_c_keeps_what_was_computed_in_one_line_with_status_130(tmp_path, moment, more):
    shown = on_terminal("run", "passive-wheel", "--out", "a", *more, cwd=tmp_path, ctrl_c_on=moment)
    assert shown.status == 130, shown.text
    assert shown.text.count("stopped: what was computed is kept (") == 1
    assert "Traceback" not in shown.text and "Try next" not in shown.text
    assert {path.name for path in (tmp_path / "a").iterdir()} - {"plots.png"} == DATA
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]  # nothing half done beside it
    assert pq.read_table(tmp_path / "a" / "trajectory.parquet").num_rows > 100
    if moment == "panels":
        assert not (tmp_path / "a" / "plots.png").exists()


@pytest.mark.parametrize(
    ("verb", "moment"),
    [
        (["design", "two-leg-single-step", "--minimise", "t_end", "--out", "a"], "searching"),
        (["crossing", "centipede-gap", "--out", "a"], "loading"),
        (["compliance", "urchin-walk", "--out", "a"], "walking"),
        (["compare-integrators", "passive-wheel"], "compiled first"),
    ],
)
def test_other_verbs_stop_in_the_same_manner(tmp_path, verb, moment):
    shown = on_terminal(*verb, cwd=tmp_path, ctrl_c_on=moment)
    assert shown.status == 130, shown.text
    assert shown.text.count("stopped: nothing was") == 1 and "Traceback" not in shown.text
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_in_a_study_keeps_the_cases_that_were_answered(tmp_path):
    """In the second of two runs; the first is on disk, and the same command goes on with it."""
    study = ["compliance", "urchin-walk", "--stiffness", "3000", "--grounds", "1", "--no-plots"]
    study += ["--duration", "2", "--out", "a"]
    shown = on_terminal(*study, cwd=tmp_path, ctrl_c_on="1 of 2 runs")
    assert shown.status == 130, shown.text
    assert shown.text.count("stopped: what was computed is kept (1 of 2 runs") == 1
    assert "Traceback" not in shown.text and shown.after_ctrl_c < 30.0
    assert len((tmp_path / "a" / "answers.jsonl").read_text().splitlines()) == 1


def test_ctrl_c_is_taken_over_before_anything_of_weight_is_imported(tmp_path):
    """Typer, rich and pydantic take a quarter of a second, in which Ctrl-C was a stack trace."""
    program = [sys.executable, "-c", BEFORE]
    done = subprocess.run(
        program, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    assert {name for name in json.loads(done.stdout) if name.startswith("footfall")} == {
        "footfall",
        "footfall.__main__",
        "footfall.cli",
        "footfall.cli.stopping",
    }
    assert {"typer", "click", "rich", "pydantic", *HEAVY}.isdisjoint(json.loads(done.stdout))
    script = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"][
        "scripts"
    ]["footfall"]
    assert script == "footfall.__main__:main"


BEFORE = """
import json, sys
before = set(sys.modules)
import footfall.__main__
from footfall.cli import stopping
def watched():
    print(json.dumps(sorted(set(sys.modules) - before)))
    raise SystemExit
stopping.watch = watched
footfall.__main__.main()
"""
MANY = [
    "--vary",
    "leg.stiffness=8e3:4e4:200:log",
    "--vary",
    "torso.pitch_setpoint=0.4:1.2:200",
    "--out",
    "a",
]
STRESSED = {
    "run": ["run", "passive-wheel", "--out", "a"],
    "check": ["check", "water-runner"],
    "sweep": ["sweep", "rimless-wheel", *MANY],
}


def assert_stopped_or_done(shown, folder, done=0):
    """One line and 130, or all of it and its status; and of a folder that is there, all that makes
    it one.
    """
    assert "Traceback" not in shown.text and "Exception ignored" not in shown.text, shown.text
    assert (shown.status, shown.text.count("stopped:")) in {(130, 1), (done, 0)}, (
        shown.status,
        shown.text,
    )
    assert "error:" not in shown.text
    assert {path.name for path in folder.iterdir()} <= {"a"}
    if (folder / "a").exists():
        assert {p.name for p in (folder / "a").iterdir()} >= DATA or (
            folder / "a" / "sweep.json"
        ).exists()


@pytest.mark.parametrize(
    ("verb", "after"), [("run", 0.0), ("check", 2.5)]
)  # seconds since it was taken over
def test_ctrl_c_at_any_moment_is_one_line_and_130(tmp_path, verb, after):
    shown = on_terminal(*STRESSED[verb], cwd=tmp_path, ctrl_c_after=after)
    assert_stopped_or_done(shown, tmp_path)
    assert shown.status == 130 or after > 0


def test_what_is_still_written_after_ctrl_c_is_said_and_counted(tmp_path):
    """A long run takes its time to write, which looked as if Ctrl-C had not been heard."""
    shown = on_terminal(
        "run",
        "passive-wheel",
        "--duration",
        "10000",
        "--out",
        "a",
        cwd=tmp_path,
        ctrl_c_on=" jumps",
    )
    assert_stopped_or_done(shown, tmp_path)
    assert shown.status == 130
    assert re.search(r"stopping: writing [\d ]+ rows to a .* 0 of [\d ]+", shown.text), shown.text


@pytest.mark.slow
@pytest.mark.parametrize("verb", STRESSED)
def test_ctrl_c_at_many_moments_is_one_line_and_130(tmp_path, verb):
    """Where compiled code runs in threads of its own, some moments crashed one time in three."""
    whole = tmp_path / "whole"
    whole.mkdir()
    began = time.monotonic()
    done = on_terminal(*STRESSED[verb], cwd=whole).status  # a sweep with doubtful designs: 3
    assert done in (0, 3)  # and what it compiles is kept for the others
    span = min(time.monotonic() - began, 12.0)
    for i in range(15):
        folder = tmp_path / str(i)
        folder.mkdir()
        assert_stopped_or_done(
            on_terminal(*STRESSED[verb], cwd=folder, ctrl_c_after=span * i / 15), folder, done
        )


def test_folders_of_studies_are_no_part_of_the_repository():
    root = Path(__file__).parents[2]
    ignored = {line.strip("/") for line in (root / ".gitignore").read_text().splitlines()}
    places = {
        found
        for file in (root / "src/footfall/cli").glob("*.py")
        for found in re.findall(r'fresh_folder\("(\w+)"', file.read_text())
    } | {study_by_name(verb).place for verb in STUDIES}
    assert len(places) >= 6 and places <= ignored


# --- at once --------------------------------------------------------------------------------------

IMPORTED = """
import json, sys
from footfall.cli.main import app
try:
    app(sys.argv[1:])
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
HEAVY = {"jax", "jaxlib", "equinox", "diffrax", "numpy", "scipy", "pyarrow", "matplotlib", "mcap"}


@pytest.mark.parametrize("arguments", [["list"], ["--help"], ["--version"], ["run", "--help"]])
def test_what_needs_no_robot_imports_none(tmp_path, arguments):
    """By what is imported, not by the clock:

    JAX alone takes a second or more. (Typer itself brings pydantic.)
    """
    program = [sys.executable, "-c", IMPORTED, *arguments]
    done = subprocess.run(
        program, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    loaded = {name.partition(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}
    assert loaded & HEAVY == set()


def test_no_help_page_has_turned_a_letter_into_a_picture(tmp_path):
    """`KEY=A:B:log` was shown with an emoji for B."""
    verbs = [
        "run",
        "show",
        "check",
        "new",
        "list",
        "sweep",
        "design",
        "optimise",
        "crossing",
        "compliance",
        "bodies",
        "export",
        "compare-integrators",
    ]
    pages = several(
        [[verb, "--help"] for verb in verbs]
        + [["stack", verb, "--help"] for verb in ("run", "replay", "fit")],
        tmp_path,
    )
    for page in pages:
        assert page.status == 0
        assert all(ord(letter) < 0x2600 for letter in page.out), [
            c for c in page.out if ord(c) >= 0x2600
        ]


def test_list_has_parts_by_slot_and_robot_in_whole_sentences(tmp_path):
    answer = footfall("list", cwd=tmp_path)
    parts = answer.out.partition("Parts")[2]
    legs = parts.partition("[robot.leg]")[2].partition("\n[")[0].splitlines()
    wheels = next(i for i, line in enumerate(legs) if line.startswith("  in rimless-wheel,"))
    assert legs[wheels + 1].split()[0] == "spring" and legs[wheels + 2].split()[0] == "stiffening"
    assert "strut" in " ".join(
        legs[next(i for i, line in enumerate(legs) if line.strip() == "in passive-wheel") :]
    )
    words = " ".join(parts.split())
    # Two that take two lines of their docstring, and were cut after the first.
    assert "a straight line back under the body, pressed down a little." in words
    assert "from head to tail, with load feedback s_1, coupling s_2 and two reflexes." in words


ALARM = """
from footfall.cli.runtime import prepare
prepare()
import jax, jax.numpy as jnp
print(jax.jit(lambda: jax.lax.reduce_window(jnp.arange({size}.0), 0.0, jax.lax.add, (64,), (1,), "SAME").sum())())
"""


def test_alarms_of_the_compiler_do_not_reach_the_user(tmp_path):
    """XLA complains where it folds a constant for more than a second; this one takes about two."""
    program = [sys.executable, "-c", ALARM.format(size=20_000)]
    env = {
        name: value
        for name, value in environment(FOOTFALL_CACHE=str(tmp_path)).items()
        if name != "TF_CPP_MIN_LOG_LEVEL"
    }
    done = subprocess.run(
        program, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0 and done.stderr == ""
