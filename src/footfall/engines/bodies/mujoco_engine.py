"""Rigid bodies stepped by MuJoCo, behind the same Trajectory.

Each step is `act` (the robot's computer), `mj_step`, and three rows copied aside. Everything else
is done a chunk at a time, in whole arrays.

Work of a force f over a step of length h is h f (v + v')/2, with v' the speed after it. MuJoCo's
implicit integrator makes M (v' - v) = h (sum of f - bias) with the damping taken at v', so with
that same damping these works add up to the change of the kinetic energy at a held M exactly. What
is left over is what the step does to M and to the height: the residual of the ledger, first order
in h.
"""

import importlib.metadata
import math
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from footfall.engines.bodies.mujoco_record import BodiesRecord
from footfall.engines.span import AbstractEngine, Span, require_resolved
from footfall.hybrid.fields import ParameterError, param
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.rigid_bodies import AbstractRigidBodies, require_mujoco
from footfall.hybrid.system import HybridState
from footfall.record.provenance import provenance
from footfall.record.row_stream import RowStream
from footfall.record.trajectory import Trajectory

#: Steps whose work is summed at once: few enough that what is copied aside stays in the processor's
#: cache, beside the model.
BLOCK = 1000
#: Steps between two looks at events, progress and Ctrl-C.
CHUNK = 2 * BLOCK
#: A longer run is sampled more coarsely, so that its record still fits into memory.
MOST_SAMPLES = 100_000
#: A run of more steps than this takes hours.
MOST_STEPS = 100_000_000
#: Steps between two looks at whether the speeds are numbers: without them a step of MuJoCo takes a
#: hundred times as long.
SEEN_EVERY = 50


class MujocoEngine(AbstractEngine):
    """MuJoCo's own implicit steps of rigid bodies: no solver of ours, no tolerances, no jumps.

    >>> import footfall as ff
    >>> plan = ff.Plan(duration=2.0, engine=ff.MujocoEngine(step=1e-3))
    >>> plan.engine.step, plan.engine.name
    (0.001, 'mujoco')
    """

    name: ClassVar[str] = "mujoco"
    ignores: ClassVar[tuple[str, ...]] = ("max_jumps",)

    step: float | None = param(None, unit="s", gt=0, doc="constant step; auto: the robot's own")

    def told(self) -> dict[str, Any]:
        without = ("solver", "rtol", "atol", "near_room", "near_step")
        return {"engine": self.name, "step": self.step, **dict.fromkeys(without)}

    def require_span(self, duration: float, sample_rate: float | None) -> None:
        require_resolved(duration, step=self.step)


def compiled(system: AbstractRigidBodies, step: float) -> Any:
    """The robot as an MjModel with this step."""
    mujoco = require_mujoco()
    spec = system.spec()
    spec.option.timestep = step
    # A run that diverges must say so, not go on from the begin.
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    try:
        with warnings.catch_warnings():  # of what it warns of now, the run tells as its outcome
            warnings.simplefilter("ignore")
            return spec.compile()
    except ValueError as error:
        raise ParameterError(
            f"MuJoCo cannot make this robot: {' '.join(str(error).split())}", "robot"
        ) from None


def simulate_bodies(
    system: AbstractRigidBodies,
    state: HybridState,
    plan: Span,
    progress: Callable[[float, int], None] | None = None,
    rows: RowStream | None = None,
) -> Trajectory:
    """See `simulate`. A plan of a `MujocoEngine` without a step takes the robot's own."""
    del rows  # MuJoCo's records fit into memory
    assert isinstance(plan.engine, MujocoEngine)
    mujoco = require_mujoco()
    step = plan.engine.step or system.usual_step
    if step > plan.duration:
        raise ParameterError(
            f"step = {step:g} s is longer than the run of {plan.duration:g} s; take a shorter one.",
            "step",
        )
    steps = round(plan.duration / step)
    if steps > MOST_STEPS:
        raise ParameterError(
            f"{plan.duration:g} s in steps of {step:g} s are {steps:.2g} steps; {MOST_STEPS:.0e} is"
            " the most.",
            "step",
        )
    every = steps
    if plan.sample_rate is not None:
        every = max(
            1, round(1.0 / max(plan.sample_rate * step, 1e-12)), math.ceil(steps / MOST_SAMPLES)
        )
    model = compiled(system, step)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = np.asarray(state.x.qpos), np.asarray(state.x.qvel)
    driver = system.driver(model, data, steps)
    record = BodiesRecord(system, model, data, driver, steps, every)
    outcome, made = Outcome.running, 0
    before = mujoco.get_mju_user_warning()
    # What goes wrong is an outcome; MuJoCo by itself would write a file into the user's folder.
    mujoco.set_mju_user_warning(lambda _: None)
    numpy_before = np.seterr(over="ignore", invalid="ignore", divide="ignore")
    try:
        while made < steps and outcome is Outcome.running:
            made = _advance(mujoco, model, data, driver, record, made, min(made + CHUNK, steps))
            outcome = record.look()
            if progress is not None:
                progress(record.time, 0)
        if outcome is Outcome.running:
            driver.act(steps)  # the last row has forces too
            record.finish(steps)
            outcome = (
                record.outcome if record.outcome is not Outcome.running else Outcome.reached_end
            )
    except KeyboardInterrupt:
        outcome = Outcome.interrupted if outcome is Outcome.running else outcome
    finally:
        mujoco.set_mju_user_warning(before)
        np.seterr(**numpy_before)
    rate = None if plan.sample_rate is None else 1.0 / (every * step)
    version = importlib.metadata.version("mujoco")
    source = provenance(plan, rate) | {
        "solver": (
            f"MuJoCo {version}"
            f" ({mujoco.mjtIntegrator(model.opt.integrator).name.removeprefix('mjINT_').lower()})"
        ),
        "step": step,
        "device": "cpu",
    }
    source["versions"] = source["versions"] | {"mujoco": version}
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return record.trajectory(outcome, source)


def _advance(
    mujoco: Any, model: Any, data: Any, driver: Any, record: BodiesRecord, made: int, until: int
) -> int:
    """Steps from `made` to `until`, block by block.

    Names are looked up once: this is the loop that everything waits for.
    """
    act, mj_step, every = driver.act, mujoco.mj_step, record.every
    speed, push, effort = data.qvel, data.qfrc_constraint, data.qfrc_actuator
    while made < until:
        count, damping = min(BLOCK, until - made), None
        speeds, pushes, efforts = record.block_rows(count)
        for k in range(count):
            if k % SEEN_EVERY == 0 and not np.isfinite(speed).all():
                for rows in (speeds, pushes, efforts):
                    rows[k:] = np.nan
                record.lost = True
                break
            act(made + k)
            speeds[k] = speed
            if driver.damping is not damping:
                record.note_damping(k, damping := driver.damping)
            if (made + k) % every:
                mj_step(model, data)
            else:
                record.before_sample()
                mj_step(model, data)
                record.after_sample()
            pushes[k] = push
            efforts[k] = effort
        speeds[count] = speed
        made += count
        record.add_work(made)
        if record.lost:
            break
    return made
