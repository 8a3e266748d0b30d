"""Questions asked of systems and results."""
