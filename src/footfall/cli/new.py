"""`footfall new`: a small robot of one's own that runs, and a test that checks it."""

import importlib.resources
import importlib.util
import keyword
import re
import tomllib
from pathlib import Path

from footfall.cli import stopping
from footfall.cli.screen import out
from footfall.hybrid.fields import nearest
from footfall.record.run_folder import FolderError
from footfall.scenario.errors import ScenarioError
from footfall.scenario.files import classics
from footfall.scenario.trust import trust_folder

#: What is written: robot, scenario and test.
TARGETS = ("{module}.py", "{module}.toml", "test_{module}.py")


def new_robot(name: str, classic: str | None = None) -> int:
    """Write <name>/ with robot, scenario and test; never over something that is there.

    The robot is a hopper, or a `classic` of the zoo.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        raise ScenarioError(
            f'"{name}" cannot be a robot\'s name: letters, digits, - and _ only, a letter first.'
        )
    if classic is not None and classic not in classics():
        raise ScenarioError(
            f'There is no classic "{classic}". Known: {", ".join(classics())}.'
            f"{nearest(classic, classics())}"
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
    given = _hopper(names) if classic is None else _classic(classic, names)
    texts = {target.format(**names): text for target, text in zip(TARGETS, given, strict=True)}
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


def _template(name: str) -> str:
    return (importlib.resources.files("footfall.cli") / "template" / f"{name}.txt").read_text()


def _hopper(names: dict[str, str]) -> list[str]:
    files = ("robot.py", "scenario.toml", "test_robot.py")
    return [_fill(_template(file), names) for file in files]


def _classic(classic: str, names: dict[str, str]) -> list[str]:
    """The classic's own files under the new names."""
    path = classics()[classic]
    scenario = path.with_suffix(".toml").read_text()
    old, own = tomllib.loads(scenario)["title"], path.read_text()
    known = "".join(word.capitalize() for word in path.stem.split("_"))
    return [
        re.sub(rf"\b{known}\b", names["Class"], own),
        scenario.replace(f'title = "{old}"', f'title = "{names["name"]}"').replace(
            f"{path.name}:{known}", f"{names['module']}.py:{names['Class']}"
        ),
        _fill(_template("test_classic.py"), {**names, "classic": classic}),
    ]


def _fill(text: str, names: dict[str, str]) -> str:
    for key, value in names.items():
        text = text.replace(f"@{key}@", value)
    return text
