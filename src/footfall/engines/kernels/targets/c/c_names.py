"""Names for the values of a traced program: those of the assignments they came from."""

import ast
from pathlib import Path
from typing import NamedTuple

from footfall.engines.kernels.traced_program import Equation, places

#: What no value may be called: words of C, and of the headers a file includes.
RESERVED = frozenset(
    [
        *("asm", "auto", "bool", "break", "case", "char", "const", "continue", "default", "do"),
        *("double", "else", "enum", "extern", "false", "float", "for", "fortran", "goto", "if"),
        *("inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof"),
        *("static", "struct", "switch", "true", "typedef", "union", "unsigned", "void"),
        *("volatile", "while", "INFINITY", "NAN"),
    ]
)


class Statements:
    """The statements of a Python file, and what each of them assigns to."""

    def __init__(self, file: str) -> None:
        self.file = file
        try:
            tree = ast.parse(Path(file).read_text(encoding="utf-8")) if file else None
        except (OSError, SyntaxError, ValueError):
            tree = None
        self.all = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)] if tree else []

    def of(self, equation: Equation) -> "Place | None":
        """Where an equation was written: the innermost statement of this file.

        What a function returns has the name that its caller gives it.
        """
        place = None
        for line in [line for file, line in places(equation) if file == self.file]:
            around = [node for node in self.all if node.lineno <= line <= (node.end_lineno or 0)]
            statement = max(around, key=lambda node: node.lineno, default=None)
            if statement is None:
                return place
            name = _field(statement, line) or _assigned(statement)
            place = Place(
                place.statement if place else statement, place.line if place else line, name
            )
            if not isinstance(statement, ast.Return):
                return place
        return place


class Place(NamedTuple):
    """A statement, and the name it gives to what is calculated there."""

    statement: ast.stmt
    line: int
    name: str | None


def _assigned(statement: ast.stmt) -> str | None:
    """The one name that a statement assigns to."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        target = statement.target
    else:
        return None
    return target.id if isinstance(target, ast.Name) and target.id.isascii() else None


def _field(statement: ast.stmt, line: int) -> str | None:
    """The field of a struct that is filled on this line: of Memory(level=..., rate=...)."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and _called(node)[:1].isupper():
            for word in node.keywords:
                if word.lineno <= line <= (word.end_lineno or 0):
                    return word.arg
    return None


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


class Names:
    """Hands names out, each once."""

    def __init__(self, taken: frozenset[str]) -> None:
        self.taken = set(taken | RESERVED)

    def fresh(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self.taken:
            number += 1
            name = f"{wanted}_{number}"
        self.taken.add(name)
        return name
