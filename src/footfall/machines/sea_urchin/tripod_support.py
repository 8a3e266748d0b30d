"""Who stands when: whether the feet of a gait hold the body up all the time."""

import itertools
import math
from collections.abc import Sequence


def least_duty(offsets: Sequence[float], azimuths: Sequence[float]) -> float:
    """The smallest share of the cycle that each foot must stand, 1 if none is enough.

    So that the body's centre is always inside the standing feet.

    A foot stands while the fractional part of t/T + offset is below the duty. A longer stance never
    takes a foot away, and what stands together changes only where one foot lands just as another
    leaves: duty = 1 - (o_i - o_j mod 1). So those, and standing always, are all that need be looked
    at.
    """
    # Alike but for rounding: once.
    gaps = {round((a - b) % 1.0, 9): (a - b) % 1.0 for a in offsets for b in offsets}
    for duty in sorted(1.0 - gap for key, gap in gaps.items() if 0.0 < key < 1.0):
        if supported_share(offsets, azimuths, duty) > 1.0 - 1e-9:
            return duty
    return 1.0


def supported_share(offsets: Sequence[float], azimuths: Sequence[float], duty: float) -> float:
    """The share of the cycle in which the centre is inside the standing feet."""
    changes = sorted(
        {0.0, 1.0, *(share for o in offsets for share in ((-o) % 1.0, (duty - o) % 1.0))}
    )
    held = 0.0
    for begin, end in itertools.pairwise(changes):
        middle = 0.5 * (begin + end)
        if end - begin > 1e-9:  # rounding can part two feet that change at once
            standing = [
                a for o, a in zip(offsets, azimuths, strict=True) if (middle + o) % 1.0 < duty
            ]
            held += (end - begin) * holds(standing)
    return held


def holds(azimuths: Sequence[float]) -> bool:
    """Whether feet at these azimuths on a circle have its centre inside them.

    No two neighbours are half a turn or more apart.
    """
    half = math.pi
    ordered = sorted(a % (2.0 * half) for a in azimuths)
    if len(ordered) < 3:
        return False
    gaps = [b - a for a, b in itertools.pairwise(ordered)] + [ordered[0] + 2.0 * half - ordered[-1]]
    return max(gaps) < half - 1e-9
