"""Files in, experiments out."""
