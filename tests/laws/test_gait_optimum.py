"""Gaits tuned by gradient.

Derivatives are exact, costs are those of the walker, and no gait at random beats the one that was
found.
"""

import functools

import jax
import numpy as np
import pytest

from footfall import load
from footfall.engines.analysis.design_search import Found, Look, Problem, Refused, solve
from footfall.engines.analysis.expression import Constraint, Expression, Objective
from footfall.engines.lanes.plan_figures import evaluate_plan
from footfall.hybrid.fields import ParameterError
from footfall.scenario.design import pareto
from footfall.scenario.plan_landscape import PlanLandscape

LIMIT = 0.5  # N m; the scenario's own gait takes 0.398
RANGES = {"gait.stride": (0.06, 0.09)}  # nine layouts


@functools.cache
def experiment(*settings):
    return load("two-leg-step", list(settings))


@functools.cache
def land(*settings, limit=LIMIT):
    knobs = dict.fromkeys(["gait.lift", "gait.stride", "gait.speed", "gait.lift_pace"])
    torque = [f"motor.torque_limit={limit}"] if limit else []
    return PlanLandscape(experiment(*torque, *settings), knobs | RANGES)


def peak(figures):
    return max(np.max(figures[f"peak_torque_{i}"]) for i in (1, 2, 3))


def test_layouts_meet_where_a_stride_divides_a_walk_evenly():
    """Walks of 0.49 m and, after a climb of one stride, 0.51 m less that stride.

    Counts jump at 0.49/n and 0.51/(n + 1).
    """
    layouts = land().pieces
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
    mine = land(*settings, limit=None if settings else LIMIT)
    for number, share in ((0, (0.3, 0.4, 0.5, 0.6)), (5, (0.8, 0.1, 0.2, 0.3))):
        piece = mine.pieces[number]
        found = Found(np.array(share), piece, mine.look(np.array(share), piece, None))
        costs, (figures, _) = found.look.figures, mine.measured(found)
        # 101 samples to a move instead of 4001: the trapezoid rule errs by less than 1e-3 where a
        # power changes sign.
        for name in ("electrical_energy", "energy", "static_energy"):
            assert costs[name] == pytest.approx(figures[name], rel=1e-3), name
        assert costs["t_end"] == pytest.approx(figures["t_end"], rel=1e-12)
        assert peak(costs) == pytest.approx(peak(figures), rel=1e-3)


def test_derivatives_of_the_costs_equal_differences():
    mine, share, step = land(), np.array([0.35, 0.45, 0.55, 0.4]), 1e-6
    piece = mine.pieces[4]
    here = mine.look(share, piece, None)
    for k in range(4):
        move = step * np.eye(4)[k]
        plus, minus = (mine.look(share + sign * move, piece, None) for sign in (1, -1))
        for name in ("energy", "t_end", "peak_torque_2"):
            difference = (plus.figures[name] - minus.figures[name]) / (2 * step)
            # Rounding of values of about 10 over a step of 1e-6 leaves 1e-9; the error of the
            # difference itself is smaller.
            assert here.slopes[name][..., k] == pytest.approx(difference, rel=1e-5, abs=1e-7)
        difference = (plus.rooms["reach"] - minus.rooms["reach"]) / (2 * step)
        assert here.room_slopes["reach"][..., k] == pytest.approx(difference, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(
    ("objective", "limits"),
    [("t_end", []), ("electrical_energy", ["t_end <= 20"])],
)
def test_no_gait_at_random_is_better_than_the_one_found(monkeypatch, objective, limits):
    mine = land()
    piece = mine.pieces[3]
    problem = Problem(Objective(Expression(objective)), tuple(map(Constraint.of, limits)), 1.0)
    monkeypatch.setattr(mine, "pieces", [piece])
    found = solve(mine, problem, [0])
    assert problem.keeps(found.look) and peak(found.look.figures) <= LIMIT * (1 + 1e-6)
    random = np.random.default_rng(1).uniform(size=(2048, 4))
    # Half of them close by.
    random[:1024] = np.clip(found.share + 0.03 * (random[:1024] - 0.5), 0.0, 1.0)
    figures, rooms = jax.tree.map(np.asarray, mine._many(random, piece))
    looks = [
        Look({n: v[k] for n, v in figures.items()}, {}, {n: v[k] for n, v in rooms.items()}, {})
        for k in range(len(random))
    ]
    kept = [float(look.figures[objective]) for look in looks if problem.lacking(look) == 0.0]
    assert len(kept) > 50  # there was something to beat
    assert min(kept) >= float(found.look.figures[objective]) * (1 - 1e-5)


@pytest.mark.slow  # tests/journeys/test_optimise.py has a smaller one
def test_the_front_has_no_gait_that_is_both_slower_and_dearer_and_keeps_the_limit():
    tuned = experiment(f"motor.torque_limit={LIMIT}")
    free = {"gait.stride": (0.079, 0.083), "gait.lift": (0.004, 0.02)}
    free |= dict.fromkeys(["gait.speed", "gait.lift_pace"])
    front = pareto(tuned, ["electrical_energy", "t_end"], free=free, points=3)
    times, energies = (
        [d.figures[n] for d in front.designs] for n in ("t_end", "electrical_energy")
    )
    assert len(times) == 3
    assert times == sorted(times, reverse=True) and energies == sorted(energies)
    own = evaluate_plan(tuned.system).figures
    thriftiest, *_, fastest = front.designs
    assert fastest.figures["t_end"] < 0.5 * own["t_end"].values[0]
    assert thriftiest.figures["energy"] < own["energy"].values[0]
    assert all(peak(design.figures) < LIMIT for design in front.designs)
    assert "torque" in fastest.active and "gait.lift >= 0.004" in thriftiest.active
    # Optimal to what SLSQP stops at: a relative change of 1e-11 of the objective.
    assert all(design.off < 1e-4 for design in front.designs[1:])


def test_strides_that_the_ground_refuses_are_no_layouts():
    """Climbing from -0.49 with less than 60 mm leaves more than 50 mm of the foot over the edge at
    -0.5.
    """
    assert experiment().system.tuning({"gait.stride": (0.05, 0.09)}).layouts()[0][
        -2
    ] == pytest.approx(0.06, abs=1e-9)
    with pytest.raises(Refused, match="the ground refuses every stride"):
        PlanLandscape(experiment(), {"gait.stride": (0.05, 0.055)})


def test_feet_that_nothing_holds_stand_all_the_way_in_the_gait_found_for_them():
    level = experiment("terrain=flat", "route=walk -0.2", "feet=free")
    mine = PlanLandscape(level, {"gait.stride": (0.06, 0.07), "gait.speed": None})
    found = solve(mine, Problem(Objective(Expression("t_end")), (), 1.0), [0])
    figures, doubts = mine.measured(found)
    assert figures["support_margin"] > 0 and not doubts and mine.refuses(found) is None
    assert np.min(found.look.rooms["tipping"]) < 1e-4


def test_what_is_not_free_stays_and_what_cannot_be_is_said():
    weak = PlanLandscape(experiment("motor.torque_limit=0.2"), {"gait.speed": (0.05, 0.1)})
    problem = Problem(Objective(Expression("t_end")), (), 1.0)
    found = solve(weak, problem, [0])
    tuned = weak.tuned(found).system.gait
    assert tuned.lift == experiment().system.gait.lift and weak.own_values == {"gait.speed": 0.05}
    assert not problem.keeps(found.look) and "torque (by " in problem.broken(found.look)
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
