"""The table of the control stack says what the programs do, in the order in which they do it."""

import ast
import functools
import importlib
import inspect
import textwrap

import pytest

from footfall.machines import robots
from footfall.machines.control.framing import FrameReader, down_format, up_format
from footfall.realtime.plant import stack_settings
from footfall.realtime.task_table import DEVICES, Line, Task, lines, rate_words, tasks

SETTINGS = stack_settings(robots.rimless_wheel_3d_closed_loop())


def calls(source: str) -> list[str]:
    """Names of what a function calls, in the order of its text."""
    module, names = source, []
    while True:
        module, _, name = module.rpartition(".")
        names.insert(0, name)
        try:
            found = functools.reduce(getattr, names, importlib.import_module(module))
            break
        except ModuleNotFoundError:
            continue
    tree = ast.parse(textwrap.dedent(inspect.getsource(found)))
    made = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    made.sort(key=lambda node: (node.end_lineno, node.end_col_offset))
    return [ast.unparse(node) for node in made]


@pytest.mark.parametrize("task", tasks(SETTINGS), ids=lambda task: f"{task.program}-{task.name}")
def test_steps_are_calls_of_the_code_in_its_order(task: Task):
    order = iter(calls(task.source))
    for step in task.steps:  # each is found after the one before
        assert any(name == step.code or name.endswith(f".{step.code}") for name in order), step


def test_rates_and_lines_are_those_of_the_settings():
    assert {task.program for task in tasks(SETTINGS)} <= set(DEVICES)
    assert (rate_words(10_000), rate_words(250)) == ("100 Hz", "4 kHz")
    found = {(line.start, line.end): line for line in lines(SETTINGS) if line.example}
    down, up = found["high", "mid"], found["mid", "high"]
    assert len(FrameReader(down_format(SETTINGS)).feed(down.example)) == SETTINGS.frame_copies
    assert len(FrameReader(up_format(SETTINGS)).feed(up.example)) == 1
    commands: Line = found["mid", "low"]
    assert commands.example.count(b"\n") == SETTINGS.motors
    assert commands.load is not None and commands.load < 1.0
    assert commands.load * commands.baud > 115_200  # the usual rate would not do
