"""The documentation builds as a site, without a warning, and asks nothing of another host."""

import fcntl
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from support.pages import QUIET, chromium

ROOT = Path(__file__).parents[2]
THEORY = ROOT / "docs" / "theory"


class Fetched(HTMLParser):
    """What a browser fetches to show a page; links that a reader may click are not among it."""

    def __init__(self, html: str):
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "link" and given.get("rel") not in ("canonical", "prev", "next"):
            self.found.append(given.get("href") or "")
        elif tag in ("script", "img", "iframe", "source", "video"):
            self.found.append(given.get("src") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, with what its builder said: built once for all workers."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, said = base / "site", base / "site.txt"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    with (base / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            # A warning (a link to nowhere, a name that is not there) is an error.
            built = subprocess.run(
                command, cwd=ROOT, capture_output=True, text=True, env=environment
            )
            assert built.returncode == 0, built.stderr
            said.write_text(built.stderr)
    return folder, said.read_text()


def test_every_page_has_its_place_in_the_navigation(site):
    assert "not included in the" not in site[1], site[1]


def test_lists_and_tables_are_no_running_text(site):
    """Python-Markdown wants blank lines where other readers do not."""
    for page in site[0].rglob("*.html"):
        for text in re.findall(r"<p>.*?</p>", page.read_text(), re.S):
            assert not re.search(r"\n *([-*]|\d\.) |\n\|", text), (page, text)


def test_nothing_is_fetched_from_another_host(site):
    pages = list(site[0].rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        fetched = Fetched(page.read_text()).found
        assert fetched
        assert not [name for name in fetched if re.match(r"([a-z]+:)?//", name)], page
    for sheet in site[0].rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", sheet.read_text()), sheet


def test_formulas_are_drawn_and_numbered_equations_have_a_place(site):
    for page in site[0].rglob("*.html"):
        assert 'class="arithmatex"' not in page.read_text(), page
    assert (
        '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"'
        in (site[0] / "concepts" / "hybrid-systems.html").read_text()
    )
    for source in THEORY.glob("*.md"):
        labels = re.findall(r"^ {4}.*\(([a-z][a-z-]*\.\d+)\)\s*$", source.read_text(), re.M)
        page = (site[0] / "theory" / f"{source.stem}.html").read_text()
        assert [label for label in labels if page.count(f'id="{label}"') != 1] == [], source


def test_a_label_in_a_docstring_leads_to_its_equation(site):
    page = (site[0] / "concepts" / "gaits.html").read_text()
    assert 'href="../theory/gaits.html#gaits.4"' in page


def test_commands_and_words_have_pages_made_of_what_they_describe(site):
    commands = (site[0] / "commands.html").read_text()
    assert "--accept-doubt" in commands and "footfall stack replay" in commands
    assert "a motion that repeats" in (site[0] / "glossary.html").read_text()


@pytest.mark.skipif(chromium() is None, reason="needs Chromium: apt-get install chromium")
def test_a_page_that_was_opened_from_a_folder_searches_and_asks_no_host(site):
    """The theme's own search wants a server, for its index and for its worker."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium(), args=QUIET)
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site[0] / "how-to" / "gaits.html").as_uri())
        page.locator(".md-search__input").click()
        page.keyboard.type("multiplier")
        page.locator(".md-search-result__link").first.click()
        page.wait_for_url("**/concepts/gaits.html*")  # names it most often
        browser.close()
    assert asked and not [url for url in asked if not url.startswith(("file:", "data:"))]


def test_notebooks_are_executed_and_keep_no_outputs(site):
    notebooks = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
    assert notebooks
    for notebook in notebooks:
        cells = json.loads(notebook.read_text())["cells"]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
        page = (site[0] / "notebooks" / f"{notebook.stem}.html").read_text()
        assert page.count('class="output"') >= 2, notebook
    walk = (site[0] / "notebooks" / "first-walk.html").read_text()
    assert "verdict: sound" in walk  # a run is a cell's last line
    assert walk.count("data:image/png;base64") == 2  # its page of plots, and the ledger's lines
