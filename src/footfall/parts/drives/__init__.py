"""Drives: what turns the cranks."""
