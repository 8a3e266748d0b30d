"""What a function in C is declared by: its structs, its arguments, and what each of them means."""

from typing import NamedTuple

import numpy as np


class Field(NamedTuple):
    """A number with a name: a member of a struct, an argument, what a function returns."""

    name: str
    dtype: np.dtype
    doc: str = ""


class Struct(NamedTuple):
    """Numbers that travel together. `argument` is what the function calls its pointer to them."""

    name: str
    argument: str
    doc: str
    fields: tuple[Field, ...]


class CFunction(NamedTuple):
    """A function of numbers that stay, a memory that it changes, and inputs.

    Its program takes the fields of `numbers`, of `memory`, then `inputs`; it gives back the fields
    of the memory, then what is returned.
    """

    unit: str  #: name of its files, without suffix
    made_by: str  #: from what, and by which command
    update: str  #: name of the function in C
    clear: str  #: name of the function that makes a memory as it is before the first call
    doc: str
    clear_doc: str
    numbers: Struct
    memory: Struct
    inputs: tuple[Field, ...]
    returns: Field
    defaults: tuple[float, ...] | None = None  #: of `numbers`, for a constant with them
    guard: str = ""  #: text that keeps a compiler from merging products and sums
    named_from: str = ""  #: source file whose assignments give values their names


class CFiles(NamedTuple):
    """The texts of the two files."""

    header: str
    source: str
