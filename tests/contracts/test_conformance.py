"""check_system finds what it says it finds: each test breaks a system in one way."""

import inspect

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from footfall import HybridState, check_system, load
from footfall.engines.analysis.check_system import KEPT, look_around
from footfall.engines.plan import SimPlan
from footfall.hybrid.conformance import ConformanceError
from footfall.hybrid.fields import port
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import Event, Jump, Rates, Travel
from support.toys import Ball, Bounce, Count, Height, Heights, ManyBalls, PerBall, SpringHopper


def start():
    return Ball.begin(Height(x=0.5, v=-1.0))


def test_a_right_system_passes():
    assert check_system(Ball(), start()).ok


def test_a_velocity_with_the_wrong_sign_is_found():
    class Wrong(Ball):
        def flow(self, t, x, m):
            rates = super().flow(t, x, m)
            return Rates(Height(x=-x.v, v=rates.x.v), rates.power)

    with pytest.raises(ConformanceError, match="FAIL  velocities are derivatives"):
        check_system(Wrong(), start())


def test_energy_from_nowhere_is_found():
    class Wrong(Ball):
        def flow(self, t, x, m):
            return (
                super().flow(t, x, m)._replace(x=Height(x=x.v, v=-0.9 * self.gravity + 0.0 * x.v))
            )

    with pytest.raises(ConformanceError, match="FAIL  the rate of the stores"):
        check_system(Wrong(), start())


def test_a_jump_that_hides_its_loss_is_found():
    class Wrong(Ball):
        def jump(self, t, x, m, k):
            jump = super().jump(t, x, m, k)
            return Jump(
                jump.x, jump.m, eqx.tree_at(lambda w: w.impact, jump.work, 0.5 * jump.work.impact)
            )

    with pytest.raises(ConformanceError, match='FAIL  jump "bounce" reports'):
        check_system(Wrong(), start())


def test_a_loss_that_gives_is_found():
    class Giving(eqx.Module):
        none: float = port(kind="loss", doc="gives")

    class Wrong(Ball):
        def flow(self, t, x, m):
            rates = super().flow(t, x, m)
            return Rates(Height(x=x.v, v=rates.x.v + 0.1 * x.v), Giving(none=0.1 * x.v**2))

    with pytest.raises(ConformanceError, match="FAIL  loss ports never give"):
        check_system(Wrong(), start())


def test_a_model_with_memory_is_found():
    calls = []

    class Wrong(Ball):
        def outputs(self, t, x, m):
            calls.append(1)
            outputs = super().outputs(t, x, m)
            return eqx.tree_at(lambda o: o.value.x, outputs, outputs.value.x + len(calls))

    with pytest.raises(ConformanceError, match="FAIL  the same call gives the same answer"):
        check_system(Wrong(), start())


def test_an_exception_inside_a_model_is_reported_as_a_failed_check():
    class Wrong(Ball):
        def guards(self, t, x, m):
            raise RuntimeError("half built")

    with pytest.raises(ConformanceError, match="RuntimeError: half built"):
        check_system(Wrong(), start())


def test_a_sketch_of_something_that_is_not_there_is_found():
    from footfall.scene.sketch import Ball as BallShape

    class Wrong(Ball):
        def sketch(self):
            return (BallShape("nobody", (0.0, 0.0, 0.0), 0.1),)

    with pytest.raises(ConformanceError, match="no outputs called nobody"):
        check_system(Wrong(), start())


def test_what_starts_armed_is_told():
    experiment = load("rimless-wheel")
    report = check_system(experiment.system, experiment.start)
    detail = next(c.detail for c in report.checks if c.claim == "guards are finite at the start")
    armed, waiting = (part.partition(": ")[2].split(", ") for part in detail.split("; "))
    # The foot it comes from stands on the ground: rounding says whether that counts already.
    assert [name for name in armed if name != "rock_back"] == [
        "touchdown",
        "fall",
        "turn_back",
        "touchdown_behind",
    ]
    assert [name for name in waiting if name != "rock_back"] == ["liftoff"]


def test_what_is_not_a_number_near_the_start_is_found():
    class Wrong(Ball):
        def flow(self, t, x, m):
            rates = super().flow(t, x, m)
            return Rates(Height(x=jnp.where(x.x > 0.51, jnp.nan, x.v), v=rates.x.v), rates.power)

    with pytest.raises(ConformanceError, match="FAIL  velocities are derivatives"):
        check_system(Wrong(), start())


def test_every_leg_is_checked_not_only_the_first():
    class Wrong(ManyBalls):
        def jump(self, t, x, m, k, leg):
            jump = super().jump(t, x, m, k, leg)
            return jump._replace(x=Heights(x=jump.x.x, v=jnp.where(leg > 0, 2.0, 1.0) * jump.x.v))

    many = HybridState(
        Heights(x=np.full(3, 0.5), v=np.full(3, -1.0)), PerBall(n=np.zeros(3, np.int32))
    )
    assert check_system(ManyBalls(), many).ok
    with pytest.raises(ConformanceError, match='FAIL  jump "bounce" reports'):
        check_system(Wrong(), many)


def test_progress_measured_by_what_is_not_there_is_found():
    class Wrong(Ball):
        def travel(self):
            return Travel("hub.x", ("n",), 1.0, ())

    with pytest.raises(ConformanceError, match=r"no such signal: hub\.x"):
        check_system(Wrong(), start())


def test_an_output_with_the_name_of_a_state_is_found():
    class Wrong(Ball):
        def outputs(self, t, x, m):
            return x  # its signals go by the names of the states

    with pytest.raises(
        ConformanceError,
        match="FAIL  states, discrete states and outputs have names of their own: v, x",
    ):
        check_system(Wrong(), start())


# --- along a run ----------------------------------------------------------------------------------


def dropped():
    return SpringHopper.begin(Height(x=1.1, v=0.0))


def test_a_jump_is_examined_where_it_happens_and_nowhere_else():
    """In flight, where it never happens, the hopper's push would report energy that its spring does
    not have.
    """
    report = check_system(SpringHopper(), dropped())
    seen = {check.claim: check.detail for check in report.checks}
    assert all(
        f"at {KEPT} states" in seen[f'jump "{name}" reports the energy it takes']
        for name in ("bottom", "liftoff")
    )


def test_a_port_that_is_wrong_in_the_second_mode_only_is_found_and_its_file_and_line_told():
    class Wrong(SpringHopper):
        def flow(self, t, x, m):
            rates = super().flow(t, x, m)
            return Rates(
                rates.x, eqx.tree_at(lambda p: p.damper, rates.power, 3.0 * rates.power.damper)
            )

    with pytest.raises(ConformanceError) as told:
        check_system(Wrong(), dropped())
    failed = [line for line in str(told.value).splitlines() if line.startswith("FAIL")]
    line = inspect.getsourcelines(Wrong.flow)[1]
    assert len(failed) == 1 and "the rate of the stores" in failed[0]
    assert 'after "touchdown"' in failed[0] or 'after "bottom"' in failed[0]  # in stance
    assert f"test_conformance.py:{line} (flow)" in failed[0]


def test_a_jump_that_is_wrong_at_its_own_event_is_found_with_its_line():
    class Wrong(SpringHopper):
        def jump(self, t, x, m, k):
            jump = super().jump(t, x, m, k)
            return jump._replace(
                work=eqx.tree_at(lambda w: w.push, jump.work, 0.5 * jump.work.push)
            )

    with pytest.raises(ConformanceError, match='FAIL  jump "bottom" reports') as told:
        check_system(Wrong(), dropped())
    assert f"test_conformance.py:{inspect.getsourcelines(Wrong.jump)[1]} (jump)" in str(told.value)


def test_an_event_that_is_not_reached_is_neither_invented_nor_called_ok():
    high = SpringHopper.begin(Height(x=1000.0, v=0.0))  # 14 s above the ground
    report = check_system(SpringHopper(), high)
    assert report.ok and not report.whole
    missed = [check for check in report.checks if check.ok is None]
    assert [check.detail.partition(";")[0] for check in missed] == [
        "touchdown",
        "bottom",
        "liftoff",
    ]
    assert "--    not reached: bottom; its jump was not checked (a run of 10 s)" in str(report)
    assert not any("reports the energy" in check.claim for check in report.checks)


def test_of_like_legs_those_that_were_not_reached_are_named():
    many = HybridState(
        Heights(x=np.array([0.5, 1000.0, 0.5]), v=np.zeros(3)), PerBall(n=np.zeros(3, np.int32))
    )
    report = check_system(ManyBalls(), many)
    assert [check.detail for check in report.checks if check.ok is None] == [
        "bounce of legs 1; its jump was not checked (a run of 10 s)"
    ]


def test_a_jump_whose_loss_gives_energy_is_found():
    """Its books close: a ball that bounces faster than it fell, and says so."""

    class Wrong(Ball):
        def jump(self, t, x, m, k):
            after = -1.001 * x.v
            return Jump(
                Height(x=x.x, v=after), Count(n=m.n + 1), Bounce(impact=0.5 * (after**2 - x.v**2))
            )

    with pytest.raises(
        ConformanceError, match=r'FAIL  jump "bounce" reports .*; these losses give energy: impact'
    ):
        check_system(Wrong(), start())


@pytest.mark.parametrize("height", [0.0, 1e-17, -1e-17])
def test_a_start_within_rounding_of_a_guard_has_its_event_and_a_wrong_jump_is_found(height):
    """On the ground and falling.

    By the rule of the engines it bounces there, or is below the ground for ever.
    """

    class Wrong(Ball):
        def jump(self, t, x, m, k):
            jump = super().jump(t, x, m, k)
            return jump._replace(
                work=eqx.tree_at(lambda w: w.impact, jump.work, 0.5 * jump.work.impact)
            )

    on_the_ground = Ball.begin(Height(x=height, v=-1.0))
    assert check_system(Ball(), on_the_ground).whole
    with pytest.raises(ConformanceError, match='FAIL  jump "bounce" reports'):
        check_system(Wrong(), on_the_ground)


class Restarting(Ball):
    """After each bounce the ball must rise above 1 mm, and once it comes down through that its run
    is over. Just after a bounce it is below: only since the bounce restarts that guard does the
    ball bounce more than once."""

    said: tuple[str, ...] = eqx.field(static=True, default=("low",))

    @property
    def events(self):
        return (
            Event("bounce", "the floor", restarts=self.said),
            Event("low", "below 1 mm after a bounce", Outcome.fell),
        )

    def guards(self, t, x, m):
        return x.x, jnp.where(m.n == 1, x.x - 1e-3, 1.0)


def test_what_a_jump_restarts_waits():
    """With it the ball bounces, rises, and its run ends on the way down; without it, in the instant
    of the bounce.
    """
    ends = [look_around(Restarting(said=said), start(), SimPlan()) for said in (("low",), ())]
    assert [journey.ended for journey in ends] == ["fell", "fell"]
    bounce = float(ends[1].at(0)[0].t)
    # v = sqrt(1 + 10) / 2 up, down again to 1 mm: (v + sqrt(v^2 - 2 g 1 mm)) / g later
    v = 0.5 * np.sqrt(11.0)
    assert [journey.t - bounce for journey in ends] == pytest.approx(
        [(v + np.sqrt(v * v - 0.02)) / 10.0, 0.0], abs=1e-9
    )


def test_restarts_that_name_nothing_are_found():
    with pytest.raises(ConformanceError, match=r"FAIL  restarts name events: lo\b"):
        check_system(Restarting(said=("lo",)), start())
