"""Along an edge beyond which designs are refused: CMA-ES, where derivatives end.

A wheel that lifts off or rocks back has no gait and no slope there: SLSQP stops at such an edge
wherever it meets it. Evolution ranks designs only, those that are refused last, and so goes along
it. It needs the package `cmaes`; without it the search ends at the edge, and says so.
"""

import importlib.util

import numpy as np

from footfall.engines.analysis.design_search import AbstractLandscape, Found, Problem, Refused

#: Share of each range that the first generation is spread over, and where it ends.
FIRST, LAST = 0.05, 1e-4
#: Designs that it may look at, for each free key.
LOOKS = 120
#: Randomness is fixed: two searches of one landscape are the same.
SEED = 1
#: Said where it is not installed.
MISSING = 'to go on along this edge: pip install "footfall[design]"'


def along_edge(landscape: AbstractLandscape, problem: Problem, found: Found) -> Found:
    """The best that evolution finds from a design at an edge."""
    if importlib.util.find_spec("cmaes") is None:
        return found._replace(edge=f"{found.edge} ({MISSING})")
    import cmaes

    size, best = len(found.share), found
    if size == 1:
        return found  # an edge of one key is a point
    bounds = np.array([[0.0, 1.0]] * size)
    search = cmaes.CMA(mean=found.share.copy(), sigma=FIRST, bounds=bounds, seed=SEED)
    for _ in range(LOOKS * size // search.population_size):
        points = [search.ask() for _ in range(search.population_size)]
        ranks: list[tuple[float, float]] = []
        for point in points:
            try:
                look = landscape.look(point, found.piece, best.look)
            except Refused:
                ranks.append((np.inf, np.inf))
                continue
            new = Found(point, found.piece, look, found.edge)
            ranks.append(problem.rank(new))
            if ranks[-1] < problem.rank(best):
                best = new
        order = sorted(range(len(points)), key=ranks.__getitem__)
        search.tell([(points[k], float(place)) for place, k in enumerate(order)])
        if search._sigma < LAST or search.should_stop():
            break
    return best
