"""Rigid bodies by their mass properties."""
