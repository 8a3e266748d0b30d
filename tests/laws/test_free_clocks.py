"""Gaits of robots whose clock nobody sets: steps that come out even with its periods."""

import dataclasses

import equinox as eqx
import numpy as np
import pytest

from footfall import HybridState, find_cycle
from footfall.engines.analysis.return_map import NoCycle
from footfall.hybrid.fields import param, signal
from footfall.hybrid.system import Event, Jump, Rates
from support.toys import AbstractToy, NoPower, Scalar1


class Held(eqx.Module):
    n: int = signal(doc="steps so far")
    ticks: int = signal(doc="ticks so far")
    rate: float = signal(unit="m/s", doc="what the controller holds")


class Paced(AbstractToy):
    """x falls at the rate that a tick sets once a second, r + k (x - 1/2), and steps up by one at
    zero: from tick to tick x changes by -(r + k (x - 1/2)), modulo one.
    """

    usual: float = param(1.0, doc="r")
    gain: float = param(0.5, doc="k")

    @property
    def events(self):
        return Event("step", "x is at zero"), Event("tick", "the controller looks", period=1.0)

    def flow(self, t, x, m):
        return Rates(Scalar1(x=-m.rate + 0.0 * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return x.x, m.ticks - t

    def jump(self, t, x, m, k):
        if k == 0:
            return Jump(Scalar1(x=x.x + 1.0), dataclasses.replace(m, n=m.n + 1))
        rate = self.usual + self.gain * (x.x - 0.5)
        return Jump(x, Held(n=m.n, ticks=m.ticks + 1, rate=rate))

    def restarted(self, m):
        return dataclasses.replace(m, ticks=0 * m.ticks)


def start(x=0.7):
    return HybridState(Scalar1(x=x), Held(n=np.int32(0), ticks=np.int32(0), rate=1.0))


def found(usual, gain):
    return find_cycle(Paced(usual, gain), start(), "step", free_clock=True)


def test_a_step_a_period_is_where_the_closed_form_has_it():
    """r + k (x - 1/2) = 1; a disturbance is multiplied by 1 - k."""
    cycle = found(1.1, 0.5)
    assert (cycle.count, cycle.clock_periods, cycle.period) == (1, 1, pytest.approx(1.0))
    assert float(cycle.state.x.x) == pytest.approx(0.3, abs=1e-12)
    assert cycle.multipliers[0] == pytest.approx(0.5, abs=1e-12)


def test_three_steps_in_two_periods_are_one_gait():
    """At r = 3/2 a disturbance is multiplied by (1 - k)^2 in two periods."""
    cycle = found(1.5, 0.2)
    assert (cycle.count, cycle.clock_periods, cycle.period) == (3, 2, pytest.approx(2.0))
    assert cycle.multipliers[0] == pytest.approx(0.8**2, abs=1e-12)

    def later(x):
        return (x - 1.5 - 0.2 * (x - 0.5)) % 1.0

    x = float(cycle.state.x.x)
    assert later(later(x)) == pytest.approx(x, abs=1e-12) and abs(later(x) - x) > 0.1
    assert "3 events, 2 periods of its clock" in repr(cycle)


def test_what_cannot_come_out_even_is_said():
    """Without a gain nothing locks: a step takes 1/r periods, the golden number."""
    with pytest.raises(NoCycle, match=r"a step takes 1\.618.* wander .*nearest: 8 steps in 13"):
        found(2 / (1 + 5**0.5), 0.0)
    with pytest.raises(ValueError, match="no clock"):
        find_cycle(Unpaced(), start(), "step", free_clock=True)


class Unpaced(Paced):
    @property
    def events(self):
        return super().events[:1]

    def guards(self, t, x, m):
        return super().guards(t, x, m)[:1]
