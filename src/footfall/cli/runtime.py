"""How the command line sets JAX up before it starts: compiled programs kept on disk, and small loops compiled whole.

On a CPU, XLA runs a loop of small operations through a dispatcher that costs more than the operations. One backend option makes it
compile such a loop into one piece of code (3 to 12 times faster here). The option is internal to XLA: an unknown one may
abort the process, so a jaxlib that is not on the list below is tried in a process of its own first, once.
"""

import importlib.metadata
import os
import subprocess
import sys

from footfall.sim.cache_folder import cache_folder

#: Loops that touch fewer bytes than this are compiled whole. Larger values were not faster, and some made compilation hang.
SMALL_LOOP_BYTES = 100_000
FLAG = f"--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold={SMALL_LOOP_BYTES}"
TRIED = ("0.10.2",)  # jaxlib versions on which our tests ran with the option


def prepare() -> None:
    """Set the environment and JAX's cache. Must run before JAX starts its backend; importing jax is not starting it."""
    if "xla_backend_extra_options" not in os.environ.get("XLA_FLAGS", "") and _option_is_safe():
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {FLAG}".strip()
    use_cache()


def use_cache() -> None:
    """Keep every compiled program on disk, however small; without a writable folder, go without."""
    import jax

    folder = cache_folder() / "xla"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return
    if os.access(folder, os.W_OK):
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def share_cache() -> None:
    """Let processes started from here, such as workers, use the same folder of compiled programs."""
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache_folder() / "xla"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


def _option_is_safe() -> bool:
    version = importlib.metadata.version("jaxlib")
    if version in TRIED:
        return True
    note = cache_folder() / f"small-loops-{version}"
    if note.exists():
        return note.read_text() == "safe"
    program = (
        "import jax; jax.jit(lambda x: jax.lax.while_loop(lambda v: v < 9, lambda v: v + x, 0.0))(1.0).block_until_ready()"
    )
    environment = os.environ | {"XLA_FLAGS": FLAG, "JAX_PLATFORMS": "cpu"}
    try:
        safe = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        safe = False
    try:
        note.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        note.write_text("safe" if safe else "unsafe")
    except OSError:
        pass
    return safe
