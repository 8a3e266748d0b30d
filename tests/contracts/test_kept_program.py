"""Texts of programs are kept under what they were traced from, and under nothing less."""

import subprocess
import sys

import jax
import numpy as np
import pytest

import footfall as ff
from footfall.authoring import HybridState
from footfall.engines.kernels import kept_program as kept
from footfall.engines.lanes import watched_lane


@pytest.fixture
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path))
    monkeypatch.setattr(kept, "keep", True)
    return tmp_path


def asked(given):
    """Whether a program was made for it, and not found."""
    made = []
    assert kept.kept_program(given, lambda: made.append(1) or "text") == "text"
    return bool(made)


def test_what_was_made_once_is_found_and_what_differs_is_not(own_cache):
    wheel, nine = (
        jax.tree.structure(ff.load("passive-wheel", {"robot.spokes": n}).system) for n in (10, 9)
    )
    assert asked((wheel, "rk4")) and not asked((wheel, "rk4"))
    assert asked((nine, "rk4")) and asked((wheel, "heun")) and asked((wheel, 0.1))
    assert not asked((nine, "rk4"))
    assert asked((wheel, np.nextafter(0.1, 1.0)))  # to the last bit


def test_other_code_finds_nothing(own_cache, monkeypatch):
    assert asked("a") and not asked("a")
    monkeypatch.setattr(kept, "_code", lambda: "edited")
    assert asked("a")


def test_the_code_is_every_file_that_traces_or_writes(monkeypatch):
    text = kept._code.__wrapped__()
    for part in ("torso_wheel.py", "lanes.h", "adaptive.py", "trig.py", jax.__version__):
        assert part in text


def test_what_was_tampered_with_is_made_again(own_cache):
    assert asked("a")
    (file,) = (own_cache / "programs").glob("*.program")
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    assert asked("a") and not asked("a")


class Own(HybridState):
    """A class of somebody else."""


def test_code_that_is_not_footfalls_and_things_without_a_lasting_name_have_no_key(own_cache):
    for thing in (jax.tree.structure(Own(1.0, 2.0)), lambda: 0, object(), np.zeros(3)):
        with pytest.raises(kept.NoKey):
            kept.described(thing)
        assert asked(thing) and asked(thing)


def test_a_key_is_the_same_in_every_process():
    line = (
        "import jax, footfall as ff; from footfall.engines.kernels.kept_program import described;"
        "print(described(jax.tree.structure(ff.load('rimless-wheel').system)))"
    )
    told = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    here = kept.described(jax.tree.structure(ff.load("rimless-wheel").system))
    assert told.stdout.strip() == here and "TorsoWheel" in here


def test_a_run_by_a_kept_program_is_the_run_to_the_bit_and_traces_nothing(own_cache, monkeypatch):
    experiment = ff.load("passive-wheel", duration=2.0)
    watched_lane._kernels.cache_clear()
    one = ff.simulate(experiment)
    watched_lane._kernels.cache_clear()
    monkeypatch.setattr(watched_lane, "cpp_text", None)  # who would trace now fails
    two = ff.simulate(experiment)
    watched_lane._kernels.cache_clear()
    assert two.provenance["path"] == "C++ kernel"
    for name, values in one.columns.items():
        np.testing.assert_array_equal(values, two.columns[name])
