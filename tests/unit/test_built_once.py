"""A run makes its robot once, checks its numbers once as they are made, and asks for each program
once.
"""

import collections

import jax
import jax.monitoring
import pytest

from footfall.cli.run import run_scenario
from footfall.engines.kernels.targets.simd import cpp_kernel
from footfall.engines.lanes import watched_lane
from footfall.hybrid.fields import Parametric
from footfall.scenario.load import load, with_settings


@pytest.fixture
def made(monkeypatch):
    """How often a part or robot of each class was made and checked."""
    counts, check = collections.Counter(), Parametric.__check_init__

    def counted(self):
        if type(self).__module__.startswith("footfall.machines."):  # a plan costs nothing
            counts[type(self).__name__] += 1
        check(self)

    monkeypatch.setattr(Parametric, "__check_init__", counted)
    return counts


def test_a_run_makes_its_robot_and_each_part_once_and_compiles_nothing_twice(
    made, tmp_path, monkeypatch
):
    jax.clear_caches()
    watched_lane._kernels.cache_clear()
    programs, kernels = collections.Counter(), collections.Counter()
    load_kernel = cpp_kernel.load_kernel

    def loaded(source, *how):
        kernels[source] += 1
        return load_kernel(source, *how)

    monkeypatch.setattr(cpp_kernel, "load_kernel", loaded)

    def told(event, _, fun_name="", **__):
        if event == "/jax/core/compile/backend_compile_duration":
            programs[fun_name] += 1

    jax.monitoring.register_event_duration_secs_listener(told)
    try:
        status = run_scenario(
            "rimless-wheel", [], str(tmp_path / "a"), "1", True, None, "screen", None, False
        )
    finally:
        jax.monitoring.unregister_event_duration_listener(told)
    assert status == 0
    robot = {name: count for name, count in made.items() if not name.endswith("Start")}
    assert robot == dict.fromkeys(
        ("SpringLeg", "Torso", "DcMotor", "PitchPid", "Flat", "TorsoWheel"), 1
    )
    ours = {
        name: count
        for name, count in programs.items()
        if any(word in name for word in ("_start", "_advance", "observe"))
    }
    # The start, the steps, the outputs, and those of them that have statistics.
    assert not ours and len(kernels) == 4 and set(kernels.values()) == {1}


def test_only_what_was_changed_is_made_again(made):
    experiment = load("rimless-wheel")
    made.clear()
    stiffer = with_settings(experiment, ["leg.stiffness=20000"]).system
    assert {name for name in made if not name.endswith("Start")} == {"SpringLeg", "TorsoWheel"}
    assert stiffer.torso is experiment.system.torso and stiffer.leg is not experiment.system.leg
    made.clear()
    # As it was.
    assert with_settings(experiment, ["leg.stiffness=15000"]).system is experiment.system
    assert "TorsoWheel" not in made
