"""Planar linkages: a robot from rods, joints, masses and landings.

Read `pieces.py` (what is declared), `chains.py` (where points are), `dynamics.py` (equations of
motion, impacts), `robot.py` (the hybrid system of it); `check_linkage.py` says what cannot be,
`structs.py` makes the types of its states. Theory: docs/theory/linkages.md.
"""
