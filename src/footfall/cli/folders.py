"""Where results go when nobody says."""

import datetime
from pathlib import Path


def fresh_folder(parent: str, name: str) -> Path:
    """parent/<name>-<time>, with a counter when two share a second."""
    base = Path(parent) / f"{name}-{datetime.datetime.now().strftime('%Y%m%d-%H%M%S')}"
    folder, count = base, 2
    while folder.exists():
        folder, count = base.with_name(f"{base.name}-{count}"), count + 1
    return folder
