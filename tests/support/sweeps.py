"""Small sweeps to break, and how to tell that two sweeps gave the same."""

import numpy as np

from footfall.scenario.load import load
from footfall.sweep.begin_sweep import begin_sweep
from footfall.sweep.parse import parse_designs
from footfall.sweep.plan_sweep import plan_of
from footfall.sweep.read_back import open_sweep

SHARDS, SIZE = 8, 300


def begin(folder, *, step=5e-4, settings=()):
    """A sweep of eight shards, nothing of it computed yet."""
    experiment = load("passive-wheel", settings, duration=2.0)
    designs = parse_designs(
        experiment,
        [f"terrain.angle=1 deg:9 deg:{SHARDS * SIZE // 20}", "leg.length=0.2:0.4:20:log"],
    )
    begin_sweep(folder, experiment, designs, plan_of(experiment, step=step), shard_size=SIZE)
    return folder


def assert_same_results(folder, other):
    """Every design once, column for column, bit for bit."""
    a, b = open_sweep(folder).columns(), open_sweep(other).columns()
    assert list(a) == list(b)
    assert a["design"].tolist() == list(range(SHARDS * SIZE))
    for name in a:
        assert a[name].dtype == b[name].dtype, name
        words = a[name].dtype.kind == "O"
        assert (
            np.array_equal(a[name], b[name])
            if words
            else np.array_equal(a[name].view(np.uint8), b[name].view(np.uint8))
        ), name


def shard_names(folder):
    return sorted(path.name for path in (folder / "shards").glob("part-*.parquet"))
