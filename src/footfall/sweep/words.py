"""Numbers in sentences, and words counted."""

from collections import Counter
from collections.abc import Iterable


def grouped(number: float) -> str:
    """40000 as 40 000."""
    return f"{number:,.0f}".replace(",", " ")


def count_reasons(verdicts: Iterable[str]) -> dict[str, int]:
    """For each reason of doubt the verdicts that give it, the commonest first."""
    found = Counter[str]()
    for verdict, count in Counter(verdicts).items():
        found.update({name: count for name in verdict.split(", ") if name != "sound"})
    return dict(found.most_common())


def counted(number: float, thing: str) -> str:
    """1 design, 40 000 designs, 13.5 steps."""
    shown = grouped(number) if number == round(number) else f"{number:g}"
    return f"{shown} {thing}{'' if number == 1 else 's'}"
