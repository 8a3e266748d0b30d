"""NVIDIA's driver: machine code loaded into JAX's own context on a GPU, and launched there.

The driver's library is on every machine on which JAX sees such a GPU; ctypes is enough to call it.
"""

import ctypes
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from footfall.engines.kernels.fuse_errors import NoCompiler
from footfall.engines.kernels.targets.cuda.cuda_source import THREADS
from footfall.engines.kernels.targets.cuda.gpu_fault import GpuFault

#: CU_STREAM_NON_BLOCKING: waits for nobody's stream, JAX's included.
APART = 1


class Gpu:
    """One GPU, in the context that JAX uses there."""

    def __init__(self, ordinal: int, library: Any = None) -> None:
        try:
            self.cuda = library or ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise NoCompiler(f"NVIDIA's driver cannot be loaded: {error}") from None
        device = ctypes.c_int()
        self.context, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        self._refuse("cuInit", 0)
        self._refuse("cuDeviceGet", ctypes.byref(device), ordinal)
        self._refuse("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        with self.current():
            self._refuse("cuStreamCreate", ctypes.byref(self.stream), APART)

    def load(self, code: bytes, spread: int = 1) -> "Launch":
        """The kernel `footfall_run` of this machine code, `spread` threads to a lane.

        Raises NoCompiler.
        """
        module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        with self.current():
            self._refuse("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(code))
            self._refuse("cuModuleGetFunction", ctypes.byref(kernel), module, b"footfall_run")
        return Launch(self, kernel, spread)

    def run(self, kernel: ctypes.c_void_p, given: np.ndarray, lanes: int, spread: int) -> None:
        """Every lane, to the end. Raises GpuFault."""
        count = ctypes.c_int64(lanes)
        pointers = (ctypes.c_void_p * 2)(given.ctypes.data, ctypes.addressof(count))
        blocks = -(-lanes * spread // THREADS)
        with self.current():
            self._check(
                "cuLaunchKernel",
                *(kernel, blocks, 1, 1, THREADS, 1, 1, 0, self.stream, pointers, None),
            )
            self._check("cuStreamSynchronize", self.stream)

    @contextmanager
    def current(self) -> Iterator[None]:
        """Calls of the driver mean this GPU; afterwards the thread is as it was."""
        self._check("cuCtxPushCurrent_v2", self.context)
        try:
            yield
        finally:
            self.cuda.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))

    def _check(self, name: str, *given: Any) -> None:
        if code := getattr(self.cuda, name)(*given):
            raise GpuFault(f"{name} failed: {self._words(code)}")

    def _refuse(self, name: str, *given: Any) -> None:
        """What fails before a kernel ever ran: there is none on this machine."""
        if code := getattr(self.cuda, name)(*given):
            raise NoCompiler(f"the driver refused the kernel: {name}, {self._words(code)}")

    def _words(self, code: int) -> str:
        told = ctypes.c_char_p()
        if self.cuda.cuGetErrorString(code, ctypes.byref(told)) or not told.value:
            return f"error {code}"
        return f"{told.value.decode()} (error {code})"


class Launch:
    """A kernel on a GPU."""

    def __init__(self, gpu: Gpu, kernel: ctypes.c_void_p, spread: int) -> None:
        self.gpu, self.kernel, self.spread = gpu, kernel, spread

    def __call__(self, given: np.ndarray, lanes: int) -> None:
        """All lanes, to the end: `given` is the kernel's first parameter, one record."""
        self.gpu.run(self.kernel, given, lanes, self.spread)


@functools.cache
def gpu(ordinal: int) -> Gpu:
    """One for each GPU of the process."""
    return Gpu(ordinal)
