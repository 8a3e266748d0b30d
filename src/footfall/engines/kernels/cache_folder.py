"""Where footfall keeps what it can make again.

Nothing heavy is imported here: the command line asks before JAX starts.
"""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Where footfall keeps what it can make again.

    $FOOTFALL_CACHE, else the user's cache folder.
    """
    if given := os.environ.get("FOOTFALL_CACHE"):
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "footfall"
