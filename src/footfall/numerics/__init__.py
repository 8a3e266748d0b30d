"""Arrays only: no robots, no time."""
