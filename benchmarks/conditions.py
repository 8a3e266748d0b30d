"""What a figure was measured under, written next to it."""

import datetime
import importlib.metadata
import json
import os
import platform
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def conditions() -> dict:
    """Machine and versions."""
    model = next(
        (line.split(":")[1].strip() for line in _cpu_lines() if line.startswith("model name")),
        platform.processor(),
    )
    return {
        "date": datetime.date.today().isoformat(),
        "cpu": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {n: _version(n) for n in ("footfall", "jax", "diffrax", "numpy", "scipy")},
        "precision": "float64",
    }


def _version(name: str) -> str:
    """From its metadata; a package that only lies on the path has none."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "on the path"


def _cpu_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def write(name: str, figures: dict) -> None:
    """results/<name>.json with conditions."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"conditions": conditions(), "figures": figures}, indent=2) + "\n")
    print(f"written: {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")
