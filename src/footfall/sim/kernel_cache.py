"""Compiled kernels, kept on disk by content, and loaded only if this user built them.

A shared library runs as us the moment it is loaded, so a folder of libraries is a door. Nothing kept is loaded unless folder and file
are ours and closed to others, and a record beside the library names its SHA-256, signed (HMAC) with a secret that only this user can
read. What was checked is what is loaded: the bytes are read once, and a private copy of them is opened. Whatever fails a check is
built again. Where no such folder can be had, kernels are built all the same, and not kept.
"""

import contextlib
import ctypes
import hashlib
import hmac
import os
import secrets
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from footfall.sim.cache_folder import cache_folder
from footfall.sim.compiler import find_compiler
from footfall.sim.fuse_errors import NoCompiler

SECRET = "secret"  #: the file with the HMAC key
SECRET_BYTES = 32
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
OTHERS_ANY = stat.S_IRWXG | stat.S_IRWXO


class Loaded(NamedTuple):
    """A kernel's library, and how it came."""

    library: ctypes.CDLL
    compile_seconds: float  #: 0 if it came from the cache
    from_cache: bool


def load_kernel(source: str) -> Loaded:
    """The library made from a C++ source: from the cache, or compiled now. Raises NoCompiler."""
    compiler = find_compiler()
    name = hashlib.sha256(f"{compiler.identity()}\n{source}".encode()).hexdigest()
    with _private_folder(cache_folder() / "kernels") as folder:
        if folder and (kept := folder.kept(name)) is not None:
            return Loaded(_load(kept), 0.0, True)
        started = time.monotonic()
        try:
            with tempfile.TemporaryDirectory(prefix="footfall-") as place:  # made 0700
                library = compiler.build(source, Path(place))
        except OSError as error:  # no temporary folder, or no room in it
            raise NoCompiler(f"nowhere to compile: {error.strerror or error}") from error
        seconds = time.monotonic() - started
        if folder:
            folder.keep(name, library)
        return Loaded(_load(library), seconds, False)


class _Folder:
    """A folder that is ours and closed to others, held open: a path may be swapped between two looks, an open folder may not."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def kept(self, name: str) -> bytes | None:
        """A library's bytes if we put them here, else None."""
        record, library = self.read(f"{name}.record"), self.read(f"{name}.so")
        secret = self.secret()
        if record is None or library is None or secret is None:
            return None
        return library if hmac.compare_digest(record, _record(secret, name, library)) else None

    def keep(self, name: str, library: bytes) -> None:
        """Put a library here for the next time. Losing the race to another process, or a full disk, costs a compilation later."""
        secret = self.secret()
        if secret is not None:
            with contextlib.suppress(OSError):
                self.write(f"{name}.so", library)
                self.write(f"{name}.record", _record(secret, name, library))

    def secret(self) -> bytes | None:
        """The key our records are signed with, made on first use; None if it can be neither read nor made."""
        for _ in range(2):
            found = self.read(SECRET, OTHERS_ANY)
            if found is not None and len(found) == SECRET_BYTES:
                return found
            # Missing, or not to be trusted: then neither is anything signed with it.
            with contextlib.suppress(OSError):
                if found is not None or self.exists(SECRET):
                    os.unlink(SECRET, dir_fd=self.fd)
                self.write(SECRET, secrets.token_bytes(SECRET_BYTES), replace=False)
        return None

    def exists(self, name: str) -> bool:
        try:
            os.lstat(name, dir_fd=self.fd)
        except OSError:
            return False
        return True

    def read(self, name: str, closed: int = OTHERS_WRITE) -> bytes | None:
        """A file's bytes if it is a plain file of ours without the `closed` permissions; a link is not followed."""
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.fd)
        except OSError:
            return None
        with os.fdopen(fd, "rb") as file:
            return file.read() if _is_ours(os.fstat(fd), stat.S_ISREG, closed) else None

    def write(self, name: str, content: bytes, *, replace: bool = True) -> None:
        """A whole file or none: written aside, then given its name, so that nobody ever reads half of it."""
        aside = f".{name}.{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(aside, flags, 0o600, dir_fd=self.fd)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(content)
            if replace:
                os.rename(aside, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
            else:
                with contextlib.suppress(FileExistsError):  # another process was first: its file counts
                    os.link(aside, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(aside, dir_fd=self.fd)


@contextlib.contextmanager
def _private_folder(path: Path) -> Iterator[_Folder | None]:
    """The folder, made if need be; None if it is not ours alone."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        yield _Folder(fd) if _is_ours(os.fstat(fd), stat.S_ISDIR, OTHERS_WRITE) and os.access(path, os.W_OK) else None
    finally:
        os.close(fd)


def _is_ours(found: os.stat_result, kind, closed: int) -> bool:
    return kind(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & closed


def _record(secret: bytes, name: str, library: bytes) -> bytes:
    """The library's hash, and proof that we wrote it down for this very name."""
    digest = hashlib.sha256(library).hexdigest()
    proof = hmac.new(secret, f"{name} {digest}".encode(), hashlib.sha256).hexdigest()
    return f"sha256 {digest}\nhmac {proof}\n".encode()


#: Libraries already in this process, by their SHA-256: they cannot be unloaded, so none is loaded twice.
_loaded: dict[str, ctypes.CDLL] = {}


def _load(library: bytes) -> ctypes.CDLL:
    """Load exactly these bytes."""
    digest = hashlib.sha256(library).hexdigest()
    if digest not in _loaded:
        try:
            _loaded[digest] = _load_from_memory(library)
        except (OSError, AttributeError):  # not Linux, or a system that forbids it
            _loaded[digest] = _load_from_file(library)
    return _loaded[digest]


def _load_from_memory(library: bytes) -> ctypes.CDLL:
    """A file without a name: nobody else can open it. It stays open, because the loader takes an equal path for the same library."""
    fd = os.memfd_create("footfall-kernel", os.MFD_CLOEXEC)
    try:
        with os.fdopen(fd, "wb", closefd=False) as file:
            file.write(library)
        return ctypes.CDLL(f"/proc/self/fd/{fd}")
    except OSError:
        os.close(fd)
        raise


def _load_from_file(library: bytes) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory(prefix="footfall-") as place:
        path = Path(place) / "kernel.so"
        path.write_bytes(library)
        try:
            return ctypes.CDLL(str(path))
        except OSError as error:
            raise NoCompiler(f"the compiled kernel cannot be loaded: {str(error).partition(chr(10))[0]}") from None
