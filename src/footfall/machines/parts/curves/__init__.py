"""What is commanded over the phase of a step: a torque, a setpoint."""
