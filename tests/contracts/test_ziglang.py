"""Kernels without a C++ compiler of the system: by the clang that comes with `pip`."""

import ctypes
import shutil

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import footfall as ff
from footfall.engines.kernels.run_compiler import run_compiler, zig_writes_to, ziglang
from footfall.engines.kernels.targets.simd.compiler import Compiler
from footfall.engines.kernels.targets.simd.cpp_kernel import build_cpp

pytest.importorskip("ziglang")
X = np.linspace(-2.0, 2.0, 37)
LEGS = np.linspace(0.0, 1.0, 3 * 37).reshape(3, 37)


FLAGS = ("-O3", "-fPIC", "-shared", "-ffp-contract=fast", "-w")
#: Enough to be put into another order.
ONE = """
extern "C" double value(double x, int n) {
  double a = x, b = 1, c = 2, d = 3;
  for (int i = 0; i < n; i++) {
    double e = a * b + c, f = b / (d + x), g = c * d - a, h = a + b * x;
    a = e * 0.3 - f * g; b = f + 0.1 * h; c = g * 0.2 + e / 7; d = 1 + h * h * 0.01;
    if (a > 4) a -= 4; if (a < -4) a += 4;
  }
  return a + b + c + d;
}
"""


def program(x, legs, n):
    """Loops, branches, legs, functions of a library, a maximum over lanes."""

    def turn(i, carry):
        a, b = carry
        b = b - 0.01 * jnp.sin(a) + 1e-3 * jnp.tanh(a * b) + 1e-3 * jnp.arctan2(b, a)
        return a + 0.01 * b, lax.cond(jnp.max(b) > 0.0, jnp.cos, jnp.floor, b)

    a, b = lax.fori_loop(0, n, turn, (x, 0.0 * x))
    return a, b, legs * a + jnp.roll(legs, 1, axis=0)


def build():
    return build_cpp(
        program,
        [True, True, False],
        [np.float64, np.float64, np.int32],
        real=np.float64,
        rows=[None, 3, None],
    )


@pytest.fixture(autouse=True)
def nothing_set(tmp_path, monkeypatch):
    for name in ("FOOTFALL_CXX", "CXX", *zig_writes_to(tmp_path)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path / "cache"))


def test_kernels_compiled_in_less_time_are_not_scheduled_twice_and_give_the_same(tmp_path):
    """By gcc to the bit, as that changes no number; clang takes the option and has no use for it."""
    zig = Compiler((*ziglang(), "cc"), "", FLAGS, ("-nostdlib",), zig_writes_to)
    assert zig.in_less_time().build(ONE, tmp_path)[:4] == b"\x7fELF"
    gcc = shutil.which("g++")
    if gcc is None:
        pytest.skip("no gcc")
    codes = [
        Compiler((gcc,), "", flags).build(ONE, tmp_path)
        for flags in (("-O2", *FLAGS[1:]), Compiler((gcc,), "", FLAGS).in_less_time().flags)
    ]
    values = []
    for i, code in enumerate(codes):
        (tmp_path / f"{i}.so").write_bytes(code)
        value = ctypes.CDLL(str(tmp_path / f"{i}.so")).value
        value.restype, value.argtypes = ctypes.c_double, (ctypes.c_double, ctypes.c_int)
        values.append(value(0.3, 1000))
    assert codes[0] != codes[1] and values[0] == values[1] != 0.0


def test_without_a_compiler_on_the_path_ziglang_makes_the_same_kernel(tmp_path, monkeypatch):
    """And leaves nothing where somebody works, nor in their home."""
    theirs = build()([X, LEGS, np.int32(100)]) if shutil.which("c++") else None
    here = tmp_path / "project"
    here.mkdir()
    monkeypatch.chdir(here)
    for name in ("HOME", "XDG_CACHE_HOME", "PATH"):  # nothing is on such a path
        monkeypatch.setenv(name, str(here))
    kernel = build()
    assert not kernel.from_cache and build().from_cache
    assert list(here.iterdir()) == []
    ours = kernel([X, LEGS, np.int32(100)], threads=3)
    if theirs is None:
        pytest.skip("no other compiler to compare with")
    for a, b in zip(ours, theirs, strict=True):
        # 100 turns of a few roundings each, which one compiler or the other may skip
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-13)


SYSTEMS = ["x86_64-windows-gnu", "aarch64-windows-gnu", "x86_64-macos", "aarch64-macos"]


@pytest.mark.parametrize("system", [*SYSTEMS, "aarch64-linux-gnu"])
def test_the_text_needs_no_header_and_no_processor_of_this_system(system, tmp_path):
    """Compiled for others; run on none of them."""
    (tmp_path / "kernel.cpp").write_text(build().source)
    options = ["-std=c++17", "-fno-exceptions", "-w", "-nostdlib", "-c", "kernel.cpp"]
    options += ["-o", "kernel.o"]
    said = run_compiler(
        [*ziglang(), "cc", "-target", system, *options], tmp_path, zig_writes_to(tmp_path)
    )
    assert said == "" and (tmp_path / "kernel.o").stat().st_size > 1000


# --- a whole robot, for other systems -------------------------------------------------------------


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """The text of the kernel that sweeps the passive wheel."""
    texts: list[str] = []

    def build(self, source, folder):
        texts.append(source)
        return made(self, source, folder)

    made = Compiler.build
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOOTFALL_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(Compiler, "build", build)
        wheel = ff.load("passive-wheel", duration=1)
        swept = wheel.sweep({"terrain.angle": [0.08, 0.1]})
    assert set(swept.outcome.values.tolist()) == {"reached_end"}
    return max(texts, key=len)


def built_for(system, text, folder, *options):
    (folder / "kernel.cpp").write_text(text)
    command = [*ziglang(), "cc", "-target", system, "-std=c++17", "-fno-exceptions", "-w"]
    run_compiler([*command, *options, "-o", "made", "kernel.cpp"], folder, zig_writes_to(folder))
    return (folder / "made").read_bytes()


#: First bytes of an object: COFF names its machine, Mach-O itself.
OBJECTS = {"x86_64-windows-gnu": b"\x64\x86", "aarch64-macos": b"\xcf\xfa\xed\xfe"}


@pytest.mark.parametrize("system", OBJECTS)
def test_a_robot_s_kernel_compiles_for_windows_and_macos(system, robot, tmp_path):
    made = built_for(system, robot, tmp_path, "-O0", "-nostdlib", "-c")
    assert made.startswith(OBJECTS[system]) and b"kernel" in made


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_robot_s_kernel_links_to_a_library_for_windows_and_macos(system, robot, tmp_path):
    """With the system's own libraries, which zig builds first: a minute and a half for Windows."""
    made = built_for(system, robot, tmp_path, "-O1", "-shared")
    assert made.startswith(b"MZ" if "windows" in system else b"\xcf\xfa\xed\xfe")
