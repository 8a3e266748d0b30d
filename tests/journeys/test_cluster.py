"""A sweep over machines with addresses of their own, which break while it goes on."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "try_cluster.py"


@pytest.mark.slow
@pytest.mark.as_compiled
def test_nothing_is_lost_when_workers_machines_and_lines_are(tmp_path):
    """By tools/try_cluster.py, in network namespaces: minutes."""
    pytest.importorskip("distributed")
    if not shutil.which("ip"):
        pytest.skip("no ip: apt-get install iproute2")
    apart = ["unshare", "--map-root-user", "--mount", "--net", "true"]
    if subprocess.run(apart, capture_output=True).returncode != 0:
        pytest.skip("no name spaces here")
    tried = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path / "try")], capture_output=True, text=True
    )
    assert tried.returncode == 0, tried.stdout + tried.stderr
    *story, counted = map(json.loads, tried.stdout.splitlines())
    happened = [step["what"] for step in story]
    for what in (
        "the worker of b is killed",
        "machine b dies",
        "machine c takes its place",
        "the line to a is cut",
        "the line to a is healed",
        "the line to sweep is cut",
        "the line to sweep is healed",
    ):
        assert what in happened
    # The cut was longer than Dask's patience: it had given the machine up.
    assert "a" not in next(step for step in story if step.get("workers") == ["c"])["workers"]
    assert story[-1]["workers"] == ["a", "c"]
    assert counted == {"designs": 60000, "missing": 0, "doubled": 0, "columns that differ": 0}
