"""The command line as a user has it.

One command in a process, compiled as a user's is; or several in one process, compiled quickly, for
a process costs seconds and compiling more.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SCRIPT = Path(sys.executable).with_name("footfall")
COMMAND = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-m", "footfall"]
PATIENCE = 600  # s; a fresh cache on a busy machine: only a command that hangs takes longer

#: Several commands in one process: [arguments, ...] in, [{status, out, err}, ...] out. Status None
#: means an exception escaped.
SEVERAL = """
import contextlib, io, json, sys, traceback
{before}
sys.path.append({tests!r})
from footfall.engines.jax_setup import prepare_jax
from support.quick_programs import compile_quickly
prepare_jax()
compile_quickly(True)
from footfall.cli.main import app
answers = []
for arguments in json.loads(sys.argv[1]):
    out, err, status = io.StringIO(), io.StringIO(), None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            app(arguments)
        except SystemExit as end:
            status = end.code or 0
        except BaseException:
            traceback.print_exc()
    answers.append(dict(status=status, out=out.getvalue(), err=err.getvalue()))
print(json.dumps(answers))
"""


class Answer(NamedTuple):
    status: int | None
    out: str
    err: str

    @property
    def said(self):
        """The one JSON object of `--json`."""
        (line,) = self.out.splitlines()
        return json.loads(line)


def environment(**more):
    return {**os.environ, "COLUMNS": "200", **more}


def footfall(*arguments, cwd, **more):
    """One command in a process of its own."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def several(commands, cwd, before="", **more):
    """Several commands, one process, compiled quickly (support/quick_programs.py)."""
    code = SEVERAL.format(before=before, tests=str(Path(__file__).parents[1]))
    program = [sys.executable, "-c", code, json.dumps(commands)]
    done = subprocess.run(
        program, cwd=cwd, env=environment(**more), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return [Answer(**answer) for answer in json.loads(done.stdout)]
