"""Feet: what meets the water or the ground."""
