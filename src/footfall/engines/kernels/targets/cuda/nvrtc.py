"""NVIDIA's compiler as a library, NVRTC: where it is, what it is told, and what it made before.

It comes with JAX's CUDA packages, and compiles without a GPU. Machine code is kept as C++ kernels
are (`private_folder`): only what this user made is ever loaded.
"""

import ctypes.util
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from footfall.engines.kernels.fuse_errors import NoCompiler
from footfall.engines.kernels.kept_code import Code, kept_code
from footfall.engines.kernels.run_compiler import run_compiler

#: Every function is the device's. float32 is divided, and its roots taken, to 2 units in the last
#: place instead of half a one: a quarter faster. float64 is always exact to rounding. No fast-math:
#: NaN is how a lane says it failed.
OPTIONS = ("--std=c++17", "-default-device", "-w", "--prec-div=false", "--prec-sqrt=false")


def compile_cuda(text: str, architecture: str, library: str | None = None) -> Code:
    """Machine code for an architecture such as "sm_90": kept from before, or made now.

    Raises NoCompiler with the reason on one line.
    """
    if os.environ.get("FOOTFALL_NVRTC", "").strip().lower() == "none":
        raise NoCompiler("switched off by FOOTFALL_NVRTC")
    found = library or find_nvrtc()
    options = (f"--gpu-architecture={architecture}", *OPTIONS)

    def build(text: str, folder: Path) -> bytes:
        program = str(Path(__file__).with_name("nvrtc_program.py"))
        (folder / "kernel.cu").write_text(text)
        files = ("kernel.cu", "kernel.cubin")
        try:
            run_compiler([sys.executable, "-I", program, found, *files, *options], folder)
        except NoCompiler as error:
            raise NoCompiler(f"NVRTC: {error}") from None
        return (folder / "kernel.cubin").read_bytes()

    return kept_code(text, "\n".join([found, _version(found), *options]), ".cubin", build)


def find_nvrtc() -> str:
    """The library to use: that of NVIDIA's pip packages, else the system's."""
    for folder in _folders():
        found = [p for p in folder.glob("libnvrtc.so.*") if "builtins" not in p.name]
        if found:
            return str(max(found, key=lambda p: [int(n) for n in p.name.split(".") if n.isdigit()]))
    if found := ctypes.util.find_library("nvrtc"):
        return found
    raise NoCompiler('NVRTC is not here; it comes with "footfall[gpu]" (nvidia-cuda-nvrtc)')


def _folders() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for place in (spec.submodule_search_locations or []) if spec else []:
        yield from (Path(place) / "cuda_nvrtc" / "lib",)
        yield from sorted(Path(place).glob("cu[0-9]*/lib"), reverse=True)
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if given := os.environ.get(name):
            yield Path(given) / "lib64"
    yield Path("/usr/local/cuda/lib64")


def _version(library: str) -> str:
    """What tells two libraries under one name apart."""
    try:
        found = Path(library).stat()
    except OSError:  # a bare name, which the system resolves
        return ""
    return f"{Path(library).resolve().name} {found.st_size} {found.st_mtime_ns}"
