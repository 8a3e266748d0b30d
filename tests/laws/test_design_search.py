"""The search for the best design, on landscapes whose optima are known."""

import itertools

import numpy as np
import pytest

from footfall.engines.analysis.design_search import (
    AbstractLandscape,
    Look,
    Problem,
    Refused,
    descend,
    front_problem,
    optimality,
    solve,
    undominated,
)
from footfall.engines.analysis.edge_search import along_edge
from footfall.engines.analysis.expression import Constraint, Expression, Objective
from footfall.hybrid.fields import ParameterError


def test_an_expression_has_the_slopes_of_its_figures():
    """d/dp of 2 sqrt(a) / b.c.0 - a^2, where a = 4, a' = 1 and b = 0.5, b' = 3."""
    formula = Expression("2*sqrt(a) / b.c.0 - a**2")
    assert formula.names == ("a", "b.c.0")
    value, slope = formula.at(
        {"a": 4.0, "b.c.0": 0.5}, {"a": np.array([1.0, 0.0]), "b.c.0": np.array([0.0, 3.0])}
    )
    assert value == pytest.approx(8.0 - 16.0, rel=1e-15)
    assert slope == pytest.approx([1.0 - 8.0, -48.0], rel=1e-15)
    for bad in ("mean speed", "open('x')", "a if b else c", "1 +"):
        with pytest.raises(ParameterError, match="names of figures"):
            Expression(bad)
    with pytest.raises(ParameterError, match='Did you mean "mean_speed"'):
        Expression("mean_sped").require(["mean_speed", "period"])


class Bowls(AbstractLandscape):
    """Squares of the distances from (0.2, 0.3) and (0.8, 0.5), beyond x = `wall` nothing."""

    keys, units, pieces, searches = ("x", "y"), {"x": "", "y": ""}, (np.zeros(0),), 1
    near, far = np.array([0.2, 0.3]), np.array([0.8, 0.5])

    def __init__(self, wall=1.0):
        self.wall, self.looks = wall, 0

    def look(self, share, piece, near):
        self.looks += 1
        if share[0] > self.wall:
            raise Refused("beyond the wall")
        ways = {"near": share - self.near, "far": share - self.far}
        figures = {name: way @ way for name, way in ways.items()}
        slopes = {name: 2.0 * way for name, way in ways.items()}
        figures["both"], slopes["both"] = (
            np.array([*figures.values()]),
            np.array([*slopes.values()]),
        )
        return Look(figures, slopes, {}, {})

    def values(self, share, piece):
        return dict(zip("xy", map(float, share), strict=True))

    def value_slopes(self, share, piece):
        return np.eye(2)

    def limits(self, piece):
        return {"x": (0.0, 1.0), "y": (0.0, 1.0)}

    def starts(self, problem, piece, search):
        return [np.array([0.5, 0.9])]

    remembered = recalled = tuned = measured = None


def best(name, *limits, wall=1.0):
    land = Bowls(wall)
    problem = Problem(Objective(Expression(name)), tuple(map(Constraint.of, limits)), 1.0)
    return land, problem, solve(land, problem, [0])


def test_the_best_under_a_constraint_is_where_multipliers_say_and_has_its_price():
    """Nearest to the first centre on the circle of radius 0.3 round the second: on the line
    between them. f = (D - r)^2 and c = r^2, so that d ln f / d ln c = -r / (D - r).
    """
    land, problem, found = best("near", "far <= 0.09")
    line = land.near - land.far
    distance = np.linalg.norm(line)
    # SLSQP ends where the objective changes by 1e-11 of itself: points are good to its root.
    assert found.share == pytest.approx(land.far + 0.3 * line / distance, abs=1e-5)
    why = optimality(land, [problem.objective], problem.constraints, found)
    assert why.off < 1e-5
    assert why.prices["far <= 0.09"] == pytest.approx(0.3 / (distance - 0.3), rel=1e-4)
    free = optimality(land, [problem.objective], [], found)
    assert free.off > 0.9  # without the limit that holds it, it is no optimum


def test_the_largest_of_several_numbers_is_least_where_they_are_equal():
    land, problem, found = best("both")
    assert found.share == pytest.approx(0.5 * (land.near + land.far), abs=1e-5)
    assert optimality(land, [problem.objective], [], found).off < 1e-4


def test_where_designs_are_refused_evolution_goes_along_the_edge(monkeypatch):
    """SLSQP stops where it meets the wall; the best there is at (0.6, 0.5)."""
    land, problem, stopped = best("far", wall=0.6)
    assert stopped.share[0] == pytest.approx(0.6, abs=1e-3) and "wall" in stopped.edge
    assert abs(stopped.share[1] - 0.5) > 0.1 and land.looks < 100
    found = along_edge(land, problem, stopped)
    # It ends where it is spread over 1e-4, which is 1e-3 of this objective at the wall.
    assert found.look.figures["far"] == pytest.approx(0.04, rel=1e-3) and "wall" in found.edge
    assert stopped.look.figures["far"] > 0.05
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    without = along_edge(land, problem, stopped)
    assert "footfall[design]" in without.edge and without.share is stopped.share


def test_a_start_that_is_refused_says_why():
    with pytest.raises(Refused, match="wall"):
        descend(Bowls(0.1), best("far")[1], np.zeros(0), np.array([0.5, 0.5]))


def test_a_front_of_two_bowls_is_the_line_between_their_centres():
    land, found = Bowls(), []
    objectives = [Objective(Expression(name)) for name in ("near", "far")]
    for place in range(6):
        problem = front_problem(objectives, [], [1.0, 1.0], place, 6, found[:2])
        found.append(solve(land, problem, [0], found))
    figures = [f.look.figures for f in found]
    kept = undominated(objectives, figures)
    assert len(kept) == 6
    near, far = ([figures[k][name] for k in kept] for name in ("near", "far"))
    assert near == sorted(near) and far == sorted(far, reverse=True)
    for k in kept:
        share = found[k].share
        along = (share - land.near) @ (land.far - land.near) / 0.4
        assert share == pytest.approx(land.near + along * (land.far - land.near), abs=1e-4)
        if near[kept.index(k)] > 0.0 and k > 1:
            assert optimality(land, objectives, [], found[k]).off < 1e-4
    worse = {"near": figures[kept[2]]["near"] * 1.1, "far": figures[kept[2]]["far"] * 1.1}
    assert undominated(objectives, [*figures, worse]) == kept


class Halves(Bowls):
    """The same; designs with x > 0.7 are refused only once they are found."""

    pieces = (np.array([0.0, 1.0]),)

    def look(self, share, piece, near):
        low, high = piece
        x = low + share[0] * (high - low)
        found = super().look(np.array([x, share[1]]), piece, near)
        span = np.array([high - low, 1.0])
        return found._replace(slopes={name: v * span for name, v in found.slopes.items()})

    def refuses(self, found):
        low, high = found.piece
        return "too far" if low + found.share[0] * (high - low) > 0.7 else None

    def narrower(self, piece):
        return [np.array(ends) for ends in itertools.pairwise(np.linspace(*piece, 9))]


def test_a_design_that_is_refused_gives_way_to_another_of_its_piece_in_smaller_ranges(monkeypatch):
    land, problem = Halves(), Problem(Objective(Expression("far")), (), 1.0)
    found = solve(land, problem, [0])
    low, high = found.piece
    # Each piece is an eighth of the one before it: 0.625 is the end of the last that is not refused.
    assert 0.625 - 1e-6 <= low + found.share[0] * (high - low) <= 0.7
    monkeypatch.setattr(land, "refuses", lambda found: "it tips")
    with pytest.raises(Refused, match="it tips"):
        solve(land, problem, [0])
