"""Write docs/sources.md and a page for each source, with its pictures: `make sources`."""

import io
import re
import sys
from pathlib import Path

from PIL import Image

from footfall.hybrid.study import Answer
from footfall.sources.library import SOURCES, source
from footfall.sources.study import Reproduce, Request, SourceSubject
from footfall.sweep.study import carry_out

DOCS = Path(__file__).parent
PAGES, PICTURES = DOCS / "sources", DOCS / "pictures" / "sources"


def main(codes: list[str]) -> None:
    """The pages of these sources (all without any), and the list of all."""
    PAGES.mkdir(exist_ok=True)
    PICTURES.mkdir(exist_ok=True)
    for code in codes or list(SOURCES):
        study = Reproduce(Request(), SourceSubject(source(code)))
        found: dict[int, Answer] = {}
        carry_out(study, found, progress=lambda done, s=study: print(s.subject.name, int(done)))
        for name, data in study.files(found).items():
            assert isinstance(data, bytes)
            (PICTURES / f"{code}-{name}").write_bytes(_small(data))
        page = "\n".join(
            [f"# Source {code}: {study.subject.title}", "", *_page(code, study, found)]
        )
        (PAGES / f"{code}.md").write_text(page.rstrip() + "\n", encoding="utf-8")
    (DOCS / "sources.md").write_text(listing(), encoding="utf-8")


def _small(data: bytes) -> bytes:
    """The picture in few colours: line drawings lose nothing by it."""
    few = Image.open(io.BytesIO(data)).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    few.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def _page(code: str, study: Reproduce, found: dict[int, Answer]) -> list[str]:
    lines = [f"Made by `make sources`; one item alone: `footfall reproduce {code} NAME`.", ""]
    for answer in study.kept(found):
        row = answer.row
        lines += [f"## {row['item']}: {row['title']}"]
        for word, key in (("The source", "shows"), ("Found", "found"), ("Erratum", "erratum")):
            lines += _item(f"{word}: {row[key]}") if row[key] else []
        lines += [f"- Try `{row['command']}`."] * bool(row["command"]) + [""]
        if row["picture"]:
            lines += [f"![{row['title']}](../pictures/sources/{code}-{row['picture']})", ""]
        if row["values"]:
            lines += ["| quantity | printed | ours | unit | |", "|---|---|---|---|---|"]
            lines += [_line(value) for value in row["values"]] + [""]
    return lines


def _item(text: str) -> list[str]:
    """An item of a list, one line for each sentence, the last with its full stop."""
    ended = text if text.endswith((".", "?", "!")) else f"{text}."
    first, *more = re.split(r"(?<=[a-z0-9)]\.) +(?=[A-Z])", ended)
    return [f"- {first}", *(f"  {sentence}" for sentence in more)]


def _line(value: dict) -> str:
    printed = "" if value["printed"] is None else f"{value['printed']:.6g}"
    judged = value["erratum"] or ("agrees" if value["agrees"] else "")
    return f"| {value['what']} | {printed} | {value['ours']:.6g} | {value['unit']} | {judged} |"


def listing() -> str:
    """docs/sources.md: every item of every source with its command."""
    documents = [source(code) for code in SOURCES]
    count = sum(len(document.items) for document in documents)
    lines = [
        "# Every figure and function of the sources",
        "",
        f"{count} items of the five source documents, each with a line that shows it.",
        "`footfall reproduce 000` makes all of a source, `footfall reproduce 000 fig-1` one.",
        "",
    ]
    for document in documents:
        code = document.code
        lines += [f"## [{code}: {document.title}](sources/{code}.md)", ""]
        lines += ["| item | what | command |", "|---|---|---|"]
        for item in document.items:
            made = f"`footfall reproduce {code} {item.name}`" if item.make else ""
            both = ", ".join(filter(None, [made, f"`{item.command}`" if item.command else ""]))
            lines.append(f"| {item.name} | {item.title} | {both} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
