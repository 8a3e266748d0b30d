"""Rigid bodies moved by MuJoCo."""
