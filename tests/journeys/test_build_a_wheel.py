"""The commands of docs/how-to/build-a-wheel.md in their order, in a fresh folder.

What needs a robot is parsed by tests/unit/test_docs.py; what takes minutes is named here.
"""

import itertools
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from footfall.machines.control.fingerprint import answer_payload
from footfall.realtime.firmware_build import core_sources
from footfall.realtime.stack_log import read_stack_log
from footfall.scenario.load import load
from support.commands import COMMAND, PATIENCE, Answer, environment, footfall, several

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "build-a-wheel.md").read_text()
#: In the order of the page.
LINES = [shlex.split(line)[1:] for line in re.findall(r"^ {4}(footfall [^#\n]*)", PAGE, re.M)]
HARDWARE = [line for line in LINES if any(word.startswith("/dev/") for word in line)]
DEVICES = [line for line in LINES if line[:2] == ["stack", "devices"]]
REHEARSED = [line for line in LINES if "rehearsal/devices/teensy" in line]
#: Tried when the page was written: minutes, or what other tests run on this robot.
LONG = {"check", "robust", "sweep", "replay", "fit"}
SLOW = [line for line in LINES if {*line[:2]} & LONG or line == ["run", "my-wheel.toml"]]
EMULATED = [line for line in LINES if line[:2] == ["stack", "run"] and not {"--port"} & {*line}]
WRITTEN = [
    line for line in LINES if line not in [*HARDWARE, *DEVICES, *REHEARSED, *SLOW, *EMULATED]
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the commands that write files have been run."""
    place = tmp_path_factory.mktemp("box")
    (place / "still.txt").write_text("8 stop\n")
    (place / "walk.txt").write_text("0.3 motors-on\n0.6 run\n3.5 stop\n")
    # What the page's run leaves as scenario.toml, without the seconds of the run.
    (_, name, *words), *lines = WRITTEN
    measured = [value for word, value in itertools.pairwise(words) if word == "--set"]
    (place / "my-wheel.toml").write_text(load(name, measured).to_toml())
    for line, answer in zip(lines, several(lines, place), strict=True):
        assert answer.status == 0, (line, answer.err)
    return place


def test_the_page_has_every_kind_of_command():
    assert [line[0] for line in WRITTEN] == ["run", "stack", "stack"]
    assert len(EMULATED) == 2 and len(REHEARSED) == 3 and len(DEVICES) == 1 and len(SLOW) == 6


def test_the_command_line_of_the_robot_is_the_rehearsed_one_but_for_the_names_of_its_ports():
    operator = {"--script", "--joystick", "--duration", "--out", "--set"}
    options = [
        {word for word in line if word.startswith("--")} - operator
        for line in (*HARDWARE, *REHEARSED)
    ]
    assert len(HARDWARE) == 2
    assert all(
        each == {"--port", "--imu-port", "--driver-port", "--reset-gpio"} for each in options
    )


def test_the_sketch_is_there_with_all_its_files(folder):
    assert (folder / "my_wheel" / "my_wheel.ino").exists()
    sources = {path.name for path in (folder / "my_wheel" / "src").iterdir()}
    assert sources == set(core_sources())


def in_time(line: list[str], folder: Path) -> Answer:
    """A run; another if the machine had other things to do than to let its programs run."""
    for _ in range(3):
        answer = footfall(*line, "--json", "--force", cwd=folder)
        late = answer.status == 1 and (
            answer.said["late_cycles"] > 2
            or any("did not answer" in fault for fault in answer.said["faults"])
        )
        if not late:
            break
    return answer


def test_the_rehearsal_over_pseudo_terminals_walks_and_refuses_another_sketch(folder):
    (devices,), (_, refused, walk) = DEVICES, REHEARSED
    with subprocess.Popen(
        [*COMMAND, *devices], cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True
    ) as emulated:
        try:
            limit = time.monotonic() + PATIENCE
            while not (folder / "rehearsal" / "settings.json").exists():
                assert time.monotonic() < limit and emulated.poll() is None
                time.sleep(0.1)
            assert emulated.stdout is not None
            said = emulated.stdout.readline() + emulated.stdout.readline()
            for option in ("--port", "--imu-port", "--driver-port", "--reset-gpio"):
                assert f"{option} {walk[walk.index(option) + 1]}" in said
            other = footfall(*refused, cwd=folder)
            walked = in_time(walk, folder)
        finally:
            emulated.send_signal(signal.SIGINT)
            emulated.wait(PATIENCE)
    assert other.status == 2 and "another controller" in other.err
    assert "`footfall stack firmware my-wheel.toml --set" in other.err.replace("\n", " ")
    assert walked.status == 0, walked.err
    log = read_stack_log(folder / "first-walk")
    assert log["setpoint_on"].any() and log.settings.current_limit == 8.0
    # The sketch of the page is the one that would have answered.
    config = (folder / "my_wheel" / "src" / "footfall_config.h").read_text()
    assert f'"{answer_payload(log.settings).decode()}"' in config
