"""Gaits of a robot with its control computer: the cycle with a synchronised clock, against free
runs, and its multipliers.

One coarse stack (every program at whole milliseconds, 270 ticks a step) serves all tests but the
last, so that little is compiled."""

import functools

import diffrax
import jax
import numpy as np
import pytest
from tests.support.wheels import GAITS, torso_wheel, walking_cycle

from footfall import SimPlan, load
from footfall.engines.analysis.cycle import Cycle, find_cycle
from footfall.engines.analysis.return_map import NoCycle, to_section
from footfall.engines.simulate import as_arrays, as_floats
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import HybridState
from footfall.machines.rimless_wheel.states import SampledStance

EXACT = ("stack.pitch_step=0", "stack.current_step=0")
COARSE = ("stack.resolution=1 ms", "stack.low_period=1 ms")
#: The duration is the longest a step may take, and the engine's room follows from it.
PLAN = SimPlan(duration=1.0, rtol=1e-9, atol=1e-11, solver=diffrax.Tsit5())
LONG = SimPlan(duration=40.0, rtol=1e-9, atol=1e-11, solver=diffrax.Tsit5())
SETTLED, STEPS = 40, 100  # 0.75^40 of the start is left: 1e-5 of it


def wheel(*settings: str):
    return load("rimless-wheel-closed-loop", [*EXACT, *COARSE, *settings])


@functools.cache
def cycle(*settings: str) -> Cycle:
    experiment = wheel(*settings)
    return find_cycle(
        experiment.system, experiment.start, "touchdown", PLAN, warm_up=SETTLED, tolerance=1e-9
    )


def after(experiment, state: HybridState, steps: int):
    """A free run: the clock goes on through footfalls."""
    section = to_section(as_floats(experiment.system), state, "touchdown", LONG, steps)
    assert int(section.outcome) == Outcome.reached_event
    return section


def test_the_cycle_has_the_step_time_and_speed_of_the_free_run():
    """Its clock is set back by less than a tick (1 ms) at each footfall; of a step that is 0.4 %,
    of which a tenth is seen, a quarter allowed.
    """
    experiment, found = wheel(), cycle()
    first, last = (after(experiment, experiment.start, n) for n in (SETTLED, SETTLED + STEPS))
    step_time = float(last.t - first.t) / STEPS
    length = float(last.m.plant.foot_x - first.m.plant.foot_x) / STEPS
    one = after(experiment, found.state, 1)
    found_length = float(one.m.plant.foot_x) - float(found.state.m.plant.foot_x)
    # To the solver's tolerance, by another program.
    assert float(one.t) == pytest.approx(found.period, rel=1e-9)
    tick_share = 1e-3 / step_time
    # Well below the tick's share of a step.
    assert found.period == pytest.approx(step_time, rel=0.25 * tick_share)
    assert found_length / found.period == pytest.approx(length / step_time, rel=0.25 * tick_share)


def test_wherever_in_the_step_the_pitch_is_sampled_the_cycle_is_nearly_the_same():
    """What a free clock goes through.

    10 ms between samples; by its phase the step time moves by less than a thousandth.
    """
    periods = [cycle().period, *(cycle(f"stack.high_offset={ms} ms").period for ms in (3, 6))]
    assert 1e-6 < np.ptp(periods) < 1e-3 * np.mean(periods)


def test_a_controllers_memory_is_part_of_the_gait_and_positions_are_not():
    found = cycle()
    assert {
        "torso_angle",
        "programs.law.integral",
        "programs.law.derivative",
        "programs.queue.newest.pitch",
    } <= set(found.unknowns)
    # a position; a state that this plant leaves alone.
    assert not {"plant.foot_x", "pitch_integral"} & set(found.unknowns)


def name_of(path) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")


def moved(found: Cycle, direction: np.ndarray, by: float) -> HybridState:
    """The cycle's state, its unknowns moved along a direction."""
    change = dict(zip(found.unknowns, by * direction, strict=True))
    parts = (
        jax.tree_util.tree_map_with_path(lambda path, v: v + change.get(name_of(path), 0), part)
        for part in found.state
    )
    return HybridState(*parts)


def unknowns(found: Cycle, state: HybridState) -> np.ndarray:
    leaves = [leaf for part in state for leaf in jax.tree_util.tree_flatten_with_path(part)[0]]
    numbers = {name_of(path): float(value) for path, value in leaves}
    return np.array([numbers[name] for name in found.unknowns])


def test_the_derivative_is_the_slope_of_the_map_with_all_memory_in_it():
    """By central differences of 1e-4 in random directions of all 19 numbers.

    Truncation 1e-8, the solver's 1e-9 divided by the step 1e-5.
    """
    experiment, found, random = wheel(), cycle(), np.random.default_rng(1)

    def mapped(direction: np.ndarray, by: float) -> np.ndarray:
        end = after(experiment, moved(found, direction, by), 1)
        return unknowns(found, HybridState(end.x, experiment.system.restarted(end.m)))

    for _ in range(3):
        direction = random.uniform(-1, 1, len(found.unknowns))
        slope = (mapped(direction, 1e-4) - mapped(direction, -1e-4)) / 2e-4
        expected = found.derivative @ direction
        assert slope == pytest.approx(expected, abs=2e-5 * np.max(np.abs(expected)))


def test_the_gait_is_stable_and_a_push_dies_out_at_the_rate_of_its_largest_multiplier():
    """A free run pushed by 0.07 rad/s of 3.5 along the slowest direction, to either side. In a free
    run the clock's phase comes to differ too, and lets a thousandth of the motion be forgotten by
    no one: hence a push that is large beside it, few steps, and 3 % (1 to 2 % seen)."""
    experiment, found = wheel(), cycle()
    values, vectors = np.linalg.eig(found.derivative)
    slowest = int(np.argmax(np.abs(values)))
    rate, direction = values[slowest].real, vectors[:, slowest].real
    assert values[slowest] == found.multipliers[0] and values[slowest].imag == 0 and 0 < rate < 0.9
    direction = direction / np.max(np.abs(direction))
    spoke_rate = direction[found.unknowns.index("spoke_rate")]
    for steps in (3, 6):
        ends = [
            float(after(experiment, moved(found, direction, by), steps).x.spoke_rate)
            for by in (0.1, -0.1)
        ]
        left = (ends[0] - ends[1]) / (0.2 * spoke_rate)
        assert left ** (1 / steps) == pytest.approx(rate, rel=0.03)


def test_stiff_gains_with_an_old_pitch_have_no_gait():
    """The page: 20, 40, 1 with 10 ms falls after three steps.

    From the good gait's state there is none near either.
    """
    stiff = ("controller.proportional=20", "controller.integral=40", "controller.derivative=1")
    experiment = wheel(*stiff)
    with pytest.raises(NoCycle):
        find_cycle(
            experiment.system, experiment.start, "touchdown", PLAN, warm_up=SETTLED, tolerance=1e-9
        )


@pytest.mark.parametrize(
    ("setting", "why"), [("stack.pitch_step=1e-6", "rounded"), ("stack.frame_loss=0.01", "chance")]
)
def test_what_cannot_repeat_is_refused_in_words(setting, why):
    experiment = wheel(setting)
    with pytest.raises(ValueError, match=f"{setting.split('=')[0]}.*{why}"):
        find_cycle(experiment.system, experiment.start, "touchdown", PLAN)


def test_restarting_a_clock_twice_is_restarting_it_once():
    experiment = wheel()
    section = after(experiment, experiment.start, 1)
    once = as_arrays(experiment.system.restarted(section.m))
    twice = as_arrays(experiment.system.restarted(once))
    assert all(
        np.array_equal(a, b)
        for a, b in zip(jax.tree.leaves(once), jax.tree.leaves(twice), strict=True)
    )
    assert once.programs.ticks == 0 and section.m.programs.ticks > 100


@pytest.mark.slow  # 40 s of compiling: three kinds of clock
def test_the_faster_a_controller_ticks_the_nearer_its_gait_is_to_that_of_the_continuous_law():
    """Holding the torque for a period is a delay of half of it: an error of the first order in the
    step time, halved with the period.

    The derivative does not converge with it: a step has a whole number of ticks, so the integral
    over it does not see the landing move within a tick (return_map.py). That changes trace and
    determinant of the two slow directions by 2e-3 here, whatever the period; their eigenvalues lie
    so close (0.67, 0.62) that this moves each by the root of it, 0.02."""
    (leg, pitch), continuous, late = GAITS["B"], walking_cycle("B"), []
    slow = continuous.multipliers[:2]
    for period in (1e-3, 5e-4):
        sampled = torso_wheel(leg, pitch, control_period=period)
        held = SampledStance(foot_x=0.0, steps=np.int32(0), torque=0.0, ticks=np.int32(0))
        found = find_cycle(
            sampled, HybridState(continuous.state.x, held), "touchdown", PLAN, tolerance=1e-9
        )
        late.append(abs(found.period - continuous.period))
        first, second = found.multipliers[:2]
        assert (first + second, first * second) == pytest.approx(
            (slow[0] + slow[1], slow[0] * slow[1]), abs=3e-3
        )
    assert late[0] < 1e-3 * 0.1 and late[1] == pytest.approx(0.5 * late[0], rel=0.15)
