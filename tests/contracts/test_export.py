"""`footfall export`: what is written reads back as what it was."""

import csv

import mujoco
import numpy as np
import pyarrow.parquet as pq
import pytest
import xarray as xr
from mcap.reader import make_reader

import footfall as ff
from footfall.cli.export import export
from footfall.record.run_folder import FolderError
from footfall.scenario.errors import ScenarioError

#: With hinges about moved anchors, slides, fixed bodies, tendons, a free body.
ROBOTS = ["rimless-wheel", "rimless-wheel-turning", "two-leg-single-step", "centipede", "urchin-spike", "urchin-walk"]  # fmt: skip


def mass_matrix(model, qpos):
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    columns = []
    for one in np.eye(model.nv):
        out = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, out, one)
        columns.append(out)
    return np.array(columns), data


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Every robot in both formats."""
    place = tmp_path_factory.mktemp("robots")
    for name in ROBOTS:
        for kind, ending in (("mjcf", "xml"), ("urdf", "urdf")):
            assert export(name, kind, str(place / f"{name}.{ending}"), [], None, False) == 0
    return place


@pytest.mark.parametrize("name", ROBOTS)
def test_mjcf_opens_without_a_warning(files, name, capfd):
    said = []
    mujoco.set_mju_user_warning(said.append)
    try:
        model = mujoco.MjModel.from_xml_path(str(files / f"{name}.xml"))
        mujoco.mj_forward(model, mujoco.MjData(model))
    finally:
        mujoco.set_mju_user_warning(None)
    assert model.nv >= 3 and not said and not capfd.readouterr().err
    system = ff.load(name).system
    built = (system.spec() if name == "urchin-walk" else system.twin().spec).compile()
    assert np.allclose(model.body_mass, built.body_mass, rtol=1e-5)  # MuJoCo writes six digits
    assert model.nu == built.nu and model.ntendon == built.ntendon


@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "urchin-walk"])
def test_urdf_is_the_same_robot(files, name):
    """MuJoCo reads it: the joints of the tree and its mass matrix, wherever they are."""
    wanted = ff.load(name).system.twin().spec.compile()
    found = mujoco.MjModel.from_xml_path(str(files / f"{name}.urdf"))
    joints = [wanted.joint(i).name for i in range(wanted.njnt)]
    assert joints == [found.joint(i).name for i in range(found.njnt)]
    draw = np.random.default_rng(0)
    for _ in range(2):
        qpos = 0.3 * draw.standard_normal(wanted.nq)
        (a, at), (b, there) = mass_matrix(wanted, qpos), mass_matrix(found, qpos)
        assert np.allclose(a, b, rtol=1e-9, atol=1e-12 * np.abs(a).max())
        assert np.allclose(at.qfrc_bias, there.qfrc_bias, atol=1e-9 * np.abs(at.qfrc_bias).max())


@pytest.fixture(scope="module")
def run():
    return ff.load("passive-wheel", duration=1.0).run()


def test_tables_have_every_number(run, tmp_path):
    for kind in ("csv", "parquet", "netcdf", "mcap"):
        assert export("passive-wheel", kind, str(tmp_path / kind), [], "1 s", False) == 0
    with (tmp_path / "csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0][:2] == ["t [s]", "j"] and "hub.vx [m/s]" in rows[0]
    wanted = run["hub.vx"]
    assert [float(row[rows[0].index("hub.vx [m/s]")]) for row in rows[1:]] == wanted.tolist()
    table = pq.read_table(tmp_path / "parquet")
    assert table["hub.vx"].to_pylist() == wanted.tolist()
    with xr.open_dataset(tmp_path / "netcdf", engine="scipy") as data:
        assert np.array_equal(data["hub.vx"].values, wanted) and data["hub.vx"].units == "m/s"
        assert data.outcome == "reached_end" and np.array_equal(data["j"].values, run.j)
    with (tmp_path / "mcap").open("rb") as file:
        assert "/hub" in {channel.topic for _, channel, _ in make_reader(file).iter_messages()}


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("rimless-wheel", "mjfc", 'known are mjcf, .*Did you mean "mjcf"'),
        ("water-runner", "mjcf", "nobody has built FourBarRunner as rigid bodies"),
        ("urchin-spike", "stl", "known are"),
    ],
)
def test_what_cannot_be_is_told(name, kind, words, tmp_path):
    with pytest.raises(ScenarioError, match=words):
        export(name, kind, str(tmp_path / "file"), [], None, False)


def test_a_robot_has_no_duration(tmp_path):
    with pytest.raises(ScenarioError, match="--duration is of a run"):
        export("rimless-wheel", "urdf", str(tmp_path / "file"), [], "2 s", False)


@pytest.mark.parametrize("kind", ["mjcf", "urdf"])
def test_a_robot_is_written_alike_under_any_name(files, kind, tmp_path):
    ending = {"mjcf": "xml", "urdf": "urdf"}[kind]
    file = tmp_path / "räd & <x>, 2"
    assert export("rimless-wheel", kind, str(file), [], None, False) == 0
    assert file.read_bytes() == (files / f"rimless-wheel.{ending}").read_bytes()


def test_nothing_is_overwritten_unless_told(tmp_path):
    file = tmp_path / "wheel.xml"
    file.write_text("mine")
    with pytest.raises(FolderError, match="there already"):
        export("rimless-wheel", "mjcf", str(file), [], None, False)
    assert export("rimless-wheel", "mjcf", str(file), [], None, True) == 0
    assert file.read_text().startswith("<mujoco")
