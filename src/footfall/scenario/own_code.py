"""Robots and parts from Python files of the user's own: `kind = "my_foot.py:Peg"`.

To find such a class is to run its file, which trust.py has to allow. What goes wrong in it is told
with file and line.
"""

import contextlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from footfall.hybrid.fields import ParameterError, nearest
from footfall.numerics.shown import clipped
from footfall.scenario.errors import ScenarioError
from footfall.scenario.trust import require_trust

#: Files that ran, by path and content: two kinds of one file share its classes.
_ran: dict[tuple[Path, bytes], Any] = {}


class Own(NamedTuple):
    """A class and the file it came from."""

    cls: type
    file: Path


class OwnCode:
    """The classes found so far by the kinds that name them, and where to look for more.

    A file that the scenario names lies beside or below the scenario; one that a setting names, in
    or below the working folder, unless the scenario has named that file before. Without a `folder`
    nothing new is looked for: tables of designs and logs bring no code."""

    def __init__(
        self,
        folder: Path | None = None,
        where: str = "",
        *,
        trust: bool = False,
        found: Mapping[str, Own] | None = None,
    ):
        self.folder, self.where, self.trust = folder, where, trust
        self.found: dict[str, Own] = dict(found or {})

    def looking_in(self, folder: Path | None, where: str) -> None:
        """From now on new files are looked for here; `where` says who names them."""
        self.folder, self.where = folder, where

    @property
    def classes(self) -> dict[str, type]:
        """Kind -> class."""
        return {kind: own.cls for kind, own in self.found.items()}

    @property
    def files(self) -> dict[str, Path]:
        """The name a scenario has for each file -> the file."""
        return {kind.partition(":")[0]: own.file for kind, own in self.found.items()}

    def named(self, kind: str, base: Any, what: str) -> Own:
        """The class that a kind names; ScenarioError where there is none that is a `base`."""
        if kind not in self.found:
            name, _, class_name = kind.partition(":")
            path = self.files.get(name)
            if path is None:
                path, code, folder = self._looked_up(kind, name, what)
            else:
                code, folder = path.read_bytes(), path.parent
            require_trust(path, code, folder, self.where or str(folder), told=self.trust)
            self.found[kind] = Own(_class_in(path, code, kind, class_name, base, what), path)
        own = self.found[kind]
        if not issubclass(own.cls, base):
            raise ScenarioError(f'kind = "{clipped(kind)}" is no {what}.')
        return own

    def all_in(self, name: str, base: Any, what: str) -> dict[str, Own]:
        """The classes that a file itself makes, each a `base`, by name."""
        path, code, folder = self._looked_up(name, name, what)
        require_trust(path, code, folder, self.where or str(folder), told=self.trust)
        module = _module_of(path, code)
        found = _classes_in(module, base)
        return {n: Own(c, path) for n, c in found.items() if c.__module__ == module.__name__}

    def _looked_up(self, kind: str, name: str, what: str) -> tuple[Path, bytes, Path]:
        """(file, its content, the folder whose trust it needs)."""
        kind, folder = clipped(kind), self.folder
        if folder is None:
            raise ScenarioError(
                f'kind = "{kind}": code comes from a scenario or from --set, never from a table of'
                " designs or a log."
            )
        if Path(name).is_absolute():
            raise ScenarioError(
                f'kind = "{kind}": name the {what} file relative to the scenario, so that both can'
                " be moved together."
            )
        try:
            path = (folder / name).resolve()
            there = path.is_file()
            if folder.resolve() not in path.parents:
                raise ScenarioError(
                    f'kind = "{kind}": a {what} file must lie beside or below the scenario file'
                    " (named by --set: the working folder)."
                )
            if there and path.suffix != ".py":
                raise ScenarioError(
                    f'{path.name} is not a Python file; write kind = "my_{what}.py:My'
                    f'{what.title()}".'
                )
            code = path.read_bytes() if there else b""
        except (OSError, ValueError, RuntimeError) as error:  # no file's name, or a ring of links
            raise ScenarioError(
                f'kind = "{kind}": this file cannot be read ({clipped(str(error))}).'
            ) from None
        if not there:
            raise ScenarioError(f'kind = "{kind}": there is no file {path}.')
        return path, code, folder


def names_code(kind: Any) -> bool:
    """Whether a kind, as it is written, names a class in a file."""
    return isinstance(kind, str) and ":" in kind


def with_defaults(own: Own) -> Any:
    """One of a class, with the default of each of its parameters."""
    fields = inspect.signature(own.cls).parameters.values()
    bare = [field.name for field in fields if field.default is field.empty]
    if bare:
        raise ScenarioError(
            f"{own.file}: {own.cls.__name__} has no default for {', '.join(bare)}. Write one, as in"
            ' param(0.1, unit="m", doc="...").'
        )
    with told_with_line([own.file]):
        try:
            return own.cls()
        except ParameterError as error:
            raise ScenarioError(f"{own.file}: {error}") from None


@contextlib.contextmanager
def told_with_line(files: Iterable[Path]) -> Iterator[None]:
    """What goes wrong in one of these files is told with its file and line.

    Anything else is ours, and shown as it is.
    """
    try:
        yield
    except Exception as error:
        cause = error.__cause__ if isinstance(error, ScenarioError) else error
        mine = {str(file.resolve()) for file in files}
        lines = [
            frame
            for frame in traceback.extract_tb(cause.__traceback__ if cause else None)
            if frame.filename in mine
        ]
        if not lines:
            raise
        raise ScenarioError(
            f"{lines[-1].filename}, line {lines[-1].lineno}: {type(cause).__name__}: {cause}"
        ) from cause


def _module_of(path: Path, code: bytes) -> Any:
    module = _ran.get((path, code))
    if module is None:
        module = _ran[path, code] = _imported(path, code)
    return module


def _classes_in(module: Any, base: Any) -> dict[str, type]:
    found = {n: c for n, c in vars(module).items() if inspect.isclass(c) and issubclass(c, base)}
    return {n: c for n, c in found.items() if not inspect.isabstract(c)}


def _class_in(path: Path, code: bytes, kind: str, name: str, base: Any, what: str) -> type:
    module = _module_of(path, code)
    found = _classes_in(module, base)
    if name in found:
        return found[name]
    known = ", ".join(found) or "none"
    raise ScenarioError(
        f'kind = "{clipped(kind)}": {path.name} has no {what} "{clipped(name)}".'
        f" {'Robots' if what == 'robot' else f'Kinds of {what}'} in it: {known}."
        f"{nearest(name, found)}{_why_not(module, name, base)}"
    )


def _why_not(module: Any, name: str, base: Any) -> str:
    """What keeps a class of that name from being one of these."""
    cls = getattr(module, name, None)
    if not inspect.isclass(cls):
        return ""
    if issubclass(cls, base):
        return f"\n  {name} lacks: {', '.join(sorted(getattr(cls, '__abstractmethods__', ())))}."
    bases = [one.__name__ for one in getattr(base, "__args__", (base,))]
    return f"\n  {name} must be a subclass of {' or '.join(bases)}."


def _imported(path: Path, code: bytes) -> Any:
    """A user's file as a module.

    What runs is `code`, which was looked at, never a compiled file that lies beside it.
    """
    spec = importlib.util.spec_from_file_location(f"footfall_own_{path.stem}", path)
    assert spec is not None  # its name ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look their module up while it is being made
    try:
        exec(compile(code, str(path), "exec", dont_inherit=True), vars(module))
    except Exception as error:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == str(path)
        ]
        line = getattr(error, "lineno", None) or (lines[-1] if lines else "?")
        raise ScenarioError(f"{path}, line {line}: {type(error).__name__}: {error}") from error
    return module
