"""Plain words, one sentence a line, constants written once."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = {path.relative_to(ROOT): path.read_text() for path in (ROOT / "src").rglob("*.py")}
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
#: Metaphors that a plain word serves better than: tolerates, evaluates, watch, failure, costs much.
METAPHORS = re.compile(r"\b(hairs?|forgiv\w+|reckon\w*|leash\w*|grief|deeds?|dearly)\b", re.I)


def test_no_metaphor_where_a_plain_word_serves():
    found = [
        f"{path}: {word[0]}"
        for path, text in (SOURCES | {page: page.read_text() for page in PAGES}).items()
        for word in METAPHORS.finditer(text)
        if path != ROOT / "CHANGELOG.md"  # it tells what was renamed
    ]
    assert not found


def test_a_public_constant_is_written_once():
    homes = defaultdict(list)
    for path, text in SOURCES.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if re.fullmatch("[A-Z][A-Z_]+", name):
                    homes[name, ast.dump(node.value)].append(str(path))
    assert not {name: at for (name, _), at in homes.items() if len(at) > 1}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_line_of_a_page_holds_one_sentence(page):
    text = re.sub(r"^ *(```|~~~).*?^ *\1", "", page.read_text(), flags=re.S | re.M)
    for line in text.splitlines():
        if line.startswith(("#", "|", "    ")):
            continue
        bare = re.sub(r"`[^`]*`|\([^()]*\)|\*\*[^*]*\*\*", "x", line)
        assert not re.search(r"[a-z0-9)]{2}\. +[A-Z][a-z]+ ", bare), line
