"""The fused kernel of a GPU: a traced lane program on JAX's arrays, where they are.

Nothing goes through the host: what differs between lanes is read from JAX's buffers on the device
and written to fresh ones; what lanes share travels with the launch.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.kernels.lane_program import Leaf, trace_lanes
from footfall.engines.kernels.targets.cuda.cuda_source import CudaText, cuda_source
from footfall.engines.kernels.targets.cuda.gpu_fault import GpuFault

#: Runs every lane to the end: the kernel's first parameter, one record, and the number of lanes.
Launch = Callable[[np.ndarray, int], None]


class CudaKernel:
    """A compiled lane program for one GPU."""

    def __init__(
        self, text: CudaText, inputs: Sequence[Leaf], outputs: Sequence[Leaf], launch: Launch
    ) -> None:
        self.text, self._inputs, self._launch = text, tuple(inputs), launch

        def room(lanes: int) -> list[jax.Array]:
            return [jnp.zeros(leaf.shape(lanes), leaf.dtype) for leaf in outputs]

        self._room = jax.jit(room, static_argnums=0)

    def __call__(self, leaves: Sequence[Any]) -> list[jax.Array]:
        """Every output as one value per lane, or as (legs, lanes); finished when handed out."""
        inputs = list(zip(leaves, self._inputs, strict=True))
        own = [jnp.asarray(v, leaf.dtype) for v, leaf in inputs if leaf.lane]
        lanes = own[0].shape[-1]
        for array, leaf in zip(own, (leaf for leaf in self._inputs if leaf.lane), strict=True):
            if array.shape != leaf.shape(lanes):
                raise ValueError(
                    f"shape {array.shape}; the kernel was made for {leaf.shape(lanes)}"
                )
        outputs = self._room(lanes)
        # Inputs are read, and outputs written, on a stream that JAX knows nothing of.
        jax.block_until_ready((own, outputs))
        given = np.zeros((), self.text.given)
        for i, (value, leaf) in enumerate(inputs):
            if not leaf.lane:
                given[f"a{i}"] = np.asarray(value)
        places = [array.unsafe_buffer_pointer() for array in (*own, *outputs)]
        given["lanes"], given["out"] = places[: len(own)], places[len(own) :]
        if len(set(places[len(own) :])) != len(outputs):
            raise GpuFault("JAX gave two outputs one place")
        self._launch(given, lanes)
        return outputs


class CudaProgram(NamedTuple):
    """A lane program as text, to be compiled."""

    text: CudaText
    inputs: tuple[Leaf, ...]
    outputs: tuple[Leaf, ...]

    def compiled(self, machine: Callable[[CudaText], Launch] | None = None) -> CudaKernel:
        """Raises NoCompiler. `machine` makes a launch of the text: by default JAX's GPU."""
        return CudaKernel(*self, (machine or on_gpu)(self.text))


def cuda_program(
    program: Callable[..., tuple],
    lane: Sequence[bool],
    dtypes: Sequence[np.dtype],
    *,
    real: np.dtype,
    rows: Sequence[int | None] | None = None,
) -> CudaProgram:
    """The text of `program(*leaves) -> leaves`, a pure JAX function of one block of lanes.

    What is said of `cpp_text` holds here too. Raises CannotFuse if the program holds something
    that has no rule.
    """
    real = np.dtype(real)
    traced, inputs, outputs = trace_lanes(program, lane, dtypes, real=real, rows=rows)
    text = cuda_source(traced, lane, real=real, rows=rows)
    return CudaProgram(text, tuple(inputs), tuple(outputs))


def on_gpu(text: CudaText) -> Launch:
    """The text on the GPU that JAX uses by default. Raises NoCompiler."""
    from footfall.engines.kernels.targets.cuda.driver import gpu
    from footfall.engines.kernels.targets.cuda.nvrtc import compile_cuda

    device = jax.devices()[0]
    ordinal = getattr(device, "local_hardware_id", None) or 0
    capability = str(getattr(device, "compute_capability", "")).replace(".", "")
    code = compile_cuda(text.text, f"sm_{capability}").content
    return gpu(ordinal).load(code, text.spread)
