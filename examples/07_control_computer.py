"""Put the wheel under its control software: what a lossy line costs."""

import footfall as ff

wheel = ff.load("rimless-wheel-closed-loop", duration=5)
data = wheel.sweep({"stack.frame_loss": [0.0, 0.1, 0.2, 0.3]}, track=("computer.pitch",))

for row in range(data.sizes["stack.frame_loss"]):
    one = data.isel({"stack.frame_loss": row})
    swing = float(one["computer.pitch_max"] - one["computer.pitch_min"])
    lost, speed = float(one["stack.frame_loss"]), float(one.mean_speed)
    print(
        f"{lost:4.0%} lost: {one.outcome.item()}, {speed:.3f} m/s, pitch swings by {swing:.3f} rad"
    )
