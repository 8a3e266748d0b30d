"""Reference values of the runner on hard ground and of its foot in the drop test
(shared/physics/water-runner.md, section 10).

They were computed by an independent code from the same model. Where the page gives a tolerance it
is the one used; what it prints with few digits is allowed half a unit of the last one."""

import dataclasses
import functools
import math

import jax
import numpy as np
import pytest

from footfall.engines.plan import SimPlan
from footfall.engines.simulate import as_floats, simulate
from footfall.hybrid.outcome import Outcome
from footfall.machines.parts.friction.coulomb import Frictionless, StribeckFriction
from footfall.machines.water_runner.compliant_feet import CompliantFoot
from footfall.machines.water_runner.legs import all_loads
from support.runners import (
    LOCKED,
    DroppedFoot,
    Guide,
    LoopedRungeKutta4,
    Window,
    body_at,
    on_ground,
    run,
    walk,
)


def test_the_shipped_ground_robot_has_the_parameters_of_the_page():
    robot = on_ground().system
    foot = {
        "length": 0.040,
        "hinge_share": 0.85,
        "inertia": 3e-7,
        "stiffness": 0.05,
        "damping": 2e-3,
    }
    in_water = {
        "face_radius": 0.020,
        "face_place": 0.5,
        "drag_coefficient": 0.703,
        "hydrostatics": "on",
    }
    assert dataclasses.asdict(robot.foot) == foot | in_water == dataclasses.asdict(CompliantFoot())
    assert (robot.contact.stiffness, robot.contact.damping) == (0.25e9, 1.0)
    friction = {
        "static_coefficient": 0.4,
        "kinetic_coefficient": 0.3,
        "stribeck_speed": 0.05,
        "creep_speed": 0.01,
    }
    assert dataclasses.asdict(robot.friction) == friction
    body = {
        "mass": 0.060,
        "inertia": 4.5e-4,
        "front_hip": -0.0266,
        "rear_hip": 0.1466,
        "hip_height": 0.0,
        "forward_drag": 0.0,
    }
    assert {name: getattr(robot.body, name) for name in body} == body
    assert robot.drive.frequency == 3.0 and robot.pitch == "free" and not robot.tail.present
    assert on_ground().start.x.y == 0.115


# --- drop test ------------------------------------------------------------------------------------


def dropped(duration, damping=2e-3):
    """In the event engine: when it lands and leaves, where it ends, where the energy went."""
    system = DroppedFoot(foot=CompliantFoot(damping=damping))
    return simulate(
        system,
        system.start(),
        SimPlan(duration, rtol=1e-10, atol=1e-13, max_step=1e-3, sample_rate=None),
    )


@functools.cache
def watched(damping=2e-3, friction=None):
    """(time, state, tip) every 1e-5 s until 0.2 s, in steps of that length, which err by 1e-12.

    The force peaks within a millisecond.
    """
    system, count = (
        DroppedFoot(foot=CompliantFoot(damping=damping), friction=friction or StribeckFriction()),
        20_000,
    )
    x = walk(LoopedRungeKutta4(), as_floats(system), as_floats(system.start().x), 0.2, count, count)
    tip = jax.vmap(lambda x: system.outputs(0.0, x, None).tip)(x)
    return (
        np.arange(1, count + 1) * 0.2 / count,
        jax.tree.map(np.asarray, x),
        jax.tree.map(np.asarray, tip),
    )


def test_drop_on_the_default_foot():
    done = dropped(0.1)
    (landing,) = done.events_named("touchdown")
    # The page prints 0.063856, a unit of the last digit above the free fall it is: sqrt(2
    # 0.020/9.81) = 0.06385509.
    assert landing.t == pytest.approx(math.sqrt(2 * 0.020 / 9.81), abs=1e-11)
    assert landing.t == pytest.approx(0.063856, abs=1e-6)
    assert done.ending.state["y"] == pytest.approx(29.252153e-3, abs=1e-6)
    assert done.ending.state["q"] == pytest.approx(0.124574157, abs=1e-6)

    t, x, tip = watched()
    assert 1e3 * DroppedFoot().start().x.y == pytest.approx(52.766, abs=5e-4)
    assert tip.force.max() == pytest.approx(2.978, abs=5e-4)
    assert 1e3 * tip.depth.max() == pytest.approx(2.2574, abs=5.1e-5)
    assert x.q.max() == pytest.approx(0.13790, abs=5.1e-6)
    assert 1e3 * x.y.min() == pytest.approx(28.418, abs=5e-4)
    assert t[np.argmin(x.y)] == pytest.approx(0.0771, abs=5e-5)


def test_drop_on_the_default_foot_does_not_leave_the_ground():
    done = dropped(1.0)
    assert [event.name for event in done.events] == ["touchdown"]
    assert abs(done.ending.state["vy"]) < 1e-3  # it stands, and creeps outwards


def test_drop_on_a_foot_with_little_damping_bounces():
    landing, leaving = dropped(0.2, 1e-4).events
    assert (landing.name, leaving.name) == ("touchdown", "lift")
    # What the page calls "first contact".
    assert leaving.t - landing.t == pytest.approx(0.0947, abs=5e-5)
    t, x, tip = watched(1e-4)
    assert tip.force.max() == pytest.approx(0.9935, abs=5.1e-5)
    assert x.q.max() == pytest.approx(0.50391, abs=5.1e-6)
    assert 1e3 * x.y[t > leaving.t].max() == pytest.approx(35.755, abs=5.1e-4)


def test_energy_of_the_drop_test():
    """Section 11.7: drift below 1e-12 J of 1.55e-2 J; losses to 0.15 s are 6.507e-3 J."""
    books = dropped(0.15).ledger
    assert math.fsum(books.stored_start.values()) == pytest.approx(1.55e-2, abs=5e-5)
    assert math.fsum(books.losses.values()) == pytest.approx(6.507e-3, abs=5.1e-7)
    assert min(books.losses.values()) > 0 and len(books.losses) == 3  # hinge, friction, ground
    assert abs(books.residual) < 1e-12


def test_drop_without_friction():
    t, x, tip = watched(friction=Frictionless())
    assert tip.force.max() == pytest.approx(2.145, abs=5e-4)
    assert x.q.max() == pytest.approx(0.21361, abs=5.1e-6)
    (now,) = np.flatnonzero(np.abs(t - 0.1) < 1e-9)
    assert x.y[now] == pytest.approx(27.077659e-3, abs=1e-6)
    assert x.q[now] == pytest.approx(0.206946961, abs=1e-6)


def test_rest_without_friction():
    """Nothing accelerates at the printed rest; half a last digit of the depth (5e-10 m) is 1.4e-6
    of the force.
    """
    system, q, depth = DroppedFoot(friction=Frictionless()), 0.135944426, 1.055885e-3
    height = -depth - float(system.tip(Guide(0.0, 0.0, q, 0.0))[2].y)
    rates = system.flow(0.0, Guide(height, 0.0, q, 0.0), None).x
    assert abs(rates.vy) < 2e-6 * 9.81
    weight_moment = 0.030 * 9.81 * 0.034
    assert abs(rates.q_rate) * system.foot.inertia < 2e-6 * weight_moment


# --- the robot ------------------------------------------------------------------------------------

STATES = {
    0.10: (-0.00475214, 0.10500783, -0.04474813, -0.186683, 0.233522, -0.692928),
    0.20: (-0.02323387, 0.08051596, -0.10367340, -0.095910, -0.406862, 2.277044),
}
DEFLECTIONS = {0.10: (0.0, 0.1549292, 0.3339406, 0.0), 0.20: (0.0, 0.0125978, 0.0273955, 0.2256823)}
#: Front left, front right, rear left, rear right: cranks at 0, pi, pi, 0.
LEGS = ("front_left", "front_right", "rear_left", "rear_right")


@pytest.mark.parametrize("t", STATES)
def test_states_early_in_a_run(t):
    done = run(on_ground(), t)
    assert body_at(done) == pytest.approx(STATES[t], abs=1e-6)
    assert [done.ending.state[f"feet.{leg}.deflection"] for leg in LEGS] == pytest.approx(
        DEFLECTIONS[t], abs=1e-6
    )


def test_probe_of_accelerations_and_of_the_second_legs_force():
    robot = on_ground()
    at = robot.start.x
    foot = dataclasses.replace(at.feet.front_left, deflection=0.05, deflection_rate=1.0)
    x = dataclasses.replace(
        at,
        x=0.0,
        y=0.107,
        pitch=0.01,
        vx=-0.4,
        vy=-0.1,
        pitch_rate=0.2,
        feet=type(at.feet)(*(foot for _ in LEGS)),
    )

    @jax.jit
    def probe(system, x):
        loads = all_loads(system, 0.1, x, system.mode_at(0.1, x))
        leg = loads.legs.by_name()["front_right"].load
        return system.accelerations(x, loads)[:3], (leg.fx, leg.fy)

    accelerations, force = probe(robot.system, x)
    # Nine digits are printed.
    assert accelerations == pytest.approx((-7.28450745, 12.6268308, -321.758251), rel=1e-8)
    assert force == pytest.approx((-0.437068375, 1.34620342), rel=1e-8)


def last_half(*settings):
    """(height, its half range, pitch in degrees, its half range, speed) over the last three seconds
    of six.

    At 1e-4: at 3 Hz that agrees with 1e-8 in every printed digit.
    """
    done = run(on_ground(*settings), 6.001, rtol=1e-4, atol=1e-6)
    assert done.outcome is Outcome.reached_end
    over = Window(done, 3.0, 6.0)
    tilt = math.degrees(over.mean("pitch")), math.degrees(over.half_range("pitch"))
    return 1e3 * over.mean("y"), 1e3 * over.half_range("y"), *tilt, -over.mean("vx")


def test_settled_run_at_3_hz():
    height, bounce, pitch, rock, speed = last_half()
    assert height == pytest.approx(103.5, abs=3.0)
    # Printed to the millimetre; the motion is periodic, not chaotic.
    assert bounce == pytest.approx(17.0, abs=0.5)
    # The page gives none for pitch on ground; this is the one for water.
    assert pitch == pytest.approx(-3.8, abs=0.3)
    assert rock == pytest.approx(5.7, abs=0.3)
    assert speed == pytest.approx(0.507, rel=0.05)


def test_settled_run_at_5_hz():
    """Chaotic: 64 starts within 0.1 mm of 115 mm gave 0.479 to 0.623 m/s over this window, mean
    0.557 and standard deviation 0.030.

    The page's 0.599 is one such number. From 115 mm exactly the event engine at 1e-10 and SciPy's
    DOP853 at 1e-10 and at 1e-12 all give 0.561, 6 % away: its 5 % holds for a third of the starts.
    Here the chance to be outside is below one in a thousand."""
    height, _, pitch, _, speed = last_half("drive.frequency=5")
    assert height == pytest.approx(108.1, abs=3.0)
    assert pitch == pytest.approx(-3.6, abs=1.0)  # standard deviation 0.23 deg about -3.76
    assert speed == pytest.approx(0.599, rel=0.25)


def test_settled_run_with_the_pitch_locked():
    height, bounce, pitch, rock, speed = last_half(LOCKED)
    assert abs(pitch) < 1e-6 and rock < 1e-6  # a body too heavy to pitch
    assert height == pytest.approx(102.3, abs=3.0)
    assert bounce == pytest.approx(14.3, abs=0.5)
    assert speed == pytest.approx(0.338, rel=0.05)


@pytest.mark.parametrize("setting", ["foot.damping=1e-4", "foot.stiffness=0.2"])
def test_feet_with_little_damping_or_much_stiffness_tip_it_over(setting):
    done = run(on_ground(setting), 2.0, rtol=1e-6, atol=1e-8)
    assert done.outcome is Outcome.tipped_over
    assert done.ending.t < 1.6
