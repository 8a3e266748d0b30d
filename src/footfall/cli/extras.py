"""Optional dependencies: found, or answered with the line that installs them."""

import importlib.util

from footfall.scenario.errors import ScenarioError


def require(module: str, extra: str, otherwise: str = "") -> None:
    """Raise with the install line when an extra is missing."""
    if importlib.util.find_spec(module) is None:
        more = f" {otherwise}" if otherwise else ""
        raise ScenarioError(f'this needs {module}. Install it with: pip install "footfall[{extra}]".{more}')
