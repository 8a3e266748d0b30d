"""The rigid rimless wheel has a gait in closed form (McGeer, Coleman).

The simulated one must be that one.
"""

import math
from typing import NamedTuple

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq

from footfall.engines.analysis.cycle import find_cycle
from footfall.engines.analysis.return_map import NoCycle
from footfall.hybrid.outcome import Outcome
from footfall.machines.rimless_wheel.rigid_wheel import RigidWheel
from support.wheels import (
    ALPHA,
    FINE,
    GRAVITY,
    HALF,
    LENGTH,
    MASS,
    rigid_start,
    rigid_wheel,
    run,
    section_after,
)


class Gait(NamedTuple):
    """Steady rolling down a slope, driven by a constant wheel torque.

    Energy between impacts, angular momentum at them.
    """

    slope: float = 0.0
    torque: float = 0.0
    inertia: float = 0.0

    @property
    def wheel(self) -> RigidWheel:
        return rigid_wheel(self.slope, self.torque, self.inertia)

    @property
    def about_foot(self) -> float:
        return MASS * LENGTH**2 + self.inertia

    @property
    def kept(self) -> float:
        """lambda: share of the spoke rate that passes an impact."""
        return 1.0 - MASS * LENGTH**2 * (1.0 - math.cos(ALPHA)) / self.about_foot

    @property
    def gained(self) -> float:
        """Growth of the squared spoke rate from impact to impact."""
        fall = 2.0 * LENGTH * math.sin(HALF) * math.sin(self.slope)
        return 2.0 * (MASS * GRAVITY * fall + self.torque * ALPHA) / self.about_foot

    @property
    def rate_after(self) -> float:
        return math.sqrt(self.kept**2 * self.gained / (1.0 - self.kept**2))

    @property
    def rate_before(self) -> float:
        return self.rate_after / self.kept

    def rate_squared(self, angle: mpmath.mpf) -> mpmath.mpf:
        """At a spoke angle inside the step."""
        drop = mpmath.cos(HALF - self.slope) - mpmath.cos(angle - self.slope)
        gain = MASS * GRAVITY * LENGTH * drop + self.torque * (HALF - angle)
        return self.rate_after**2 + 2 * gain / self.about_foot

    @property
    def step_time(self) -> float:
        """By quadrature: the only number here without a formula."""
        slowest = self.slope + math.asin(min(1.0, self.torque / (MASS * GRAVITY * LENGTH)))
        with mpmath.workdps(30):
            return float(
                mpmath.quad(lambda a: 1 / mpmath.sqrt(self.rate_squared(a)), [-HALF, slowest, HALF])
            )

    @property
    def speed(self) -> float:
        return 2.0 * LENGTH * math.sin(HALF) / self.step_time


def critical_slope() -> float:
    """Where the steady rate just carries the hub over the foot."""
    return brentq(lambda slope: float(Gait(slope).rate_squared(slope)), 1e-3, 0.2, xtol=1e-15)


def contact_loss_slope() -> float:
    """Where the foot carries nothing just before the impact."""
    return brentq(
        lambda slope: Gait(slope).rate_before ** 2 - GRAVITY / LENGTH * math.cos(HALF + slope),
        0.1,
        0.4,
        xtol=1e-15,
    )


def least_torque() -> float:
    """On the level: where the steady rate just carries the hub over its highest moment."""

    def left_at_the_top(torque: float) -> float:
        return float(
            Gait(torque=torque).rate_squared(mpmath.asin(torque / (MASS * GRAVITY * LENGTH)))
        )

    return brentq(left_at_the_top, 0.1, 1.2, xtol=1e-15)


GAITS = {
    "slope 0.08": Gait(slope=0.08),
    "slope 0.12": Gait(slope=0.12),
    "torque 1.2 on the level": Gait(torque=1.2),
    "inertia": Gait(slope=0.08, inertia=0.05),
    "inertia and torque": Gait(slope=0.12, torque=0.3, inertia=0.2),
}
each_gait = pytest.mark.parametrize("gait", GAITS.values(), ids=GAITS.keys())


@pytest.mark.parametrize(
    ("gait", "page"),
    [
        (GAITS["slope 0.08"], (2.657182, 3.284457, 0.251503, 0.638915)),
        (GAITS["slope 0.12"], (3.252200, 4.019940, 0.192094, 0.836511)),
        (GAITS["torque 1.2 on the level"], (2.472989, 3.056782, 0.280316, 0.573242)),
    ],
    ids=["slope 0.08", "slope 0.12", "torque 1.2"],
)
def test_reference_gaits_are_the_closed_forms(gait, page):
    assert (gait.rate_after, gait.rate_before, gait.step_time, gait.speed) == pytest.approx(
        page, abs=1e-6
    )


def test_reference_limits_are_the_closed_forms():
    assert (Gait().kept, Gait().kept ** 2) == pytest.approx((0.809017, 0.654508), abs=1e-6)
    assert critical_slope() == pytest.approx(0.033439, abs=1e-6)
    assert math.degrees(critical_slope()) == pytest.approx(1.9159, abs=1e-4)
    assert contact_loss_slope() == pytest.approx(0.239978, abs=1e-6)
    assert math.degrees(contact_loss_slope()) == pytest.approx(13.7497, abs=1e-4)
    assert least_torque() == pytest.approx(0.57971, abs=1e-5)
    # The torso's lean for it.
    assert math.asin(least_torque() / (4.45 * GRAVITY * 0.06)) == pytest.approx(0.2232, abs=1e-4)


@each_gait
def test_gait_and_its_multiplier_match_the_closed_form(gait):
    """Solver at 1e-10 a step, Newton to 1e-12.

    Fixed point, period, speed and multiplier to 1e-10.
    """
    cycle = find_cycle(gait.wheel, rigid_start(3.0), "touchdown", FINE)
    assert -float(cycle.state.x.spoke_rate) == pytest.approx(gait.rate_after, rel=1e-10)
    assert float(cycle.state.x.spoke_angle) == pytest.approx(HALF, rel=1e-10)
    assert cycle.period == pytest.approx(gait.step_time, rel=1e-10)
    assert cycle.multipliers[0] == pytest.approx(gait.kept**2, rel=1e-10)
    assert abs(cycle.multipliers[1]) < 1e-10  # the angle at touch-down is always the same


@each_gait
def test_multiplier_is_the_slope_of_the_return_map(gait):
    """By central differences, which know nothing of derivatives through events."""
    step = 1e-3
    rates = (gait.rate_after + step, gait.rate_after - step)
    above, below = (
        -float(section_after(gait.wheel, rigid_start(rate), "touchdown").spoke_rate)
        for rate in rates
    )
    slope = (above - below) / (2 * step)
    # The map is lambda sqrt(w^2 + gained): truncation step^2/2 (1 - lambda^2)/w^2 lambda^2, below
    # 4e-8; the solver's 1e-10 of 4 rad/s, divided by the step, 4e-7.
    assert slope == pytest.approx(gait.kept**2, abs=5e-7)


@each_gait
def test_simulated_steps_have_the_quadrature_time_and_speed(gait):
    done = run(gait.wheel, rigid_start(gait.rate_after), 3.5 * gait.step_time, FINE)
    landings = done.events_named("touchdown")
    assert len(landings) == 3
    assert np.diff([0.0, *(event.t for event in landings)]) == pytest.approx(
        gait.step_time, rel=1e-9
    )
    before = [done["spoke_rate"][event.row_before] for event in landings]
    assert before == pytest.approx([-gait.rate_before] * 3, rel=1e-9)
    distance = done["travel.distance"]
    gone = distance[landings[-1].row_after] - distance[landings[0].row_after]
    assert gone / (landings[-1].t - landings[0].t) == pytest.approx(gait.speed, rel=1e-9)
    assert done["steps"][-1] == 3


@pytest.mark.parametrize(
    ("limit", "gait_at"),
    [
        (critical_slope, lambda slope: Gait(slope=slope)),
        (least_torque, lambda torque: Gait(torque=torque)),
    ],
    ids=["critical slope", "least torque"],
)
def test_wheel_rolls_just_above_the_limit_and_rocks_back_just_below(limit, gait_at):
    """From the steady rate, a millionth to either side.

    Ten thousand times the solver's tolerance.
    """
    above, below = (gait_at(limit() * (1 + change)) for change in (1e-6, -1e-6))
    rolls = run(above.wheel, rigid_start(above.rate_after), 6.0, FINE)
    stops = run(below.wheel, rigid_start(below.rate_after), 6.0, FINE)
    assert rolls.outcome is Outcome.reached_end and len(rolls.events_named("touchdown")) >= 2
    assert stops.outcome is Outcome.rocked_back and not stops.events_named("touchdown")
    # Back on the spoke it came from.
    assert stops.ending.state["spoke_angle"] == pytest.approx(HALF, abs=1e-9)


def test_no_gait_is_found_below_the_critical_slope():
    with pytest.raises(NoCycle, match="rocked_back"):
        find_cycle(Gait(0.9 * critical_slope()).wheel, rigid_start(1.5), "touchdown", FINE)


def test_foot_lifts_just_above_the_contact_loss_slope_and_holds_just_below():
    above, below = (Gait(contact_loss_slope() * (1 + change)) for change in (1e-6, -1e-6))
    lifts = run(above.wheel, rigid_start(above.rate_after), 2.0, FINE)
    holds = run(below.wheel, rigid_start(below.rate_after), 2.0, FINE)
    assert lifts.outcome is Outcome.lifted_off and not lifts.events_named("touchdown")
    angle, rate = lifts.ending.state["spoke_angle"], lifts.ending.state["spoke_rate"]
    # Weight along the spoke.
    assert rate**2 * LENGTH == pytest.approx(GRAVITY * math.cos(angle - above.slope), rel=1e-9)
    assert holds.outcome is Outcome.reached_end
    force = holds["foot.fz"][[event.row_before for event in holds.events_named("touchdown")]]
    # A millionth from nothing.
    assert len(force) > 10 and np.all(force > 0) and np.all(force < 1e-4 * MASS * GRAVITY)
