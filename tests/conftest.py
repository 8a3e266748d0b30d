"""Every test: on the CPU, compiled programs shared through one folder (also with subprocesses and xdist), examples that repeat."""

import os
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("FOOTFALL_CACHE", str(Path(__file__).resolve().parents[1] / ".cache" / "test"))

import hypothesis

from footfall.cli.runtime import use_cache

use_cache()

# A first example may compile for seconds, so no deadline; derandomized, because nothing random decides what is run.
hypothesis.settings.register_profile(
    "footfall",
    deadline=None,
    derandomize=True,
    max_examples=25,
    database=None,
    phases=[
        hypothesis.Phase.explicit,
        hypothesis.Phase.generate,
        hypothesis.Phase.shrink,
    ],  # to explain takes longer than to find
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.function_scoped_fixture],
)
hypothesis.settings.load_profile("footfall")
