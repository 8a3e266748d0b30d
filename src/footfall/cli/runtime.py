"""What the command line does before anything is imported that starts JAX."""

from footfall.sim.jax_setup import prepare_jax


def prepare() -> None:
    """JAX as the library sets it up too, but before the first command rather than before the first program."""
    prepare_jax()
