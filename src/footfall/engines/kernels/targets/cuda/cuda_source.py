"""A traced lane program as CUDA text: the generated block, one lane per thread, and its entry.

A lane with many legs has a group of threads (spread_legs.py).

What all lanes share travels by value in the kernel's parameters, where instructions read it in
place: it takes no registers, of which a thread never has enough.
"""

from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from footfall.engines.kernels.cpp_program import Table
from footfall.engines.kernels.cpp_source import Builder, Writer
from footfall.engines.kernels.cpp_text import TextWriter
from footfall.engines.kernels.cpp_values import SCALARS
from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.kernels.targets.cuda.spread_legs import (
    NotSpread,
    Spread,
    SpreadWriter,
    spread_of,
)
from footfall.engines.kernels.traced_program import known_form, without_unused

#: Threads of a block, and blocks that a multiprocessor is to hold at once: 128 and 168 registers a
#: thread. The best of those tried with the rimless wheel on an H200.
THREADS, AT_ONCE = 128, {"float32": 4, "float64": 3}
#: The same where a lane has several threads: 255 registers. The best with the centipede.
AT_ONCE_SPREAD = 2
#: Bytes of parameters that every driver takes.
MOST_BYTES = 4096

#: Loops stay loops: written out, twelve legs take minutes to compile, and no registers.
LOOPS, UNROLL = ("for (int l = 0;", "for (int64_t turn = 0;"), '_Pragma("unroll 1")'

HEADER = """\
// Made by footfall from a traced program; nobody edits this file.
//
// One thread runs the program for one lane, or a group of threads for a lane with many legs.
// given.lanes[i] points to one value per lane, or to one row of them for each leg; given.out[i] to
// room for the same; what lanes share is in given itself. vN is the program's N-th value, aN its
// N-th input; at one leg after another, that of leg l. sN and kN hold all legs of a value, or those
// of a thread.

#define REAL_BITS {bits}
typedef {real} Real;

"""

ENTRY = """
struct Given {{
{fields}
}};

extern "C" __global__ void __launch_bounds__({threads}, {at_once}) footfall_run(
    const __grid_constant__ Given given, int64_t lanes)
{{
    // Beyond the last lane threads do what the last one does: a warp is whole or waits for ever.
    const int64_t own = ((int64_t)blockIdx.x * {threads} + threadIdx.x) / {spread};
    const int64_t lane = own < lanes ? own : lanes - 1;
    const void *const in[] = {{{inputs}}};
    lanes::block(in, given.out, lane, lanes);
}}
"""


class CudaText(NamedTuple):
    """A program's text, and how its first parameter is laid out."""

    text: str
    given: np.dtype  #: pointers to lanes and outputs, then every shared value under its own name
    spread: int = 1  #: threads of a lane


def cuda_source(
    program: Any,
    lane: Sequence[bool],
    *,
    real: np.dtype,
    rows: Sequence[int | None] | None = None,
) -> CudaText:
    """The program as one self-contained CUDA file, whose entry is `footfall_run`.

    As `cpp_source`, which says what the arguments are.
    """
    rows = rows or [None] * len(lane)
    with known_form("the program"):
        body, spread = _body(program, lane, real, rows)
    given = _given(program, lane, rows)
    if given.itemsize + 8 > MOST_BYTES:
        raise CannotFuse(
            "the program", f"has {given.itemsize} bytes of parameters, {MOST_BYTES} is the most"
        )
    header = HEADER.format(bits=8 * real.itemsize, real=SCALARS[real.name])
    files = ("lanes_cuda.h",) if spread.threads == 1 else ("lanes_cuda.h", "spread_legs.h")
    words = [resources.files(__package__).joinpath(name).read_text() for name in files]
    for loop in LOOPS:
        body = body.replace(loop, f"{UNROLL} {loop}")
    at_once = AT_ONCE[real.name] if spread.threads == 1 else AT_ONCE_SPREAD
    entry = _entry(given, lane, at_once, spread.threads)
    return CudaText(header + spread.words + "".join(words) + body + entry, given, spread.threads)


def _body(
    program: Any, lane: Sequence[bool], real: np.dtype, rows: Sequence[int | None]
) -> tuple[str, Spread]:
    """The block, its legs spread over threads where there are many and nothing runs along them."""

    def body(writer: Writer) -> str:
        builder = Builder(real, int64=True, writer=writer)
        return builder.block(*without_unused(program), lane, rows)

    found: list[Spread] = []

    def spread(table: Table, where: dict[str, str]) -> TextWriter:
        found.append(spread_of(table, real))
        return (TextWriter if found[0].threads == 1 else SpreadWriter)(table, where)

    try:
        return body(spread), found[0]
    except NotSpread:
        return body(TextWriter), Spread(1, 1)


def _given(program: Any, lane: Sequence[bool], rows: Sequence[int | None]) -> np.dtype:
    fields: list[tuple[Any, ...]] = [
        ("lanes", np.uintp, (max(1, sum(lane)),)),
        ("out", np.uintp, (max(1, len(program.out_avals)),)),
    ]
    for i, (aval, is_lane, legs) in enumerate(zip(program.in_avals, lane, rows, strict=True)):
        if not is_lane:
            kind = np.dtype(np.uint8) if aval.dtype == bool else aval.dtype
            fields.append((f"a{i}", kind) if legs is None else (f"a{i}", kind, (max(1, legs),)))
    return np.dtype(fields, align=True)


def _entry(given: np.dtype, lane: Sequence[bool], at_once: int, spread: int) -> str:
    assert given.fields is not None
    lines, inputs, count = [], [], 0
    for name, (kind, *_) in given.fields.items():
        base, shape = kind.subdtype or (kind, ())
        of = {"lanes": "const void *", "out": "void *"}.get(
            name, f"{SCALARS.get(base.name, 'uint8_t')} "
        )
        lines.append(f"    {of}{name}{''.join(f'[{n}]' for n in shape)};")
    for i, is_lane in enumerate(lane):
        inputs.append(f"given.lanes[{count}]" if is_lane else f"&given.a{i}")
        count += is_lane
    return ENTRY.format(
        fields="\n".join(lines),
        inputs=", ".join(inputs),
        threads=THREADS,
        at_once=at_once,
        spread=spread,
    )
