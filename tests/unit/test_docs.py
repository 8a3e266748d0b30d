"""What pages say exists: files, commands with their options, tests, every public name."""

import re
import shlex
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest
import typer
from packaging.requirements import Requirement

import footfall as ff
from footfall import authoring
from footfall.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in sorted(
        [*ROOT.glob("*.md"), ROOT / "examples" / "README.md", *(ROOT / "docs").rglob("*.md")]
    )
}
#: Without fenced blocks, in which brackets are not links.
PROSE = {page: re.sub(r"^ *```.*?^ *```", "", t, flags=re.S | re.M) for page, t in PAGES.items()}
COMMANDS = sorted(
    {
        line.partition("#")[0].strip()
        for page, text in PAGES.items()
        if page != "CHANGELOG.md"
        for line in re.findall(r"^ {4}(footfall [a-z].*)$", text, re.M)
    }
)


#: Hosts that pages lead to; add one when you have opened it in a browser.
HOSTS = {"distributed.dask.org", "doi.org", "gymnasium.farama.org", "jobqueue.dask.org"}


def test_links_to_other_hosts_are_written_as_links_that_someone_has_opened():
    """There is no network here: a link is held to its form and to hosts that are known."""
    found = {
        (page, link)
        for page, text in PROSE.items()
        for link in re.findall(r"\]\(([a-z]+:[^\s]*)\)", text)
    }
    assert len(found) >= 4
    for page, link in found:
        where = urlsplit(link)
        assert where.scheme == "https" and where.hostname in HOSTS, (page, link)
        if where.hostname == "doi.org":
            assert re.fullmatch(r"/10\.\d{4,9}/[^\s/]+", where.path), (page, link)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_links_to_is_there(page):
    text = re.sub(r"`[^`]*`", "", PROSE[page])
    for target in re.findall(r"\]\(([^()\s#]+)(?:#[^()\s]*)?\)", text):
        if not re.match(r"[a-z]+:", target):
            assert ((ROOT / page).parent / target).exists(), target


def test_there_are_commands_to_try():
    assert len(COMMANDS) > 100


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_on_a_page_is_one_that_footfall_takes(line):
    """Parsed as it would be, down to each option; not run."""
    command: click.Command = typer.main.get_command(app)
    words = shlex.split(line)[1:]
    while isinstance(command, click.Group):
        command = command.commands[words.pop(0)]
    command.make_context(command.name, [word for word in words if word != "..."])


def test_every_argument_and_option_says_what_it_is():
    """The site's page of commands is made of that."""
    left = [typer.main.get_command(app)]
    for command in left:
        left += getattr(command, "commands", {}).values()
        assert all(getattr(given, "help", None) for given in command.params), command.name
    assert len(left) > 25


@pytest.mark.parametrize(
    "line",
    sorted({line for text in PAGES.values() for line in re.findall("pip install [^`#\n)]+", text)}),
)
def test_pip_takes_what_a_page_tells_it_to_install(line):
    """pip asks for a path, with extras, or for a requirement whose place, if any, is an address."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for word in shlex.split(line)[2:]:
        local = re.fullmatch(r"\.(?:\[(.*)\])?", word)
        asked = Requirement(f"footfall[{local[1] or ''}]" if local else word)
        assert asked.url is None or urlsplit(asked.url).scheme, word
        if asked.name == "footfall":
            assert asked.extras <= set(extras), word


def test_tests_that_pages_name_exist():
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    named = {
        name
        for page, text in PAGES.items()
        if page.startswith("docs/")
        for name in re.findall(r"`(test_\w+)`", text)
    }
    assert len(named) > 40
    assert not {name for name in named if f"def {name}(" not in tests}


@pytest.mark.parametrize("name", [*ff._HOMES])
def test_a_name_of_the_library_is_described(name):
    assert f"\n::: ff.{name}\n" in PAGES["docs/reference/library.md"]


@pytest.mark.parametrize("name", authoring.__all__)
def test_a_name_for_authors_is_described(name):
    assert f"\n::: footfall.authoring.{name}\n" in PAGES["docs/reference/authoring.md"]


def test_every_scenario_is_on_a_page_of_a_robot():
    pages = "".join(text for page, text in PAGES.items() if page.startswith("docs/robots/"))
    missing = {path.stem for path in (ROOT / "scenarios").glob("*.toml")} - set(
        re.findall(r"[a-z][a-z-]+", pages)
    )
    assert not missing
