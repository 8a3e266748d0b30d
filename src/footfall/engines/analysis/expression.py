"""What is minimised and what must hold: expressions of figures by name, with their slopes.

"mean_speed", "motor_work / distance", "2 * peak_torque_1 - 0.1", "-mean_speed". A figure may be
several numbers (the largest torque in each part of a plan); an expression of it is as many.
"""

import ast
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from footfall.hybrid.fields import ParameterError, nearest

#: Least size that a limit or an objective is measured in.
LEAST_UNIT = 1e-9

#: A value, and its slopes on one axis more.
Dual = tuple[Any, Any]


def _times(a: Dual, b: Dual) -> Dual:
    return a[0] * b[0], a[1] * _wide(b[0]) + b[1] * _wide(a[0])


def _power(a: Dual, b: Dual) -> Dual:
    if np.any(b[1]):
        raise ParameterError("an exponent is a number, not a figure.", "minimise")
    return a[0] ** b[0], a[1] * _wide(b[0] * a[0] ** (b[0] - 1.0))


def _over(a: Dual, b: Dual) -> Dual:
    return _times(a, _power(b, (np.float64(-1.0), np.zeros(1))))


_OPERATIONS: dict[type, Callable[[Dual, Dual], Dual]] = {
    ast.Add: lambda a, b: (a[0] + b[0], a[1] + b[1]),
    ast.Sub: lambda a, b: (a[0] - b[0], a[1] - b[1]),
    ast.Mult: _times,
    ast.Div: _over,
    ast.Pow: _power,
}
_FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "abs": (np.abs, np.sign),
    "sqrt": (np.sqrt, lambda v: 0.5 / np.sqrt(v)),
    "log": (np.log, lambda v: 1.0 / v),
    "exp": (np.exp, np.exp),
}

#: A name that is not a function's: `least_room.touchdown.0`.
_FIGURE = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*(?!\w|\s*\()")


def _wide(value: Any) -> Any:
    return np.asarray(value)[..., None]


class Expression:
    """A formula of figures. Raises ParameterError for what is none."""

    def __init__(self, said: str, option: str = "minimise"):
        self.said, self.option = " ".join(said.split()), option
        # Names of figures have dots and digits in them: each is one word here.
        words = {name: f"figure_{k}" for k, name in enumerate(_FIGURE.findall(self.said))}
        self._figure_of = {word: name for name, word in words.items()}
        self.names = tuple(words)
        try:
            plain = _FIGURE.sub(lambda found: words[found[0]], self.said)
            self._tree = ast.parse(plain, mode="eval").body
            self._check(self._tree)
        except (SyntaxError, TypeError):
            raise ParameterError(
                f"--{option} {said}: write names of figures, numbers, + - * / ** and"
                f" {', '.join(_FUNCTIONS)}, such as motor_work / distance.",
                option,
            ) from None

    def __str__(self) -> str:
        return self.said

    def _check(self, node: ast.AST) -> None:
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
            self._check(node.left)
            self._check(node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            self._check(node.operand)
        elif isinstance(node, ast.Call) and _called(node) in _FUNCTIONS and len(node.args) == 1:
            self._check(node.args[0])
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            pass
        elif not isinstance(node, ast.Name):
            raise TypeError

    def require(self, known: Sequence[str]) -> None:
        """Raise for a name that is no figure."""
        for name in self.names:
            if name not in known:
                raise ParameterError(
                    f'--{self.option}: "{name}" is no figure here. Known: {", ".join(known)}.'
                    f"{nearest(name, known)}",
                    self.option,
                )

    def value(self, figures: Mapping[str, Any]) -> Any:
        return self.at(figures, dict.fromkeys(self.names, np.zeros(1)))[0]

    def at(self, figures: Mapping[str, Any], slopes: Mapping[str, Any]) -> Dual:
        """Its value, and its slopes on the last axis."""
        return self._at(self._tree, figures, slopes)

    def _at(self, node: Any, figures: Mapping[str, Any], slopes: Mapping[str, Any]) -> Dual:
        if isinstance(node, ast.Constant):
            return np.float64(node.value), np.zeros(1)
        if isinstance(node, ast.UnaryOp):
            sign = -1.0 if isinstance(node.op, ast.USub) else 1.0
            value, slope = self._at(node.operand, figures, slopes)
            return sign * value, sign * slope
        if isinstance(node, ast.BinOp):
            sides = (self._at(side, figures, slopes) for side in (node.left, node.right))
            return _OPERATIONS[type(node.op)](*sides)
        if isinstance(node, ast.Call):
            function, rate = _FUNCTIONS[_called(node)]
            value, slope = self._at(node.args[0], figures, slopes)
            return function(value), slope * _wide(rate(value))
        name = self._figure_of[node.id]
        return np.asarray(figures[name], float), np.asarray(slopes[name], float)


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


@dataclasses.dataclass(frozen=True)
class Objective:
    """An expression that is to be small, or large."""

    expression: Expression
    least: bool = True

    @property
    def sign(self) -> float:
        return 1.0 if self.least else -1.0

    def __str__(self) -> str:
        return str(self.expression)

    def worst(self, figures: Mapping[str, Any]) -> float:
        """Its value; of several numbers the one that decides."""
        return float(self.sign * np.max(self.sign * np.asarray(self.expression.value(figures))))

    def no_worse_than(self, limit: float) -> "Constraint":
        """As a constraint."""
        return Constraint(self.expression, not self.least, limit)


@dataclasses.dataclass(frozen=True)
class Constraint:
    """An expression that is to stay on one side of a limit."""

    expression: Expression
    least: bool  #: at least, or at most
    limit: float

    @classmethod
    def of(cls, said: str) -> "Constraint":
        """From "mean_speed >= 0.6"."""
        parts = re.fullmatch(r"(.+?)(>=|<=)(.+)", said)
        try:
            assert parts is not None
            return cls(Expression(parts[1], "subject-to"), parts[2] == ">=", float(parts[3]))
        except (AssertionError, ValueError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(
                f'--subject-to "{said}": write it as "FIGURE >= NUMBER" or "FIGURE <= NUMBER",'
                ' such as "mean_speed >= 0.6".',
                "subject-to",
            ) from None

    @property
    def unit(self) -> float:
        return max(abs(self.limit), LEAST_UNIT)

    def room(self, figures: Mapping[str, Any]) -> float:
        """What is left of it, as a share of its limit; negative where it is broken."""
        side = 1.0 if self.least else -1.0
        value = np.asarray(self.expression.value(figures))
        return float(np.min(side * (value - self.limit)) / self.unit)

    def __str__(self) -> str:
        return f"{self.expression} {'>=' if self.least else '<='} {self.limit:.6g}"
