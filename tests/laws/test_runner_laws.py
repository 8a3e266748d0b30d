"""Laws of the four-bar runner: its equations follow from virtual work, its books from its forces,
and nothing depends on where it is, which side is called left, or which way is up."""

import dataclasses
import functools
from typing import Any, NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from footfall import SimPlan, check_system, load
from footfall.engines.analysis.return_map import to_section
from footfall.hybrid.conformance import ROUNDING, _rate_pairs
from footfall.hybrid.flatten import named_leaves
from footfall.machines.water_runner.compliant_feet import CompliantFoot, Hinge
from footfall.machines.water_runner.crank_drives import CrankMotor, MotorState
from footfall.machines.water_runner.foot import FootPoint
from footfall.machines.water_runner.pads import BreakawayPad, PadMode
from footfall.machines.water_runner.states import PerLeg, RunnerState
from footfall.machines.water_runner.wet_disc import Medium

LANES = 48
GROUND = (
    "terrain=slope",
    "foot=compliant",
    "friction=bristle",
    "drive=crank-motor",
    "robot.pitch=free",
)
#: What is compiled: three structures that have every choice between them. (scenario, settings,
#: heights of the body [m])
STRUCTURES = {
    "four legs and a tail on water, folding hard": ("water-runner", ("foot.folding=hard",), (0.0, 0.06)),
    "two legs on a slope, compliant, bristle, motor": ("water-runner-biped", GROUND, None),
    "two mirrored legs on water, motor, pitch locked": (
        "water-runner-biped", ("leg.assembly=mirrored", "drive=crank-motor"), (-0.08, 0.0),
    ),
}  # fmt: skip
WET, DRY, MIRRORED = STRUCTURES


class Seen(NamedTuple):
    """Everything about one robot in many states."""

    flow: Any
    outputs: Any
    output_rates: Any  #: along the flow
    store_rates: Any


def look(system, t, x):
    """At one state, with the discrete state that belongs to it."""
    m = system.mode_at(t, x)
    flow = system.flow(t, x, m)
    (_, outputs), (stores, rates) = jax.jvp(
        lambda t, x: (system.stores(t, x, m), system.outputs(t, x, m)),
        (t, x),
        (jnp.ones_like(t), flow.x),
    )
    return Seen(flow, outputs, rates, stores)


@jax.jit
def look_at_all(system, t, x):
    """At every lane; one after the other, which is the smaller program."""
    return lax.map(lambda at: look(system, *at), (t, x))


class Case(NamedTuple):
    system: Any  #: its numbers as arrays, so that others need no compilation
    t: np.ndarray
    x: RunnerState
    seen: Seen


@functools.cache
def case(name):
    scenario, settings, heights = STRUCTURES[name]
    system = jax.tree.map(lambda v: np.asarray(v, float), load(scenario, settings).system)
    t, x = random_states(system, heights)
    return Case(system, t, x, look_at_all(system, t, x))


def is_free(system):
    """Its drive does not prescribe the cranks."""
    return system.drive.rest(0.0) is not None


def random_states(system, heights, seed=0):
    """Fast, tilted, feet bent and touching.

    On hard ground one foot is pressed in by 2 mm at most, or 1 mm above.
    """
    draw = np.random.default_rng(seed)

    def within(size):
        return draw.uniform(-size, size, LANES)

    sizes = {"deflection": 0.3, "deflection_rate": 20.0, "bristle": 2e-4}
    like = system.Start()._at(system, 0.0)

    def foot(name):
        bare = getattr(like.feet, name)
        return dataclasses.replace(
            bare, **{f.name: within(sizes[f.name]) for f in dataclasses.fields(bare)}
        )

    free = is_free(system)
    x = dataclasses.replace(
        like,
        x=within(1.0),
        y=np.zeros(LANES) if heights is None else draw.uniform(*heights, LANES),
        pitch=within(0.3),
        vx=within(1.5),
        vy=within(0.8),
        pitch_rate=within(5.0),
        feet=PerLeg.of(system.names, foot),
        **(
            {
                "crank_angle": draw.uniform(0.0, 7.0, LANES),
                "crank_rate": draw.uniform(15.0, 60.0, LANES),
            }
            if free
            else {}
        ),
    )
    t = draw.uniform(0.0, 0.2, LANES)
    if heights is None:
        rooms = np.array(
            jax.jit(jax.vmap(lambda t, x: system.guards(t, x, system.mode_at(t, x))))(t, x)
        )
        lowest = np.min(rooms[: len(system.names)], axis=0)
        x = dataclasses.replace(
            x, y=(draw.uniform(-2e-3, 1e-3, LANES) - lowest) / np.cos(system.terrain.descent)
        )
    return t, x


@pytest.fixture(scope="module", params=STRUCTURES)
def name(request):
    """So that tests of one structure follow each other."""
    return request.param


# --- velocities, accelerations, energies ----------------------------------------------------------


def test_velocities_and_accelerations_of_every_point_are_derivatives(name):
    system, _, x, seen = case(name)
    pairs = [*_rate_pairs(x, seen.flow.x, ""), *_rate_pairs(seen.outputs, seen.output_rates, "")]
    # Five joints with velocity and acceleration in the plane, and the tip's velocity.
    assert len(pairs) > len(system.names) * (5 * 4 + 2)
    for signal, value, derivative in pairs:
        error = np.max(np.abs(value - derivative) / np.maximum(1.0, np.abs(derivative)))
        assert error < ROUNDING, signal


def test_what_is_stored_grows_by_what_the_ports_bring_and_losses_only_take(name):
    seen = case(name).seen
    ports = {port: np.asarray(value) for port, value, _ in named_leaves(seen.flow.power)}
    change = sum(np.asarray(v) for v in jax.tree.leaves(seen.store_rates))
    through = sum(np.abs(v) for v in ports.values())
    assert np.max(np.abs(change - sum(ports.values())) / np.maximum(through, 1.0)) < ROUNDING
    for port, value, info in named_leaves(seen.flow.power):
        assert info.kind != "loss" or np.max(value) <= 1e-14, port  # rounding of some watts
    busy = (
        {"drive", "drag", "pressure"}
        if "water" in name
        else {"drive", "contact", "friction", "hinge"}
    )
    for port in busy:
        assert np.sum(np.abs(ports[port]) > 1e-3) > LANES / 6, port  # the states do tell something


# --- equations of motion from virtual work --------------------------------------------------------


class Places(NamedTuple):
    """What loads act on, as functions of the coordinates alone:

    (x, y, angle) of every leg's end and of the tail, (x, y) of every tip.
    """

    ends: tuple
    tips: tuple
    tail: tuple


def u(angle):
    return jnp.cos(angle), jnp.sin(angle)


def spread(value):
    """Over all lanes."""
    return value + jnp.zeros(LANES)


def places(system, q):
    """The reference page's section 2 with angles, as it stands there.

    No code of the model. q = (x, y, pitch, crank, deflections).
    """
    x, y, pitch, crank, bends = q
    leg, body = system.leg, system.body
    (c, s), ground = u(pitch), leg.ground
    ends, tips = [], []
    for name, bend in zip(system.names, bends, strict=True):
        front, right = name.startswith("front"), name.endswith("right")
        hip = body.front_hip if front else body.rear_hip
        turn = (
            pitch
            + crank
            + (0.0 if front else system.rear_phase)
            + (system.side_phase if right else 0.0)
        )
        ox, oy = x + c * hip - s * body.hip_height, y + s * hip + c * body.hip_height
        dx, dy = ground * c - leg.crank * jnp.cos(turn), ground * s - leg.crank * jnp.sin(turn)
        alpha, beta = 2 * leg.rocker * dx, 2 * leg.rocker * dy
        gamma = (
            ground**2
            + leg.crank**2
            + leg.rocker**2
            - leg.coupler**2
            - 2 * ground * leg.crank * jnp.cos(pitch - turn)
        )
        sign = {"below": 1, "mirrored": -1}[leg.assembly]
        theta3 = jnp.arctan2(beta, alpha) + sign * jnp.arccos(-gamma / jnp.sqrt(alpha**2 + beta**2))
        theta2 = jnp.arctan2(dy + leg.rocker * jnp.sin(theta3), dx + leg.rocker * jnp.cos(theta3))
        fx, fy = (
            o + leg.crank * a - leg.foot_length * b
            for o, a, b in zip((ox, oy), u(turn), u(theta2), strict=True)
        )
        ends.append((fx, fy, theta2))
        if isinstance(system.foot, CompliantFoot):
            foot = system.foot
            fixed, link = (1 - foot.hinge_share) * foot.length, foot.hinge_share * foot.length
            tips.append(
                tuple(
                    f - fixed * a - link * b
                    for f, a, b in zip((fx, fy), u(theta2), u(theta2 - bend), strict=True)
                )
            )
        else:
            tips.append((fx, fy))
    tail_x, tail_y = system.tail.place
    return Places(
        tuple(ends), tuple(tips), (x + c * tail_x - s * tail_y, y + s * tail_x + c * tail_y, pitch)
    )


def derived(system, t, x):
    """Generalised forces Q = J^T (force, moment), with J the derivative of `places`, and the
    accelerations they give; lane by lane.
    """
    free = is_free(system)
    crank, rate = (x.crank_angle, x.crank_rate) if free else system.drive.crank(t)
    feet = [getattr(x.feet, name) for name in system.names]
    hinged = isinstance(system.foot, CompliantFoot)
    bends, bend_rates = (
        tuple(getattr(foot, n) if hinged else 0.0 for foot in feet)
        for n in ("deflection", "deflection_rate")
    )
    q, rates = (x.x, x.y, x.pitch, crank, bends), (x.vx, x.vy, x.pitch_rate, rate, bend_rates)
    q, rates = jax.tree.map(spread, (q, rates))
    at, v = jax.jvp(lambda q: places(system, q), (q,), (rates,))
    none = jax.tree.map(jnp.zeros_like, at)
    if system.on_water:
        points = [
            FootPoint(*e[:2], *w[:2], *u(e[2]), w[2]) for e, w in zip(at.ends, v.ends, strict=True)
        ]
        medium = system.medium
        loads = [system.foot.water_load(p, medium, p.vx * p.uy - p.vy * p.ux < 0) for p in points]
        tail = system.tail.water_load(
            *at.tail[:2], *v.tail[:2], jnp.sin(x.pitch), jnp.cos(x.pitch), x.pitch_rate, medium
        )
        pushed = none._replace(
            ends=tuple((load.fx, load.fy, load.moment) for load in loads),
            tail=(tail.fx, tail.fy, tail.moment),
        )
    else:
        c, s = u(system.terrain.descent)
        forces = []
        for (tx, ty), (tvx, tvy), foot in zip(at.tips, v.tips, feet, strict=True):
            normal = system.contact.force(s * tx - c * ty, s * tvx - c * tvy)
            along = system.friction.force(
                c * tvx + s * tvy, normal, foot.bristle if system.friction.has_memory else 0.0
            )
            forces.append((along * c - normal * s, along * s + normal * c))
        pushed = none._replace(tips=tuple(forces))
    ((gx, gy, turn, on_crank, on_hinges),) = jax.vjp(lambda q: places(system, q), q)[1](
        jax.tree.map(spread, pushed)
    )
    body, drive = system.body, system.drive
    found = {
        "vx": (gx - body.forward_drag * x.vx) / body.mass,
        "vy": gy / body.mass - system.gravity,
        "pitch_rate": turn / body.inertia if system.pitch == "free" else 0.0 * turn,
    }
    if free:
        found["crank_rate"] = (drive.torque(rate) - drive.friction(rate) + on_crank) / drive.inertia
    for name, foot, push in zip(system.names, feet, on_hinges, strict=True):
        if hinged:
            hinge = Hinge(foot.deflection, foot.deflection_rate)
            found[f"feet.{name}.deflection_rate"] = system.foot.hinge_acceleration(hinge, push)
    return found, {"lift": gy, "thrust": -gx, "moment": turn, "crank": on_crank}


def test_accelerations_loads_and_crank_torque_follow_from_virtual_work(name):
    """To rounding: 2e-16 of a metre, of which hard ground makes 3 k d^2 = 3e3 N/m times as much, in
    a dozen operations.
    """
    system, t, x, seen = case(name)
    accelerations, forces = derived(system, t, x)
    flow = {field: np.asarray(value) for field, value, _ in named_leaves(seen.flow.x)}
    for field, expected in accelerations.items():
        np.testing.assert_allclose(
            flow[field],
            expected,
            rtol=0,
            atol=1e-11 * max(1.0, np.max(np.abs(expected))),
            err_msg=field,
        )
    assert np.std(accelerations["vy"]) > 1.0
    for field in ("lift", "thrust", "moment"):
        np.testing.assert_allclose(
            getattr(seen.outputs.load, field), forces[field], rtol=0, atol=1e-11
        )
    legs = sum(np.asarray(getattr(seen.outputs, leg).torque) for leg in system.names)
    # Joint by joint they ask for the same.
    np.testing.assert_allclose(legs, -forces["crank"], rtol=0, atol=1e-11)
    if not is_free(system):
        np.testing.assert_allclose(seen.outputs.drive.torque, -forces["crank"], rtol=0, atol=1e-11)


# --- symmetries -----------------------------------------------------------------------------------


def assert_same(one, other, bound):
    for (field, a, _), (_, b, _) in zip(named_leaves(one), named_leaves(other), strict=True):
        np.testing.assert_allclose(
            a, b, rtol=0, atol=bound * max(1.0, np.max(np.abs(a))), err_msg=field
        )


@pytest.mark.parametrize("structure", [WET, DRY])
def test_shifting_the_robot_along_the_surface_changes_nothing(structure):
    system, t, x, seen = case(structure)
    slope = 0.0 if system.on_water else system.terrain.descent
    moved = dataclasses.replace(x, x=x.x + 3.0 * np.cos(slope), y=x.y + 3.0 * np.sin(slope))
    # Rounding of 4 m is 9e-16; hard ground makes of it k 3 d^2 = 3e3 N/m, and the foot's inertia
    # 4e3/(N s^2): 1e-8 rad/s^2 of 1e5.
    after = look_at_all(system, t, moved)
    assert_same(seen.flow.x, after.flow.x, 1e-11)
    assert_same(seen.flow.power, after.flow.power, 1e-11)


@pytest.mark.parametrize("structure", [WET, DRY])
def test_left_and_right_change_places_with_their_phases(structure):
    """A right leg ahead by p is a left leg behind by p.

    Turn all cranks by p, and what was seen left is seen right.
    """
    system, t, x, _ = case(structure)
    ahead = 1.9
    other = eqx.tree_at(lambda s: s.side_phase, system, np.asarray(-ahead))
    system = eqx.tree_at(lambda s: s.side_phase, system, np.asarray(ahead))
    swapped = {
        leg: getattr(
            x.feet, leg.replace("right", "left") if "right" in leg else leg.replace("left", "right")
        )
        for leg in system.names
    }
    later = dataclasses.replace(x, feet=PerLeg(**swapped))
    if is_free(system):
        t_later, later = t, dataclasses.replace(later, crank_angle=x.crank_angle + ahead)
    else:
        t_later = t + ahead / (2 * np.pi * system.drive.frequency)
    one, two = look_at_all(system, t, x), look_at_all(other, t_later, later)
    for leg in (name for name in system.names if name.endswith("left")):
        across = leg.replace("left", "right")
        for a, b in ((leg, across), (across, leg)):
            mine, theirs = getattr(one.outputs, a), getattr(two.outputs, b)
            # Where it is across the robot has changed.
            here = {n: v for n, v, _ in named_leaves(mine) if not n.endswith(".y")}
            there = {n: v for n, v, _ in named_leaves(theirs)}
            for field, value in here.items():  # rounding of an angle of 10 rad, on ground as above
                np.testing.assert_allclose(
                    value,
                    there[field],
                    rtol=0,
                    atol=1e-10 * max(1.0, np.max(np.abs(value))),
                    err_msg=field,
                )
    assert_same(one.flow.power, two.flow.power, 1e-10)
    for field in ("vx", "vy", "pitch_rate"):
        np.testing.assert_allclose(
            getattr(one.flow.x, field), getattr(two.flow.x, field), rtol=0, atol=1e-8
        )


def test_a_slope_is_level_ground_with_gravity_tilted():
    """Turn everything by the slope's angle: the same forces, turned; weight alone stays upright."""
    system, t, x, _ = case(DRY)
    # Along the horizon, so not turned with the slope.
    system = eqx.tree_at(lambda s: s.body.forward_drag, system, np.asarray(0.0))
    level, steep = (
        eqx.tree_at(lambda s: s.terrain.angle, system, np.asarray(a)) for a in (0.0, 0.35)
    )
    c, s = np.cos(0.35), np.sin(0.35)
    y = x.y - np.tan(system.terrain.angle) * x.x  # over level ground as high as over its own
    flat = dataclasses.replace(x, y=y)
    turned = dataclasses.replace(
        x,
        x=c * x.x - s * y,
        y=s * x.x + c * y,
        vx=c * x.vx - s * x.vy,
        vy=s * x.vx + c * x.vy,
        pitch=x.pitch + 0.35,
    )
    one, two = look_at_all(level, t, flat), look_at_all(steep, t, turned)
    ax, ay = np.asarray(one.flow.x.vx), np.asarray(one.flow.x.vy) + system.gravity
    scale = np.max(np.abs(ay))
    assert scale > 10.0
    # As for the shift above.
    np.testing.assert_allclose(two.flow.x.vx, c * ax - s * ay, rtol=0, atol=1e-11 * scale)
    np.testing.assert_allclose(
        two.flow.x.vy, s * ax + c * ay - system.gravity, rtol=0, atol=1e-11 * scale
    )
    for field in ("pitch_rate", "crank_rate"):
        expected = np.asarray(getattr(one.flow.x, field))
        np.testing.assert_allclose(
            getattr(two.flow.x, field), expected, rtol=0, atol=1e-11 * np.max(np.abs(expected))
        )
    assert_same(one.flow.x.feet, two.flow.x.feet, 1e-11)
    for port in ("contact", "friction", "hinge"):
        np.testing.assert_allclose(
            getattr(one.flow.power, port), getattr(two.flow.power, port), rtol=0, atol=1e-10
        )


# --- derivatives of runs --------------------------------------------------------------------------

#: Where each quantity is taken, and h of central differences: their error falls with h^2, and
#: rounding grows with 1/h.
KNOBS = {"frequency": (8.0, 2e-5), "radius": (0.020, 2e-7)}


def with_knobs(system, values):
    return eqx.tree_at(
        lambda s: (s.drive.frequency, s.foot.radius),
        system,
        (values["frequency"], values["radius"]),
    )


def assert_derivatives_are_differences(end, bound, wider=1.0):
    """`end` gives the state at the end and its derivative."""
    at = {name: jnp.asarray(value) for name, (value, _) in KNOBS.items()}
    for name, (value, h) in KNOBS.items():
        along = {other: jnp.asarray(float(other == name)) for other in KNOBS}
        _, derivative = end(at, along)
        h = wider * h
        above, below = (
            np.asarray(end(at | {name: jnp.asarray(value + d)}, along)[0]) for d in (h, -h)
        )
        differences = (above - below) / (2 * h)
        assert np.max(np.abs(differences)) > 1e-3
        np.testing.assert_allclose(
            derivative, differences, rtol=0, atol=bound * np.max(np.abs(differences)), err_msg=name
        )


def test_derivatives_of_a_run_by_frequency_and_radius_are_differences_of_runs():
    """50 ms on water by RK4; pads fold by degrees and enter the water."""
    experiment = load("water-runner")
    system = jax.tree.map(lambda v: jnp.asarray(v, float), experiment.system)
    y, as_state = jax.flatten_util.ravel_pytree(
        jax.tree.map(lambda v: jnp.asarray(v, float), experiment.start.x)
    )
    h = 2.5e-4
    shares, weights = jnp.array([0.0, 0.5, 0.5, 1.0]), jnp.array([1.0, 2.0, 2.0, 1.0]) / 6

    def end(values):
        robot = with_knobs(system, values)

        def step(y, i):
            def stage(slopes, share_and_weight):
                slope, total = slopes
                share, weight = share_and_weight
                t, x = (i + share) * h, as_state(y + share * h * slope)
                slope = jax.flatten_util.ravel_pytree(robot.flow(t, x, experiment.start.m).x)[0]
                return (slope, total + weight * slope), None

            (_, total), _ = lax.scan(stage, (0.0 * y, 0.0 * y), (shares, weights))
            return y + h * total, None

        return lax.scan(step, y, jnp.arange(200.0))[0]

    run = jax.jit(lambda at, along: jax.jvp(end, (at,), (along,)))
    assert_derivatives_are_differences(run, 1e-7)  # with twice the h their errors are 4e-8 at most


@pytest.mark.slow
def test_derivatives_through_folding_events_are_differences_of_runs():
    """The event engine: instants at which a pad folds hard move with frequency and radius, and the
    derivative knows.
    """
    experiment = load("water-runner-biped", ["foot.folding=hard"])
    plan = SimPlan(duration=0.05, rtol=1e-12, atol=1e-14, solver=diffrax.Dopri8())
    names = ("x", "y", "vx", "vy")

    def end(values):
        section = to_section(
            with_knobs(experiment.system, values), experiment.start, "stride", plan
        )
        return jnp.stack([getattr(section.x, name) for name in names])

    run = jax.jit(lambda at, along: jax.jvp(end, (at,), (along,)))
    # Adaptive steps differ from run to run, by 1e-12 or so in the state: 1e-9 of a difference with
    # an h fifty times as wide.
    assert_derivatives_are_differences(run, 1e-5, wider=50.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "settings"),
    [
        ("water-runner", ()),
        ("water-runner-ground", ()),
        ("water-runner-biped", ()),
        ("water-runner", ("tail=no-tail", "foot.folding=hard")),
        ("water-runner", ("robot.pitch=locked",)),
        ("water-runner", ("drive=crank-motor",)),
        ("water-runner-ground", ("friction=bristle", "terrain=slope", "drive=crank-motor")),
        ("water-runner", ("leg.assembly=mirrored", "foot=rigid-pad")),
    ],
)
def test_the_robots_and_their_variants_keep_the_contract(scenario, settings):
    experiment = load(scenario, settings)
    assert check_system(experiment.system, experiment.start, samples=2).ok


# --- drives and feet by themselves ----------------------------------------------------------------


def test_a_motor_turns_what_its_battery_gives_into_heat_friction_the_rotor_and_its_load():
    """Of the shaft's power N k_t i psi' the gear passes on a share, its efficiency."""
    motor, rate, load = CrankMotor(bearing=2e-4), 37.0, 0.01
    own = MotorState(crank_angle=0.3, crank_rate=rate)
    current = float(motor.current(rate))
    shaft = motor.gear_ratio * motor.torque_constant * current * rate
    battery = motor.resistance * current**2 + shaft
    assert float(motor.electrical_power(rate)) == pytest.approx(battery, rel=1e-12)
    rates = motor.flow(own, load)
    _, into_rotor = jax.jvp(
        lambda v: motor.stores(MotorState(0.0, v)).kinetic, (rate,), (rates.x.crank_rate,)
    )
    assert float(into_rotor) == pytest.approx(
        motor.efficiency * shaft + float(rates.power.bearing) - load * rate, rel=1e-12
    )
    assert float(rates.power.bearing) == pytest.approx(-2e-4 * rate**2, rel=1e-12)


def test_a_pad_folds_where_it_would_pull_and_its_folded_edge_is_pressed_upwards():
    pad = BreakawayPad(folding="hard", folded_hydrostatics="on")
    pressing = FootPoint(0.0, -0.1, 0.3, 0.0, 0.6, 0.8, 0.0)  # its speed along (u_y, -u_x): 0.24
    pulling = pressing._replace(vx=-0.3)
    fold, unfold = (pad.jump(None, PadMode(folded=m), k).m.folded for k, m in ((0, 0), (1, 1)))
    assert (fold, unfold) == (pad.mode(pulling, None, True).folded, 0) == (1, 0)
    assert pad.mode(pressing, None, True).folded == 0
    hanging = FootPoint(0.0, -0.1, 0.0, 0.0, 0.0, 1.0, 0.0)  # still, straight down, under water
    load = pad.folded_load(hanging, Medium(level=0.0, density=1000.0, gravity=9.81))
    assert float(load.fy) > 0  # by the edge alone: the pad along the leg is pressed sideways
