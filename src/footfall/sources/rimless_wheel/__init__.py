"""Source 001: a differential-drive rimless wheel and its control software.

Read `source.py` first: all items, from start to end. `model.py` makes those of sections 1 and 2.1,
`steering.py` those of 2.2 and 2.3, `software.py` those of 3, `figures.py` figures 1 to 3;
`printed.py` has the source's equations as they are printed, to compare ours with.
"""

from footfall.sources.rimless_wheel.source import SOURCE as SOURCE
