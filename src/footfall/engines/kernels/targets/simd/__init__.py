"""The CPU: vectors of lanes, on all cores, by the C++ compiler of this machine.

`lanes.h` is what the text stands on, `compiler.py` finds and runs the compiler, `kernel_cache.py`
keeps what it made, `cpp_kernel.py` is the way in.
"""
