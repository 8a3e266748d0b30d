"""Robots as environments: what Gymnasium asks of one, and what a run says of the same robot."""

import copy
import io
import pickle
import re
import time
import urllib.error
import urllib.request
import warnings

import equinox as eqx
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from matplotlib.image import imread

import footfall as ff
from footfall.engines.lanes.episodes import Episodes
from footfall.hybrid.fields import param
from footfall.hybrid.system import Event, HybridState, Jump, Rates
from footfall.hybrid.task import Action, Observation, Reward
from footfall.learning import pure_task
from footfall.learning.given_task import given_task
from footfall.learning.names import SCENARIOS, name_of
from footfall.learning.spread import ranges
from footfall.machines.rimless_wheel.tasks import LEAN_TASK
from footfall.scenario.errors import ScenarioError
from support.toys import AbstractToy, Count, NoPower, NoWork, Scalar1

LANES = 4
LEAN = 0.6  # rad, the scenario's own


@pytest.fixture(scope="module")
def shared():
    """The one that is compiled: wheels that walk by leaning."""
    return gymnasium.make_vec(
        "footfall/RimlessWheel-v0", num_envs=LANES, task="lean", randomise={"leg.stiffness": 0.2}
    )


@pytest.fixture
def envs(shared):
    shared.autoreset_mode, shared.robots.horizon = AutoresetMode.NEXT_STEP, 500
    return shared


@pytest.fixture(scope="module")
def wheel():
    return gymnasium.make(
        "footfall/RimlessWheel-v0", task="lean", unit_actions=True, render_mode="rgb_array"
    ).unwrapped


def leaning(angle=LEAN):
    return np.full((LANES, 1), angle)


def test_gymnasium_has_nothing_to_say_against_it(wheel):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(wheel, skip_render_check=True, skip_close_check=True)
    assert wheel.action_space.low == -1 and wheel.action_space.high == 1


def test_it_moves_as_a_run_does(wheel):
    """Distance and work of five seconds, against the event engine at 1e-8."""
    low, high = wheel.robots.low[0], wheel.robots.high[0]
    unit = 2.0 * (LEAN - low) / (high - low) - 1.0
    wheel.reset(seed=0)
    infos = [wheel.step([unit])[-1] for _ in range(250)]
    run = ff.load("rimless-wheel", duration=5.0).run()
    way = run["travel.distance"][-1] - run["travel.distance"][0]
    weight = (2.46 + 4.45) * 9.81
    # Steps of 1 ms of the fourth order, events located to 1e-3 of one; the action is float32.
    assert sum(info["headway"] for info in infos) == pytest.approx(way, abs=2e-6)
    assert -weight * sum(info["effort"] for info in infos) == pytest.approx(
        run["work.motor"][-1], abs=2e-5
    )


def test_its_picture_shows_the_robot(wheel):
    wheel.reset(seed=0)
    before = wheel.render()
    for _ in range(8):
        wheel.step([0.0])
    after = wheel.render()
    assert before.shape == (270, 480, 3) and before.dtype == np.uint8
    assert np.mean(before != after) > 0.01


def test_a_person_is_shown_each_step_in_a_browser(wheel, monkeypatch):
    """A page on loopback whose picture changes; nobody without its token sees it."""
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    monkeypatch.setattr(wheel, "render_mode", "human")
    try:
        wheel.reset(seed=0)
        assert wheel.render() is None and len(opened) == 1
        with urllib.request.urlopen(opened[0]) as page:
            assert b'<img src="frames"' in page.read()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(re.sub(r"/[^/]+/$", "/guess/", opened[0]))
        before, began = picture_at(opened[0]), time.monotonic()
        for _ in range(8):
            wheel.step([0.0])
        assert time.monotonic() - began >= 7 * wheel.given.task.period  # as fast as it moves
        after = picture_at(opened[0])
        assert len(opened) == 1
    finally:
        wheel.close()
    assert before.shape == (270, 480, 3)
    assert np.mean(before != after) > 0.01


def picture_at(address):
    """The first of the page's stream of pictures: the newest there is."""
    with urllib.request.urlopen(f"{address}frames") as stream:
        line = b"-"
        while line and not line.startswith(b"Content-Length:"):
            line = stream.readline()
        stream.readline()  # a header ends with an empty line
        return imread(io.BytesIO(stream.read(int(line.partition(b":")[2]))))[..., :3]


def test_a_seed_says_it_all(envs):
    def played(seed):
        envs.reset(seed=seed)
        stiffness = envs.robots.values[envs.given.place("leg.stiffness")].copy()
        return stiffness, np.stack([envs.step(leaning())[0] for _ in range(20)])

    first, again, other = played(1), played(1), played(2)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.any(first[0] == other[0])
    assert np.all(np.abs(first[0] / 15000.0 - 1.0) <= 0.2) and len(set(first[0])) == LANES


def test_numbers_and_start_are_options(envs):
    soft = np.array([1e4, 1.2e4, 1.5e4, 2e4])
    envs.reset(options={"leg.stiffness": soft, "start.spoke_rate": -3.0})
    assert np.array_equal(envs.robots.values[envs.given.place("leg.stiffness")], soft)
    assert np.all(envs.step(leaning())[0][:, 1] != -3.0)
    deflected = 0.26 - np.stack([envs.step(leaning())[0][:, 4] for _ in range(5)])
    assert np.all(np.diff(np.max(deflected, axis=0)) < 0)  # the stiffer, the less


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"leg.stifness": 1e4}, "Did you mean"),
        ({"leg.stiffness": -1.0}, "axial stiffness.* must be > 0"),
        ({"start.spoke_angle": 0.5}, "below ground"),
        ({"robot.spokes": 12}, "cannot differ between robots"),
        ({"leg.stiffness": np.ones(3)}, "one for each of the 4 robots"),
        ({"leg.stiffness": np.nan}, "must be > 0"),
        ({"torso.pitch_setpoint": "40 deg"}, r"'40 deg' is no number.* SI units \(rad\)"),
        ({3: 1.0}, 'no key "3"'),
    ],
)
def test_options_that_cannot_be_are_told(envs, options, words):
    with pytest.raises(ScenarioError, match=words):
        envs.reset(options=options)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"leg.stiffness": 2.0}, "no share between 0 and 1"),
        ({"leg.stiffness": (1e4, -1e4)}, "out of range"),
        ({"leg.stiffness": "bounds"}, "no bounds on both sides"),
        ({"leg.stiffness": "wide"}, "neither a share"),
        ({"leg.stiffness": np.float32(2.0)}, "no share between 0 and 1"),
        ({"start.torso_rate": 0.2}, "is 0, of which a share is nothing"),
        ({"start.spoke_angle": (0.0, 0.5)}, "of 256 robots .*below ground"),
        (0.2, "neither True nor a dictionary"),
    ],
)
def test_a_spread_that_cannot_be_is_told(envs, wanted, words):
    with pytest.raises(ScenarioError, match=words):
        ranges(envs.given, wanted)


def test_a_spread_stays_inside_the_bounds(envs):
    found = {envs.given.numbers[one.place].path[-1]: one for one in ranges(envs.given, True)}
    assert set(found) == {"stiffness", "damping", "mass", "com_distance"}
    (one,) = ranges(envs.given, {"torso.pitch_setpoint": "bounds"})
    assert (one.low, one.high) == (-3.2, 3.2)


def test_next_step_begins_anew_in_the_step_after(envs):
    envs.robots.horizon = 3
    first, _ = envs.reset(seed=0)
    for step in range(1, 4):
        seen, _, terminated, truncated, _ = envs.step(leaning())
        assert not terminated.any() and truncated.all() == (step == 3)
    seen, reward, terminated, truncated, _ = envs.step(leaning())
    assert not (terminated | truncated).any() and not reward.any()
    assert np.array_equal(seen, first)  # what a spring is made of is not seen before it is loaded


def test_a_fall_in_the_last_period_is_a_fall(envs):
    """An end is one of the two: a learner takes what would come after for nothing or for the same."""
    back = np.full((envs.num_envs, 1), envs.single_action_space.low[0])
    envs.reset(seed=0)
    count, fallen = 0, np.zeros(envs.num_envs, bool)
    while not fallen.any():
        _, _, fallen, _, _ = envs.step(back)
        count += 1
        assert count < 500
    envs.robots.horizon = count
    envs.reset(seed=0)
    for _ in range(count):
        _, _, terminated, truncated, _ = envs.step(back)
    assert np.array_equal(terminated, fallen) and np.array_equal(truncated, ~fallen)


def test_same_step_keeps_what_was_seen_last(envs):
    envs.autoreset_mode, envs.robots.horizon = AutoresetMode.SAME_STEP, 3
    first, _ = envs.reset(seed=0)
    for _ in range(3):
        seen, reward, _, truncated, infos = envs.step(leaning())
    assert truncated.all() and infos["_final_obs"].all() and reward.all()
    final = np.stack(infos["final_obs"])
    assert np.array_equal(seen, first) and not np.any(final[:, 1] == first[:, 1])
    assert infos["final_info"]["headway"].all() and not infos["_headway"].any()


def test_disabled_waits_for_a_mask(envs):
    envs.autoreset_mode = AutoresetMode.DISABLED
    envs.reset(seed=0, options={"start.spoke_rate": [-3.5, -0.5, -3.5, -0.5]})
    for _ in range(60):
        seen, _, terminated, _, infos = envs.step(leaning())
        if terminated.any():
            break
    assert terminated.tolist() == [False, True, False, True]  # too slow to get over its foot
    assert infos["fall"].tolist() == [0, -1, 0, -1]
    assert envs.robots.outcome_name(1) == "rocked_back"
    with pytest.raises(gymnasium.error.ResetNeeded, match="2 robots"):
        envs.step(leaning())
    with pytest.raises(ValueError, match="a bool for each of the 4 robots"):
        envs.reset(options={"reset_mask": [1, 0]})
    after, _ = envs.reset(options={"reset_mask": terminated, "start.spoke_rate": -3.5})
    assert np.array_equal(after[::2], seen[::2]) and np.all(after[1::2, 1] == -3.5)
    envs.step(leaning())


def test_an_action_that_is_no_number_is_refused(envs):
    envs.reset(seed=0)
    with pytest.raises(ValueError, match="not a number: nan"):
        envs.step(leaning(np.nan))


def test_the_pure_pair_moves_as_the_kernels_do(envs):
    pure = pure_task("rimless-wheel", "lean")
    robots, seen = pure.reset(jax.random.key(0), LANES)
    first, _ = envs.reset(options={"leg.stiffness": 15000.0})
    assert np.array_equal(np.asarray(seen), first)
    for _ in range(15):
        robots, seen, reward, *_ = pure.step(robots, jnp.asarray(leaning(0.8)))
        wanted = envs.step(leaning(0.8))
        assert np.allclose(np.asarray(seen), wanted[0], atol=1e-6)  # float32
        assert np.allclose(np.asarray(reward), wanted[1], atol=1e-9)
    done = jnp.array([True, False, False, False])
    robots, seen = pure.again(robots, seen, done, jax.random.key(1))
    assert np.array_equal(np.asarray(robots.age), [0, 15, 15, 15])
    assert np.array_equal(np.asarray(seen)[0], first[0])


def same(ours, gymnasiums):
    """All numbers and words to the bit, mask by mask."""
    if isinstance(gymnasiums, dict):
        assert set(ours) >= set(gymnasiums)
        assert not any(
            np.any(ours[f"_{name.removeprefix('_')}"]) for name in set(ours) - set(gymnasiums)
        )
        for name, wanted in gymnasiums.items():
            same(ours[name], wanted)
    else:
        assert np.asarray(ours).dtype == np.asarray(gymnasiums).dtype
        for one, wanted in zip(ours, gymnasiums, strict=True):
            assert np.array_equal(one, wanted)


def single(wheel, horizon):
    """Another robot with the same kernels, moved in the units of its action."""
    made = copy.copy(wheel)
    made.robots = copy.copy(wheel.robots)
    made.robots.values, made.robots.age = wheel.robots.values.copy(), wheel.robots.age.copy()
    made.robots.horizon, made.robots._unit = horizon, False
    return made


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_many_are_as_gymnasium_puts_single_ones_together(envs, wheel, mode):
    """Observations, rewards, ends and infos, while some fall and others come to their time."""
    horizon = 4
    singles = [single(wheel, horizon) for _ in range(LANES)]
    theirs = SyncVectorEnv([lambda one=one: one for one in singles], autoreset_mode=mode)
    envs.autoreset_mode, envs.robots.horizon = mode, horizon
    wanted, said = theirs.reset(seed=0)
    seen, told = envs.reset(seed=0, options={"leg.stiffness": 15000.0})  # its own, no spread
    same(seen, wanted)
    same(told, said)
    draw, ends = np.random.default_rng(0), np.zeros(2, int)
    for _ in range(40):
        actions = draw.uniform(0.0, 1.4, (LANES, 1))
        wanted, ours = theirs.step(actions), envs.step(actions)
        for one, other in zip(ours, wanted, strict=True):
            same(one, other)
        ends += [wanted[2].sum(), wanted[3].sum()]
        infos = ours[-1]
        if "headway" in infos:
            terms = infos["headway"] + 0.5 * infos["effort"] + infos["fall"]
            assert np.allclose(terms, ours[1] * infos["_headway"], atol=1e-14)
    assert np.all(ends >= 4)  # both kinds


def test_options_that_were_refused_are_not_kept(envs):
    envs.robots.horizon = 2
    with pytest.raises(ScenarioError):
        envs.reset(seed=0, options={"leg.stiffness": -1.0})
    kept = np.full(LANES, 2e4)
    envs.reset(seed=0, options={"leg.stiffness": kept})
    kept[:] = -1.0  # whose numbers they were
    for options in ({"leg.stiffness": -2.0}, {"start.spoke_angle": 0.5}):
        with pytest.raises(ScenarioError):
            envs.reset(options=options)
    for _ in range(3):
        envs.step(leaning())
    assert np.all(envs.robots.values[envs.given.place("leg.stiffness")] == 2e4)


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        (np.zeros((LANES, 2)), r"\(4, 2\), not \(4, 1\).*torso.pitch_setpoint"),
        (np.zeros((1, LANES)), r"\(1, 4\), not \(4, 1\)"),
        (0.6, r"\(\), not \(4, 1\)"),
        ([["a"]] * LANES, "no numbers"),
        ([[0.6], [0.6], [np.inf], [0.6]], "inf for torso.pitch_setpoint of robot 2"),
    ],
)
def test_actions_that_cannot_be_are_told(envs, actions, words):
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=words):
        envs.step(actions)
    assert not envs.robots.age.any()


def test_actions_are_cut_to_what_is_declared(envs):
    envs.reset(seed=0)
    envs.step(leaning(5.0))
    assert np.all(envs.robots.values[envs.given.actions[0]] == 1.4)  # float32 has no 1.4


def test_before_a_reset_there_is_nothing_to_move(envs):
    robots = copy.copy(envs.robots)
    robots._leaves = []
    with pytest.raises(gymnasium.error.ResetNeeded, match="begin with reset"):
        robots.move(leaning())
    with pytest.raises(gymnasium.error.ResetNeeded):
        robots.pose(0)


def test_what_is_seen_of_a_robot_that_flies_apart_is_in_its_space(envs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for start in ({"start.spoke_rate": 1e30}, {"start.torso_rate": 1e45}):
            seen, _ = envs.reset(options=start)
            assert seen in envs.observation_space
            seen, reward, terminated, _, infos = envs.step(leaning())
            assert seen in envs.observation_space and terminated.all()
            assert np.all(np.isfinite(reward)) and infos["outcome"][0] != "running"


def test_no_action_moves_energy_that_no_port_counts(envs):
    """The books of a run whose action jumps every period."""
    robots, draw = envs.robots, np.random.default_rng(3)
    envs.reset(seed=0)
    _, _, loop = robots.episodes._remade([jnp.asarray(v) for v in robots.values])

    def books():
        lane = jax.tree.unflatten(robots.episodes._tree, robots._leaves)
        moved = [*lane.q[: len(loop.ports)], *lane.jump_work]
        return sum(lane.stored), sum(moved), lane.through

    stored, _, _ = books()
    for _ in range(15):
        robots.move(draw.uniform(0.0, 1.4, (LANES, 1)))
    now, moved, through = books()
    assert np.sum(through > 0.5) >= 2  # J; some fall at once
    # Works are integrated beside the motion, in steps of 1 ms: 4e-5 of what went through. Who fell
    # at once has nothing but the rounding of 17 J.
    assert np.all(np.abs(now - stored - moved) <= 4e-4 * through + 1e-13)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"actions": (Action("leg.rest_length", 0.2, 0.3),)}, "part of what spring stores"),
        ({"actions": (Action("gravity", 1.0, 9.0),)}, "part of what gravity stores"),
        ({"actions": (Action("start.spoke_rate", -3.0, 0.0),)}, "where a run begins"),
        ({"actions": (Action("torso.pitch_setpoint", 0.0, 9.0),)}, "goes to 9 rad, but"),
        ({"observations": (Observation("hub.vv", -1.0, 1.0),)}, 'no signal "hub.vv"'),
        ({"rewards": (Reward(lambda p: p.work), Reward(lambda p: p.ended))}, 'called "<lambda>'),
    ],
)
def test_a_task_that_cannot_be_is_told(change, words):
    with pytest.raises(ScenarioError, match=words):
        given_task("rimless-wheel", LEAN_TASK._replace(**change))


def test_a_task_goes_to_another_process():
    """As AsyncVectorEnv sends it."""
    assert pickle.loads(pickle.dumps(LEAN_TASK)) == LEAN_TASK


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_registered_robot_has_a_task_that_holds_together(scenario):
    given = given_task(scenario)
    assert gymnasium.spec(name_of(scenario)).kwargs == {"scenario": scenario}
    assert given.task.length > given.task.period > given.task.step
    assert all(one.low < one.high for one in (*given.task.actions, *given.task.observations))
    assert all(reward.term.__doc__ for reward in given.task.rewards)
    assert all(one.low < one.high for one in ranges(given, True))


def test_a_task_that_is_not_there_is_told():
    with pytest.raises(ScenarioError, match=r'no task "walk"\. Known: torque, lean'):
        given_task("rimless-wheel", "walk")
    with pytest.raises(ScenarioError, match="declares no task"):
        given_task("passive-wheel")


class Swing(AbstractToy):
    """dx/dt = gain cos(t), with a clock that counts: its motion depends on the time."""

    gain: float = param(1.0, doc="how far it swings")
    tick: float = eqx.field(static=True, default=0.1)

    @property
    def events(self):
        return (Event("low", "far below"), Event("tick", "a clock", period=self.tick))

    def flow(self, t, x, m):
        return Rates(Scalar1(x=self.gain * jnp.cos(t) + 0.0 * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (x.x + 10.0, jnp.asarray(m.n, jnp.result_type(x.x)) * self.tick - t)

    def jump(self, t, x, m, k):
        return Jump(x, Count(n=m.n + (1 if k == 1 else 0)), NoWork(none=0.0 * x.x))


def test_each_robot_has_its_own_time():
    """One that began later is where it would be had it begun with the others."""

    def make(gain):
        return Swing(gain=gain), HybridState(Scalar1(x=0.0 * gain), Count(n=np.int32(0)))

    swings = Episodes(
        make, [1.0], period=0.2, step=0.01, look=lambda at: [at.x.x, at.t], judge=lambda _: []
    )
    start, step = swings.compiled(path="cpp")
    gains, leaves = np.ones(2), start(np.ones(2))[: swings.leaf_count]
    age = np.array([0, 0], np.int32)
    for period in range(1, 6):
        *leaves, x, t = step(gains, *leaves, age)
        age += swings.count
        assert np.allclose(t, age * 0.01) and np.allclose(x, np.sin(t), atol=1e-9)  # RK4
        if period == 2:  # the second begins anew
            fresh = start(np.ones(2))[: swings.leaf_count]
            leaves = [np.stack([old[0], new[1]]) for old, new in zip(leaves, fresh, strict=True)]
            age[1] = 0
    ticks = swings.state(leaves, 0).m.n, swings.state(leaves, 1).m.n
    assert ticks == (11, 7)  # one at once, then every tenth of a second


def test_a_period_between_two_ticks_is_refused():
    def make(gain):
        return Swing(gain=gain), HybridState(Scalar1(x=0.0 * gain), Count(n=np.int32(0)))

    with pytest.raises(ValueError, match="no whole number of ticks of tick"):
        Episodes(make, [1.0], period=0.15, step=0.01, look=lambda _: [], judge=lambda _: [])
