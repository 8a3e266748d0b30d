"""Steps per second of robots as environments, against Gymnasium's own vector CartPole.

    python benchmarks/gym.py [--lanes 1024,4096] [--rounds 5] [--write]

A step of CartPole is one Euler step of 20 ms in NumPy. A step of the wheel is twenty Runge-Kutta
steps of 1 ms with events located in them, its ledger, its reward terms and what is seen: the last
column counts those. Actions are ready, episodes begin anew by themselves, compilation is apart.
"""

import argparse
import time

import gymnasium
import numpy as np

import footfall.learning  # noqa: F401  (registers the robots)
from conditions import write

ENVIRONMENTS = {
    "CartPole-v1": {},
    "footfall/RimlessWheel-v0": {"task": "lean"},
    "footfall/UrchinSpike-v0": {},
}


def rate(envs, steps: int, rounds: int) -> float:
    """Steps of single robots per second: the best of some rounds."""
    envs.reset(seed=0)
    envs.action_space.seed(0)
    actions = [envs.action_space.sample() for _ in range(8)]
    best = np.inf
    for _ in range(rounds):
        began = time.perf_counter()
        for step in range(steps):
            envs.step(actions[step % 8])
        best = min(best, time.perf_counter() - began)
    return envs.num_envs * steps / best


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
            rows.append(
                {
                    "environment": name,
                    "lanes": lanes,
                    "steps_per_second": found,
                    "of_cartpole": found / own,
                    "integrator_steps_per_second": found * inner,
                    "seconds_to_make": made,
                }
            )
            print(
                f"{name:28}{lanes:>6} lanes {found:>12.3g} steps/s {found / own:>6.2f} x CartPole"
                f" {found * inner:>10.3g} integrator steps/s",
                flush=True,
            )
    if arguments.write:
        write("gym", {"rows": rows})


if __name__ == "__main__":
    main()
