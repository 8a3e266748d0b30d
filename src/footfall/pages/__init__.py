"""Pages: one HTML file in which a robot moves, with nothing to install.

Read `page.py` first: it says what a page holds. `parameters.py` finds what has a slider,
`drawn.py` writes shapes as data, `live.py` builds the programs of a page that simulates,
`replay.py` the rows of one that shows a recorded run, `gait.py` one that plays a gait,
`html_file.py` puts the front end (`web/`) and the data into one file.

`server.py` is the local page of `footfall view`: `found.py` lists what can be opened, `parts.py`
what can be exchanged, `jobs.py` starts commands that write pages, `heat_map.py` shows a sweep,
`start/` is what the browser gets.
"""
