"""Energy of the runner: power is passed on and not made, a folded foot only takes, every run closes
its books.

Theory: docs/theory/water-runner.md; shared/physics/water-runner.md, section 11, items 3 and 8.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall.engines.simulate import as_floats
from footfall.machines.water_runner.foot import FootPoint
from footfall.machines.water_runner.legs import all_loads
from footfall.machines.water_runner.pads import BreakawayPad
from footfall.machines.water_runner.wet_disc import Medium
from support.runners import default_run, on_ground, run, runner

WATER = Medium(level=0.0, density=1000.0, gravity=9.81)


#: How far each state may be from zero, either way.
REACH = {
    "x": 1.0, "pitch": 0.3, "vx": 2.0, "vy": 1.0, "pitch_rate": 8.0, "crank_angle": math.pi, "crank_rate": 60.0,
    "deflection": 0.3, "deflection_rate": 20.0,
}  # fmt: skip


def any_states(experiment, heights, count=200):
    """(time, state) of robots in full motion, their feet now in, now out."""
    draw = np.random.default_rng(11)

    def drawn(path, leaf):
        del leaf
        name = path[-1].name
        low, high = heights if name == "y" else (-REACH[name], REACH[name])
        return draw.uniform(low, high, count)

    return draw.uniform(0.0, 0.5, count), jax.tree_util.tree_map_with_path(
        drawn, as_floats(experiment.start.x)
    )


@jax.jit
@jax.vmap
def powers_at(system, t, x):
    """What the loads bring to the body (three terms), and what of it comes from the cranks, the
    feet and the tail.
    """
    loads = all_loads(system, t, x, system.mode_at(t, x))
    at_feet = loads.legs.total(
        lambda one: (
            one.load.fx * one.leg.at.vx
            + one.load.fy * one.leg.at.vy
            + one.load.moment * one.leg.at.rate
        )
    )
    to_body = jnp.stack([loads.fx * x.vx, loads.fy * x.vy, loads.moment * x.pitch_rate])
    return to_body, jnp.stack(
        [loads.torque * loads.frame.crank_rate, at_feet, loads.tail.drag + loads.tail.pressure]
    )


@pytest.mark.parametrize(
    ("make", "settings", "heights"),
    [(runner, ("drive=crank-motor",), (0.0, 0.08)), (on_ground, (), (0.085, 0.115))],
    ids=["on water, with a motor", "on ground"],
)
def test_massless_legs_pass_power_on(make, settings, heights):
    """Section 11.3: sum F.v + M pitch' = T psi' + power at the feet, and at the tail."""
    experiment = make(*settings)
    t, x = any_states(experiment, heights)
    system = jax.tree.map(lambda leaf: np.full(t.size, leaf), as_floats(experiment.system))
    to_body, sources = powers_at(system, t, x)
    scale = np.abs(to_body).sum(axis=1) + np.abs(sources).sum(axis=1)
    assert np.mean(scale > 0.1) > 0.4  # W: enough of them are in the water or on the ground
    gap = to_body.sum(axis=1) - sources.sum(axis=1)
    # Rounding of some hundred operations; the page reached 1e-14 W.
    assert np.all(np.abs(gap) <= 1e-13 * scale)


@pytest.mark.parametrize("pressure", ["off", "on"])
def test_a_folded_foot_gives_no_power_unless_the_water_presses_on_it(pressure):
    """Section 11.8. Any place, any motion; with pressure on the folded pads, as the source may be
    read, they push the foot out.
    """
    draw = np.random.default_rng(8)
    angle, count = draw.uniform(-math.pi, math.pi, 20_000), 20_000
    at = FootPoint(
        draw.uniform(-1.0, 1.0, count), draw.uniform(-0.08, 0.03, count), draw.uniform(-3.0, 3.0, count),
        draw.uniform(-3.0, 3.0, count), np.cos(angle), np.sin(angle), draw.uniform(-60.0, 60.0, count),
    )  # fmt: skip
    foot = BreakawayPad(
        folding="hard", folded_hydrostatics=pressure, edge_radius=0.025, folded_share=0.4
    )
    load = jax.jit(foot.folded_load)(FootPoint(*map(jnp.asarray, at)), WATER)
    parts = np.stack([load.fx * at.vx, load.fy * at.vy, load.moment * at.rate])
    power, scale = parts.sum(axis=0), np.abs(parts).sum(axis=0)
    # Rounding.
    np.testing.assert_allclose(power, load.drag + load.pressure, rtol=0, atol=1e-13 * scale.max())
    if pressure == "off":
        assert np.all(power <= 1e-14 * scale) and not np.any(load.pressure)
    else:
        assert np.max(power) > 0.1  # W
    dry = at.y > 0.025
    assert np.mean(dry) > 0.02 and not np.any(scale[dry])  # higher than any edge reaches


def test_books_of_the_default_run_on_water_are_closed():
    """4 s at the default tolerance of 1e-8, folding by degrees."""
    books = default_run().ledger
    assert books.throughput > 10.0  # J: 1.7 W for 4 s, in and out
    assert books.relative_residual < 1e-8


def test_what_is_missing_in_the_books_shrinks_with_the_tolerance():
    """Local errors below rtol, of either sign over some hundred steps, leave less than rtol of what
    went through.
    """
    tolerances = np.array([1e-3, 1e-5, 1e-7, 1e-9])
    missing = np.array(
        [
            run(runner(), 0.5, rtol=rtol, atol=1e-2 * rtol).ledger.relative_residual
            for rtol in tolerances
        ]
    )
    # A hundredth of it: what is missing cancels over the steps, by luck to next to nothing.
    assert np.all(missing < 1e-2 * tolerances)
    assert missing[-1] < 1e-5 * missing[0]
