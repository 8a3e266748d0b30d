"""Maps are true: what the pages and folders say is where, is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "footfall"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
STOPS = sorted(set(re.findall(r"`([\w/]+\.py)` `(\w+)`", PAGE)))


def test_the_walks_are_as_long_as_the_page_says():
    run, sweep = (part.count("\n| ") - 1 for part in PAGE.split("## The walk of ")[1:])
    assert (run, sweep) == (18, 21)
    assert "Eighteen stops;" in PAGE and "Twenty-one stops;" in PAGE


@pytest.mark.parametrize(("file", "name"), STOPS, ids=[f"{f}:{n}" for f, n in STOPS])
def test_every_stop_of_the_walks_is_where_the_page_says(file, name):
    defined = {
        node.name
        for node in ast.parse((SOURCE / file).read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert name in defined


ROBOTS = ["rimless_wheel", "water_runner", "two_leg", "centipede", "sea_urchin"]
KERNELS = SOURCE / "engines" / "kernels"
TARGETS = sorted(path.name for path in (KERNELS / "targets").iterdir() if path.is_dir())
GUIDED = [
    *(f"machines/{robot}" for robot in ROBOTS),
    "learning",
    "engines/kernels",
    *(f"engines/kernels/targets/{name}" for name in TARGETS if name != "__pycache__"),
]


@pytest.mark.parametrize("room", GUIDED)
def test_the_guide_of_a_folder_names_every_file_in_it(room):
    folder = SOURCE / room
    guide = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    named = set(re.findall(r"[a-z]\w*", guide))
    assert files <= named, f"not in the guide: {sorted(files - named)}"
    gone = set(re.findall(r"`(\w+)\.py`", guide)) - files
    assert not gone
