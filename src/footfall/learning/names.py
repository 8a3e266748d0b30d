"""What Gymnasium knows our robots by.

Footfall is no plug-in that `import gymnasium` finds by itself: it would set JAX to 64 bits in every
program of whoever has installed both.
"""

import gymnasium

#: Scenarios whose robots have a task: "rimless-wheel" is "footfall/RimlessWheel-v0".
SCENARIOS = (
    "rimless-wheel",
    "rimless-wheel-turning",
    "water-runner",
    "centipede",
    "urchin-spike",
)


def name_of(scenario: str) -> str:
    """The name of an environment.

    >>> name_of("rimless-wheel")
    'footfall/RimlessWheel-v0'
    """
    return f"footfall/{''.join(word.capitalize() for word in scenario.split('-'))}-v0"


def register_robots() -> None:
    """Make them known, and "footfall/Robot-v0", which takes any `scenario`."""
    for scenario in (*SCENARIOS, "robot"):
        gymnasium.register(
            name_of(scenario),
            entry_point="footfall.learning.robot_env:RobotEnv",
            vector_entry_point="footfall.learning.vector_env:RobotVectorEnv",
            kwargs={} if scenario == "robot" else {"scenario": scenario},
        )
