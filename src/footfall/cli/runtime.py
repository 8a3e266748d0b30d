"""What the command line does before anything is imported that starts JAX."""

import os

from footfall.engines.jax_setup import prepare_jax


def prepare() -> None:
    """JAX as the library sets it up too, before the first command.

    The library does it before the first program.
    """
    # XLA's alarms (slow to compile, another processor) are not for users.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    prepare_jax()
