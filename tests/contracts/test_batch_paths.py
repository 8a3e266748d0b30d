"""One loop, three ways to run it:

C++ kernel, CUDA kernel, XLA. They agree, and say why when one cannot be taken.
"""

import jax
import numpy as np
import pytest

from footfall import Outcome
from footfall.engines.kernels.fuse_errors import NoCompiler
from footfall.engines.kernels.targets.cuda import cuda_kernel
from footfall.engines.kernels.targets.cuda.gpu_fault import GpuFault
from footfall.engines.kernels.targets.simd.cpp_kernel import CppKernel
from footfall.engines.lanes import batch, batch_program
from footfall.engines.lanes.batch import fits_kernels, run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from support.batches import Exotic, leaning, same_bits, ticking_wheel, wheel
from support.cuda import run_cuda
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
        cuda = run_cuda(system, experiment.start, plan("auto", precision), patch)
    cpp, xla = (
        run_batch(system, experiment.start, plan(path, precision)) for path in ("cpp", "xla")
    )
    assert (
        cpp.path.startswith("C++")
        and xla.path.startswith("XLA")
        and cuda.path.startswith("CUDA kernel on ")
    )
    return precision, {"cpp": cpp, "xla": xla, "cuda": cuda}


@pytest.mark.parametrize("other", ["xla", "cuda"])
def test_paths_agree_to_rounding(three, other):
    """To a thousand roundings; of single precision, with the numbers of double precision.

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
    truth = one
    if precision == "float32":  # two paths may err in opposite directions
        experiment = ticking_wheel()
        truth = run_batch(leaning(experiment, PITCHES), experiment.start, plan("cpp", "float64"))
    for a, b in zip(jax.tree.leaves(truth.end.x), jax.tree.leaves(two.end.x), strict=True):
        assert b.dtype == precision
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


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("passive-wheel", ()),
        ("rimless-wheel", ()),
        ("rimless-wheel-turning", ()),
        ("centipede-gap", ()),
    ],
)
def test_every_robot_of_a_cpp_kernel_fits_a_gpu_kernel(name, settings):
    experiment = wheel(name, *settings)
    found = fits_kernels(experiment.system, experiment.start)
    assert found == {"C++ kernel": "yes", "GPU kernel": "yes"}


def test_a_primitive_without_a_rule_is_named_and_the_system_runs_all_the_same():
    system, start = Exotic(restitution=1.0), Ball.begin(Height(x=np.array([0.5, 1.0]), v=0.0))
    for why in fits_kernels(system, start).values():
        assert why.startswith("no rule there for digamma")
    result = run_batch(system, start, BatchPlan(1.0, step=0.1))
    assert result.path.startswith("XLA") and len(result.notes) == 1 and "digamma" in result.notes[0]
    plain = run_batch(Ball(restitution=1.0), start, BatchPlan(1.0, step=0.1, path="xla"))
    np.testing.assert_allclose(result.end.x.x, plain.end.x.x, atol=1e-14)


@pytest.fixture
def on_a_gpu(monkeypatch):
    """JAX says that it has a GPU; what a launch there does is the test's to say."""
    for module in (batch, batch_program):
        monkeypatch.setattr(module, "has_gpu", lambda: True)
    batch_program._cuda.cache_clear()
    yield lambda machine: monkeypatch.setattr(cuda_kernel, "on_gpu", machine)
    batch_program._cuda.cache_clear()


def _fails(fault):
    def launch(*_):
        raise fault

    return launch


FULL = jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes.")


@pytest.mark.parametrize(
    ("machine", "path", "words"),
    [
        (_fails(NoCompiler("NVRTC is not here")), "XLA", "no GPU kernel: NVRTC is not here"),
        (lambda text: _fails(GpuFault("launch failed")), "XLA", "the GPU kernel failed (launch"),
        (lambda text: _fails(FULL), "C++", "the GPU has too little memory"),
    ],
    ids=["no compiler", "fault", "memory"],
)
def test_a_gpu_that_fails_costs_one_note_and_no_number(on_a_gpu, machine, path, words):
    on_a_gpu(machine)
    start = Ball.begin(Height(x=np.array([0.5, 1.0]), v=0.0))
    result = run_batch(Ball(restitution=1.0), start, BatchPlan(1.0, step=0.1))
    assert result.path.startswith(path) and len(result.notes) == 1
    assert result.notes[0].startswith(words)
    plain = run_batch(Ball(restitution=1.0), start, BatchPlan(1.0, step=0.1, path="xla"))
    np.testing.assert_allclose(result.end.x.x, plain.end.x.x, atol=1e-14)


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
    for other in ("xla", "cuda"):
        gap = np.abs(results["cpp"].columns["t_end"] - results[other].columns["t_end"])
        assert gap.max() < {"float64": 1e-13, "float32": 1e-5}[precision]
