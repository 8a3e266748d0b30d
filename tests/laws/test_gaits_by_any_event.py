"""A gait may be looked at from any of its events, also where the event leaves its guard at zero."""

import jax.numpy as jnp
import numpy as np
import pytest

from footfall import HybridState, find_cycle
from footfall.engines.analysis.gait_doubts import gait_doubts, stride_doubts, stride_ledger
from footfall.engines.analysis.return_map import NoCycle
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.fields import param
from footfall.hybrid.system import Event, Jump, Rates
from support.toys import AbstractToy, Count, Height, NoPower


class Juggled(AbstractToy):
    """A ball that bounces with v+ = e |v-| + a: steady at v = a/(1 - e), disturbances times e.

    x is its height, n counts its bounces. At its apex it has stopped: the guard is its speed, and
    is zero before and after.
    """

    gravity: float = param(10.0, doc="gravity")
    restitution: float = param(0.5, doc="e")
    push: float = param(1.0, doc="a")

    @property
    def events(self):
        return Event("bounce", "at the floor"), Event("apex", "highest")

    def flow(self, t, x, m):
        return Rates(Height(x=x.v, v=-self.gravity + 0.0 * x.v), NoPower(none=0.0 * x.v))

    def guards(self, t, x, m):
        return x.x, x.v

    def jump(self, t, x, m, k):
        if k == 1:
            return Jump(x, m)
        after = jnp.abs(x.v) * self.restitution + self.push
        return Jump(Height(x=x.x, v=after), Count(n=m.n + 1))


def ball(height, speed=0.0):
    return HybridState(Height(x=height, v=speed), Count(n=0))


@pytest.mark.parametrize(
    ("event", "start", "warm_up"),
    [("apex", ball(0.3), 0), ("apex", ball(0.3), 2), ("bounce", ball(1e-3, 1.5), 0)],
)
def test_period_and_multiplier_of_a_juggled_ball_are_those_of_its_closed_form(
    event, start, warm_up
):
    """2 v/g = 0.4 s with v = 2 m/s. Height at the apex is v^2/2g: the multiplier is e there too."""
    cycle = find_cycle(Juggled(), start, event, warm_up=warm_up)
    assert cycle.period == pytest.approx(0.4, rel=1e-9)
    assert np.sort(np.abs(cycle.multipliers)) == pytest.approx([0.0, 0.5], abs=1e-7)
    found = {"apex": (0.2, 0.0), "bounce": (0.0, 2.0)}[event]
    assert (cycle.state.x.x, cycle.state.x.v) == pytest.approx(found, abs=1e-9)


class Restless(Juggled):
    """Its bounce leaves a room of 1e-10 m that is gone in 1e-10 s."""

    def jump(self, t, x, m, k):
        return Jump(Height(x=1e-10 + 0.0 * x.x, v=-1.0 + 0.0 * x.v), Count(n=m.n + 1))


def test_an_event_that_comes_again_at_once_is_no_step():
    with pytest.raises(NoCycle, match="after itself, which is no step"):
        find_cycle(Restless(), ball(0.3), "bounce", warm_up=1)


class Carried(Juggled):
    """It keeps what it was given: x may be shifted by c, and c with it, without any difference."""

    def guards(self, t, x, m):
        return x.x - m.c, x.v

    def jump(self, t, x, m, k):
        done = super().jump(t, x, m, k)
        return Jump(done.x, Moved(n=done.m.n, c=m.c) if k == 1 else Moved(n=m.n + 1, c=m.c))


class Moved(Count):
    c: float = 0.0


def moved(height):
    return HybridState(Height(x=height, v=0.0), Moved(n=0, c=0.1))


def test_what_shifts_together_is_named_and_what_matters_cannot_be_ignored():
    with pytest.raises(NoCycle, match=r"x and c shifted together.*ignore=\('x', 'c',\)"):
        find_cycle(Carried(), moved(0.4), "apex")
    with pytest.raises(NoCycle, match='"c" cannot be ignored at this event: x'):
        find_cycle(Carried(), moved(0.4), "apex", ignore=("c",))
    with pytest.raises(ValueError, match=r'"cc" is no number of this state\. Known: x, v, c'):
        find_cycle(Carried(), moved(0.4), "apex", ignore=("cc",))


class Lying(Juggled):
    """Says that a watt is lost that no store misses, and that it does not believe itself."""

    def flow(self, t, x, m):
        rates = super().flow(t, x, m)
        return Rates(rates.x, NoPower(none=-1.0 + 0.0 * x.v))

    def doubts(self, t, columns):
        return [Doubt("own_words", "said so")] if np.max(columns["x"]) > 0.1 else []


def test_a_gait_whose_stride_or_run_speaks_against_it_is_doubtful():
    cycle = find_cycle(Lying(), ball(0.3), "apex")
    assert [d.name for d in stride_doubts(cycle.map, cycle.point.mapped)] == ["books_open"]
    ledger = stride_ledger(cycle.map, cycle.point.mapped)
    assert ledger.work == {"none": pytest.approx(-0.4)} and ledger.residual == pytest.approx(0.4)
    names = [doubt.name for doubt in gait_doubts(cycle)]
    assert {"books_open", "own_words"} <= set(names)


def test_a_gait_that_nothing_speaks_against_is_sound():
    cycle = find_cycle(Juggled(), ball(0.3), "apex")
    assert not stride_doubts(cycle.map, cycle.point.mapped)
