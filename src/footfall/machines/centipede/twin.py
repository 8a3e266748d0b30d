"""The centipede as bodies of MuJoCo: points that slide in a plane, tied by springs."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.hybrid.rigid_bodies import require_mujoco
from footfall.hybrid.twin import THIN, Posture, Twin
from footfall.machines.centipede.forces import all_loads
from footfall.numerics.scalar import Scalar

if TYPE_CHECKING:
    from footfall.machines.centipede.walker import SegmentedWalker

#: A spring that is not there.
NONE = 1e-12


def centipede_twin(walker: "SegmentedWalker") -> Twin:
    """Segments and tips, each on two slides, and the axial springs of the body as tendons.

    Bending, legs and ground are given as forces.
    """
    mj = require_mujoco()
    body, count = walker.body, walker.body.segments
    spec = mj.MjSpec()
    spec.modelname = "centipede"
    spec.compiler.degree = False
    spec.option.gravity = [0.0, 0.0, -float(walker.gravity)]
    height, spacing = float(walker.gait.height), float(body.spacing)
    laid = [(-i * spacing, z) for z in (height, 0.0) for i in range(count)]
    masses = [body.mass] * count + [walker.leg.tip_mass] * count
    names = [f"{group}.{i}" for group in ("node", "tip") for i in range(count)]
    for name, mass, (x, z) in zip(names, masses, laid, strict=True):
        part = spec.worldbody.add_body(name=name, pos=[x, 0.0, z])
        for axis, along in (("x", [1.0, 0.0, 0.0]), ("z", [0.0, 0.0, 1.0])):
            part.add_joint(name=f"{name}.{axis}", type=mj.mjtJoint.mjJNT_SLIDE, axis=along)
        part.explicitinertial = True
        part.mass, part.ipos, part.inertia = float(mass), [0.0, 0.0, 0.0], [THIN] * 3
        part.add_site(name=name)
        part.add_geom(
            name=name,
            type=mj.mjtGeom.mjGEOM_SPHERE,
            size=[float(body.radius) if name.startswith("node") else 0.004, 0.0, 0.0],
            contype=0,
            conaffinity=0,
        )
    for i in range(count - 1):
        tie = spec.add_tendon(
            name=f"link_{i}",
            stiffness=float(body.axial_stiffness),
            damping=float(body.axial_damping),
            springlength=[spacing, spacing],
        )
        tie.wrap_site(f"node.{i}")
        tie.wrap_site(f"node.{i + 1}")
    untied = dataclasses.replace(
        walker, body=dataclasses.replace(body, axial_stiffness=NONE, axial_damping=0.0)
    )

    def posture(t: Scalar, x: Any, m: Any) -> Posture:
        rates, loads = walker.flow(t, x, m).x, all_loads(untied, x)
        nodes, tips = loads.drive.on_nodes, loads.drive.on_tips
        force = (
            (loads.chain.force.x + nodes.x + loads.on_nodes.fx, tips.x + loads.on_tips.fx),
            (loads.chain.force.z + nodes.z + loads.on_nodes.fz, tips.z + loads.on_tips.fz),
        )
        return Posture(
            _mixed((x.nodes.x, x.tips.x), (x.nodes.z, x.tips.z)) - np.ravel(laid),
            _mixed((x.nodes.vx, x.tips.vx), (x.nodes.vz, x.tips.vz)),
            _mixed((rates.nodes.vx, rates.tips.vx), (rates.nodes.vz, rates.tips.vz)),
            _mixed(*force),
            (0.0, 0.0, 0.0),
        )

    return Twin(spec, posture, "bending, legs and ground, which are no springs of MuJoCo")


def _mixed(along: Any, up: Any) -> np.ndarray:
    """x and z of every segment, then of every tip, by turns."""
    rows = [np.concatenate([np.asarray(part, float) for part in parts]) for parts in (along, up)]
    return np.stack(rows, axis=1).ravel()
