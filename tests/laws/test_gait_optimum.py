"""Gaits tuned by gradient.

Derivatives are exact, costs are those of the walker, and no gait at random beats the one that was
found.
"""

import functools

import jax
import numpy as np
import pytest

from footfall import load
from footfall.engines.analysis.plan_optimum import NoGait, _Search, as_settings, find_front
from footfall.engines.lanes.plan_figures import evaluate_plan
from footfall.hybrid.fields import ParameterError
from footfall.hybrid.outcome import Outcome
from footfall.scenario.load import with_settings

LIMIT = 0.5  # N m; the scenario's own gait takes 0.398
RANGES = {"gait.stride": (0.06, 0.09)}  # nine layouts


@functools.cache
def experiment(*settings):
    return load("two-leg-step", list(settings))


@functools.cache
def search(*settings):
    return _Search(experiment(f"motor.torque_limit={LIMIT}", *settings).system.tuning(RANGES))


def costs_at(share, layout, *settings):
    return search(*settings).costs(np.asarray(share, float), layout)


def test_layouts_meet_where_a_stride_divides_a_walk_evenly():
    """Walks of 0.49 m and, after a climb of one stride, 0.51 m less that stride.

    Counts jump at 0.49/n and 0.51/(n + 1).
    """
    layouts = search().tuning.layouts()
    edges = sorted({0.49 / n for n in range(5, 9)} | {0.51 / n for n in range(5, 9)})
    inside = [edge for edge in edges if 0.06 < edge < layouts[-1][-1]]
    assert [layout[-2] for layout in layouts[1:]] == pytest.approx(inside, abs=1e-9)
    assert [layout[-1] for layout in layouts[:-1]] == pytest.approx(
        [layout[-2] for layout in layouts[1:]], abs=1e-15
    )
    for layout in layouts:
        stride = 0.5 * (layout[-2] + layout[-1])
        assert layout[0] == np.ceil(0.49 / stride) and layout[1] == np.ceil(
            (0.51 - stride) / stride
        )


@pytest.mark.parametrize(
    "settings", [(), ("motor=dc-motor", "motor.resistance=0.5", "regeneration=0.3")]
)
def test_costs_of_a_tuning_are_those_of_the_walker(settings):
    mine = search() if not settings else _Search(experiment(*settings).system.tuning(RANGES))
    for number, share in ((0, (0.3, 0.4, 0.5, 0.6)), (5, (0.8, 0.1, 0.2, 0.3))):
        layout = mine.tuning.layouts()[number]
        costs, _ = mine.costs(np.array(share), layout)
        values = mine.tuning.values(np.array(share), layout)
        walker = with_settings(
            experiment(*settings), [f"{k}={float(v)!r}" for k, v in values.items()]
        )
        figures = evaluate_plan(walker.system).figures
        # 101 samples to a move instead of 4001: the trapezoid rule errs by less than 1e-3 where a
        # power changes sign.
        assert costs.energy == pytest.approx(figures["electrical_energy"].values[0], rel=1e-3)
        assert costs.time == pytest.approx(figures["t_end"].values[0], rel=1e-12)
        torque = max(figures[f"peak_torque_{i}"].values[0] for i in (1, 2, 3))
        assert costs.torques.max() == pytest.approx(torque, rel=1e-3)


def test_derivatives_of_the_costs_equal_differences():
    layout, share, step = search().tuning.layouts()[4], np.array([0.35, 0.45, 0.55, 0.4]), 1e-6
    _, slopes = costs_at(share, layout)
    for k in range(4):
        move = step * np.eye(4)[k]
        plus, minus = (costs_at(share + sign * move, layout)[0] for sign in (1, -1))
        for name in ("energy", "time", "torques", "reach"):
            ahead, behind, slope = (
                c.room[name] if name in c.room else getattr(c, name) for c in (plus, minus, slopes)
            )
            difference = (ahead - behind) / (2 * step)
            # Rounding of values of about 10 over a step of 1e-6 leaves 1e-9; the error of the
            # difference itself is smaller.
            assert slope[..., k] == pytest.approx(difference, rel=1e-5, abs=1e-7), (name, k)


@pytest.mark.parametrize(
    ("objective", "time_limit"), [("time", np.inf), ("energy", np.inf), ("energy", 20.0)]
)
def test_no_gait_at_random_is_better_than_the_one_found(objective, time_limit):
    mine = search()
    layout = mine.tuning.layouts()[3]
    found = mine.solve(objective, layout, time_limit)
    assert (
        found is not None
        and found.peak_torque <= LIMIT * (1 + 1e-6)
        and found.time <= time_limit * (1 + 1e-6)
    )
    random = np.random.default_rng(1).uniform(size=(4096, 4))
    # Half of them close by.
    random[:2048] = np.clip(_share_of(mine, found) + 0.03 * (random[:2048] - 0.5), 0.0, 1.0)
    costs = jax.tree.map(np.asarray, mine._many(random, layout))
    kept = (
        (costs.torques.max(axis=1) <= mine.torque_limit)
        & (costs.time <= time_limit)
        & (costs.room["reach"].min(axis=1) >= 0)
    )
    assert kept.sum() > 100  # there was something to beat
    assert getattr(costs, objective)[kept].min() >= getattr(found, objective) * (1 - 1e-5)


def _share_of(mine, found):
    return mine._found[np.array(found.layout).tobytes()]


def test_the_front_has_no_gait_that_is_both_slower_and_dearer_and_keeps_the_limit():
    tuned = experiment(f"motor.torque_limit={LIMIT}")
    front = find_front(
        tuned.system, points=4, ranges={"gait.stride": (0.07, 0.083), "gait.lift": (0.004, 0.02)}
    )
    times, energies = [g.time for g in front.gaits], [g.energy for g in front.gaits]
    assert (
        len(front.gaits) == 4
        and times == sorted(times)
        and energies == sorted(energies, reverse=True)
    )
    own = evaluate_plan(tuned.system).figures
    assert (
        front.fastest.time < 0.5 * own["t_end"].values[0]
        and front.thriftiest.energy < own["energy"].values[0]
    )
    for gait in (front.fastest, front.thriftiest):
        figures = evaluate_plan(with_settings(experiment(), as_settings(gait)).system).figures
        assert max(figures[f"peak_torque_{i}"].values[0] for i in (1, 2, 3)) < LIMIT
    assert "torque" in front.fastest.at_limit and "least gait.lift" in front.thriftiest.at_limit


@pytest.mark.slow  # a minute: two whole fronts
def test_a_gait_that_is_refused_gives_way_to_another_of_its_layout_or_the_next():
    plan = experiment(f"motor.torque_limit={LIMIT}").system
    ranges = {"gait.stride": (0.07, 0.083)}
    free = find_front(plan, points=2, ranges=ranges)
    low, high = free.fastest.layout[-2:]
    dear = lambda gait: "too short" if gait.values["gait.stride"] < 0.5 * (low + high) else None  # noqa: E731
    held = find_front(plan, points=2, ranges=ranges, refuses=dear)
    assert (
        held.fastest.values["gait.stride"] >= 0.5 * (low + high)
        and held.fastest.time >= free.fastest.time
    )


def test_strides_that_the_ground_refuses_are_no_layouts():
    """Climbing from -0.49 with less than 60 mm leaves more than 50 mm of the foot over the edge at
    -0.5.
    """
    assert experiment().system.tuning({"gait.stride": (0.05, 0.09)}).layouts()[0][
        -2
    ] == pytest.approx(0.06, abs=1e-9)
    with pytest.raises(NoGait, match="the ground refuses every stride"):
        find_front(experiment().system, points=2, ranges={"gait.stride": (0.05, 0.055)})


def test_feet_that_nothing_holds_stand_all_the_way_in_the_gaits_found_for_them():
    level = ("terrain=flat", "route=walk -0.2", "feet=free")
    front = find_front(experiment(*level).system, points=2, ranges={"gait.stride": (0.06, 0.07)})
    assert "tipping" in front.fastest.at_limit
    for gait in front.gaits:
        figures = evaluate_plan(with_settings(experiment(*level), as_settings(gait)).system).figures
        assert (
            Outcome(int(figures["outcome"].values[0])) is Outcome.arrived
            and figures["support_margin"].values[0] > 0
        )
    tips = lambda gait: None if gait.time > 1e9 else "it tips"  # noqa: E731
    with pytest.raises(NoGait, match=r"none can be walked\. The last one tried: it tips"):
        find_front(
            experiment(*level).system,
            points=2,
            ranges={"gait.stride": (0.06, 0.0605)},
            refuses=tips,
        )


def test_heat_of_the_windings_makes_hurry_thrifty():
    """Holding a pose costs nothing but time while the motors are ideal; with a winding it costs
    energy all the time.
    """
    ideal = search().solve("energy", search().tuning.layouts()[0])
    warm = _Search(experiment("motor=dc-motor", "motor.resistance=0.5").system.tuning(RANGES))
    found = warm.solve("energy", warm.tuning.layouts()[0])
    assert found.time < 0.2 * ideal.time


def test_what_cannot_be_is_said():
    with pytest.raises(NoGait, match=r"torques up to 0\.2 N m.*least peak torque seen is 0\.[23]"):
        find_front(
            experiment("motor.torque_limit=0.2").system,
            points=2,
            ranges={"gait.stride": (0.08, 0.083)},
        )
    system = experiment().system
    with pytest.raises(
        ParameterError, match=r'"gait.strode" cannot be tuned.*Did you mean "gait.stride"'
    ):
        system.tuning({"gait.strode": (0.1, 0.2)})
    with pytest.raises(ParameterError, match=r"gait\.lift from 0\.02 to 0\.01: not a range"):
        system.tuning({"gait.lift": (0.02, 0.01)})
    with pytest.raises(ParameterError, match=r"reach no stride of 150 mm: at most 9"):
        system.tuning({"gait.stride": (0.15, 0.2)})
    with pytest.raises(ParameterError, match="planned foothold by foothold"):
        experiment("route=go_to -0.3").system.tuning({})
    with pytest.raises(ParameterError, match="has a speed to tune"):
        experiment("gait.timing=peak-acceleration").system.tuning({})
