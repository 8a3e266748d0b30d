"""Every example runs as its first lines say, leaves its picture, and prints numbers that are
right.
"""

import contextlib
import functools
import io
import re
import runpy
import sys
from pathlib import Path

import matplotlib.image
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.name for path in EXAMPLES.glob("[a-z]*.py"))  #: studies
NUMBERED = sorted(path.name for path in EXAMPLES.glob("[0-9]*.py"))


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """name -> (what it printed with `--quick`, the folder it ran in). Each runs once."""

    @functools.cache
    def run(name: str) -> tuple[str, Path]:
        folder = tmp_path_factory.mktemp(Path(name).stem)
        said = io.StringIO()
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(said),
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setattr(sys, "argv", [name, "--quick"])
            runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return said.getvalue(), folder

    return run


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_listed_and_says_how_it_is_run(name):
    assert f"[{name}]({name})" in (EXAMPLES / "README.md").read_text()
    assert f"python examples/{name} --quick" in (EXAMPLES / name).read_text().split('"""')[1]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_and_leaves_a_picture(name, quick):
    said, folder = quick(name)
    assert "nan" not in said
    pictures = list(folder.glob("*.png"))
    assert [path.stem for path in pictures] == [Path(name).stem]
    picture = matplotlib.image.imread(pictures[0])
    assert min(picture.shape[:2]) > 800  # pixels
    assert picture[..., :3].std() > 0.05  # not an empty page


def test_lift_of_the_water_runner_is_that_of_the_physics_page(quick):
    said, _ = quick("water_runner_lift.py")
    # Section 10: one leg held at 50 mm, lift at 5, 8 and 10 Hz to 0.3 %. Section 9: four of them 76
    # g, 27 g/W, printed to the unit.
    row = re.search(r"^ +50 mm(.*)$", said, re.MULTILINE)
    assert row is not None, said
    cells = [
        tuple(map(float, cell))
        for cell in re.findall(r"([\d.]+) \( *([\d.]+), *([\d.]+)\)", row[1])
    ]
    lift, four, per_watt = zip(*cells, strict=True)
    assert lift == pytest.approx((0.0880, 0.1863, 0.2770), rel=3e-3)
    assert (four[1], per_watt[1]) == pytest.approx((76.0, 27.0), abs=0.5)
    # Section 10: the shipped robot, settled; 0.5 mm and 1 % are the page's tolerances.
    row = re.search(r"^ +8 Hz.*g/W +([\d.]+) mm +([\d.]+) m/s +[\d.]+ g/W$", said, re.MULTILINE)
    assert row is not None, said
    height, speed = map(float, row.groups())
    assert height == pytest.approx(22.7, abs=0.5)
    assert speed == pytest.approx(1.559, rel=0.01)
    assert "approached 80 g and exceeded 12 g/W" in said


# --- one thing each -------------------------------------------------------------------------------

#: What each prints, as far as another source knows it: closed forms, published numbers, the command
#: line.
SAYS = {
    "01_walk.py": r"verdict: sound",
    "02_swap_a_part.py": r"stiffening: 0\.6\d+ m/s, sound",
    "03_find_a_gait.py": r"0\.251503 s, multiplier 0\.654508497[\s\S]*closed form: 0\.654508497",
    "04_sweep.py": r"fastest: \d\.\d+ m/s at \d+ N/m",
    "05_derivative.py": (
        r"by terrain\.angle: 2\.84149 [\s\S]*terrain\.angle by differences: 2\.8414"
    ),
    # ln(10) m / c; (v0 - v) m / c
    "06_your_own_robot.py": r"kept: True\nbogged_down at t = 2\.30259 s[\s\S]*\n0\.900000 m far",
    "07_control_computer.py": r"0% lost: reached_end[\s\S]*30% lost",
    "08_climb_a_step.py": r"arrived at t = [\s\S]*verdict: doubtful",
}


def test_there_is_an_example_to_each_expectation():
    assert set(SAYS) == set(NUMBERED)


@pytest.mark.parametrize("name", NUMBERED)
def test_a_numbered_example_is_short_listed_and_says_what_is_true(
    name, tmp_path, monkeypatch, capsys
):
    text = (EXAMPLES / name).read_text()
    assert (
        len(text.splitlines()) <= 70 and f"[{name}]({name})" in (EXAMPLES / "README.md").read_text()
    )
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / name))
    said = capsys.readouterr().out
    assert re.search(SAYS[name], said), said
    drawn = [path.name for path in tmp_path.iterdir()]
    assert drawn == ([f"{Path(name).stem}.png"] if f"{Path(name).stem}.png" in text else [])
