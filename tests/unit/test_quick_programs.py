"""How tests compile: quickly, unless they ask for what a user gets."""

import jax
import pytest
from jax._src import compiler

from support import batches
from support.quick_programs import OPTIONS, compile_quickly, known_options


def told() -> bytes:
    """What XLA is told, which is part of the name of a program on disk."""
    return compiler.get_compile_options(1, 1).SerializeAsString()


@pytest.fixture
def quick(request):
    if request.config.getoption("--as-compiled"):
        pytest.skip("every test compiles as a user does")


@pytest.mark.usefixtures("quick")
def test_a_test_compiles_quickly():
    assert all(name.encode() in told() for name in known_options())
    assert "-O2" in batches.compiler._flags()


@pytest.mark.as_compiled
def test_a_test_that_asks_for_it_compiles_as_a_user_does():
    assert not any(name.encode() in told() for name in OPTIONS)
    assert "-O3" in batches.compiler._flags()


def test_every_jaxlib_knows_the_option_that_matters_most():
    assert "xla_backend_optimization_level" in known_options()


@pytest.mark.usefixtures("quick")
def test_what_was_compiled_the_other_way_is_forgotten():
    program = jax.jit(lambda x: 2.0 * x)
    program(1.0)
    assert program._cache_size() == 1
    try:
        compile_quickly(False)
        assert program._cache_size() == 0
    finally:
        compile_quickly(True)
