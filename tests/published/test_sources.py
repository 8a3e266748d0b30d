"""Every figure, table and function of the five sources: what is printed, or why it is wrong."""

import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from footfall.cli.main import app
from footfall.pictures.style import SCREEN, styled
from footfall.scenario.load import load
from footfall.sources.item import Item, Value
from footfall.sources.library import SOURCES, source

ITEMS = [
    pytest.param(item, id=f"{code}-{item.name}") for code in SOURCES for item in source(code).items
]
MADE = [param for param in ITEMS if param.values[0].make is not None]


@pytest.mark.parametrize("item", MADE)
def test_printed_numbers_are_ours_or_errata_and_pictures_are_drawn(item: Item):
    assert item.make is not None
    with styled(SCREEN):
        made = item.make(SCREEN)
    assert [value for value in made.values if not value.as_expected] == []
    assert made.picture is not None or made.values or made.words
    if made.picture is not None:
        assert made.picture._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("item", ITEMS)
def test_every_item_says_what_it_shows_and_can_be_made(item: Item):
    assert item.shows.endswith(".") and item.title and not item.title.endswith(".")
    assert item.make is not None or item.command
    words = shlex.split(item.command)
    if words[:1] == ["footfall"]:  # the verb exists, and the scenario can be loaded
        verbs = get_command(app).commands  # type: ignore[attr-defined]
        assert words[1] in verbs
        if words[1] in ("run", "gait", "share", "sweep") and not words[2].endswith(".toml"):
            load(words[2])


@pytest.mark.parametrize("code", SOURCES)
def test_names_of_items_are_unique(code):
    names = [item.name for item in source(code).items]
    assert len(set(names)) == len(names)


def test_docs_list_every_item():
    page = (Path(__file__).parents[2] / "docs" / "sources.md").read_text(encoding="utf-8")
    for code in SOURCES:
        for item in source(code).items:
            assert f"| {item.name} | {item.title} |" in page


def test_a_value_agrees_within_what_its_digits_leave_open_or_has_a_reason():
    near = Value("a", 1.004, printed=1.0, tolerance=0.005)
    assert near.agrees and near.as_expected
    far = near._replace(ours=1.006)
    assert not far.agrees and not far.as_expected
    assert far._replace(erratum="a misprint").as_expected
    assert not near._replace(erratum="a misprint").as_expected  # nothing is wrong there
    assert not near._replace(ours=float("nan")).as_expected
