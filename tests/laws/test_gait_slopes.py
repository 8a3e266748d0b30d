"""Derivatives of a gait by parameters, and gaits of half a stride."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import footfall as ff
from footfall.engines.analysis.cycle_slopes import LARGEST, cycle_slopes
from footfall.engines.analysis.gait_peaks import peak_slopes, peaks_of
from footfall.hybrid.fields import param, signal
from footfall.hybrid.system import Event, HybridState, Jump, Rates, Travel
from footfall.scenario.gait import fine_plan, gait_gradient
from footfall.scenario.gait_landscape import GaitLandscape
from footfall.scenario.load import with_settings
from support.toys import AbstractToy, Count, Height, NoPower
from support.walkers import SpringRunner

FINE = ff.Plan(engine=ff.EventEngine(rtol=1e-12, atol=1e-13))
NUMBERS = {"stiffness": 20e3, "push": 400.0, "mass": 80.0}


def gait(near=None, **changed):
    runner = SpringRunner(damping=100.0, **(NUMBERS | changed))
    start = runner.begin(1.0, 5.0) if near is None else near
    return ff.find_cycle(runner, start, "touchdown", FINE)


def test_speed_and_cost_of_a_gait_have_the_slopes_of_richardson_differences():
    here = gait()
    names = [field.name for field in dataclasses.fields(SpringRunner)]
    leaves, tree = jax.tree.flatten(SpringRunner())
    assert len(names) == len(leaves)
    along = jax.tree.unflatten(
        tree, [np.array([float(name == moved) for moved in NUMBERS]) for name in names]
    )
    lengths = 1e-4 * np.array(list(NUMBERS.values()))
    slopes = cycle_slopes(here, along, lengths=lengths)
    for k, (name, value) in enumerate(NUMBERS.items()):

        def difference(share, name=name, value=value):
            ends = [gait(here.state, **{name: value * (1 + s * share)}) for s in (-1, 1)]
            low, high = (
                np.array(
                    [
                        found.figures["mean_speed"],
                        found.figures["cost_of_transport"],
                        abs(found.multipliers[0]),
                    ]
                )
                for found in ends
            )
            return (high - low) / (2 * share * value)

        # Two lengths, extrapolated: off by their fourth power, times the fourth power of how much
        # this gait, whose multiplier is 1.011, feels a change (some tens): 1e-8; rounding less.
        exact = (4 * difference(4e-4) - difference(8e-4)) / 3
        found = np.array([slopes[n][k] for n in ("mean_speed", "cost_of_transport", LARGEST)])
        assert found[:2] == pytest.approx(exact[:2], rel=1e-7), name
        # Differences of exact derivatives: the square of 1e-4, and 1e-11 of J over it.
        assert found[2] == pytest.approx(exact[2], rel=1e-5), name


def test_the_least_force_of_a_leg_has_the_slopes_of_richardson_differences():
    """On cubics through the steps: off by the fourth power of a step, where looks into it were off
    by their distance from the minimum (4e-3).
    """
    wheel, keys = ff.load("rimless-wheel"), ["leg.damping"]
    here = wheel.cycle("touchdown")
    slope = gait_gradient(wheel, here, keys)["least_leg_force"][0]

    def force(damping):
        system = with_settings(wheel, [f"leg.damping={damping!r}"]).system
        found = ff.find_cycle(system, here.state, "touchdown", fine_plan(wheel))
        return found.figures["least_leg_force"]

    def difference(length):
        return (force(400.0 + length) - force(400.0 - length)) / (2 * length)

    exact = (4 * difference(1.0) - difference(2.0)) / 3
    assert slope == pytest.approx(exact, rel=5e-4)


@pytest.mark.slow  # 30 s: it compiles the wheel's outputs with their derivatives
def test_peaks_of_torque_and_friction_are_those_of_a_run_and_have_the_slopes_of_differences():
    """The peak's place is held for its slope: off by as far as its place is, which is found to a
    share of 1e-5 of a stride; where it is at an end of the stride it goes with that end.
    """
    wheel, names = ff.load("rimless-wheel"), ["motor_peak_torque", "friction_needed"]
    land = GaitLandscape(wheel, {"leg.damping": None, "torso.pitch_setpoint": (0.3, 1.0)})
    assert set(names) < set(land.known) and not set(names) & set(land.own)
    land.ask(names)
    look = land.look(land.center, land.pieces[0], None)
    two = ff.Plan(duration=2.0 * land.first.period, engine=land.plan.engine, sample_rate=2e4)
    run = ff.simulate(wheel.system, land.first.state, two)
    # A peak is missed by half a sample at most: its square, times how sharply it bends.
    seen = [np.max(np.abs(run["motor.torque"])), np.max(run["foot.friction_needed"])]
    assert [look.figures[name] for name in names] == pytest.approx(seen, rel=1e-5)

    def peaks(place, length):
        share = land.center.copy()
        share[place] += length
        values = list(land.values(share, land.pieces[0]).values())
        found = land.gait(np.array(values), land.first)
        point = found.point
        highest = peaks_of(found.map, point.flat, point.counts, found.period, names)
        return np.array([highest[name].value for name in names])

    for place in range(2):

        def difference(length, place=place):
            return (peaks(place, length) - peaks(place, -length)) / (2.0 * length)

        exact = (4.0 * difference(1e-4) - difference(2e-4)) / 3.0
        slopes = [look.slopes[name][place] for name in names]
        assert slopes == pytest.approx(exact, rel=1e-4)


class Walls(AbstractToy):
    """A ball between two walls that drag it to a speed of their own: v+ = -e v +- a.

    Each flight is the mirror image of the one before: at speed u = a / (1 - e) it takes 2 / u.
    """

    restitution: float = param(0.5, doc="e")
    push: float = param(1.0, doc="a")

    @property
    def events(self):
        return Event("left", "at the left wall"), Event("right", "at the right wall")

    def flow(self, t, x, m):
        return Rates(Height(x=x.v, v=0.0 * x.v), NoPower(none=0.0 * x.v))

    def guards(self, t, x, m):
        return 1.0 + x.x, 1.0 - x.x

    def jump(self, t, x, m, k):
        sign = 1.0 if k == 0 else -1.0
        after = sign * (self.restitution * jnp.abs(x.v) + self.push)
        return Jump(Height(x=x.x, v=after), Count(n=m.n + 1))

    def mirrored(self, x, m):
        return Height(x=-x.x, v=-x.v), m


class Shaft(eqx.Module):
    torque: float = signal(unit="N m", doc="largest in the middle of a flight")


class Sole(eqx.Module):
    need: float = signal(doc="grows up to the wall")


class Seen(eqx.Module):
    motor: Shaft
    foot: Sole


class Geared(Walls):
    """From the left wall to the right and back in one stride; on its way back neither is larger."""

    @property
    def events(self):
        return Event("right", "at the right wall"), Event("left", "at the left wall")

    def guards(self, t, x, m):
        return 1.0 - x.x, 1.0 + x.x

    def jump(self, t, x, m, k):
        done = super().jump(t, x, m, 1 - k)
        return Jump(done.x, Count(n=m.n + 1))

    def outputs(self, t, x, m):
        ahead = jnp.maximum(x.v, 0.0)
        return Seen(motor=Shaft(torque=-ahead * (1.0 - x.x**2)), foot=Sole(need=ahead * x.x))

    def travel(self):
        return Travel("foot.need", ("n",), 1.0, (), friction=("foot.need",))


def test_peaks_of_a_gait_and_their_slopes_are_those_of_the_closed_form():
    """Speed u = a / (1 - e): the largest torque -u is inside of the stride, where x = 0; the largest
    need of friction u at the end of the first of its two flights, just before the right wall.
    """
    found = ff.find_cycle(Geared(), HybridState(Height(x=-1.0, v=1.9), Count(n=0)), "left")
    along = Geared(restitution=np.array([1.0, 0.0]), push=np.array([0.0, 1.0]))
    by_all, point = cycle_slopes(found, along), found.point
    names = ["motor_peak_torque", "friction_needed"]
    peaks = peaks_of(found.map, point.flat, point.counts, found.period, names)
    # From a run of rtol 1e-10; the corner from looks 1e-7 of a stride apart.
    assert peaks[names[0]].value == pytest.approx(2.0, rel=1e-8) and peaks[names[0]].sign == -1.0
    assert peaks[names[0]].phase == pytest.approx(0.25, abs=1e-5)
    assert peaks[names[1]].value == pytest.approx(2.0, rel=1e-6)
    slopes = peak_slopes(
        found.map, point.flat, point.counts, found.period, peaks, along, by_all["state"],
        by_all["period"],
    )  # fmt: skip
    assert slopes[names[0]] == pytest.approx([4.0, 2.0], rel=1e-7)  # a / (1 - e)^2, 1 / (1 - e)
    assert slopes[names[1]] == pytest.approx([4.0, 2.0], rel=1e-6)


def test_half_a_stride_by_a_mirror_is_half_of_the_whole():
    start = HybridState(Height(x=-1.0, v=1.7), Count(n=0))
    half = ff.find_cycle(Walls(), start, "right", mirror=True)
    whole = ff.find_cycle(Walls(), HybridState(Height(x=1.0, v=-1.7), Count(n=0)), "right")
    assert half.period == pytest.approx(1.0, rel=1e-10)
    assert whole.period == pytest.approx(2.0 * half.period, rel=1e-10)
    assert np.abs(half.multipliers[0]) == pytest.approx(0.5, abs=1e-9)
    assert np.abs(whole.multipliers[0]) == pytest.approx(0.25, abs=1e-9)
    with pytest.raises(ValueError, match="mirrored"):
        ff.find_cycle(SpringRunner(), SpringRunner.begin(), "apex", FINE, mirror=True)
