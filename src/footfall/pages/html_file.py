"""One HTML file: the front end that `make web` builds, with a page's data in it."""

import html
import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from footfall.scenario.errors import ScenarioError

#: What stands in the built front end for the title and for the data.
TITLE, DATA = "⟦title⟧", "⟦data⟧"


def front_end() -> str:
    """The built front end, or an error that says how to build it."""
    built = resources.files("footfall.pages").joinpath("bundle/page.html")
    if not built.is_file():
        raise ScenarioError(
            "the front end of pages is not built. In a clone of footfall: make web (it needs npm);"
            " an installed footfall brings it along."
        )
    return built.read_text(encoding="utf-8")


def page_html(page: Mapping[str, Any]) -> str:
    """The whole file as text."""
    # What could end the element that holds the data is written as an escape.
    data = json.dumps(page, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c")
    before, after = front_end().replace(TITLE, html.escape(page["title"])).split(DATA)
    return f"{before}{data}{after}"


def write_page(path: Path, page: Mapping[str, Any]) -> None:
    """Write it where it was asked for, whole or not at all."""
    aside = path.with_name(f".{path.name}.part")
    try:
        aside.write_text(page_html(page), encoding="utf-8")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
