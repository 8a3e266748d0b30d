"""What a page simulates is what Python simulates: its own modules, run in Node."""

import jax
import numpy as np
import pytest

import footfall as ff
from footfall.engines.lanes.browser_kernel import Ready
from footfall.engines.lanes.resident import ResidentLane
from footfall.hybrid.flatten import named_leaves
from footfall.pages.live import live_page
from footfall.scenario.vary import placed
from footfall.scene.sketch import Bar, Seen
from support.batches import optimised
from support.browsers import node
from support.pages import needs_bundle, simulated

pytest.importorskip("ziglang")
pytestmark = [
    needs_bundle,
    pytest.mark.skipif(node() is None, reason="needs Node"),
]
STEP = 1e-3


@pytest.fixture(scope="module")
def passive():
    experiment = ff.load("passive-wheel")
    return experiment, live_page(experiment, step=STEP)


def columns(system, x, m, t):
    """Outputs and books of a robot by their names in a row."""
    seen = {name: value for name, value, _ in named_leaves(system.outputs(t, x, m))}
    return seen | {
        f"store.{name}": value for name, value, _ in named_leaves(system.stores(t, x, m))
    }


def test_a_page_started_from_sliders_moves_as_python_does_with_those_numbers(
    passive, tmp_path, monkeypatch
):
    """Parameters of the robot, of its part, of its ground and of its start, all of them moved."""
    experiment, page = passive
    moved = {
        "robot.gravity": 5.0,
        "robot.leg.length": 0.4,
        "terrain.angle": 0.12,
        "start.spoke_rate": -2.5,
    }
    deeds = [["set", moved], ["start", None], ["advance", 700], ["advance", 1300]]
    *_, seen = simulated(page, deeds, tmp_path)
    system, start = placed(experiment, moved)
    optimised(monkeypatch, "-O0")  # run once
    native = ResidentLane(system, start, STEP)
    native.advance(2000)
    x, m = (
        jax.tree.unflatten(jax.tree.structure(part), [leaf[..., 0] for leaf in leaves])
        for part, leaves in ((start.x, native.lane.x), (start.m, native.lane.m))
    )
    assert seen["row"]["steps"] == m.steps > 3
    for name, value in columns(system, x, m, 2.0).items():
        # Either compiler may skip the rounding of a product: what that becomes in 2 s.
        np.testing.assert_allclose(seen["row"][name], value, rtol=1e-11, atol=1e-11, err_msg=name)
    for entry, value in (("work.motor", native.lane.q[0]), ("lane.through", native.lane.through)):
        np.testing.assert_allclose(seen["row"][entry], value[0], rtol=1e-11, atol=1e-11)
    # Fourth order, a few impacts located to that order.
    assert seen["residual"]["share"] < 1e-9


def test_shapes_and_ground_follow_the_sliders(passive, tmp_path):
    _, page = passive
    moved = {"robot.leg.length": 0.4, "terrain.angle": 0.12}
    places = [-1.0, 0.0, 2.5]
    deeds = [["set", moved], ["start", None], ["heights", places]]
    *_, seen = simulated(page, deeds, tmp_path)
    np.testing.assert_allclose(seen["heights"], -np.tan(0.12) * np.asarray(places), atol=1e-12)
    spokes = [shape for shape in page["scene"]["shapes"] if shape["shape"] == "bar"]
    tips = [
        [n if isinstance(n, float) else seen["sketch"][n["n"]] for n in spoke["end"]]
        for spoke in spokes
    ]
    np.testing.assert_allclose(np.linalg.norm(tips, axis=1), 0.4, rtol=1e-12)
    there = Seen(seen["row"])
    drawn = there.place("hub", (0.0, 0.0, -0.4)) - there.origin("foot")
    np.testing.assert_allclose(drawn, 0.0, atol=1e-12)  # the stance spoke ends at the foot
    assert len(spokes) == len(
        [s for s in ff.load("passive-wheel").system.sketch() if isinstance(s, Bar)]
    )


def test_a_slider_moved_in_mid_run_changes_the_robot_and_not_where_it_is(passive, tmp_path):
    _, page = passive
    deeds = [
        ["advance", 500],
        ["set", {"terrain.angle": 0.02, "start.spoke_rate": -9.0}],
        ["adopt", None],
        ["advance", 1],
        ["advance", 6000],
    ]
    before, _, after, _, end = simulated(page, deeds, tmp_path)
    for name in (
        "travel.distance",
        "travel.speed",
        "t",
        "steps",
    ):  # along the ground, whatever slope
        assert after["row"][name] == before["row"][name]
    assert page["outcomes"][str(end["outcome"])]["name"] == "rocked_back"
    # What the slider did is no part of the books.
    assert end["residual"]["share"] < 1e-9 and end["metrics"] is None


def test_going_back_and_on_repeats_every_bit_and_a_push_does_not(passive, tmp_path):
    _, page = passive
    deeds = [
        ["advance", 400],
        ["keep", None],
        ["advance", 300],
        ["back", None],
        ["advance", 120],
        ["advance", 180],
        ["back", None],
        ["push", ["x.spoke_rate", -0.5]],
        ["advance", 300],
    ]
    seen = simulated(page, deeds, tmp_path)
    assert seen[5]["row"] == seen[2]["row"] and seen[8]["row"] != seen[2]["row"]
    assert seen[7]["row"]["travel.speed"] > seen[0]["row"]["travel.speed"]
    assert seen[8]["residual"]["share"] < 1e-9


def test_metrics_are_those_of_a_sweep_at_the_same_step(passive, tmp_path):
    experiment, page = passive
    steps = round(page["duration"] / STEP)
    deeds = [
        ["set", {"terrain.angle": 0.1}],
        ["start", None],
        ["advance", 123],
        ["advance", steps - 123],
    ]
    *_, seen = simulated(page, deeds, tmp_path)
    swept = ff.rollout(experiment, {"terrain.angle": [0.1]}, step=STEP)
    for name in ("mean_speed", "step_time", "step_length", "cost_of_transport"):
        expected = float(swept[name].values[0])
        np.testing.assert_allclose(
            seen["metrics"][name], expected, rtol=1e-9, atol=1e-12, err_msg=name
        )


def test_a_robot_of_many_legs_begins_in_a_page_as_in_python(tmp_path):
    """The start alone, which computes every input of the kernel."""
    experiment = ff.load("centipede-gap")
    page = live_page(experiment, step=1e-4)
    switch = next(p for p in page["parameters"] if p["kind"] == "switch")
    moved = {"gait.lag": 1.9, "terrain.gap_width": 0.05, switch["key"]: 0.0}
    seen = simulated(
        page, [["set", moved], ["start", None], ["heights", [0.09, 0.11, 0.16]]], tmp_path
    )[-1]
    system, start = placed(experiment, {k: v for k, v in moved.items() if k != switch["key"]})
    ready = Ready.of(system, start, 1e-4, "semi-implicit-euler", 9)
    x, m = start
    for name, value in columns(system, x, m, 0.0).items():
        legs = {f"{name}.{n}": v for n, v in enumerate(value)} if np.ndim(value) else {name: value}
        for key, number in legs.items():
            np.testing.assert_allclose(
                seen["row"][key], number, rtol=1e-12, atol=1e-12, err_msg=key
            )
    assert seen["heights"] == [0.0, -1.0, 0.0] and "system.controller.reflexes.0" in ready.names()
