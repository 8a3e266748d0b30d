"""Linkages move as equations written by hand say, and as Lagrange's and the KKT equations do."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import fsolve

import footfall as ff
import footfall.authoring as fa
from footfall.machines.linkage.check_linkage import LinkageError
from footfall.machines.rimless_wheel.states import TorsoWheelState
from footfall.scenario.files import classics

#: Sums of a few dozen terms of size one to a hundred, and a solve of condition below 1e3.
ROUNDING = 1e-12


def compass(**numbers):
    robot = ff.load(classics()["compass-gait"].with_suffix(".toml"), trust=True).system
    return type(robot)(**numbers)


def states(names, count, seed=0):
    random = np.random.default_rng(seed)
    return [
        dict(zip(names, random.normal(size=len(names)).tolist(), strict=True)) for _ in range(count)
    ]


# --- against equations written by hand ------------------------------------------------------------


def by_goswami(robot, x):
    """M, accelerations and rates after a heelstrike (Goswami et al. 1998), by hand.

    The impact keeps the angular momentum about the new foot, and that of the leg that leaves the
    ground about the hip.
    """
    m, h, a, b, g = robot.leg_mass, robot.hip_mass, robot.below, robot.above, robot.gravity
    l, apart = a + b, x["stance"] - x["swing"]
    both = -m * l * b * math.cos(apart)
    mass = np.array([[m * a**2 + (h + m) * l**2, both], [both, m * b**2]])
    s = m * l * b * math.sin(apart)
    right = [
        s * x["swing_rate"] ** 2 + (m * a + (h + m) * l) * g * math.sin(x["stance"]),
        -s * x["stance_rate"] ** 2 - m * b * g * math.sin(x["swing"]),
    ]
    hub = (h * l + 2 * m * a) * l * math.cos(apart)
    kept = [
        hub * x["stance_rate"] - m * a * b * x["swing_rate"],
        -m * a * b * x["stance_rate"],
    ]
    return mass, np.linalg.solve(mass, right), np.linalg.solve(mass, kept)


def test_a_compass_gait_has_the_equations_of_its_paper():
    robot = compass(leg_mass=4.0, hip_mass=9.0, below=0.4, above=0.7)
    for given in states(("stance", "swing", "stance_rate", "swing_rate"), 5):
        x, m = robot.standing(foothold=0.3, **given)
        mass, accelerations, after = by_goswami(robot, given)
        assert np.array(robot.mass_matrix(x)) == pytest.approx(mass, abs=ROUNDING)
        assert np.array(robot.accelerations(0.0, x, m)) == pytest.approx(accelerations, rel=1e-11)
        jump = robot.jump(0.0, x, m, 0)
        found = [jump.x.stance, jump.x.swing, jump.x.stance_rate, jump.x.swing_rate]
        # In the new names: the leg that lands stands.
        assert found == pytest.approx([given["swing"], given["stance"], *after], abs=ROUNDING)
        ahead = 1.1 * (math.sin(given["stance"]) - math.sin(given["swing"]))
        assert jump.m.foothold == pytest.approx(0.3 + ahead, abs=ROUNDING)
        lost = robot.stores(0.0, jump.x, jump.m).kinetic - robot.stores(0.0, x, m).kinetic
        assert jump.work.heelstrike == pytest.approx(float(lost), abs=1e-11)


def test_a_compass_gait_with_light_feet_is_the_simplest_walker():
    """Garcia et al. 1998, equations 1 to 5, in which feet weigh b -> 0: b = 1e-13 is left of it."""
    robot = compass(leg_mass=1e-13, hip_mass=1.0, below=1e-9, above=1.0 - 1e-9, gravity=1.0)
    for given in states(("stance", "swing", "stance_rate", "swing_rate"), 3, seed=1):
        x, m = robot.standing(**given)
        turn, swing = robot.accelerations(0.0, x, m)
        # Theirs are counter-clockwise: theta = -stance (on level ground), phi = swing - stance.
        theta, phi, rate = -given["stance"], given["swing"] - given["stance"], -given["stance_rate"]
        theta_dd = math.sin(theta)
        phi_dd = theta_dd + math.sin(phi) * (rate**2 - math.cos(theta))
        assert [-turn, swing - turn] == pytest.approx([theta_dd, phi_dd], abs=1e-8)  # of `below`
        after = robot.jump(0.0, x, m, 0).x
        c = math.cos(phi)
        assert -after.stance_rate == pytest.approx(c * rate, abs=1e-8)
    heel = {"stance": 0.2, "swing": -0.2, "stance_rate": 0.3, "swing_rate": -0.1}
    after = robot.jump(0.0, *robot.standing(**heel), 0).x
    c = math.cos(0.4)  # phi'+ = c (1 - c) theta'
    assert after.swing_rate - after.stance_rate == pytest.approx(-c * (1 - c) * 0.3, abs=1e-8)


class Torso(fa.LinkageRobot):
    """The rimless wheel with a torso, as a linkage: one springy spoke, without the next."""

    wheel: fa.HybridSystem

    def linkage(self):
        wheel = self.wheel
        return fa.Linkage(
            rods=(
                fa.Rod("spoke", "foot", "hub", None),
                fa.Rod(
                    "torso", "end", "hub", wheel.torso.com_distance, wheel.torso.mass, 0.0,
                    wheel.torso.inertia,
                ),
            ),
            masses=(fa.Mass("hub", wheel.wheel_mass, wheel.wheel_inertia, "spoke"),),
            springs=(fa.Spring("leg", "spoke", None, wheel.leg.stiffness, wheel.leg.rest_length),),
            dampers=(fa.Damper("shock", "spoke", None, wheel.leg.damping),),
            motors=(fa.Motor("drive", "torso", "spoke"),),
            stands_on="foot",
            body="hub",
            gravity=wheel.gravity,
        )  # fmt: skip

    def torques(self, t, x, m):
        return {"drive": 1.7}


def test_a_springy_spoke_with_a_torso_is_the_rimless_wheel():
    """Mass matrix, accelerations and ports of the shipped robot, whose angles are -lean."""
    wheel = ff.load(
        "rimless-wheel", {"robot.wheel_inertia": 0.04, "robot.leg.damping": 30.0}
    ).system
    robot = Torso(wheel)
    names = ("spoke", "torso", "spoke_length", "spoke_rate", "torso_rate", "spoke_speed")
    for given in states(names, 4, seed=2):
        given["spoke_length"] = 0.2 + 0.02 * given["spoke_length"]
        x, m = robot.standing(**given)
        theirs = _wheel_state(given)
        s, c = (
            math.sin(theirs.spoke_angle - theirs.torso_angle),
            math.cos(theirs.spoke_angle - theirs.torso_angle),
        )
        l_first = np.array(wheel.mass_matrix(theirs.spoke_length, s, c), float)
        # Theirs: (l, theta, phi); ours: (spoke, torso, length), with angles of the other sign.
        turn = np.array([[0, -1, 0], [0, 0, -1], [1, 0, 0]])
        assert np.array(robot.mass_matrix(x), float) == pytest.approx(
            turn @ l_first @ turn.T, abs=ROUNDING
        )
        # Torque on the torso is positive counter-clockwise there, leaning forward here.
        theta, phi, length = wheel.accelerations(theirs, -1.7)
        found = robot.accelerations(0.0, x, m)
        assert np.array(found) == pytest.approx([-theta, -phi, length], rel=1e-10)
        power = robot.flow(0.0, x, m).power
        assert power.shock == pytest.approx(-wheel.leg.loss(0.2, given["spoke_speed"]), rel=1e-12)
        assert power.drive == pytest.approx(1.7 * (given["torso_rate"] - given["spoke_rate"]))


def _wheel_state(given):
    return TorsoWheelState(
        spoke_angle=-given["spoke"],
        torso_angle=-given["torso"],
        spoke_length=given["spoke_length"],
        spoke_rate=-given["spoke_rate"],
        torso_rate=-given["torso_rate"],
        spoke_speed=given["spoke_speed"],
        pitch_integral=0.0,
    )


class Spokes(fa.LinkageRobot):
    """The rigid rimless wheel: two spokes of it, welded."""

    wheel: fa.HybridSystem

    def linkage(self):
        wheel, length = self.wheel, self.wheel.leg.length
        spacing = wheel.spoke_spacing
        return fa.Linkage(
            rods=(
                fa.Rod("spoke", "foot", "hub", length),
                fa.Rod("next", "toe", "hub", length, welded="spoke", turned=-spacing),
            ),
            masses=(fa.Mass("hub", wheel.mass, wheel.inertia, "spoke"),),
            landings=(fa.Landing("touchdown", "toe", (("spoke", "next"),)),),
            stands_on="foot",
            body="hub",
            ground=wheel.terrain,
            gravity=wheel.gravity,
        )


def test_welded_spokes_are_the_passive_wheel():
    """Acceleration, guard, impact and force of the shipped robot, whose frame is along the slope."""
    wheel = ff.load("passive-wheel", {"robot.inertia": 0.05}).system
    robot, slope = Spokes(wheel), wheel.terrain.angle
    for lean, rate in ((-0.1, 1.2), (0.25, 2.0)):
        x, m = robot.standing(spoke=lean, spoke_rate=rate)
        theirs = type(ff.load("passive-wheel").start.x)(spoke_angle=slope - lean, spoke_rate=-rate)
        stance = type(ff.load("passive-wheel").start.m)(0.0, np.int32(0), np.int32(1))
        (found,) = robot.accelerations(0.0, x, m)
        assert found == pytest.approx(-wheel.acceleration(theirs.spoke_angle), rel=ROUNDING)
        assert robot.guards(0.0, x, m)[0] * math.cos(slope) == pytest.approx(
            float(wheel.guards(0.0, theirs, stance)[0]), abs=ROUNDING
        )
        ours, other = robot.jump(0.0, x, m, 0), wheel.jump(0.0, theirs, stance, 0)
        assert ours.x.spoke_rate == pytest.approx(-float(other.x.spoke_rate), abs=ROUNDING)
        assert ours.x.spoke == pytest.approx(slope - float(other.x.spoke_angle), abs=ROUNDING)
        assert ours.work.touchdown == pytest.approx(float(other.work.impact), abs=ROUNDING)
        assert robot.outputs(0.0, x, m).foot.push == pytest.approx(
            float(wheel.ground_force(theirs)[1]), rel=ROUNDING
        )


# --- against Lagrange and KKT ---------------------------------------------------------------------


class Zigzag(fa.LinkageRobot):
    """Four rods, one of which slides, one welded, with every kind of piece."""

    def linkage(self):
        return fa.Linkage(
            rods=(
                fa.Rod("leg", "foot", "knee", None, mass=0.7, centre=0.2, inertia=0.01),
                fa.Rod("thigh", "knee", "hip", 0.5, mass=1.1, centre=0.3, inertia=0.02),
                fa.Rod("horn", "hip", "tail", 0.3, mass=0.4, welded="thigh", turned=0.8),
                fa.Rod("swing", "tip", "hip", 0.9, mass=0.6, inertia=0.03),
            ),
            masses=(fa.Mass("hip", 3.0, 0.05, "swing"), fa.Mass("tail", 0.2)),
            springs=(
                fa.Spring("along", "leg", None, 900.0, 0.6),
                fa.Spring("hinge", "swing", "thigh", 12.0, 0.4),
            ),
            landings=(fa.Landing("strike", "tip", ()),),
            stands_on="foot",
            body="hip",
        )

    def require_together(self):
        """Nobody renames anything here: what lands is another foot."""


NAMES = ("leg", "thigh", "swing", "leg_length")
RATES = ("leg_rate", "thigh_rate", "swing_rate", "leg_speed")
MASSES = np.repeat([0.7, 1.1, 0.4, 0.6, 3.0, 0.2], 2)


def points(q):
    """Places of the six masses, then of foot and tip, by hand: q = leg, thigh, swing, length, x, z."""
    leg, thigh, swing, length, x, z = q

    def up(angle):
        return jnp.array([jnp.sin(angle), jnp.cos(angle)])

    foot = jnp.array([x, z])
    knee = foot + length * up(leg)
    hip = knee + 0.5 * up(thigh)
    tail = hip + 0.3 * up(thigh + 0.8)
    tip = hip - 0.9 * up(swing)
    inner = (foot + 0.2 * up(leg), knee + 0.3 * up(thigh), 0.5 * (hip + tail), 0.5 * (hip + tip))
    return jnp.concatenate([*inner, hip, tail]), jnp.concatenate([foot, tip])


SPINS = np.array([0.01, 0.02, 0.03 + 0.05, 0.0, 0.0, 0.0])


def kinetic_by_hand(q, v):
    w = jax.jvp(lambda q: points(q)[0], (q,), (v,))[1]
    return 0.5 * jnp.sum(MASSES * w * w) + 0.5 * jnp.sum(SPINS * v * v)


def potential_by_hand(q):
    weight = 9.81 * jnp.sum(MASSES[1::2] * points(q)[0][1::2])
    return weight + 450.0 * (q[3] - 0.6) ** 2 + 6.0 * (q[2] - q[1] - 0.4) ** 2


@pytest.fixture(scope="module")
def lagrange():
    """(accelerations, rates after the tip lands) by Lagrange's equations and a dense KKT solve."""

    @jax.jit
    def go(q, v):
        mass = jax.hessian(kinetic_by_hand, 1)(q, v)
        drift = jax.jvp(lambda q: jax.grad(kinetic_by_hand, 1)(q, v), (q,), (v,))[1]
        right = jax.grad(kinetic_by_hand)(q, v) - jax.grad(potential_by_hand)(q) - drift
        feet = jax.jacobian(lambda q: points(q)[1])(q)

        def kkt(rows, top):
            none = jnp.zeros((2, 2))
            whole = jnp.block([[mass, -rows.T], [rows, none]])
            return jnp.linalg.solve(whole, jnp.concatenate([top, jnp.zeros(2)]))

        # The foot's coordinates are its place: held, they do not accelerate.
        return kkt(feet[:2], right), kkt(feet[2:], mass @ v), kinetic_by_hand(q, v), mass

    return go


def test_a_linkage_moves_by_lagranges_equations_and_lands_by_kkt(lagrange):
    robot = Zigzag()
    for given in states((*NAMES, *RATES), 4, seed=3):
        given["leg_length"] = 0.6 + 0.05 * given["leg_length"]
        x, m = robot.standing(**given)
        q = np.array([*(given[name] for name in NAMES), 0.0, 0.0])
        v = np.array([*(given[name] for name in RATES), 0.0, 0.0])
        moved, landed, energy, mass = lagrange(q, v)
        found = np.array(robot.accelerations(0.0, x, m))
        assert found == pytest.approx(np.asarray(moved[:4]), rel=1e-10, abs=1e-9)
        assert np.array(robot.mass_matrix(x)) == pytest.approx(
            np.asarray(mass[:4, :4]), abs=ROUNDING
        )
        foot = robot.outputs(0.0, x, m).foot
        assert [foot.fx, foot.fz] == pytest.approx(np.asarray(moved[6:]), rel=1e-10, abs=1e-9)
        jump = robot.jump(0.0, x, m, 0)
        after = [getattr(jump.x, name) for name in RATES]
        assert after == pytest.approx(np.asarray(landed[:4]), rel=1e-10, abs=1e-10)
        w = np.asarray(landed[:6])
        lost = float(energy) - 0.5 * w @ np.asarray(mass) @ w
        assert jump.work.strike == pytest.approx(-lost, rel=1e-10)


# --- what is held ---------------------------------------------------------------------------------


class FourBar(fa.LinkageRobot):
    """A leg that is a loop of four rods, none like another."""

    def linkage(self):
        return fa.Linkage(
            rods=(
                fa.Rod("base", "foot", "pin", 0.6, mass=2.0, inertia=0.1),
                fa.Rod("left", "foot", "one", 0.4, mass=1.0),
                fa.Rod("bar", "one", "two", 0.5, mass=3.0),
                fa.Rod("right", "pin", "two", 0.45, mass=1.0),
            ),
            stands_on="foot",
            body="two",
        )


LENGTHS = np.array([-0.6, 0.4, 0.5, -0.45])  # base, left, bar, right: left + bar - base - right


def _still(value):
    value = np.asarray(value)
    return np.zeros(value.shape, value.dtype if value.dtype.kind == "f" else jax.dtypes.float0)


def closure(q):
    return jnp.stack([LENGTHS @ jnp.sin(q), LENGTHS @ jnp.cos(q)])


def test_a_loop_stays_closed_and_gives_no_energy():
    """Its gap has no second derivative along the flow, and its forces do no work in any motion.

    Two motions are left to it; forces without power in both are across all of them.
    """
    robot, first = FourBar(), np.array([1.3, 0.2])
    q = np.array([*first, *fsolve(lambda rest: closure(jnp.array([*first, *rest])), [1.4, 0.4])])
    _, _, free = np.linalg.svd(np.asarray(jax.jacfwd(closure)(q)))
    for v in (*free[2:], free[2] - 2.0 * free[3]):
        names = ("base", "left", "bar", "right")
        rates = {f"{name}_rate": float(rate) for name, rate in zip(names, v, strict=True)}
        x, m = robot.standing(**dict(zip(names, map(float, q), strict=True)), **rates)
        flow = robot.flow(0.0, x, m)
        found = jnp.array(robot.accelerations(0.0, x, m))

        def twice(q, v):
            return jax.jvp(closure, (q,), (v,))[1]

        assert np.asarray(jax.jvp(twice, (q, v), (v, found))[1]) == pytest.approx(0.0, abs=1e-11)
        assert flow.power.held == pytest.approx(0.0, abs=1e-12)
        rate = jax.jvp(robot.stores, (0.0, x, m), (1.0, flow.x, jax.tree.map(_still, m)))[1]
        assert sum(map(float, jax.tree.leaves(rate))) == pytest.approx(0.0, abs=1e-11)


def test_a_kneestrike_is_an_impulse_between_thigh_and_shank_alone():
    robot = ff.load(classics()["kneed-walker"].with_suffix(".toml"), trust=True).system
    rates = {"shin_rate": 0.9, "thigh_rate": -0.3, "shank_rate": -2.0}
    x, m = robot.standing(shin=0.1, thigh=-0.4, shank=-0.4, **rates)
    jump = robot.jump(0.0, x, m, 1)
    after = np.array([jump.x.shin_rate, jump.x.thigh_rate, jump.x.shank_rate])
    assert after[1] == pytest.approx(after[2], abs=ROUNDING)
    mass, before = np.array(robot.mass_matrix(x)), np.array(list(rates.values()))
    impulse = mass @ (after - before)
    assert impulse[0] == pytest.approx(0.0, abs=ROUNDING)
    assert impulse[1] == pytest.approx(-impulse[2], abs=ROUNDING)
    assert abs(impulse[1]) > 1e-4
    lost = 0.5 * (after @ mass @ after - before @ mass @ before)
    assert float(jump.work.kneestrike) == pytest.approx(lost, abs=ROUNDING)
    assert int(jump.m.kneestrike_locked) == 1 and float(jump.work.heelstrike) == 0.0


def test_a_foot_may_land_only_once_it_has_been_ahead():
    """Before, its height counts for nothing; where it is in the ground then, it waits."""
    robot = compass()
    behind = robot.standing(stance=-0.1, swing=0.3)
    lands, passes, _ = robot.guards(0.0, *behind)
    # Legs of one metre; on the slope of the scenario's class, 3 degrees.
    assert lands == math.inf and passes == pytest.approx(0.1 + math.sin(0.1) + math.sin(0.3))
    passed = robot.jump(0.0, *behind, 1)
    assert int(passed.m.tip_passed) == 1 and passed.work is None
    lands, passes, _ = robot.guards(0.0, passed.x, passed.m)
    height = math.cos(0.1) - math.cos(0.3)
    ahead = -math.sin(0.1) - math.sin(0.3)
    assert passes == math.inf
    assert float(lands) == pytest.approx(height + math.tan(math.radians(3.0)) * ahead, abs=1e-12)
    landed = robot.jump(0.0, passed.x, passed.m, 0)
    assert int(landed.m.tip_passed) == 0 and int(landed.m.steps) == 1
    assert int(robot.standing(stance=0.2, swing=-0.2).m.tip_passed) == 1  # it is ahead already


# --- what cannot be -------------------------------------------------------------------------------


def broken(**changes):
    legs = (
        fa.Rod("stance", "foot", "hip", 1.0, 5.0),
        fa.Rod("swing", "tip", "hip", 1.0, 5.0),
    )
    landing = fa.Landing("strike", "tip", (("stance", "swing"),))
    whole = {"rods": legs, "stands_on": "foot", "body": "hip", "landings": (landing,), **changes}

    class Broken(fa.LinkageRobot):
        def linkage(self):
            return fa.Linkage(**whole)

    return Broken()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"masses": (fa.Mass("hipp", 1.0),)}, 'at "hipp". Known joints: foot, hip, tip. Did you mean "hip"'),
        ({"landings": (fa.Landing("s", "toe", ()),)}, 'of "toe". Known joints'),
        ({"landings": (fa.Landing("s", "foot", ()),)}, "stands already"),
        ({"landings": (fa.Landing("s", "tip", ()),)}, 'should stand on "tip"'),
        ({"landings": (fa.Landing("s", "tip", (("stance", "leg"),)),)}, 'swaps "leg". Known rods'),
        (
            {"rods": (fa.Rod("stance", "foot", "hip", 1.0, 5.0), fa.Rod("swing", "tip", "hip", 1.0))},
            "not alike: mass 5.0 and 0.0",
        ),
        (
            {"rods": (fa.Rod("stance", "foot", "hip", 1.0), fa.Rod("swing", "tip", "hip", 1.0)),
             "masses": (fa.Mass("hip", 1.0),)},
            'rod "swing" moves no mass',
        ),
        (
            {"rods": (fa.Rod("stance", "foot", "hip", 1.0, 5.0), fa.Rod("swing", "tip", "hup", 1.0, 5.0)),
             "landings": ()},
            "hangs on nothing",
        ),
        ({"motors": (fa.Motor("drive", "stance", None),)}, "against nothing"),
        ({"rods": (fa.Rod("stance", "foot", "hip", -1.0, 5.0),), "landings": ()}, "out of range"),
        ({"locks": (fa.Lock("knee", "swing", "stance", "land"),)}, 'opens at "land". Known landings'),
    ],
)  # fmt: skip
def test_a_linkage_that_cannot_be_is_told_why(changes, said):
    with pytest.raises(LinkageError) as caught:
        broken(**changes)
    assert said in str(caught.value)


def test_a_loop_that_does_not_close_is_told_by_how_much():
    with pytest.raises(LinkageError, match=r"is open by 0\.\d+ m"):
        FourBar().standing(base=1.2, left=0.3, bar=1.2, right=0.4)


def test_a_start_that_forgets_an_angle_is_told_which():
    with pytest.raises(LinkageError, match='say what "swing" is'):
        compass().standing(stance=0.1)
    with pytest.raises(LinkageError, match='"swimg" is no state'):
        compass().standing(stance=0.1, swimg=0.2)
