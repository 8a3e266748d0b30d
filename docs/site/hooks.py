"""What the site adds to the pages of docs/: read by mkdocs (`hooks` in mkdocs.yml).

Pages are written for any reader of Markdown. Here they get what a site needs: files from beside
docs/, the glossary and the commands as pages of their own, links from equation numbers to their
equations, formulas as MathML, notebooks with their outputs, a search that needs no server, and
live pages where `make gallery` has made them.
"""

import posixpath
import re
import sys
from html import escape, unescape
from pathlib import Path
from typing import Any

import latex2mathml.converter
import typer
from mkdocs.structure.files import File, Files

import footfall
from footfall.cli.main import app

sys.path.insert(0, str(Path(__file__).parent))  # mkdocs loads a hook by its path
from notebooks import page_of

ROOT = Path(__file__).parents[2]
DOCS, LIVE = ROOT / "docs", ROOT / "build" / "gallery"
#: Files beside docs/ -> their pages.
BESIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples/README.md": "examples.md",
    "firmware/teensy/README.md": "firmware.md",
}
LABEL = r"\(([a-z][a-z-]*\.\d+)\)"
#: Equation number -> address of the page where it numbers an equation.
EQUATIONS = {
    label[1]: f"theory/{page.stem}.html"
    for page in sorted((DOCS / "theory").glob("*.md"))
    for label in re.finditer(rf"^ {{4}}.*{LABEL}\s*$", page.read_text(), re.M)
}


# --- pages whose text stands elsewhere ------------------------------------------------------------


def on_config(config: Any) -> Any:
    """The pages of `make sources`, where they have been made."""
    made = [f"sources/{page.name}" for page in sorted((DOCS / "sources").glob("*.md"))]
    if (DOCS / "sources.md").exists():
        robots = next(part["Robots"] for part in config.nav if "Robots" in part)
        robots.append({"Figures of the sources": ["sources.md", *made]})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add what stands beside docs/, the glossary, the commands, notebooks, and live pages."""
    texts = {page: (ROOT / name).read_text() for name, page in BESIDE.items()}
    words = (DOCS / "conventions.md").read_text().partition("## Words\n")[2]
    texts["glossary.md"] = f"# Glossary\n{words}"
    texts["commands.md"] = commands()
    for notebook in sorted((DOCS / "notebooks").glob("*.ipynb")):
        texts[f"notebooks/{notebook.stem}.md"] = page_of(notebook)
    for name, text in texts.items():
        files.append(File.generated(config, name, content=text))
    for live in sorted(LIVE.glob("*.html")):
        files.append(File.generated(config, f"live/{live.name}", abs_src_path=str(live)))
    return files


def commands() -> str:
    """Every command with its arguments and options, as `--help` says them."""
    lines = ["# Commands", "`footfall COMMAND --help` says the same in a terminal.", ""]
    for name, command in sorted(_verbs(typer.main.get_command(app), "")):
        taken = {kind: _parameters(command, kind) for kind in ("argument", "option")}
        shown = " ".join(["footfall", name, *(p.name.upper() for p in taken["argument"])])
        lines += [f"## {name}", f"    {shown}", "", escape(command.help or "", quote=False), ""]
        if any(taken.values()):
            lines += ["| | |", "|---|---|"]
        for parameter in taken["argument"]:
            lines.append(f"| `{parameter.name.upper()}` | {_cell(parameter.help)} |")
        for option in taken["option"]:
            label = " ".join(filter(None, [", ".join(option.opts), option.metavar]))
            lines.append(f"| `{label}` | {_cell(option.help)} |")
        lines.append("")
    return "\n".join(lines)


def _verbs(group: Any, path: str) -> list[tuple[str, Any]]:
    found = []
    for name, command in group.commands.items():
        full = f"{path} {name}".strip()
        found += _verbs(command, full) if hasattr(command, "commands") else [(full, command)]
    return found


def _parameters(command: Any, kind: str) -> list[Any]:
    return [p for p in command.params if p.param_type_name == kind and p.name != "help"]


def _cell(text: str | None) -> str:
    return " ".join(escape(text or "", quote=False).split()).replace("|", "\\|")


# --- text -----------------------------------------------------------------------------------------


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links to files beside docs/; blank lines where this reader of Markdown needs them."""
    here = page.file.src_uri
    origin = next((name for name, made in BESIDE.items() if made == here), f"docs/{here}")
    markdown = re.sub(r"^::: ff\.(\w+)$", lambda f: _named(f[1]), markdown, flags=re.M)
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.S | re.M)
    for i, part in enumerate(parts):
        parts[i] = f"\n{part}\n" if i % 2 else _spaced(_relinked(part, origin, here))
    button = r"<!-- (live|replay): ([\w-]+) -->"
    return re.sub(button, lambda f: _button(f[1], f[2], here), "".join(parts))


def _named(name: str) -> str:
    """What describes `ff.NAME`: it stands in its home, and is shown as it is typed."""
    home = footfall._HOMES[name]
    return f"::: footfall.{home}.{name}\n    options:\n      heading: ff.{name}\n"


def _relinked(text: str, origin: str, here: str) -> str:
    """Links as they must be on the page `here`, of a text that was written at `origin`."""

    def link(found: re.Match[str]) -> str:
        words, path, anchor = found.groups("")
        if not path or ":" in path:
            return found[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), path))
        target = BESIDE.get(target, target)
        if target.endswith(".py"):  # of an example: its name is enough
            return f"`{words}`"
        target = posixpath.relpath(target.removeprefix("docs/"), posixpath.dirname(here) or ".")
        return f"[{words}]({target}{anchor})"

    return re.sub(r"\[((?:[^\[\]]|`[^`]*`)*)\]\(([^()\s#]*)(#[^()\s]*)?\)", link, text)


def _spaced(text: str) -> str:
    """What Markdown allows and Python-Markdown does not.

    A list or a table that follows a line of text at once gets a blank line; a block that belongs to
    a list's item by two spaces gets four.
    """
    lines: list[str] = []
    in_list = deeper = False
    for line in text.split("\n"):
        before = lines[-1] if lines else ""
        item = re.match(r"([-*]|\d+\.) ", line)
        in_list = bool(item) or (in_list and (not line or line.startswith("  ")))
        table = line.startswith("|") and not before.startswith("|")
        begins = item and (deeper or not re.match(r"([-*]|\d+\.) | +", before))
        deeper = in_list and not item and bool(line) and (deeper or not before)
        lines += [""] * bool(before and (begins or table)) + ["  " * deeper + line]
    return "\n".join(lines)


#: What a button says of a page in which the robot is simulated, and of one of a recorded run.
BUTTONS = {"live": "Run it in this browser", "replay": "Play a recorded run in this browser"}


def _button(kind: str, name: str, here: str) -> str:
    """A way to the page of a robot, where it has been made."""
    if not (LIVE / f"{name}.html").exists():
        return ""
    path = posixpath.relpath(f"live/{name}.html", posixpath.dirname(here) or ".")
    return f"[{BUTTONS[kind]}]({path}){{ .md-button .md-button--primary }}"


# --- search ---------------------------------------------------------------------------------------


def on_post_build(config: Any) -> None:
    """What the theme searches, as a script too: a page that was opened from a folder reads that."""
    index = Path(config.site_dir) / "search" / "search_index.json"
    index.with_suffix(".js").write_text(f"var __index = {index.read_text()}")


# --- equations ------------------------------------------------------------------------------------


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Formulas as MathML; equation numbers as places, and as links to these."""
    html = re.sub(
        r'<(?:span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</(?:span|div)>',
        lambda f: latex2mathml.converter.convert(
            unescape(f[2]), display="block" if f[1] == "[" else "inline"
        ),
        html,
        flags=re.S,
    )
    here = page.url

    def link(found: re.Match[str]) -> str:
        if found[1] not in EQUATIONS:
            return found[0]
        path = posixpath.relpath(EQUATIONS[found[1]], posixpath.dirname(here) or ".")
        return f'<a class="equation" href="{path}#{found[1]}">{found[0]}</a>'

    parts = re.split(r"(<pre.*?</pre>|<h\d.*?</h\d>|<a .*?</a>)", html, flags=re.S)
    for i, part in enumerate(parts):
        if i % 2 == 0:
            parts[i] = re.sub(LABEL, link, part)
        elif part.startswith("<pre"):
            parts[i] = _numbered(part, here)
    return "".join(parts)


def _numbered(block: str, here: str) -> str:
    """A block of text with equations of this page: each line with its number at the right."""
    lines = re.sub(r"</?(pre|code|span)[^>]*>", "", block).rstrip("\n").split("\n")
    ends = [re.search(rf"^(.*?)\s*{LABEL}\s*$", line) for line in lines]
    if not any(end and EQUATIONS.get(end[2]) == here for end in ends):
        return block
    rows = [
        f'<span>{end[1]}</span><a class="equation" id="{end[2]}">({end[2]})</a>'
        if end
        else f"<span>{line}</span>"
        for line, end in zip(lines, ends, strict=True)
    ]
    return f'<div class="equations"><div>{"</div><div>".join(rows)}</div></div>'
