"""What only POSIX systems have is not needed for a run: docs/how-to/install.md, Windows.

Nobody here has a Windows. Python gives it less, and that much can be taken away from it here.
"""

import json
import os
import subprocess
import sys

import pytest

from support.commands import PATIENCE

#: What Python has not on Windows, of what is in use here or easily could be. Other packages are
#: loaded before it goes: they ask for the system's name and take what belongs to it.
WITHOUT = """
import importlib, os, shutil, signal, sys
import jax, diffrax, equinox, mcap, numpy, pyarrow.parquet, pydantic, rich.progress, typer
import asyncio, concurrent.futures, multiprocessing, subprocess, tempfile

for name in ("fcntl", "termios", "tty", "pty", "resource", "pwd", "grp"):
    sys.modules[name] = None
for home, names in {
    os: "killpg setsid getuid geteuid fork sched_getaffinity sched_setaffinity sched_setscheduler"
    " statvfs mkfifo fchmod O_NOFOLLOW O_DIRECTORY O_NONBLOCK O_NOCTTY O_CLOEXEC",
    signal: "SIGKILL SIGHUP SIGALRM SIGUSR1 SIGUSR2 SIGCHLD SIGQUIT SIGTSTP setitimer",
}.items():
    for name in names.split():
        delattr(home, name)
os.supports_dir_fd = set()
importlib.reload(shutil)  # decides once how it deletes
"""


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")

    def run(code: str) -> str:
        said = subprocess.run(
            [sys.executable, "-c", WITHOUT + code],
            cwd=folder,
            env={**os.environ, "FOOTFALL_CXX": "none"},  # as there: no kernels
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert said.returncode == 0, said.stderr
        return said.stdout

    return run


def test_a_robot_runs_and_is_kept(answer):
    words = "run passive-wheel --no-plots --json --duration 2 --out one"
    said = json.loads(
        answer(f"from footfall.__main__ import main; sys.argv[1:] = {words.split()!r}; main()")
    )
    assert said["outcome"]["name"] == "reached_end" and said["metrics"]["mean_speed"] > 0.5


def test_a_compiler_that_takes_too_long_is_ended(answer):
    said = answer(
        """
from footfall.engines.kernels.fuse_errors import NoCompiler
from footfall.engines.kernels.run_compiler import run_compiler

os.environ["FOOTFALL_COMPILE_SECONDS"] = "0.2"
try:
    run_compiler([sys.executable, "-c", "import time; time.sleep(100)"])
except NoCompiler as error:
    print(error)
"""
    )
    assert "did not finish within 0.2 s" in said
