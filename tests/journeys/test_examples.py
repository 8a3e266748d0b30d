"""Every example runs as its first lines say, and what it prints and draws is right."""

import re
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run_quick(name: str, folder: Path) -> str:
    """What the example prints with `--quick`, run in `folder`."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), "--quick"], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_is_listed_with_its_question_and_says_how_to_run_it(name):
    assert f"[{name}]({name})" in (EXAMPLES / "README.md").read_text()
    assert f"python examples/{name} --quick" in (EXAMPLES / name).read_text().split('"""')[1]


def test_lift_of_the_water_runner(tmp_path):
    said = run_quick("water_runner_lift.py", tmp_path)
    # Section 10 of the physics page, one leg held at 50 mm, at 5, 8 and 10 Hz: lift to 0.3 %; section 9: 76 g, 27 g/W.
    row = re.search(r"^ +50 mm(.*)$", said, re.MULTILINE)
    assert row is not None, said
    lift, four, per_watt = zip(
        *(map(float, cell) for cell in re.findall(r"([\d.]+) \( *([\d.]+), *([\d.]+)\)", row[1])), strict=True
    )
    assert lift == pytest.approx((0.0880, 0.1863, 0.2770), rel=3e-3)
    assert (four[1], per_watt[1]) == pytest.approx((76.0, 27.0), abs=0.5)  # printed to the unit
    # Whole robot: section 10's settled run of the shipped robot, within its tolerances (0.5 mm, 1 %).
    row = re.search(r"^ +8 Hz.*g/W +([\d.]+) mm +([\d.]+) m/s +([\d.]+) g/W$", said, re.MULTILINE)
    assert row is not None, said
    height, speed, _ = map(float, row.groups())
    assert height == pytest.approx(22.7, abs=0.5)
    assert speed == pytest.approx(1.559, rel=0.01)
    assert re.search(r"80 g and exceeded 12 g/W", said)
    picture = matplotlib.image.imread(tmp_path / "water_runner_lift.png")
    assert min(picture.shape[:2]) > 800  # pixels
    assert picture[..., :3].std() > 0.05  # something is drawn on it
