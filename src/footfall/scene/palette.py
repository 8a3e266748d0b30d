"""Colours by role, the same in every picture and on the live page.

A shape or a line says what it is ("leg", "force", "water"); this table says how that looks, on
light and on dark paper. The colours are those of Okabe and Ito, which people tell apart whatever
their colour vision (https://jfly.uni-koeln.de/color/), and greys. A name that is no role
("tab:red", "#336699") is left to whoever draws it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Shades(NamedTuple):
    """One colour, on light and on dark paper, as #rrggbb."""

    light: str
    dark: str


ROLES: Mapping[str, Shades] = MappingProxyType(
    {
        # The page.
        "paper": Shades("#ffffff", "#14181d"),
        "ink": Shades("#22272e", "#e6e9ed"),  # words, and what is stored
        "quiet": Shades("#66707c", "#98a2ae"),  # axes, second words
        "grid": Shades("#e4e7eb", "#2b323a"),
        "doubt": Shades("#b3261e", "#ff8a80"),  # what should not be believed
        # The robot.
        "body": Shades("#4a5563", "#c6ced8"),
        "joint": Shades("#7d8793", "#9aa5b1"),  # hubs, hips, motors' housings
        "leg": Shades("#0072b2", "#56b4e9"),
        "far_leg": Shades("#9cc4de", "#6f95b3"),  # of the other side
        "idle_leg": Shades("#c3c9d0", "#66727f"),  # one that carries nothing now
        "foot": Shades("#22272e", "#f2f4f6"),
        "mark": Shades("#e69f00", "#f7d154"),  # what to look at: a head, a centre of mass
        "target": Shades("#009e73", "#2fc99a"),  # where something should be
        "motor": Shades("#cc79a7", "#e39cc4"),
        # The world.
        "force": Shades("#d55e00", "#ff6a1a"),
        "ground": Shades("#6b5a47", "#857460"),
        "water": Shades("#4aa8e0", "#1c5a86"),
        # Energy.
        "work": Shades("#0072b2", "#56b4e9"),  # what motors put in
        "loss": Shades("#d55e00", "#ff6a1a"),  # what friction and damping take
        "impact": Shades("#cc79a7", "#e39cc4"),  # what footfalls take
        "stored": Shades("#22272e", "#e6e9ed"),
    }
)

#: Lines of one chart that have no role, in this order.
SERIES: tuple[Shades, ...] = (
    Shades("#0072b2", "#56b4e9"),  # blue
    Shades("#e69f00", "#f7d154"),  # orange
    Shades("#009e73", "#2fc99a"),  # bluish green
    Shades("#d55e00", "#ff6a1a"),  # vermilion
    Shades("#cc79a7", "#e39cc4"),  # reddish purple
    Shades("#56b4e9", "#a9d8f5"),  # sky blue
    Shades("#22272e", "#ffffff"),  # ink
)


def colour_of(name: str, *, dark: bool = False) -> str:
    """The colour of a role; a name that is no role is a colour itself.

    >>> colour_of("leg"), colour_of("leg", dark=True), colour_of("tab:red")
    ('#0072b2', '#56b4e9', 'tab:red')
    """
    shades = ROLES.get(name)
    return name if shades is None else shades.dark if dark else shades.light
