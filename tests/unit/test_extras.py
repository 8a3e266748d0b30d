"""What `pip install "footfall[...]"` offers is what footfall uses."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
# Tools; the others together; JAX for another machine.
OURS = [name for name in EXTRAS if name not in ("dev", "docs", "all", "gpu")]
SOURCE = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))


@pytest.mark.parametrize("extra", OURS)
def test_an_extra_installs_what_footfall_imports(extra):
    modules = [
        re.split(r"[<>=\[; ]", requirement)[0].replace("-", "_") for requirement in EXTRAS[extra]
    ]
    assert modules
    for module in modules:
        # import module, from module import, import_module("module"), find_spec, _extra
        assert re.search(
            rf'\b(import|from) {module}\b|(import_module|find_spec|_extra)\("{module}"', SOURCE
        ), module


def test_all_is_all():
    (line,) = EXTRAS["all"]
    assert line == f"footfall[{','.join(OURS)}]"


def test_every_extra_that_is_told_to_users_exists():
    told = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", *(ROOT / "src").rglob("*.py")]
    named = {
        name
        for path in told
        for found in re.findall(r"footfall\[([a-z,]+)\]", path.read_text())
        for name in found.split(",")
    }
    assert named and named <= set(EXTRAS)
