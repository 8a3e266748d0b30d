"""The rimless wheel: rigid, with a torso, with two sides.

Read `robots.py` first (the numbers, with their source), then `rigid_wheel.py`: the whole contract
in its smallest form. `torso_wheel.py` adds springy spokes, a torso and motors (docs/theory/
rimless-wheel.md has the equations by number), `steered_wheel.py` the second side. Beside them:

    states, start, sketch        what moves, how it begins, how it looks
    labels                       words on schematics of it
    rolling, footing             which spoke is next; where its tip meets uneven ground
    leg, spring_leg, strut       the slot `leg`: its contract, and what fits
    pitch_controller, pitch_laws the slot `controller`
    torso                        the slot `torso`
    bounds, cures                what its equations cannot mean; what to try then
    tasks                        what a learner may be asked to do with them
    odometry                     where a wheel is, by its motors; where it can be told to go
    twin                         the wheels as bodies of MuJoCo, to check one by the other
    closed_loop                  the same wheels under their control computer
"""
