"""Robots and the control computer: one folder each, and the parts that two robots or more share."""
