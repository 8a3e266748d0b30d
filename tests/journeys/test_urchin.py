"""The whole sea urchin from the command line.

Walk, turn, roll, picture, MJCF, compliance. The commands share one process.
"""

import csv
import json

import numpy as np
import pytest

from support.commands import several

SHORT = ["--duration", "5", "--set", "gait.stance_time=1"]
QUIET = ["--json", "--no-plots"]
#: At 1 ms its contacts give 15 mJ, which is doubtful; at 0.5 ms they take.
WAVE = ["--set", "gait.pattern=wave", "--set", "gait.heading=90 deg", "--set", "sim.step=0.5 ms"]
STUDY = ["compliance", "urchin-walk", "--stiffness", "300,3000", "--grounds", "1", *SHORT]
COMMANDS = {
    "walk": ["run", "urchin-walk", *SHORT, "--out", "walk"],
    "wave": ["run", "urchin-walk", *WAVE, *SHORT, *QUIET, "--out", "wave"],
    "soft": ["run", "urchin-walk", "--set", "controller=stiffness", "--set", "controller.stiffness_y=300", *SHORT, *QUIET, "--out", "soft"],
    "turn": ["run", "urchin-turn", *SHORT, *QUIET, "--out", "turn"],
    "roll": ["run", "urchin-roll", "--set", "program=roll 2", "--duration", "4.5", "--no-plots", "--out", "roll"],
    "weak": ["run", "urchin-roll", "--set", "roll.force=3", "--set", "program=roll 1", "--duration", "9", "--no-plots", "--out", "weak"],
    "bodies": ["bodies", "urchin-walk", "--picture", "robot.png", "--mjcf", "robot.xml", "--at", "0.1 s"],
    "study": [*STUDY, "--out", "study"],
    "show": ["show", "urchin-roll"],
    "check": ["check", "urchin-turn"],
    "no sweep": ["sweep", "urchin-walk", "--vary", "friction=0.2:1:3", "--out", "x0"],
    "no comparison": ["compare-integrators", "urchin-walk", "--no-plots"],
    "no bodies": ["bodies", "rimless-wheel"],
    "no study": ["compliance", "urchin-roll", "--out", "x1"],
    "no wheel": ["compliance", "rimless-wheel", "--out", "x2"],
    "no stiffness": ["compliance", "urchin-walk", "--stiffness", "100,-5", "--out", "x3"],
    "no folder": ["bodies", "urchin-walk", "--mjcf", "nowhere/robot.xml"],
    "bad program": ["run", "urchin-walk", "--set", "program=walk; roll 2", "--out", "x4"],
    "bad reach": ["run", "urchin-walk", "--set", "foothold_x=20 cm", "--out", "x5"],
    "too little support": ["run", "urchin-walk", "--set", "gait.swing_time=10", "--out", "x6"],
}  # fmt: skip


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    place = tmp_path_factory.mktemp("urchin")
    return place, dict(zip(COMMANDS, several(list(COMMANDS.values()), place), strict=True))


def test_every_command_ends_as_it_should(answers):
    _, said = answers
    for name, answer in said.items():
        expected = 2 if name.startswith(("no ", "bad ", "too ")) else 0
        assert answer.status == expected, (name, answer.out, answer.err)


def test_walking_prints_speed_ledger_tracking_and_writes_its_folder(answers):
    place, said = answers
    text = said["walk"].out
    for words in (
        "mean speed",
        "lost in: contact",
        "rms error of the bottom spikes",
        "3 feet stand at least",
        "steps of 0.001 s by MuJoCo",
    ):
        assert words in text
    assert "books do not close" not in text
    folder = place / "walk"
    assert {
        "trajectory.parquet",
        "run.mcap",
        "summary.json",
        "scenario.toml",
        "provenance.json",
        "plots.png",
    } <= {f.name for f in folder.iterdir()}
    assert json.loads((folder / "provenance.json").read_text())["engine"] == "mujoco"
    metrics = json.loads((folder / "summary.json").read_text())["metrics"]
    assert metrics["mean_speed"] == pytest.approx(0.0309, rel=0.03)
    assert metrics["step_time"] == pytest.approx(2.0, rel=0.01)


def test_pattern_heading_and_controller_are_words(answers):
    _, said = answers
    assert said["wave"].said["metrics"]["mean_speed"] == pytest.approx(0.03, rel=0.1)
    assert said["wave"].said["outcome"]["name"] == "reached_end"
    assert "403 N/m" in said["soft"].err
    assert said["turn"].said["metrics"]["yaw_rate"] == pytest.approx(
        np.radians(31.76) / 2.0, rel=0.05
    )


def test_rolling_tells_its_sides_and_when_it_is_stuck(answers):
    _, said = answers
    assert "2 sides of 60 deg with 2 kicks" in said["roll"].out
    assert (
        "it got stuck" in said["weak"].out and "0 sides of 60 deg with 4 kicks" in said["weak"].out
    )


def test_the_robot_as_a_picture_and_as_a_file(answers):
    place, said = answers
    assert "37 bodies, 42 degrees of freedom, 36 motors, 1.232 kg" in said["bodies"].out
    assert (
        "rendered by MuJoCo" in said["bodies"].err or "drawn from its sketch" in said["bodies"].err
    )
    assert (place / "robot.png").stat().st_size > 5_000
    assert "<mujoco" in (place / "robot.xml").read_text()


def test_soft_feet_track_worse_and_the_study_says_by_how_much(answers):
    place, said = answers
    with (place / "study" / "compliance.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 and {row["ground"] for row in rows} == {"level", "bumps, seed 0"}
    assert (place / "study" / "compliance.png").stat().st_size > 20_000
    found = json.loads((place / "study" / "compliance.json").read_text())
    soft, stiff = found["level"]["foot_error"]
    assert soft > 5.0 * stiff
    assert found["least_stiffness"] == pytest.approx(403.0, abs=0.5)
    assert "* below W/(3 lift) = 403 N/m" in said["study"].out


def test_bad_input_is_answered_with_what_to_do(answers):
    _, said = answers
    expected = {
        "no sweep": "stepped by MuJoCo",
        "no comparison": "stepped by MuJoCo",
        "no bodies": "Try urchin-walk",
        "no study": "Try urchin-walk",
        "no wheel": "Try urchin-walk",
        "no stiffness": "above zero",
        "no folder": "a folder that exists",
        "bad program": 'put "lie" before it',
        "bad reach": "out of reach",
        "too little support": "swing_time must be at most",
    }
    for name, words in expected.items():
        assert words in " ".join(said[name].err.split()), (name, said[name].err)
