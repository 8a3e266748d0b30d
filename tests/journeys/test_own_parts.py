"""A part from the user's own file, in any slot: from the folder it lies in to the run folder and
back.
"""

import types
import uuid
from pathlib import Path

import pytest
from tests.support.commands import several

import footfall as ff
import footfall.scenario.trust as trusting
from footfall.realtime.plant import plant_of_log
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load, with_settings
from footfall.sweep.parse import parse_axis

#: A ground of one's own, with a parameter of its own.
RAMP = """
from footfall.authoring import AbstractTerrain, Scalar, param


class Ramp(AbstractTerrain):
    features = frozenset({"inclined"})
    angle: Scalar = param(0.09, unit="rad", doc="descent", gt=0)

    @property
    def descent(self):
        return self.angle

    def height(self, x):
        return -self.angle * x

    def relief(self, x):
        return 0.0 * x


class Sawtooth(Ramp):
    features = frozenset({"walls"})


class Bare(AbstractTerrain):
    pass


class Needy(Ramp):
    angle: Scalar = param(doc="descent")


class Late(Ramp):
    def height(self, x):
        return 0.0 * x

    def relief(self, x):
        return self.no_such_thing * x

    features = frozenset({"hills"})
"""
LATE = RAMP.splitlines().index("        return self.no_such_thing * x") + 1


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A trusted working folder with a part in it."""
    monkeypatch.setattr(trusting, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(trusting, "_here", {"folders": [], "code": []})
    monkeypatch.setattr(trusting, "_ask", lambda _: True)
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "ramp.py").write_text(RAMP)
    monkeypatch.chdir(folder)
    return folder


def test_a_part_of_ones_own_runs_is_kept_with_the_run_and_runs_again(tmp_path):
    # code that ran before would be known
    (tmp_path / "ramp.py").write_text(f"# {uuid.uuid4()}\n{RAMP}")
    (tmp_path / "ramp.toml").write_text(
        '[robot]\nkind = "passive-wheel"\n[terrain]\nkind = "ramp.py:Ramp"\nangle = "5 deg"\n'
    )
    ramp = ["run", "passive-wheel", "--set", "terrain=ramp.py:Ramp", "--no-plots", "--json"]
    short = ["--set", "terrain.angle=5 deg", "--duration", "0.1", "--out", "one"]
    short += ["--set", "sim.engine=step", "--set", "sim.batch_step=1 ms"]
    refused, told, from_file, copied = several(
        [
            [*ramp, *short],
            [*ramp, *short, "--trust"],
            ["show", "ramp.toml"],
            ["show", "one/scenario.toml"],
        ],
        tmp_path,
    )
    assert refused.status == 2 and "--trust" in refused.err and "ramp.py" in refused.err
    assert told.status == 0 and (tmp_path / "one" / "ramp.py").read_text().endswith(RAMP)
    assert from_file.status == copied.status == 0
    for answer in (from_file, copied):
        assert "[terrain] kind = ramp.py:Ramp" in answer.out and "0.0872665" in answer.out
    # Opening it executes no code, also where the code would be trusted.
    (tmp_path / "one" / "ramp.py").write_text("raise RuntimeError('it ran')")
    run = ff.open_run(tmp_path / "one")
    assert run.outcome.name == "reached_end"
    with pytest.warns(UserWarning, match="executes no code"):
        assert run.draw().shapes == ()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("none.py:Ramp", "there is no file"),
        ("../ramp.py:Ramp", "beside or below"),
        ("ramp.py:Rampe", 'has no terrain "Rampe". Kinds of terrain in it: Ramp,'),
        ("ramp.py:Bare", "Bare lacks: height"),
        ("ramp.py:Needy", "has no default for angle"),
        ("ramp.py:Sawtooth", "does not fit this robot's terrain: "),
        ("ramp.py:Late", f"ramp.py, line {LATE}: AttributeError"),
        ("broken.py:Ramp", "broken.py, line 2: ZeroDivisionError"),
        ("unread.py:Ramp", "unread.py, line 1: SyntaxError"),
    ],
)
def test_what_is_wrong_with_a_part_of_ones_own_is_said_with_its_place(mine, kind, expected):
    (mine / "broken.py").write_text("a = 0\nb = 1 / a\n")
    (mine / "unread.py").write_text("class Ramp(:\n")
    robot = "water-runner-ground" if "Sawtooth" in kind else "passive-wheel"
    with pytest.raises(ScenarioError) as caught:
        load(robot, {"terrain": kind})
    assert expected in str(caught.value)
    assert ".py, line" in expected or "[terrain]" in str(caught.value)


def test_a_ground_is_no_leg(mine):
    with pytest.raises(
        ScenarioError, match=r"\[robot.leg\].*\n  Ramp must be a subclass of Abstract"
    ):
        load("rimless-wheel", {"leg": "ramp.py:Ramp"})


def test_a_part_and_the_robot_of_one_file_share_its_classes(mine):
    (mine / "both.py").write_text(
        RAMP
        + "from footfall.machines.rimless_wheel.rigid_wheel import RigidWheel\n"
        + "from footfall.authoring import part\n"
        + "class Wheel(RigidWheel):\n"
        + "    terrain: Ramp = part(doc='ground', default_factory=Ramp)\n"
        + "class Steep(Ramp):\n    angle: Scalar = param(0.1, doc='descent')\n"
    )
    (mine / "both.toml").write_text(
        '[robot]\nkind = "both.py:Wheel"\n[terrain]\nkind = "both.py:Steep"\n'
    )
    assert load("both.toml").system.terrain.angle == 0.1


def test_a_sweep_varies_a_part_of_ones_own_and_tables_of_designs_name_no_new_code(mine):
    experiment = ff.load("passive-wheel", {"terrain": "ramp.py:Ramp"})
    found = experiment.sweep({"terrain.angle": [0.08, 0.09]}, duration=1, folder="study")
    assert (Path("study") / "ramp.py").is_file() and found.complete
    assert with_settings(with_settings(experiment, ["terrain=slope"]), ["terrain=ramp.py:Ramp"])
    axis = parse_axis(experiment, "terrain=ramp.py:Ramp,slope", counted=True)
    assert axis.values == ("ramp.py:Ramp", "slope")
    with pytest.raises(ScenarioError, match="never from a table of designs"):
        with_settings(ff.load("passive-wheel"), ["terrain=ramp.py:Ramp"])


def test_a_log_names_no_code_even_in_a_trusted_folder(mine):
    (mine / "trap.py").write_text("open('trapped', 'w')\n")
    log = types.SimpleNamespace(
        path="stack.mcap", scenario="rimless-wheel", changes=("controller=trap.py:X",)
    )
    with pytest.raises(ScenarioError, match="not trusted to"):
        plant_of_log(log)
    with pytest.raises(ScenarioError):
        load("passive-wheel", {"terrain": "trap.py:X"})
    assert (mine / "trapped").exists(), "the trap does not work, so this test shows nothing"
