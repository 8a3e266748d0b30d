"""A study: a question asked of one scenario, answered case by case.

This is the contract, so that a robot's studies can live in the robot's folder. A study declares
what may be asked (`Request`, `param` fields as parts have them), lists its cases, answers each with
a row of plain values, and says what the rows mean. Who carries it out (sweep/study.py) keeps every
answer on disk as it comes, goes on where it was cut, and knows nothing of what is asked.
"""

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from footfall.hybrid.doubt import Doubt
from footfall.hybrid.fields import FieldInfo, ParameterError, Parametric, describe
from footfall.numerics.units import UnitError, to_si

#: Told the share of what is being answered that is done; raises KeyboardInterrupt to end it.
Progress = Callable[[float], None]


class Answer(NamedTuple):
    """What came of one case: plain JSON, so that it can be kept and read back to the last bit."""

    row: dict[str, Any]  #: its line in the table, with its verdict; empty where there is none
    doubts: tuple[Doubt, ...] = ()
    memory: Any = None  #: what later cases or the summary need and no table shows


#: Of the cases answered so far, by their place in the list of cases.
Answers = Mapping[int, Answer]


class Sheet(NamedTuple):
    """A table for people: cells are words already, numbers are flush right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    left: Sequence[int] = ()  #: places of the columns of words


class AbstractStudy(abc.ABC):
    """One question, asked of one subject (sweep/subject.py: a scenario, and ways to run it)."""

    name: ClassVar[str]  #: of the verb
    Request: ClassVar[type[Parametric]]
    place: ClassVar[str]  #: folder for results where nobody names one
    doing: ClassVar[str]  #: what the progress line says
    notice: ClassVar[str] = ""  #: said before it begins
    noun: str = "runs"  #: what its cases are called
    rows_key: str = "rows"  #: what the table is called in results.json
    file: str  #: of the table and the picture, without .csv and .png
    older_results: ClassVar[str | None] = None  #: what results.json was called before
    needs: ClassVar[tuple[str, ...]] = ()  #: packages that not everybody has
    at_once: int = 1  #: cases that are answered together
    warnings: Sequence[str] = ()  #: said before anything is run

    def __init__(self, request: Any, subject: Any):
        """Raise where this subject cannot be asked; nothing is computed yet."""
        self.request, self.subject = request, subject

    def prepare(self, say: Callable[[str], None]) -> None:
        """What must be computed before the cases are known or can be answered."""
        del say

    @property
    @abc.abstractmethod
    def cases(self) -> Sequence[Mapping[str, Any]]:
        """Plain JSON that tells each case from the others, in the order of the table."""

    @abc.abstractmethod
    def answers(
        self, places: Sequence[int], before: Answers, progress: Progress
    ) -> Sequence[Answer]:
        """Of the cases at these places, at most `at_once`.

        The same whatever else is answered with them. A case may need those before it in the list,
        which are in `before`.
        """

    def kept(self, found: Answers) -> list[Answer]:
        """What the table shows, in its order."""
        return [found[place] for place in sorted(found)]

    def doubts(self) -> tuple[Doubt, ...] | None:
        """What alone decides the verdict of the whole; None: every answer's doubts do."""
        return None

    @abc.abstractmethod
    def summary(self, found: Answers) -> dict[str, Any]:
        """What the rows say together: plain JSON."""

    @abc.abstractmethod
    def page(self, found: Answers, took: float | None) -> list[Sheet | str]:
        """For people. `took`: seconds, where all of it was computed now."""

    def advice(self, found: Answers) -> str | None:
        """What doubts mean here and what to try, instead of a line to each reason."""
        del found

    def files(self, found: Answers) -> Mapping[str, str | bytes]:
        """Texts and pictures to write beside the table, by name."""
        del found
        return {}


def request_of(kind: type[Parametric], given: Mapping[str, Any]) -> Any:
    """A request from the words of its options: quantities with units, lists with commas.

    What is None was not given. Raises ParameterError, which names the option.
    """
    known = describe(kind)
    values = {
        name: _read(name, known[name], said) for name, said in given.items() if said is not None
    }
    return kind(**values)


def plain_request(request: Parametric) -> dict[str, Any]:
    """Its fields as JSON, in SI."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name in describe(request)
        for value in (getattr(request, name),)
    }


def _read(name: str, info: FieldInfo, said: Any) -> Any:
    flag = f"--{name.replace('_', '-')}"
    if info.role not in ("param", "numbers"):
        return tuple(said) if isinstance(said, list) else said
    several = info.role == "numbers"
    words = [word for word in str(said).split(",") if word.strip()] if several else [said]
    try:
        values = [word if isinstance(word, int) else to_si(word, info.unit) for word in words]
    except UnitError as error:
        raise ParameterError(f"{flag} {said}: {error}", name) from None
    bad = [value for value in values if not info.allows(value)]
    if several and (bad or not values):
        which = f"{bad[0]:g}" if bad else "none"
        unit = f", in {info.unit}" if info.unit else ""
        raise ParameterError(
            f"{flag}: {which} is no {info.doc}; values are {in_words(info)}{unit}.", name
        )
    if bad:
        raise ParameterError(f"{flag} {said}: {in_words(info)}. It is the {info.doc}.", name)
    return tuple(values) if several else values[0]


def in_words(info: FieldInfo) -> str:
    """The bounds of a field as a person says them: "at least one"."""
    said = [
        f"{words} { {0.0: 'zero', 1.0: 'one'}.get(bound, f'{bound:g}') }"
        for words, bound in (
            ("above", info.gt),
            ("at least", info.ge),
            ("below", info.lt),
            ("at most", info.le),
        )
        if bound is not None
    ]
    return " and ".join(said) or "finite numbers"


def finite(value: float) -> float | None:
    """For JSON: None where there is no number."""
    return float(value) if np.isfinite(value) else None
