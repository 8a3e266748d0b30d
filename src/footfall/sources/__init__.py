"""Every figure, table and function of the five source documents, under its own name.

Read `item.py` first: what an item is and what it gives. `library.py` lists the sources, each a
module beside it (`water_runner.py`, ...) with its items; `study.py` makes them one by one for
`footfall reproduce` and for docs/sources.
"""
