"""The two-leg step climber: a plan of joint motions, what it needs of motors and ground."""
