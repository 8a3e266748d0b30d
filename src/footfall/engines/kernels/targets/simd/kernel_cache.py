"""Compiled libraries, kept on disk by content, and loaded only if this user built them.

A shared library runs as us the moment it is loaded, so a folder of libraries is a door
(`kept_code`). What was checked is what is loaded: the bytes are read once, and a private copy of
them is opened.
"""

import ctypes
import hashlib
import os
import tempfile
from pathlib import Path
from typing import NamedTuple

from footfall.engines.kernels.fuse_errors import NoCompiler
from footfall.engines.kernels.kept_code import kept_code
from footfall.engines.kernels.targets.simd.compiler import find_compiler


class Loaded(NamedTuple):
    """A kernel's library, and how it came."""

    library: ctypes.CDLL
    compile_seconds: float  #: 0 if it came from the cache
    from_cache: bool


def load_kernel(source: str, quick: bool = False) -> Loaded:
    """The library made from a C++ source: from the cache, or compiled now. Raises NoCompiler.

    `quick`: optimised less, in less time.
    """
    compiler = find_compiler()
    if quick:
        compiler = compiler.in_less_time()
    code = kept_code(source, compiler.identity(), ".so", compiler.build)
    return Loaded(_load(code.content), code.compile_seconds, code.from_cache)


#: Libraries already in this process, by their SHA-256: they cannot be unloaded, so none is loaded
#: twice.
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
    """A file without a name: nobody else can open it.

    It stays open, because the loader takes an equal path for the same library.
    """
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
            raise NoCompiler(
                f"the compiled kernel cannot be loaded: {str(error).partition(chr(10))[0]}"
            ) from None
