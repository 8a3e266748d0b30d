"""Pictures of runs: renderers for sketches and trajectories."""
