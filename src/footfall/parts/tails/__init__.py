"""Tails: what keeps the nose down."""
