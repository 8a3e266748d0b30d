"""What the text of a program depends on, of the machine it is for."""

from typing import NamedTuple


class Target(NamedTuple):
    """A kind of machine: what its programs stand on, and how many lanes run side by side.

    Each has a folder in `targets/`, with its header and its compiler.
    """

    name: str
    header: str  #: text in front of the generated block: the types and functions that it uses
    width: int  #: lanes in a block
