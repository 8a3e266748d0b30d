"""One loop, three ways to run it:

C++ kernel, Pallas kernel, XLA. They agree, and say why when one cannot be taken.
"""

import sys

import jax
import numpy as np
import pytest

from footfall import Outcome
from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.kernels.targets.simd.cpp_kernel import CppKernel
from footfall.engines.lanes import batch_program
from footfall.engines.lanes.batch import fits_kernels, run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from support.batches import (
    Exotic,
    leaning,
    lowering,
    run_interpreted,
    same_bits,
    ticking_wheel,
    wheel,
)
from support.toys import Ball, Height

TRACK = ("motor.torque",)
#: 37 robots: no multiple of a block of 8, 16 or 32. They walk; the first two rock back.
PITCHES = np.concatenate([[0.05, 0.15], np.linspace(0.5, 1.2, 35)])
DURATION = 1.3  # five touchdowns of most


def plan(path, precision="float64", **more):
    return BatchPlan(DURATION, step=2.5e-3, precision=precision, path=path, track=TRACK, **more)


@pytest.fixture(scope="module", params=["float64", "float32"])
def three(request):
    """The same batch on the three paths."""
    experiment, precision = ticking_wheel(), request.param
    system = leaning(experiment, PITCHES)
    with pytest.MonkeyPatch.context() as patch:
        pallas = run_interpreted(system, experiment.start, plan("auto", precision), patch)
    cpp, xla = (
        run_batch(system, experiment.start, plan(path, precision)) for path in ("cpp", "xla")
    )
    assert (
        cpp.path.startswith("C++")
        and xla.path.startswith("XLA")
        and pallas.path.startswith("Pallas")
    )
    return precision, {"cpp": cpp, "xla": xla, "pallas": pallas}


@pytest.mark.parametrize("other", ["xla", "pallas"])
def test_paths_agree_to_rounding(three, other):
    """A thousand roundings:

    520 steps of a hundred operations each add up like a random walk (230), and five jumps amplify
    them.
    """
    precision, results = three
    one, two = results["cpp"], results[other]
    assert np.median(one.columns["jumps"]) >= 5
    for name in ("outcome", "jumps"):
        np.testing.assert_array_equal(one.columns[name], two.columns[name])
    np.testing.assert_array_equal(one.end.m.ticks, two.end.m.ticks)
    bound = 1000 * np.finfo(precision).eps
    for a, b in zip(jax.tree.leaves(one.end.x), jax.tree.leaves(two.end.x), strict=True):
        assert a.dtype == precision
        assert np.max(np.abs(a - b) / (1.0 + np.abs(a))) < bound
    for name in ("mean_speed", "cost_of_transport", "motor.torque_mean", "work_damper"):
        # Differences of sums over steps.
        np.testing.assert_allclose(one.columns[name], two.columns[name], rtol=20 * bound)


@pytest.mark.parametrize("three", ["float32"], indirect=True)
def test_single_precision_ends_as_double_does(three):
    _, results = three
    experiment = ticking_wheel()
    exact = run_batch(leaning(experiment, PITCHES), experiment.start, plan("cpp"))
    np.testing.assert_array_equal(results["cpp"].columns["outcome"], exact.columns["outcome"])
    np.testing.assert_array_equal(results["cpp"].columns["jumps"], exact.columns["jumps"])
    # 520 steps rounded to 6e-8, walking straight: their sum
    np.testing.assert_allclose(
        results["cpp"].columns["mean_speed"], exact.columns["mean_speed"], rtol=1e-4
    )


@pytest.mark.parametrize("lanes", [1, 7, 8, 9, 33])
def test_a_robot_of_the_kernel_does_not_depend_on_how_many_there_are(three, lanes):
    precision, results = three
    experiment = ticking_wheel()
    few = run_batch(leaning(experiment, PITCHES[:lanes]), experiment.start, plan("cpp", precision))
    same_bits(few, results["cpp"], lanes)
    one_thread = run_batch(
        leaning(experiment, PITCHES[:lanes]), experiment.start, plan("cpp", precision), threads=1
    )
    same_bits(one_thread, few)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("passive-wheel", ()),
        ("rimless-wheel", ()),
        ("rimless-wheel", ("control_period=0.005",)),
        ("rimless-wheel-turning", ()),
    ],
    ids=["passive", "continuous", "ticks", "turning"],
)
def test_every_wheel_becomes_one_gpu_kernel_with_a_register_limit(name, settings, precision):
    experiment = wheel(name, *settings)
    call, leaves = lowering(
        experiment.system, experiment.start, BatchPlan(1.0, step=2.5e-3, precision=precision)
    )
    text = batch_program.lowers_to_triton(call, leaves).as_text()
    assert text.count("gpu.triton") == 1  # one kernel
    # the kernel travels as bytecode: the limit's attribute is seen there by name, its value in the
    # kernel's name
    assert (
        "ttg.maxnreg" in text
        and f'name = "footfall_lanes_registers_{batch_program.REGISTERS[precision]}"' in text
    )


def test_a_primitive_without_a_rule_is_named_and_the_system_runs_all_the_same():
    system, start = Exotic(restitution=1.0), Ball.begin(Height(x=np.array([0.5, 1.0]), v=0.0))
    call, leaves = lowering(system, start, BatchPlan(1.0, step=0.1))
    with pytest.raises(CannotFuse) as refused:
        batch_program.lowers_to_triton(call, leaves)
    assert refused.value.primitive == "digamma"
    result = run_batch(system, start, BatchPlan(1.0, step=0.1))
    assert result.path.startswith("XLA") and len(result.notes) == 1 and "digamma" in result.notes[0]
    plain = run_batch(Ball(restitution=1.0), start, BatchPlan(1.0, step=0.1, path="xla"))
    np.testing.assert_allclose(result.end.x.x, plain.end.x.x, atol=1e-14)


def test_a_jax_without_pallas_has_no_gpu_kernel_and_says_so(monkeypatch):
    # Its import fails.
    monkeypatch.setitem(sys.modules, "footfall.engines.kernels.fused_kernel", None)
    batch_program._pallas.cache_clear()
    found = fits_kernels(Ball(restitution=1.0), Ball.begin(Height(x=1.0, v=0.0)))
    assert found["GPU kernel"] == f"no rule there for pallas: is not in JAX {jax.__version__}"
    assert found["C++ kernel"] == "yes"


def test_without_a_compiler_a_batch_runs_under_xla_with_one_note(monkeypatch):
    monkeypatch.setenv("FOOTFALL_CXX", "none")
    batch_program._cpp.cache_clear()
    start = Ball.begin(Height(x=np.array([0.5, 1.0]), v=0.0))
    for path in ("auto", "cpp"):
        result = run_batch(Ball(restitution=1.0), start, BatchPlan(1.0, step=0.1, path=path))
        assert (
            result.path.startswith("XLA")
            and len(result.notes) == 1
            and "FOOTFALL_CXX" in result.notes[0]
        )
    assert run_batch(Ball(restitution=1.0), start, BatchPlan(1.0, step=0.1, path="xla")).notes == ()


@pytest.fixture
def compilations(monkeypatch):
    """Names of what was compiled since: XLA programs and C++ kernels."""
    from jax import monitoring

    seen = []

    def heard(event, _, **about):
        if event == "/jax/core/compile/backend_compile_duration":
            seen.append(about.get("fun_name", event))

    monitoring.register_event_duration_secs_listener(heard)
    build = CppKernel.__init__
    monkeypatch.setattr(
        CppKernel, "__init__", lambda self, *a, **k: (seen.append("C++"), build(self, *a, **k))[1]
    )
    yield seen
    jax._src.monitoring.unregister_event_duration_listener(heard)


@pytest.mark.parametrize("path", ["cpp", "xla"])
def test_new_numbers_compile_nothing(path, compilations):
    experiment = ticking_wheel()
    sampled = {"sample": TRACK, "sample_every": 50}

    def run(lanes, duration, step, **more):
        given = BatchPlan(duration, step=step, path=path, track=TRACK, **more, **sampled)
        return run_batch(leaning(experiment, np.linspace(0.5, 0.9, lanes)), experiment.start, given)

    run(37, 1.0, 2.5e-3)
    compilations.clear()
    run(37, 0.75, 1.25e-3)
    run(36, 0.5, 5e-3, settle=0.2, max_jumps=50)
    run(40, 0.5, 5e-3)  # room is made for 40 when 37 are asked for
    assert compilations == []


def test_a_fallen_lane_ends_alike_on_every_path(three):
    """Frozen at its event: time and state, whatever the block it is in."""
    precision, results = three
    ended = results["cpp"].columns["outcome"] == Outcome.rocked_back
    assert ended.sum() >= 1
    for other in ("xla", "pallas"):
        gap = np.abs(results["cpp"].columns["t_end"] - results[other].columns["t_end"])
        assert gap.max() < {"float64": 1e-13, "float32": 1e-5}[precision]
