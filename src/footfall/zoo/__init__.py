"""Classics as robots of one file each: what `footfall new --from NAME` begins with.

They are written as a user writes a robot, on the names of `footfall.authoring` alone.
"""
