"""The fused kernel of a CPU.

A traced lane program, compiled to SIMD code once, run for any number of lanes on all cores.
"""

import ctypes
import os
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from footfall.engines.kernels.cpp_source import cpp_source
from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.kernels.lane_program import Leaf, trace_lanes
from footfall.engines.kernels.target import Target
from footfall.engines.kernels.targets.simd.compiler import vector_bytes
from footfall.engines.kernels.targets.simd.kernel_cache import load_kernel
from footfall.engines.kernels.traced_program import across_lanes


class CppKernel:
    """A compiled lane program.

    Calling it runs every lane; the interpreter's lock is not held meanwhile.
    """

    width: int  #: lanes in a block
    compile_seconds: float  #: 0 if it came from the cache
    from_cache: bool
    source: str  #: the C++ text

    def __init__(
        self,
        source: str,
        width: int,
        inputs: Sequence[Leaf],
        outputs: Sequence[Leaf],
        quick: bool = False,
    ) -> None:
        loaded = load_kernel(source, quick)
        self.source, self.width = source, width
        self.compile_seconds, self.from_cache = loaded.compile_seconds, loaded.from_cache
        self._inputs, self._outputs = tuple(inputs), tuple(outputs)
        self._library = loaded.library  # kept: the function lives in it
        self._run = loaded.library.footfall_run
        pointers = ctypes.POINTER(ctypes.c_void_p)
        self._run.argtypes = [pointers, pointers, ctypes.c_int64, ctypes.c_int64]
        self._run.restype = None

    def __call__(self, inputs: Sequence[Any], threads: int | None = None) -> list[np.ndarray]:
        """Every output as one value per lane, or as (legs, lanes).

        The number of lanes is that of the lane inputs; `threads` is by default all cores.

        Lanes go in blocks of `width`; the last block is filled up with copies of the last lane. A
        program that looks across its block (a maximum over lanes) sees those copies too.
        """
        if len(inputs) != len(self._inputs):
            raise ValueError(f"the kernel takes {len(self._inputs)} inputs, got {len(inputs)}")
        arrays = [
            np.ascontiguousarray(v, leaf.dtype)
            for v, leaf in zip(inputs, self._inputs, strict=True)
        ]
        counts = {
            np.shape(v)[-1:] for v, leaf in zip(inputs, self._inputs, strict=True) if leaf.lane
        }
        if len(counts) != 1 or len(shape := counts.pop()) != 1 or shape[0] < 1:
            raise ValueError("lane inputs have one common length, at least 1")
        lanes = shape[0]
        for i, (v, leaf) in enumerate(zip(inputs, self._inputs, strict=True)):
            if np.shape(v) != leaf.shape(lanes):
                raise ValueError(
                    f"inputs[{i}] has shape {np.shape(v)}; the kernel was made for"
                    f" {leaf.shape(lanes)}"
                )
        outputs = [np.empty(leaf.shape(lanes), leaf.dtype) for leaf in self._outputs]
        self._run(_pointers(arrays), _pointers(outputs), lanes, max(1, threads or cores()))
        return outputs

    def bound(
        self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]
    ) -> Callable[[], None]:
        """The same for one lane that stays where it is.

        Each call reads these inputs and writes these outputs, and costs a microsecond more than the
        work itself. The caller keeps the arrays alive.
        """
        for kind, arrays, leaves in (
            ("inputs", inputs, self._inputs),
            ("outputs", outputs, self._outputs),
        ):
            for i, (array, leaf) in enumerate(zip(arrays, leaves, strict=True)):
                if (
                    array.shape != leaf.shape(1)
                    or array.dtype != leaf.dtype
                    or not array.flags.c_contiguous
                ):
                    raise ValueError(
                        f"{kind}[{i}] is {array.dtype} {array.shape}; the kernel was made for"
                        f" {leaf.dtype} {leaf.shape(1)}"
                    )
        run, ins, outs = self._run, _pointers(inputs), _pointers(outputs)
        return lambda: run(ins, outs, 1, 1)

    def walk(
        self,
        inputs: Sequence[np.ndarray],
        outputs: Sequence[np.ndarray],
        memory: np.ndarray,
        made: np.ndarray,
        stop: np.ndarray,
    ) -> Callable[[np.ndarray], int]:
        """One lane that goes on from where it is, again and again, as long as `stop` is 0.

        Some of the inputs are views of the bytes `memory`, the outputs those of `made`, which is
        laid out alike and may be longer; `stop` is one of those inputs. A call fills the rows it
        is given, each with `made` as one turn left it, and says how many it filled.
        """
        ins, outs = _pointers(inputs), _pointers(outputs)
        call = self._library.footfall_walk
        call.argtypes = [*self._run.argtypes[:2], *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 2]
        call.argtypes += [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
        call.restype = ctypes.c_int64

        def go(rows: np.ndarray) -> int:
            if rows.shape[1] != made.size or not rows.flags.c_contiguous:
                raise ValueError(f"rows of {made.size} bytes, not {rows.shape}")
            places = (memory.ctypes.data, made.ctypes.data, memory.size, made.size)
            return call(ins, outs, *places, stop.ctypes.data, rows.ctypes.data, len(rows))

        return go


class CppText(NamedTuple):
    """A lane program as text, to be compiled."""

    source: str
    width: int
    inputs: tuple[Leaf, ...]
    outputs: tuple[Leaf, ...]

    def compiled(self, quick: bool = False) -> CppKernel:
        """Raises NoCompiler. `quick`: by a compiler that optimises less, in less time."""
        return CppKernel(*self, quick)


def build_cpp(
    program: Callable[..., tuple],
    lane: Sequence[bool],
    dtypes: Sequence[np.dtype],
    *,
    real: np.dtype,
    rows: Sequence[int | None] | None = None,
) -> CppKernel:
    """Compile `program(*leaves) -> leaves`: see `cpp_text`. Raises CannotFuse or NoCompiler."""
    return cpp_text(program, lane, dtypes, real=real, rows=rows).compiled()


def cpp_text(
    program: Callable[..., tuple],
    lane: Sequence[bool],
    dtypes: Sequence[np.dtype],
    *,
    real: np.dtype,
    rows: Sequence[int | None] | None = None,
    width: int | None = None,
    apart: bool = False,
) -> CppText:
    """The text of `program(*leaves) -> leaves`, a pure JAX function of one block of lanes.

    Input i is one value per lane, shape (W,), if `lane[i]`, else one shared scalar; with `rows[i]`
    legs, (rows, W) or (rows,). `dtypes` are `real`, int32 or bool. Every output becomes one value
    per lane, or (legs, lanes). The program must not ask how many lanes there are: it is traced with
    a number that no kernel has. A kernel for one lane may ask for blocks of `width` 1, one
    whose lanes have nothing to do with each other that they are kept `apart`. Raises
    CannotFuse if the program holds something that is neither elementwise, a loop, a branch on a
    scalar, a reduction over the block nor a cut, shift or sum along the legs. Numbers the program
    captures are written into the source:
    another value is another compilation, so what varies should be an input. Results differ from
    XLA's where one of the two rounds a product before adding it and the other does not, and where
    XLA flushes subnormal numbers to zero.
    """
    real = np.dtype(real)
    traced = trace_lanes(program, lane, dtypes, real=real, rows=rows)
    target = simd(real)
    target = target if width is None else target._replace(width=width)
    if apart and (mixed := across_lanes(traced.jaxpr)):
        raise CannotFuse(mixed, "mixes lanes")
    source = cpp_source(traced.jaxpr, lane, target=target, real=real, rows=rows)
    return CppText(source, target.width, tuple(traced.inputs), tuple(traced.outputs))


def simd(real: np.dtype) -> Target:
    """This machine's CPU: as many lanes in a block as a vector register holds."""
    return Target("simd", header("lanes.h", "threads.h"), vector_bytes() // real.itemsize)


def header(*names: str) -> str:
    """Files of this folder, one after the other."""
    return "".join(resources.files(__package__).joinpath(name).read_text() for name in names)


def cores() -> int:
    """How many threads may run at once.

    The cores this process is allowed, where the system can say.
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _pointers(arrays: Sequence[np.ndarray]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*[v.__array_interface__["data"][0] for v in arrays])
