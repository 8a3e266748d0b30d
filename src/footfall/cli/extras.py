"""Optional dependencies: found, or answered with the line that installs them."""

import importlib.util

from footfall.cli.screen import note
from footfall.scenario.errors import ScenarioError


def require(module: str, extra: str, otherwise: str = "") -> None:
    """Raise with the install line when an extra is missing."""
    if importlib.util.find_spec(module) is None:
        more = f" {otherwise}" if otherwise else ""
        raise ScenarioError(
            f'this needs {module}. Install it with: pip install "footfall[{extra}]".{more}'
        )


def can_draw(picture: str) -> bool:
    """Whether there is something to draw with.

    If not, one line says which picture is left out, and how to get it.
    """
    found = importlib.util.find_spec("matplotlib") is not None
    if not found:
        note(f'no {picture}: this needs matplotlib. Install it with: pip install "footfall[plots]"')
    return found
