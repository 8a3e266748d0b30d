"""Make the items of a source again: a study whose cases are figures, tables and functions."""

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

from footfall.hybrid.doubt import Doubt
from footfall.hybrid.fields import Parametric, choice, text
from footfall.hybrid.study import AbstractStudy, Answer, Answers, Progress, Sheet, finite
from footfall.pictures.show import Picture
from footfall.pictures.style import STYLES, style_of, styled
from footfall.sources.item import Item, Made, Source, Value
from footfall.sources.library import items_of


class Request(Parametric):
    """What is asked of a source."""

    items: str = text("", doc="names of the items, with commas; none: all of them")
    style: str = choice("screen", options=tuple(STYLES), doc="how pictures look")


class SourceSubject:
    """A source document, as studies see their subject."""

    own_files: Mapping[str, Any] = {}

    def __init__(self, document: Source):
        self.source = document
        self.name, self.title = f"source-{document.code}", document.title
        self.document: Mapping[str, Any] = {"source": document.code}

    def to_toml(self) -> str:
        """What stands for a scenario."""
        return f'source = "{self.source.code}"  # footfall reproduce {self.source.code}\n'


class Reproduce(AbstractStudy):
    """What a source shows, beside what we find."""

    name, place, doing = "reproduce", "sources", "making"
    noun, rows_key, file = "items", "items", "items"
    Request = Request

    def __init__(self, request: Request, subject: SourceSubject):
        super().__init__(request, subject)
        self.items = items_of(subject.source, [name for name in request.items.split(",") if name])

    @property
    def cases(self) -> Sequence[Mapping[str, Any]]:
        return [{"item": item.name} for item in self.items]

    def answers(
        self, places: Sequence[int], before: Answers, progress: Progress
    ) -> Sequence[Answer]:
        del before, progress
        return [self._answer(self.items[place]) for place in places]

    def _answer(self, item: Item) -> Answer:
        style = style_of(self.request.style)
        if item.make is None:
            made = Made()
        else:
            with styled(style):
                made = item.make(style)
        doubts = (
            *made.doubts,
            *(_differs(value) for value in made.values if not value.as_expected),
        )
        row = {
            "item": item.name,
            "title": item.title,
            "shows": item.shows,
            "command": item.command,
            "erratum": item.erratum,
            "found": made.words,
            "values": [_plain(value) for value in made.values],
            "picture": f"{item.name}{style.suffix}" if made.picture is not None else None,
        }
        memory = None if made.picture is None else _encoded(made.picture, style.suffix)
        return Answer(row, doubts, memory)

    def summary(self, found: Answers) -> dict[str, Any]:
        values = [value for answer in found.values() for value in answer.row["values"]]
        printed = [value for value in values if value["printed"] is not None]
        return {
            "source": self.subject.source.code,
            "title": self.subject.title,
            "printed": len(printed),
            "agree": sum(value["agrees"] for value in printed),
            "errata": sum(bool(value["erratum"]) for value in printed),
        }

    def page(self, found: Answers, took: float | None) -> list[Sheet | str]:
        said = self.summary(found)
        head = f"{len(found)} item{'s' * (len(found) != 1)}" + (
            "" if took is None else f", {took:.1f} s"
        )
        if said["printed"]:
            head += (
                f"; {said['printed']} printed numbers: {said['agree']} as printed,"
                f" {said['errata']} in error there"
            )
        page: list[Sheet | str] = [head]
        for answer in self.kept(found):
            page += _item_page(answer.row)
        return page

    def files(self, found: Answers) -> dict[str, str | bytes]:
        pictures = ((answer.row["picture"], answer.memory) for answer in found.values())
        return {name: base64.b64decode(data) for name, data in pictures if name}


def _differs(value: Value) -> Doubt:
    if value.erratum:
        return Doubt("erratum_unfounded", f"{value.what}: said to be wrong, and it agrees.")
    return Doubt(
        "differs_from_source",
        f"{value.what}: {value.ours:.6g} {value.unit}, printed {value.printed}.",
    )


def _plain(value: Value) -> dict[str, Any]:
    own = {name: getattr(value, name) for name in ("what", "unit", "printed", "tolerance")}
    return own | {"ours": finite(value.ours), "agrees": value.agrees, "erratum": value.erratum}


def _encoded(picture: Picture, suffix: str) -> str:
    """A picture as text, so that an answer can be kept on disk and read back."""
    buffer = io.BytesIO()
    picture.savefig(buffer, format=suffix.removeprefix("."))
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def _item_page(row: Mapping[str, Any]) -> list[Sheet | str]:
    lines = [f"\n{row['item']}: {row['title']}", f"  the source: {row['shows']}"]
    more = (("found", "found"), ("erratum", "erratum"), ("command", "try"))
    lines += [f"  {word}: {row[key]}" for key, word in more if row[key]]
    if row["picture"]:
        lines.append(f"  picture: {row['picture']}")
    parts: list[Sheet | str] = ["\n".join(lines)]
    if row["values"]:
        cells = [
            (
                value["what"],
                "-" if value["printed"] is None else f"{value['printed']:.6g}",
                "-" if value["ours"] is None else f"{value['ours']:.6g}",
                value["unit"],
                _judged(value),
            )
            for value in row["values"]
        ]
        parts.append(Sheet(("quantity", "printed", "ours", "unit", ""), cells, left=(0, 3, 4)))
    return parts


def _judged(value: Mapping[str, Any]) -> str:
    if value["printed"] is None:
        return ""
    if value["erratum"]:
        return f"erratum: {value['erratum']}"
    return "agrees" if value["agrees"] else "DIFFERS"
