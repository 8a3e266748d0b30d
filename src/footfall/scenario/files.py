"""The scenarios and classics that come with footfall.

Nothing heavy is imported here: `footfall list` asks.
"""

import importlib.resources
from pathlib import Path


def shipped_scenarios() -> dict[str, Path]:
    """Name -> file of the scenarios that come with footfall."""
    folder = Path(str(importlib.resources.files("footfall"))) / "scenarios"
    if not folder.is_dir():  # an editable install reads them from the source tree
        folder = Path(__file__).resolve().parents[3] / "scenarios"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def classics() -> dict[str, Path]:
    """Name -> file of the robots of the zoo; the scenario of each lies beside it."""
    folder = Path(str(importlib.resources.files("footfall"))) / "zoo"
    return {path.stem.replace("_", "-"): path for path in sorted(folder.glob("[a-z]*.py"))}
