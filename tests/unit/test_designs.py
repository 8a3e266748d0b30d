"""Designs of a sweep: what `--vary`, `--sample` and `--designs` mean, and how everything written
wrong is answered.
"""

import dataclasses
import json
import math
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load
from footfall.sweep.design_file import read_designs, write_designs
from footfall.sweep.designs import Axis, Grid, from_spec
from footfall.sweep.parse import parse_designs


@pytest.fixture(scope="module")
def wheel():
    return load("rimless-wheel")


def all_of(designs):
    return designs.columns(0, designs.count)


# --- grids ----------------------------------------------------------------------------------------


def test_a_grid_is_every_combination_with_the_last_key_running_fastest(wheel):
    designs = parse_designs(wheel, ["leg.stiffness=8000,16000", "torso.pitch_setpoint=0.4:0.8:3"])
    columns = all_of(designs)
    assert designs.count == 6
    assert columns["leg.stiffness"].tolist() == [8000, 8000, 8000, 16000, 16000, 16000]
    assert columns["torso.pitch_setpoint"] == pytest.approx([0.4, 0.6, 0.8, 0.4, 0.6, 0.8])


def test_a_range_hits_both_ends_exactly_and_a_logarithmic_one_has_equal_ratios(wheel):
    columns = all_of(parse_designs(wheel, ["leg.stiffness=8e3:4e4:7:log"]))["leg.stiffness"]
    assert columns[0] == 8e3 and columns[-1] == 4e4
    assert columns[1:] / columns[:-1] == pytest.approx(np.full(6, 5 ** (1 / 6)), rel=1e-14)
    falling = all_of(parse_designs(wheel, ["leg.stiffness=4e4:8e3:5"]))["leg.stiffness"]
    assert falling == pytest.approx(np.linspace(4e4, 8e3, 5)) and falling[-1] == 8e3
    assert all_of(parse_designs(wheel, ["leg.stiffness=9e3:4e4:1"]))["leg.stiffness"].tolist() == [
        9e3
    ]


def test_units_are_allowed_at_the_ends_and_in_lists(wheel):
    columns = all_of(
        parse_designs(wheel, ["torso.pitch_setpoint=20 deg:1:2", "leg.rest_length=26 cm,0.3"])
    )
    assert columns["torso.pitch_setpoint"][0] == math.radians(20)
    assert columns["leg.rest_length"][:2].tolist() == [0.26, 0.3]


def test_kinds_choices_and_static_numbers_vary_as_lists_and_are_marked_structural(wheel):
    designs = parse_designs(
        wheel,
        ["leg=spring,stiffening", "spokes=8:12:3", "on_liftoff=stop,report", "leg.damping=400"],
    )
    assert [axis.structural for axis in designs.axes] == [True, True, True, False]
    assert all_of(designs)["spokes"].dtype.kind == "i" and set(all_of(designs)["leg"]) == {
        "spring",
        "stiffening",
    }


def test_a_structural_number_may_be_auto_beside_others(wheel):
    axis = parse_designs(wheel, ["control_period=auto,5 ms"]).axes[0]
    assert axis.values == ("auto", "0.005") and axis.structural
    with pytest.raises(ScenarioError, match='"auto" is not a number'):
        parse_designs(wheel, ["start.height=auto,0.26"])


@pytest.mark.parametrize(
    ("vary", "sample"),
    [
        (
            [
                "leg.stiffness=8e3:4e4:31:log",
                "torso.pitch_setpoint=0.4:1.2:17",
                "leg=spring,stiffening",
            ],
            None,
        ),
        (
            ["leg.stiffness=8e3:4e4:log", "torso.pitch_setpoint=0.4:1.2", "leg=spring,stiffening"],
            "sobol:1000",
        ),
        (["leg.stiffness=8e3:4e4:log", "torso.pitch_setpoint=0.4:1.2"], "lhs:1000"),
    ],
)
def test_any_range_of_designs_is_that_part_of_all_of_them_also_after_a_trip_through_json(
    wheel, tmp_path, vary, sample
):
    designs = parse_designs(wheel, vary, sample, seed=7)
    whole = all_of(designs)
    again = from_spec(json.loads(json.dumps(designs.spec())), tmp_path)
    for first, last in ((0, 5), (137, 801), (designs.count - 1, designs.count)):
        part = again.columns(first, last)
        for key in designs.keys:
            assert np.array_equal(part[key], whole[key][first:last]), key
    numbers = np.array([3, 500, 12])
    assert {k: v.tolist() for k, v in again.at(numbers).items()} == {
        k: v[numbers].tolist() for k, v in whole.items()
    }


def test_ten_million_designs_cost_no_memory_until_they_are_run(wheel):
    tracemalloc.start()
    designs = parse_designs(
        wheel, ["leg.stiffness=8e3:4e4:10000:log", "torso.pitch_setpoint=0.4:1.2:1000"]
    )
    columns = designs.columns(9_990_000, 9_990_100)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert designs.count == 10_000_000 and len(columns["leg.stiffness"]) == 100
    assert peak < 1e6


def test_probes_of_a_grid_hold_its_corners(wheel):
    designs = parse_designs(
        wheel, ["leg.stiffness=8e3:4e4:200:log", "torso.pitch_setpoint=0.4:1.2:200"]
    )
    assert isinstance(designs, Grid)
    probes = designs.probes(64)
    assert {0, 199, 39800, 39999} <= set(probes.tolist()) and len(probes) <= 64
    assert len(np.unique(probes)) == len(probes) and probes.max() < designs.count


# --- samples --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sobol", "lhs"])
def test_samples_fill_the_box_evenly_and_repeat_by_seed(wheel, method):
    vary = ["leg.stiffness=8e3:4e4:log", "torso.pitch_setpoint=0.4:1.2"]
    columns = all_of(parse_designs(wheel, vary, f"{method}:256", seed=1))
    share = np.log(columns["leg.stiffness"] / 8e3) / np.log(5)
    # 256 points of either kind put 8 into each of 32 equal strips of an axis.
    assert np.histogram(share, 32, (0, 1))[0].tolist() == [8] * 32
    same, other = (all_of(parse_designs(wheel, vary, f"{method}:256", seed=s)) for s in (1, 2))
    assert np.array_equal(same["leg.stiffness"], columns["leg.stiffness"])
    assert not np.array_equal(other["leg.stiffness"], columns["leg.stiffness"])


def test_a_sample_chooses_evenly_among_kinds(wheel):
    kinds = all_of(
        parse_designs(wheel, ["leg=spring,stiffening", "leg.damping=100:500"], "sobol:64")
    )["leg"]
    assert (kinds == "spring").sum() == 32


# --- what is written wrong ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        (["leg.stiffness"], ["leg.stiffness", "key=FROM:TO:COUNT"]),
        (["leg.stiffness="], ["key=FROM:TO:COUNT"]),
        (["=1:2:3"], ["key=FROM:TO:COUNT"]),
        (["leg.stifness=1:2:3"], ['"leg.stifness"', 'Did you mean "leg.stiffness"?']),
        (["leg.stiffness=1:2"], ["how many values?", "leg.stiffness=1:2:50"]),
        (["leg.stiffness=1:2:log"], ["how many values?", "leg.stiffness=1:2:50:log"]),
        (["leg.stiffness=1:2:0"], ["at least 1, not 0"]),
        (["leg.stiffness=1:2:-3"], ["at least 1, not -3"]),
        (["leg.stiffness=1:2:2.5"], ["whole number", "2.5"]),
        (["leg.stiffness=1:2:3:lgo"], ['Did you mean "log"?']),
        (["leg.stiffness=1:2:3:4:5"], ["key=FROM:TO:COUNT"]),
        (["leg.stiffness=0:2:3:log"], ["both ends above zero"]),
        (["torso.pitch_setpoint=-1:2:3:log"], ["both ends above zero"]),
        (["leg.stiffness=5:5:3"], ["both ends are the same"]),
        (["leg.stiffness=a:2:3"], ['"a" is not a number', "N/m"]),
        (["leg.stiffness=nan,2"], ['"nan" is not a number']),
        (["leg.stiffness=1e400:2:3"], ["not a finite number"]),
        (["torso.pitch_setpoint=1 kg:2:3"], ["kg", "rad"]),
        (["leg.stiffness=-1:2:3"], ["-1 N/m", "must be > 0"]),
        (["leg.stiffness=1,-2"], ["-2 N/m", "must be > 0"]),
        (["leg.stiffness=1,,2"], ["empty value"]),
        (["leg.stiffness=1,2,1.0"], ["twice"]),
        (
            ["leg.stiffness=1:2:3", "robot.leg.stiffness=4,5"],
            ["varied twice", "also as leg.stiffness"],
        ),
        (["leg=1:2:3"], ["a word, not a number"]),
        (["sim.duration=1,2"], ["cannot vary", "--set sim.duration=VALUE", "same for all"]),
        (["robot.kind=passive-wheel"], ["robot.kind"]),
        (["torso=1,2,3:4"], ["a word, not a number"]),
        (
            ["leg.stiffness=1:2:99999999", "leg.damping=1:2:99999999"],
            ["1e+16 designs", "--sample sobol"],
        ),
        ([], ["something to vary", "--designs"]),
    ],
)
def test_a_wrong_vary_is_answered_with_what_to_write(wheel, vary, said):
    with pytest.raises(ScenarioError) as caught:
        parse_designs(wheel, vary)
    for words in said:
        assert words in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("vary", "sample", "said"),
    [
        ("leg.stiffness=1:2", "sobl:8", ['Did you mean "sobol"?', "lhs:N"]),
        ("leg.stiffness=1:2", "sobol", ["how many designs?"]),
        ("leg.stiffness=1:2", "sobol:0", ["how many designs?"]),
        ("leg.stiffness=1:2", "lhs:many", ["how many designs?"]),
        ("leg.stiffness=1:2:5", "sobol:8", ["--sample says how many"]),
        ("leg.stiffness=1:2:3:log", "sobol:8", ["--sample says how many"]),
        ("spokes=5:9", "sobol:8", ["list its values"]),
        ("leg.stiffness=1:2", "lhs:900000000", ["in memory", "7.2 GB", "sobol:900000000"]),
        ("leg.stiffness=1:2", "sobol:9000000000", ["9e+09 designs"]),
    ],
)
def test_a_wrong_sample_is_answered_with_what_to_write(wheel, vary, sample, said):
    with pytest.raises(ScenarioError) as caught:
        parse_designs(wheel, [vary], sample)
    for words in said:
        assert words in str(caught.value), str(caught.value)


# --- files ----------------------------------------------------------------------------------------


def test_designs_from_a_csv_file_may_hold_units_and_kinds_and_are_kept_in_si(wheel, tmp_path):
    file = tmp_path / "designs.csv"
    file.write_text(
        "leg.stiffness,torso.pitch_setpoint,leg\n8000,30 deg,spring\n1e4,0.7,stiffening\n"
    )
    designs = read_designs(wheel, file)
    columns = all_of(designs)
    assert columns["leg.stiffness"].tolist() == [8000.0, 10000.0]
    assert columns["torso.pitch_setpoint"].tolist() == [math.radians(30), 0.7]
    assert columns["leg"].tolist() == ["spring", "stiffening"]
    assert [axis.structural for axis in designs.axes] == [False, False, True]
    write_designs(designs, tmp_path)
    again = from_spec(json.loads(json.dumps(designs.spec())), tmp_path)
    assert {k: v.tolist() for k, v in all_of(again).items()} == {
        k: v.tolist() for k, v in columns.items()
    }


def test_designs_from_a_parquet_file(wheel, tmp_path):
    file = tmp_path / "designs.parquet"
    pq.write_table(
        pa.table({"leg.stiffness": [8000, 9000, 10000], "robot.spokes": [8, 10, 12]}), file
    )
    columns = all_of(read_designs(wheel, file))
    assert columns["leg.stiffness"].tolist() == [8000.0, 9000.0, 10000.0]
    assert columns["robot.spokes"].tolist() == [8, 10, 12]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("none.csv", None, ["no such file"]),
        ("designs.txt", "leg.stiffness\n1\n", [".csv or .parquet"]),
        ("designs.csv", "", ["designs.csv"]),
        ("designs.csv", "leg.stiffness\n", ["no designs in it"]),
        ("designs.csv", "leg.stifness\n1\n", ['Did you mean "leg.stiffness"?', "named by a key"]),
        (
            "designs.csv",
            "leg.stiffness\n8000\nsoft\n",
            ['"soft" is not a number', "design 1 (line 3)"],
        ),
        (
            "designs.csv",
            "leg.stiffness,leg.damping\n8000,3\n9000,\n",
            ["leg.damping is empty in design 1 (line 3)"],
        ),
        (
            "designs.csv",
            "leg.stiffness\n8000\n-1\n",
            ["-1 N/m in design 1 (line 3)", "must be > 0"],
        ),
        (
            "designs.csv",
            "leg.stiffness,leg.damping\n8000,nan\n",
            ["nan N s/m in design 0 (line 2)", "must be a finite number"],
        ),
        ("designs.csv", "leg.stiffness;leg.damping\n8000;3\n", ["the separator must be a comma"]),
        ("designs.csv", "leg.stiffness,robot.leg.stiffness\n1,2\n", ["varied twice"]),
        ("designs.csv", "leg.stiffness,leg.damping\n1\n", ["not a csv table"]),
        ("designs.parquet", "not parquet", ["not a parquet table"]),
    ],
)
def test_a_wrong_designs_file_is_answered_with_file_row_and_key(wheel, tmp_path, name, text, said):
    file = tmp_path / name
    if text is not None:
        file.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        read_designs(wheel, file)
    for words in [*said, "--designs"]:
        assert words in str(caught.value), str(caught.value)


def test_axes_that_say_the_same_are_equal():
    """Also of a list, which has no range: from Python 3.13 on a dataclass compares field by field,
    and NaN, which stood for no range, is not equal to itself.
    """
    one, other = (Axis("mass", "robot.mass", "kg", values=(1.0, 2.0)) for _ in range(2))
    assert one == other and (other,).index(one) == 0
    assert all(value == value for value in dataclasses.astuple(one))  # on older Pythons too
