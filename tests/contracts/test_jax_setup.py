"""What a plain Python process may rely on: programs compiled once, small loops compiled whole,
spoiled programs never used.

Each process is a fresh one, as a user starts it; the batch in it needs a C++ kernel and several XLA
programs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from footfall.engines import jax_setup
from footfall.engines.jax_setup import CheckedPrograms
from footfall.engines.kernels.private_folder import private_folder
from support.commands import PATIENCE, environment

PROCESS = """
import collections, json, os, sys
import footfall as ff
assert "jax" not in sys.modules
before = dict(os.environ)
{before}
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
import jax
import numpy as np
from jax.extend.backend import get_compile_options
from support.toys import Ball, Height
counts = collections.Counter()
jax.monitoring.register_event_listener(lambda event, **more: counts.update([event.rpartition("/")[2]]))
result = run_batch(Ball(restitution=0.5), Ball.begin(Height(x=np.array([0.5, 1.0]), v=0.0)), BatchPlan(1.0, step=0.01))
print(json.dumps(dict(
    end=[float(v).hex() for v in result.end.x.x],
    path=result.path,
    misses=counts["cache_misses"],
    hits=counts["cache_hits"],
    whole_loops=b"small_while_loop" in get_compile_options(1, 1).SerializeAsString(),
    environment=dict(os.environ) == before,
    cache=jax.config.jax_compilation_cache_dir,
)))
"""


def process(folder, before="", **more):
    """What a fresh process finds and says; `before` runs in it after footfall is imported."""
    here = Path(__file__).resolve().parents[1]
    paths = os.pathsep.join([str(here), *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = {"PYTHONPATH": paths, "FOOTFALL_CACHE": str(folder), **more}
    command = [sys.executable, "-c", PROCESS.format(before=before)]
    done = subprocess.run(
        command, env=environment(**settings), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def cold(tmp_path_factory):
    """A process that found nothing, and the folder it filled."""
    folder = tmp_path_factory.mktemp("cache")
    return folder, process(folder)


def kept(folder):
    """Everything compiled that is kept there, by its ending."""
    places = {".program": folder / "xla-whole-loops", ".so": folder / "kernels"}
    return [
        (path, place, ending)
        for ending, place in places.items()
        for path in sorted(place.glob(f"*{ending}"))
    ]


def test_a_plain_process_compiles_loops_whole_and_leaves_no_trace_in_its_environment(cold):
    folder, first = cold
    assert first["whole_loops"] and first["environment"]
    assert first["misses"] == len(list((folder / "xla-whole-loops").glob("*.program"))) > 0


def test_the_second_plain_process_compiles_nothing(cold):
    folder, first = cold
    second = process(folder)
    assert second["misses"] == 0 and second["hits"] == first["misses"] + first["hits"]
    assert second["end"] == first["end"]


def test_spoiled_programs_and_kernels_are_compiled_again_and_the_result_is_right(cold):
    """Bytes flipped all over every file that is kept."""
    folder, first = cold
    files = kept(folder)
    assert {ending for _, _, ending in files} >= (
        {".program", ".so"} if first["path"].startswith("C++") else {".program"}
    )
    for path, _, _ in files:
        content = bytearray(path.read_bytes())
        for at in range(7, len(content), 501):
            content[at] ^= 0x10
        path.write_bytes(content)
    spoiled = {path: path.read_bytes() for path, _, _ in files}
    again = process(folder)
    assert again["end"] == first["end"] and again["path"] == first["path"]
    assert again["misses"] == first["misses"]
    for path, place, ending in files:
        with private_folder(place, ending) as checked:
            assert checked is not None and checked.kept(path.stem) not in (None, spoiled[path])


def test_a_process_that_started_jax_itself_runs_without_the_option_and_keeps_its_programs(cold):
    folder, first = cold
    mine = process(folder, "import jax.numpy; jax.numpy.ones(3) + 1")
    assert not mine["whole_loops"] and mine["environment"]
    assert Path(mine["cache"]).name == "xla" and mine["misses"] == first["misses"]
    # The kernel is the same one, and the programs around it only start and look.
    assert mine["end"] == first["end"] or not first["path"].startswith("C++")


def test_a_user_who_chose_is_left_alone(tmp_path):
    """A cache and that very option of his own."""
    chosen = {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "mine"),
        "XLA_FLAGS": jax_setup.FLAG.replace("100000", "2000"),
    }
    found = process(tmp_path / "cache", **chosen)
    assert found["cache"] == chosen["JAX_COMPILATION_CACHE_DIR"] and found["environment"]
    assert not list((tmp_path / "cache").glob("xla*"))


# ---- one program


def test_a_program_with_any_byte_changed_does_not_come_back(tmp_path):
    programs, content = CheckedPrograms(tmp_path / "kept"), bytes(range(200))
    programs.put("jit_f-1", content)
    assert programs.get("jit_f-1") == content and programs.get("jit_f-2") is None
    for name in ("jit_f-1.program", "jit_f-1.record"):
        path = tmp_path / "kept" / name
        whole = path.read_bytes()
        for at in range(len(whole)):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            assert programs.get("jit_f-1") is None
        path.write_bytes(whole[:-1])
        assert programs.get("jit_f-1") is None
        path.write_bytes(whole)
    assert programs.get("jit_f-1") == content
    (tmp_path / "kept" / "jit_f-1.program").write_bytes(b"spoiled")
    programs.put("jit_f-1", content)
    assert programs.get("jit_f-1") == content


def test_a_program_under_anothers_name_does_not_come_back(tmp_path):
    programs = CheckedPrograms(tmp_path)
    programs.put("one", b"1")
    for ending in (".program", ".record"):
        (tmp_path / f"one{ending}").rename(tmp_path / f"two{ending}")
    assert programs.get("two") is None


# ---- a JAX that is not known


def test_without_the_private_parts_of_jax_it_still_runs(tmp_path):
    """Then the backend counts as started, and programs are kept as JAX keeps them, unchecked."""
    hide = """
import jax._src.xla_bridge, jax._src.compilation_cache_interface
jax._src.compilation_cache_interface.CacheInterface.__abstractmethods__ |= {"another"}
del jax._src.xla_bridge.backends_are_initialized
"""
    found = process(tmp_path, hide)
    assert not found["whole_loops"] and found["misses"] > 0
    assert not list((tmp_path / "xla").glob("*.program")) and list(
        (tmp_path / "xla").glob("*-cache")
    )


def test_an_unknown_jaxlib_is_tried_once_in_a_process_of_its_own(tmp_path, monkeypatch):
    calls = []

    def run(command, **options):
        calls.append(options["env"]["XLA_FLAGS"])
        return subprocess.CompletedProcess(command, -6 if len(calls) > 1 else 0)

    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path))
    monkeypatch.setattr(jax_setup.subprocess, "run", run)
    for version, answer in (("9.1", True), ("9.1", True), ("9.2", False), ("9.2", False)):
        monkeypatch.setattr(
            jax_setup.importlib.metadata, "version", lambda name, version=version: version
        )
        assert jax_setup._option_is_safe() is answer
    assert calls == [jax_setup.FLAG] * 2
