"""Equations have one number.

What docstrings cite is on a theory page, and what is on the page is cited.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LABEL = re.compile(r"\(([a-z][a-z-]*\.\d+)\)")
PAGES = {page.name: page.read_text() for page in sorted((ROOT / "docs" / "theory").glob("*.md"))}


def numbered(text: str) -> list[str]:
    """Labels at the end of a displayed line.

    There they number an equation; elsewhere they point at one.
    """
    ends = (re.search(r"^ {4}.*\(([a-z][a-z-]*\.\d+)\)\s*$", line) for line in text.splitlines())
    return [end[1] for end in ends if end]


CITED = {
    label for path in (ROOT / "src").rglob("*.py") for label in LABEL.findall(path.read_text())
}
ON_PAGES = [label for text in PAGES.values() for label in numbered(text)]


def test_there_is_something_to_compare():
    assert {"runner.1", "four-bar.1", "pad.1", "contact.1", "friction.1", "wheel.1"} <= CITED & set(
        ON_PAGES
    )


@pytest.mark.parametrize("family", sorted({label.partition(".")[0] for label in CITED}))
def test_every_equation_a_docstring_cites_is_on_a_theory_page(family):
    cited = {label for label in CITED if label.startswith(f"{family}.")}
    pages = {label for text in PAGES.values() for label in LABEL.findall(text)}
    assert cited <= pages, f"cited in src, on no page of docs/theory: {sorted(cited - pages)}"


def test_no_number_is_given_twice():
    assert sorted(ON_PAGES) == sorted(set(ON_PAGES))


def test_every_equation_of_the_water_runner_page_is_cited_where_it_is_computed():
    page = set(numbered(PAGES["water-runner.md"]))
    assert page <= CITED, f"on the page, cited nowhere in src: {sorted(page - CITED)}"
    mentioned = set(LABEL.findall(PAGES["water-runner.md"]))
    assert mentioned == page  # what the text points at is on it


def test_tests_that_the_water_runner_page_names_exist():
    names = set(re.findall(r"`(test_\w+)`", PAGES["water-runner.md"]))
    text = "".join(path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    assert len(names) > 10
    assert not {name for name in names if f"def {name}(" not in text}


def test_numbers_of_a_family_have_no_gaps():
    for family in ("runner", "four-bar", "pad", "contact", "friction", "integrators"):
        numbers = sorted(
            int(label.split(".")[1]) for label in CITED if label.startswith(f"{family}.")
        )
        assert numbers == list(range(1, len(numbers) + 1)), family
