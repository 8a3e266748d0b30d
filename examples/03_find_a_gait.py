"""Find a gait and say whether it is stable: the passive wheel on slopes, against its closed form.

A push dies out by the multiplier from step to step; for a rigid wheel of n spokes that is cos(2 pi
/ n)^2, whatever the slope."""

import math

import footfall as ff

for angle in (0.06, 0.08, 0.1):
    wheel = ff.load("passive-wheel", {"terrain.angle": angle})
    cycle = wheel.cycle("touchdown", warm_up=5)
    largest = max(abs(cycle.multipliers))
    print(f"slope {angle:.2f} rad: a step takes {cycle.period:.6f} s, multiplier {largest:.9f}")

print(f"closed form: {math.cos(2 * math.pi / wheel.system.spokes) ** 2:.9f}")
