"""Where the inputs and outputs of one lane are in the memory of a module.

Two blocks of bytes, one for each; a value's offset is counted from the start of its block.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from footfall.engines.kernels.lane_program import Leaf

#: Values begin at multiples of this many bytes.
WORD = 8


class Place(NamedTuple):
    """A value's place in its block. One number, or one for each leg: shape () or (legs,)."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    offset: int

    @property
    def size(self) -> int:
        return int(np.prod(self.shape)) * self.dtype.itemsize

    @property
    def end(self) -> int:
        """Where the next value begins."""
        return self.offset - (-self.size // WORD) * WORD

    def words(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "name": self.name,
            "dtype": self.dtype.name,
            "shape": list(self.shape),
            "offset": self.offset,
        }


def places(leaves: Sequence[Leaf], names: Sequence[str]) -> list[Place]:
    """One after the other."""
    made: list[Place] = []
    for leaf, name in zip(leaves, names, strict=True):
        shape = () if leaf.rows is None else (leaf.rows,)
        made.append(Place(name, leaf.dtype, shape, made[-1].end if made else 0))
    return made


def copies(
    outputs: Sequence[Place], inputs: Sequence[Place], back: Sequence[tuple[int, int]]
) -> list[tuple[int, int, int]]:
    """(from, to, bytes) that put outputs over inputs; neighbours go together."""
    made: list[tuple[int, int, int]] = []
    for o, i in back:
        out, into = outputs[o], inputs[i]
        if (out.dtype, out.size) != (into.dtype, into.size):
            raise ValueError(f"{out.name} does not fit in the place of {into.name}")
        size = out.end - out.offset
        if made and (made[-1][0] + made[-1][2], made[-1][1] + made[-1][2]) == (
            out.offset,
            into.offset,
        ):
            made[-1] = (made[-1][0], made[-1][1], made[-1][2] + size)
        else:
            made.append((out.offset, into.offset, size))
    return made


def entry(
    inputs: Sequence[Place],
    outputs: Sequence[Place],
    back: Sequence[tuple[int, int]],
    argument: int | None,
) -> str:
    """The way into a module: both blocks, where they are, and a function that runs the program."""
    blocks = [
        f"alignas(16) static unsigned char {name}_block[{max(16, some[-1].end if some else 0)}];"
        for name, some in (("in", inputs), ("out", outputs))
    ]
    ins = ", ".join(f"in_block + {place.offset}" for place in inputs)
    outs = ", ".join(f"out_block + {place.offset}" for place in outputs)
    lines = ["lanes::block(ins, outs, 0, 1);"]
    if argument is not None:
        lines.insert(0, f"*(int32_t *)(in_block + {inputs[argument].offset}) = number;")
    lines += [
        f"__builtin_memcpy(in_block + {to}, out_block + {start}, {size});"
        for start, to, size in copies(outputs, inputs, back)
    ]
    body = "\n".join(f"    {line}" for line in lines)
    export = 'extern "C" __attribute__((export_name("{0}")))'
    return "\n".join(
        [
            *blocks,
            f"static const void *const ins[] = {{{ins}}};",
            f"static void *const outs[] = {{{outs}}};",
            f"{export.format('inputs')} void *inputs() {{ return in_block; }}",
            f"{export.format('outputs')} void *outputs() {{ return out_block; }}",
            f"{export.format('run')} void run(int32_t number)",
            "{",
            body,
            "}",
            "",
        ]
    )
