"""The Teensy's firmware on this machine.

Its constants from the stack's settings, its C core as a library and as a program. A sketch to flash
is written by `footfall stack firmware` (firmware_sketch.py).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from footfall.engines.kernels.cache_folder import cache_folder
from footfall.machines.control.own_law import OwnLaw
from footfall.machines.control.settings import StackSettings
from footfall.realtime.firmware_config import config_header, own_sources

#: Warnings are errors; no product and sum are merged into one rounding, so that the law gives the
#: bits it gives in Python.
FLAGS = ("-O2", "-std=c99", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off")
CONFIG = "footfall_config.h"
GUARD = "exact_floats.h"  #: against compilers that calculate in another precision
_SECONDS = 120  # a compiler may take: 0.5 s is usual
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class CannotBuild(RuntimeError):
    """No C compiler, or one that failed."""


class Compiler(NamedTuple):
    command: tuple[str, ...]
    version: str  #: first line of what it says about itself


def firmware_folder() -> Path:
    """Where the firmware's sources are.

    Beside the package where it is installed, at the root of the source tree otherwise.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "firmware" / "teensy", package.parents[1] / "firmware" / "teensy"):
        if folder.is_dir():
            return folder
    raise CannotBuild(
        f"the firmware's sources are neither in {package} nor in {package.parents[1]}. Install"
        " footfall again."
    )


def core_sources() -> dict[str, str]:
    """File name -> text of the core that the Teensy and this machine share."""
    return _texts(firmware_folder() / "footfall_mid" / "src")


def sources_for(settings: StackSettings) -> dict[str, str]:
    """File name -> text of the core with these settings' constants and law.

    Raises ValueError for settings it cannot be built for.
    """
    core, gains = core_sources(), settings.gains
    own = own_sources(gains, core) if isinstance(gains, OwnLaw) else {}
    return core | own | {CONFIG: config_header(settings)}


def core_library(flags: Sequence[str] = FLAGS) -> Path:
    """The core as a shared library, settings given at run time. Built on first use."""
    sources = core_sources() | _texts(firmware_folder() / "host", "inspect.c")
    return _built("libfootfall_mid.so", sources, (*flags, "-fPIC", "-shared"))


def host_program(settings: StackSettings) -> Path:
    """`footfall-mid`, built for these settings.

    Takes the arguments of footfall.realtime.mid_process. Built on first use.
    """
    try:
        core = sources_for(settings)
    except ValueError as error:
        raise CannotBuild(str(error)) from None
    sources = core | _texts(firmware_folder() / "host")
    del sources["inspect.c"]
    return _built("footfall-mid", sources, FLAGS)


def law_library(law: OwnLaw) -> Path:
    """A law of one's own alone, as a shared library. Built on first use."""
    sources = {"pid.h": law.header, "pid.c": law.source, GUARD: core_sources()[GUARD]}
    return _built("libfootfall_law.so", sources, (*FLAGS, "-fPIC", "-shared"))


def find_compiler() -> Compiler:
    """The C compiler to use.

    That in $CC, else the first of cc, gcc, clang on the path, else the one in the package ziglang.
    """
    asked = shlex.split(os.environ.get("CC", ""))
    candidates = [asked] if asked else [["cc"], ["gcc"], ["clang"]]
    for name, *options in candidates:
        if path := shutil.which(name):
            return _asked_for_version((path, *options))
    if asked:
        raise CannotBuild(f"CC = {asked[0]!r} is not a program. Unset CC, or name a C compiler.")
    if importlib.util.find_spec("ziglang") is not None:
        return _asked_for_version((sys.executable, "-m", "ziglang", "cc"))
    raise CannotBuild(
        "none of cc, gcc, clang is on the path. Install one (Debian: apt-get install gcc), or `pip"
        " install ziglang`. The shipped law also runs in Python (--mid python)."
    )


def _asked_for_version(command: tuple[str, ...]) -> Compiler:
    return Compiler(command, _run([*command, "--version"]).partition("\n")[0])


def _texts(folder: Path, *names: str) -> dict[str, str]:
    paths = [folder / name for name in names] or [
        path for path in sorted(folder.iterdir()) if path.suffix in (".c", ".h")
    ]
    return {path.name: path.read_text() for path in paths}


def _built(name: str, sources: dict[str, str], flags: Sequence[str]) -> Path:
    """What a compiler makes of these sources, kept under everything that decides it."""
    compiler = find_compiler()
    told = "\0".join(
        [
            name,
            *compiler.command,
            compiler.version,
            *flags,
            *(part for item in sorted(sources.items()) for part in item),
        ]
    )
    kept = _private_folder() / hashlib.sha256(told.encode()).hexdigest()[:32] / name
    if not _is_ours(kept):
        with tempfile.TemporaryDirectory(prefix="footfall-") as place:
            made = _compile(compiler, name, sources, flags, Path(place))
            kept.parent.mkdir(mode=0o700, exist_ok=True)
            aside = kept.with_name(f".{name}.{os.getpid()}")
            shutil.copyfile(made, aside)
            aside.chmod(0o700)
            aside.replace(kept)  # whole or not at all: several processes may be building the same
    return kept


def _compile(
    compiler: Compiler, name: str, sources: dict[str, str], flags: Sequence[str], folder: Path
) -> Path:
    for file, text in sources.items():
        (folder / file).write_text(text)
    units = sorted(file for file in sources if file.endswith(".c"))
    _run([*compiler.command, *flags, "-o", name, *units, "-lm"], folder)
    return folder / name


@functools.cache
def _private_folder() -> Path:
    """What lies here is run, so only a folder that is ours and closed to others will do.

    Failing that, one made for this process.
    """
    folder = cache_folder() / "firmware"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    usable = _is_ours(folder) and os.access(folder, os.W_OK)
    return folder if usable else Path(tempfile.mkdtemp(prefix="footfall-"))


def _is_ours(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return (
        not stat.S_ISLNK(found.st_mode)
        and found.st_uid == os.geteuid()
        and not found.st_mode & _OTHERS_WRITE
    )


def _run(command: Sequence[str], folder: Path | None = None) -> str:
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        raise CannotBuild(f"{name} cannot be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise CannotBuild(f"{name} did not finish within {_SECONDS} s") from None
    if done.returncode != 0:
        raise CannotBuild(f"{name} failed:\n{done.stderr or done.stdout}")
    return done.stdout
