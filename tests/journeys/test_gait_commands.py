"""footfall gait, follow and design from the command line, on the wheel whose gaits are known."""

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

import footfall as ff
from footfall.cli.main import app
from footfall.engines.analysis.return_map import NoCycle
from footfall.scenario.errors import ScenarioError
from footfall.scenario.gait import nearest_to_gait
from footfall.sweep.gait_study import Gait, GaitRequest
from footfall.sweep.subject import Subject
from support.browsers import node
from support.pages import needs_bundle, simulated

WHEEL = "passive-wheel"
HALF, KEPT = math.pi / 10, math.cos(math.pi / 5) ** 2


def asked(*words):
    found = CliRunner().invoke(app, [*words])
    return found.exit_code, found.stdout, found.stderr


def test_gait_says_speed_stability_and_modes_and_writes_them(tmp_path):
    status, said, _ = asked("gait", WHEEL, "--json", "--out", str(tmp_path / "g"))
    assert status == 0
    found = json.loads(said)
    (row,) = found["gaits"]
    # McGeer: lambda^2 and the fixed point; the runs have rtol 1e-10.
    assert row["largest_multiplier"] == pytest.approx(KEPT, abs=1e-11)
    square = KEPT / (1 - KEPT) * 4 * 9.81 / 0.26 * math.sin(0.08) * math.sin(HALF)
    assert row["state.spoke_rate"] == pytest.approx(-math.sqrt(square), rel=1e-10)
    assert row["mean_speed"] == pytest.approx(2 * 0.26 * math.sin(HALF) / row["step_time"])
    assert "decays by half in 1.6 steps" in found["modes"][0]["words"]
    assert found["verdict_of_gait"].startswith("stable")
    assert (tmp_path / "g" / "gait.csv").exists() and (tmp_path / "g" / "gait.png").exists()


@needs_bundle
@pytest.mark.skipif(node() is None, reason="needs Node")
def test_the_page_of_a_gait_stays_on_it_and_a_mode_decays_by_its_multiplier(tmp_path):
    pytest.importorskip("ziglang")
    file = tmp_path / "gait.html"
    status, *_ = asked(
        "gait", WHEEL, "--no-plots", "--out", str(tmp_path / "g"), "--page", str(file)
    )
    assert status == 0
    page = json.loads(file.read_text().partition('id="page">')[2].partition("</script>")[0])
    assert not [p for p in page["parameters"] if p["key"].startswith("start.")]
    steps = round(2.1 / page["live"]["step"])  # eight events
    deeds = [["advance", steps], ["disturb", [0, 1e-4]], ["advance", steps]]
    still, _, disturbed = (np.ravel(deed["sizes"]) for deed in simulated(page, deeds, tmp_path))
    assert len(still) == len(disturbed) == 9 and still[0] == 0
    # Off by what a step of the fourth order adds in each footstep, which decays too.
    assert np.max(still) < 1e-10
    # As good as the map is linear: 1e-4 of a step's change.
    np.testing.assert_allclose(disturbed, 1e-4 * KEPT ** np.arange(9), rtol=1e-3)


def test_a_robot_without_a_gait_is_told_what_happened_and_what_to_try(tmp_path):
    words = ["gait", WHEEL, "--set", "terrain.angle=0.01", "--out", str(tmp_path / "g")]
    status, _, said = asked(*words)
    flat = " ".join(said.split())
    assert status == 2 and "no gait was found" in flat and "rocked" in flat
    assert "footfall run passive-wheel" in flat
    status, _, said = asked("gait", "compass-gait")
    assert status == 2 and "footfall new --from compass-gait" in " ".join(said.split())
    status, _, said = asked("gait", WHEEL, "--event", "touchdwn", "--out", str(tmp_path / "g"))
    assert status == 2 and "touchdown" in said


def test_a_walk_that_comes_to_repeat_itself_leads_to_its_gait(monkeypatch):
    """The water runner's was missed by a third of a rounding, and said to be no gait."""

    def none(*_):
        raise NoCycle("not from here")

    monkeypatch.setattr(Gait, "_sought", none)
    study = Gait(GaitRequest(), Subject(ff.load(WHEEL)))
    assert study.result.period == pytest.approx(ff.load(WHEEL).cycle("touchdown").period, rel=1e-9)
    monkeypatch.setattr(Gait, "_where_it_leads", none)
    walk = Gait(GaitRequest(), Subject(ff.load(WHEEL)))
    walk.left_alone = study.left_alone
    (answer,) = walk.answers([0], {}, lambda _: None)
    assert answer.row["verdict"] == "gait_not_found" and answer.row["repeats_after"] == 1
    assert walk.page({0: answer}, None)[:2] == [
        "no gait was found, but it walks on, and comes to repeat itself every step",
        "not from here",
    ]


@pytest.mark.slow  # 9 s: batches of its own, their kernels and steps
def test_without_a_gait_the_nearest_slope_that_has_one_is_found(tmp_path):
    """rimless-wheel.md: it rolls on only above 0.033439 rad. Found to 1/65536 of the range."""
    words = ["gait", WHEEL, "--set", "terrain.angle=0.01", "--vary", "terrain.angle=0:0.2"]
    status, _, said = asked(*words, "--out", str(tmp_path / "g"))
    flat = " ".join(said.split())
    assert status == 2 and "walks 3 steps" in flat
    value = float(flat.rpartition("--set terrain.angle=")[2].split()[0])
    assert 0.033439 <= value < 0.033439 + 2 * 0.2 / 65536


def test_a_gait_begins_where_a_run_came_nearest_to_repeating_itself(tmp_path):
    run = ff.load(WHEEL, duration=3).run()
    folder = run.save(tmp_path / "run")
    start = nearest_to_gait(ff.load(WHEEL), ff.open_run(folder))
    gait = ff.load(WHEEL).cycle("touchdown")
    # 0.65^10 of the 0.3 rad/s it began with
    assert float(start.x.spoke_rate) == pytest.approx(float(gait.state.x.spoke_rate), abs=5e-3)
    status, said, _ = asked("gait", "--from", str(folder), "--json", "--out", str(tmp_path / "g"))
    found = json.loads(said)
    assert status == 0 and found["scenario"] == WHEEL
    assert found["gaits"][0]["period"] == pytest.approx(gait.period, rel=1e-9)
    for words, told in ((["--from", str(tmp_path / "none")], "no such folder"), ([], "--from")):
        status, _, said = asked("gait", *words)
        assert status == 2 and told in " ".join(said.split())


def test_plans_and_bodies_have_no_gait_to_find(tmp_path):
    for name, told in (("two-leg-step", "as it is planned"), ("urchin-walk", "MuJoCo")):
        status, _, said = asked("gait", name, "--out", str(tmp_path / "g"))
        assert status == 2 and told in " ".join(said.split())


def test_follow_finds_where_the_wheel_stops_rolling_and_where_it_takes_off(tmp_path):
    """rimless-wheel.md: rolls on only above 0.033439 rad.

    In contact while omega_minus^2 < (g/l) cos(pi/10 + slope), a closed form.
    """
    branch = ff.load(WHEEL).follow("terrain.angle", 0.02, 0.3)
    low, high = branch.points[0], branch.points[-1]
    assert low.kind == high.kind == "end"
    # Near the slope at which it just passes over its foot a step takes ever longer: at 1e-10 of the
    # energy it takes seconds, and what is left of a digit is 1e-8.
    assert low.value == pytest.approx(0.033439, abs=1e-6) and "rocked" in low.why

    def force(slope):
        return 4 * math.sin(slope) * math.sin(HALF) / (1 - KEPT) - math.cos(HALF + slope)

    # To 1e-9 of the range, where the force is as steep as it is.
    assert force(high.value - 1e-8) < 0 < force(high.value + 1e-8) and "contact" in high.why
    assert "lifted_off" in repr(branch) and all(p.stable for p in branch.points[1:])
    branch.plot(tmp_path / "branch.png")
    assert (tmp_path / "branch.png").stat().st_size > 10_000


def test_follow_shows_what_a_robot_does_where_its_gait_is_unstable(tmp_path, monkeypatch):
    """Garcia et al. 1998: of the simplest walker two steps are alike past 0.0151, four past 0.0177.

    Gaits of two steps have figures that those of one have not, and their rows are in one table.
    """
    monkeypatch.chdir(tmp_path)
    asked("new", "walker", "--from", "simplest-walker")
    words = [
        "follow",
        "walker/walker.toml",
        "--vary",
        "slope=0.013:0.0179",
        "--set",
        "slope=0.0145",
    ]
    status, said, _ = asked(*words, "--walks", "10", "--out", str(tmp_path / "f"))
    assert status == 0 and "period doubling at 0.0150884" in said
    assert "let walk at 10 values where the gait is unstable: it falls at none of them" in said
    rows = np.genfromtxt(tmp_path / "f" / "orbits.csv", delimiter=",", names=True)
    kinds = {
        value: len(np.unique(np.round(rows["time"][rows["slope"] == value], 5)))
        for value in np.unique(rows["slope"])
    }
    assert {kinds[v] for v in kinds if 0.0155 < v < 0.0175} == {2} and kinds[0.0179] == 4
    branch = (tmp_path / "f" / "branch.csv").read_text().splitlines()
    assert {line.count(",") for line in branch} == {branch[0].count(",")}
    assert (tmp_path / "f" / "branch.png").stat().st_size > 10_000


def test_wrong_words_of_follow_and_design_are_errors_that_teach(tmp_path):
    out = ["--out", str(tmp_path / "s")]
    for words, told in (
        (["follow", WHEEL, "--vary", "terrain.angle"], "KEY=FROM:TO"),
        (["follow", WHEEL, "--vary", "terrain.angle=0.2:0.3"], "outside"),
        (["follow", WHEEL, "--vary", "start.spoke_rate=-4:-2"], "does not depend"),
        (["design", WHEEL, "--free", "leg.lengh"], "leg.length"),
        (["design", WHEEL, "--free", "leg.length", "--minimise", "step_tim"], "step_time"),
        (
            ["design", WHEEL, "--free", "leg.length", "--subject-to", "speed > 1"],
            "FIGURE >= NUMBER",
        ),
    ):
        status, _, said = asked(*words, *out)
        assert status == 2 and told in " ".join(said.split()), words


def test_design_comes_to_the_closed_form_and_says_what_limits_it():
    """Speed of the rigid wheel scales with sqrt(l), step time too.

    The shortest step time with a speed of at least 0.7 m/s is at the leg that goes just as fast.
    """
    wheel = ff.load(WHEEL)
    speed = wheel.cycle("touchdown").figures["mean_speed"]
    free = {"leg.length": (0.1, 0.6)}
    found = ff.design(wheel, "step_time", free, ["mean_speed >= 0.7"], starts=1)
    assert found.values["leg.length"] == pytest.approx(0.26 * (0.7 / speed) ** 2, rel=1e-5)
    assert list(found.active) == ["mean_speed >= 0.7"] and found.off < 1e-6
    # Both go with the root of the length: one per cent of speed is one per cent of step time.
    assert found.active["mean_speed >= 0.7"] == pytest.approx(1.0, abs=1e-6)
    assert found.sensitivities["leg.length"] == pytest.approx(0.5, abs=1e-7)
    assert found.experiment.document["robot"]["leg"]["length"] == found.values["leg.length"]
    with pytest.raises(ScenarioError, match="no design keeps every constraint"):
        ff.design(wheel, "step_time", free, ["mean_speed >= 3"], starts=1)


def test_a_front_of_the_wheel_is_that_of_the_energy_balance(tmp_path):
    """What an impact takes per distance is m g sin(slope), whatever the leg.

    So the cheapest wheel of each speed has the longest leg, and a slope as small as that allows.
    """
    wheel = ff.load(WHEEL)
    free = {"leg.length": (0.2, 0.3), "terrain.angle": (0.05, 0.1)}
    loss = "-jump_work.impact / distance"
    front = ff.pareto(wheel, loss, "mean_speed", free, points=4, starts=1)
    assert len(front.designs) == 4
    weight = wheel.system.travel().weight
    for design in front.designs:
        assert design.values["leg.length"] == pytest.approx(0.3, rel=1e-4)
        angle = design.values["terrain.angle"]
        # The books of a stride close to the tolerance of its run, 1e-10.
        assert design.value == pytest.approx(weight * math.sin(angle), rel=1e-6)
        assert design.off < 1e-6
    speeds = [design.figures["mean_speed"] for design in front.designs]
    costs = [design.value for design in front.designs]
    assert speeds == sorted(speeds) and costs == sorted(costs)
    # The price of speed is the slope of the front (envelope theorem), in per cent of per cent.
    middle = front.designs[2]
    near = ff.design(wheel, loss, free, [f"mean_speed >= {1.001 * speeds[2]}"], starts=1)
    assert math.log(near.value / middle.value) / math.log(1.001) == pytest.approx(
        middle.trade, rel=2e-3
    )
    front.plot(tmp_path / "front.png")
    assert (tmp_path / "front.png").stat().st_size > 10_000
