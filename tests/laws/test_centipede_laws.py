"""Laws of the segmented walker.

Forces are slopes of an energy written down anew, momentum is kept, the ledger closes.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall import check_system, load, simulate
from footfall.engines.plan import FixedSteps
from footfall.engines.stability_limit import spectrum
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import HybridState
from footfall.machines.centipede.body import SegmentChain
from footfall.machines.centipede.forces import all_loads
from footfall.machines.centipede.gait import WaveGait
from footfall.machines.centipede.leg import PolarLeg
from footfall.machines.centipede.outputs import order_parameter
from footfall.machines.centipede.reflexes import ReflexControl
from footfall.machines.parts.contact.viscoelastic import ViscoelasticContact
from footfall.machines.parts.terrain.gaps import Gap, Gaps
from footfall.machines.parts.terrain.profile import Profile
from footfall.machines.robots import centipede
from footfall.scenario.catalog import PARTS, kinds_for
from footfall.scenario.document import slot_types
from support.centipedes import lanes, march, momentum, shaken

pytestmark = pytest.mark.usefixtures("little_compiled")

# --- forces, derived a second time ----------------------------------------------------------------


def angle(vector):
    """Of a vector (x, z), by itself: no cross products, no products of two vectors."""
    return jnp.arctan2(vector[1], vector[0])


def wrapped(turn):
    return (turn + jnp.pi) % (2 * jnp.pi) - jnp.pi


def potential(system, nodes, tips, targets):
    """Springs of body and legs, from lengths and angles of single vectors, leg by leg."""
    body, leg, energy = system.body, system.leg, 0.0
    count = body.segments
    for i in range(count - 1):
        energy += (
            0.5 * body.axial_stiffness * (jnp.hypot(*(nodes[i] - nodes[i + 1])) - body.spacing) ** 2
        )
    for i in range(1, count - 1):
        bend = wrapped(angle(nodes[i + 1] - nodes[i]) - angle(nodes[i] - nodes[i - 1]))
        energy += 0.5 * body.bending_stiffness * bend**2
    for i in range(count):
        spine = nodes[max(i - 1, 0)] - nodes[min(i + 1, count - 1)]
        arm = tips[i] - nodes[i]
        off = wrapped(angle(arm) - angle(spine) - angle(targets[i]))
        energy += 0.5 * leg.length_stiffness * (jnp.hypot(*arm) - jnp.hypot(*targets[i])) ** 2
        energy += 0.5 * leg.angle_stiffness * off**2
    return energy


def lengths_and_angles(system, nodes, tips):
    """What the dampers sit on: link lengths, bends, leg lengths, leg angles."""
    count = system.body.segments
    links = [jnp.hypot(*(nodes[i] - nodes[i + 1])) for i in range(count - 1)]
    bends = [
        angle(nodes[i + 1] - nodes[i]) - angle(nodes[i] - nodes[i - 1]) for i in range(1, count - 1)
    ]
    arms = [tips[i] - nodes[i] for i in range(count)]
    spines = [nodes[max(i - 1, 0)] - nodes[min(i + 1, count - 1)] for i in range(count)]
    turns = [angle(a) - angle(s) for a, s in zip(arms, spines, strict=True)]
    return [jnp.stack(v) for v in (links, bends, [jnp.hypot(*a) for a in arms], turns)]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_inner_forces_are_the_slope_of_a_potential_and_of_a_dissipation_function(seed):
    system = centipede(body=SegmentChain(segments=6))
    x, _ = shaken(system, seed)
    loads = all_loads(system, x)
    targets = system.gait.target(x.legs.phase, x.legs.lift)
    goal = jnp.stack([targets.x, targets.z], axis=1)
    goal_rate = jnp.stack([targets.dx, targets.dz], axis=1) * loads.phase_rate[:, None]
    nodes, tips = (jnp.stack([p.x, p.z], axis=1) for p in (x.nodes, x.tips))
    speeds = tuple(jnp.stack([p.vx, p.vz], axis=1) for p in (x.nodes, x.tips))

    springs = jax.grad(lambda n, t: -potential(system, n, t, goal), argnums=(0, 1))(nodes, tips)

    def heat(vn, vt):
        """Rayleigh's function: half of what the dampers take, which sit between the legs and their
        moving targets.
        """
        _, rates = jax.jvp(lambda n, t: lengths_and_angles(system, n, t), (nodes, tips), (vn, vt))
        _, (goal_length, goal_turn) = jax.jvp(
            lambda g: (jnp.hypot(*g.T), angle(g.T)), (goal,), (goal_rate,)
        )
        links, bends, lengths, turns = rates
        body, leg = system.body, system.leg
        pairs = ((body.axial_damping, links), (body.bending_damping, bends))
        pairs += (
            (leg.length_damping, lengths - goal_length),
            (leg.angle_damping, turns - goal_turn),
        )
        return 0.5 * sum(c * jnp.sum(r**2) for c, r in pairs)

    dampers = jax.grad(lambda vn, vt: -heat(vn, vt), argnums=(0, 1))(*speeds)
    moments = loads.moments[1:-1]  # those of the ends act on nothing
    asked = jax.grad(lambda n: -jnp.sum(moments * lengths_and_angles(system, n, tips)[1]))(nodes)
    ours_nodes = jnp.stack(
        [a + b for a, b in zip(loads.chain.force, loads.drive.on_nodes, strict=True)], axis=1
    )
    # Forces are of some 100 N, sums of a dozen terms, each through an arctangent of size 1: 1e-16 x
    # 100 x 100.
    np.testing.assert_allclose(ours_nodes, springs[0] + dampers[0] + asked, rtol=0, atol=1e-11)
    np.testing.assert_allclose(
        jnp.stack(loads.drive.on_tips, axis=1), springs[1] + dampers[1], rtol=0, atol=1e-11
    )
    # There was something to get wrong.
    assert np.abs(moments).max() > 0.02 and np.abs(ours_nodes).max() > 10
    np.testing.assert_allclose(
        loads.chain.energy + loads.drive.energy, potential(system, nodes, tips, goal), rtol=1e-12
    )
    np.testing.assert_allclose(loads.chain.loss + loads.drive.loss, 2 * heat(*speeds), rtol=1e-12)


@pytest.mark.parametrize("missing", [(), (0.0, 3.0, 4.0)])
def test_inner_forces_have_neither_sum_nor_moment(missing):
    system = centipede(missing_legs=missing)
    x, _ = shaken(system, 4)
    loads = all_loads(system, x)
    forces = [
        (x.nodes, loads.chain.force),
        (x.nodes, loads.drive.on_nodes),
        (x.tips, loads.drive.on_tips),
    ]
    size = max(float(jnp.max(jnp.abs(f.x))) for _, f in forces)
    moment = sum(jnp.sum(p.x * f.z - p.z * f.x) for p, f in forces)
    for total in (
        sum(jnp.sum(f.x) for _, f in forces),
        sum(jnp.sum(f.z) for _, f in forces),
        moment,
    ):
        assert abs(float(total)) < 1e-13 * size * 100  # some 100 terms, each rounded
    assert size > 10


def test_momentum_of_a_walker_in_empty_space_is_that_of_the_physics_page_and_stays():
    """Section 6: no gravity, no ground, legs driven for 2 s."""
    system = dataclasses.replace(
        centipede(contact=ViscoelasticContact(stiffness=1e-300, damping=0.0)), gravity=0.0
    )
    x, m = system.Start().state(system)
    i = np.arange(12)
    x = dataclasses.replace(
        x, nodes=dataclasses.replace(x.nodes, vx=0.05 * np.cos(i), vz=0.05 * np.sin(2 * i))
    )
    before = momentum(system, x)
    # As many digits as given.
    np.testing.assert_allclose(before[:2], (-0.002065110, 0.003188272), rtol=0, atol=5e-10)
    assert before[2] == pytest.approx(-0.000766635414, abs=5e-13)
    end = march(system, HybridState(x, m), 2.0).end.x
    # 20 000 steps; each rounds momenta of 1e-3 by 1e-19, of either sign: 1e-17 as a walk, 1e-15 at
    # worst. Issue: 1e-13.
    np.testing.assert_allclose(momentum(system, end), before, rtol=0, atol=1e-13)
    assert np.ptp(end.nodes.z) > 0.005  # it moved meanwhile


# --- energy ---------------------------------------------------------------------------------------


def power_gap(system, state):
    """|d(stores)/dt - sum of powers| and the power flowing, along the flow."""
    x, m = state

    @jax.jit
    def gap(x, m):
        rates = system.flow(0.0, x, m)
        _, change = jax.jvp(
            lambda x: sum(jax.tree.leaves(system.stores(0.0, x, m))), (x,), (rates.x,)
        )
        powers = jnp.stack(jax.tree.leaves(rates.power))
        return change - jnp.sum(powers), jnp.sum(jnp.abs(powers)), rates.power

    return gap(x, m)


def combinations():
    """Every law of contact, every friction and every ground at least twice, each time with
    others.
    """
    robot = type(centipede())
    slots = slot_types(robot)
    contacts, frictions, grounds = (
        list(kinds_for(slots[slot], robot)) for slot in ("contact", "friction", "terrain")
    )
    for i, ground in enumerate(grounds):
        yield contacts[i % len(contacts)], frictions[i % len(frictions)], ground
        yield contacts[(i + 1) % len(contacts)], frictions[(i + 2) % len(frictions)], ground


@pytest.mark.parametrize(("contact", "friction", "ground"), list(combinations()))
def test_any_ground_any_law_and_any_friction_keep_the_books_at_every_instant(
    contact, friction, ground
):
    ground = {
        "gap": Gap(gap_start=0.02, blend=0.001),
        "gaps": Gaps(starts=(0.03, 0.2), widths=(0.1, 0.1)),
    }.get(ground, PARTS[ground]())
    parts = {"contact": PARTS[contact](), "friction": PARTS[friction](), "terrain": ground}
    system = centipede(body=SegmentChain(segments=5), **parts)
    states = [shaken(system, seed) for seed in range(4)]
    if ground.gaps():  # in the last one tip 0 is 2 mm inside the near wall and tip 1 in its corner
        deep, (edge, _) = states[-1], ground.gaps()[0]
        x = deep.x.tips.x.at[0].set(edge - 0.002).at[1].set(edge - 0.0032)
        moved = dataclasses.replace(
            deep.x.tips, x=x, z=deep.x.tips.z.at[0].set(-0.006).at[1].set(-0.003)
        )
        states[-1] = HybridState(dataclasses.replace(deep.x, tips=moved), deep.m)
    for state in states:
        gap, flowing, power = power_gap(system, state)
        assert abs(gap) < 1e-12 * flowing and flowing > 1.0  # sums of some hundred terms
        losses = (power.leg_damping, power.body_damping, power.contact, power.friction)
        assert max(map(float, losses)) <= 1e-12
    assert float(jnp.abs(power.contact)) > 0
    if ground.gaps():
        assert abs(float(system.outputs(0.0, *states[-1]).tip.fx[0])) > 0.1 and (
            abs(float(power.corner)) > 0
        ) == (ground.blend > 0)


@pytest.mark.parametrize("kind", ["cubic", "hunt-crossley", "bristle"])
def test_it_walks_with_laws_of_other_robots_too(kind):
    """Other laws with parameters that suit 1.4 kg, not 60 g; half an hour of tuning would make each
    a good ground.
    """
    given = {
        "cubic": {"contact": PARTS["cubic"](stiffness=4e9, damping=1.0)},
        "hunt-crossley": {"contact": PARTS["hunt-crossley"](stiffness=1.5e5, damping=1.0)},
        "bristle": {
            "friction": PARTS["bristle"](
                static_coefficient=0.8, kinetic_coefficient=0.7, nominal_load=2.0
            )
        },
    }[kind]
    system = centipede(**given)
    run = march(system, system.Start().state(system), 4.0, step=5e-5, settle=2.0)
    assert run.columns["outcome"][0] == Outcome.reached_end
    # Near 4 A f, whatever the ground.
    assert run.columns["mean_speed"][0] == pytest.approx(0.06, rel=0.1)
    # A method of order 1 at 20 000 steps a second.
    assert abs(run.columns["relative_residual"][0]) < 5e-3


@pytest.mark.parametrize(
    "settings",
    [
        ["terrain=steps", "terrain.edges=[0.03, 0.12]", "terrain.heights=[0.004, -0.004]"],
        pytest.param(
            [
                "terrain=profile",
                "terrain.places=[0.02, 0.08, 0.14]",
                "terrain.heights=[0.0, 0.006, 0.0]",
            ],
            marks=pytest.mark.slow,
        ),
    ],
    ids=["steps", "profile"],
)
def test_it_walks_over_steps_and_sampled_ground(settings):
    experiment = load("centipede", ["body.segments=6", *settings], duration=2.5)
    plan = dataclasses.replace(experiment.plan, fixed=FixedSteps(5e-5, "semi-implicit-euler"))
    run = simulate(experiment.system, experiment.start, plan)
    assert run.outcome is Outcome.reached_end and np.ptp(run["travel.distance"]) > 0.1
    assert run.ledger.relative_residual < 5e-3  # a method of order 1 at 20 000 steps a second
    terrain, heads = experiment.system.terrain, []
    for i in range(6):
        x, z = run[f"tip.x.{i}"], run[f"tip.z.{i}"]
        faces = terrain.faces(x, z, 0.0 * x, 0.0 * x)
        deep = np.max([np.where(face.share > 0, face.depth, 0.0) for face in faces], axis=0)
        # Six legs carry 0.84 kg, two at least at a time: 4 N on 5000 N/m is 0.8 mm; a leg that
        # lands has as much again.
        assert np.max(deep) < 0.003, i
        heads.append(np.max(terrain.height(x)[deep > 0]))
    assert max(heads) > 0.003  # it did stand up there


def test_a_run_of_the_event_engine_closes_its_ledger_and_the_step_engine_comes_to_the_same_end():
    experiment = load("centipede", ["body.segments=6"], duration=1.0)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.ledger.relative_residual < 1e-6  # the scenario asks for 1e-6 a step
    ends, residuals = [], []
    for step in (1e-4, 5e-5, 2.5e-5):
        stepped = march(experiment.system, experiment.start, 1.0, step=step)
        ends.append(stepped.end.x.nodes.x[:, 0])
        residuals.append(abs(float(stepped.columns["relative_residual"][0])))
    exact = np.array([run[f"nodes.x.{i}"][-1] for i in range(6)])
    errors = [float(np.max(np.abs(end - exact))) for end in ends]
    # Order 1 (touch-downs with a damper make each single run a little uneven): halving the step
    # about halves the error.
    assert errors[0] < 2e-4 and errors[2] < 0.4 * errors[0], errors
    assert residuals[2] < 0.5 * residuals[0], residuals
    fourth = march(experiment.system, experiment.start, 1.0, method="rk4").end.x.nodes.x[:, 0]
    assert np.max(np.abs(fourth - exact)) < 0.1 * errors[0]


def test_the_walker_and_its_gap_keep_the_contract_of_a_hybrid_system():
    system = centipede(body=SegmentChain(segments=4), terrain=Gap(), missing_legs=(2.0,))
    assert check_system(system, system.Start().state(system)).ok


# --- control --------------------------------------------------------------------------------------


def test_the_target_goes_round_without_a_break_and_its_rates_are_its_slopes():
    gait = WaveGait()
    phase = jnp.linspace(0.0, 4 * np.pi, 4001)
    at = gait.target(phase, jnp.zeros_like(phase))
    assert np.max(np.abs(np.diff(at.x))) < 1.01 * 0.015 * (phase[1] - phase[0])  # no jump
    inside = np.abs((np.asarray(phase) % np.pi) - np.pi / 2) < 1.5
    for value, slope in ((0, at.dx), (1, at.dz)):
        made = jax.vmap(jax.grad(lambda p, v=value: gait.target(p, 0.0)[v]))(phase)
        np.testing.assert_allclose(np.asarray(made)[inside], np.asarray(slope)[inside], atol=1e-15)
    high = gait.target(phase, jnp.full_like(phase, 0.06))  # drawn up as far as it goes
    assert np.all(high.z == -0.004) and not np.any(high.dz) and not np.any(high.dz_lift)
    # Ideal speed 4 A f: in stance, half a cycle, a tip goes back by 2 A.
    stance = (np.asarray(phase) % (2 * np.pi)) > np.pi + 1e-9
    np.testing.assert_allclose(np.asarray(at.dx)[stance], -2 * 0.015 / np.pi, rtol=1e-14)


def test_neighbours_pull_by_the_sines_of_their_differences():
    law, gait = ReflexControl(coupling=3.0, load_feedback=2.0), WaveGait(lag=0.7)
    phase, load = (
        np.random.default_rng(0).uniform(0, 6, 7),
        np.random.default_rng(1).normal(0, 2, 7),
    )
    found = law.phase_rate(gait, jnp.asarray(phase), jnp.zeros(7), jnp.asarray(load))
    for i in range(7):
        wanted = 2 * np.pi - 2.0 * max(load[i], 0) * np.cos(phase[i])
        wanted += 3.0 * np.sin(phase[i - 1] - phase[i] - 0.7) if i > 0 else 0.0
        wanted += 3.0 * np.sin(phase[i + 1] - phase[i] + 0.7) if i < 6 else 0.0
        assert float(found[i]) == pytest.approx(wanted, abs=1e-13)
    wave = jnp.asarray(1.0 - 0.7 * np.arange(7))
    # The wave is at rest.
    assert (
        float(jnp.max(jnp.abs(law.phase_rate(gait, wave, wave * 0, wave * 0) - 2 * np.pi))) < 1e-14
    )
    assert order_parameter(wave, 0.7) == pytest.approx(1.0, abs=1e-15)


def test_the_lift_reflex_draws_up_holds_and_lets_down():
    law = ReflexControl()
    # Blocked; carrying; touched too lightly; pushed down; carrying while it pushes forward; hardly
    # touched; pushed forward by a wall.
    fx, fz = (
        jnp.asarray([-1.0, -1.0, -0.2, -1.0, 0.5, 0.0, 1.0]),
        jnp.asarray([0.5, 2.0, 0.0, -1.5, 2.0, 0.1, 0.5]),
    )
    lift = jnp.full(7, 0.02)
    np.testing.assert_array_equal(
        law.lift_rate(lift, fx, fz), [0.10, -0.03, 0.0, 0.0, -0.03, 0.0, 0.0]
    )
    assert law.lift_rate(
        jnp.asarray([0.045, 0.0]), fx[jnp.array([0, 4])], fz[jnp.array([0, 4])]
    ).tolist() == [0.0, 0.0]
    phase = jnp.asarray([2.0, 1.0, 4.0])
    held = law.phase_rate(WaveGait(), phase, jnp.full(3, -1.0), jnp.zeros(3))
    # Only in the second half of swing.
    assert held[0] == 0.0 and held[1] == held[2] == pytest.approx(2 * np.pi)
    off = ReflexControl(reflexes=["cantilever"])
    assert (
        not np.any(off.lift_rate(lift, fx, fz))
        and float(off.phase_rate(WaveGait(), phase, fx[:3], fz[:3])[0]) > 6
    )


def test_the_cantilever_reflex_asks_for_the_moment_of_a_straight_level_beam():
    """Three unsupported segments in front.

    Moments of their weights about each joint behind, w l (1), w l (1 + 2), w l (1 + 2 + 3).
    """
    law, weight, spacing = ReflexControl(most_moment=100.0), 1.2, 0.05
    held = law.moments(jnp.asarray([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]), [weight] * 6, spacing)
    np.testing.assert_allclose(held, weight * spacing * np.array([0, 1, 3, 6, 0, 0]), atol=1e-15)
    capped = ReflexControl(most_moment=0.1).moments(
        jnp.asarray([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]), [weight] * 6, spacing
    )
    np.testing.assert_allclose(capped, np.minimum(held, 0.1), atol=1e-15)


def test_a_flag_is_raised_in_stance_without_load_cleared_by_load_and_else_kept():
    law = ReflexControl()
    stance, swing, edge = 4.7, 1.0, np.pi + 0.2
    for phase, weight, before, after in (
        (stance, 0.0, 0.0, 1.0), (stance, 0.05, 0.0, 1.0), (stance, 0.2, 1.0, 0.0), (swing, 0.2, 1.0, 0.0), (swing, 0.0, 1.0, 1.0),
        (swing, 0.0, 0.0, 0.0), (edge, 0.0, 0.0, 0.0), (edge, 0.0, 1.0, 1.0),
    ):  # fmt: skip
        assert (
            float(law.missing(jnp.asarray(before), jnp.asarray(phase), jnp.asarray(weight)))
            == after
        )
    assert (
        float(
            ReflexControl(reflexes=[]).missing(
                jnp.asarray(0.0), jnp.asarray(stance), jnp.asarray(0.0)
            )
        )
        == 0.0
    )


# --- more or fewer segments and legs --------------------------------------------------------------


@pytest.mark.parametrize(("segments", "slip"), [(4, 0.15), (30, 0.02)])
def test_a_walker_of_any_length_walks_nearly_as_fast_as_its_legs_and_a_long_one_slips_less(
    segments, slip
):
    system = centipede(body=SegmentChain(segments=segments))
    run = march(system, system.Start().state(system), 3.0, settle=1.0)
    # 4 A f; of four legs one and a third carry at a time.
    assert (1.0 - slip) * 0.06 < run.columns["mean_speed"][0] < 0.061
    assert run.columns["footfalls"][0] == 3


def test_a_walker_without_some_legs_carries_its_weight_on_the_others_and_still_walks():
    whole, cut = centipede(), centipede(missing_legs=(2.0, 6.0, 7.0))
    run = march(cut, cut.Start().state(cut), 4.0, settle=2.0, track=("load.lift",))
    assert run.columns["mean_speed"][0] == pytest.approx(0.06, rel=0.1)
    weight = float(cut.travel().weight)
    assert weight == pytest.approx(float(whole.travel().weight) - 3 * 0.02 * 9.81, rel=1e-12)
    # Over two whole cycles.
    assert run.columns["load.lift_mean"][0] == pytest.approx(weight, rel=0.005)
    # The cantilever reflex knows that a segment without a leg weighs less.
    alone = cut.controller.moments(jnp.ones(12), cut.weights(), cut.body.spacing)
    heavy = cut.controller.moments(jnp.ones(12), whole.weights(), cut.body.spacing)
    assert alone[2] == heavy[2] and float(heavy[3] - alone[3]) == pytest.approx(
        0.02 * 9.81 * 0.05, rel=1e-9
    )
    end = run.end.x
    for i in (2, 6, 7):  # what stands for a missing tip stays in its segment
        assert end.tips.x[i, 0] == pytest.approx(end.nodes.x[i, 0], abs=1e-12)


def test_uneven_ground_is_walked_over():
    random = np.random.default_rng(3)
    places = tuple(np.arange(-0.8, 1.0, 0.04).tolist())
    ground = Profile(places=places, heights=tuple(random.normal(0.0, 0.002, len(places)).tolist()))
    system = centipede(terrain=ground)
    state = system.Start().state(system)
    run = march(system, state, 4.0, settle=2.0)
    assert run.columns["outcome"][0] == Outcome.reached_end and run.columns["mean_speed"][0] > 0.045
    assert abs(run.columns["relative_residual"][0]) < 5e-3


def test_random_phases_lock_by_coupling_and_stay_as_they_are_without():
    system, state = lanes(
        "centipede",
        {"controller.coupling": [0.0, 3.0]},
        ["start.phases=random", "start.seed=1", "gait.frequency=1"],
    )
    run = march(system, state, 12.0, sample=("travel.order",), sample_every=20_000)
    order = run.samples["travel.order"]
    assert order[0, 0] == order[0, 1] < 0.6
    np.testing.assert_allclose(order[:, 0], order[0, 0], atol=1e-9)
    # The slowest mode of a chain of 12 with free ends decays at s_2 (2 - 2 cos(pi/12)) = 0.2 1/s
    # near locking.
    assert order[-1, 1] > 0.9 and np.all(np.diff(order[2:, 1]) > 0)


def test_legs_in_step_do_not_walk_and_a_batch_is_what_each_robot_does_alone():
    system, state = lanes("centipede", {"gait.lag": [0.0, 2 * np.pi / 3]})
    both = march(system, state, 2.0, settle=1.0)
    assert abs(both.columns["mean_speed"][0]) < 0.005
    one = load("centipede")
    alone = march(one.system, one.start, 2.0, settle=1.0)
    np.testing.assert_array_equal(both.end.x.nodes.x[:, 1], alone.end.x.nodes.x[:, 0])


def test_a_leg_of_other_stiffness_or_a_step_of_other_size_is_a_number_not_a_program():
    a, b = (
        centipede(leg=PolarLeg(length_stiffness=800.0)),
        centipede(controller=ReflexControl(reflexes=[])),
    )
    assert len({jax.tree.structure(s) for s in (a, b, centipede())}) == 1


# --- where it stands, falls and arrives -----------------------------------------------------------


def at(system, **places):
    """Its start with some of the segments' places changed."""
    x, m = jax.tree.map(jnp.asarray, system.Start().state(system))
    return dataclasses.replace(x, nodes=dataclasses.replace(x.nodes, **places)), m


def test_the_underside_of_a_segment_meets_the_ground():
    system = centipede()
    x, m = at(system, z=jnp.full(12, 0.008))
    # 8 mm high, 10 mm thick below.
    np.testing.assert_allclose(system.outputs(0.0, x, m).node.fz, 5000.0 * 0.002, rtol=1e-12)


def test_it_has_crossed_when_its_tail_is_past_the_last_gap_and_every_segment_is_up():
    system = centipede(terrain=Gaps(starts=(0.1, 0.3), widths=(0.05, 0.1)))
    names = [event.name for event in system.events]
    room = lambda x, m: float(system.guards(0.0, x, m)[names.index("crossed")])  # noqa: E731
    along = 0.05 * jnp.arange(12)[::-1]
    # Between the gaps: 0.2 m to go.
    assert room(*at(system, x=along + 0.2)) == pytest.approx(0.2, rel=1e-12)
    over = along + 0.41
    assert room(*at(system, x=over)) < 0
    # One hangs.
    assert room(*at(system, x=over, z=jnp.full(12, 0.05).at[5].set(0.01))) == pytest.approx(0.01)


def test_it_has_fallen_when_all_of_it_is_in_a_gap_and_not_when_the_ground_goes_down():
    wide = centipede(terrain=Gap(gap_start=0.03, gap_width=2.0))
    run = march(wide, wide.Start().state(wide), 20.0)
    assert run.columns["outcome"][0] == Outcome.fell and 1.0 < run.columns["t_end"][0] < 15.0
    downhill = centipede(terrain=PARTS["slope"](angle=0.35))
    run = march(downhill, downhill.Start().state(downhill), 6.0, settle=3.0)
    assert run.columns["outcome"][0] == Outcome.reached_end and run.columns["mean_speed"][0] > 0.055
    downhill_height = run.end.x.nodes.z - downhill.terrain.height(run.end.x.nodes.x)
    # Well below where it began, and up on its legs.
    assert run.end.x.nodes.z[0, 0] < -0.08 and np.all(downhill_height > 0.04)


def test_a_start_with_speed_moves_all_of_it():
    system = centipede(missing_legs=(4.0,))
    x, _ = type(system).Start(speed=0.2).state(system)
    mass = float(system.travel().weight) / 9.81
    np.testing.assert_allclose(momentum(system, x)[:2], (0.2 * mass, 0.0), rtol=1e-14)


def test_a_stump_in_the_ground_carries_nothing():
    """What stands for a missing tip sits in its segment.

    Even where that is in the ground, no load is seen there.
    """
    system = centipede(missing_legs=(5.0,))
    x, m = at(system, z=jnp.full(12, -0.002))
    x = dataclasses.replace(
        x,
        tips=dataclasses.replace(x.tips, z=x.nodes.z),
        legs=dataclasses.replace(x.legs, phase=jnp.full(12, 4.7)),
    )
    after = system.jump(0.0, x, m, [event.name for event in system.events].index("reflex_tick")).m
    np.testing.assert_array_equal(after.missing, np.arange(12) == 5)


@pytest.mark.parametrize("length", [0.004, 0.005])
def test_the_hip_of_a_leg_drawn_up_is_as_stiff_as_its_damper_over_tip_and_segment_says(length):
    """(walker.10): turning of a short leg moves the tip one way and its segment the other, so both
    masses count.
    """
    experiment = load("centipede-gap")
    leg, body, x = experiment.system.leg, experiment.system.body, experiment.start.x
    drawn = 5  # in the air, straight down, far above the ground
    hip_z, tip_x, tip_z = (np.array(v, float) for v in (x.nodes.z, x.tips.x, x.tips.z))
    hip_z, tip_z = hip_z + 1.0, tip_z + 1.0
    tip_x[drawn], tip_z[drawn] = x.nodes.x[drawn], hip_z[drawn] - length
    lift = np.zeros_like(tip_z)
    lift[drawn] = 0.06
    above = dataclasses.replace(
        x,
        nodes=dataclasses.replace(x.nodes, z=hip_z),
        tips=dataclasses.replace(x.tips, x=tip_x, z=tip_z),
        legs=dataclasses.replace(x.legs, lift=lift),
    )
    found, _ = spectrum(experiment.system, HybridState(above, experiment.start.m)).largest
    stiff = leg.angle_damping * (1.0 / leg.tip_mass + 1.0 / body.mass) / length**2
    # The rest of the robot is a thousandth as stiff.
    assert -found.real == pytest.approx(stiff, rel=0.005)
    alone = leg.angle_damping / leg.tip_mass / length**2
    assert -found.real > 1.15 * alone  # without the segment's recoil a fifth would be missing
