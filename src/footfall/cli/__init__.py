"""Commands: `commands/` has what can be typed; beside it stands one file per verb, each thin."""
