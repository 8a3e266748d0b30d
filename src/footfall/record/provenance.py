"""Where a result came from: versions, precision, device, plan."""

import datetime
import functools
import importlib.metadata
import platform
from typing import Any

import jax


@functools.cache  # reading package metadata takes longer than a short run
def _versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in ("footfall", "jax", "diffrax", "equinox", "numpy")}


def _called(solver: Any) -> str:
    """A solver with the numbers that make it what it is: "AdamsBashforth(degree=4)"."""
    numbers = ", ".join(f"{k}={v}" for k, v in vars(solver).items() if isinstance(v, int | float))
    return type(solver).__name__ + (f"({numbers})" if numbers else "")


def provenance(plan: Any, sample_rate: float | None) -> dict[str, Any]:
    """What is needed to run it again. Values are plain JSON types."""
    return {
        "engine": "event",
        "solver": _called(plan.solver),
        "rtol": plan.rtol,
        "atol": plan.atol,
        "step": plan.step,
        "near_room": plan.near_room,
        "near_step": plan.near_step,
        "settle": plan.settle,
        "sample_rate": sample_rate,
        "precision": "float64",
        "device": jax.devices()[0].device_kind,
        "platform": platform.platform(),
        "python": platform.python_version(),
        "versions": _versions(),
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
