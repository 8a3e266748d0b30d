"""Legs and spokes."""
