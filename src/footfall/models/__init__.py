"""Equations of motion with open slots."""
