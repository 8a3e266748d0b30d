"""How footfall sets JAX up before the first program is compiled.

Small loops compiled whole, compiled programs kept on disk.

On a CPU, XLA runs a loop of small operations through a dispatcher that costs more than the
operations. One backend option makes it compile such a loop into one piece of code (3 to 12 times
faster here). The option is internal to XLA: an unknown one may abort the process, so a jaxlib that
is not on the list below is tried in a process of its own first, once. XLA reads it when it starts;
afterwards the environment is as it was, so that no other process inherits it.

What a user chose stays: a cache of one's own, that very option in XLA_FLAGS, or a JAX
that has already started.
"""

import importlib.metadata
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from footfall.engines.kernels.cache_folder import cache_folder
from footfall.engines.kernels.private_folder import private_folder

#: Loops that touch fewer bytes than this are compiled whole. Larger values were not faster, and
#: some made compilation hang.
SMALL_LOOP_BYTES = 100_000
FLAG = f"--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold={SMALL_LOOP_BYTES}"
TRIED = ("0.10.2", "0.11.2", "0.12.0.1")  # jaxlib versions on which our tests ran with the option

_lock = threading.Lock()
_prepared = False


def prepare_jax() -> None:
    """Set JAX up, once in a process.

    Called wherever a program may be about to be compiled; a call after the first costs nothing.
    """
    global _prepared
    with _lock:
        if not _prepared:
            _use_cache(whole_loops=_start_with_whole_loops())
            _prepared = True


def _start_with_whole_loops() -> bool:
    """Start JAX's backend with our option.

    False if it runs without, because the user or an unknown jaxlib has it so.
    """
    import jax

    before = os.environ.get("XLA_FLAGS")
    if "xla_backend_extra_options" in (before or "") or _has_started() or not _option_is_safe():
        return False
    os.environ["XLA_FLAGS"] = f"{before or ''} {FLAG}".strip()
    try:
        jax.devices()
    finally:
        if before is None:
            del os.environ["XLA_FLAGS"]
        else:
            os.environ["XLA_FLAGS"] = before
    return True


def _has_started() -> bool:
    """Whether JAX's backend runs already, which has then read its options.

    A JAX that does not tell counts as started.
    """
    try:
        from jax._src import xla_bridge

        return xla_bridge.backends_are_initialized()
    except (ImportError, AttributeError):
        return True


def _use_cache(whole_loops: bool) -> None:
    """Keep every compiled program on disk, however small; without a writable folder, go without.

    Two folders: JAX names a program after what is in XLA_FLAGS now, not when it started.
    """
    import jax

    if getattr(jax.config, "jax_compilation_cache_dir", None):
        return
    folder = cache_folder() / ("xla-whole-loops" if whole_loops else "xla")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return
    if os.access(folder, os.W_OK):
        _check_programs(folder)
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


class CheckedPrograms:
    """Compiled programs in a folder, as JAX wants them kept.

    What is not to the bit what was put there does not come back.

    JAX's own store has neither a checksum nor whole writes: a flipped byte has crashed the process
    or given a wrong result.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder

    def get(self, key: str) -> bytes | None:
        with private_folder(self._path, ".program") as folder:
            return folder.kept(key) if folder else None

    def put(self, key: str, value: bytes) -> None:
        with private_folder(self._path, ".program") as folder:
            if folder:
                folder.keep(key, value)


def _check_programs(folder: Path) -> None:
    """Let JAX keep the programs of this folder our way.

    A JAX that cannot be told so keeps them its own way, unchecked.
    """
    try:
        from jax._src import compilation_cache
        from jax._src.compilation_cache_interface import CacheInterface

        theirs = compilation_cache.get_file_cache
        if CacheInterface.__abstractmethods__ != {"get", "put"} or not hasattr(os, "O_DIRECTORY"):
            return
    except (ImportError, AttributeError):
        return

    def get_file_cache(path: str, *more: Any, **options: Any) -> Any:
        return (
            (CheckedPrograms(folder), path)
            if path == str(folder)
            else theirs(path, *more, **options)
        )

    compilation_cache.get_file_cache = get_file_cache


def _option_is_safe() -> bool:
    version = importlib.metadata.version("jaxlib")
    if version in TRIED:
        return True
    note = cache_folder() / f"small-loops-{version}"
    if note.exists():
        return note.read_text() == "safe"
    program = (
        "import jax; jax.jit(lambda x: jax.lax.while_loop(lambda v: v < 9, lambda v: v + x,"
        " 0.0))(1.0).block_until_ready()"
    )
    environment = os.environ | {"XLA_FLAGS": FLAG, "JAX_PLATFORMS": "cpu"}
    try:
        safe = (
            subprocess.run(
                [sys.executable, "-c", program], env=environment, capture_output=True, timeout=60
            ).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        safe = False
    try:
        note.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        note.write_text("safe" if safe else "unsafe")
    except OSError:
        pass
    return safe
