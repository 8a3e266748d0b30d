"""Commands: one file per verb, each thin."""
