"""The CPU: vectors of lanes, on all cores, by a C++ compiler.

`lanes.h` is what the text stands on, `threads.h` the way into it from outside; `compiler.py` finds
the compiler, `kernel_cache.py` keeps what it made, `cpp_kernel.py` is what a program goes through.
"""
