"""Gaits: who steps when, how far and how fast."""
