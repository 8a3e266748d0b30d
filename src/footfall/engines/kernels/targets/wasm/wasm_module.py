"""A lane program as a WebAssembly module: one lane that stays in the module's memory."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from footfall.engines.kernels.cache_folder import cache_folder
from footfall.engines.kernels.cpp_source import cpp_source
from footfall.engines.kernels.fuse_errors import NoCompiler
from footfall.engines.kernels.kept_code import kept_code
from footfall.engines.kernels.lane_program import trace_lanes
from footfall.engines.kernels.private_folder import private_folder
from footfall.engines.kernels.run_compiler import run_compiler, zig_writes_to, ziglang
from footfall.engines.kernels.target import Target
from footfall.engines.kernels.targets.simd.cpp_kernel import header
from footfall.engines.kernels.targets.wasm.memory import entry, places

#: As for a CPU (simd/compiler.py), but -O2: -O3 is larger and, of one lane, no faster.
FLAGS = (
    *("-O2", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math", "-fwrapv"),
    *("-std=c++17", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-w"),
)
COMPILE = ("cc", "-target", "wasm32-wasi", *FLAGS, "-c", "-o", "kernel.o", "kernel.cpp")
LINK = ("cc", "-s", "-Wl,--no-entry", "-o", "kernel.wasm", "kernel.o", "-target")
ALONE = (*LINK, "wasm32-freestanding", "-nostdlib")
#: With what a C library has (tanh, atan2).
WITH_LIBRARY = (*LINK, "wasm32-wasi", "-mexec-model=reactor")


class WasmModule(NamedTuple):
    """A module, and what its host must know to use it.

    It imports nothing. It exports its `memory`; `inputs()` and `outputs()`, where in it the two
    blocks of values begin; and `run(number)`. `layout` can be written as JSON: of each value its
    name, dtype, shape and its offset in its block, in bytes.
    """

    code: bytes
    layout: dict[str, Any]


def build_wasm(
    program: Callable[..., tuple],
    lane: Sequence[bool],
    dtypes: Sequence[np.dtype],
    *,
    real: np.dtype,
    rows: Sequence[int | None] | None = None,
    names: tuple[Sequence[str], Sequence[str]] | None = None,
    back: Sequence[tuple[int, int]] = (),
    argument: int | None = None,
) -> WasmModule:
    """Compile `program(*leaves) -> leaves` for one lane in a browser.

    The program is one that `build_cpp` takes. `names` are those of inputs and outputs. After each
    run, output o is copied over input i for each (o, i) in `back`: what goes round stays in the
    module. The number given to `run` is written to input `argument`, an int32, before. Raises
    CannotFuse, and NoCompiler without the package ziglang.
    """
    real = np.dtype(real)
    traced = trace_lanes(program, lane, dtypes, real=real, rows=rows)
    in_names, out_names = names or (
        [f"in{i}" for i in range(len(traced.inputs))],
        [f"out{i}" for i in range(len(traced.outputs))],
    )
    inputs, outputs = places(traced.inputs, in_names), places(traced.outputs, out_names)
    target = Target("wasm", header("lanes.h") + entry(inputs, outputs, back, argument), 1)
    source = cpp_source(traced.jaxpr, lane, target=target, real=real, rows=rows)
    zig = ziglang()
    if zig is None:
        raise NoCompiler('kernels for browsers need ziglang (pip install "footfall[compiler]")')
    told = "\n".join([*zig, run_compiler([*zig, "version"]), *COMPILE, *ALONE, *WITH_LIBRARY])
    code = kept_code(source, told, ".wasm", lambda text, folder: _build(zig, text, folder))
    layout = {
        "inputs": [place.words() for place in inputs],
        "outputs": [place.words() for place in outputs],
    }
    return WasmModule(code.content, layout)


def _build(zig: Sequence[str], source: str, folder: Path) -> bytes:
    (folder / "kernel.cpp").write_text(source)
    run_compiler([*zig, *COMPILE], folder, zig_writes_to(folder))
    try:
        run_compiler([*zig, *ALONE], folder, zig_writes_to(folder))
    except NoCompiler:
        # Zig makes its library from source: 15 s, once.
        kept = cache_folder() / "zig"
        with private_folder(kept, "") as ours:
            run_compiler([*zig, *WITH_LIBRARY], folder, zig_writes_to(kept if ours else folder))
    try:
        return (folder / "kernel.wasm").read_bytes()
    except OSError:
        raise NoCompiler("ziglang made no module") from None
