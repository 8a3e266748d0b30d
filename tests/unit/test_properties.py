"""Whatever the parameters inside their bounds, a run ends with an outcome that explains itself, and
nothing else escapes.
"""

import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from footfall.engines.analysis.summary import summarise
from footfall.engines.plan import SimPlan
from footfall.engines.simulate import simulate
from footfall.hybrid.outcome import Outcome
from footfall.machines.parts.terrain.planes import Slope
from footfall.machines.rimless_wheel.pitch_laws import PitchPid
from footfall.machines.rimless_wheel.rigid_wheel import RigidWheel
from footfall.machines.rimless_wheel.spring_leg import SpringLeg
from footfall.machines.rimless_wheel.start import RigidWheelStart, TorsoWheelStart
from footfall.machines.rimless_wheel.strut import Strut
from footfall.machines.rimless_wheel.torso import Torso
from footfall.machines.rimless_wheel.torso_wheel import TorsoWheel
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load

#: Ten spokes throughout, one solver, one sampling: every example runs the program that the first
#: one compiled.
PLAN = SimPlan(duration=1.5, sample_rate=50.0)
EXAMPLES = 60  # 20 ms each once compiled
#: Outcomes a run may end with here: nobody interrupts it, and it is not sent to an event.
ENDS = set(Outcome) - {Outcome.running, Outcome.interrupted, Outcome.reached_event}


def assert_explained(run, plan=PLAN):
    """Ended for a named reason, in words, at a time inside the span, with rows in order and books
    that can be read.
    """
    assert run.outcome in ENDS
    sentence = run.ending.sentence
    assert run.outcome.name in sentence and run.outcome.meaning in sentence
    assert 0.0 <= run.ending.t <= plan.duration
    by_event = run.outcome in (Outcome.fell, Outcome.rocked_back, Outcome.lifted_off)
    assert (run.ending.event is not None) or not by_event
    assert (run.ending.t == plan.duration) or run.outcome is not Outcome.reached_end
    assert np.all(np.diff(run.t) >= 0) and np.all(np.diff(run.j) >= 0)
    if run.outcome is not Outcome.diverged:
        assert run.t[-1] == run.ending.t
        assert all(np.all(np.isfinite(values)) for values in run.columns.values())
        assert all(np.isfinite(value) for value in run.ending.state.values())
        assert np.isfinite(run.ledger.residual)
        # rtol 1e-8 a step, some steps adding up; the absolute part is rounding of stores of 1e4 J,
        # for wheels that hardly move.
        assert abs(run.ledger.residual) <= 1e-7 * run.ledger.throughput + 1e-9
    json.dumps(summarise(run).to_dict(), allow_nan=False)


def simulated(system, start, plan=PLAN):
    return simulate(system, start.state(system), plan)


@settings(max_examples=EXAMPLES)
@given(
    mass=st.floats(1e-3, 1e3),
    length=st.floats(0.01, 10.0),
    inertia=st.floats(0.0, 10.0),
    torque=st.floats(-20.0, 20.0),
    gravity=st.floats(0.1, 30.0),
    slope=st.floats(-1.4, 1.4),
    angle=st.floats(
        -0.3141, 0.3141
    ),  # beyond half the spacing another spoke would start below ground
    rate=st.floats(-15.0, 15.0),
)
@example(
    mass=6.91, length=0.26, inertia=0.0, torque=0.0, gravity=9.81, slope=0.08, angle=0.0, rate=0.0
)  # balanced to start with
@example(
    mass=6.91, length=0.26, inertia=0.0, torque=0.0, gravity=9.81, slope=0.0, angle=0.0, rate=0.0
)  # balanced for ever
@example(
    mass=6.91, length=0.26, inertia=0.0, torque=0.0, gravity=9.81, slope=0.08, angle=0.0, rate=-1e4
)  # flies off at once
@example(
    mass=1e-3,
    length=0.01,
    inertia=10.0,
    torque=20.0,
    gravity=0.1,
    slope=1.4,
    angle=-0.3141,
    rate=15.0,
)
def test_a_rigid_wheel_always_ends_with_an_explained_outcome(
    mass, length, inertia, torque, gravity, slope, angle, rate
):
    wheel = RigidWheel(
        mass=mass,
        inertia=inertia,
        wheel_torque=torque,
        gravity=gravity,
        spokes=10,
        leg=Strut(length=length),
        terrain=Slope(angle=slope),
    )
    assert_explained(simulated(wheel, RigidWheelStart(spoke_angle=angle, spoke_rate=rate)))


# Parameters are drawn so that the fastest time constants stay above 1e-4 s: damping over mass, and
# derivative gain over the torso's inertia m c^2 + J. Inside the declared bounds stiffer robots
# exist; an explicit solver walks them too, but slowly (the shipped stiff wheel takes 25 000 steps
# for 5 s), and they would only test patience.
@settings(max_examples=EXAMPLES)
@given(
    wheel_mass=st.floats(0.5, 20.0),
    wheel_inertia=st.floats(0.0, 0.5),
    stiffness=st.floats(1e2, 1e6),
    damping=st.floats(0.0, 1e4),
    torso_mass=st.floats(1.0, 20.0),
    com_distance=st.floats(0.03, 0.2),
    torso_inertia=st.floats(0.0, 0.5),
    pitch_setpoint=st.floats(-3.1, 3.1),
    gains=st.tuples(st.floats(0.0, 100.0), st.floats(0.0, 200.0), st.floats(0.0, 5.0)),
    slope=st.floats(-0.5, 0.5),
    angle=st.floats(-0.3141, 0.3141),
    rate=st.floats(-6.0, 4.0),
)
@example(
    2.46, 0.0, 15000.0, 400.0, 4.45, 0.06, 0.0, 0.6, (20.0, 40.0, 1.0), 0.0, 0.3141, -3.5
)  # the robot itself
@example(
    2.46, 0.0, 1e2, 0.0, 4.45, 0.06, 0.0, 0.6, (20.0, 40.0, 1.0), 0.0, 0.3141, -3.5
)  # spokes too soft to stand on
@example(2.46, 0.0, 1e6, 1e4, 4.45, 0.06, 0.0, 0.6, (0.0, 0.0, 0.0), 0.0, 0.0, 0.0)
def test_a_wheel_with_a_torso_always_ends_with_an_explained_outcome(
    wheel_mass,
    wheel_inertia,
    stiffness,
    damping,
    torso_mass,
    com_distance,
    torso_inertia,
    pitch_setpoint,
    gains,
    slope,
    angle,
    rate,
):
    wheel = TorsoWheel(
        wheel_mass=wheel_mass,
        wheel_inertia=wheel_inertia,
        spokes=10,
        leg=SpringLeg(rest_length=0.26, stiffness=stiffness, damping=damping),
        torso=Torso(
            mass=torso_mass,
            com_distance=com_distance,
            inertia=torso_inertia,
            pitch_setpoint=pitch_setpoint,
        ),
        controller=PitchPid(*gains),
        terrain=Slope(angle=slope),
    )
    assert_explained(simulated(wheel, TorsoWheelStart(spoke_angle=angle, spoke_rate=rate)))


def test_an_event_at_the_first_instant_leaves_rows_of_the_start_state():
    """Upright and fast: the spoke would have to pull at once.

    All that can be recorded is the start, on both sides of the event.
    """
    experiment = load("rimless-wheel", ["start.spoke_angle=0", "start.spoke_rate=-8"])
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert (run.outcome, run.ending.t) == (Outcome.lifted_off, 0.0)
    np.testing.assert_array_equal(run["spoke_length"], 0.26)
    np.testing.assert_array_equal(run["spoke_rate"], -8.0)
    assert all(np.all(np.isfinite(values)) for values in run.columns.values())


@pytest.mark.parametrize("settings", [["torso.mass=0"], ["torso.com_distance=0"]])
def test_a_torso_without_inertia_diverges_in_words(settings):
    """Zero is inside the declared bounds, but then nothing resists the motors.

    The equations have no solution.
    """
    experiment = load("rimless-wheel", settings, duration=0.5)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.outcome is Outcome.diverged
    assert_explained(run, experiment.plan)


@pytest.mark.parametrize("name", ["passive-wheel", "rimless-wheel"])
def test_without_gravity_a_run_still_ends_in_words(name):
    experiment = load(name, ["gravity=0"], duration=0.5)
    assert_explained(
        simulate(experiment.system, experiment.start, experiment.plan), experiment.plan
    )


def test_a_number_of_jumps_beyond_32_bits_is_refused():
    with pytest.raises(ScenarioError, match=r"max_jumps.*out of range"):
        load("passive-wheel", ["sim.max_jumps=1e12"])
