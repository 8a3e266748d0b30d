"""NumPy for plain numbers, jax.numpy for traced ones.

A law written once serves a microsecond loop and a compiled batch.
"""

import dataclasses
import sys
from types import ModuleType
from typing import Any

import numpy as np


def namespace(*values: Any) -> ModuleType:
    """`jax.numpy` if any of these is a JAX array, traced or not, else `numpy`.

    Never imports JAX: without it there is no such array.
    """
    jax = sys.modules.get("jax")
    if jax is not None and any(isinstance(value, jax.Array) for value in values):
        return sys.modules["jax.numpy"]
    return np


def traced(*values: Any) -> bool:
    """Whether JAX is looking through any of these.

    Then it has no value, and nothing about it can be checked.
    """
    jax = sys.modules.get("jax")
    return jax is not None and any(isinstance(value, jax.core.Tracer) for value in values)


def choose(flag: Any, yes: Any, no: Any) -> Any:
    """One of two: numbers, or tuples or structs of them, field by field.

    A plain truth value picks as an `if` does; arrays pick elementwise.
    """
    if isinstance(flag, bool | np.bool_):
        return yes if flag else no
    if isinstance(yes, tuple):
        fields = [choose(flag, a, b) for a, b in zip(yes, no, strict=True)]
        return type(yes)(*fields) if hasattr(yes, "_fields") else tuple(fields)
    if dataclasses.is_dataclass(yes):
        names = [field.name for field in dataclasses.fields(yes)]
        return dataclasses.replace(
            yes, **{name: choose(flag, getattr(yes, name), getattr(no, name)) for name in names}
        )
    return yes if yes is no else namespace(flag, yes, no).where(flag, yes, no)


def negated(flag: Any) -> Any:
    """`not flag`, also elementwise. (`~True` is -2.)"""
    return not flag if isinstance(flag, bool) else ~flag


def clamp(value: Any, least: Any, most: Any) -> Any:
    """The value, or the bound that it is beyond; also elementwise. What is no number stays none."""
    if all(isinstance(number, int | float | np.number) for number in (value, least, most)):
        return least if value < least else most if value > most else value
    xp = namespace(value, least, most)
    return xp.minimum(xp.maximum(value, least), most)


def finite(value: Any) -> Any:
    """Whether it is a number of finite size, also elementwise."""
    return abs(value) < float("inf")


def of_kind(number: Any, like: Any) -> Any:
    """A constant in the precision of NumPy numbers, an integer in that of NumPy and JAX numbers.

    Other Python and JAX numbers take theirs from what they meet.
    """
    if isinstance(like, np.floating):
        return type(like)(number)
    if hasattr(number, "dtype") and hasattr(like, "dtype"):  # met by a float, it would be a double
        return number.astype(like.dtype)
    return number
