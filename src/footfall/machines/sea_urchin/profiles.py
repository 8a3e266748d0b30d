"""Ball and foothold of the sea urchin, in the two readings of its source.

The source's text and its script do not agree; machines/sea_urchin/numbers.py says how.
"""

import math
from typing import NamedTuple

# joints to ball centre in mid-stride of profile T [m], assumed: the middle of the stroke
LEG = 0.065


class BallAndFoothold(NamedTuple):
    """A ball, and a foothold that it reaches."""

    ball: float  #: radius [m]
    out: float  #: foothold outwards from the attachment [m]
    down: float  #: floor below the attachment [m]


#: T: the text's ball, in mid-stroke along the shell's normal; P: the script's ball and foothold.
PROFILES = {
    "T": BallAndFoothold(0.005, LEG * math.cos(math.pi / 6), 0.5 * LEG + 0.005),
    "P": BallAndFoothold(0.04, 0.09, 0.03 * math.sqrt(3.0)),
}
