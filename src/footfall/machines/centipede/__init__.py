"""The centipede: segments on polar legs over viscoelastic ground with gaps, and its reflexes.

Read `robots.py` first (the numbers, with their source), then `walker.py`: the flow is the sum of
the forces of `forces.py` on each segment (docs/theory/centipede.md). Beside them:

    states, outputs, start, sketch   what moves, what is seen, how it begins, how it looks
    gait, reflexes                   where each leg is to go, and what its own senses change in that
    labels                           the names of its quantities, drawn on its sketch
    crossing                         its study: how often it gets over gaps
    tasks                            what a learner may be asked to do with it
    twin                             the same as bodies of MuJoCo, to check one by the other
    leg, body, point_contact         the slots `leg` and `body`; what ground does to a tip
"""
