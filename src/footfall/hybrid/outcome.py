"""Why a run ended, as data: compiled code returns one of these per robot instead of raising."""

import zlib
from collections.abc import Iterator
from typing import Any

#: Endings that a robot declares for itself get numbers from here on; they follow from the name, so
#: that every process has the same.
_FIRST_OWN = 32
_OWN = 1 << 22  #: numbers for them: exact in float32 too


#: Every outcome that was declared, by number and by name.
_BY_CODE: dict[int, "Outcome"] = {}
_BY_NAME: dict[str, "Outcome"] = {}


class _Known(type):
    """Outcomes by number, by name and one after the other, as an enumeration has them."""

    def __call__(cls, value: int | str, meaning: str | None = None) -> Any:
        if isinstance(value, str):
            return cls._declared(value, meaning)
        if int(value) not in _BY_CODE:
            raise ValueError(f"no outcome has the number {int(value)}")
        return _BY_CODE[int(value)]

    def _declared(cls, name: str, meaning: str | None) -> "Outcome":
        if not name.isidentifier():
            raise ValueError(
                f'"{name}" cannot be the name of an outcome: letters, digits and _ only.'
            )
        known = _BY_NAME.get(name)
        if known is None:
            known = cls._added(name, meaning or "", _FIRST_OWN + zlib.crc32(name.encode()) % _OWN)
        elif meaning and not known.meaning:
            known.meaning = meaning  # first met in a file, which keeps the name only
        elif meaning and meaning != known.meaning:
            raise ValueError(
                f'The outcome "{name}" means "{known.meaning}" already; choose another name for'
                f' "{meaning}".'
            )
        return known

    def _added(cls, name: str, meaning: str, code: int) -> "Outcome":
        if code in _BY_CODE:
            raise ValueError(
                f'The names of the outcomes "{name}" and "{_BY_CODE[code].name}" clash; choose'
                " another name."
            )
        made: Outcome = int.__new__(cls, code)  # pyright: ignore[reportArgumentType]
        made.name, made.meaning = name, meaning
        _BY_CODE[code] = _BY_NAME[name] = made
        return made

    def __iter__(cls) -> "Iterator[Outcome]":
        return iter(list(_BY_CODE.values()))

    def __getitem__(cls, name: str) -> "Outcome":
        return _BY_NAME[name]


class Outcome(int, metaclass=_Known):
    """How a run ended: a name and a meaning.

    The number travels through compiled code, the name is what users see.

    A robot that ends in a way of its own declares it where its event is:

    >>> import footfall as ff
    >>> ff.Outcome("mired", "the feet sank into the mud").name
    'mired'
    >>> ff.Outcome.fell.meaning
    'the body came too close to the ground, or went below it'
    """

    name: str
    meaning: str  #: one sentence for the summary

    running: "Outcome"
    reached_end: "Outcome"
    fell: "Outcome"
    rocked_back: "Outcome"
    lifted_off: "Outcome"
    zeno: "Outcome"
    too_many_jumps: "Outcome"
    diverged: "Outcome"
    interrupted: "Outcome"
    reached_event: "Outcome"
    sank: "Outcome"
    tipped_over: "Outcome"
    outside_model: "Outcome"
    arrived: "Outcome"
    overloaded: "Outcome"
    unreachable: "Outcome"
    blocked: "Outcome"
    not_held: "Outcome"
    chattering: "Outcome"

    @property
    def value(self) -> int:
        """The number that stands for it in compiled code."""
        return int(self)

    def __repr__(self) -> str:
        return f"Outcome.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __format__(self, form: str) -> str:
        return format(self.name, form)

    def __reduce__(self) -> Any:
        return Outcome, (self.name, self.meaning)


for _code, (_name, _meaning) in enumerate(
    {
        "running": "still running",
        "reached_end": "ran to the end of the requested span",
        "fell": "the body came too close to the ground, or went below it",
        "rocked_back": "too slow to pass over the foot: it rocked back on the previous one",
        "lifted_off": "a foot would have to pull on the ground: contact was lost",
        "zeno": "events accumulate: many jumps in almost no time",
        "too_many_jumps": "reached `max_jumps` jumps",
        "diverged": "the state stopped being finite, or the step size fell to nothing",
        "interrupted": "the user ended it before its time",
        "reached_event": "reached the requested event",
        "sank": "the body went under water",
        "tipped_over": "tipped over",
        "outside_model": "left the range in which the model's equations mean anything",
        "arrived": "did all that was planned",
        "overloaded": "a motor would have to give more torque than it can",
        "unreachable": "a move of the plan is out of reach",
        "blocked": "the ground is in the way of a move of the plan, or not under a foot",
        "not_held": "a jump stopped what it hit, and nothing held it: a mode to rest in is missing",
        "chattering": "the flow turns round at a line and stays there: a mode for that is missing",
    }.items()
):
    setattr(Outcome, _name, Outcome._added(_name, _meaning, _code))
