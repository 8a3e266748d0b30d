"""The same robots on our ground and on MuJoCo's soft contacts: what differs, and by how much.

    python benchmarks/contacts_mujoco.py [--only passive,driven,steered,centipede,two-leg] [--write]

Rows: our event engine; MuJoCo as it comes; MuJoCo with contacts chosen to match ours. Means over
the last footsteps; lost energy is what went in (motors, height) and is not in the motion at the end.
"""

import argparse
import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import jax
import mujoco
import numpy as np

import footfall as ff
from conditions import write
from footfall.machines.centipede.forces import all_loads
from soft_ground import (
    DEFAULT,
    POINT,
    SLIGHT,
    Contacts,
    Loads,
    hard,
    planar_wheel,
    roll,
    settle,
    steered_wheel,
)

#: Footsteps over which a mean is taken.
LAST = 8
#: A foot carries from this share of the weight on; friction is asked of those.
CARRIES = 0.1
#: Pitch inertia of the wheels [kg m^2], ours and MuJoCo's: a wheel without any would be turned by
#: its motor infinitely fast while no foot holds it.
PITCH_INERTIA = 0.01
SPRING = (15000.0, 400.0)


def row(name: str, contacts: str, **figures: float) -> dict:
    print(
        f"{name:11}{contacts:34}" + "".join(f" {k} {v:.4g}" for k, v in figures.items()), flush=True
    )
    return {"robot": name, "contacts": contacts, **{k: float(v) for k, v in figures.items()}}


def whole_steps(angle: np.ndarray, spokes: int, time: np.ndarray) -> np.ndarray:
    """When a wheel has turned by whole spokes: the last few times."""
    spacing = 2.0 * math.pi / spokes
    last = math.floor(angle[-1] / spacing)
    marks = spacing * np.arange(last - LAST, last + 1)
    return np.interp(marks, np.maximum.accumulate(angle), time)


def of_loads(loads: Loads, x: np.ndarray, times: np.ndarray) -> dict[str, float]:
    """Figures of a run of MuJoCo between two footsteps."""
    span, steps = times[-1] - times[0], len(times) - 1
    inside = (loads.time >= times[0]) & (loads.time <= times[-1])
    gone, stored, done = (
        np.diff(np.interp(times[[0, -1]], loads.time, each))[0]
        for each in (x, loads.energy, loads.work)
    )
    return {
        "speed": gone / span,
        "step_time": span / steps,
        "peak_force": loads.peak[inside].max(),
        "lost_per_step": (done - stored) / steps,
        "friction": loads.rubbed[inside].max(),
    }


def of_run(run: Any, feet: tuple[str, ...], weight: float, landing: str) -> dict[str, float]:
    """The same of ours."""
    times = [event.t for event in run.events if event.name.startswith(landing)][-LAST - 1 :]
    inside = (run.t >= times[0]) & (run.t <= times[-1])
    force = [np.hypot(run[f"{foot}.fx"], run[f"{foot}.fz"])[inside] for foot in feet]
    normal = [run[f"{foot}.fz"][inside] for foot in feet]
    asked = [
        np.where(up > CARRIES * weight, run[f"{foot}.friction_needed"][inside], 0.0)
        for foot, up in zip(feet, normal, strict=True)
    ]
    return {
        "speed": run.metrics["mean_speed"],
        "step_time": run.metrics["step_time"],
        "peak_force": np.max(force),
        "friction": np.max(asked),
    }


# --- the passive wheel ----------------------------------------------------------------------------

PASSIVE = {"mass": 6.91, "length": 0.26, "spokes": 10, "slope": 0.08}


def passive_start(data: mujoco.MjData, length: float, rate: float = 2.35) -> None:
    """On a foot that has just landed, as our scenario begins."""
    lean = math.pi / 10
    data.qpos[:] = 0.0, length * (math.cos(lean) - 1.0), -lean
    data.qvel[:] = length * rate * math.cos(lean), length * rate * math.sin(lean), rate


def rolled(contacts: Contacts, seconds: float = 6.0) -> dict[str, float]:
    """The passive wheel by MuJoCo."""
    model = planar_wheel(**PASSIVE, contacts=contacts).model
    data = mujoco.MjData(model)
    passive_start(data, PASSIVE["length"])
    loads = roll(model, data, seconds, CARRIES * PASSIVE["mass"] * 9.81)
    return of_loads(
        loads, loads.qpos[:, 0], whole_steps(loads.qpos[:, 2], PASSIVE["spokes"], loads.time)
    )


def passive() -> Iterator[dict]:
    run = ff.load("passive-wheel").run()
    weight = PASSIVE["mass"] * 9.81
    ours = of_run(run, ("foot",), weight, "touchdown")
    drop = run.metrics["step_length"] * math.sin(PASSIVE["slope"])
    yield row("passive", "ours: rigid, plastic", **ours, lost_per_step=weight * drop)
    yield row("passive", "default", **rolled(DEFAULT))
    yield row("passive", "default, elliptic", **rolled(Contacts(cone="elliptic")))
    yield row("passive", "default, step 0.2 ms", **rolled(Contacts(timestep=2e-4)))
    for time_constant in (1e-2, 5e-3, 2.5e-3):
        name = f"hard, time constant {time_constant * 1e3:g} ms"
        yield row("passive", name, **rolled(hard(time_constant)))


# --- the driven wheel -----------------------------------------------------------------------------


class Pid:
    """The wheel's own law, at every step of MuJoCo: torque of each motor on the torso."""

    def __init__(self, system, lean: int, spins: list[int], steer: float = 0.0):
        self.law, self.setpoint = system.controller, float(system.torso.pitch_setpoint)
        self.limit = float(system.motor.torque(1e9))
        self.lean, self.spins, self.sum = lean, spins, 0.0
        self.steer = (steer, -steer) if len(spins) == 2 else (0.0,)

    def __call__(self, model: mujoco.MjModel, data: mujoco.MjData) -> float:
        angle, rate = -data.qpos[self.lean], -data.qvel[self.lean]
        error, power = self.setpoint - angle, 0.0
        wanted = (
            float(self.law.proportional) * error
            + float(self.law.integral) * self.sum
            - float(self.law.derivative) * rate
        )
        self.sum += model.opt.timestep * error
        data.qfrc_applied[:] = 0.0
        limit = self.limit * 2 / len(self.spins)
        for spin, more in zip(self.spins, self.steer, strict=True):
            torque = min(max(wanted / len(self.spins) + more, -limit), limit)
            data.qfrc_applied[self.lean] -= torque
            data.qfrc_applied[spin] += torque
            power += torque * (rate + data.qvel[spin])
        return power


def driven() -> Iterator[dict]:
    experiment = ff.load("rimless-wheel", {"wheel_inertia": PITCH_INERTIA})
    wheel, run = experiment.system, experiment.run()
    weight = float(wheel.total_mass) * 9.81
    lost = run.metrics["mean_power"] * run.metrics["step_time"]
    ours = of_run(run, ("foot",), weight, "touchdown")
    yield row("driven", "ours: sprung spokes, plastic", **ours, lost_per_step=lost)
    torso = wheel.torso
    numbers = {
        "mass": float(wheel.wheel_mass),
        "length": 0.26,
        "spokes": wheel.spokes,
        "inertia": PITCH_INERTIA,
        "torso": (float(torso.mass), float(torso.com_distance), float(torso.inertia)),
    }
    tips = {"leg": (*SPRING, 1e-3)}
    matched = Contacts(spring=SPRING, cone="elliptic", impratio=100.0, timestep=1e-4)
    slipping = dataclasses.replace(matched, impratio=1.0)
    cases = {
        "default, rigid spokes": (DEFAULT, {}),
        "matched spring under each foot": (matched, {}),
        "the same, impratio 1": (slipping, {}),
        "sprung spokes, 1 g tips, default": (dataclasses.replace(DEFAULT, timestep=2e-4), tips),
    }
    for name, (contacts, more) in cases.items():
        made = planar_wheel(**numbers, **more, contacts=contacts)
        data = mujoco.MjData(made.model)
        law = Pid(wheel, lean=2, spins=made.spins)
        start = 0.26 * (math.cos(math.pi / 10) - 1.0)
        data.qpos[:4] = 0.0, start, -law.setpoint, -math.pi / 10
        forward = 3.5 * 0.26
        data.qvel[:4] = forward * math.cos(0.314), forward * math.sin(0.314), 0.0, 3.5
        loads = roll(
            made.model, data, 8.0, CARRIES * weight, lambda d, m=made.model, law=law: law(m, d)
        )
        times = whole_steps(loads.qpos[:, 3], 10, loads.time)
        if loads.qpos[-1, 3] < LAST or not np.isfinite(loads.energy[-1]):
            yield row("driven", name, walks=0)
        else:
            yield row("driven", name, **of_loads(loads, loads.qpos[:, 0], times))


def steered() -> Iterator[dict]:
    experiment = ff.load("rimless-wheel-turning")
    wheel, run = experiment.system, experiment.run()
    weight = float(wheel.total_mass) * 9.81
    ours = of_run(run, ("left_foot", "right_foot"), weight, "touchdown_left")
    lost = run.metrics["mean_power"] * run.metrics["step_time"]
    turning = {"yaw_rate": run.metrics["yaw_rate"]}
    yield row("steered", "ours: sprung spokes, plastic", **ours, lost_per_step=lost, **turning)
    torso, lean = wheel.torso, float(wheel.torso.pitch_setpoint)
    half = Contacts(
        spring=(0.5 * SPRING[0], 0.5 * SPRING[1]), cone="elliptic", impratio=100.0, timestep=1e-4
    )
    for name, contacts in {
        "default, rigid spokes": DEFAULT,
        "matched spring under each foot": half,
        "the same, impratio 1": dataclasses.replace(half, impratio=1.0),
    }.items():
        made = steered_wheel(
            mass=float(wheel.wheel_mass),
            track=float(wheel.half_track),
            length=0.26,
            spokes=wheel.spokes,
            roll_inertia=float(wheel.roll_inertia),
            yaw_inertia=float(wheel.total_yaw_inertia),
            wheel_inertia=0.5 * PITCH_INERTIA,
            torso=(float(torso.mass), float(torso.com_distance), float(torso.inertia)),
            lean=lean,
            contacts=contacts,
        )
        data = mujoco.MjData(made.model)
        steer = float(wheel.motor.torque_per_ampere * wheel.steering_current)
        law = Pid(wheel, lean=5, spins=made.spins, steer=steer)
        rate = 0.8 / (0.26 * math.cos(math.pi / 10))
        data.qpos[2], data.qpos[5] = 0.26 * (math.cos(math.pi / 10) - 1.0), -lean
        data.qpos[6:], data.qvel[6:] = -math.pi / 10, rate
        data.qvel[0], data.qvel[2] = 0.8, 0.8 * math.tan(math.pi / 10)
        loads = roll(
            made.model, data, 12.0, CARRIES * weight, lambda d, m=made.model, law=law: law(m, d)
        )
        step = np.hypot(loads.qvel[:, 0], loads.qvel[:, 1]) * made.model.opt.timestep
        found = of_loads(
            loads, np.cumsum(step), whole_steps(loads.qpos[:, 6], wheel.spokes, loads.time)
        )
        inside = loads.time > loads.time[-1] - 4.0
        yield row(
            "steered",
            name,
            **found,
            yaw_rate=np.polyfit(loads.time[inside], loads.qpos[inside, 3], 1)[0],
        )


# --- points ----------------------------------------------------------------------------


def centipede() -> Iterator[dict]:
    experiment = ff.load("centipede", {"controller.reflexes": [], "sim.duration": "5 s"})
    walker, run = experiment.system, experiment.run()
    count = walker.body.segments
    weight = count * float(walker.body.mass + walker.leg.tip_mass) * 9.81
    last = run.t >= run.t[-1] - 1.0  # a cycle of its legs
    normal = np.stack([run[f"tip.fz.{i}"][last] for i in range(count)])
    along = np.stack([run[f"tip.fx.{i}"][last] for i in range(count)])
    carried = normal > CARRIES * weight / count
    lost = sum(np.ptp(run[f"work.{port}"][last]) for port in ("contact", "friction"))
    yield row(
        "centipede",
        "ours: viscoelastic, tanh friction",
        speed=np.ptp(run["travel.distance"][last]),
        step_time=1.0,
        peak_force=np.hypot(along, normal).max(),
        lost_in_ground=lost,
        friction=np.max(np.abs(along[carried]) / normal[carried]),
    )
    law = (float(walker.contact.stiffness), float(walker.contact.damping))
    mu = float(walker.friction.coefficient)
    for name, contacts in {
        "default": Contacts(timestep=1e-4, friction=mu),
        "matched spring under each tip": Contacts(
            spring=law, cone="elliptic", impratio=100.0, timestep=1e-4, friction=mu
        ),
        "hard, time constant 2 ms": hard(2e-3, friction=mu),
    }.items():
        yield row("centipede", name, **crawled(walker, experiment.start, contacts, 5.0))


def crawled(walker, start, contacts: Contacts, seconds: float) -> dict[str, float]:
    """The centipede's points with the forces of its legs and body, on MuJoCo's ground."""
    twin, count = walker.twin(), walker.body.segments
    spec = twin.spec
    for geom in spec.geoms:
        if geom.name.startswith("tip"):
            geom.size, geom.contype, geom.conaffinity = [POINT, 0.0, 0.0], 1, 2
    spec.worldbody.add_geom(
        name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], pos=[0, 0, -POINT],
        contype=2, conaffinity=1,
    )  # fmt: skip
    model = spec.compile()
    settle(model, contacts, [model.geom(f"tip.{i}").id for i in range(count)])
    data = mujoco.MjData(model)
    posture = twin.posture(0.0, start.x, start.m)
    data.qpos[:], data.qvel[:] = posture.qpos, posture.qvel
    body = dataclasses.replace(walker.body, axial_stiffness=1e-12, axial_damping=0.0)
    untied, laid = dataclasses.replace(walker, body=body), model.body_pos[1:, (0, 2)]

    @jax.jit
    def forces(place, speed, phase):
        place, speed = place.reshape(-1, 2) + laid, speed.reshape(-1, 2)
        nodes, tips = (
            dataclasses.replace(
                points, x=place[part, 0], z=place[part, 1], vx=speed[part, 0], vz=speed[part, 1]
            )
            for points, part in (
                (start.x.nodes, slice(0, count)),
                (start.x.tips, slice(count, None)),
            )
        )
        legs = dataclasses.replace(start.x.legs, phase=phase)
        loads = all_loads(untied, dataclasses.replace(start.x, nodes=nodes, tips=tips, legs=legs))
        pulled = loads.chain.force.plus(loads.drive.on_nodes)
        rows = [(pulled.x, loads.drive.on_tips.x), (pulled.z, loads.drive.on_tips.z)]
        each = [jax.numpy.concatenate(pair) for pair in rows]
        return jax.numpy.stack(each, axis=1).ravel(), loads.phase_rate + 0.0 * phase

    phase = np.asarray(start.x.legs.phase, float)

    def drive(data: mujoco.MjData) -> float:
        nonlocal phase
        force, rate = forces(data.qpos, data.qvel, phase)
        data.qfrc_applied[:] = force
        phase = phase + model.opt.timestep * np.asarray(rate)
        return 0.0

    weight = float(model.body_mass.sum()) * 9.81
    loads = roll(model, data, seconds, CARRIES * weight / count, drive)
    last = loads.time >= seconds - 1.0
    return {
        "speed": np.ptp(loads.qpos[last, 0 : 2 * count : 2].mean(axis=1)),
        "step_time": 1.0,
        "peak_force": loads.peak[last].max(),
        "friction": loads.rubbed[last].max(),
    }


# --- plates ---------------------------------------------------------------------------------------


def two_leg() -> Iterator[dict]:
    """One step by its plan: here the plan's angles and torques are led by a stiff position loop.

    Links are rods and feet weigh 10 g, here and there: MuJoCo makes a contact as stiff as what
    touches is heavy.
    """
    experiment = ff.load("two-leg-single-step", {"links": "rod", "foot_mass": 0.01})
    walker, run = experiment.system, experiment.run()
    yield row(
        "two-leg",
        "ours: a foot that stands is held",
        gone=abs(run["foot_1.x"][-1] - run["foot_1.x"][0]),
        peak_force=run["support.pressure"].max(),
        work=sum(run[f"work.motor_{i}"][-1] for i in (1, 2, 3)),
    )
    for name, contacts in {
        "default, step 0.2 ms": Contacts(timestep=2e-4),
        "hard, time constant 2 ms": hard(2e-3, 1e-4),
    }.items():
        yield row("two-leg", name, **stepped(walker, run, contacts))


def stepped(walker: Any, run: Any, contacts: Contacts) -> dict[str, float]:
    """The tree of the twin with its first foot let go, on MuJoCo's ground."""
    spec = walker.twin().spec
    hinge, slide = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
    for joint, kind, axis in (
        ("x", slide, [1, 0, 0]),
        ("z", slide, [0, 0, 1]),
        ("tip", hinge, [0, 1, 0]),
    ):
        spec.body("foot_1").add_joint(name=joint, type=kind, axis=axis)
    plates = [geom for geom in spec.geoms if geom.name.endswith("_plate")]
    for plate in plates:
        plate.contype, plate.conaffinity = 1, 2
    spec.worldbody.add_geom(
        name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1],
        pos=[0, 0, -plates[0].size[2]], contype=2, conaffinity=1,
    )  # fmt: skip
    model = spec.compile()
    settle(model, contacts, [model.geom(plate.name).id for plate in plates])
    data = mujoco.MjData(model)
    columns = [
        np.stack([-run[f"motor_{i}.{what}"] for i in (1, 2, 3)])
        for what in ("angle", "rate", "torque")
    ]
    data.qpos[:] = run["foot_1.x"][0], 0.0, 0.0, *columns[0][:, 0]

    def drive(data: mujoco.MjData) -> float:
        angle, rate, torque = (
            np.array([np.interp(data.time, run.t, line) for line in rows]) for rows in columns
        )
        off, moving = angle - data.qpos[3:], data.qvel[3:]
        effort = torque + 20.0 * off + 0.1 * (rate - moving)
        data.qfrc_applied[3:] = effort
        return float(np.maximum(effort * moving, 0.0).sum())

    began = float(data.qpos[0])
    loads = roll(
        model, data, float(run.t[-1]), CARRIES * float(model.body_mass.sum()) * 9.81, drive
    )
    mujoco.mj_kinematics(model, data)
    return {
        "gone": abs(loads.qpos[-1, 0] - began),
        "peak_force": loads.peak.max(),
        "work": loads.work[-1],
        "friction": loads.rubbed.max(),
        "tipped": np.abs(loads.qpos[:, 2]).max(),
        "slipped": abs(data.body("foot_2").xpos[0] - run["foot_2.x"][-1]),
    }


ROBOTS = {
    "passive": passive,
    "driven": driven,
    "steered": steered,
    "centipede": centipede,
    "two-leg": two_leg,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(ROBOTS))
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    rows = [found for name in arguments.only.split(",") for found in ROBOTS[name]()]
    if arguments.write:
        figures = {"mujoco": mujoco.__version__, "slight": SLIGHT, "rows": rows}
        write("contacts_mujoco", figures)


if __name__ == "__main__":
    main()
