"""Programs compiled in half the time: a test runs for a moment what took seconds to make fast.

What XLA is told goes with every program that this process compiles, and into the name under which
it is kept on disk: nobody else gets it; so do the flags of kernels. Processes that a test starts
compile as a user's do.
"""

import functools

import jax
import pytest
from jax._src import compiler

from footfall.engines.lanes import batch_program
from support.batches import optimised

#: What XLA leaves undone. A jaxlib that does not know one goes without it.
OPTIONS = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}

_as_users_do = compiler.get_compile_options
_patch: pytest.MonkeyPatch | None = None


def compile_quickly(quick: bool) -> None:
    """From now on compile so, or as a user's process does.

    What was compiled the other way is forgotten; the disk has it again in a moment.
    """
    global _patch
    if quick == (_patch is not None):
        return
    if _patch is None:
        options, _patch = known_options(), pytest.MonkeyPatch()
        _patch.setattr(compiler, "get_compile_options", functools.partial(_with, options))
        optimised(_patch, "-O2")
    else:
        _patch.undo()
        _patch = None
    jax.clear_caches()
    batch_program._cpp.cache_clear()


def _with(options, *more, env_options_overrides=None, **named):
    overrides = {**options, **(env_options_overrides or {})}
    return _as_users_do(*more, env_options_overrides=overrides, **named)


@functools.cache
def known_options() -> dict[str, int | bool]:
    """Those of OPTIONS that this jaxlib takes."""
    program = jax.jit(lambda x: x + 1).lower(0.0)
    known = {}
    for name, value in OPTIONS.items():
        try:
            program.compile(compiler_options={name: value})
        except jax.errors.JaxRuntimeError:
            continue
        known[name] = value
    return known
