"""Compilers, run with a time limit that leaves nothing behind; and one that comes by pip."""

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from footfall.engines.kernels.fuse_errors import NoCompiler


def ziglang() -> tuple[str, ...] | None:
    """The command of the package ziglang, which holds a clang; None if it is not installed."""
    # -P: not what lies under that name in the folder where somebody happens to be.
    return (sys.executable, "-P", "-m", "ziglang") if importlib.util.find_spec("ziglang") else None


def time_limit() -> float:
    """Seconds a compiler may take: $FOOTFALL_COMPILE_SECONDS, else 120."""
    try:
        return float(os.environ["FOOTFALL_COMPILE_SECONDS"])
    except (KeyError, ValueError):
        return 120.0


def zig_writes_to(folder: Path) -> dict[str, str]:
    """The environment in which what zig keeps for itself is in this folder."""
    return dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"), str(folder))


def run_compiler(
    command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> str:
    """What a command says, or NoCompiler with the reason on one line.

    It runs in a group of its own, which dies with it, in `folder` if given; `environment` is added
    to ours.
    """
    name = "ziglang" if "ziglang" in command else Path(command[0]).name
    seconds = time_limit()
    with _room() as output:
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "LC_ALL": "C", **(environment or {})},
                start_new_session=True,
            )
        except OSError as error:
            raise NoCompiler(f"{name} cannot be run: {error.strerror}") from None
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise NoCompiler(
                f"{name} did not finish within {seconds:g} s (FOOTFALL_COMPILE_SECONDS)"
            ) from None
        finally:
            _end_group(process)
        output.seek(0)
        said = output.read().decode(errors="replace")
    if code != 0:
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        how = f"exit status {code}" if code > 0 else f"ended by signal {-code}"
        telling = next(
            (line for line in lines if "error" in line.lower()),
            lines[0] if lines else how,
        )
        raise NoCompiler(f"{name} failed: {telling}")
    return said


def _room() -> IO[bytes]:
    """A file for what a compiler says."""
    try:
        return tempfile.TemporaryFile()
    except OSError as error:
        raise NoCompiler(f"nowhere to compile: {error.strerror or error}") from error


def _end_group(process: subprocess.Popen) -> None:
    """Compilers start others (cc1plus, as, ld): on a timeout or Ctrl-C they go too."""
    if process.poll() is None:
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        else:  # Windows has no groups: what it started ends by itself
            process.terminate()
        process.wait()
