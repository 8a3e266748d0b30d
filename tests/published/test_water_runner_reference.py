"""Reference values of the runner on water (shared/physics/water-runner.md, sections 8 to 10).

They were computed by an independent code from the same model, with folding at once unless it says
otherwise. Where the page gives a tolerance it is the one used; what it prints with few digits is
also allowed half a unit of the last one."""

import dataclasses
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall.engines.events.adams_bashforth import AdamsBashforth
from footfall.engines.events.runge_kutta import RungeKutta4
from footfall.engines.simulate import as_floats
from footfall.hybrid.outcome import Outcome
from footfall.machines.water_runner.foot import FootPoint
from footfall.machines.water_runner.four_bar_leg import FourBarLeg
from footfall.machines.water_runner.legs import all_loads
from footfall.machines.water_runner.linkage import pose
from footfall.machines.water_runner.pads import BreakawayPad, RigidPad
from footfall.machines.water_runner.wet_disc import Medium
from footfall.numerics.trig import sincos
from support.runners import (
    NO_TAIL,
    LoopedRungeKutta4,
    Window,
    body_at,
    default_run,
    lanes_of,
    run,
    runner,
    scipy_run,
    settle,
    started_at,
    walk,
)

HARD = "foot.folding=hard"
WATER = Medium(level=0.0, density=1000.0, gravity=9.81)
PAD = BreakawayPad(folding="hard")


def test_the_shipped_robot_has_the_parameters_of_the_page():
    """Section 9. What follows loads the shipped scenarios, so that a default that moves is told
    apart from a law that breaks.
    """
    robot = runner().system
    assert dataclasses.asdict(robot.leg) == {
        "ground": 0.0615,
        "crank": 0.0218,
        "coupler": 0.0748,
        "rocker": 0.0468,
        "foot_length": 0.0624,
        "assembly": "below",
    }
    foot = {
        "radius": 0.020,
        "folded_share": 0.25,
        "edge_radius": 0.020,
        "drag_coefficient": 0.703,
        "blend_speed": 0.05,
    }
    assert {name: getattr(robot.foot, name) for name in foot} == foot
    assert (robot.foot.hydrostatics, robot.foot.folded_hydrostatics, robot.foot.folding) == (
        "on",
        "off",
        "blended",
    )
    assert (robot.gravity, robot.terrain.density) == (9.81, 1000.0)
    # Front pair 0, pi; rear pair pi, 0.
    assert (robot.side_phase, robot.rear_phase) == (math.pi, math.pi)
    body = {
        "mass": 0.060,
        "inertia": 4.5e-4,
        "front_hip": -0.0566,
        "rear_hip": 0.1166,
        "hip_height": 0.0,
        "forward_drag": 0.0,
    }
    assert {name: getattr(robot.body, name) for name in body} == body
    tail = {
        "behind": 0.20,
        "above": -0.04,
        "radius": 0.030,
        "down_angle": math.radians(30.0),
        "drag_coefficient": 0.703,
    }
    # Degrees to radians.
    assert {name: getattr(robot.tail, name) for name in tail} == pytest.approx(tail, rel=1e-15)
    assert robot.drive.frequency == 8.0
    motor = {
        "voltage": 6.0,
        "resistance": 7.23,
        "torque_constant": 2.4e-3,
        "gear_ratio": 30.0,
        "efficiency": 0.85,
        "rotor_inertia": 5e-9,
        "bearing": 0.0,
    }
    assert dataclasses.asdict(runner("drive=crank-motor").system.drive) == motor
    biped = runner(scenario="water-runner-biped").system
    assert (biped.body.mass, biped.body.front_hip, biped.body.forward_drag) == (0.030, 0.0, 0.15)
    assert biped.pitch == "locked" and not biped.tail.present


# --- one foot -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("height", "velocity", "angle", "rate", "wrench"),
    [
        (-0.010, (-0.3, -1.0), 45.0, 5.0, (-0.1346908467, 0.1346908467, -9.206407795e-4)),
        (-0.010, (-0.3, 1.0), 45.0, 5.0, (-0.0559775336, -0.0889739834, -3.325860551e-4)),
        (0.005, (0.2, -0.8), 30.0, -10.0, (-0.0201111860, 0.0348335960, -5.652671718e-4)),
    ],
    ids=["pressing", "folded", "half dry"],
)
def test_foot_wrench(height, velocity, angle, rate, wrench):
    u = math.radians(angle)
    at = FootPoint(0.0, height, *velocity, math.cos(u), math.sin(u), rate)
    load = PAD.water_load(at, WATER, float(PAD.fold_speed(at) < 0))
    assert (load.fx, load.fy, load.moment) == pytest.approx(wrench, abs=1e-9)


#: Hip height [m], crank frequency [Hz], forward speed [m/s]: twelve legs that stand, three that
#: move.
LEGS = np.array(
    [
        *(
            (height, frequency, 0.0)
            for height in (0.030, 0.040, 0.050, 0.060)
            for frequency in (5.0, 8.0, 10.0)
        ),
        *((0.050, 8.0, speed) for speed in (0.5, 1.0, 1.5)),
    ]
)
STANDARD = 7  # 50 mm, 8 Hz, standing


@jax.jit
def cycle_means(foot):
    """(lift, thrust, shaft power) of each leg over a turn of its crank, the body held at its height
    and speed.

    4096 instants: the load jumps where the pad folds, so a mean errs by about 1/4096 of the jump:
    0.01 % of the lift."""

    def instant(psi, leg):
        height, frequency, speed = leg
        rate, p = 2.0 * math.pi * frequency, pose(FourBarLeg().links, *sincos(psi), 1)
        at = FootPoint(
            p.fx,
            height + p.fy,
            p.dfx * rate - speed,
            p.dfy * rate,
            p.ux,
            p.uy,
            p.coupler_rate * rate,
        )
        load = foot.water_load(at, WATER, jnp.where(foot.fold_speed(at) < 0, 1.0, 0.0))
        torque = -(load.fx * p.dfx + load.fy * p.dfy + load.moment * p.coupler_rate)
        return jnp.stack([load.fy, -load.fx, torque * rate])

    turn = 2.0 * math.pi * (jnp.arange(4096) + 0.5) / 4096
    return jax.vmap(lambda leg: jax.vmap(lambda psi: instant(psi, leg))(turn).mean(axis=0))(LEGS).T


#: Rows: hip height 30, 40, 50, 60 mm; columns: 5, 8, 10 Hz.
LIFT = [
    [0.1551, 0.3044, 0.4422],
    [0.1210, 0.2464, 0.3621],
    [0.0880, 0.1863, 0.2770],
    [0.0564, 0.1246, 0.1876],
]
THRUST = [
    [0.2169, 0.4331, 0.6327],
    [0.1801, 0.3740, 0.5529],
    [0.1398, 0.3017, 0.4513],
    [0.0935, 0.2098, 0.3172],
]
POWER = [[0.324, 1.098, 2.040], [0.264, 0.923, 1.732], [0.198, 0.713, 1.350], [0.126, 0.468, 0.893]]


def test_cycle_means_of_one_leg_with_the_body_held():
    for values, printed in zip(cycle_means(PAD), (LIFT, THRUST, POWER), strict=True):
        np.testing.assert_allclose(values[:12].reshape(4, 3), printed, rtol=3e-3)


def test_cycle_means_of_one_leg_with_the_body_moving():
    lift, thrust, _ = cycle_means(PAD)
    np.testing.assert_allclose(lift[12:], [0.1207, 0.0732, 0.0389], rtol=3e-3)
    np.testing.assert_allclose(thrust[12:], [0.1895, 0.1045, 0.0434], rtol=3e-3)


@pytest.mark.parametrize(
    ("foot", "lift", "thrust"),
    [
        (BreakawayPad(folding="hard", folded_hydrostatics="on"), 0.1966, 0.2952),
        (BreakawayPad(folding="hard", edge_radius=0.0), 0.2244, 0.2733),
        (RigidPad(), 0.1612, 0.2081),
        (
            BreakawayPad(
                folding="hard", folded_hydrostatics="on", folded_share=1.0, edge_radius=0.0
            ),
            0.1612,
            0.2081,
        ),
    ],
    ids=[
        "pressure on the folded pad too",
        "no disc across the leg",
        "never folding",
        "folding into itself",
    ],
)
def test_cycle_means_of_other_feet(foot, lift, thrust):
    assert cycle_means(foot)[:2, STANDARD] == pytest.approx((lift, thrust), rel=3e-3)


def test_lift_of_four_standing_legs_is_what_was_measured_on_prototypes():
    """Section 9: 4 x 19 = 76 g at 8 Hz and 50 mm, 27 g for each watt at the shaft; measured.

    Near 80 g.
    """
    lift, _, power = cycle_means(PAD)[:, STANDARD]
    grams = 1e3 * lift / 9.81
    assert 4 * grams == pytest.approx(76.0, abs=0.5)  # printed to the gram
    assert grams / power == pytest.approx(27.0, abs=0.5)


# --- short runs -----------------------------------------------------------------------------------


def test_probe_of_all_loads():
    robot = runner(HARD)
    x = dataclasses.replace(
        robot.start.x, x=0.0, y=0.045, pitch=0.02, vx=-0.8, vy=-0.1, pitch_rate=0.5
    )

    @jax.jit
    def sums(system, x):
        loads = all_loads(system, 0.03, x, system.mode_at(0.03, x))
        return loads.fx, loads.fy, loads.moment, loads.torque

    # Nine digits after the point are printed.
    assert sums(robot.system, x) == pytest.approx(
        (-1.057327643, 0.678935483, -0.082977257, 0.038251013), abs=5.1e-10
    )


HARD_STATES = {
    0.125: (-0.0663802, 0.0599502, -0.0956120, -0.770305, -0.150047, 1.155447),
    0.250: (-0.2082264, 0.0364734, 0.0362966, -1.324478, -0.337840, 2.277946),
}
BLENDED_STATES = {
    0.125: (-0.06637497, 0.05995318, -0.09562208, -0.7702363, -0.1500166, 1.1552516),
    0.250: (-0.20821426, 0.03647939, 0.03625608, -1.3245013, -0.3377468, 2.2783453),
}


@functools.cache
def located_by_scipy():
    """Hard folding. Dense output of order 7 is good to 1e-9 between steps."""
    return scipy_run(runner(HARD), tuple(HARD_STATES))


@pytest.mark.parametrize("t", HARD_STATES)
def test_states_of_the_system_with_hard_folding_under_scipy(t):
    """The event engine's program for hard folding takes 25 s to compile; it runs among the slow
    tests.
    """
    assert located_by_scipy()[t] == pytest.approx(HARD_STATES[t], abs=1e-5)


@pytest.mark.parametrize(
    ("folding", "states", "tolerance"),
    [
        ("blended", BLENDED_STATES, 1e-6),
        pytest.param("hard", HARD_STATES, 1e-5, marks=pytest.mark.slow),
    ],
)
def test_states_after_one_and_two_turns_of_the_crank(folding, states, tolerance):
    """In the event engine. The turn at 0.125 s is an event, so the run has a row there."""
    done = run(runner(f"foot.folding={folding}"), 0.25)
    first = done.events_named("stride")[0]
    assert first.t == pytest.approx(0.125, abs=1e-12)
    assert body_at(done, first.row_before) == pytest.approx(states[0.125], abs=tolerance)
    assert body_at(done) == pytest.approx(states[0.250], abs=tolerance)
    folds = [event for event in done.events if event.name.startswith(("fold", "unfold"))]
    assert bool(folds) == (folding == "hard")


@pytest.mark.parametrize("folding", ["blended", pytest.param("hard", marks=pytest.mark.slow)])
def test_without_a_tail_it_tips_nose_up(folding):
    done = run(runner(f"foot.folding={folding}", NO_TAIL, "body.forward_drag=0.3"), 1.0)
    assert not done["tail.wetted"].any()  # a tail out of the water is none
    assert done.outcome is Outcome.tipped_over
    assert done.ending.t == pytest.approx(0.23, abs=5e-3)  # two digits are given
    # Negative is nose up; printed to the degree.
    assert math.degrees(done["pitch"][-1]) == pytest.approx(-69.0, abs=0.5)


# --- settled motion -------------------------------------------------------------------------------


@functools.cache
def settled(*experiments):
    """Last 1.5 s of 4 s, every 2.5 ms, in the step the page recommends (2.5e-4 s); folding follows
    the state at once, as in its runs.
    """
    states = settle(
        *lanes_of([runner(*settings, scenario=name) for name, *settings in experiments]),
        4.0,
        16_000,
        1600,
    )
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:, 1000:], states)


WITH_TAIL = {
    ("drive.frequency=6",): (17.4, 1.6, 5.9, 1.152),
    (): (22.7, 1.0, 5.5, 1.559),
    ("drive.frequency=10",): (26.1, 0.8, 5.3, 1.998),
    ("body.forward_drag=0.3",): (37.0, 1.3, 0.9, 1.156),
    ("body.mass=0.1", "body.inertia=7.5e-4"): (14.1, 0.7, 5.6, 1.299),
}


def assert_settled(x, lane, height, half_range, pitch, speed):
    assert 1e3 * x.y[lane].mean() == pytest.approx(height, abs=0.5)  # mm
    # The page gives no tolerance: half of its last digit, and what the steps in which pads switch
    # add.
    assert 500.0 * np.ptp(x.y[lane]) == pytest.approx(half_range, abs=0.1)
    assert math.degrees(x.pitch[lane].mean()) == pytest.approx(pitch, abs=0.3)
    assert -x.vx[lane].mean() == pytest.approx(speed, rel=0.01)


def test_settled_motion_of_the_shipped_scenario_in_the_event_engine():
    """Folding by degrees, which shifts the means by less than the page's tolerances."""
    over = Window(default_run(), 2.5, 4.0)
    assert 1e3 * over.mean("y") == pytest.approx(22.7, abs=0.5)
    assert 1e3 * over.half_range("y") == pytest.approx(1.0, abs=0.1)
    assert math.degrees(over.mean("pitch")) == pytest.approx(5.5, abs=0.3)
    assert -over.mean("vx") == pytest.approx(1.559, rel=0.01)


def test_settled_motion_with_a_tail():
    x = settled(*(("water-runner", HARD, *settings) for settings in WITH_TAIL))
    for lane, expected in enumerate(WITH_TAIL.values()):
        assert_settled(x, lane, *expected)


def test_settled_motion_without_a_tail_and_with_the_pitch_locked():
    assert_settled(
        settled(("water-runner", HARD, "tail=no-tail", "robot.pitch=locked")),
        0,
        14.5,
        1.2,
        0.0,
        1.593,
    )


def test_settled_motion_of_the_biped():
    assert_settled(settled(("water-runner-biped", HARD)), 0, 19.4, 1.4, 0.0, 1.328)


def test_settled_motion_with_a_motor():
    """Folding by degrees. A turn takes 0.18 s here, uneven ones, and the window cuts one.

    The crank's mean depends on where.
    """
    x = settled(("water-runner", "drive=crank-motor", "start.crank_frequency=8"))
    assert_settled(x, 0, 15.6, 1.4, 6.0, 1.10)
    frequency = x.crank_rate[0] / (2.0 * math.pi)
    assert frequency.mean() == pytest.approx(5.58, rel=0.01)  # as for the other speed
    # Printed digits.
    assert (frequency.min(), frequency.max()) == pytest.approx((3.8, 9.3), abs=0.051)
    current = runner("drive=crank-motor").system.drive.current(x.crank_rate[0])
    assert current.mean() == pytest.approx(0.48, abs=0.0051)


# --- orders of accuracy (section 8) ---------------------------------------------------------------

METHODS = {
    "AB1": AdamsBashforth(1),
    "AB2": AdamsBashforth(2),
    "AB4": AdamsBashforth(4),
    "RK4": RungeKutta4(),
}


def deep(experiment):
    """Started where every pad stays under water:

    F reaches 2 mm above the hips, a pad 20 mm above F.
    """
    return started_at(experiment, dataclasses.replace(experiment.start.x, y=-0.15))


def end_of_walk(method, experiment, duration, steps):
    """In equal steps along the flow, events or not."""
    # The same numbers, from a smaller program.
    solver = LoopedRungeKutta4() if method == "RK4" else METHODS[method]
    x = walk(solver, as_floats(experiment.system), as_floats(experiment.start.x), duration, steps)
    return np.array([leaf[-1] for leaf in jax.tree.leaves(x)])


def end_of_run(experiment, duration, **changes):
    return np.array(list(run(experiment, duration, **changes).ending.state.values()))


def worst(found, exact):
    return np.max(np.abs(found - exact))


def orders(errors):
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


#: One program serves smooth and blended folding and a switch: a pad that folds into itself, over a
#: speed never reached, only carries half of the pressure all the time.
SMOOTH = ("foot.folded_share=1", "foot.edge_radius=0", "foot.blend_speed=1e9")
#: And a blend this short is a switch.
SWITCH = "foot.blend_speed=1e-12"


@pytest.mark.parametrize(("method", "order"), [("AB1", 1), ("AB2", 2), ("AB4", 4), ("RK4", 4)])
def test_methods_have_their_order_where_pads_are_deep_and_do_not_fold(method, order):
    robot = deep(runner(*SMOOTH))
    # Eight times finer than the finest below: 4000 times more accurate.
    exact = end_of_walk("RK4", robot, 0.05, 6400)
    errors = [worst(end_of_walk(method, robot, 0.05, steps), exact) for steps in (200, 400, 800)]
    np.testing.assert_allclose(orders(errors), order, atol=0.1)  # the page saw 3.9 to 4.05 for AB4


@pytest.mark.parametrize(
    ("method", "at_4000"), [("AB1", None), ("AB2", 4e-4), ("AB4", 4e-4), ("RK4", 9e-5)]
)
def test_folding_at_once_takes_the_order_of_every_method_that_does_not_look_for_it(method, at_4000):
    """A step across a fold errs by its length times a jump, whatever the method."""
    exact = located_by_scipy()[0.25]
    errors = [
        worst(end_of_walk(method, runner(SWITCH), 0.25, steps), exact)
        for steps in (1000, 2000, 4000)
    ]
    if at_4000 is None:  # it has no order to lose
        np.testing.assert_allclose(orders(errors), 1.0, atol=0.1)
    else:
        assert errors[-1] == pytest.approx(at_4000, rel=0.2)  # one digit is given
        assert orders(errors).min() < 0.5  # and no definite order


@pytest.mark.parametrize(("method", "at_4000"), [("AB2", None), ("AB4", 2.4e-7), ("RK4", 1.2e-7)])
def test_folding_by_degrees_gives_accuracy_back(method, at_4000):
    """Over 0.1 m/s. Above order 2 what is left are pads that cross the surface, where the load
    grows like depth^1.5.
    """
    robot = runner("foot.blend_speed=0.1")
    exact = end_of_run(robot, 0.25, rtol=1e-12, atol=1e-14)  # ends within 4e-11 of a run at 1e-13
    counts = (1000, 2000, 4000) if at_4000 is None else (4000,)
    errors = [worst(end_of_walk(method, robot, 0.25, steps), exact) for steps in counts]
    if at_4000 is None:
        np.testing.assert_allclose(orders(errors), 2.0, atol=0.1)
    else:
        assert errors[-1] == pytest.approx(at_4000, rel=0.05)  # two digits are given


@pytest.mark.slow  # 25 s to compile each method
@pytest.mark.parametrize(("method", "order"), [("AB2", 2), ("AB4", 4), ("RK4", 4)])
class TestWhereFoldsAreLocated:
    """Hard folding in the event engine, which lands on each fold and starts the method anew."""

    def errors(self, method, robot, duration, counts):
        # Ends within 3e-12 of a run at 1e-12.
        exact = end_of_run(robot, duration, rtol=1e-13, atol=1e-15)
        return [
            worst(end_of_run(robot, duration, solver=METHODS[method], step=duration / n), exact)
            for n in counts
        ]

    def test_folding_at_once_costs_no_order(self, method, order):
        """Pads stay deep; two of them fold."""
        robot = deep(runner(HARD))
        done = run(robot, 0.05, solver=METHODS[method], step=0.05 / 400)
        assert [event.name.partition(".")[0] for event in done.events] == ["fold", "fold"]
        found = orders(self.errors(method, robot, 0.05, (400, 800, 1600)))
        # AB4 3.78, 3.89: the Runge-Kutta steps after a fold weigh less and less.
        np.testing.assert_allclose(found, order, atol=0.3)

    def test_pads_that_cross_the_surface_are_what_is_left(self, method, order):
        """From a touch-down on the load grows like t^1.5.

        An error of h^2.5, whatever the method's order above that.
        """
        coarse, fine = self.errors(method, runner(HARD), 0.25, (1000, 4000))
        per_halving = 0.5 * math.log2(coarse / fine)  # over two: a single one is irregular
        assert per_halving == pytest.approx(min(order, 2.5), abs=0.3)
        blind = worst(end_of_walk(method, runner(SWITCH), 0.25, 4000), located_by_scipy()[0.25])
        # 5e-5, 3e-6, 7e-8 where folds are located; 4e-4, 4e-4, 9e-5 where not.
        assert fine < 0.2 * blind
