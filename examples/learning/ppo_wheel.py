"""PPO teaches the rimless wheel to walk by the torque of its motors: 2000 robots, one kernel.

Then it is compared with the PID that is tuned by hand: how fast is each at the same cost of
transport? A minute or two on two cores.

    pip install "footfall[learn,plots]" optax
    python examples/learning/ppo_wheel.py [ROUNDS [COST]]

J. Schulman and others, Proximal Policy Optimization Algorithms, arXiv:1707.06347 (2017).
"""

import sys

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
import optax

from footfall.authoring import Passage, Reward
from footfall.learning import RobotVectorEnv
from footfall.machines.rimless_wheel.tasks import LEAN_TASK, TORQUE_TASK, effort, fall, headway

matplotlib.use("Agg")
from matplotlib import pyplot as plt

ROBOTS, PERIODS, EPOCHS, PARTS = 2048, 32, 4, 4
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
DISCOUNT, TRACE, CLIP, ENTROPY = 0.99, 0.95, 0.2, 1e-3
SETTLED = 250  # periods of 20 ms: what is measured begins after 5 s
COST = float(sys.argv[2]) if len(sys.argv) > 2 else 4.0  # what a unit of cost of transport is worth
GROUND = 0.8  # friction that there is


def friction(passage: Passage):
    """What friction the foot needs."""
    return passage.after.outputs.foot.friction_needed


def slip(passage: Passage):
    """Less what it needs beyond what there is."""
    return -jnp.maximum(friction(passage) - GROUND, 0.0)


TERMS = (
    Reward(headway),
    Reward(effort, COST),
    Reward(fall),
    Reward(slip, 0.1),
    Reward(friction, 0.0),  # only to be looked at
)


def layers(key, sizes):
    """Weights and biases of a small network."""
    keys = jax.random.split(key, len(sizes) - 1)
    pairs = zip(keys, sizes[:-1], sizes[1:], strict=True)
    return [(jax.random.normal(k, (a, b)) / jnp.sqrt(a), jnp.zeros(b)) for k, a, b in pairs]


def applied(network, x):
    for weight, bias in network[:-1]:
        x = jnp.tanh(x @ weight + bias)
    weight, bias = network[-1]
    return x @ weight + bias


def mean_of(policy, seen):
    """Of the torque, from -1 to 1 of what the motors have: it begins with a tenth."""
    return 0.1 + 0.1 * applied(policy["mean"], seen)


def chance(policy, seen, action):
    """Its logarithm."""
    spread = jnp.exp(policy["log_spread"])
    off = (action - mean_of(policy, seen)) / spread
    return jnp.sum(-0.5 * off**2 - policy["log_spread"], axis=-1)


@jax.jit
def drawn(policy, seen, key):
    noise = jax.random.normal(key, (len(seen), 1)) * jnp.exp(policy["log_spread"])
    action = mean_of(policy, seen) + noise
    return action, chance(policy, seen, action), applied(policy["value"], seen)[:, 0]


def loss(policy, batch):
    seen, action, before, advantage, target = batch
    ratio = jnp.exp(chance(policy, seen, action) - before)
    gain = jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * advantage)
    value = applied(policy["value"], seen)[:, 0]
    return jnp.mean(0.5 * (value - target) ** 2 - gain) - ENTROPY * jnp.sum(policy["log_spread"])


optimiser = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(3e-4))


@jax.jit
def improved(policy, memory, batch):
    change, memory = optimiser.update(jax.grad(loss)(policy, batch), memory, policy)
    return optax.apply_updates(policy, change), memory


@jax.jit
def advantages(reward, value, after, over):
    """Generalised: rows are periods. `after` is the value of what came next, `over` cuts."""

    def back(carried, row):
        reward, value, after, over = row
        gained = reward + DISCOUNT * after - value
        carried = gained + DISCOUNT * TRACE * (1.0 - over) * carried
        return carried, carried

    zero = jnp.zeros_like(reward[0])
    return jax.lax.scan(back, zero, (reward, value, after, over), reverse=True)[1]


def walked(envs, act):
    """Speed, cost of transport and friction needed of each robot, from the fifth second on."""
    seen, _ = envs.reset(seed=0)
    sums, alive = np.zeros((3, envs.num_envs)), np.ones(envs.num_envs, bool)
    for period in range(2 * SETTLED - 1):
        seen, _, terminated, _, infos = envs.step(act(seen))
        alive &= ~terminated
        if period >= SETTLED:
            sums[0] += infos["headway"]
            sums[1] -= infos["effort"]
            sums[2] = np.maximum(sums[2], infos["friction"])
    way, work, needed = np.where(alive, sums, np.nan)
    return way / ((SETTLED - 1) * 0.02), work / way, needed


def main():
    task = TORQUE_TASK._replace(rewards=TERMS)
    how = {"unit_actions": True, "autoreset_mode": "SameStep"}
    envs = RobotVectorEnv(ROBOTS, "rimless-wheel", task, randomise=True, **how)
    rates = {"start.spoke_rate": np.random.default_rng(0).uniform(-5.0, -2.5, ROBOTS)}
    seen, _ = envs.reset(seed=0, options=rates)  # fast and slow starts: it sees more that way
    size = seen.shape[1]
    keys = jax.random.split(jax.random.key(0), 3)
    policy = {
        "mean": layers(keys[0], (size, 64, 64, 1)),
        "value": layers(keys[1], (size, 64, 64, 1)),
        "log_spread": jnp.full(1, jnp.log(0.05)),  # 0.7 N m
    }
    policy = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), policy)
    memory, key, draw = optimiser.init(policy), keys[2], np.random.default_rng(0)
    middle, scale = np.zeros(size, np.float32), np.ones(size, np.float32)
    curve = []
    for round_ in range(ROUNDS):
        rows, headway, effort, falls = [], 0.0, 0.0, 0
        for _ in range(PERIODS):
            key, own = jax.random.split(key)
            looked = (seen - middle) / scale
            action, before, value = map(np.asarray, drawn(policy, looked, own))
            raw, reward, terminated, truncated, infos = envs.step(action)
            over, ended = terminated | truncated, raw.copy()
            if over.any():
                ended[over] = np.stack(infos["final_obs"][over])
            _, _, after = drawn(policy, (ended - middle) / scale, own)
            after = np.where(terminated, 0.0, np.asarray(after))  # cut off is not the end
            rows.append((looked, action, before, 10 * reward, value, after, over))
            for said in (infos, infos.get("final_info")):  # who went on, who was over
                headway += said["headway"].sum() if said else 0.0
                effort -= said["effort"].sum() if said else 0.0
            falls, seen = falls + terminated.sum(), raw
        looked, action, before, reward, value, after, over = map(np.stack, zip(*rows, strict=True))
        gain = np.asarray(advantages(reward, value, after, over.astype(np.float32)))
        batch = [looked, action, before, (gain - gain.mean()) / gain.std(), gain + value]
        batch = [np.reshape(part, (-1, *part.shape[2:])).astype(np.float32) for part in batch]
        for _ in range(EPOCHS):
            for rows_ in np.split(draw.permutation(len(batch[0])), PARTS):
                policy, memory = improved(policy, memory, [part[rows_] for part in batch])
        if round_ == 0:  # what it sees, in units of how it varies
            middle, scale = batch[0].mean(axis=0), batch[0].std(axis=0) + 1e-3
        seconds = ROBOTS * PERIODS * 0.02
        curve.append((headway / seconds, effort / headway, falls / seconds))
        if round_ % 20 == 0 or round_ == ROUNDS - 1:
            speed, cost, fallen = curve[-1]
            said = f"{speed:.3f} m/s, cost of transport {cost:.3f}, {fallen:.3f} falls a second"
            print(f"round {round_:3}: {said}", flush=True)

    trial = RobotVectorEnv(1, "rimless-wheel", task, unit_actions=True)
    best = jax.jit(lambda seen: mean_of(policy, (seen - middle) / scale))
    speed, cost, needed = (float(v[0]) for v in walked(trial, lambda seen: np.asarray(best(seen))))
    lean = np.linspace(0.35, 1.4, 64)[:, None]
    by_hand = RobotVectorEnv(64, "rimless-wheel", LEAN_TASK._replace(rewards=TERMS))
    speeds, costs, rubbed = walked(by_hand, lambda seen: lean)
    stands = np.isfinite(costs)
    order = np.argsort(costs[stands])
    speeds, costs, rubbed = (values[stands][order] for values in (speeds, costs, rubbed))
    pid = np.interp(cost, costs, speeds, left=np.nan, right=np.nan)
    print(f"learned: {speed:.3f} m/s, cost of transport {cost:.4f}, friction {needed:.2f}")
    print(
        f"PID, leaning 0.35 to 1.4 rad: {speeds[0]:.3f} m/s at {costs[0]:.4f} to"
        f" {speeds[-1]:.3f} m/s at {costs[-1]:.4f}, friction up to {rubbed.max():.2f}"
    )
    said = "none of them has that cost" if np.isnan(pid) else f"{100 * (speed / pid - 1):+.0f} %"
    print(f"learned against PID at the same cost: {pid:.3f} m/s, {said}")

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    samples = np.arange(1, ROUNDS + 1) * ROBOTS * PERIODS / 1e6
    left.plot(samples, [row[0] for row in curve], label="speed, with noise [m/s]")
    left.plot(samples, [row[2] for row in curve], label="falls of a robot a second")
    left.set(xlabel="periods of 20 ms [million]")
    left.legend(frameon=False)
    right.plot(costs, speeds, ".", label="PID, leaning 0.35 to 1.4 rad")
    right.plot(cost, speed, "o", label="learned")
    right.set(xlabel="cost of transport", ylabel="speed [m/s]")
    right.legend(frameon=False, loc="upper left")
    figure.savefig("ppo_wheel.png", dpi=100)


main()
