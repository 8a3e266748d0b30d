"""Commands: `commands/` has what can be typed, and beside it stands one file per verb, each thin."""
