"""The time of an event can be differentiated again and again: closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import footfall as ff
from footfall.engines.analysis.return_map import ReturnMap, to_section
from support.toys import Ball, Height
from support.walkers import SimplestWalker

FINE = ff.Plan(engine=ff.EventEngine(rtol=1e-12, atol=1e-13))


def to_second_order(function, at):
    """The function, its derivative and its second derivative there, in one program."""

    def slope(v):
        return jax.jvp(function, (v,), (1.0,))

    (value, first), (_, second) = jax.jit(lambda v: jax.jvp(slope, (v,), (1.0,)))(at)
    return [float(value), float(first), float(second)]


def test_bounce_time_has_the_derivatives_of_its_closed_form_to_the_second_order():
    """Third bounce of a ball from height h: sqrt(2 h / g) (1 + 2 e + 2 e^2).

    Its second derivative was 0 while the rate of the guard was held.
    """
    ball = Ball(gravity=9.81, restitution=0.8)

    def time(height):
        start = ball.begin(Height(x=height, v=0.0 * height))
        return to_section(ball, start, "bounce", count=3).t

    def closed(height):
        return jnp.sqrt(2.0 * height / 9.81) * (1.0 + 2.0 * 0.8 + 2.0 * 0.8**2)

    # A parabola is what the solver follows exactly: rounding, grown by each derivative.
    assert to_second_order(time, 1.0) == pytest.approx(to_second_order(closed, 1.0), rel=1e-11)


def test_how_the_trace_of_the_simplest_walker_changes_with_the_slope():
    """d(trace J)/d(slope) at slope 0.009, in (stance angle, rate) at heel strike.

    339.107 by differences of traces; it was 1191.8 while the rate of the guard was held.
    """

    walker = SimplestWalker(slope=0.009)
    point = (0.200310900544287, -0.199832473004977)
    steps = ReturnMap.of(walker, walker.begin(*point), "heelstrike", FINE)
    embedded = jax.jacfwd(lambda v: numbers(walker.begin(*v)))(jnp.array(point))  # rows: numbers
    read = [steps.names.index(name) for name in ("stance", "stance_rate")]
    jacobian = steps.at(steps.start, steps.counts).slopes.numbers.T
    assert np.trace(np.asarray(jacobian @ embedded)[read]) == pytest.approx(-0.38019968, abs=1e-7)
    along = SimplestWalker(slope=np.ones(1))
    turns = (np.zeros((1, len(steps.start))), along)
    bend = steps.bent(steps.start, steps.counts, embedded.T, turns)[0]
    # Central differences of the trace with h = 1e-5 are off by h^2 / 6 of its third derivative.
    assert bend[0, read[0]] + bend[1, read[1]] == pytest.approx(339.1067, rel=1e-6)


def numbers(state):
    """As the map packs them: the legs, then where the foot is."""
    legs = state.x
    return jnp.stack([legs.stance, legs.swing, legs.stance_rate, legs.swing_rate, state.m.foot])
