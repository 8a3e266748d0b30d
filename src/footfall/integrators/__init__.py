"""The diffrax solvers we add: fixed steps, for comparison with simulators that use them and for systems of two time scales."""
