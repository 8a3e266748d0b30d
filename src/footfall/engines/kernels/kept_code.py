"""Compiled code, kept on disk by content, and given back only if this user built it.

Nothing kept is used unless folder and file are ours and closed to others, and it is to the bit what
we put there (`private_folder`). Whatever fails a check is built again. Where no such folder can be
had, code is built all the same, and not kept.
"""

import hashlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from footfall.engines.kernels.cache_folder import cache_folder
from footfall.engines.kernels.fuse_errors import NoCompiler
from footfall.engines.kernels.private_folder import private_folder


class Code(NamedTuple):
    """What a compiler made, and how it came."""

    content: bytes
    compile_seconds: float  #: 0 if it came from the cache
    from_cache: bool


def kept_code(source: str, compiler: str, ending: str, build: Callable[[str, Path], bytes]) -> Code:
    """What `build(source, folder)` makes, in a folder that is ours alone. Raises NoCompiler.

    `compiler` is everything else that decides what it makes.
    """
    name = hashlib.sha256(f"{compiler}\n{source}".encode()).hexdigest()
    with private_folder(cache_folder() / "kernels", ending) as folder:
        if folder and (kept := folder.kept(name)) is not None:
            return Code(kept, 0.0, True)
        started = time.monotonic()
        try:
            with tempfile.TemporaryDirectory(prefix="footfall-") as place:  # made 0700
                content = build(source, Path(place))
        except OSError as error:  # no temporary folder, or no room in it
            raise NoCompiler(f"nowhere to compile: {error.strerror or error}") from error
        seconds = time.monotonic() - started
        if folder:
            folder.keep(name, content)
        return Code(content, seconds, False)
