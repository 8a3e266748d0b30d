"""Gaits of two classics: published numbers, families over energy, places that hide, period two."""

import jax
import numpy as np
import pytest

import footfall as ff
from footfall.engines.analysis.return_map import NoCycle
from support.walkers import SimplestWalker, SpringRunner

FINE = ff.Plan(engine=ff.EventEngine(rtol=1e-12, atol=1e-13))


def walking(slope=0.009, stance=0.2, rate=-0.2, **how):
    walker = SimplestWalker(slope=slope)
    return ff.find_cycle(walker, walker.begin(stance, rate), "heelstrike", FINE, **how)


def running(height=1.0, place=0.0, event="apex", **numbers):
    runner = SpringRunner(**numbers)
    return ff.find_cycle(runner, runner.begin(height, 5.0, place), event, FINE)


def test_both_gaits_of_the_simplest_walker_are_the_published_ones():
    """Garcia, Chatterjee, Ruina, Coleman 1998, at slope 0.009; true to about 4e-14."""
    found = walking()
    legs = found.state.x
    assert float(legs.stance) == pytest.approx(0.200310900544287, abs=1e-12)
    assert float(legs.stance_rate) == pytest.approx(-0.199832473004977, abs=1e-12)
    assert found.stable and "coming round in 3.31 steps" in found.modes[0].words
    legs = walking(stance=0.193, rate=-0.205).state.x
    # The short gait, unstable, which the same paper has.
    assert float(legs.stance) == pytest.approx(0.193937369810184, abs=1e-12)
    assert float(legs.stance_rate) == pytest.approx(-0.203866927442010, abs=1e-12)


def test_the_picture_of_a_pairs_return_map_has_the_slope_of_its_real_part():
    found = walking()
    (axes,) = (a for a in found.plot().axes if "slowest mode" in a.get_xlabel())
    across, after = (np.asarray(values) for values in axes.lines[1].get_data())
    near = np.isfinite(after) & (np.abs(across) < 16.0)
    assert near.sum() > 8
    # A polynomial of the sixth order through a sixth of a step to either side.
    slope = np.polyfit(across[near] / 16.0, after[near] / 16.0, 6)[-2]
    assert slope == pytest.approx(found.multipliers[0].real, abs=5e-3)
    assert abs(found.multipliers[0].imag) > 0.5


def test_a_guess_off_the_mark_finds_the_gait_or_says_that_it_fell():
    assert walking(stance=0.3, rate=-0.3).period == pytest.approx(walking().period, rel=1e-11)
    with pytest.raises(NoCycle, match='no "heelstrike" within'):
        walking(slope=0.3, stance=0.1, rate=0.3)


def test_past_the_first_period_doubling_a_gait_of_two_steps_is_stable():
    once = walking(slope=0.016, stance=0.243, rate=-0.238)
    twice = walking(slope=0.016, stance=0.26, rate=-0.25, count=2)
    assert not once.stable and once.multipliers[0].real < -1.0
    assert twice.stable and twice.repeats_after == 2
    assert twice.period == pytest.approx(2 * once.period, rel=0.05)
    assert walking(count=2).repeats_after == 1


def test_a_runner_without_losses_has_a_gait_at_each_energy():
    """80 kg, 20 kN/m, 68 deg, 5 m/s at 1 m: apex to apex.

    Its multiplier at fixed energy is that of the apex map of one number, by differences.
    """
    found = running()
    energy = 80.0 * (0.5 * 25.0 + 9.81 * 1.0)
    assert found.held == {"energy": pytest.approx(energy, rel=1e-12)}
    body = found.state.x
    assert 80.0 * (0.5 * body.vx**2 + 9.81 * body.z) == pytest.approx(energy, rel=1e-12)

    def height_after(height):
        speed = np.sqrt(2.0 * (energy / 80.0 - 9.81 * height))
        flat = np.array(found.map.start)
        names = found.map.names
        flat[[names.index(n) for n in ("z", "vx", "vz")]] = height, speed, 0.0
        after = found.map.at(flat, found.map.counts).stride.numbers
        return after[names.index("z")]

    h = 1e-5
    slope = (height_after(body.z + h) - height_after(body.z - h)) / (2 * h)
    # h^2 / 6 of the map's third derivative, some hundreds per m^2.
    assert found.multipliers[0].real == pytest.approx(slope, abs=1e-6)
    assert found.multipliers[0].real == pytest.approx(-0.1613, abs=5e-5)
    assert running(height=1.05).held["energy"] > energy


@pytest.mark.parametrize("event", ["apex", "touchdown"])
def test_a_place_that_hides_in_the_foothold_does_not_matter(event):
    """Losses and thrust leave one gait; x and foot may be shifted together."""
    near = running(event=event, damping=100.0, push=400.0)
    far = running(event=event, damping=100.0, push=400.0, place=1000.0)
    assert near.figures["mean_speed"] == pytest.approx(5.200483523, rel=1e-9)
    # Twelve digits of a place of 1000 m leave 1e-12 of a step of 1 m, grown by Newton's matrix.
    assert far.figures["mean_speed"] == pytest.approx(near.figures["mean_speed"], rel=1e-9)
    work = [value for name, value in near.figures.items() if name.startswith("work.")]
    assert sum(work) == pytest.approx(0.0, abs=1e-10 * max(work))  # stores are as they were
    assert "x" not in near.unknowns and "foot" in near.unknowns


def test_ports_and_rooms_of_the_gait_are_in_its_figures():
    figures = running(damping=100.0, push=400.0).figures
    assert figures["cost_of_transport"] == pytest.approx(
        figures["work.thrust"] / (80.0 * 9.81 * figures["distance"]), rel=1e-12
    )
    assert 0.8 < figures["least_room.fall"] < 1.0
    assert jax.tree.all(jax.tree.map(np.isfinite, figures))
