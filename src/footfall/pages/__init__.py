"""Pages: one HTML file in which a robot moves, with nothing to install.

Read `page.py` first: it says what a page holds. `parameters.py` finds what has a slider,
`drawn.py` writes shapes as data, `live.py` builds the programs of a page that simulates,
`replay.py` the rows of one that shows a recorded run, `html_file.py` puts the front end (`web/`)
and the data into one file.
"""
