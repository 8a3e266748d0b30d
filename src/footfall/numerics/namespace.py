"""NumPy for plain numbers, jax.numpy for traced ones: a law written once serves a microsecond loop and a compiled batch."""

import sys
from types import ModuleType
from typing import Any

import numpy as np


def namespace(*values: Any) -> ModuleType:
    """`jax.numpy` if any of these is a JAX array, traced or not, else `numpy`. Never imports JAX: without it there is no such array."""
    jax = sys.modules.get("jax")
    if jax is not None and any(isinstance(value, jax.Array) for value in values):
        return sys.modules["jax.numpy"]
    return np


def traced(*values: Any) -> bool:
    """Whether JAX is looking through any of these: then it has no value, and nothing about it can be checked."""
    jax = sys.modules.get("jax")
    return jax is not None and any(isinstance(value, jax.core.Tracer) for value in values)
