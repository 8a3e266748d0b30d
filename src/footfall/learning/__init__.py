"""Robots as environments for learners: to import this room registers them with Gymnasium.

>>> import gymnasium
>>> import footfall.learning
>>> env = gymnasium.make("footfall/RimlessWheel-v0")

Read `hybrid/task.py` first: a robot says there what a learner moves, sees and is paid for.
`given_task.py` finds the task of a scenario, `task_batch.py` has the robots of one side by side, on
the kernels; `robot_env.py` is one of them for Gymnasium, `vector_env.py` thousands, `spread.py` how
their numbers differ from lane to lane. `pure.py` has the same as a (reset, step) pair of JAX.
`names.py` lists what is registered. `screen.py` shows one of them in a browser.
"""

from footfall.learning.given_task import given_task as given_task
from footfall.learning.names import register_robots as register_robots
from footfall.learning.pure import PureTask as PureTask
from footfall.learning.pure import pure_task as pure_task
from footfall.learning.robot_env import RobotEnv as RobotEnv
from footfall.learning.vector_env import RobotVectorEnv as RobotVectorEnv

register_robots()
