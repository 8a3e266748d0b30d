"""Whose code runs: a scenario that names a Python file is loaded only where the user said so, and
no run folder brings code along.
"""

import hashlib
import importlib.util
import py_compile
import shutil
from pathlib import Path

import pytest

import footfall.scenario.trust as trusting
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load
from footfall.scenario.trust import accepting, answer_by, trust_folder

ROBOT = """
from pathlib import Path
Path(__file__).with_name("ran").touch()
from footfall.machines.rimless_wheel.rigid_wheel import RigidWheel
class Mine(RigidWheel):
    pass
"""


@pytest.fixture(autouse=True)
def nothing_trusted_yet(tmp_path, monkeypatch):
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(trusting, "_here", {"folders": [], "code": []})
    monkeypatch.setattr(trusting, "_ask", trusting._never)


def written(folder: Path, code: str = ROBOT) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "mine.py").write_text(code)
    (folder / "mine.toml").write_text('[robot]\nkind = "mine.py:Mine"\n')
    return folder / "mine.toml"


def forget_process(monkeypatch):
    monkeypatch.setattr(trusting, "_here", {"folders": [], "code": []})


def test_code_of_a_folder_not_yet_trusted_does_not_run_and_the_answer_says_how(tmp_path):
    scenario = written(tmp_path / "theirs")
    with pytest.raises(ScenarioError) as caught:
        load(scenario)
    said = str(caught.value)
    assert (
        str(scenario) in said and "mine.py" in said and "--trust" in said and "trust=True" in said
    )
    assert not (tmp_path / "theirs" / "ran").exists()


def test_trust_is_told_once_for_a_folder_and_remembered_by_the_next_process(tmp_path, monkeypatch):
    scenario = written(tmp_path / "mine")
    load(scenario, trust=True)
    forget_process(monkeypatch)
    (tmp_path / "mine" / "mine.py").write_text(ROBOT + "\n# another version\n")
    load(scenario)
    with pytest.raises(ScenarioError, match="--trust"):
        load(written(tmp_path / "theirs", ROBOT + "# of someone else\n"))


def test_on_a_terminal_it_is_asked_once_and_no_means_no(tmp_path):
    asked = []
    answer_by(lambda question: bool(asked.append(question)))
    scenario = written(tmp_path / "theirs")
    with pytest.raises(ScenarioError, match="--trust"):
        load(scenario)
    answer_by(lambda question: not asked.append(question))
    load(scenario)
    load(scenario)
    assert len(asked) == 2 and "mine.py" in asked[0]


@pytest.mark.parametrize("mark", trusting.OWN_MARKS)
def test_a_run_folder_brings_no_code_of_its_own_not_even_when_told(tmp_path, mark, monkeypatch):
    scenario = written(tmp_path / "run", ROBOT + "# changed in the run folder\n")
    (tmp_path / "run" / mark).write_text("{}")
    for told in (False, True):
        with pytest.raises(ScenarioError, match="copy in a run folder"):
            load(scenario, trust=told)
    trust_folder(tmp_path / "run")
    with pytest.raises(ScenarioError, match="copy in a run folder"):
        load(scenario)
    assert not (tmp_path / "run" / "ran").exists()


def test_the_copy_in_a_run_folder_runs_where_the_same_code_ran_before(tmp_path, monkeypatch):
    scenario = written(tmp_path / "mine")
    load(scenario, trust=True)
    shutil.copytree(tmp_path / "mine", tmp_path / "run")
    (tmp_path / "run" / "provenance.json").write_text("{}")
    forget_process(monkeypatch)
    load(tmp_path / "run" / "mine.toml")


def test_what_runs_is_the_file_that_was_looked_at_not_a_compiled_one_beside_it(tmp_path):
    scenario = written(tmp_path / "mine")
    load(scenario, trust=True)
    evil = tmp_path / "evil.py"
    evil.write_text(ROBOT + "raise RuntimeError('the compiled file ran')\n")
    target = importlib.util.cache_from_source(str(tmp_path / "mine" / "mine.py"))
    py_compile.compile(
        str(evil), cfile=target, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    load(scenario)


def test_a_worker_runs_what_it_is_ordered_to_and_nothing_after_it(tmp_path):
    scenario = written(tmp_path / "sweep")
    (tmp_path / "sweep" / "sweep.json").write_text("{}")
    with accepting([hashlib.sha256((tmp_path / "sweep" / "mine.py").read_bytes()).hexdigest()]):
        load(scenario)
    with pytest.raises(ScenarioError, match="copy in a run folder"):
        load(scenario)


def test_without_a_folder_to_write_in_trust_holds_for_the_process(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path / "file" / "below"))
    scenario = written(tmp_path / "mine")
    load(scenario, trust=True)
    load(scenario)
