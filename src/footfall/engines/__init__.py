"""Moving any hybrid system through time."""
