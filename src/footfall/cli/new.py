"""`footfall new`: a small robot of one's own that runs, and a test that checks it."""

import importlib.resources
import importlib.util
import keyword
import re
from pathlib import Path

from footfall.cli import stopping
from footfall.cli.screen import out
from footfall.record.run_folder import FolderError
from footfall.scenario.errors import ScenarioError
from footfall.scenario.trust import trust_folder

FILES = {
    "robot.py": "{module}.py",
    "scenario.toml": "{module}.toml",
    "test_robot.py": "test_{module}.py",
}


def new_robot(name: str) -> int:
    """Write <name>/ with robot, scenario and test; never over something that is there."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        raise ScenarioError(
            f'"{name}" cannot be a robot\'s name: letters, digits, - and _ only, a letter first.'
        )
    module = name.replace("-", "_").lower()
    names = {
        "name": name,
        "module": module,
        "Class": (
            "".join(word.capitalize() for word in module.removesuffix("_robot").split("_"))
            + "Robot"
        ),
    }
    folder = Path(name)
    if folder.exists():
        raise FolderError(f"{folder} exists already; nothing was written.")
    if keyword.iskeyword(module) or importlib.util.find_spec(module) is not None:
        raise ScenarioError(
            f'"{name}" is taken by Python or an installed package; a file {module}.py would'
            " hide it."
        )
    template = importlib.resources.files("footfall.cli") / "template"
    texts = {
        target.format(**names): _fill((template / f"{source}.txt").read_text(), names)
        for source, target in FILES.items()
    }
    stopping.hold()
    try:
        folder.mkdir(parents=True)
        for target, text in texts.items():
            (folder / target).write_text(text)
    except OSError as error:
        raise FolderError(f"{folder} could not be written: {error.strerror}.") from None
    trust_folder(folder)  # what was written here is known
    out.print(f"wrote {folder}/: {', '.join(texts)}\n\n[bold]Try next[/]")
    commands = (
        f"footfall check {folder}/{module}.toml",
        f"footfall run {folder}/{module}.toml",
        f"pytest {folder}   # pip install pytest, if it is missing",
    )
    for line in commands:
        out.print(f"  {line}", markup=False)
    return 0


def _fill(text: str, names: dict[str, str]) -> str:
    for key, value in names.items():
        text = text.replace(f"@{key}@", value)
    return text
