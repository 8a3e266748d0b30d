"""`footfall design` of a motion plan: a front, scenarios that run as promised, a picture, words for
what cannot be; and its old name, `optimise`.
"""

import csv
import json

import numpy as np
import pytest
from PIL import Image

from support.commands import several

FREE = "gait.stride=79 mm:83 mm,gait.lift=4 mm:20 mm,*"
TWO = ["--minimise", "electrical_energy", "--minimise", "t_end"]
LIMITED = ["design", "two-leg-step", "--set", "torque_limit=0.5", *TWO, "--points", "3"]
COMMANDS = {
    "json": [*LIMITED, "--free", FREE, "--out", "best", "--json"],
    "again": [*LIMITED, "--free", FREE, "--out", "best"],
    "fastest": ["run", "best/best-t_end.toml", "--json", "--no-plots", "--out", "fast"],
    "old": [
        "optimise",
        "two-leg-step",
        "--set",
        "torque_limit=0.5",
        *["--range", "gait.stride=79 mm:79.5 mm", "--range", "gait.lift=4 mm:20 mm"],
        *["--points", "2", "--no-plots", "--out", "old"],
    ],
    "wheel": ["design", "rimless-wheel"],
    "one": [*LIMITED[:-1], "1"],
    "three": [*LIMITED, "--maximise", "energy"],
    "range": ["design", "two-leg-step", *TWO, "--free", "gait.lift=2 mm"],
    "knob": ["design", "two-leg-step", *TWO, "--free", "gait.lit=2 mm:3 mm"],
    "mass": ["design", "two-leg-step", *TWO, "--free", "link_mass"],
    "name": ["design", "two-leg-step", "--minimise", "t_ende"],
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("optimise")


@pytest.fixture(scope="module")
def answers(place):
    return dict(zip(COMMANDS, several(list(COMMANDS.values()), place), strict=True))


def test_the_front_is_printed_written_and_drawn(answers, place):
    assert answers["json"].status == 3, answers["json"].err
    said = answers["json"].said
    front = said["front"]
    # Over the edge of the step every gait tips unless its foot is clamped, even while held still.
    (doubt,) = said["verdict"]["doubts"]
    assert doubt["name"] == "tips_unless_held" and doubt["sentence"].startswith("3 of 3 designs: ")
    assert {row["verdict"] for row in front} == {"tips_unless_held"} and all(
        row["support_margin"] < 0 for row in front
    )
    assert said["objectives"] == ["electrical_energy", "t_end"] and len(front) == 3
    times = [row["t_end"] for row in front]
    assert times == sorted(times, reverse=True)
    assert times[-1] < 0.5 * said["before"]["t_end"]
    assert front[0]["energy"] < said["before"]["energy"]
    # Within what SLSQP stops at, but for the thriftiest, where the slope is next to nothing.
    assert all(row["off_optimum"] < 1e-3 for row in front[1:])
    with (place / "best" / "front.csv").open() as stream:
        table = list(csv.DictReader(stream))
    assert [float(row["energy"]) for row in table] == [row["energy"] for row in front]
    picture = np.asarray(Image.open(place / "best" / "front.png").convert("L"))
    assert picture.shape[1] > 1000 and picture.std() > 10  # not an empty page


def test_the_fastest_gait_runs_as_fast_as_it_says(answers):
    assert answers["fastest"].status == 3, answers["fastest"].err  # as doubtful as the front said
    said, row = answers["fastest"].said, answers["json"].said["front"][-1]
    assert said["outcome"]["name"] == "arrived"  # and not overloaded: the limit is in its scenario
    assert said["outcome"]["t"] == pytest.approx(row["t_end"], rel=1e-9)
    assert said["plan"]["energy"] == pytest.approx(row["energy"], rel=1e-9)


def test_the_old_name_asks_the_same_and_people_get_a_table(answers):
    out = answers["old"].out
    assert answers["old"].status == 3 and "doubtful: 2 of 2 designs: support margin" in out
    assert "deprecated" in answers["old"].err and "the scenario itself" in " ".join(out.split())
    assert "53.2" in out and "least lift" in " ".join(out.split())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("again", ["best", "--force"]),
        ("wheel", ["--free: name at least one key"]),
        ("one", ["--points 1", "at least 2"]),
        ("three", ["3 objectives", "two have a front"]),
        ("range", ["--free gait.lift=2 mm", "KEY=FROM:TO"]),
        ("knob", ["gait.lit", "gait.lift"]),
        ("mass", ['"link_mass" cannot be tuned', "gait.lift, gait.stride"]),
        ("name", ['"t_ende" is no figure here', 'Did you mean "t_end"']),
    ],
)
def test_what_cannot_be_is_said(answers, name, words):
    status, out, err = answers[name]
    assert status == 2 and out == "" and "Traceback" not in err
    assert all(word in err for word in words), err


def test_json_is_one_line(answers):
    assert json.loads(answers["json"].out)["scenario"] == "two-leg-step"
