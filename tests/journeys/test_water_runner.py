"""The water runner as a user meets it: the commands of its issue, from words to files. In this
process, which shares compiled programs with other tests; what only repeats them at length is
slow."""

import json
import math
import re

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from footfall.cli.main import app
from footfall.scenario.catalog import kind_of, kinds_for
from footfall.scenario.document import slot_path, slot_types
from footfall.scenario.load import load

FILES = {"trajectory.parquet", "run.mcap", "summary.json", "scenario.toml", "provenance.json"}


@pytest.fixture
def command(capsys, monkeypatch, tmp_path):
    """footfall ARGUMENTS in an empty folder: (status, out, err)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(line):
        capsys.readouterr()
        try:
            app(line.split())
        except SystemExit as end:
            status = end.code or 0
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def numbers_in(tree):
    """Every number of a JSON object."""
    if isinstance(tree, dict):
        return [n for value in tree.values() for n in numbers_in(value)]
    if isinstance(tree, list):
        return [n for value in tree for n in numbers_in(value)]
    return [tree] if isinstance(tree, float) else []


def columns_of(folder):
    table = pq.read_table(folder / "trajectory.parquet")
    return {name: table[name].to_numpy() for name in table.column_names}


def test_it_runs_on_water_and_leaves_a_folder_with_plots(command, tmp_path):
    status, out, err = command("run water-runner --duration 0.1 --json --out wet")
    assert status == 0, err
    result = json.loads(out)
    assert result["outcome"]["name"] == "reached_end" and all(
        map(math.isfinite, numbers_in(result))
    )
    # What the issue asks for at default tolerances.
    assert result["ledger"]["relative_residual"] < 1e-8
    assert {"drive", "pressure"} <= set(result["ledger"]["work"]) and "drag" in result["ledger"][
        "losses"
    ]
    assert {event["name"].partition(".")[0] for event in result["events"]} == {"touchdown", "lift"}
    assert {path.name for path in (tmp_path / "wet").iterdir()} == FILES | {"plots.png"}
    with Image.open(tmp_path / "wet" / "plots.png") as image:
        assert np.asarray(image.convert("L"), float).std() > 5
    columns = columns_of(tmp_path / "wet")
    assert all(np.all(np.isfinite(values)) for values in columns.values())
    assert columns["t"][-1] == 0.1 and columns["load.lift"].max() > 0.06 * 9.81
    for name in (
        "load.thrust",
        "body.pitch",
        "drive.torque",
        "front_left.wetted",
        "rear_right.foot.az",
        "front_right.rocker_pin.fx",
    ):
        assert np.ptp(columns[name]) > 0, name


def test_with_two_parts_swapped_it_runs_on_ground(command, tmp_path):
    """The same robot, its start height found: it hops at 8 Hz and may tip, which has a name."""
    status, out, err = command(
        "run water-runner --set foot=compliant --set terrain=flat --duration 0.3 --json --no-plots"
        " --out dry"
    )
    result = json.loads(out)
    assert status == (0 if result["outcome"]["name"] == "reached_end" else 1), err
    assert result["outcome"]["name"] in ("reached_end", "tipped_over", "fell")
    assert (
        all(map(math.isfinite, numbers_in(result))) and result["ledger"]["relative_residual"] < 1e-8
    )
    assert {"contact", "friction", "hinge"} <= set(result["ledger"]["losses"])
    assert any(event["name"].startswith("touchdown") for event in result["events"])
    columns = columns_of(tmp_path / "dry")
    tips = np.array(
        [
            columns[f"{leg}.tip.z"][0]
            for leg in ("front_left", "front_right", "rear_left", "rear_right")
        ]
    )
    assert tips.min() == pytest.approx(0.0, abs=1e-15)  # rounding of 5 cm
    assert np.ptp(columns["front_right.deflection"]) > 0.01


def test_show_lists_every_part_with_its_other_kinds(command):
    status, out, _ = command("show water-runner")
    assert status == 0 and "1.56 m/s" in out  # what to look for
    robot = load("water-runner").system
    for slot, slot_type in slot_types(type(robot)).items():
        assert f"[{'.'.join(slot_path(slot))}]" in out
        others = ", ".join(
            kind
            for kind in kinds_for(slot_type, type(robot))
            if kind != kind_of(getattr(robot, slot))
        )
        assert f"(or: {others})" in out or not others, slot
    for line in (
        r"radius +0\.02 m +.*> 0",
        r"frequency +8 Hz +.*> 0",
        r"folding +blended",
        r"density +1000 kg/m\^3",
    ):
        assert re.search(line, out), line


BAD = {
    "cannot turn fully": "run water-runner --set leg.crank=0.04",
    "singular": "run water-runner --set leg.crank=0.0335",
    "radius of the pad must be > 0": "run water-runner --set foot.radius=-0.02",
    "upside down": "run water-runner --set start.pitch=1.1",
    'foot.folding = "blended"': "run water-runner --set foot.folding=hard --set drive=crank-motor",
    "its rate must be zero": "run water-runner-biped --set start.pitch_rate=1",
    "below ground": "run water-runner-ground --set start.height=0.05",
    "under water": "run water-runner --set start.height=-0.05",
    "breakaway-pad, rigid-pad, compliant": "run water-runner --set foot=flipper",
    "design 1": "sweep water-runner --vary leg.crank=0.02:0.04:2 --duration 0.1",
    "foot.radius": "sweep water-runner --vary foot.radius=-0.01:0.02:2 --duration 0.1",
}


def test_bad_input_is_status_2_with_words_and_writes_nothing(command, tmp_path):
    for words, line in BAD.items():
        status, out, err = command(line)
        assert status == 2, f"{line}: {err}"
        assert words in err and "Traceback" not in err, f"{line}: {err}"
        assert out == "" and "nan" not in err
    assert list(tmp_path.iterdir()) == []


def sweep(command, tmp_path, scenario):
    line = (
        f"sweep {scenario} --vary drive.frequency=6:10:3 --vary foot.radius=0.015:0.025:2"
        " --duration 0.2 --json --out study"
    )
    status, out, err = command(line)
    assert status == 0, err
    said = json.loads(out)
    assert said["designs"] == 6 and sum(said["outcomes"].values()) == 6
    table = pq.read_table(tmp_path / "study" / "shards" / "part-000000.parquet").to_pandas()
    assert set(table["outcome"]) <= {"reached_end", "sank"}
    assert table["relative_residual"].max() < 1e-6  # the step is chosen for an error of 1e-5
    return table


def test_a_sweep_over_frequency_and_radius_works(command, tmp_path):
    table = sweep(command, tmp_path, "water-runner-biped")
    faster = (
        table.sort_values("drive.frequency")
        .groupby("foot.radius")["work_drive"]
        .apply(lambda v: np.all(np.diff(v) > 0))
    )
    assert faster.all()  # power grows with the cube of the crank's speed


@pytest.mark.slow
def test_a_sweep_of_the_quadruped_works(command, tmp_path):
    sweep(command, tmp_path, "water-runner")


@pytest.mark.slow
def test_the_contract_of_the_ground_runner_is_checked(command):
    status, out, _ = command("check water-runner-ground")
    assert (
        status == 0 and "the scenario is valid" in out and "FourBarRunner keeps the contract" in out
    )
    assert "FAIL" not in out and out.count("yes ") == 2  # and it fits both kernels


@pytest.mark.slow
def test_the_original_method_shows_what_it_does(command):
    """Adams-Bashforth at 10 us.

    Right as long as nothing touches; on the ground above its limit of 1.1 us, warned of and wrong.
    """
    line = (
        "run water-runner-ground --set sim.solver=adams-bashforth-4 --set sim.step=1e-5 --json"
        " --no-plots"
    )
    status, out, err = command(f"{line} --duration 0.02 --out short")
    falling = json.loads(out)
    assert status == 0 and "warning" not in err
    # Exact for a parabola: rounding.
    assert falling["outcome"]["state"]["y"] == pytest.approx(0.115 - 9.81 * 0.02**2 / 2, abs=1e-14)
    status, out, err = command(f"{line} --duration 0.1 --out long")
    assert (
        status == 3
        and "longest stable step of adams-bashforth-4" in err
        and "--set sim.step=1e-06" in err
    )
    touching = json.loads(out)
    assert [doubt["name"] for doubt in touching["verdict"]["doubts"]] == [
        "books_open",
        "step_unstable",
    ]
    assert all(map(math.isfinite, numbers_in(touching)))
    x = touching["outcome"]["state"]["x"]
    assert 1e-4 < abs(x - -0.00475214) < 1e-2  # reference page, section 10: bounded, but wrong
    assert touching["ledger"]["relative_residual"] > 1e-4  # and its books say so
