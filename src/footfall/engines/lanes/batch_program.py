"""The step engine's loop as a flat function of arrays, and the three ways to run it.

One GPU kernel, one C++ kernel, XLA.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from footfall.engines.kernels.fuse_errors import CannotFuse, NoCompiler
from footfall.engines.kernels.kept_program import kept_program
from footfall.engines.lanes import adaptive
from footfall.engines.lanes.embedded_pair import Pair
from footfall.engines.lanes.lane_loop import LaneLoop
from footfall.engines.lanes.lane_state import Clock, Lane, Limits
from footfall.engines.lanes.step_engine import advance, begin
from footfall.hybrid.system import HybridState

#: Lanes a block of the XLA path on a CPU: more amortise its dispatch, fewer wait less for each
#: other's events and stay in cache.
XLA_BLOCK = 4096

Run = Callable[[Any, Lane, Clock | Limits, int, int], Lane]


class Kind(NamedTuple):
    """What a kernel is made for (hashable): everything else is numbers."""

    system: Any  #: tree structure, static fields included
    x: Any
    m: Any
    method: str
    precision: str
    track: tuple[str, ...]

    def loop(self, system: Any, lane: Lane) -> LaneLoop:
        like = HybridState(jax.tree.unflatten(self.x, lane.x), jax.tree.unflatten(self.m, lane.m))
        return LaneLoop(system, like, self.method, np.dtype(self.precision), self.track)


class Path(NamedTuple):
    """A way to run a batch, in words and as a function."""

    name: str
    run: Run


@functools.lru_cache(maxsize=32)
def starter(kind: Kind) -> Callable[[Any, HybridState, Clock | Limits], Lane]:
    """Lanes at t = 0 from a state. Compiled once per kind and batch size."""

    def start(system: Any, state: HybridState, clock: Clock | Limits) -> Lane:
        loop = LaneLoop(system, state, kind.method, np.dtype(kind.precision), kind.track)
        x, m = jax.tree.leaves(state.x), jax.tree.leaves(state.m)
        if isinstance(clock, Limits):
            return adaptive.begin(loop, x, m, clock)
        return begin(loop, x, m, clock)

    return jax.jit(start)


def flat_program(kind: Kind, tree: Any) -> Callable[..., tuple[Any, ...]]:
    """(system, lane, clock, first, count) as leaves in, leaves of the lane out."""

    def program(*leaves: Any) -> tuple[Any, ...]:
        system, lane, clock, first, count = jax.tree.unflatten(tree, leaves)
        loop = kind.loop(system, lane)
        if isinstance(clock, Limits):  # to its time, by tolerances
            moved, _ = adaptive.advance(loop, Pair(kind.method), lane, clock)
        else:
            moved = advance(loop, lane, clock, first, count)
        return tuple(jax.tree.leaves(moved))

    return program


def _flags(leaves: list[Any]) -> tuple[bool, ...]:
    return tuple(np.ndim(leaf) > 0 for leaf in leaves)


def _rows(leaves: list[Any]) -> tuple[int | None, ...]:
    """How many legs each leaf has numbers for; None without an axis over legs."""
    for leaf in leaves:
        if np.ndim(leaf) > 2:
            raise CannotFuse("an array over legs", f"shape {np.shape(leaf)}")
    return tuple(np.shape(leaf)[0] if np.ndim(leaf) == 2 else None for leaf in leaves)


@functools.lru_cache(maxsize=32)
def _cpp(
    kind: Kind,
    tree: Any,
    flags: tuple[bool, ...],
    dtypes: tuple[Any, ...],
    rows: tuple[int | None, ...],
) -> Any:
    from footfall.engines.kernels.targets.simd.compiler import vector_bytes
    from footfall.engines.kernels.targets.simd.cpp_kernel import cpp_text

    def text() -> Any:
        real = np.dtype(kind.precision)
        return cpp_text(flat_program(kind, tree), flags, dtypes, real=real, rows=rows)

    given = ("simd", vector_bytes(), *kind, tree, flags, dtypes, rows)
    return kept_program(given, text).compiled()


@functools.lru_cache(maxsize=32)
def _cuda(
    kind: Kind,
    tree: Any,
    flags: tuple[bool, ...],
    dtypes: tuple[Any, ...],
    rows: tuple[int | None, ...],
) -> Any:
    from footfall.engines.kernels.targets.cuda.cuda_kernel import cuda_program

    def program() -> Any:
        real = np.dtype(kind.precision)
        return cuda_program(flat_program(kind, tree), flags, dtypes, real=real, rows=rows)

    return kept_program(("cuda", *kind, tree, flags, dtypes, rows), program).compiled()


@functools.lru_cache(maxsize=32)
def _xla(kind: Kind, tree: Any, flags: tuple[bool, ...], block: int | None) -> Any:
    program = flat_program(kind, tree)

    def blocked(*leaves: Any) -> tuple[Any, ...]:
        lanes = next(leaf.shape[-1] for leaf, flag in zip(leaves, flags, strict=True) if flag)
        if block is None or lanes <= block:
            return program(*leaves)
        padded = -(-lanes // block) * block
        cut = []
        for leaf, flag in zip(leaves, flags, strict=True):
            if flag:
                wide = jnp.pad(
                    leaf, [(0, 0)] * (leaf.ndim - 1) + [(0, padded - lanes)], mode="edge"
                )
                cut.append(
                    jnp.moveaxis(wide.reshape(*leaf.shape[:-1], padded // block, block), -2, 0)
                )

        def one(parts: list[Any]) -> tuple[Any, ...]:
            rest = iter(parts)
            return program(
                *(next(rest) if flag else leaf for leaf, flag in zip(leaves, flags, strict=True))
            )

        def joined(out: Any) -> Any:
            whole = jnp.moveaxis(out, 0, -2)
            return whole.reshape(*whole.shape[:-2], padded)[..., :lanes]

        return tuple(joined(out) for out in lax.map(one, cut))

    return jax.jit(blocked)


def _flat(
    system: Any, lane: Lane, clock: Clock | Limits, first: int, count: int
) -> tuple[list[Any], Any]:
    return jax.tree.flatten((system, lane, clock, np.int32(first), np.int32(count)))


def cpp_kernel(kind: Kind, system: Any, lane: Lane, clock: Clock | Limits) -> Any:
    """The compiled kernel itself.

    Its inputs are the leaves of (system, lane, clock, first, count). Raises CannotFuse or
    NoCompiler.
    """
    leaves, tree = _flat(system, lane, clock, 0, 0)
    return _cpp(
        kind, tree, _flags(leaves), tuple(np.dtype(leaf.dtype) for leaf in leaves), _rows(leaves)
    )


def cpp_path(
    kind: Kind, system: Any, lane: Lane, clock: Clock | Limits, threads: int | None
) -> Path:
    """One C++ kernel on all cores. Raises CannotFuse or NoCompiler."""
    from footfall.engines.kernels.targets.simd.cpp_kernel import cores

    kernel = cpp_kernel(kind, system, lane, clock)
    lane_tree = jax.tree.structure(lane)

    def run(system: Any, lane: Lane, clock: Clock | Limits, first: int, count: int) -> Lane:
        inputs = [np.asarray(leaf) for leaf in _flat(system, lane, clock, first, count)[0]]
        return jax.tree.unflatten(lane_tree, kernel(inputs, threads=threads))

    used = threads or cores()
    return Path(f"C++ kernel, {used} thread{'s' if used != 1 else ''}", run)


def gpu_path(kind: Kind, system: Any, lane: Lane, clock: Clock | Limits) -> Path:
    """One CUDA kernel, on the GPU that JAX uses. Raises CannotFuse or NoCompiler."""
    leaves, tree = _flat(system, lane, clock, 0, 0)
    dtypes = tuple(np.dtype(leaf.dtype) for leaf in leaves)
    kernel = _cuda(kind, tree, _flags(leaves), dtypes, _rows(leaves))
    lane_tree = jax.tree.structure(lane)

    def run(system: Any, lane: Lane, clock: Clock | Limits, first: int, count: int) -> Lane:
        return jax.tree.unflatten(lane_tree, kernel(_flat(system, lane, clock, first, count)[0]))

    return Path(f"CUDA kernel on {jax.devices()[0].device_kind}", run)


def xla_path(kind: Kind, system: Any, lane: Lane, clock: Clock | Limits) -> Path:
    """Plain JAX, anywhere."""
    leaves, tree = _flat(system, lane, clock, 0, 0)
    platform = jax.devices()[0].platform
    call = _xla(kind, tree, _flags(leaves), XLA_BLOCK if platform == "cpu" else None)
    lane_tree = jax.tree.structure(lane)

    def run(system: Any, lane: Lane, clock: Clock | Limits, first: int, count: int) -> Lane:
        return jax.tree.unflatten(
            lane_tree, list(call(*_flat(system, lane, clock, first, count)[0]))
        )

    return Path(f"XLA on {platform}", run)


def has_gpu() -> bool:
    return jax.devices()[0].platform in ("gpu", "cuda")


def choose_path(
    wanted: str, kind: Kind, system: Any, lane: Lane, clock: Clock | Limits, threads: int | None
) -> tuple[Path, list[str]]:
    """The path asked for, or for "auto" the fastest there is.

    And one line for each faster one that could not be taken.
    """
    notes: list[str] = []
    if wanted == "gpu" and not has_gpu():
        raise ValueError(
            'path = "gpu": JAX sees no GPU here. Install "footfall[gpu]" on a machine with one, or'
            ' leave the path at "auto".'
        )
    if wanted == "gpu" or (wanted == "auto" and has_gpu()):
        try:
            return gpu_path(kind, system, lane, clock), notes
        except CannotFuse as error:
            notes.append(f"not one GPU kernel: no rule there for {error}")
        except NoCompiler as error:
            notes.append(f"no GPU kernel: {error}")
    if wanted == "cpp" or (wanted == "auto" and not has_gpu()):
        try:
            return cpp_path(kind, system, lane, clock, threads), notes
        except CannotFuse as error:
            notes.append(f"not one C++ kernel: no rule there for {error}")
        except NoCompiler as error:
            notes.append(f"no C++ kernel: {error}")
    return xla_path(kind, system, lane, clock), notes


def kernels_for(kind: Kind, system: Any, lane: Lane, clock: Clock | Limits) -> dict[str, str]:
    """For each kind of kernel "yes", or what keeps the system from becoming one.

    Needs neither a compiler nor a GPU.
    """
    from footfall.engines.kernels.cpp_source import cpp_source
    from footfall.engines.kernels.cpp_values import BLOCK
    from footfall.engines.kernels.targets.cuda.cuda_source import cuda_source
    from footfall.engines.kernels.targets.simd.cpp_kernel import simd

    leaves, tree = _flat(system, lane, clock, 0, 0)
    flags, real = _flags(leaves), np.dtype(kind.precision)
    try:
        rows = _rows(leaves)
        like = [
            jax.ShapeDtypeStruct((*np.shape(leaf)[:-1], BLOCK) if np.ndim(leaf) else (), leaf.dtype)
            for leaf in leaves
        ]
        traced = jax.make_jaxpr(flat_program(kind, tree))(*like)
    except CannotFuse as error:
        return dict.fromkeys(("C++ kernel", "GPU kernel"), f"no rule there for {error}")
    found = {}
    for name, attempt in {
        "C++ kernel": lambda: cpp_source(traced, flags, target=simd(real), real=real, rows=rows),
        "GPU kernel": lambda: cuda_source(traced, flags, real=real, rows=rows),
    }.items():
        try:
            attempt()
            found[name] = "yes"
        except CannotFuse as error:
            found[name] = f"no rule there for {error}"
    return found
