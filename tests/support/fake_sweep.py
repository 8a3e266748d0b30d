"""A sweep that was never computed: what a heat map asks of one."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa


class FakeSweep:
    """Columns by name; `a` and, if given, `b` are its keys."""

    folder, complete = Path("sweep"), True

    def __init__(self, **columns):
        self.table = {"design": np.arange(len(columns["a"])), **columns}
        self.table.setdefault("outcome", np.array(["reached_end"] * len(columns["a"])))
        self.table.setdefault("verdict", np.array(["sound"] * len(columns["a"])))
        self.manifest = SimpleNamespace(count=len(columns["a"]), name="fake")
        keys = [key for key in ("a", "b") if key in columns]
        self.designs = SimpleNamespace(
            keys=keys,
            axes=[SimpleNamespace(key=key, unit="m") for key in keys],
            columns=lambda i, j: {key: self.table[key][i:j] for key in keys},
        )

    def dataset(self):
        return SimpleNamespace(schema=pa.table(self.table).schema)

    def names(self):
        return list(self.table)

    def unit(self, name):
        return "m/s"

    def pieces(self, names):
        half = self.manifest.count // 2
        for part in (slice(0, half), slice(half, None)):
            yield {name: self.table[name][part] for name in names}
