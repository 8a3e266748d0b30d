"""Plain C99 for a microcontroller: one function of numbers and a memory, and nothing it stands on.

No allocation, no loops, no C library (except where the program takes a sine or the like, which the
file then says). c_function.py says what is declared, c_source.py writes it by c_rules.py, with
names from c_names.py; c_arrays.py takes small matrices apart.
"""
