"""One spike on its bench as a tree of MuJoCo: as the whole robot has twelve."""

from typing import TYPE_CHECKING, Any

from footfall.hybrid.fields import ParameterError
from footfall.hybrid.rigid_bodies import require_mujoco
from footfall.hybrid.twin import THIN, Posture, Twin, point
from footfall.machines.sea_urchin.body import JOINTS, spike_bodies
from footfall.numerics.scalar import Scalar

if TYPE_CHECKING:
    from footfall.machines.sea_urchin.spike_bench import UrchinSpike

#: The spike's frame has x outwards, y down, z along the ring: a quarter turn about x.
UPSIDE = [0.5**0.5, -(0.5**0.5), 0.0, 0.0]


def spike_twin(bench: "UrchinSpike") -> Twin:
    """Two hinges and a slide from the attachment; their motors are forces."""
    mj = require_mujoco()
    if bench.spike.reading != "sliding":
        raise ParameterError(
            f"a {bench.spike.reading} spike is no rigid body: its mass goes along with half the"
            ' slide. Set spike.reading to "sliding".',
            "reading",
        )
    spec = mj.MjSpec()
    spec.modelname = "urchin-spike"
    spec.compiler.degree = False
    spec.option.gravity = [0.0, 0.0, -float(bench.gravity)]
    height = float(bench.height)
    made = spike_bodies(
        mj, spec.worldbody, bench.spike, "spike", (0.0, 0.0, height), UPSIDE, thin=THIN
    )
    made.prism.add_site(name="elbow", pos=[0.0, 0.0, -float(bench.spike.prism)])
    made.ball.add_site(name="tip", pos=[0.0, 0.0, -float(bench.spike.shape.shortest)])
    for joint in JOINTS:
        motor = spec.add_actuator(
            name=f"spike_{joint}", trntype=mj.mjtTrn.mjTRN_JOINT, target=f"spike_{joint}"
        )
        motor.gainprm[0] = 1.0

    def posture(t: Scalar, x: Any, m: Any) -> Posture:
        rates = bench.flow(t, x, m).x
        return Posture(
            point(*x.q),
            point(*x.v),
            point(rates.joint_1_rate, rates.joint_2_rate, rates.slide_rate),
            point(*bench.effort(x, bench.target(t, m))),
            (0.0, 0.0, 0.0),
        )

    return Twin(spec, posture, "the slide's ends, which end a run of ours")
