"""A controller of one's own against the clock: the page's LQR walks the wheel, and its log replays.

By the Python program and by the firmware.
"""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import footfall.scenario.trust as trusting
from footfall.machines.control.own_law import OwnLaw
from footfall.realtime.fit import fit
from footfall.realtime.replay import replay
from footfall.realtime.stack_log import StackLogError, read_stack_log
from footfall.scenario.errors import ScenarioError
from support.commands import footfall

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-controller.md"
LQR = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)[-1]
SECONDS = 3
OWN = "controller=my_lqr.py:Lqr"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    (folder / "my_lqr.py").write_text(LQR)
    return folder


@pytest.fixture(scope="module", params=["python", "firmware"])
def walk(folder, request):
    """One run; another if the machine had other things to do than to let the robot move."""
    for attempt in range(3):
        name = f"{request.param}-{attempt}"
        asked = f"stack run rimless-wheel --mid {request.param} --set {OWN} --trust --json --out"
        answer = footfall(*asked.split(), name, "--duration", str(SECONDS), cwd=folder)
        disturbed = answer.status == 1 and (
            answer.said["late_cycles"] > 2 or answer.said["low"]["left_out"] > 0
        )
        if not disturbed:
            break
    return folder / name, answer


@pytest.fixture
def trusted(folder, monkeypatch):
    """Code of this folder runs in this process too."""
    monkeypatch.setattr(trusting, "_here", {"folders": [str(folder.resolve())], "code": []})
    monkeypatch.setattr(trusting, "cache_folder", lambda: folder / "cache")
    monkeypatch.chdir(folder)


def test_the_lqr_walks_the_wheel_in_real_time_and_in_the_replay_of_its_log(walk, trusted):
    run, answer = walk
    assert answer.status == 0, answer.err
    assert answer.said["faults"] == [] and answer.said["failure"] == ""
    # At 0.6 rad the shipped law has 0.59 m/s, which is 2.3 turns/s of a motor.
    assert all(1.5 < speed < 3.0 for speed in answer.said["walked"]["mean_motor_speed"])
    log = read_stack_log(run)
    assert log.changes == (OWN,) and log.settings.gains.title == "Lqr in my_lqr.py"
    # How old a pitch is when it is read differs from run to run, by up to a cycle of 10 ms.
    found = [replay(log, overrides=[OWN], age=age) for age in (0.003, 0.006, 0.009)]
    pitches = [next(row for row in one.mismatches if row.name == "pitch") for one in found]
    nearest = min(pitches, key=lambda row: row.shifted_difference)
    assert all(one.outcome == "running" and not one.fault for one in found)
    assert all(np.count_nonzero(one.on) > 100 for one in found)
    assert nearest.simulated_mean == pytest.approx(nearest.logged_mean, abs=0.01)  # rad
    assert nearest.shifted_difference < 0.25 * nearest.logged_spread


def test_no_law_is_built_from_a_log(walk, trusted, monkeypatch):
    log = read_stack_log(walk[0])
    evil = dataclasses.replace(log.settings, gains=with_source(log, "#error never compiled\n"))
    stranger = dataclasses.replace(log, settings=evil)
    with pytest.raises(ScenarioError, match="a log is not trusted to name one"):
        replay(stranger)
    with pytest.raises(StackLogError, match="is not trusted to bring code"):
        replay(stranger, overrides=[])
    with pytest.raises(StackLogError, match="is another law now: its C differs"):
        replay(stranger, overrides=[OWN])
    with pytest.raises(StackLogError, match="fit knows the shipped law only"):
        fit(log, overrides=[OWN])


def with_source(log, text):
    law = log.settings.gains
    assert isinstance(law, OwnLaw)
    return law._replace(source=text + law.source)
