"""A lane program as one GPU kernel: Pallas, lowered to Triton.

State stays in registers from the first step to the last.

A lane program is a pure function of flat leaves, elementwise over lanes: input i is one value per
lane or one shared number; every output has one value per lane.

Values of one type travel as the rows of one array, read and written in a loop over rows. With a
load and a store for each of fifty values Triton took 40 s to compile: one of its passes
(coalescing) walks through the whole program for each of them, in time that grows with the square of
the program's length. With one load and one store of each type it takes 3.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.experimental import pallas as pl

from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.kernels.register_cap import limit_registers

#: Lanes per block and warps per block. One lane per thread; larger blocks spill registers and wait
#: for each other's events.
BLOCK, WARPS = 32, 1

LaneProgram = Callable[..., tuple[Any, ...]]


class Rows:
    """Which values lie in which row of which array.

    One array for the real numbers, one for the whole ones.
    """

    def __init__(self, dtypes: Sequence[Any]):
        self.kinds = sorted({np.dtype(d) for d in dtypes}, key=str)
        self.members = [
            [i for i, d in enumerate(dtypes) if np.dtype(d) == kind] for kind in self.kinds
        ]

    def pack(self, values: Sequence[Array]) -> list[Array]:
        return [jnp.stack([values[i] for i in members]) for members in self.members]

    def unpack(self, arrays: Sequence[Array]) -> list[Array]:
        found = {
            i: array[row]
            for array, members in zip(arrays, self.members, strict=True)
            for row, i in enumerate(members)
        }
        return [found[i] for i in range(len(found))]

    def read(self, refs: Sequence[Any], block: int) -> list[Array]:
        """Inside a kernel: every value, by one load in a loop.

        The choice of the row is made by selection: registers have no index.
        """
        found: dict[int, Array] = {}
        for ref, kind, members in zip(refs, self.kinds, self.members, strict=True):

            def body(row: Any, values: list[Array], ref: Any = ref) -> list[Array]:
                loaded = ref[row, :]
                return [jnp.where(row == np.int32(n), loaded, old) for n, old in enumerate(values)]

            empty = [jnp.zeros((block,), kind) for _ in members]
            found |= dict(
                zip(
                    members,
                    lax.fori_loop(np.int32(0), np.int32(len(members)), body, empty),
                    strict=True,
                )
            )
        return [found[i] for i in range(len(found))]

    def write(self, refs: Sequence[Any], values: Sequence[Array]) -> None:
        for ref, members in zip(refs, self.members, strict=True):

            def body(row: Any, carry: Any, ref: Any = ref, members: list[int] = members) -> Any:
                value = values[members[0]]
                for n, i in enumerate(members[1:], start=1):
                    value = jnp.where(row == np.int32(n), values[i], value)
                ref[row, :] = value
                return carry

            lax.fori_loop(np.int32(0), np.int32(len(members)), body, np.int32(0))


def pallas_kernel(
    program: LaneProgram,
    lane: Sequence[bool],
    *,
    registers: int | None = None,
    block: int = BLOCK,
    warps: int = WARPS,
    interpret: bool = False,
) -> Callable[..., list[Array]]:
    """A function of the same leaves, for any number of lanes.

    `interpret` runs the kernel's logic without a GPU.
    """

    def call(*leaves: Array) -> list[Array]:
        lanes = next(v.shape[-1] for v, per_lane in zip(leaves, lane, strict=True) if per_lane)
        if wide := next(
            (v.shape for v, per_lane in zip(leaves, lane, strict=True) if per_lane and v.ndim != 1),
            None,
        ):
            raise CannotFuse("an array over legs", f"shape {wide}")
        like = [
            jax.ShapeDtypeStruct((block,) if per_lane else (), v.dtype)
            for v, per_lane in zip(leaves, lane, strict=True)
        ]
        shapes = jax.eval_shape(program, *like)
        own, shared = (
            [v for v, p in zip(leaves, lane, strict=True) if p],
            [v for v, p in zip(leaves, lane, strict=True) if not p],
        )
        rows_in, rows_out = Rows([v.dtype for v in own]), Rows([s.dtype for s in shapes])
        padded = -(-lanes // block) * block
        tables = [jnp.pad(a, ((0, 0), (0, padded - lanes)), mode="edge") for a in rows_in.pack(own)]
        singles = [jnp.reshape(v, (1,)) for v in shared]

        def kernel(*refs: Any) -> None:
            ins, numbers = refs[: len(tables)], refs[len(tables) : len(tables) + len(singles)]
            per_lane, once = iter(rows_in.read(ins, block)), iter([ref[0] for ref in numbers])
            values = [next(per_lane) if p else next(once) for p in lane]
            rows_out.write(refs[len(tables) + len(singles) :], program(*values))

        if registers is not None and not interpret:
            kernel = limit_registers(kernel, registers)
        options: dict[str, Any] = {}
        if not interpret:
            from jax.experimental.pallas import triton

            options["compiler_params"] = triton.CompilerParams(num_warps=warps, num_stages=1)

        def table(count: int) -> pl.BlockSpec:
            return pl.BlockSpec((count, block), lambda i: (np.int32(0), i))

        results = pl.pallas_call(
            kernel,
            grid=(padded // block,),
            in_specs=[table(len(a)) for a in tables]
            + [pl.BlockSpec((1,), lambda i: (np.int32(0),)) for _ in singles],
            out_specs=[table(len(members)) for members in rows_out.members],
            out_shape=[
                jax.ShapeDtypeStruct((len(members), padded), kind)
                for kind, members in zip(rows_out.kinds, rows_out.members, strict=True)
            ],
            interpret=interpret,
            **options,
        )(*tables, *singles)
        return [v[:lanes] for v in rows_out.unpack(results)]

    return call
