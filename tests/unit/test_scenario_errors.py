"""Scenario files: what loads, and how everything a user can write wrong is answered (file, key,
what came, what is expected).
"""

import math

import jax
import numpy as np
import pytest

from footfall import check_system
from footfall.scenario.catalog import PARTS, ROBOTS, shipped_scenarios
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load

WHEEL = '[robot]\nkind = "rimless-wheel"\n'
PASSIVE = '[robot]\nkind = "passive-wheel"\n'
THREE_D = '[robot]\nkind = "rimless-wheel-3d"\n'


@pytest.fixture
def answer(tmp_path):
    """The words with which a file (or a `--set` on it) is refused."""

    def refused(text, *settings, duration=None, trust=False):
        path = tmp_path / "hill.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(ScenarioError) as caught:
            load(path, settings, duration=duration, trust=trust)
        said = str(caught.value)
        # Where to look.
        assert str(path) in said or any(f"--set {text}" in said for text in settings), said
        return said

    return refused


# --- what loads -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", shipped_scenarios())
def test_a_shipped_scenario_loads_and_says_what_to_look_for(name):
    experiment = load(name)
    assert experiment.name == name
    assert experiment.about.title and experiment.about.about and experiment.about.look_for


@pytest.mark.parametrize("name", ["water-runner", "two-leg-step"])
def test_its_robot_keeps_the_contract(name):
    """One of each kind that test_parts.py does not check; a quadruped takes half a minute, its
    variants are in the slow tests.
    """
    experiment = load(name)
    report = check_system(experiment.system, experiment.start)
    assert len(report.checks) >= 12  # it did look


def test_the_four_wheels_are_shipped_with_the_numbers_of_the_reference_page():
    assert {
        "passive-wheel",
        "rimless-wheel",
        "rimless-wheel-stiff",
        "rimless-wheel-turning",
    } <= set(shipped_scenarios())
    assert load("passive-wheel").system.terrain.angle == 0.08
    compliant, stiff, turning = (
        load(name).system
        for name in ("rimless-wheel", "rimless-wheel-stiff", "rimless-wheel-turning")
    )
    # Set B.
    assert (compliant.leg.stiffness, compliant.leg.damping, compliant.torso.pitch_setpoint) == (
        15000.0,
        400.0,
        0.6,
    )
    # Set A.
    assert (stiff.leg.stiffness, stiff.leg.damping, stiff.torso.pitch_setpoint) == (
        1315.0,
        1e5,
        0.6,
    )
    assert turning.steering_current == 0.5


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *((name, []) for name in shipped_scenarios()),
        (
            "rimless-wheel",
            ["leg=stiffening", "terrain=slope", "controller=constant-torque", "motor=ideal-motor"],
        ),
        (
            "rimless-wheel",
            ["sim.settle=3", "sim.sample_rate=auto", "start.height=30 cm", "integral_limit=2 N m"],
        ),
        ("rimless-wheel-turning", ["robot.yaw_inertia=auto"]),
    ],
)
def test_the_resolved_scenario_loads_again_to_the_same_experiment(tmp_path, name, settings):
    first = load(name, settings)
    path = tmp_path / f"{name}.toml"
    path.write_text(first.to_toml())
    again = load(path)
    assert again.document == first.document
    assert again.about == first.about
    assert jax.tree.structure(again.system) == jax.tree.structure(first.system)
    leaves = zip(
        jax.tree.leaves((again.system, again.start)),
        jax.tree.leaves((first.system, first.start)),
        strict=True,
    )
    assert all(np.array_equal(a, b) for a, b in leaves)
    assert (again.plan.duration, again.plan.sample_rate, again.plan.settle) == (
        first.plan.duration,
        first.plan.sample_rate,
        first.plan.settle,
    )
    assert again.plan == first.plan


@pytest.mark.parametrize("kind", ROBOTS)
def test_a_file_may_name_nothing_but_its_robot(tmp_path, kind):
    path = tmp_path / "least.toml"
    path.write_text(f'[robot]\nkind = "{kind}"\n')
    assert load(path).document["robot"]["kind"] == kind


def test_units_are_left_at_the_door(tmp_path):
    path = tmp_path / "units.toml"
    path.write_text(
        WHEEL
        + 'wheel_mass = "2460 g"\n[robot.leg]\nrest_length = "26 cm"\n[start]\nspoke_angle = "18'
        ' deg"\n[sim]\nduration = "2 min"\n'
    )
    experiment = load(path)
    assert experiment.system.wheel_mass == pytest.approx(2.46, rel=1e-15)
    assert experiment.system.leg.rest_length == pytest.approx(0.26, rel=1e-15)
    assert experiment.start.x.spoke_angle == pytest.approx(math.pi / 10, rel=1e-15)
    assert experiment.plan.duration == 120.0
    # The run folder keeps SI.
    assert experiment.document["robot"]["leg"]["rest_length"] == experiment.system.leg.rest_length


@pytest.mark.parametrize("angle", [0.0, 0.1, -0.2, math.pi / 10])
def test_start_height_auto_puts_the_lowest_foot_on_the_ground(angle):
    experiment = load("rimless-wheel", ["start.height=auto", f"spoke_angle={angle!r}"])
    hub = float(experiment.start.x.spoke_length) * math.cos(angle)
    feet = [hub - 0.26 * math.cos(angle + i * math.pi / 5) for i in range(10)]
    assert min(feet) == pytest.approx(0.0, abs=1e-15)  # rounding of one product of 0.26 m
    assert feet.index(min(feet)) == 0 or angle == math.pi / 10  # at half the spacing two feet stand


def test_start_height_auto_keeps_a_rolled_robot_above_the_ground():
    start = load("rimless-wheel-turning", ["start.height=auto", "start.roll=0.01"]).start.x
    low_hub = float(start.height) - 0.155 * 0.01
    assert low_hub >= 0.26 * math.cos(math.pi / 10) - 1e-12


def test_a_start_height_is_that_of_the_hub():
    x = load("rimless-wheel", ["start.height=26 cm", "spoke_angle=0.1"]).start.x
    assert float(x.spoke_length) * math.cos(0.1) == pytest.approx(0.26, rel=1e-15)


# --- --set ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["robot.torso.pitch_setpoint", "torso.pitch_setpoint", "pitch_setpoint"]
)
def test_any_unique_end_of_a_path_sets_the_key(path):
    assert load("rimless-wheel", [f"{path}=1.0"]).system.torso.pitch_setpoint == 1.0


@pytest.mark.parametrize(
    ("text", "value"), [("0.5", 0.5), ('"0.5 rad"', 0.5), ("0.5 rad", 0.5), ("45 deg", math.pi / 4)]
)
def test_set_takes_numbers_and_quantities_with_or_without_quotes(text, value):
    assert load(
        "rimless-wheel", [f"torso.pitch_setpoint={text}"]
    ).system.torso.pitch_setpoint == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "settings",
    [
        ["terrain=slope", "angle=2 deg"],
        ["angle=2 deg", "terrain=slope"],
        ["terrain.kind=slope", "angle=2 deg"],
    ],
)
def test_set_of_a_kind_brings_its_fields_in_any_order(settings):
    terrain = load("rimless-wheel", settings).system.terrain
    assert type(terrain) is PARTS["slope"]
    assert terrain.angle == pytest.approx(math.radians(2), rel=1e-15)


def test_another_kind_comes_with_its_own_defaults_not_with_the_old_values():
    leg = load("rimless-wheel", ["leg.stiffness=99999", "leg=stiffening"]).system.leg
    assert type(leg) is PARTS["stiffening"]
    assert leg.stiffness == 99999.0  # kinds go first, so a field set beside it holds
    # Not the file's 1e5.
    assert (
        load("rimless-wheel-stiff", ["leg=stiffening"]).system.leg.damping
        == PARTS["stiffening"]().damping
    )


def test_set_on_a_missing_key_names_the_nearest(answer):
    said = answer(WHEEL, "leg.stifness=1")
    assert 'no key "leg.stifness"' in said
    assert 'Did you mean "leg.stiffness"?' in said


def test_set_on_a_key_like_no_other_says_where_to_find_them(answer):
    assert "footfall show" in answer(WHEEL, "qqq=1")


def test_set_on_an_ambiguous_end_lists_the_candidates(answer):
    said = answer(THREE_D, "yaw_inertia=0.1")
    assert "robot.yaw_inertia" in said and "robot.torso.yaw_inertia" in said
    assert "wheel_yaw_inertia" not in said  # only whole names end a path
    said = answer(WHEEL, "kind=flat")
    assert "robot.leg.kind" in said and "terrain.kind" in said


def test_the_full_path_settles_an_ambiguity():
    system = load("rimless-wheel-turning", ["robot.torso.yaw_inertia=0.07"]).system
    assert (system.torso.yaw_inertia, system.yaw_inertia) == (0.07, 0.12)


@pytest.mark.parametrize("setting", ["leg=3", "robot=3", "sim=3", "terrain={angle = 1}"])
def test_set_on_a_table_lists_its_keys(answer, setting):
    table = {"leg": "stiffness", "robot": "wheel_mass", "sim": "duration", "terrain": "kind"}
    name = setting.partition("=")[0]
    said = answer(WHEEL, setting)
    assert "is a table" in said and table[name] in said


def test_set_cannot_change_the_robot(answer):
    said = answer(WHEEL, "robot.kind=passive-wheel")
    assert "cannot be changed by --set" in said and "footfall list" in said


@pytest.mark.parametrize("setting", ["leg.stiffness", "=3", " = 3"])
def test_set_without_key_or_value_shows_how_to_write_it(answer, setting):
    assert "write it as key=value" in answer(WHEEL, setting)


def test_set_of_an_unknown_kind_lists_the_known_ones(answer):
    said = answer(WHEEL, "leg=sprung")
    assert (
        "[robot.leg]" in said and "spring, stiffening" in said and 'Did you mean "spring"?' in said
    )


# --- bad files ------------------------------------------------------------------------------------

#: (text, what the answer must contain: key, what came, what is expected)
BAD_VALUES = {
    "unknown key": (WHEEL + "wheel_mas = 1", ["[robot]", '"wheel_mas"', 'Did you mean "wheel_mass"?']),
    "unknown key of a part": (WHEEL + "[robot.leg]\nstifness = 1", ["[robot.leg]", '"stifness"', 'Did you mean "stiffness"?']),
    "unknown key of sim": (WHEEL + "[sim]\nduraton = 1", ["[sim]", '"duraton"', 'Did you mean "duration"?']),
    "unknown key of start": (WHEEL + "[start]\nspoke_angel = 1", ["[start]", '"spoke_angel"', 'Did you mean "spoke_angle"?']),
    "unknown table": (WHEEL + "[robt]\nx = 1", ['"robt"', "table", 'Did you mean "robot"?']),
    "unknown slot": (WHEEL + "[robot.legs]\nx = 1", ["[robot]", '"legs"', "table", 'Did you mean "leg"?']),
    "unknown top key": ('titel = "x"\n' + WHEEL, ['"titel"', 'Did you mean "title"?']),
    "gait on a wheel": (WHEEL + '[gait]\nkind = "trot"', ['"gait"', "this robot has no such part"]),
    "stack on a wheel": (WHEEL + "[stack]\nrate = 1", ['"stack"', "this robot has no such part"]),
    "terrain on the 3-D wheel": (THREE_D + '[terrain]\nkind = "flat"', ['"terrain"', "this robot has no such part"]),
    "unknown robot": ('[robot]\nkind = "rimles-wheel"', ["[robot]", '"rimles-wheel"', 'Did you mean "rimless-wheel"?', "passive-wheel"]),
    "no robot": ("", ["[robot]", "kind"]),
    "robot without kind": ("[robot]\nspokes = 10", ["[robot]", "kind"]),
    "robot is a number": ("robot = 3", ["[robot]", "kind"]),
    "unknown leg": (WHEEL + '[robot.leg]\nkind = "sprng"', ["[robot.leg]", '"sprng"', "spring, stiffening", 'Did you mean "spring"?']),
    "leg of another robot": (WHEEL + '[robot.leg]\nkind = "strut"', ["[robot.leg]", '"strut"', "spring, stiffening"]),
    "unknown terrain": (WHEEL + '[terrain]\nkind = "slpe"', ["[terrain]", '"slpe"', 'Did you mean "slope"?']),
    "kind is a number": (WHEEL + "[robot.leg]\nkind = 3", ["[robot.leg]", "kind", "3", "spring, stiffening"]),
    "wrong unit": (WHEEL + 'wheel_mass = "4 deg"', ["[robot] wheel_mass", "4 deg", "kg"]),
    "unknown unit": (WHEEL + 'wheel_mass = "4 stone"', ["[robot] wheel_mass", "4 stone", '"stone" is not a unit', "kg"]),
    "negative mass": (WHEEL + 'wheel_mass = "-1 kg"', ["[robot] wheel_mass", "-1 kg", "> 0"]),
    "mass zero": (WHEEL + "wheel_mass = 0", ["[robot] wheel_mass", "0", "> 0"]),
    "negative torso mass": (WHEEL + "[robot.torso]\nmass = -1", ["[robot.torso] mass", "-1", ">= 0"]),
    "two spokes": (WHEEL + "spokes = 2", ["[robot] spokes", "2", ">= 3"]),
    "two spokes, rigid": (PASSIVE + "spokes = 2", ["[robot] spokes", "2", ">= 3"]),
    "half a spoke": (WHEEL + "spokes = 10.5", ["[robot] spokes", "10.5", "whole number"]),
    "a million spokes": (WHEEL + "spokes = 1_000_000", ["[robot] spokes", "1000000", "<= 1000"]),
    "nan": (WHEEL + "wheel_mass = nan", ["[robot] wheel_mass", "nan", "finite"]),
    "infinity": (WHEEL + "wheel_mass = inf", ["[robot] wheel_mass", "inf", "finite"]),
    "nan as text": (WHEEL + 'wheel_mass = "nan"', ["[robot] wheel_mass", "nan", "not a number in kg"]),
    "more than a float": (WHEEL + 'wheel_mass = "1e400 kg"', ["[robot] wheel_mass", "1e400 kg", "finite"]),
    "nan start": (WHEEL + "[start]\nspoke_rate = nan", ["[start] spoke_rate", "nan", "finite"]),
    "true is no number": (WHEEL + "wheel_mass = true", ["[robot] wheel_mass", "expected a number in kg"]),
    "a list is no number": (WHEEL + "wheel_mass = [1]", ["[robot] wheel_mass", "[1]", "expected a number in kg"]),
    "a date is no number": (WHEEL + "wheel_mass = 2024-01-01", ["[robot] wheel_mass", "expected a number in kg"]),
    "a table is no number": (WHEEL + "[robot.wheel_mass]\nx = 1", ["robot.wheel_mass", "one value, not a table"]),
    "a number is no table": ("sim = 3\n" + WHEEL, ["[sim]", "must be a table", "3"]),
    "set point out of range": (WHEEL + "[robot.torso]\npitch_setpoint = 4", ["[robot.torso] pitch_setpoint", "4", "< 3.2"]),
    "unknown option": (WHEEL + 'on_liftoff = "stp"', ["[robot] on_liftoff", "stp", "stop, report", 'Did you mean "stop"?']),
    "title is a number": ("title = 3\n" + WHEEL, ["title", "3", "string"]),
    "unknown outcome": ('success = ["fel"]\n' + WHEEL, ["success", "fel", 'Did you mean "fell"?']),
    "low hub": (WHEEL + '[start]\nheight = "10 cm"', ["[start] height", "below ground", "0.1 m", '"auto"']),
    "hub underground": (WHEEL + "[start]\nheight = -1", ["[start] height", "below ground"]),
    "spoke too far back": (WHEEL + '[start]\nspoke_angle = "60 deg"', ["[start]", "below ground", "spoke_angle", "1.0472"]),
    "spoke too far back, rigid": (PASSIVE + '[start]\nspoke_angle = "60 deg"', ["[start]", "below ground", "spoke_angle"]),
    "upside down": (WHEEL + '[start]\nspoke_angle = "100 deg"', ["[start] spoke_angle", "1.74533", "below the ground"]),
    "rolled into the ground": (THREE_D + "[start]\nroll = 0.4\nheight = 0.25", ["[start]", "below ground"]),
    "duration 0": (WHEEL + "[sim]\nduration = 0", ["[sim] duration", "0 s", "> 0"]),
    "negative duration": (WHEEL + '[sim]\nduration = "-3 s"', ["[sim] duration", "-3 s", "> 0"]),
    "duration in metres": (WHEEL + '[sim]\nduration = "3 m"', ["[sim] duration", "3 m", '"10 s"']),
    "no tolerance": (WHEEL + "[sim]\nrtol = 0", ["[sim] rtol", "0", ">= 1e-14"]),
    "no jumps": (WHEEL + "[sim]\nmax_jumps = 0", ["[sim] max_jumps", "0", ">= 1"]),
    "unknown solver": (WHEEL + '[sim]\nsolver = "dopri7"', ["[sim] solver", "dopri7", "tsit5", 'Did you mean "dopri']),
    "euler without a step": (WHEEL + '[sim]\nsolver = "euler"', ["[sim]", "Euler", "step = 1e-4"]),
    "settle after the end": (WHEEL + "[sim]\nsettle = 20", ["[sim]", "settle", "20 s", "10 s"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), BAD_VALUES.values(), ids=BAD_VALUES)
def test_a_bad_value_is_answered_with_key_what_came_and_what_is_expected(answer, text, expected):
    said = answer(text)
    missing = [words for words in expected if words not in said]
    assert not missing, f"{missing} not in:\n{said}"


def test_every_bad_key_of_a_table_is_told_at_once(answer):
    said = answer(WHEEL + "wheel_mass = -1\nspokes = 2")
    assert "wheel_mass" in said and "spokes" in said


def test_a_truncated_file_is_answered_with_the_place(answer):
    whole = shipped_scenarios()["rimless-wheel"].read_text()
    assert "not valid TOML" in answer(whole[: whole.index("400 N s/m")])
    assert "not valid TOML" in answer(whole[: whole.index("[robot]") + 4])
    assert "line 3" in answer(WHEEL + "wheel_mass = = 1\n")


@pytest.mark.parametrize(
    "content",
    [b"\x89PNG\r\n\x1a\n\x00\xff\xfe" * 9, b"\x00" * 99, WHEEL.encode("utf-16")],
    ids=["png", "zeros", "utf-16"],
)
def test_a_binary_file_is_not_read_as_a_scenario(answer, content):
    said = answer(content)
    assert "not a text file" in said or "not valid TOML" in said


def test_a_file_of_ten_megabytes_is_refused_by_its_size(answer):
    said = answer(WHEEL + "# a comment\n" * 900_000)
    assert "10.8 MB" in said and "at most 1 MB" in said


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path / "none.toml")
    assert str(caught.value) == f"{tmp_path / 'none.toml'}: there is no such file."


def test_an_unknown_name_lists_the_scenarios():
    with pytest.raises(ScenarioError) as caught:
        load("rimless-weel")
    said = str(caught.value)
    assert '"rimless-weel"' in said and 'Did you mean "rimless-wheel"?' in said
    assert all(name in said for name in shipped_scenarios())


@pytest.mark.parametrize("name", ["folder", "folder.toml"])
def test_a_folder_is_not_a_scenario(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value) and "directory" in str(caught.value)


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        (0, "> 0"),
        ("-3 s", "> 0"),
        ("inf", "finite"),
        ("nan", "finite"),
        ("soon", "not a number in s"),
        ("", "not a number in s"),
    ],
)
def test_a_bad_duration_argument_is_answered_like_the_key(answer, duration, expected):
    said = answer(WHEEL, duration=duration)
    assert "[sim] duration" in said and expected in said


@pytest.mark.parametrize(
    ("duration", "seconds"), [(30, 30.0), ("2 min", 120.0), ("1e9", 1e9), ("250 ms", 0.25)]
)
def test_a_duration_argument_replaces_the_files(duration, seconds):
    assert load("rimless-wheel", duration=duration).plan.duration == pytest.approx(
        seconds, rel=1e-15
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(WHEEL + '[robot.leg]\nkind = ["spring"]', id="kind is a list"),
        pytest.param(WHEEL + "wheel_mass = 1" + "0" * 400, id="an integer of 400 digits"),
        pytest.param(WHEEL + 'wheel_mass = "1 mm^-999"', id="a huge power of a unit"),
        pytest.param("x = " + "[" * 20_000 + "\n" + WHEEL, id="brackets nested 20000 deep"),
        pytest.param('[robot]\nkind = "hill.toml:Wheel"', id="a robot file that is not Python"),
    ],
)
def test_no_other_exception_escapes_for_odd_files(answer, text):
    answer(text)


@pytest.mark.parametrize(
    "below",
    ["file.toml/x.toml", "x" * 300, "x" * 300 + ".toml"],
    ids=["below a file", "long name", "long file name"],
)
def test_a_path_the_system_cannot_follow_is_answered(tmp_path, below):
    (tmp_path / "file.toml").write_text(WHEEL)
    with pytest.raises(ScenarioError):
        load(tmp_path / below)


# --- robots of one's own --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("none.py:Hopper", "there is no file"),
        ("../other.py:Hopper", "beside or below the scenario file"),
        ("empty.py:Hopper", 'has no robot "Hopper". Robots in it: none'),
    ],
)
def test_a_robot_of_ones_own_that_cannot_be_found_is_explained(tmp_path, answer, kind, expected):
    (tmp_path / "empty.py").write_text("")
    said = answer(f'[robot]\nkind = "{kind}"', trust=True)
    assert f'kind = "{kind}"' in said and expected in said


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["sim.max_step=1e-18"], "max_step = 1e-18 s is below what time can resolve over 10 s"),
        (["sim.step=1e-18"], "step = 1e-18 s is below"),
        (["sim.near_step=1e-15", "sim.near_room=0.1"], "near_step = 1e-15 s is below"),
        (
            ["sim.solver=multirate", "sim.step=1e-3", "sim.fine_step=1e-20"],
            "fine_step = 1e-20 s is below",
        ),
        (
            ["sim.engine=step", "sim.batch_step=1e-12"],
            "batch_step = 1e-12 s makes more than 2^31 steps",
        ),
        (["sim.duration=1e300"], "max_step = 0.2 s is below what time can resolve over 1e+300 s"),
    ],
)
def test_steps_that_do_not_move_the_clock_are_refused(answer, settings, said):
    assert said in answer(WHEEL, *settings)
