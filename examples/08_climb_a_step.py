"""Plan a climb in plain words.

Walk to the step, up, and on. Forward is negative, as in the robot's source.
"""

import footfall as ff

walker = ff.Walker(lift=0.005)
walker.walk(-0.49).climb(0.05).walk_to(-1.0)
run = ff.simulate(walker.plan())

print(run.ending.sentence)
# Where a foot would have to pull unless it is clamped, it says so.
print("verdict:", run.verdict.sentence)
print(f"largest torque of motor 1: {abs(run['motor_1.torque']).max():.3f} N m")
run.plot("08_climb_a_step.png")
