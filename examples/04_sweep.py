"""Run many designs at once: speed over spoke stiffness and lean, as a map."""

import numpy as np
from matplotlib.figure import Figure

import footfall as ff

vary = {
    "leg.stiffness": np.geomspace(8e3, 4e4, 24),
    "torso.pitch_setpoint": np.linspace(0.4, 1.2, 24),
}
data = ff.load("rimless-wheel", duration=6).sweep(vary)  # folder="study" would keep it on disk
speed = data.mean_speed.where(data.verdict == "sound")  # what is doubtful is left out
best = speed.where(speed == speed.max(), drop=True)
print(f"fastest: {float(best.max()):.3f} m/s at {float(best['leg.stiffness'][0]):.0f} N/m")

figure = Figure(figsize=(6, 4), layout="constrained")
axes = figure.subplots()
axes.set_xscale("log")
mesh = axes.pcolormesh(
    speed["leg.stiffness"], speed["torso.pitch_setpoint"], speed.values.T, shading="nearest"
)
axes.set(xlabel="spoke stiffness [N/m]", ylabel="pitch set point [rad]")
figure.colorbar(mesh, label="mean speed [m/s]")
figure.savefig("04_sweep.png", dpi=120)
