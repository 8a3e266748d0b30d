"""The centipede: segments on polar legs over viscoelastic ground with gaps, and its reflexes."""
