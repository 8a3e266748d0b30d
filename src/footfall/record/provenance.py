"""Where a result came from: command, versions, commit, precision, device, plan."""

import datetime
import functools
import importlib.metadata
import json
import platform
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax


@functools.cache  # reading package metadata takes longer than a short run
def _versions() -> dict[str, str]:
    return {
        name: importlib.metadata.version(name)
        for name in ("footfall", "jax", "diffrax", "equinox", "numpy")
    }


@functools.cache
def commit() -> str | None:
    """The commit of footfall's own source, "+" where files of it differ from the commit.

    None where it is not known.
    """
    source = Path(__file__).resolve().parents[1]
    root = source.parents[1]
    try:
        if (root / ".git").exists():
            git = ["git", "-C", str(root)]
            name = subprocess.run(
                [*git, "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=True
            ).stdout
            changed = subprocess.run(
                [*git, "diff", "--quiet", "HEAD", "--", str(source)], capture_output=True, timeout=5
            ).returncode
            return name.strip() + ("+" if changed else "")
        # Installed by pip from a repository.
        said = importlib.metadata.distribution("footfall").read_text("direct_url.json")
        return json.loads(said or "{}").get("vcs_info", {}).get("commit_id")
    except (
        OSError,
        ValueError,
        subprocess.SubprocessError,
        importlib.metadata.PackageNotFoundError,
    ):
        return None


def command_line() -> str:
    """What was typed, ready to be typed again; a Python program by its name."""
    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    return shlex.join([program, *sys.argv[1:]])


def provenance(plan: Any, sample_rate: float | None) -> dict[str, Any]:
    """What is needed to run it again. Values are plain JSON types."""
    return {
        "command": command_line(),
        "commit": commit(),
        **plan.told(),
        "sample_rate": sample_rate,
        "precision": "float64",
        "device": jax.devices()[0].device_kind,
        "platform": platform.platform(),
        "python": platform.python_version(),
        "versions": _versions(),
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
