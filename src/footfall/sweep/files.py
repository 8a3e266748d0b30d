"""Files that are either whole or not there.

Written aside in the same folder, flushed to the disk, then renamed.
"""

import contextlib
import errno
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

from footfall.sweep.errors import SweepError

ASIDE = ".tmp"


def write_aside(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a file beside `path`, then put it in place.

    Whatever fails, nothing half-written is left.

    The name aside is new each time, so that two workers that were given the same work do not write
    into each other's file.
    """
    aside = path.with_name(f".{path.stem}-{os.getpid()}-{secrets.token_hex(4)}{ASIDE}")
    try:
        write(aside)
        _flush(aside)
        aside.replace(path)
        _flush(path.parent)
    except OSError as error:
        raise SweepError(_reason(path, error)) from None
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> int:
    """Remove what killed writers left aside; returns how many files."""
    leftovers = list(folder.glob(f".*{ASIDE}"))
    for file in leftovers:
        with contextlib.suppress(OSError):
            file.unlink()
    return len(leftovers)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One sweep process per folder.

    The lock dies with the process, so a killed sweep leaves none behind.
    """
    try:
        import fcntl
    except ImportError:  # not a Unix; two sweeps in one folder then only do the same work twice
        yield
        return
    try:
        # Never through a link, and nothing is written: the file is there to be locked.
        handle = os.open(
            folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666
        )
    except OSError as error:
        raise SweepError(_reason(folder / ".lock", error)) from None
    with os.fdopen(handle, "rb+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise SweepError(
                    f"{folder}: another process is working on this sweep. Wait for it, or stop it"
                    " first."
                ) from None
            # a file system without locks: go on without
        yield


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _reason(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"{path} could not be written: the disk is full. What was finished is kept."
            " Make room and go on with the same command and --resume."
        )
    return f"{path} could not be written: {error.strerror or error}."
