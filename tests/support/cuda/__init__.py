"""CUDA kernels without a GPU: the same text, read by the system's C++ compiler."""

import ctypes
from pathlib import Path

import numpy as np

from footfall.engines.kernels.targets.cuda import cuda_kernel, cuda_source
from footfall.engines.kernels.targets.simd.kernel_cache import load_kernel
from footfall.engines.lanes import batch, batch_program
from footfall.engines.lanes.batch import BatchResult, run_batch

#: Group after group of threads: the kernel's own entry, with its parameters as a launch would give
#: them.
LOOP = """
#ifndef SPREAD
#define SPREAD 1
#endif
static const Given *launched;
static int64_t launched_lanes;
static void one_thread() { footfall_run(*launched, launched_lanes); }
extern "C" __attribute__((visibility("default"))) void all_threads(const Given *given, int64_t lanes)
{
    launched = given, launched_lanes = lanes;
    for (int64_t first = 0; first < (lanes * SPREAD + THREADS - 1) / THREADS * THREADS; first += SPREAD) {
        blockIdx.x = first / THREADS, threadIdx.x = first % THREADS;
        if (SPREAD == 1) one_thread();
        else group(first % THREADS, SPREAD, one_thread);
    }
}
"""


def stand_in(text):
    """A launch of CUDA text on the CPU."""
    words = Path(__file__).with_name("stand_in.h").read_text()
    loop = LOOP.replace("THREADS", str(cuda_source.THREADS))
    library = load_kernel(words + text.text + loop).library
    library.all_threads.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    return lambda given, lanes: library.all_threads(given.ctypes.data, lanes)


def run_cuda(system, state, plan, monkeypatch) -> BatchResult:
    """run_batch by the CUDA kernel, on the CPU."""

    def chosen(wanted, kind, system, lane, clock, threads):
        return batch_program.gpu_path(kind, system, lane, clock), []

    with monkeypatch.context() as patch:
        patch.setattr(cuda_kernel, "on_gpu", stand_in)
        patch.setattr(batch, "choose_path", chosen)
        batch_program._cuda.cache_clear()
        try:
            return run_batch(system, state, plan)
        finally:
            batch_program._cuda.cache_clear()


def same_numbers(one, other, bound):
    """Outcomes and counts equal; states within `bound`, as a share of their size and one."""
    import jax

    for name in ("outcome", "jumps"):
        np.testing.assert_array_equal(one.columns[name], other.columns[name])
    for a, b in zip(jax.tree.leaves(one.end), jax.tree.leaves(other.end), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        if a.dtype.kind == "f":
            off = np.abs(a - b) / (1.0 + np.abs(a))
            assert not np.any(off > bound) and np.array_equal(np.isnan(a), np.isnan(b))
        else:
            np.testing.assert_array_equal(a, b)
