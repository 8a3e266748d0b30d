"""NVIDIA's GPUs: one lane per thread, compiled by NVRTC, launched on JAX's arrays where they are.

`lanes_cuda.h` is what the text stands on, which `cuda_source.py` writes; `spread_legs.py` and its
header give a lane with many legs a group of threads; `nvrtc.py` finds the
compiler and runs it as a program of its own, `nvrtc_program.py`; `driver.py` loads and launches;
`cuda_kernel.py` is what a program goes through, `gpu_fault.py` what can go wrong while it runs.
"""
