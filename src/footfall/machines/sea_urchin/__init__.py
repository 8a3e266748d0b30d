"""The sea urchin: twelve spikes on a shell.

One spike on a bench, the planar kick, and the whole robot: three models of one machine. Read
`numbers.py` first: what its source says, and what we chose;
`profiles.py` has ball and foothold in both readings of it.

One spike on a fixed base, flowing (docs/theory/sea-urchin.md): `spike_bench.py`, on
`spike_kinematics.py` and `spike_dynamics.py`, with the laws of `spike_control.py` along the path of
`spike_gait.py`; `spike_states.py`, `spike_start.py`; `gain_advice.py` says before a run which gains
can work; `tasks.py` has what a learner may be asked to do. `spike_hinge.py` and `closed_loop.py`:
one hinge under the control computer. `spike_twin.py`: the bench as bodies of MuJoCo.

Rolling by a kick, in the plane: `kick_roll.py`; what pushes, a constant force or compressed air, in
`kick_actuator.py` and `pressure_chamber.py`. `labels.py` has the words of its schematics.

The whole robot, rigid bodies stepped by MuJoCo (docs/theory/sea-urchin-robot.md): `robots.py` makes
it, `robot.py` is its contract, `body.py` its bodies, `driver.py` its computer: the words of
`program.py`, the gaits of `spike_gait.py` and `roll_gait.py`, targets from `reference.py`, the same
laws for all spikes in `laws.py`; `tripod_support.py`, `outputs.py`, `start.py`, `sketch.py`.
`compliance.py` is its study: what softness of the feet is good for.

`functions.py` has the spike's equations as functions of arrays, which are named here: a user types
`ff.robots.sea_urchin.spike_inverse(...)`.
"""

from footfall.machines.sea_urchin.functions import spike_acceleration as spike_acceleration
from footfall.machines.sea_urchin.functions import spike_angular_jacobian as spike_angular_jacobian
from footfall.machines.sea_urchin.functions import spike_coriolis_matrix as spike_coriolis_matrix
from footfall.machines.sea_urchin.functions import spike_effort as spike_effort
from footfall.machines.sea_urchin.functions import spike_forward as spike_forward
from footfall.machines.sea_urchin.functions import spike_gravity as spike_gravity
from footfall.machines.sea_urchin.functions import spike_inverse as spike_inverse
from footfall.machines.sea_urchin.functions import spike_jacobian as spike_jacobian
from footfall.machines.sea_urchin.functions import spike_mass_matrix as spike_mass_matrix
from footfall.machines.sea_urchin.functions import spike_rates as spike_rates
from footfall.machines.sea_urchin.functions import spike_reaches as spike_reaches
from footfall.machines.sea_urchin.functions import spike_rotation as spike_rotation
