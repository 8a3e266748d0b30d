"""From shell to printed summary: `footfall run rimless-wheel --no-plots`, with an empty and with a
warm compilation cache.

python benchmarks/startup.py
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from conditions import write


def seconds(command: list[str], environment: dict, until: str | None = None) -> float:
    """Wall time of a command, or until its output holds a text."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if until and until in line:
                took = time.perf_counter() - began
                process.stdout.read()
                return took
    return time.perf_counter() - began


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"FOOTFALL_CACHE": str(Path(folder) / "cache")}
        run = [
            sys.executable,
            "-m",
            "footfall.cli.main",
            "run",
            "rimless-wheel",
            "--no-plots",
            "--force",
            "--out",
            f"{folder}/run",
        ]
        figures = {"cold": seconds(run, environment, "residual")}
        figures["warm"] = min(seconds(run, environment, "residual") for _ in range(5))
        figures["warm_whole_command"] = min(seconds(run, environment) for _ in range(3))
        figures["import_jax_diffrax"] = min(
            seconds([sys.executable, "-c", "import jax, diffrax"], environment) for _ in range(5)
        )
    figures["warm_over_import"] = figures["warm"] / figures["import_jax_diffrax"]
    for name, value in figures.items():
        print(f"{name:22} {value:.2f}")
    write("startup", figures)


if __name__ == "__main__":
    main()
