"""A sweep over machines with addresses of their own, which break while it goes on."""

import json
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

from footfall.sweep.read_back import open_sweep

HOUSE = Path(__file__).parents[2]
SCRIPT = HOUSE / "tools" / "try_cluster.py"


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


def test_the_script_for_slurm_sweeps_once_its_jobs_are_there(tmp_path, monkeypatch):
    """That of the page, with fewer designs; in place of the jobs a worker of this machine."""
    distributed = pytest.importorskip("distributed")
    said = {}

    class Stand(distributed.LocalCluster):
        def __init__(self, *, cores, processes, memory, walltime, queue):
            said.update(each=cores // processes, limits=(memory, walltime, queue))
            here = {"dashboard_address": "127.0.0.1:0", "processes": False}
            super().__init__(n_workers=1, threads_per_worker=1, **here)

        def scale(self, n=None, *, jobs=None):
            if jobs is None:  # as it is closed
                return super().scale(n)
            said["jobs"] = jobs

    monkeypatch.setitem(sys.modules, "dask_jobqueue", types.SimpleNamespace(SLURMCluster=Stand))
    page = (HOUSE / "docs" / "how-to" / "sweeps.md").read_text()
    script = page.split("### SLURM")[1].split("```python")[1].split("```")[0]
    study = tmp_path / "study"
    small = script.replace("/scratch/me/study", str(study)).replace(":1000", ":2")
    small = small.replace('ff.load("rimless-wheel")', 'ff.load("rimless-wheel", duration=0.5)')
    exec(compile(small, "slurm.py", "exec"), {"__name__": "__main__"})
    assert said["each"] == 1 and said["jobs"] > 1  # a thread for each worker, as a sweep expects
    assert sorted(open_sweep(study).columns()["design"]) == [0, 1, 2, 3]
    exec(compile(small, "slurm.py", "exec"), {"__name__": "__main__"})  # run again: nothing to do
