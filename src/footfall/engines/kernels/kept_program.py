"""Texts of programs, kept on disk under what they were traced from.

To trace a model and to write its text takes seconds, and the next process would do the same again.
What is traced depends on three things: the code of footfall and of the libraries it is traced with,
the structure of the system (its classes and everything in it that is not a number), and what the
caller adds. All three make the key; a model whose code is not footfall's own, or that holds
something without a lasting name (a lambda), has none and is traced each time.

What is kept is given back only if this user put it there (`private_folder`).
"""

import dataclasses
import enum
import functools
import hashlib
import importlib.metadata
import pickle
import platform
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np

from footfall.engines.kernels.cache_folder import cache_folder
from footfall.engines.kernels.private_folder import private_folder

#: Whether anything is kept. Tests that change footfall's own code as they run do not.
keep = True

#: Whose code may be part of a model.
OWN = "footfall"
#: Libraries that decide what is traced.
TRACED_WITH = ("jax", "jaxlib", "numpy", "equinox", "diffrax")

Made = TypeVar("Made")


class NoKey(Exception):
    """Something in a system has no name that lasts."""


def kept_program(given: Any, make: Callable[[], Made]) -> Made:
    """What `make()` gives, or gave in another process for the same; it must be picklable.

    `given` is everything it depends on besides code: plain data, tuples of it, and structures of
    JAX trees.
    """
    try:
        key = hashlib.sha256(f"{_code()}\n{described(given)}".encode()).hexdigest() if keep else ""
    except NoKey:
        key = ""
    if not key:
        return make()
    with private_folder(cache_folder() / "programs", ".program") as folder:
        if folder and (kept := folder.kept(key)) is not None:
            return pickle.loads(zlib.decompress(kept))
        made = make()
        if folder:
            folder.keep(key, zlib.compress(pickle.dumps(made), 1))
        return made


def described(value: Any) -> str:
    """A text that is the same for equal things, in every process, and for nothing else.

    Raises NoKey.
    """
    match value:
        case None | bool() | int() | str() | bytes():
            return repr(value)
        case float():
            return value.hex()
        case enum.Enum():
            return f"{_named(type(value))}.{value.name}"
        case np.dtype():
            return f"dtype {value.str}"
        case np.generic():
            return f"{value.dtype.str} {value.tobytes().hex()}"
        case tuple() | list():
            return f"{_named(type(value))}({', '.join(map(described, value))})"
        case dict():
            return f"{{{', '.join(f'{described(k)}: {described(v)}' for k, v in value.items())}}}"
        case jax.tree_util.PyTreeDef():
            return _tree(value)
        case type():
            return _named(value)
    if dataclasses.is_dataclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return f"{_named(type(value))}{described(fields)}"
    if not getattr(value, "__dict__", True):  # a mark, such as those of Equinox
        return _named(type(value))
    raise NoKey(repr(value))


def _tree(tree: Any) -> str:
    """Classes, and what they hold besides numbers; a number is a star."""
    node = tree.node_data()
    if node is None:
        return "*"
    kind, rest = node
    if kind is type(None):
        return "None"
    return f"{_named(kind)}[{described(rest)}]({', '.join(map(_tree, tree.children()))})"


def _named(kind: type) -> str:
    """A class that the next process finds under the same name with the same code."""
    module, name = kind.__module__, kind.__qualname__
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    lasting = module.partition(".")[0] in (OWN, "builtins", *TRACED_WITH) and found is kind
    if not lasting:
        raise NoKey(f"{module}.{name}")
    return f"{module}.{name}"


@functools.cache
def _code() -> str:
    """The state of all code that traces and writes programs."""
    root = Path(__file__).parents[2]
    files = sorted(
        (str(path), (found := path.stat()).st_size, found.st_mtime_ns)
        for pattern in ("*.py", "*.h")
        for path in root.rglob(pattern)
    )
    versions = [importlib.metadata.version(name) for name in TRACED_WITH]
    return repr((files, versions, platform.python_version(), jax.config.read("jax_enable_x64")))
