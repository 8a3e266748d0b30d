"""The event engine: adaptive steps, events located to rounding, derivatives through both."""
