"""The two-leg step climber: a plan of joint motions, and what it needs of motors and ground.

Read `robots.py` first (the numbers, with their source), then `walker.py`: a motion plan, so its
state is a time and a place in a table of footsteps (docs/theory/two-leg-walker.md). Beside it:

    route, planner, course   words -> footholds -> the table of footsteps
    reach, support, ground   whether the legs reach them, and whether the ground holds them
    gait, moves              how long each move takes; where both feet are meanwhile
    kinematics               links, joint torques, zero-moment point
    figures, table           what a plan costs; of thousands of plans
    tuning                   the gait as an optimisation problem (`footfall design`)
    twin                     the same as bodies of MuJoCo, to check one by the other
    sketch                   how it looks
"""
