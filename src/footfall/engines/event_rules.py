"""What an event is, in numbers: one rule for the event engine in JAX and for kernels."""

#: A step is looked into at this many equal intervals, so a guard that is negative for longer than
#: one of them is seen.
LOOKS = 16
#: Events are located to this [s].
TIME_TOLERANCE = 1e-13
#: Newton on the event time may stop here [s]: the last step is made along the flow. Its error is
#: the square of this, and that of its tangent this times the curvature of the guard.
LAST_SHIFT = 1e-11
#: After this many Newton steps without success the search bisects.
NEWTON_STEPS = 20
#: This many events in a row, each within ZENO_INTERVAL [s] of the one before, are called Zeno.
ZENO_EVENTS = 48
ZENO_INTERVAL = 1e-8
