"""Laws between a foot and the ground.

What they promise to every model, and what each does to a foot.
"""

import inspect
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from footfall.hybrid.fields import ParameterError, describe
from footfall.machines.parts.contact.base import AbstractContact
from footfall.machines.parts.contact.cubic import CubicContact
from footfall.machines.parts.contact.hunt_crossley import HuntCrossleyContact
from footfall.machines.parts.contact.viscoelastic import ViscoelasticContact
from footfall.machines.parts.friction.base import AbstractDryFriction, AbstractFriction
from footfall.machines.parts.friction.bristle import BristleFriction
from footfall.machines.parts.friction.coulomb import StribeckFriction, TanhFriction
from footfall.scenario.catalog import kinds_for

#: Every law of the catalogue: a new one joins every test of the contract by being registered.
CONTACTS = list(kinds_for(AbstractContact).values())
FRICTIONS = list(kinds_for(AbstractFriction).values())
LAWS = [*CONTACTS, *FRICTIONS]
MEMORYLESS = [law for law in FRICTIONS if not law.has_memory]

LANES = 20_000
# Half the water runner, and the load on each of the two feet that stand in a trot.
MASS, LOAD = (0.03, 0.3)


def spread(draw, low, high, zeros=0.05):
    """Magnitudes over many decades, both signs, some exactly zero."""
    size = 10 ** draw.uniform(math.log10(low), math.log10(high), LANES)
    return np.where(draw.random(LANES) < zeros, 0.0, size * draw.choice([-1.0, 1.0], LANES))


def any_law(cls, draw):
    """The law with its own parameters in every lane, two decades about the defaults, inside their
    bounds.
    """
    values = {}
    for name, info in describe(cls).items():
        values[name] = getattr(cls(), name) * 10 ** draw.uniform(-1.0, 1.0, LANES)
        if info.lt is not None:
            values[name] = draw.uniform(info.ge, 0.99 * info.lt, LANES)
    if issubclass(cls, AbstractDryFriction):
        values["kinetic_coefficient"] = values["static_coefficient"] * draw.uniform(
            0.05, 1.0, LANES
        )
    return cls(**values)


def any_contact_state(draw):
    return spread(draw, 1e-7, 1e-2), spread(draw, 1e-5, 10.0)  # depth m, rate m/s


def any_friction_state(draw):
    """Speed m/s, load N, bend m: also bends far beyond what any load holds, and feet in flight."""
    return spread(draw, 1e-7, 10.0), np.abs(spread(draw, 1e-7, 30.0)), spread(draw, 1e-9, 1e-2)


def closes(*terms):
    """Terms that should sum to zero do so to rounding.

    Each is a product of fewer than 30 rounded factors.
    """
    return np.abs(sum(terms)) <= 1e-14 * sum(np.abs(term) for term in terms)


@pytest.mark.parametrize("cls", CONTACTS)
def test_work_done_on_the_ground_is_stored_or_lost(cls):
    draw = np.random.default_rng(1)
    law, (depth, rate) = any_law(cls, draw), any_contact_state(draw)
    _, stored_rate = jax.jvp(law.energy, (jnp.asarray(depth),), (jnp.asarray(rate),))
    assert np.all(closes(law.force(depth, rate) * rate, -stored_rate, -law.loss(depth, rate)))
    assert np.mean(law.force(depth, rate) > 0) > 0.3  # the draw is not all in flight


@pytest.mark.parametrize("cls", CONTACTS)
def test_ground_pushes_and_never_pulls_nor_gives_energy_and_is_not_there_above_its_surface(cls):
    draw = np.random.default_rng(2)
    law, (depth, rate) = any_law(cls, draw), any_contact_state(draw)
    force, energy, loss = law.force(depth, rate), law.energy(depth), law.loss(depth, rate)
    assert np.all(force >= 0) and np.all(energy >= 0) and np.all(loss >= 0)
    above = depth <= 0
    assert not np.any(force[above]) and not np.any(energy[above]) and not np.any(loss[above])


@pytest.mark.parametrize("cls", FRICTIONS)
def test_work_done_against_friction_is_stored_or_lost(cls):
    draw = np.random.default_rng(3)
    law, (speed, load, bend) = any_law(cls, draw), any_friction_state(draw)
    bend = bend if cls.has_memory else 0.0 * bend
    rate = law.bristle_rate(speed, load, bend)
    _, stored_rate = jax.jvp(law.energy, (jnp.asarray(bend),), (jnp.asarray(rate),))
    assert np.all(
        closes(-law.force(speed, load, bend) * speed, -stored_rate, -law.loss(speed, load, bend))
    )
    assert cls.has_memory == bool(np.any(stored_rate))


@pytest.mark.parametrize("cls", FRICTIONS)
def test_friction_never_gives_energy_is_odd_and_needs_a_load(cls):
    draw = np.random.default_rng(4)
    law, (speed, load, bend) = any_law(cls, draw), any_friction_state(draw)
    assert np.all(law.loss(speed, load, bend) >= 0)
    assert np.all(law.energy(bend) >= 0)
    # At rest a law may side with either direction, if its rate and force do not depend on which.
    moving = speed != 0
    for of in (law.force, law.bristle_rate):
        np.testing.assert_array_equal(
            of(-speed, load, -bend)[moving], -of(speed, load, bend)[moving]
        )
    assert not np.any(law.force(speed, 0.0 * load, bend))


@pytest.mark.parametrize("cls", MEMORYLESS)
def test_friction_without_memory_opposes_the_speed(cls):
    speed, load, _ = any_friction_state(np.random.default_rng(5))
    law = cls()
    assert np.all(law.force(speed, load, 0.0) * speed <= 0)
    assert not np.any(law.bristle_rate(speed, load, 0.0)) and not np.any(law.energy(0.0 * speed))


@pytest.mark.parametrize("cls", LAWS)
def test_derivatives_are_finite_where_a_law_bends(cls):
    """By every argument and every parameter, at rest, at the surface, without load, and at the edge
    of clipping.
    """
    corners = (0.0, -0.0, 1e-30, -1e-30, 1e-4, -1e-4, 1.0, -1.0)
    grids = np.meshgrid(*[corners] * (2 if cls in CONTACTS else 3), indexing="ij")
    arguments = [jnp.asarray(grid.ravel()) for grid in grids]
    if cls in FRICTIONS:
        arguments[1] = jnp.abs(arguments[1])
    law = jax.tree.map(jnp.asarray, cls())
    for name in ("force", "loss", *(["bristle_rate"] if cls in FRICTIONS else [])):
        slopes = jax.vmap(
            jax.jacfwd(lambda law, given, name=name: getattr(law, name)(*given), argnums=(0, 1)),
            (None, 0),
        )(law, tuple(arguments))
        for path, slope in jax.tree.leaves_with_path(slopes):
            assert np.all(np.isfinite(slope)), f"{name}, by {jax.tree_util.keystr(path)}"


@pytest.mark.parametrize("cls", LAWS)
def test_single_precision_stays_single(cls):
    numbers = [np.float32(value) for value in (1e-3, 0.1, 1e-4)]
    arguments = [jnp.asarray(number) for number in (numbers[:2] if cls in CONTACTS else numbers)]
    for name in ("force", "loss", *(["bristle_rate"] if cls in FRICTIONS else [])):
        assert getattr(cls(), name)(*arguments).dtype == np.float32, name


@pytest.mark.parametrize("cls", [law for law in LAWS if law.__module__.startswith("footfall.")])
def test_a_law_says_its_equation_and_has_defaults_inside_its_bounds(cls):
    assert inspect.getdoc(cls)
    assert all(
        info.allows(getattr(cls(), name)) and info.doc for name, info in describe(cls).items()
    )


def test_the_contracts_host_the_viscoelastic_ground_with_tanh_friction():
    """Rows of the contact table of shared/physics/centipede.md, section 6, given to 1e-6 N."""
    ground, friction = ViscoelasticContact(), TanhFriction()
    for sink, slide, expected in (
        (0.0, 0.05, (-3.946457, 5.0)),
        (0.1, -0.01, (2.218162, 6.0)),
        (-0.6, 0.0, (0.0, 0.0)),
    ):
        normal = ground.force(1e-3, sink)
        assert (friction.force(slide, normal, 0.0), normal) == pytest.approx(expected, abs=1e-6)


def rebound(force, impact, mass):
    """(speed of leaving, deepest point) of a free mass that meets the surface at `impact`."""

    def left(t, y):
        return y[0] if t > 0 else 1.0  # the start lies on the surface too

    left.terminal, left.direction = True, -1  # type: ignore[attr-defined]

    def deepest(t, y):
        return y[1]

    flow = jax.jit(lambda y: jnp.stack([y[1], -force(y[0], y[1]) / mass]))
    run = solve_ivp(
        lambda t, y: np.asarray(flow(y)),
        (0.0, 10.0),
        [0.0, impact],
        method="DOP853",
        rtol=1e-12,
        atol=1e-16,
        events=(left, deepest),
    )
    return -run.y_events[0][0][1], run.y_events[1][0][0]


# Shared/physics/water-runner.md, section 10.
REBOUNDS = {0.1: 0.0937476, 0.5: 0.3742175, 1.0: 0.5936243, 2.0: 0.8214394}


@pytest.mark.parametrize("impact", REBOUNDS)
def test_a_free_mass_bounces_off_cubic_ground_as_published_whatever_its_mass_and_the_stiffness(
    impact,
):
    for stiffness, mass in ((2.5e8, 0.03), (1e6, 0.03), (2.5e8, 1.0)):
        leaving, _ = rebound(CubicContact(stiffness=stiffness).force, impact, mass)
        assert leaving == pytest.approx(REBOUNDS[impact], abs=5.1e-8)  # seven digits are given


@pytest.mark.parametrize("damping", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("impact", REBOUNDS)
def test_rebound_and_depth_on_cubic_ground_obey_the_implicit_formula(impact, damping):
    law, mass = CubicContact(damping=damping), 0.03
    leaving, deepest = rebound(law.force, impact, mass)

    def share(out):
        return damping * (impact + out) - math.log((1 + damping * impact) / (1 - damping * out))

    expected = brentq(share, 1e-9, (1 - 1e-12) / damping, xtol=1e-14)
    # Some 100 steps at 1e-12, the last of them to a surface met at a slant.
    assert leaving == pytest.approx(expected, rel=1e-8)
    energy = mass * (impact / damping - math.log1p(damping * impact) / damping**2)
    # Four times the error of the depth.
    assert law.energy(deepest) == pytest.approx(energy, rel=1e-9)


def test_a_mass_of_30_grams_at_one_metre_per_second_sinks_in_by_the_published_depth():
    _, deepest = rebound(CubicContact().force, 1.0, 0.03)
    assert deepest == pytest.approx(3.483717e-3, abs=5.1e-10)  # seven digits are given


def test_what_is_pulled_out_faster_than_the_ground_follows_feels_nothing_and_leaves_its_energy_behind():
    law, depth, rate = CubicContact(), 2e-3, -3.0
    assert law.force(depth, rate) == 0.0
    # Rounding.
    assert law.loss(depth, rate) == pytest.approx(
        float(-jax.grad(law.energy)(depth) * rate), rel=1e-14
    )


def test_stribeck_friction_starts_near_the_static_coefficient_and_ends_at_the_kinetic_one():
    law = StribeckFriction(creep_speed=1e-4)
    speed = np.geomspace(1e-5, 100.0, 20_000)
    grip = -law.force(speed, 2.0, 0.0) / 2.0
    # Below mu_s by the smoothing, eps^2/2v^2, and by the fall of mu, 0.1 (v/v_s)^2; the least of
    # their sum is 6e-4.
    assert 0.4 - 1e-3 < np.max(grip) < 0.4
    assert grip[-1] == pytest.approx(0.3, rel=1e-12)  # eps^2/2v^2 = 5e-13
    assert np.argmax(grip) < np.searchsorted(speed, 0.2 * law.stribeck_speed)


def test_smoothing_at_the_default_creep_speed_costs_an_eighth_of_the_static_coefficient():
    """eps/v_s = 0.2: by the speed at which the smoothing lets go, mu has fallen.

    Known, and the reason to ask for a bristle.
    """
    speed = np.geomspace(1e-4, 1.0, 20_000)
    # Read off this grid.
    assert np.max(-StribeckFriction().force(speed, 1.0, 0.0)) == pytest.approx(0.35139, abs=1e-5)


def push(law, force, load=lambda t: LOAD, *, duration, mass=MASS):
    """Motion of a block, as a function of time:

    (travel, speed, bend). `force` and `load` are functions of time.
    """

    @jax.jit
    def flow(t, y):
        _, speed, bend = y
        rate = law.bristle_rate(speed, load(t), bend)
        return jnp.stack([speed, (force(t) + law.force(speed, load(t), bend)) / mass, rate])

    run = solve_ivp(
        lambda t, y: np.asarray(flow(t, y)),
        (0.0, duration),
        np.zeros(3),
        method="LSODA",
        rtol=1e-9,
        atol=1e-14,
        max_step=0.01,
        dense_output=True,
    )
    return run.sol


def slowly(share):
    """A push that grows to `share` of mu_s N within 0.1 s, some four periods of the stuck block."""
    return lambda t: share * 0.4 * LOAD * jnp.minimum(t / 0.1, 1.0)


@pytest.mark.parametrize(("share", "bound"), [(0.25, 1e-10), (0.45, 1e-10), (0.9, 1e-6)])
def test_a_bristle_holds_a_foot_that_is_pushed_with_less_than_the_static_limit(share, bound):
    """What is left after 1 s is ringing.

    It decays at 17 1/s, and ten times slower where the bristle has begun to yield.
    """
    motion = push(BristleFriction(), slowly(share), duration=2.0)
    travel = motion(np.linspace(1.0, 2.0, 101))[0]
    assert np.ptp(travel) < bound
    assert abs(motion(2.0)[1]) < 10 * bound
    # It has given way by the bend of the bristle, and by what yielded before it held.
    assert 0 < travel[-1] < 1e-3


@pytest.mark.parametrize("share", [0.25, 0.45, 0.8])
def test_smoothed_friction_creeps_where_a_bristle_holds_at_the_speed_that_balances_the_push(share):
    law = StribeckFriction()
    expected = brentq(
        lambda v: float(law.force(v, LOAD, 0.0)) + share * 0.4 * LOAD, 0.0, 0.02, xtol=1e-15
    )
    motion = push(law, slowly(share), duration=2.0)
    # Local errors of 1e-9, forgotten at mu N/(m eps) = 400 1/s.
    assert motion(2.0)[1] == pytest.approx(expected, rel=1e-6)
    # Millimetres, where the bristle moves by less than a millionth of that.
    assert motion(2.0)[0] - motion(1.0)[0] > 1e-3


def test_a_foot_on_a_bristle_pushed_beyond_the_limit_slides_against_the_kinetic_friction():
    force = 1.2 * 0.4 * LOAD
    motion = push(BristleFriction(), slowly(1.2), duration=1.0)
    acceleration = (motion(1.0)[1] - motion(0.8)[1]) / 0.2
    # Friction is short of mu_k N by (N0/N)^2 = 1.1e-5 of it, which is 1.1e-5 x 0.09/0.054 of the
    # rest.
    assert acceleration == pytest.approx((force - 0.3 * LOAD) / MASS, rel=2e-5)


@pytest.mark.parametrize("load", [0.1, 0.5, 3.0])
@pytest.mark.parametrize("speed", [1e-4, 0.03, -0.5])
def test_a_bristle_dragged_along_comes_to_the_friction_of_its_coefficient_and_never_exceeds_it(
    load, speed
):
    law = BristleFriction()
    reach = 0.4 * law.nominal_load / law.stiffness  # the travel at which a foot yields
    run = solve_ivp(
        jax.jit(lambda t, z: law.bristle_rate(speed, load, z)),
        (0.0, 30 * reach / abs(speed)),
        [0.0],
        method="LSODA",
        rtol=1e-10,
        atol=1e-16,
    )
    pull = -law.force(speed, load, run.y[0]) / load * np.sign(speed)
    mu = float(law.coefficient(speed))
    assert np.all(pull <= mu * (1 + 1e-8))  # from below; tolerance of the run
    # Light loads grip less, by 1.5 (N0/N)^2 = 1.5e-4 at most.
    assert pull[-1] == pytest.approx(mu, rel=1.6e-4)


def test_spring_and_damper_together_stay_inside_the_friction_cone():
    """|F| <= mu_s N for every bend that the load holds, at any speed, for any parameters."""
    draw = np.random.default_rng(6)
    law, (speed, load, _) = any_law(BristleFriction, draw), any_friction_state(draw)
    load = np.maximum(load, 1e-12)
    touch = load**2 / (load**2 + law.light_load**2)
    grip = touch * np.sqrt(np.hypot(load, law.light_load) / law.nominal_load)
    held = law.static_coefficient * law.nominal_load / law.stiffness * grip
    force = law.force(speed, load, held * draw.uniform(-1.0, 1.0, LANES))
    assert np.max(np.abs(force) / (law.static_coefficient * load)) <= 1 + 1e-12  # rounding
    # And a foot that slides stays in it: no bend at the edge grows, but for the share 1 - f of a
    # load that hardly touches.
    outwards = law.bristle_rate(speed, load, np.sign(speed) * held) * np.sign(speed)
    assert np.all(outwards <= np.abs(speed) * grip * (1 - touch + 1e-12))


def test_shaking_does_not_move_a_foot_that_is_pushed_within_the_elastic_share():
    """With no elastic share (LuGre's own form) every shake lets it slip a little.

    It wanders by millimetres in seconds.
    """

    def shaken(t):
        return slowly(0.25)(t) * (1.0 + 0.6 * jnp.sin(2 * np.pi * 40.0 * t))

    wandered = {}
    for share in (0.5, 0.0):
        motion = push(BristleFriction(elastic_share=share), shaken, duration=2.0)
        wandered[share] = motion(2.0)[0] - motion(1.0)[0]  # 40 whole periods apart
    assert abs(wandered[0.5]) < 1e-9  # ringing that is left, and the tolerance of the run
    assert wandered[0.0] > 1e-4


@pytest.mark.parametrize("speed", [0.0, 2.0, -2.0])
def test_a_bristle_straightens_in_flight_without_any_force_and_no_faster_for_a_fast_foot(speed):
    law = BristleFriction()
    bend = jnp.linspace(-5e-4, 5e-4, 11)
    assert not np.any(law.force(speed, 0.0, bend))
    # Rounding.
    np.testing.assert_allclose(
        law.bristle_rate(speed, 0.0, bend), -bend / law.fading_time, rtol=1e-14
    )
    slope = jax.vmap(jax.grad(lambda z: law.bristle_rate(speed, 0.0, z)))(bend)
    bent = bend != 0  # at exactly zero the derivative of the clip is half of that
    np.testing.assert_allclose(slope[bent], -1.0 / law.fading_time, rtol=1e-14)


def test_a_bristle_follows_the_cone_of_a_load_that_goes():
    """A foot held still at the limit while its load goes in 10 ms.

    Fading lags by t_r: the pull is over by mu_s N t_r/(2 T).
    """
    law, span = BristleFriction(), 0.01

    def load(t):
        return LOAD * (1.0 - t / span)

    bend = 0.4 * law.nominal_load / law.stiffness * math.sqrt(LOAD / law.nominal_load)
    run = solve_ivp(
        jax.jit(lambda t, z: law.bristle_rate(0.0, load(t), z)),
        (0.0, span),
        [bend],
        method="LSODA",
        rtol=1e-8,
        atol=1e-14,
    )
    pull = np.abs(law.force(0.0, load(run.t), run.y[0]))
    over = (pull - 0.4 * load(run.t)) / (0.4 * LOAD)
    assert np.max(over) <= 0.5 * law.fading_time / span
    assert pull[-1] <= 1e-12


def test_a_cycle_through_load_and_shear_takes_no_energy_out_of_a_bristle():
    """Bend it under a light load, let it pull under a heavy one.

    Where stiffness follows load alone, this would pay.
    """
    law = BristleFriction()
    phase = np.linspace(0.0, 2 * np.pi, 9)[:-1]

    @jax.jit
    @jax.vmap
    def flow(t, bend, lag):
        angle = 2 * np.pi * 20.0 * t
        speed, load = 0.01 * jnp.cos(angle), 0.3 * (1.0 + 0.95 * jnp.sin(angle + lag))
        return law.bristle_rate(speed, load, bend), -law.force(speed, load, bend) * speed

    def rates(t, y):
        rate, power = flow(np.full(8, t), y[:8], phase)
        return np.concatenate([rate, power])

    run = solve_ivp(
        rates, (0.0, 0.2), np.zeros(16), method="LSODA", rtol=1e-9, atol=1e-14, max_step=1e-3
    )
    stored = law.energy(run.y[:8, -1])
    work = run.y[8:, -1]
    # Four cycles of some 1e-6 J each are lost, whatever the phase of the load.
    assert np.all(work - stored > 1e-7)


def test_the_rates_of_a_stuck_light_foot_are_a_tenth_of_those_of_smoothed_friction():
    """The foot link of the water runner weighs 0.26 g at its tip; load 1 N.

    Stribeck's law: mu_s N/(eps m) = 1.5e5 1/s.
    """
    mass, load = 3e-7 / 0.034**2, 1.0
    fastest = {}
    for law in (BristleFriction(), StribeckFriction()):

        def flow(y, law=law):
            return jnp.stack(
                [law.force(y[0], load, y[1]) / mass, law.bristle_rate(y[0], load, y[1])]
            )

        fastest[type(law)] = np.max(np.abs(np.linalg.eigvals(jax.jacfwd(flow)(jnp.zeros(2)))))
    # Its slope at rest, to rounding.
    assert fastest[StribeckFriction] == pytest.approx(0.4 * load / (0.01 * mass), rel=1e-9)
    assert fastest[BristleFriction] < 1e4


def test_sliding_that_holds_better_than_sticking_is_refused_and_the_worst_lane_named():
    for cls in (StribeckFriction, BristleFriction):
        with pytest.raises(
            ParameterError, match=r"kinetic_coefficient = 0\.5 is above static_coefficient = 0\.4"
        ) as caught:
            cls(kinetic_coefficient=0.5)
        assert caught.value.field == "kinetic_coefficient" and caught.value.lane is None
        with pytest.raises(ParameterError) as caught:
            cls(
                static_coefficient=np.array([0.6, 0.4, 0.5]),
                kinetic_coefficient=np.array([0.5, 0.5, 0.5]),
            )
        assert caught.value.lane == 1


@pytest.mark.parametrize(
    ("cls", "bad"),
    [
        (CubicContact, {"stiffness": 0.0}),
        (CubicContact, {"damping": -1.0}),
        (StribeckFriction, {"creep_speed": 0.0}),
        (StribeckFriction, {"static_coefficient": -0.4}),
        (BristleFriction, {"elastic_share": 1.0}),
        (BristleFriction, {"light_load": 0.0}),
        (BristleFriction, {"fading_time": math.nan}),
    ],
)
def test_a_number_that_would_break_a_law_is_refused_by_name(cls, bad):
    (name,) = bad
    with pytest.raises(ParameterError, match=f"{cls.__name__}.{name}") as caught:
        cls(**bad)
    assert caught.value.field == name


# --- viscoelastic ground and smoothed Coulomb friction --------------------------------------------


@pytest.mark.parametrize(
    ("depth", "vx", "vz", "expected"),
    [  # rows of the centipede's page, section 6, that touch the top of the ground, to its 1e-6 N
        (0.001, 0.05, 0.0, (-3.946457, 5.0)),
        (0.001, -0.01, -0.1, (2.218162, 6.0)),
        (0.001, 0.0, 0.6, (0.0, 0.0)),  # leaving: no suction
        (-0.001, 0.0, -1.0, (0.0, 0.0)),  # above the floor; the printed formula gives 5
        (0.002, 0.0, 0.0, (0.0, 10.0)),
    ],
)
def test_viscoelastic_ground_gives_the_forces_of_its_page(depth, vx, vz, expected):
    normal = ViscoelasticContact().force(depth, -vz)
    assert (TanhFriction().force(vx, normal, 0.0), normal) == pytest.approx(
        expected, rel=0, abs=1e-6
    )


def test_without_a_condition_on_depth_the_printed_normal_force_acts_above_the_ground():
    def printed(z, vz):
        return max(-5000.0 * z - 10.0 * vz, 0.0)

    assert printed(0.001, -1.0) == 5.0 and ViscoelasticContact().force(-0.001, 1.0) == 0.0


def slowed(speed, slope, mass, time, steps=20000):
    """A block under tanh friction on a slope, by classical Runge-Kutta."""
    law, weight = TanhFriction(), mass * 9.81

    def pull(v):
        return (weight * np.sin(slope) + float(law.force(v, weight * np.cos(slope), 0.0))) / mass

    h = time / steps
    for _ in range(steps):
        k1 = pull(speed)
        k2 = pull(speed + 0.5 * h * k1)
        k3 = pull(speed + 0.5 * h * k2)
        speed += h / 6 * (k1 + 2 * k2 + 2 * k3 + pull(speed + h * k3))
    return speed


def test_a_block_slows_down_and_creeps_as_the_closed_forms_say():
    """sinh(c v) = sinh(c v0) exp(-mu g c t) on the level; v = artanh(tan a/mu)/c at last on a slope
    of angle a.
    """
    exact = np.arcsinh(np.sinh(50 * 0.3) * np.exp(-0.8 * 9.81 * 50 * 0.04)) / 50
    assert exact == pytest.approx(0.0049355, abs=5e-8)  # as printed
    # 4e-2 a step of the fastest rate, to the fourth.
    assert slowed(0.3, 0.0, 0.1, 0.04, steps=400) == pytest.approx(exact, abs=1e-7)
    creep = np.arctanh(np.tan(np.radians(20)) / 0.8) / 50
    assert creep == pytest.approx(0.0098188, abs=5e-8)
    assert slowed(0.0, np.radians(20), 0.1, 0.2, steps=2000) == pytest.approx(creep, abs=1e-9)


def test_a_mass_bounces_on_hunt_and_crossleys_law_as_on_any_law_of_its_kind():
    """c (v_i + v_o) = ln[(1 + c v_i)/(1 - c v_o)], whatever the spring."""
    for impact in (0.1, 1.0):
        leaving, _ = rebound(HuntCrossleyContact(stiffness=1e5).force, impact, 0.03)
        assert impact + leaving == pytest.approx(np.log((1 + impact) / (1 - leaving)), rel=1e-6)
