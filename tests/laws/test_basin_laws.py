"""The basin of the passive wheel has a closed form: every start that passes the apex, and the next."""

import math

import numpy as np
import pytest

import footfall as ff
from footfall.engines.analysis.pushes import find_edges, nearest
from footfall.engines.analysis.walking import NO_START, WALKS
from support.wheel_basin import slowest

#: Slow enough that no foot lifts off.
BOX = {"spoke_rate": (-3.0, 0.0), "spoke_angle": (-0.3, 0.3)}
RESOLUTION = 128


@pytest.fixture(scope="module")
def wheel():
    return ff.load("passive-wheel", duration=10)


@pytest.fixture(scope="module")
def found(wheel):
    return ff.basin(wheel, BOX, resolution=RESOLUTION)


def test_the_area_of_the_passive_wheels_basin_is_its_closed_form_within_its_bounds(wheel, found):
    angle = np.linspace(*BOX["spoke_angle"], 200_001)
    rates = 3.0 - slowest(wheel.system, angle)
    true = float(np.sum((rates[1:] + rates[:-1]) / 2) * (angle[1] - angle[0]))
    low, high = found["area_range"]
    assert low < true < high and found.verdict.sound
    # Cells that the edge cuts are a strip one cell wide and about 2.5 sides long.
    assert high - low < 4 * found["box"] / RESOLUTION
    assert found["area"] == pytest.approx(true, abs=0.1 * (high - low))
    assert found["starts"] < 0.2 * RESOLUTION**2


def test_every_start_of_the_passive_wheel_does_what_its_energy_says(wheel, found):
    rate, angle, word = found.starts.values()
    missing = -rate < slowest(wheel.system, angle)
    walks = word == WALKS
    # On the line itself (rate 0 at the apex, by chance of the lattice) rounding decides.
    sure = np.abs(-rate - slowest(wheel.system, angle)) > 1e-6
    assert np.array_equal(walks[sure], ~missing[sure])
    assert set(word[~walks]) == {"rocked_back"}


def test_the_smallest_push_on_the_passive_wheel_is_what_its_apex_leaves(wheel, found):
    system = wheel.system
    alpha, slope = system.spoke_spacing, system.terrain.descent
    # A step gains 2 (g/l) (cos(alpha/2 - slope) - cos(alpha/2 + slope)) of rate^2, its landing
    # leaves cos(alpha)^2 of it: the gait is where that is the same again.
    gained = 4 * system.gravity / system.leg.length * math.sin(alpha / 2) * math.sin(slope)
    rate = -math.sqrt(gained * math.cos(alpha) ** 2 / math.sin(alpha) ** 2)
    spare = -rate - float(slowest(system, np.array(alpha / 2)))
    along = {one["key"]: one for one in found["pushes"]["axes"]}
    # The gait by simulation is settled to 1e-7; the edge is found to 1/16^4 of the box, either way.
    assert along["spoke_rate"]["up"]["offset"] == pytest.approx(spare, abs=3.0 / 16**4)
    assert along["spoke_rate"]["up"]["end"] == "rocked_back"
    assert along["spoke_rate"]["kind"] == "push" and along["spoke_angle"]["kind"] == "shift"
    assert f"a push of {spare:+.3g} rad/s on spoke rate makes it rock back" in repr(found)
    # Just after a footfall both feet stand: the angle can be no larger.
    assert along["spoke_angle"]["up"] == {"offset": None, "end": None, "searched": 0.0}


def test_edges_are_found_along_each_axis_and_nearest_of_all():
    def words(points):
        x, y = points.T
        out = np.where(3 * x + 4 * y < 1.0, WALKS, "fell").astype(object)
        out[y < -0.5] = NO_START
        return out

    found = find_edges(2, words)
    right, up, left, down = found[:4]
    resolution = 1 / 16**4
    assert right.distance == pytest.approx(1 / 3, abs=resolution) and right.beyond == "fell"
    assert up.distance == pytest.approx(1 / 4, abs=resolution)
    assert not left.beyond and math.isinf(left.distance) and left.searched == 1.0
    assert not down.beyond and down.searched == pytest.approx(0.5, abs=1 / 16)
    # 1/5 in truth; rays are 11.25 degrees apart, so at most 1/cos(5.6 degrees) times as far.
    assert 0.2 - resolution < nearest(found).distance < 0.2 / math.cos(math.radians(5.625))
    assert find_edges(1, lambda points: np.full(len(points), "fell", object)) is None
