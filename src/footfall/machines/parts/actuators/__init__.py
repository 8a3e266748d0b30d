"""Motors."""
