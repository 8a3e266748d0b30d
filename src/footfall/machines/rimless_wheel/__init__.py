"""The rimless wheel: rigid, with a torso, with two sides; equations, starts, numbers with their
source.
"""
