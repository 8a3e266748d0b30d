"""Examples in docstrings as code: mkdocstrings would read `>>>` as a quotation in Markdown."""

import re
from typing import Any

import griffe


class Doctests(griffe.Extension):
    """Fences what begins with `>>>`, to the next blank line."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = re.sub(
                r"(?:^>>> .*\n?)(?:^.+\n?)*",
                lambda found: f"\n```pycon\n{found[0].rstrip()}\n```\n",
                obj.docstring.value,
                flags=re.M,
            )
