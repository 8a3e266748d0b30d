"""`footfall optimise`: a front, scenarios that run as promised, a picture, and words for what
cannot be.
"""

import csv
import json

import numpy as np
import pytest
from PIL import Image

from support.commands import several

SMALL = ["--range", "gait.stride=79 mm:83 mm", "--range", "gait.lift=4 mm:20 mm", "--points", "3"]
LIMITED = ["optimise", "two-leg-step", "--set", "torque_limit=0.5", *SMALL]
COMMANDS = {
    "json": [*LIMITED, "--out", "best", "--json"],
    "again": [*LIMITED, "--out", "best"],
    "fastest": ["run", "best/fastest.toml", "--json", "--no-plots", "--out", "fast"],
    "words": [
        "optimise",
        "two-leg-step",
        "--set",
        "torque_limit=0.5",
        *SMALL[:-1],
        "2",
        "--no-plots",
        "--out",
        "words",
    ],
    "weak": ["optimise", "two-leg-step", "--set", "torque_limit=0.2", *SMALL],
    "wheel": ["optimise", "rimless-wheel"],
    "one": ["optimise", "two-leg-step", "--points", "1"],
    "range": ["optimise", "two-leg-step", "--range", "gait.lift=2 mm"],
    "knob": ["optimise", "two-leg-step", "--range", "gait.lit=2 mm:3 mm"],
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
    assert doubt["name"] == "tips_unless_held" and doubt["sentence"].startswith("3 of 3 gaits: ")
    assert {row["verdict"] for row in front} == {"tips_unless_held"} and all(
        row["support_margin"] < 0 for row in front
    )
    assert said["torque_limit"] == 0.5 and len(front) == 3
    assert [row["t_end"] for row in front] == sorted(row["t_end"] for row in front)
    assert (
        front[0]["t_end"] < 0.5 * said["scenario_gait"]["t_end"]
        and front[-1]["energy"] < said["scenario_gait"]["energy"]
    )
    with (place / "best" / "front.csv").open() as stream:
        table = list(csv.DictReader(stream))
    assert [float(row["energy"]) for row in table] == [row["energy"] for row in front]
    picture = np.asarray(Image.open(place / "best" / "front.png").convert("L"))
    assert picture.shape[1] > 1000 and picture.std() > 10  # not an empty page


def test_the_fastest_gait_runs_as_fast_as_it_says(answers):
    assert answers["fastest"].status == 3, answers["fastest"].err  # as doubtful as the front said
    said, row = answers["fastest"].said, answers["json"].said["front"][0]
    assert said["outcome"]["name"] == "arrived"  # and not overloaded: the limit is in its scenario
    assert said["outcome"]["t"] == pytest.approx(row["t_end"], rel=1e-9)
    assert said["plan"]["energy"] == pytest.approx(row["energy"], rel=1e-9)


def test_people_get_a_table_with_the_scenarios_own_gait(answers):
    out = answers["words"].out
    assert answers["words"].status == 3 and "verdict: doubtful: 2 of 2 gaits: support margin" in out
    assert "torques up to 0.5 N m" in out and "(own gait)" in out
    assert "53.20" in out and "least lift" in out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("again", ["best", "--force"]),
        (
            "weak",
            [
                "no gait in these ranges can be walked with torques up to 0.2 N m",
                "raise what the motors can do",
            ],
        ),
        ("wheel", ["does not follow a plan", "two-leg-step"]),
        ("one", ["--points 1", "at least 2"]),
        ("range", ["--range gait.lift=2 mm", "2 mm:20 mm"]),
        ("knob", ['"gait.lit" cannot be tuned', 'Did you mean "gait.lift"']),
    ],
)
def test_what_cannot_be_is_said(answers, name, words):
    status, out, err = answers[name]
    assert status == 2 and out == "" and "Traceback" not in err
    assert all(word in err for word in words), err


def test_json_is_one_line(answers):
    assert json.loads(answers["json"].out)["scenario"] == "two-leg-step"
