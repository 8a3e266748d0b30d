"""The control computer of a robot: its laws, its programs, its messages.

Nothing here opens a port, starts a process or needs JAX (except lockstep.py, which makes a hybrid
system of it).
"""
