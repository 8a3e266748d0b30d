"""What a page is made of, without a compiler or a browser."""

import base64
import json
import math
import shlex
import tomllib
import zlib
from types import SimpleNamespace

import numpy as np
import pytest

from footfall.engines.analysis.summary import summarise
from footfall.hybrid.fields import FieldInfo
from footfall.pages import html_file
from footfall.pages.drawn import Numbers, ground_said, shapes_said, thinned_line
from footfall.pages.live import live_page
from footfall.pages.page import command, toml_template
from footfall.pages.parameters import moving, parameters, slider_range
from footfall.pages.replay import ROWS_PER_SECOND, replay_page, shown_rows
from footfall.scenario.catalog import shipped_scenarios
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load
from footfall.scene.sketch import Ground


@pytest.mark.parametrize(
    ("bounds", "value"),
    [
        ({}, 0.0),
        ({}, -3.5),
        ({"ge": 0.0}, 0.0),
        ({"gt": 0.0}, 15000.0),
        ({"gt": 0.0, "lt": 1.57}, 0.314),
        ({"ge": -1.0, "le": 1.0}, 0.9),
        ({"gt": -1.5, "lt": 1.5}, -0.08),
        ({"gt": 1.0}, 1.0003),
    ],
)
@pytest.mark.parametrize("unit", ["", "rad", "N/m"])
def test_a_slider_goes_round_its_value_and_stays_inside_the_bounds(bounds, value, unit):
    info = FieldInfo("param", unit, "a number", **bounds)
    low, high = slider_range(info, value)
    assert low <= value <= high and low < high
    assert info.allows(low) and info.allows(high)


@pytest.mark.parametrize("name", ["rimless-wheel-closed-loop", "centipede-gap", "water-runner"])
def test_every_number_that_a_robot_can_be_traced_through_has_a_slider(name):
    experiment = load(name)
    found = parameters(experiment)
    by_key = {parameter.key: parameter for parameter in found}
    assert len(by_key) == len(found)
    for parameter in moving(found):
        said = parameter.words()
        assert said["doc"] and (
            said["kind"] == "switch" or said["low"] <= said["value"] <= said["high"]
        )
    fixed = {key for key, parameter in by_key.items() if parameter.kind == "text"}
    expected = {
        "rimless-wheel-closed-loop": {"robot.spokes", "stack.mid_offset", "start.height"},
        "centipede-gap": {"robot.body.segments", "start.phases"},
        "water-runner": {"robot.legs", "robot.pitch"},
    }
    assert expected[name] <= fixed and len(fixed) < len(found) / 2


def test_a_robot_that_is_not_traced_has_words_only():
    assert not moving(parameters(load("two-leg-single-step")))


def test_the_scenario_comes_back_from_its_template(tmp_path):
    experiment = load("centipede-gap")
    found = parameters(experiment)
    text = toml_template(experiment, found)
    for parameter in moving(found):
        if parameter.kind == "number":
            text = text.replace(f"⟦{parameter.key}⟧", repr(parameter.value))
    text = text.replace("⟦controller.reflexes⟧", '["lift", "cantilever"]')
    assert tomllib.loads(text) == tomllib.loads(experiment.to_toml())


def test_the_command_of_a_page_runs_what_it_shows():
    settings = ["controller.reflexes=[]", "terrain=gaps", "terrain.starts=[0.1, 0.4]", "gait.lag=2"]
    words = shlex.split(command(load("centipede-gap", settings)))
    assert words[:3] == ["footfall", "run", "centipede-gap"]
    again = load("centipede-gap", [word for word in words[3:] if word != "--set"])
    assert again.document == load("centipede-gap", settings).document


def test_a_line_keeps_its_corners_and_nothing_else():
    x = np.linspace(0.0, 2.0, 401)
    line = np.stack([x, np.where(x < 1.0, 0.1 * x, 0.1)], axis=1)
    np.testing.assert_allclose(thinned_line(line), [[0, 0], [1, 0.1], [2, 0.1]])
    step = ground_said(Ground(((0.0, 0.0), (1.0, 0.0), (1.0, 0.2), (2.0, 0.2))))
    assert [1.0, 0.0] in step["points"] and [1.0, 0.2] in step["points"]


def test_rows_of_a_replay_are_even_and_after_their_jumps():
    t = np.sort(np.concatenate([np.linspace(0.0, 1.0, 5001), [0.5, 0.5]]))
    rows = shown_rows(t)
    assert len(rows) == ROWS_PER_SECOND + 1
    assert np.all(np.diff(t[rows]) > 0) and t[rows][-1] == 1.0
    assert t[rows[100]] == 0.5 and t[rows[100] + 1] > 0.5
    assert list(shown_rows(np.array([0.0]))) == [0]


def test_a_replay_holds_the_run():
    experiment = load("passive-wheel", duration=1)
    run = experiment.run()
    page = replay_page(experiment, run, summarise(run, experiment.name))
    replay = page["replay"]
    data = np.frombuffer(zlib.decompress(base64.b64decode(replay["data"])), np.float32)
    columns = dict(zip(replay["columns"], data.reshape(-1, replay["rows"]), strict=True))
    rows = shown_rows(run.t)
    for name in ("hub.x", "foot.fz", "steps", "store.kinetic", "jump_work.impact"):
        np.testing.assert_array_equal(columns[name], run[name][rows].astype(np.float32))
    assert replay["sentence"].startswith("reached_end at t = 1 s") and replay["success"]
    assert {"hub.x"} <= {output["name"] for output in page["outputs"]}
    assert all(p["kind"] == "text" for p in page["parameters"])
    json.dumps(page, allow_nan=False)


def test_shapes_are_written_with_their_numbers():
    shapes = shapes_said(load("passive-wheel").system.sketch(), Numbers())
    assert {shape["shape"] for shape in shapes} == {"bar", "link", "ball", "arrow"}
    spoke = next(shape for shape in shapes if shape["shape"] == "bar")
    assert math.isclose(np.linalg.norm(spoke["end"]), 0.26)


def test_a_page_is_one_file_and_its_words_cannot_break_out_of_it(tmp_path, monkeypatch):
    front = "<title>⟦title⟧</title><script type='application/json'>⟦data⟧</script>"
    monkeypatch.setattr(html_file, "front_end", lambda: front)
    html_file.write_page(tmp_path / "page.html", {"title": "a </script><b> & c", "n": 1.5})
    text = (tmp_path / "page.html").read_text()
    assert text.count("</script>") == 1 and "<b>" not in text
    data = text.partition("json'>")[2].removesuffix("</script>")
    assert json.loads(data)["title"] == "a </script><b> & c"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_without_its_front_end_a_page_says_how_to_build_it(monkeypatch, tmp_path):
    monkeypatch.setattr(html_file.resources, "files", lambda package: tmp_path)
    with pytest.raises(ScenarioError, match="make web"):
        html_file.front_end()


@pytest.mark.parametrize("name", ["two-leg-step", "urchin-walk"])
def test_a_robot_without_a_kernel_is_offered_as_a_replay(name):
    assert name in shipped_scenarios()
    with pytest.raises(ScenarioError, match=f"footfall run {name} --page"):
        live_page(load(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(shipped_scenarios()))
def test_a_robot_of_lanes_has_a_live_page(name, monkeypatch):
    """All its programs can be written as kernels; no compiler is asked."""
    pytest.importorskip("ziglang")
    monkeypatch.setattr(
        "footfall.engines.kernels.targets.wasm.wasm_module.kept_code",
        lambda source, told, ending, build: SimpleNamespace(content=source.encode()),
    )
    experiment = load(name)
    try:
        page = live_page(experiment, step=5e-5)
    except ScenarioError as error:
        assert "not stepped by footfall's own engine" in str(error)
        return
    assert page["live"]["kernel"]["code"]
