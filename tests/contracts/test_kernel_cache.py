"""What the kernel cache may be relied on for.

It loads what this user built and nothing else, and it never hangs or half-writes.
"""

import ctypes
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from footfall.engines import jax_setup
from footfall.engines.kernels import cache_folder as cache_folder_module
from footfall.engines.kernels import private_folder, run_compiler
from footfall.engines.kernels.fuse_errors import NoCompiler
from footfall.engines.kernels.targets.simd import compiler, kernel_cache
from footfall.engines.kernels.targets.simd.cpp_kernel import build_cpp

COMPILER = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
X = np.arange(5.0)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of its own for every test, and none of the user's settings."""
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path / "cache"))
    for name in ("FOOTFALL_CXX", "CXX", "FOOTFALL_COMPILE_SECONDS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache" / "kernels"


def build(add=1.0):
    """Build and run x + add; how it came."""
    kernel = build_cpp(lambda x: (x + add,), [True], [np.float64], real=np.float64)
    np.testing.assert_array_equal(kernel([X])[0], X + add)
    return kernel


def files(folder):
    (library,) = folder.glob("*.so")
    return library, library.with_suffix(".record")


def write_script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


# ---- keeping


@needs_compiler
def test_the_second_build_comes_from_the_cache(folder):
    first, second = build(), build()
    assert (first.from_cache, second.from_cache) == (False, True)
    assert first.compile_seconds > 0 == second.compile_seconds
    assert not build(add=2.0).from_cache  # another number is another program


@needs_compiler
def test_folder_and_files_are_closed_to_others_whatever_the_umask(folder):
    before = os.umask(0)
    try:
        build()
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    names = {path.name for path in folder.iterdir()}
    assert len(names) == 3 and "secret" in names  # nothing left over
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in folder.iterdir())


@needs_compiler
def test_a_library_belongs_to_its_compiler_flags_and_cpu(monkeypatch, folder):
    build()
    monkeypatch.setattr(compiler, "cpu_identity", lambda: "another CPU")
    assert not build().from_cache
    monkeypatch.undo()
    monkeypatch.setenv("FOOTFALL_CACHE", str(folder.parent))
    monkeypatch.setenv("CXX", f"{COMPILER} -DANOTHER")
    assert not build().from_cache


@needs_compiler
@pytest.mark.as_compiled  # as the four do
def test_four_processes_may_build_the_same_kernel_at_once(folder):
    source = build().source
    shutil.rmtree(folder)
    # The package's own __init__ starts JAX; the cache does not need it, and four starts would be
    # most of the test.
    program = (
        "import sys, types\npackage = types.ModuleType('footfall'); package.__path__ ="
        " [sys.argv[1]]; sys.modules['footfall'] = package\nfrom"
        " footfall.engines.kernels.targets.simd.kernel_cache import"
        " load_kernel\nload_kernel(open(sys.argv[2]).read()).library.footfall_run\n"
    )
    package = Path(kernel_cache.__file__).parents[4]
    (folder.parent / "source").write_text(source)
    command = [sys.executable, "-c", program, str(package), str(folder.parent / "source")]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]
    assert len(list(folder.iterdir())) == 3
    assert build().from_cache


# ---- distrust


@pytest.fixture
def foreign(tmp_path):
    """A library that leaves a mark the moment it is loaded, and the mark's path."""
    mark, source, library = tmp_path / "mark", tmp_path / "foreign.c", tmp_path / "foreign.so"
    source.write_text(
        "#include <stdio.h>\n"
        f'__attribute__((constructor)) static void run(void) {{ fclose(fopen("{mark}", "w")); }}\n'
        "void footfall_run(void) {}\n"
    )
    subprocess.run([COMPILER, "-x", "c", "-shared", "-fPIC", source, "-o", library], check=True)
    return library, mark


@needs_compiler
def test_the_foreign_library_would_be_noticed(foreign):
    library, mark = foreign
    ctypes.CDLL(str(library))
    assert mark.exists()


@needs_compiler
def test_a_foreign_library_with_a_plain_hash_is_not_loaded(folder, foreign):
    build()
    kept, record = files(folder)
    kept.write_bytes(foreign[0].read_bytes())
    proof = record.read_text().splitlines()[1]
    record.write_text(f"sha256 {hashlib.sha256(kept.read_bytes()).hexdigest()}\n{proof}\n")
    assert not build().from_cache
    assert not foreign[1].exists()
    assert build().from_cache  # what was built instead has taken its place


@needs_compiler
def test_our_own_library_under_another_kernels_name_is_not_loaded(folder):
    build(add=1.0)
    first, first_record = files(folder)
    build(add=2.0)
    (second,) = set(folder.glob("*.so")) - {first}
    shutil.copy(first, second)
    shutil.copy(first_record, second.with_suffix(".record"))
    assert not build(add=2.0).from_cache  # which also checks the numbers


def test_of_two_secrets_made_at_once_the_first_counts(folder):
    with private_folder.private_folder(folder, ".so") as private:
        assert private is not None
        first = private.secret()
        # What a process does that saw no secret a moment ago.
        private.write(private_folder.SECRET, bytes(32), replace=False)
        assert private.secret() == first
    assert [path.name for path in folder.iterdir()] == ["secret"]


def spoil_library(library, record):
    content = bytearray(library.read_bytes())
    content[len(content) // 2] ^= 1
    library.write_bytes(content)


def cut_library(library, record):
    library.write_bytes(library.read_bytes()[:1000])


def spoil_record(library, record):
    whole = record.read_bytes()
    record.write_bytes(whole[:-2] + (b"1\n" if whole[-2:] == b"0\n" else b"0\n"))


def lose_record(library, record):
    record.unlink()


def change_secret(library, record):
    (library.parent / "secret").write_bytes(bytes(32))


def open_secret(library, record):
    (library.parent / "secret").chmod(0o644)


def link_library(library, record):
    library.rename(library.parent.parent / "elsewhere.so")
    library.symlink_to(library.parent.parent / "elsewhere.so")


def link_record(library, record):
    record.rename(record.parent.parent / "elsewhere.record")
    record.symlink_to(record.parent.parent / "elsewhere.record")


def open_library(library, record):
    library.chmod(0o620)


SPOILS = [
    spoil_library,
    cut_library,
    spoil_record,
    lose_record,
    change_secret,
    open_secret,
    link_library,
    link_record,
    open_library,
]


@needs_compiler
@pytest.mark.parametrize("spoil", SPOILS)
def test_what_fails_a_check_is_built_again(folder, spoil):
    build()
    spoil(*files(folder))
    assert not build().from_cache
    assert build().from_cache
    assert not any(path.is_symlink() for path in folder.iterdir())
    assert stat.S_IMODE((folder / "secret").stat().st_mode) == 0o600


def open_to_group(folder, monkeypatch):
    folder.chmod(0o770)


def link_folder(folder, monkeypatch):
    folder.rename(folder.parent / "elsewhere")
    folder.symlink_to(folder.parent / "elsewhere")


def belong_to_another(folder, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)


def cannot_be_written(folder, monkeypatch):
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))


@needs_compiler
@pytest.mark.parametrize(
    "spoil", [open_to_group, link_folder, belong_to_another, cannot_be_written]
)
def test_a_folder_that_is_not_ours_alone_is_neither_read_nor_written(folder, spoil, monkeypatch):
    build()
    spoil(folder, monkeypatch)
    before = sorted((path.name, path.stat().st_mtime_ns) for path in folder.iterdir())
    assert not build().from_cache
    assert not build().from_cache
    assert sorted((path.name, path.stat().st_mtime_ns) for path in folder.iterdir()) == before


@needs_compiler
def test_without_a_folder_kernels_are_built_and_not_kept(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path / "file"))
    assert not build().from_cache
    assert not build().from_cache


# ---- compilers that are missing, broken or stuck


def reason():
    """Why there is no compiler, which is one line."""
    with pytest.raises(NoCompiler) as refusal:
        build()
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def test_a_missing_compiler_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("FOOTFALL_CXX", "/nowhere/c++")
    assert reason() == "/nowhere/c++ not found"
    monkeypatch.delenv("FOOTFALL_CXX")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(compiler, "ziglang", lambda: None)
    assert reason() == (
        "none of c++, g++, clang++ is on the path, and ziglang is not installed"
        ' (pip install "footfall[compiler]")'
    )


def test_the_compiler_can_be_switched_off(monkeypatch):
    monkeypatch.setenv("FOOTFALL_CXX", "none")
    assert reason() == "switched off by FOOTFALL_CXX"


@needs_compiler
def test_the_compiler_can_be_chosen(monkeypatch, tmp_path):
    log = tmp_path / "log"
    chosen = write_script(tmp_path / "my compiler", f'echo used >> "{log}"\nexec {COMPILER} "$@"')
    monkeypatch.setenv("CXX", "/nowhere/c++")
    monkeypatch.setenv("FOOTFALL_CXX", str(chosen))
    build()
    assert log.exists()


def test_a_failing_compiler_is_quoted(monkeypatch, tmp_path):
    script = (
        'case "$1" in --version) echo failing 1.0; exit 0;; esac\necho "In file x:"\necho "x.cpp:1:'
        ' error: out of paper" >&2\nexit 1'
    )
    monkeypatch.setenv("FOOTFALL_CXX", str(write_script(tmp_path / "failing", script)))
    assert reason() == "failing failed: x.cpp:1: error: out of paper"
    monkeypatch.setenv(
        "FOOTFALL_CXX", str(write_script(tmp_path / "worse", "echo no licence; exit 1"))
    )
    assert reason() == "worse failed: no licence"


def test_a_compiler_that_crashes_is_told_from_one_that_refuses(monkeypatch, tmp_path):
    crash = 'case "$1" in --version) echo crashing 1.0; exit 0;; esac\nkill -SEGV $$'
    monkeypatch.setenv("FOOTFALL_CXX", str(write_script(tmp_path / "crashing", crash)))
    assert reason() == "crashing failed: ended by signal 11"


def test_a_library_that_is_none_is_not_loaded(monkeypatch, tmp_path):
    junk = 'case "$1" in --version) echo junk 1.0; exit 0;; esac\necho junk > kernel.so'
    monkeypatch.setenv("FOOTFALL_CXX", str(write_script(tmp_path / "junk", junk)))
    assert reason().startswith("the compiled kernel cannot be loaded")


def test_a_compiler_that_makes_nothing_is_noticed(monkeypatch, tmp_path):
    monkeypatch.setenv("FOOTFALL_CXX", str(write_script(tmp_path / "idle", "exit 0")))
    assert "made no library" in reason()


def is_running(pid):
    """A process that nobody has waited for is still listed, but does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
@pytest.mark.parametrize("asked", ["--version", "-shared"])
def test_a_hanging_compiler_is_ended_with_all_it_started(monkeypatch, tmp_path, asked):
    pids = tmp_path / "pids"
    hang = f'case "$*" in *{asked}*) sleep 300 & echo $$ $! > {pids}; wait;; esac\necho stuck 1.0'
    monkeypatch.setenv("FOOTFALL_CXX", str(write_script(tmp_path / "stuck", hang)))
    monkeypatch.setenv("FOOTFALL_COMPILE_SECONDS", "1")
    started = time.monotonic()
    assert reason() == "stuck did not finish within 1 s (FOOTFALL_COMPILE_SECONDS)"
    assert time.monotonic() - started < 10
    both = [int(pid) for pid in pids.read_text().split()]
    assert len(both) == 2
    patience = time.monotonic() + 5.0  # a signal sent is not yet a signal heard, on a busy machine
    while any(map(is_running, both)) and time.monotonic() < patience:
        time.sleep(0.02)
    assert not any(map(is_running, both))


# ---- the folder's name


def test_programs_and_kernels_are_kept_in_one_place():
    assert jax_setup.cache_folder is cache_folder_module.cache_folder


@needs_compiler
def test_no_room_to_compile_in_is_told_as_a_missing_compiler(monkeypatch):
    """So that a batch goes on through XLA."""

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kernel_cache.tempfile, "TemporaryDirectory", full)
    with pytest.raises(NoCompiler, match="No space left"):
        build(add=3.25)


@needs_compiler
def test_no_room_for_what_a_compiler_says_is_told_as_a_missing_compiler(monkeypatch):
    def full(*_, **__):
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(run_compiler.tempfile, "TemporaryFile", full)
    with pytest.raises(NoCompiler, match="nowhere to compile: No usable"):
        build(add=6.25)


@needs_compiler
def test_a_full_disk_leaves_nothing_half_written_in_the_cache(folder, monkeypatch):
    build(add=4.5)
    before = sorted(folder.iterdir())
    fdopen = os.fdopen

    def full(fd, mode="r", **options):
        file = fdopen(fd, mode, **options)
        if mode == "wb" and not options:  # a file of the cache; not the private copy that is loaded
            file.close()
            raise OSError(28, "No space left on device")
        return file

    monkeypatch.setattr(kernel_cache.os, "fdopen", full)
    assert not build(add=5.5).from_cache
    assert sorted(folder.iterdir()) == before
