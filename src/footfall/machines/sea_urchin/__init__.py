"""The sea urchin: twelve spikes on a shell.

One spike on a bench, the planar kick, and the whole robot: three models of one machine. Read
`numbers.py` first: what its source says, and what we chose;
`profiles.py` has ball and foothold in both readings of it.

One spike on a fixed base, flowing (docs/theory/sea-urchin.md): `spike_bench.py`, on
`spike_kinematics.py` and `spike_dynamics.py`, with the laws of `spike_control.py` along the path of
`spike_gait.py`; `spike_states.py`, `spike_start.py`; `gain_advice.py` says before a run which gains
can work. `spike_hinge.py` and `closed_loop.py`: one hinge under the control computer.

Rolling by a kick, in the plane: `kick_roll.py`.

The whole robot, rigid bodies stepped by MuJoCo (docs/theory/sea-urchin-robot.md): `robots.py` makes
it, `robot.py` is its contract, `body.py` its bodies, `driver.py` its computer: the words of
`program.py`, the gaits of `spike_gait.py` and `roll_gait.py`, targets from `reference.py`, the same
laws for all spikes in `laws.py`; `tripod_support.py`, `outputs.py`, `start.py`, `sketch.py`.
`compliance.py` is its study: what softness of the feet is good for.
"""
