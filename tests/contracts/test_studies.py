"""Every study: cut after its first case it goes on where it stopped, and ends as if it had not been
cut.
"""

import csv
import json
import time

import pytest
import typer.main

import footfall.engines.analysis.compare as clocked
from footfall.cli.main import app
from footfall.cli.study import STUDIES, study_by_name
from footfall.hybrid.fields import describe
from footfall.sweep import subject

#: Verb -> the smallest question worth asking, and one that cannot be answered with its words.
TINY = {
    "compare-integrators": (
        ["passive-wheel", "--solvers", "rk4", "--duration", "0.02"],
        (["--duration", "-1"], "must be > 0"),
    ),
    "crossing": (
        ["centipede-gap", "--widths", "25 mm", "--arrivals", "1", "--duration", "0.02", "--step", "1e-4"],
        (["--spread", "3 kg"], "--spread 3 kg: "),
    ),
    "gait": (["passive-wheel"], (["--count", "0"], "--count 0: at least one")),
    "follow": (
        ["passive-wheel", "--vary", "terrain.angle=0.07:0.09", "--points", "3"],
        (["--points", "1"], "--points 1: at least 2"),
    ),
    "design": (
        ["passive-wheel", "--free", "leg.length", "--minimise", "step_time", "--starts", "2"],
        (["--starts", "0"], "--starts 0: at least one"),
    ),
    "compliance": (
        ["urchin-walk", "--stiffness", "3000", "--grounds", "1", "--duration", "0.05"],
        (["--height", "0"], "--height 0: above zero"),
    ),
    "basin": (
        ["passive-wheel", "--vary", "spoke_rate=-3:0", "--vary", "spoke_angle=0:0.3", "--resolution", "64", "--duration", "2"],
        (["--resolution", "1"], "--resolution 1: at least 4"),
    ),
    "robust": (
        ["passive-wheel", "--tolerance", "leg.length=5%", "--runs", "8", "--duration", "2"],
        (["--tolerance", "mass=200%"], "between 0 and 100 %"),
    ),
}  # fmt: skip


@pytest.fixture
def command(capsys, monkeypatch, tmp_path):
    """footfall ARGUMENTS in this process, in an empty folder: (status, out, err)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(subject, "LANES", 3)  # else the tiny batch is answered at once
    still = type("Clock", (), {"perf_counter": staticmethod(lambda: 0.0)})
    monkeypatch.setattr(clocked, "time", still)  # what was timed is not the same twice

    def run(*arguments):
        capsys.readouterr()
        try:
            app([str(a) for a in arguments])
        except SystemExit as end:
            status = end.code or 0
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_every_study_is_asked_here():
    assert set(TINY) == set(STUDIES)


@pytest.mark.parametrize("verb", [verb for verb in TINY if verb != "gait"])  # which has one case
def test_a_study_that_was_cut_goes_on_and_ends_as_if_it_had_not_been(
    command, monkeypatch, tmp_path, verb
):
    asked, done, cut = [verb, *TINY[verb][0], "--no-plots"], [], [True]
    kind = study_by_name(verb)
    answers = kind.answers

    def counted(self, places, before, progress):
        if done and cut:
            raise KeyboardInterrupt
        done.extend(places)
        return answers(self, places, before, progress)

    monkeypatch.setattr(kind, "answers", counted)
    status, _, err = command(*asked, "--out", "cut")
    cut.clear()
    assert status == 130, err
    first = len(done)
    assert err.count(f"stopped: what was computed is kept ({first} of ") == 1
    folder = tmp_path / "cut"
    assert sorted(p.name for p in folder.iterdir()) == [
        ".lock",
        "answers.jsonl",
        "request.json",
        "scenario.toml",
    ]
    with (folder / "answers.jsonl").open("a") as stream:
        stream.write('{"case": {"a kill left ')  # half a line
    status, out, err = command(*asked, "--out", "cut", "--json")
    assert status in (0, 3), err
    assert f"going on: {first} of " in err
    assert done == list(range(len(done))) and len(done) > first  # each case once
    said = json.loads(out)
    status, _, err = command(*asked, "--out", "whole")
    assert status in (0, 3), err
    whole = (tmp_path / "whole" / "results.json").read_bytes()
    assert (folder / "results.json").read_bytes() == whole
    results = json.loads(whole)
    assert {key: said[key] for key in results} == results and said["folder"] == "cut"
    assert results["study"] == verb and results["complete"]
    rows = results[kind.rows_key]
    assert all(row["verdict"] for row in rows)
    assert status == (0 if results["verdict"]["sound"] else 3)
    with (folder / f"{kind.file}.csv").open() as stream:
        assert [row["verdict"] for row in csv.DictReader(stream)] == [r["verdict"] for r in rows]
    assert not {".lock", "answers.jsonl"} & {p.name for p in folder.iterdir()}
    status, out, err = command(*asked, "--out", "whole")
    assert (status, out) == (2, "") and "whole exists already" in err


@pytest.mark.parametrize("verb", TINY)
def test_a_bad_request_is_one_clear_error_before_anything_is_computed(command, tmp_path, verb):
    asked, (bad, words) = TINY[verb]
    began = time.monotonic()
    status, out, err = command(verb, *asked, *bad, "--out", "a")
    assert (status, out) == (2, "") and err.startswith("error: ") and words in err, err
    assert time.monotonic() - began < 60 and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", TINY)
def test_what_a_study_can_be_asked_are_the_options_of_its_verb(verb):
    options = {p.name for p in typer.main.get_command(app).commands[verb].params}
    assert set(describe(study_by_name(verb).Request)) <= options
    assert {"out", "as_json", "plots", "force", "accept_doubt"} <= options
