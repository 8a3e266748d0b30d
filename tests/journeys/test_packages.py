"""Wheel and sdist, and what a new user does first with the wheel.

The clean environment has what footfall depends on, and footfall from the wheel: nothing of this
tree. Nothing is asked of an index.
"""

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from support.commands import PATIENCE

ROOT = Path(__file__).parents[2]
#: Folders of the tree -> where they are in the wheel.
INSIDE = {
    "src/footfall": "footfall",
    "scenarios": "footfall/scenarios",
    "firmware": "footfall/firmware",
}


class Packages(NamedTuple):
    wheel: Path
    sdist: Path


def hatchling(folder: Path, *arguments: str) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert made.returncode == 0, made.stderr


def names(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    hatchling(ROOT, "--directory", str(folder))
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Packages(wheel, sdist)


def test_the_wheel_has_every_file_of_the_package_scenarios_firmware_and_the_front_end(packages):
    tracked = subprocess.run(
        ["git", "ls-files", *INSIDE], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    wanted = {
        name.replace(here, there, 1)
        for name in tracked
        for here, there in INSIDE.items()
        if name.startswith(f"{here}/") and (ROOT / name).exists()
    }
    assert len(wanted) > 500
    inside = names(packages.wheel)
    assert not wanted - inside
    assert "footfall/pages/bundle/page.html" in inside, "make web builds the front end"
    assert not [name for name in inside if "__pycache__" in name or name.startswith("tests/")]


def test_the_sdist_makes_the_same_wheel(packages, tmp_path):
    with tarfile.open(packages.sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    hatchling(tree, "--target", "wheel", "--directory", str(tmp_path / "again"))
    (again,) = (tmp_path / "again").iterdir()
    assert names(again) == names(packages.wheel)


@pytest.fixture(scope="module")
def installed(packages, tmp_path_factory):
    """The command `footfall` of a clean environment, to be run in an empty folder."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder / "env", symlinks=True)
    python = folder / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(packages.wheel)], check=True)
    (site,) = (folder / "env" / "lib").glob("python*/site-packages")
    # A folder named in a .pth is looked into, but .pth files in it (of an editable footfall) are not
    # read; what is installed here comes first.
    known = [path for path in sys.path if path.endswith("site-packages")]
    (site / "dependencies.pth").write_text("\n".join(known))
    return folder


def answer(installed: Path, *arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.run(
        [str(installed / "env" / "bin" / "footfall"), *arguments],
        cwd=installed,
        env={**environment, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert said.returncode == 0, said.stderr
    return said.stdout


def test_from_the_wheel_it_lists_what_comes_with_it(installed):
    said = answer(installed, "list")
    for scenario in (ROOT / "scenarios").glob("*.toml"):
        assert scenario.stem in said
    assert "simplest-walker" in said


def test_from_the_wheel_the_doctor_finds_everything_in_the_clean_environment(installed):
    found = {
        finding["name"]: finding for finding in json.loads(answer(installed, "doctor", "--json"))
    }
    assert str(installed) in found["footfall"]["found"]
    assert found["front end of pages"]["state"] == "ok"
    assert "right numbers" in found["a kernel"]["found"]


def test_from_the_wheel_a_robot_runs_and_leaves_its_folder(installed):
    said = json.loads(
        answer(installed, "run", "passive-wheel", "--no-plots", "--json", "--out", "one")
    )
    # 0.08 rad: the closed form's speed
    assert said["metrics"]["mean_speed"] == pytest.approx(0.6389, abs=5e-5)
    assert {path.name for path in (installed / "one").iterdir()} >= {
        "trajectory.parquet",
        "run.mcap",
        "summary.json",
        "scenario.toml",
        "provenance.json",
    }


def test_from_the_wheel_the_firmware_is_found(installed):
    code = "from footfall.realtime.firmware_build import firmware_folder as f; print(f())"
    python = installed / "env" / "bin" / "python"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.run(
        [str(python), "-c", code], cwd=installed, env=environment, capture_output=True, text=True
    )
    assert str(installed) in said.stdout and Path(said.stdout.strip()).is_dir(), said.stderr
