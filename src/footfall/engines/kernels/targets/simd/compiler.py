"""The C++ compiler of a CPU's kernels: which one, what it is told, for which CPU."""

import functools
import hashlib
import os
import platform
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from footfall.engines.kernels.fuse_errors import NoCompiler
from footfall.engines.kernels.run_compiler import run_compiler, zig_writes_to, ziglang

#: The lines of /proc/cpuinfo that say what code the CPU runs; the others say how fast, or which
#: core.
IDENTITY = (
    *("vendor_id", "cpu family", "model", "model name", "stepping", "flags"),
    *("Features", "CPU implementer", "CPU architecture", "CPU variant", "CPU part"),
)


class Compiler(NamedTuple):
    """A compiler and everything that decides what it makes of a source."""

    command: tuple[str, ...]
    version: str  #: first line of what it says about itself
    flags: tuple[str, ...]
    libraries: tuple[str, ...] = ("-lm", "-lpthread")
    environment: Callable[[Path], dict[str, str]] = lambda folder: {}  #: to work in a folder

    def in_less_time(self) -> "Compiler":
        """The same compiler, told to optimise less.

        Kernels of single runs are as fast by it, and compiled up to five times sooner.
        """
        # The second scheduling is 27 of the 31 s that gcc 14 takes for a wheel on a Zen 5 (gcc 12:
        # 2 s), for nothing that was measured of one lane; a sweep's kernel is 5 % slower without.
        # It moves instructions about and changes no number.
        fast = ("-O2" if flag == "-O3" else flag for flag in self.flags)
        return self._replace(flags=(*fast, "-fno-schedule-insns2"))

    def identity(self) -> str:
        """What tells compilers apart.

        Two with equal identities make libraries that can stand in for each other on this machine.
        """
        return "\n".join(
            [*self.command, self.version, *self.flags, *self.libraries, cpu_identity()]
        )

    def build(self, source: str, folder: Path) -> bytes:
        """The shared library made from a source, in a folder that is ours alone."""
        # Fixed names, seen from inside the folder: the same source gives the same bytes wherever it
        # is built.
        (folder / "kernel.cpp").write_text(source)
        command = [*self.command, *self.flags, "-o", "kernel.so", "kernel.cpp", *self.libraries]
        run_compiler(command, folder, self.environment(folder))
        try:
            return (folder / "kernel.so").read_bytes()
        except OSError:
            raise NoCompiler(f"{Path(self.command[0]).name} made no library") from None


def require_compilers() -> None:
    """Raise NoCompiler where they are switched off: kernels made before are not used either."""
    if os.environ.get("FOOTFALL_CXX", "").strip().lower() == "none":
        raise NoCompiler("switched off by FOOTFALL_CXX")


def find_compiler() -> Compiler:
    """The C++ compiler to use.

    That in $FOOTFALL_CXX (`none`: switched off), else in $CXX, else the first of c++, g++, clang++
    on the path, else the one in the package ziglang.
    """
    chosen = os.environ.get("FOOTFALL_CXX")
    require_compilers()
    if os.name != "posix":
        raise NoCompiler("kernels are compiled on Linux and macOS only")
    # $CXX may hold a wrapper or options, as make allows; a path given to us alone is one path,
    # spaces and all.
    asked = [chosen] if chosen else shlex.split(os.environ.get("CXX", ""))
    names = [asked] if asked else [["c++"], ["g++"], ["clang++"]]
    for name, *options in names:
        if path := shutil.which(name):
            command = (path, *options)
            return Compiler(command, _first_line(*command, "--version"), _flags())
    if asked:
        raise NoCompiler(f"{asked[0]} not found")
    if zig := ziglang():
        # What a kernel needs of a system (threads, a few functions) is in every Python process.
        # Without libraries to link zig has none to build first, which takes 5 to 60 s.
        flags, said = (*_flags(), "-s"), _first_line(*zig, "version")
        return Compiler((*zig, "cc"), said, flags, ("-nostdlib",), zig_writes_to)
    raise NoCompiler(
        "none of c++, g++, clang++ is on the path, and ziglang is not installed"
        ' (pip install "footfall[compiler]")'
    )


def _first_line(*command: str) -> str:
    return run_compiler(command).strip().partition("\n")[0]


@functools.cache
def vector_bytes() -> int:
    """How wide the CPU's vector registers are: 64 bytes with AVX-512, 32 with AVX2, else 16."""
    features = _cpu_lines().get("flags", "").split()
    return 64 if "avx512dq" in features else 32 if "avx2" in features else 16


@functools.cache
def cpu_identity() -> str:
    """What -march=native depends on, in one line."""
    lines = _cpu_lines()
    told = (
        "\n".join(f"{name}: {lines[name]}" for name in IDENTITY if name in lines)
        or platform.processor()
    )
    return f"{platform.system()} {platform.machine()} {hashlib.sha256(told.encode()).hexdigest()}"


def _cpu_lines() -> dict[str, str]:
    """The first core's entry in /proc/cpuinfo; empty where there is none."""
    try:
        entry = Path("/proc/cpuinfo").read_text().partition("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.partition(":") for line in entry.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _flags() -> tuple[str, ...]:
    intel = platform.machine() in ("x86_64", "AMD64")
    native = (
        ("-march=native", f"-mprefer-vector-width={8 * vector_bytes()}")
        if intel
        else ("-mcpu=native",)
    )
    # No -ffast-math: NaN is how a lane says it failed. Contraction is what XLA and gcc do anyway;
    # clang must be told. -fwrapv: integers wrap, as in JAX. Warnings off: nobody reads them.
    numbers = ("-O3", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math", "-fwrapv")
    return (
        *numbers,
        *native,
        "-std=c++17",
        "-fno-exceptions",
        "-fno-rtti",
        "-fvisibility=hidden",
        "-fPIC",
        "-shared",
        "-w",
    )
