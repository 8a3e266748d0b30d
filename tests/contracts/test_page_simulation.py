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


def test_a_push_does_the_work_of_its_force_and_the_books_stay_closed(passive, tmp_path):
    """An impulse P at the hub of m = 6.91 kg, which the stance spoke lets go one way only."""
    experiment, page = passive
    hub, impulse = {"group": "hub", "point": [0.0, 0.0, 0.0]}, np.array([0.6, 0.0, -0.2])
    deeds = [
        ["advance", 300],
        ["strike", [hub, impulse.tolist()]],
        ["advance", 700],
    ]
    seen = simulated(page, deeds, tmp_path)
    before, after, end = (deed["row"] for deed in seen)
    old, new = (np.array([row["hub.vx"], 0.0, row["hub.vz"]]) for row in (before, after))
    free = old / np.linalg.norm(old)  # along the arc about the foot
    np.testing.assert_allclose(new - old, free * (free @ impulse) / experiment.system.mass)
    work = impulse @ (old + new) / 2
    np.testing.assert_allclose(after["work.push"], work, rtol=1e-12)
    np.testing.assert_allclose(after["store.kinetic"] - before["store.kinetic"], work, rtol=1e-12)
    assert after["hub.x"] == before["hub.x"] and end["work.push"] == after["work.push"]
    assert seen[-1]["residual"]["share"] < 1e-9  # since the start: as without a push


def test_a_steady_force_is_a_gravity_of_another_direction(passive, tmp_path):
    """A level pull F on all of its mass: as on a steeper slope, under more gravity."""
    experiment, page = passive
    mass, g, slope, pull = experiment.system.mass, 9.81, 0.05, 3.0
    tilt, strong = np.arctan2(pull / mass, g), np.hypot(g, pull / mass)
    hub, steps = {"group": "hub", "point": [0.0, 0.0, 0.0]}, 400
    pulled = [["set", {"terrain.angle": slope, "robot.gravity": g}], ["start", None]]
    for _ in range(steps):
        pulled += [["strike", [hub, [pull * STEP, 0.0, 0.0]]], ["advance", 1]]
    tilted = [
        ["set", {"terrain.angle": slope + tilt, "robot.gravity": strong}],
        ["start", None],
        ["advance", steps],
    ]
    one = simulated(page, pulled, tmp_path)[-1]["row"]
    other = simulated(page, tilted, tmp_path)[-1]["row"]
    assert one["steps"] == other["steps"] >= 1
    # Kicks come at the beginnings of steps: early by half a step, one kick's worth of speed.
    kick = pull / mass * STEP
    assert abs(one["travel.speed"] - other["travel.speed"]) < kick
    assert abs(one["travel.distance"] - other["travel.distance"]) < kick * steps * STEP


def test_what_is_pulled_is_repeated_after_going_back(passive, tmp_path):
    _, page = passive
    hold = [{"group": "hub", "point": [0.0, 0.0, -0.1]}, 1.0, [0.9, 0.0, 0.3]]
    deeds = [
        *(["advance", 200], ["keep", None], ["grab", hold], ["advance", 150], ["release", []]),
        *(["advance", 150], ["back", None], ["advance", 77], ["advance", 223]),
    ]
    seen = simulated(page, deeds, tmp_path)
    assert seen[5]["row"] == seen[8]["row"]
    assert seen[3]["row"]["work.push"] > 0 and seen[5]["residual"]["share"] < 1e-9


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
    # Two pushes on one foot, a mass of its own: the second finds it faster by P/m.
    foot, impulse = {"group": "tip.3", "point": [0.0, 0.0, 0.0]}, 1e-3
    deeds = [["advance", 1], *([["strike", [foot, [impulse, 0, 0]]]] * 2)]
    none, one, two = (deed["row"]["work.push"] for deed in simulated(page, deeds, tmp_path))
    faster = impulse / float(np.asarray(system.leg.tip_mass))
    np.testing.assert_allclose((two - one) - (one - none), impulse * faster, rtol=1e-9)
