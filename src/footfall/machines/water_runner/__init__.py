"""The water runner: a body on four-bar legs that slap the water, or walk on hard ground.

Read `robots.py` first (the numbers, with their source), then `runner.py`: the equations of the body
and all its feet (docs/theory/water-runner.md). It asks `legs.py` what all legs do at one instant,
which asks `linkage.py` where a foot is and `wet_disc.py` or the ground what pushes on it. Beside
them:

    states, outputs, start, sketch   what moves, what is seen, how it begins, how it looks
    labels                           words on a leg, and its links cut free
    four_bar                         the linkage for arrays, as users call it: `ff.robots.four_bar`
    four_bar_leg                     the slot `leg`
    foot, pads, compliant_feet       the slot `foot`: its contract, and what fits
    drive, crank_drives              the slot `drive`
    tail, tails                      the slot `tail`
    body                             the slot `body`
    tasks                            what a learner may be asked to do with it
    disc_load, wet_face              the load of water on a disc, in closed form; what faces share
"""
