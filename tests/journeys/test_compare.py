"""`footfall compare-integrators`, and the warning of `footfall run` when a step is too long."""

import dataclasses
import itertools
import json

import pytest
from PIL import Image

import footfall.engines.analysis.compare_study as study_module
from footfall.cli.main import app
from footfall.engines.analysis.compare import (
    Errors,
    Reference,
    Trial,
    plan_trials,
    run_trial,
    step_series,
)
from footfall.engines.events.solvers import solver_by_name
from footfall.engines.plan import SimPlan
from footfall.engines.simulate import simulate
from footfall.engines.stability_limit import spectrum
from footfall.hybrid.system import Rates
from support.toys import AbstractToy, Clockwork, NoPower, Scalar1


@pytest.fixture
def command(capsys, monkeypatch, tmp_path):
    """footfall ARGUMENTS in this process, in an empty folder: (status, out, err)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments):
        capsys.readouterr()
        try:
            app([str(a) for a in arguments])
        except SystemExit as end:
            status = end.code or 0
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


TWO = ("compare-integrators", "passive-wheel", "--solvers", "tsit5,rk4")


def test_two_methods_on_the_passive_wheel_as_data_and_as_a_picture(command, tmp_path):
    status, out, err = command(*TWO, "--json", "--out", "two.png")
    assert status == 0, err
    said = json.loads(out)
    assert said["scenario"] == "passive-wheel" and said["span"] == 0.2 and said["complete"]
    reference = said["reference"]
    assert reference["method"] == "dopri8" and reference["against"] == "tsit5"
    assert reference["uncertainty"] < 1e-12  # both at 1e-12 of states near one
    runs = {name: [r for r in said["runs"] if r["method"] == name] for name in ("tsit5", "rk4")}
    assert [r["rtol"] for r in runs["tsit5"]] == [1e-4, 1e-6, 1e-8]
    assert all(
        r["error"] < 10 * r["rtol"] and r["residual"] < 10 * r["rtol"] for r in runs["tsit5"]
    )
    assert [r["step"] for r in runs["rk4"]] == pytest.approx([8e-3, 4e-3, 2e-3, 1e-3, 5e-4])
    errors = [r["error"] for r in runs["rk4"]]
    # Order 4: a factor of 16, down to rounding.
    assert all(13 < a / b < 19 for a, b in itertools.pairwise(errors[:4]))
    assert [r["evaluations"] for r in runs["rk4"]] == [4 * n + 1 for n in (25, 50, 100, 200, 400)]
    assert all(
        r["seconds"] > 0 and r["outcome"] == "reached_end" and not r["above_limit"]
        for r in said["runs"]
    )
    assert said["picture"] == "two.png" and "two.png" in err
    with Image.open(tmp_path / "two.png") as picture:
        assert min(picture.size) > 400
    status, out, err = command(*TWO, "--duration", "0.4")  # programs are there already
    assert status == 0, err
    assert "reference: dopri8 at rtol 1e-12, reached_end at t = 0.4 s after 1 jumps" in out
    assert all(
        word in out
        for word in ("method", "tsit5", "rtol 1e-06", "rk4", "step 1.00e-03", "evals", "ledger")
    )
    (folder,) = (tmp_path / "comparisons").iterdir()
    assert {"results.json", "comparison.csv", "comparison.png"} < {p.name for p in folder.iterdir()}


def test_ctrl_c_leaves_the_part_of_the_table_that_is_there(command, monkeypatch):
    calls = []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return run_trial(*arguments)

    monkeypatch.setattr(study_module, "run_trial", interrupted)
    status, out, err = command(*TWO, "--no-plots")
    assert status == 130 and "stopped: what was computed is kept (2 of 8 runs, in" in err
    assert "rtol 1e-04" in out and "rtol 1e-06" in out and "rtol 1e-08" not in out


def test_bad_input_is_answered_before_anything_is_computed(command, tmp_path):
    (tmp_path / "a-file").write_text("")
    for words, more in {
        'Did you mean "rk4"?': ["--solvers", "tsit5,rk44"],
        "write it as a .png file": ["--out", "a.pdf"],
        "there is no folder": ["--out", "none/a.png"],
        "time to simulate must be > 0": ["--duration", "0"],
    }.items():
        status, out, err = command("compare-integrators", "passive-wheel", *more)
        assert (status, out) == (2, "") and words in err, err
    assert [path.name for path in tmp_path.iterdir()] == ["a-file"]


# --- methods that fail ----------------------------------------------------------------------------


class Cubic(AbstractToy):
    """dx/dt = -x^3: decays from everywhere, and leaves every bound when an explicit step is long
    enough.
    """

    events = Clockwork.events
    curve = staticmethod(lambda x: (1.0,))
    ends = ()

    def flow(self, t, x, m):
        return Rates(Scalar1(x=-x.x * x.x * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (1.0 + 0.0 * x.x,)

    def jump(self, t, x, m, k):
        return Clockwork.jump(self, t, x, m, k)


def test_methods_that_diverge_or_do_not_fit_are_results_too():
    system, state = Cubic(), AbstractToy.begin(Scalar1(x=10.0))
    plan = SimPlan(duration=1.0)
    run = simulate(system, state, plan)
    reference = Reference(
        "dopri8", 1e-8, "", Errors(1e-8, "x", None), run, spectrum(system, state, run)
    )
    # X^-2 grows at rate 2; rtol 1e-8.
    assert run.ending.state["x"] == pytest.approx((0.01 + 2.0) ** -0.5, abs=1e-7)
    assert reference.seen.largest == (pytest.approx(-300.0, rel=1e-9), 0.0)
    assert plan_trials(plan, state, reference, ["multirate"]) == []  # nothing here is fast
    made = dataclasses.replace(plan, sample_rate=None, step=0.1, solver=solver_by_name("euler"))
    gone = run_trial(system, state, Trial("euler", "fixed", "step 0.1", made), reference)
    assert (gone.outcome, gone.error) == ("diverged", None)
    json.dumps(gone.to_dict(), allow_nan=False)
    made = dataclasses.replace(made, solver=solver_by_name("multirate"))
    unfit = run_trial(system, state, Trial("multirate", "multirate", "step 0.1", made), reference)
    assert unfit.outcome == "not possible" and "no fast states" in unfit.remark


def test_steps_are_whole_fractions_of_the_span_around_what_stability_asks_for():
    assert step_series(0.2, float("inf")) == pytest.approx([8e-3, 4e-3, 2e-3, 1e-3, 5e-4])
    stiff = step_series(0.2, 1e-5)
    # One above the limit, the rest below.
    assert stiff[0] == pytest.approx(2e-5) and 0.9e-5 < stiff[1] < 1e-5
    assert step_series(0.2, 1e-9) == [pytest.approx(0.2 / 300_000)]


# --- the warning of `run` -------------------------------------------------------------------------


def test_run_warns_once_of_a_step_above_the_limit_and_of_no_other(command):
    """The passive wheel's fastest decay is 6.1/s: Euler's limit is 0.33 s."""
    run = ("run", "passive-wheel", "--no-plots", "--json", "--duration", "1")
    _, out, err = command(*run, "--out", "a", "--set", "sim.solver=euler", "--set", "sim.step=0.8")
    assert err.count("warning:") == 1 and "times the longest stable step of euler" in err
    assert "sim.solver=kvaerno5" in err and "at t = 0 s" in err
    assert "step_unstable" in [doubt["name"] for doubt in json.loads(out)["verdict"]["doubts"]]
    # A step of 10 ms is stable, but of the first order: it loses 3 % of the energy. The scenario's
    # own solver is sound.
    for more, verdict in (
        (["--set", "sim.solver=euler", "--set", "sim.step=0.01"], ["books_open"]),
        ([], []),
    ):
        status, out, err = command(*run, "--out", f"b{len(more)}", *more)
        assert "warning" not in err, err
        assert [doubt["name"] for doubt in json.loads(out)["verdict"]["doubts"]] == verdict
        assert status == (3 if verdict else 0)
