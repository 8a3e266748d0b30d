"""Steps per second of robots as environments, against Gymnasium's own vector CartPole.

    python benchmarks/gym.py [--lanes 1024,4096] [--rounds 5] [--write]

A step of CartPole is one Euler step of 20 ms in NumPy. A step of the wheel is twenty Runge-Kutta
steps of 1 ms with events located in them, its ledger, its reward terms and what is seen: the last
column counts those. Actions are ready, episodes begin anew by themselves, compilation is apart.

The same wheel on MuJoCo's contacts is a yardstick: ten steps of 2 ms for a step of ours, by MuJoCo's
`rollout` on all cores, and by MJX where `mujoco-mjx` is installed. MJX is made for GPUs; this is its
speed on a CPU. Neither has episodes, rewards, or events located in time.
"""

import argparse
import importlib.metadata
import importlib.util
import os
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import gymnasium
import mujoco
import mujoco.rollout
import numpy as np

import footfall.learning  # noqa: F401  (registers the robots)
from conditions import write
from soft_ground import planar_wheel

ENVIRONMENTS = {
    "CartPole-v1": {},
    "footfall/RimlessWheel-v0": {"task": "lean"},
    "footfall/UrchinSpike-v0": {},
}


class Rate(NamedTuple):
    """Steps of single robots, the best of some rounds."""

    per_second: float
    per_cpu_second: (
        float  #: of all threads together: what other work on the machine leaves as it is
    )

    @staticmethod
    def of(work: Callable[[], object], steps: int, rounds: int) -> "Rate":
        took = []
        for _ in range(rounds):
            began = time.perf_counter(), time.process_time()
            work()
            took.append((time.perf_counter() - began[0], time.process_time() - began[1]))
        wall, cpu = np.min(took, axis=0)
        return Rate(steps / wall, steps / cpu)


def rate(envs, steps: int, rounds: int) -> Rate:
    """Of an environment with actions by chance."""
    envs.reset(seed=0)
    envs.action_space.seed(0)
    actions = [envs.action_space.sample() for _ in range(8)]

    def work() -> None:
        for step in range(steps):
            envs.step(actions[step % 8])

    return Rate.of(work, envs.num_envs * steps, rounds)


#: Steps of MuJoCo for a step of an environment: its own 2 ms in our 20.
INNER = 10


def wheel_on_mujoco() -> mujoco.MjModel:
    """The driven wheel with MuJoCo's contacts as they come."""
    return planar_wheel(
        mass=2.46, length=0.26, spokes=10, inertia=0.01, torso=(4.45, 0.06, 0.0)
    ).model


def by_mujoco(lanes: int, steps: int, rounds: int) -> Rate:
    """By MuJoCo's own thread pool."""
    model = wheel_on_mujoco()
    pool = [mujoco.MjData(model) for _ in range(os.cpu_count() or 1)]
    start = np.zeros((lanes, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 + model.nq + 3], start[:, 4] = 3.5, np.linspace(-0.3, 0.3, lanes)
    return Rate.of(
        lambda: mujoco.rollout.rollout(model, pool, start, nstep=INNER * steps),
        lanes * steps,
        rounds,
    )


def by_mjx(lanes: int, steps: int, rounds: int) -> Rate:
    """The same by MJX, every step of the environment one call."""
    import jax
    from mujoco import mjx

    model = mjx.put_model(wheel_on_mujoco())
    data = mjx.make_data(model)

    def start(angle: jax.Array) -> mjx.Data:
        return data.replace(qpos=data.qpos.at[3].set(angle), qvel=data.qvel.at[3].set(3.5))

    @jax.jit
    def step(data: mjx.Data) -> mjx.Data:
        each = jax.vmap(mjx.step, in_axes=(None, 0))
        return jax.lax.fori_loop(0, INNER, lambda _, data: each(model, data), data)

    robots = jax.block_until_ready(step(jax.vmap(start)(jax.numpy.linspace(-0.3, 0.3, lanes))))

    def work() -> None:
        nonlocal robots
        for _ in range(steps):
            robots = step(robots)
        jax.block_until_ready(robots)

    return Rate.of(work, lanes * steps, rounds)


def yardsticks(lanes: int) -> Iterator[tuple[str, Rate]]:
    """MuJoCo and, where it is there, MJX."""
    yield f"MuJoCo {mujoco.__version__}, rollout", by_mujoco(lanes, 5, 3)
    if importlib.util.find_spec("mujoco.mjx") is not None:
        version = importlib.metadata.version("mujoco-mjx")
        yield f"MJX {version} on this CPU", by_mjx(lanes, 2, 2)


def row(name: str, lanes: int, found: Rate, own: Rate, inner: int) -> dict:
    """What is written of one, and printed."""
    print(
        f"{name:28}{lanes:>6} lanes {found.per_second:>10.3g} steps/s"
        f" {found.per_cpu_second:>10.3g} a CPU second"
        f" {found.per_cpu_second / own.per_cpu_second:>7.4f} x CartPole"
        f" {found.per_second * inner:>10.3g} integrator steps/s",
        flush=True,
    )
    return {
        "environment": name,
        "lanes": lanes,
        "steps_per_second": found.per_second,
        "steps_per_cpu_second": found.per_cpu_second,
        "of_cartpole": found.per_second / own.per_second,
        "of_cartpole_by_cpu": found.per_cpu_second / own.per_cpu_second,
        "integrator_steps_per_second": found.per_second * inner,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lanes", default="1024,4096")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    rows = []
    for lanes in map(int, arguments.lanes.split(",")):
        own = None
        for name, more in ENVIRONMENTS.items():
            began = time.perf_counter()
            envs = gymnasium.make_vec(
                name, num_envs=lanes, vectorization_mode="vector_entry_point", **more
            )
            made, found = time.perf_counter() - began, rate(envs, arguments.steps, arguments.rounds)
            robots = getattr(envs, "robots", None)
            inner = 1 if robots is None else robots.episodes.count
            own = found if own is None else own
            rows.append(row(name, lanes, found, own, inner) | {"seconds_to_make": made})
        rows += [row(name, lanes, found, own, INNER) for name, found in yardsticks(lanes)]
    if arguments.write:
        load = os.getloadavg()[0]
        write("gym", {"load": load, "rows": rows})


if __name__ == "__main__":
    main()
