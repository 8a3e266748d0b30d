"""The step engine: many robots side by side, one fixed step each."""
