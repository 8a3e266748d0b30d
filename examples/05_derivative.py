"""Differentiate through footfalls: how the speed after the third one depends on the slope and the
first speed.

The derivative is exact: it goes through the events and their times. Central differences agree, as
far as they can."""

import footfall as ff

wheel = ff.load("passive-wheel")
keys = ["terrain.angle", "start.spoke_rate"]


def speed(end):
    return end.outputs.travel.speed


exact = ff.gradient(speed, wheel, wrt=keys, event="touchdown", count=3)
print(exact)

for key, value in ((keys[0], 0.08), (keys[1], -3.0)):
    h = 1e-4
    ends = [
        ff.endpoint(wheel, {key: value + side * h}, event="touchdown", count=3) for side in (-1, 1)
    ]
    print(f"{key} by differences: {float(speed(ends[1]) - speed(ends[0])) / (2 * h):.6f}")
