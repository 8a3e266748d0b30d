"""Walk a robot: load a scenario, run it, read what it did, draw it."""

import footfall as ff

experiment = ff.load("rimless-wheel", {"torso.pitch_setpoint": "40 deg"}, duration=5)
run = experiment.run()

print(run)  # outcome, verdict, metrics and energy ledger, as the command prints them
print(
    f"{run.metrics['mean_speed']:.4f} m/s for {run.metrics['cost_of_transport']:.4f} J per newton"
    " and metre"
)
print(f"the hub was between {run['hub.z'].min():.4f} and {run['hub.z'].max():.4f} m high")

run.plot("01_walk.png")
