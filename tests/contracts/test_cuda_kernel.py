"""The CUDA text, without a GPU: a C++ compiler reads it, one lane per "thread".

The wheel, its single precision and its faults are in test_batch_paths.py.
"""

import ctypes

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import footfall as ff
from footfall.engines.kernels.fuse_errors import CannotFuse, NoCompiler
from footfall.engines.kernels.targets.cuda import nvrtc
from footfall.engines.kernels.targets.cuda.cuda_kernel import cuda_program
from footfall.engines.kernels.targets.cuda.cuda_source import cuda_source
from footfall.engines.kernels.targets.cuda.driver import Gpu
from footfall.engines.kernels.targets.cuda.gpu_fault import GpuFault
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.scenario.vary import batched
from support.batches import op_by_op, optimised
from support.cuda import run_cuda, same_numbers, stand_in

ROBOTS = {
    "rimless-wheel-turning": ({"torso.pitch_setpoint": (0.5, 0.7)}, BatchPlan(0.6, step=2e-3)),
    "water-runner": ({"drive.frequency": (7.0, 9.0)}, BatchPlan(0.02, step=5e-4)),
    "rimless-wheel-closed-loop": ({"stack.frame_loss": (0.0, 0.5)}, BatchPlan(0.3, step=2.5e-4)),
    "centipede-gap": (
        {"gait.frequency": (0.8, 1.2)},
        BatchPlan(0.02, step=1e-4, method="semi-implicit-euler"),
    ),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_the_cuda_text_gives_the_numbers_of_the_cpp_kernel(name, monkeypatch):
    """To some hundred roundings: the compilers contract other products."""
    optimised(monkeypatch, "-O0")
    op_by_op(monkeypatch)
    ends, plan = ROBOTS[name]
    given = batched(ff.load(name), {key: np.linspace(*v, 5) for key, v in ends.items()})
    cuda = run_cuda(*given, plan, monkeypatch)
    assert cuda.path.startswith("CUDA")
    cpp = run_batch(*given, plan)
    assert cpp.path.startswith("C++")
    same_numbers(cpp, cuda, 1e-11)
    state = [np.asarray(v) for v in jax.tree.leaves(cuda.end.x)]
    assert any(np.ptp(v, axis=-1).max() > 1e-6 for v in state)  # the lanes differ


def odd_things(x, n, flag, shared, legs):
    """Corners of numbers and integers, and 64-bit integers beside 32-bit truth values."""
    wide = n.astype(jnp.int64) * 3_000_000_000 + 7
    turned = jnp.where(flag, wide, -wide) >> 3
    bits = jax.lax.bitcast_convert_type(x, jnp.int64 if x.dtype == jnp.float64 else jnp.int32)
    back = jax.lax.bitcast_convert_type(bits ^ 1, x.dtype)
    total = jnp.sum(legs * x, axis=0) + jnp.flip(legs, 0)[0] * legs[1:][1]
    return (
        turned.astype(x.dtype),
        (turned % 1000).astype(jnp.int32),
        back,
        jnp.maximum(x, shared) + jnp.sign(x) * jnp.floor(x),
        n // jnp.where(flag, 3, 0) + (n * 2_000_000_011) % 7,
        flag ^ (x < shared),
        total,
        jnp.where(flag, legs + x, jnp.roll(legs, 1, axis=0)),
        x.astype(jnp.int32),
    )


@pytest.mark.parametrize("real", ["float64", "float32"])
def test_numbers_and_integers_are_those_of_jax(real):
    draw, lanes, rows = np.random.default_rng(2), 131, (None, None, None, None, 3)
    x = draw.normal(0.0, 3.0, lanes).astype(real)
    x[:5] = (np.nan, np.inf, -np.inf, -0.0, 3e9)
    n = draw.integers(-(2**31), 2**31 - 1, lanes).astype(np.int32)
    flag, shared = draw.random(lanes) < 0.5, np.dtype(real).type(0.25)
    legs = draw.normal(size=(3, lanes)).astype(real)
    given = (x, n, flag, shared, legs)
    kernel = cuda_program(
        odd_things,
        [True, True, True, False, True],
        [v.dtype for v in given],
        real=np.dtype(real),
        rows=rows,
    ).compiled(stand_in)
    for one, other in zip(kernel(given), odd_things(*map(jnp.asarray, given)), strict=True):
        assert one.dtype == other.dtype
        # A sum of terms near 10 may cancel: then they round, not it.
        eps = np.finfo(real).eps
        np.testing.assert_allclose(one, other, rtol=8 * eps, atol=40 * eps)


def moved_legs(x, legs, shared, at):
    """What can be done with legs: beside each other, turned, put together, summed, one by number."""
    high, low = legs[1:] - legs[:-1], jnp.flip(legs, 0) * shared[:, None]
    wide = jnp.concatenate([low[:1], high * x, low[-1:]])[:-1]
    changed = wide.at[2].set(x).at[4].add(legs[0])
    cut = jax.lax.dynamic_slice_in_dim(legs, at, 3)
    put = jax.lax.dynamic_update_slice_in_dim(changed, cut, at, 0)
    some = legs[jnp.array([5, 1, 1, 6, 0])]
    positive = legs > 0

    def turn(_, state):
        rolled, total = state
        rolled = jnp.roll(rolled, 1, axis=0) + 0.5 * low
        return rolled, total + jnp.max(rolled, axis=0)

    rolled, total = jax.lax.fori_loop(0, 3, turn, (put, x))
    return (
        rolled,
        total,
        some,
        jnp.sum(some, axis=0) + jnp.sum(legs * positive, axis=0) * jnp.prod(high, axis=0),
        jnp.any(positive[2:], axis=0) & jnp.all(legs[:2] < 1.0, axis=0),
        jnp.where(positive, legs, jnp.min(legs, axis=0)),
        legs[3] - jnp.max(shared),
    )


@pytest.mark.parametrize("real", ["float64", "float32"])
def test_legs_that_are_spread_over_threads_are_those_of_jax(real):
    """Seven: eight threads with one each, or four with two and the last without."""
    draw, lanes = np.random.default_rng(4), 37
    given = (
        draw.normal(size=lanes).astype(real),
        draw.normal(size=(7, lanes)).astype(real),
        draw.normal(size=7).astype(real),
        np.int32(3),
    )
    kernel = cuda_program(
        moved_legs,
        [True, True, False, False],
        [v.dtype for v in given],
        real=np.dtype(real),
        rows=(None, 7, 7, None),
    ).compiled(stand_in)
    assert kernel.text.spread == {"float64": 8, "float32": 4}[real]
    eps = np.finfo(real).eps
    for one, other in zip(kernel(given), moved_legs(*map(jnp.asarray, given)), strict=True):
        assert one.dtype == other.dtype
        # Sums over legs in another order, of terms of some units.
        np.testing.assert_allclose(one, other, rtol=32 * eps, atol=64 * eps)


def test_a_sum_that_runs_from_leg_to_leg_is_one_threads_work():
    legs = np.random.default_rng(5).normal(size=(9, 5))
    program = lambda legs: (jnp.cumsum(legs, axis=0),)  # noqa: E731
    kernel = cuda_program(program, [True], [legs.dtype], real=legs.dtype, rows=(9,)).compiled(
        stand_in
    )
    assert kernel.text.spread == 1
    np.testing.assert_allclose(kernel([legs])[0], np.cumsum(legs, axis=0), rtol=1e-14, atol=1e-14)


def test_outputs_are_fresh_and_inputs_stay():
    kernel = cuda_program(lambda x: (x + 1.0, x), [True], [np.float64], real=np.float64).compiled(
        stand_in
    )
    x = jnp.arange(5.0)
    one, same = kernel([x])
    again, _ = kernel([one])
    np.testing.assert_array_equal(x, np.arange(5.0))
    np.testing.assert_array_equal(same, x)
    np.testing.assert_array_equal(one, np.arange(5.0) + 1.0)
    np.testing.assert_array_equal(again, np.arange(5.0) + 2.0)


def test_more_parameters_than_a_launch_takes_are_refused():
    traced = jax.make_jaxpr(lambda *v: (sum(v),))(
        *[1.0] * 600, jax.ShapeDtypeStruct((8191,), float)
    )
    with pytest.raises(CannotFuse, match="bytes of parameters"):
        cuda_source(traced, [False] * 600 + [True], real=np.dtype(float))


@pytest.mark.parametrize("real", ["float64", "float32"])
def test_nvrtc_compiles_it_for_an_h200_without_one(real, monkeypatch, tmp_path):
    try:
        nvrtc.find_nvrtc()
    except NoCompiler as reason:
        pytest.skip(str(reason))
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path))
    traced = jax.make_jaxpr(odd_things)(
        *(jax.ShapeDtypeStruct((8191,), d) for d in (real, np.int32, bool)),
        jax.ShapeDtypeStruct((), real),
        jax.ShapeDtypeStruct((3, 8191), real),
    )
    text = cuda_source(
        traced, [True, True, True, False, True], real=np.dtype(real), rows=(None,) * 4 + (3,)
    ).text
    made, kept = (nvrtc.compile_cuda(text, "sm_90") for _ in range(2))
    assert made.content[:4] == b"\x7fELF" and not made.from_cache
    assert kept.content == made.content and kept.from_cache


def test_a_compiler_that_fails_is_told_in_one_line(monkeypatch, tmp_path):
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path))
    with pytest.raises(NoCompiler, match=r"NVRTC: .*no_such_library"):
        nvrtc.compile_cuda("", "sm_90", "no_such_library.so")
    monkeypatch.setattr(nvrtc, "_folders", lambda: [tmp_path])
    monkeypatch.setattr(nvrtc.ctypes.util, "find_library", lambda name: None)
    with pytest.raises(NoCompiler, match="comes with"):
        nvrtc.compile_cuda("", "sm_90")


class Driver:
    """NVIDIA's driver, as far as it is called; `bad` is what fails."""

    def __init__(self, bad=None):
        self.bad, self.calls = bad, []

    def __getattr__(self, name):
        def call(*given):
            self.calls.append((name, given))
            return 2 * (name == self.bad)

        return call

    def cuLaunchKernel(self, *given):
        self.lanes = ctypes.cast(given[9][1], ctypes.POINTER(ctypes.c_int64))[0]
        return self.__getattr__("cuLaunchKernel")(*given)

    def cuGetErrorString(self, code, told):
        told._obj.value = b"out of memory"
        return 0


def test_the_driver_is_given_the_record_and_the_grid():
    driver = Driver()
    given = np.zeros((), np.dtype([("lanes", np.uintp, (1,)), ("a1", float)], align=True))
    Gpu(0, driver).load(b"code")(given, 1000)
    Gpu(0, grouped := Driver()).load(b"code", spread=16)(given, 1000)
    (launch,) = (given for name, given in grouped.calls if name == "cuLaunchKernel")
    assert launch[1] == 125 and grouped.lanes == 1000  # a group of 16 threads to a lane
    names = [name for name, _ in driver.calls]
    assert names.count("cuCtxPushCurrent_v2") == names.count("cuCtxPopCurrent_v2") == 3
    (launch,) = (given for name, given in driver.calls if name == "cuLaunchKernel")
    assert launch[1:8] == (8, 1, 1, 128, 1, 1, 0)  # 1000 lanes in blocks of 128 threads
    assert launch[9][0] == given.ctypes.data and driver.lanes == 1000
    assert names.index("cuStreamSynchronize") > names.index("cuLaunchKernel")


@pytest.mark.parametrize("bad", ["cuInit", "cuModuleLoadData"])
def test_a_driver_that_takes_no_kernel_says_so(bad):
    with pytest.raises(NoCompiler, match=rf"{bad}, out of memory \(error 2\)"):
        Gpu(0, Driver(bad)).load(b"code")


@pytest.mark.parametrize("bad", ["cuLaunchKernel", "cuStreamSynchronize"])
def test_a_kernel_that_fails_is_a_fault_of_the_gpu(bad):
    with pytest.raises(GpuFault, match=f"{bad} failed: out of memory"):
        Gpu(0, Driver(bad)).load(b"code")(np.zeros(()), 1)
