"""The two-leg walker from the command line: the figures of its page, what changes them, and how it
says what cannot be done.

A process costs seconds, and so does compiling: the commands share one process, and those that
differ in numbers only share a program."""

import pytest

from support.commands import several

COMMANDS = {
    "usual": ["two-leg-step"],
    "low": ["two-leg-step", "--set", "gait.lift=5 mm", "--accept-doubt"],
    "free": ["two-leg-step", "--set", "feet=free"],
    "too far": ["two-leg-step", "--set", "gait.stride=95 mm"],
    "wrong word": ["two-leg-step", "--set", "robot.route=walk -0.49; clim 0.05"],
    "fast step": ["two-leg-single-step", "--set", "gait.speed=0.5 m/s"],
}


OTHERS = {
    "tips": [
        "run",
        "two-leg-single-step",
        "--set",
        "feet=free",
        "--set",
        "gait.speed=0.08",
        "--no-plots",
        "--out",
        "tips",
    ],
    "check": ["check", "two-leg-single-step"],
    "sweep": [
        "sweep",
        "two-leg-step",
        "--vary",
        "gait.stride=0.05:0.095:4",
        "--vary",
        "gait.lift=0.005,0.01",
        "--no-plots",
        "--out",
        "study",
    ],
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """All of COMMANDS with --json, in one process and an empty folder."""
    place = tmp_path_factory.mktemp("two-leg")
    commands = [
        ["run", *command, "--json", "--no-plots", "--out", name]
        for name, command in COMMANDS.items()
    ]
    found = dict(
        zip([*COMMANDS, *OTHERS], several([*commands, *OTHERS.values()], place), strict=True)
    )
    return {**found, "folders": {path.name for path in place.iterdir()}}


def energies(said: dict) -> list[float]:
    return [said["ledger"]["work"][f"motor_{i}"] for i in (1, 2, 3)]


def test_run_two_leg_step_walks_climbs_and_arrives_with_the_energy_of_its_page(answers):
    # Over the edge only a clamped foot holds.
    assert answers["usual"].status == 3, answers["usual"].err
    said = answers["usual"].said
    assert [doubt["name"] for doubt in said["verdict"]["doubts"]] == [
        "tips_unless_held"
    ] and not said["verdict"]["sound"]
    assert said["outcome"]["name"] == "arrived" and said["outcome"]["event"] == "arrive"
    assert said["outcome"]["t"] == pytest.approx(53.2, rel=0, abs=1e-9)
    assert said["outcome"]["jumps"] == 3 * 28 and said["metrics"]["steps"] == 28
    assert said["metrics"]["step_time"] == pytest.approx(53.2 / 28)
    assert {event["name"] for event in said["events"]} == {"move", "arrive"}
    assert sum(energies(said)) == pytest.approx(4.64541, rel=2e-4)  # the page's tolerance
    assert said["ledger"]["stored_change"] == pytest.approx(0.1962, rel=0, abs=1e-6)
    assert said["ledger"]["relative_residual"] < 1e-9  # 1e-8 a step, errors of both signs
    plan = said["plan"]  # in motion and held still, side by side
    assert (plan["efficiency"], plan["static_efficiency"]) == pytest.approx(
        (0.042235, 0.0422475), abs=2e-6
    )
    assert plan["energy"] == pytest.approx(plan["electrical_energy"], rel=1e-12)  # ideal motors
    # Peaks of the second half of the run are those of the whole: at ends of moves, which are always
    # sampled.
    peaks = [said["metrics"][f"motor_{i}_peak_torque"] for i in (1, 2, 3)]
    assert peaks == pytest.approx([0.39783, 0.16556, 0.39783], rel=1e-4)


def test_half_the_lift_is_faster_and_cheaper(answers):
    assert answers["low"].status == 0, answers["low"].err  # as doubtful, and accepted
    said = answers["low"].said
    assert said["outcome"]["name"] == "arrived" and said["outcome"]["t"] == pytest.approx(
        47.6, rel=0, abs=1e-9
    )
    # Static 4.27304 J; motion adds 0.03 % at this speed, and this lift doubles what it adds to the
    # torques.
    assert sum(energies(said)) == pytest.approx(4.27304, rel=5e-4)
    assert sum(energies(said)) < 0.93 * sum(energies(answers["usual"].said))


def test_feet_that_nothing_holds_down_tip_when_the_second_foot_leaves_the_ground(answers):
    """Errata 12: seven steps take 25.2 s, foot 1 of the climb 3.0 s; then the centre of mass is 22
    mm beyond the edge.
    """
    assert answers["free"].status == 1, answers["free"].err
    outcome = answers["free"].said["outcome"]
    assert (outcome["name"], outcome["event"]) == ("tipped_over", "tip")
    assert outcome["t"] == pytest.approx(28.2, rel=0, abs=1e-9) and outcome["jumps"] == 3 * 15


def test_a_stride_out_of_reach_is_an_error_that_names_the_move_the_limit_and_the_nearest_stride(
    answers,
):
    status, out, err = answers["too far"]
    assert status == 2 and out == "" and "Traceback" not in err
    words = (
        "two-leg-step with gait.stride=95 mm",
        "[robot] route",
        'footstep 13 (of "climb 0.05")',
        "200 mm",
        "90.79 mm",
    )
    assert all(word in err for word in words), err


def test_a_misspelt_verb_is_an_error_with_a_suggestion(answers):
    status, out, err = answers["wrong word"]
    assert status == 2 and out == "" and "Traceback" not in err
    assert '"clim 0.05"' in err and 'Did you mean "climb"?' in err


def test_one_step_at_half_a_metre_a_second_is_ruled_by_inertia(answers):
    assert answers["fast step"].status == 3, answers["fast step"].err
    said = answers["fast step"].said
    # m (a + g) at the peak of the first move: the ground would have to hold the walker down by
    # 25.012 N (the page's least pressure).
    assert (
        "pull, by 25 N" in said["verdict"]["doubts"][0]["sentence"]
        and said["plan"]["least_pressure"] < -25.0
    )
    assert said["outcome"]["name"] == "arrived" and said["outcome"]["t"] == pytest.approx(
        0.4, rel=0, abs=1e-9
    )
    peaks = [said["metrics"][f"motor_{i}_peak_torque"] for i in (1, 3)]
    # The page's figure of the whole terrain is that of a step's first move.
    assert peaks == pytest.approx([4.81983] * 2, rel=1e-4)
    assert sum(energies(said)) > 1.4 * 0.350905  # static
    assert said["ledger"]["relative_residual"] < 1e-9


def test_what_was_refused_left_nothing_behind(answers):
    assert answers["folders"] == {"usual", "low", "free", "fast step", "study", "tips"}


def test_a_speed_that_tips_is_told_with_the_footstep_the_move_the_margin_and_a_speed_that_does_not(
    answers,
):
    """The page: above 0.0732 m/s the zero-moment point passes the foot's end."""
    status, out, _ = answers["tips"]
    assert status == 1 and "tipped_over" in out
    assert "it ended in footstep 1, while foot 1 went" in out and "support margin: least" in out
    assert "but not below gait.speed = 0.073" in out


def test_a_plan_keeps_the_contract_and_sweeps_as_one_kernel(answers):
    status, out, err = answers["check"]
    assert status == 0 and "Traceback" not in err
    assert "TwoLegWalker keeps the contract" in out and "C++ kernel: a sweep runs it as one" in out


def test_a_sweep_of_plans_says_which_the_ground_blocks_and_which_are_out_of_reach(answers):
    status, out, err = answers["sweep"]
    # Those that arrive tip unless their feet are clamped, as a run says too.
    assert status == 3 and "tips_unless_held" in out, err
    assert "8 designs" in out and "a plan each" in out and "evaluated along each plan" in out
    # Strides of 50, 65, 80 and 95 mm: the first overhangs, the last does not reach.
    counts = {
        name: int(out.split(name)[1].split()[0]) for name in ("arrived", "blocked", "unreachable")
    }
    assert counts == {"arrived": 4, "blocked": 2, "unreachable": 2}
