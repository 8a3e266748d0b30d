"""A verdict beside every outcome.

Each test makes one thing doubtful, with the sound case beside it.
"""

import dataclasses
import json

import diffrax
import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pyarrow.parquet as pq
import pytest
from matplotlib.axes import Axes
from mcap.reader import make_reader

import footfall.engines.simulate as engine
from footfall import SimPlan, compare, load, rollout, simulate, summarise
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.plan import FixedSteps
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.fields import param
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import Event, Jump, Rates
from footfall.pictures.animate import write_animation
from footfall.pictures.plot_page import plot_page
from footfall.pictures.style import STYLES
from footfall.realtime import fit as fitting
from footfall.record.export import write_parquet
from footfall.record.ledger import Ledger
from footfall.record.mcap_log import write_mcap
from footfall.record.verdict import LOSS_GIVES, Verdict, low_order, pull_doubts, together, verdict
from support.toys import AbstractToy, Ball, Bounce, Height, NoPower, NoWork, Scalar1

SHORT = SimPlan(duration=0.4, sample_rate=100.0)  # the ball of 0.5 m bounces once, at 0.23 s


class OddBall(Ball):
    """One program for several faults, each a number."""

    ghost: float = param(0.0, doc="1: its jump changes nothing")
    blind: float = param(0.0, doc="1: what is seen of it above 0.3 m is not a number")
    shy: float = param(0.0, doc="1: it says something against its own runs")

    def jump(self, t, x, m, k):
        jump, odd = super().jump(t, x, m, k), self.ghost > 0
        changed = (
            Height(x=x.x, v=jnp.where(odd, x.v, jump.x.v)),
            eqx.tree_at(lambda c: c.n, m, jnp.where(odd, m.n, jump.m.n)),
        )
        return Jump(*changed, Bounce(impact=jnp.where(odd, 0.0, jump.work.impact)))

    def outputs(self, t, x, m):
        unseen = (self.blind > 0) & (x.x > 0.3)
        return eqx.tree_at(
            lambda o: o.value.x, super().outputs(t, x, m), jnp.where(unseen, jnp.nan, x.x)
        )

    def doubts(self, t, columns):
        return (
            [Doubt("shy", f"it was seen {len(t)} times, last at {columns['x'][-1]:.3g} m")]
            if self.shy
            else []
        )


def dropped(ball, **more):
    return simulate(ball, Ball.begin(Height(x=0.5, v=-1.0)), dataclasses.replace(SHORT, **more))


def ledger(residual=0.0, lost=0.0):
    return Ledger({"a": 0.0}, {"a": residual - lost}, {}, {"damper": lost}, {}, throughput=100.0)


# --- the books ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "order"), [(1e-4, None), (1e-4, 4), (1e-2, 3), (1e-2, 1)])
def test_books_that_do_not_close_are_doubtful_beyond_the_limit(limit, order):
    """Of 100 J: the limits as docs/conventions.md states them."""
    for sign in (1, -1):
        assert verdict(ledger(sign * 99 * limit), stepped=low_order(order)).sound
        assert verdict(ledger(sign * 101 * limit), stepped=low_order(order)).word == "books_open"
    assert verdict(ledger(np.nan), stepped=low_order(order)).word == "books_open"


@pytest.mark.parametrize(("steps", "open_books"), [(49, True), (50, False)])
def test_a_run_and_a_lane_of_semi_implicit_euler_have_one_limit(steps, open_books):
    """In free fall each of n steps leaves (g h)^2 / 2 open:

    1 / (2 n + 1) of the throughput, against 1 in 100.
    """
    plan = SimPlan(duration=0.9, fixed=FixedSteps(0.9 / steps, "semi-implicit-euler"))
    start = Ball.begin(Height(x=5.0, v=0.0))
    run = simulate(Ball(), start, plan)
    lane = run_batch(
        Ball(), start, BatchPlan(0.9, step=0.9 / steps, method="semi-implicit-euler", path="xla")
    )
    # Rounding of 50 steps.
    assert run.ledger.relative_residual == pytest.approx(1 / (2 * steps + 1), rel=1e-9)
    assert run.verdict.word == ("books_open" if open_books else "sound")
    assert lane.doubts["books_open"].tolist() == [open_books]


def test_a_loss_that_gives_is_doubtful_though_the_books_close():
    assert verdict(ledger(lost=-99 * LOSS_GIVES)).sound
    found = verdict(ledger(lost=-101 * LOSS_GIVES))
    assert found.word == "loss_creates_energy" and "damper gave 0.101 J" in found.sentence


def test_a_step_with_which_contacts_create_energy_is_doubtful():
    """At 2 ms the urchin's contacts give 3 J, it walks backwards, and its books close to 1e-5."""
    for step, expected in (("1 ms", "sound"), ("2 ms", "loss_creates_energy")):
        experiment = load("urchin-walk", [f"sim.step={step}"], duration="5 s")
        run = simulate(experiment.system, experiment.start, experiment.plan)
        assert run.verdict.word == expected and run.ledger.relative_residual < 1e-3


# --- what the engine notices ----------------------------------------------------------------------


def test_a_jump_that_changes_nothing_is_doubtful():
    run = dropped(OddBall(ghost=1.0))
    assert run.verdict.word == "jump_without_effect" and '"bounce"' in run.verdict.sentence
    assert dropped(OddBall()).verdict.sound


def test_what_is_not_a_number_is_doubtful():
    run = dropped(OddBall(blind=1.0))
    assert run.verdict.word == "not_finite" and "value.x: not a number in " in run.verdict.sentence


LONGEST = {"rk4": 0.02785, "rk2": 0.02, "semi-implicit-euler": 0.02}


class Decay(AbstractToy):
    """dx/dt = -100 x. Longest stable steps:

    Euler 20 ms, the midpoint rule too, classical Runge-Kutta 27.85 ms.
    """

    @property
    def events(self):
        return (Event("never", "never happens", Outcome.fell),)

    def flow(self, t, x, m):
        return Rates(Scalar1(x=-100.0 * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (1.0 + 0.0 * x.x,)

    def jump(self, t, x, m, k):
        return Jump(x, m, NoWork(none=0.0 * x.x))


@pytest.mark.parametrize(("step", "sound"), [(0.019, True), (0.021, False)])
def test_a_step_above_its_limit_is_doubtful_in_the_library_too(step, sound):
    plan = SimPlan(duration=0.5, solver=diffrax.Euler(), step=step)
    run = simulate(Decay(), Decay.begin(Scalar1(x=1.0)), plan)
    assert run.verdict.word == ("sound" if sound else "step_unstable")
    assert sound or "times the longest stable step of euler" in run.verdict.sentence


@pytest.mark.parametrize(
    ("method", "step", "sound"),
    [
        (method, limit + off, off < 0)
        for method, limit in LONGEST.items()
        for off in (-0.001, 0.001)
    ],
)
def test_a_step_of_the_step_engine_above_its_limit_is_doubtful(method, step, sound):
    plan = SimPlan(duration=20 * step, fixed=FixedSteps(step, method))
    run = simulate(Decay(), Decay.begin(Scalar1(x=1.0)), plan)
    assert run.verdict.word == ("sound" if sound else "step_unstable")
    assert sound or "sim.batch_step" in run.verdict.sentence


@pytest.mark.parametrize("fixed", [None, FixedSteps(0.01)])
def test_what_a_robot_says_of_its_own_run_is_in_its_verdict(fixed):
    run = dropped(OddBall(shy=1.0), fixed=fixed)
    assert run.verdict.word == "shy" and f"seen {len(run.t)} times" in run.verdict.sentence


def test_a_run_that_was_stopped_before_anything_was_kept_has_a_verdict(monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "_advance", stop)
    monkeypatch.setattr(engine.KernelRun, "advance", stop)
    run = dropped(OddBall())
    assert run.outcome is Outcome.interrupted and not len(run.t) and run.verdict.sound


def test_a_foot_that_pulls_is_doubtful_unless_that_was_the_end():
    least = {"touchdown": -1.0, "liftoff_left": 3.0, "liftoff_right": -25.0}
    (found,) = pull_doubts(least, Outcome.reached_end)
    assert found.name == "contact_pulls" and "by up to 25 N" in found.sentence
    assert not pull_doubts(least, Outcome.lifted_off) and not pull_doubts(
        {"liftoff": 1.0}, Outcome.reached_end
    )


@pytest.mark.as_compiled  # what 1e-300 kg come to is decided by the last bits
@pytest.mark.parametrize(
    ("setting", "end"), [("leg.stiffness=1e300", "diverged"), ("wheel_mass=1e-300", "zeno")]
)
def test_a_run_whose_numbers_could_not_go_on_is_doubtful(setting, end):
    run = simulate(load("rimless-wheel", [setting], duration=0.5))
    assert (
        run.outcome.name == end
        and "numerical_end" in run.verdict.word
        and f"ended as {end}" in run.verdict.sentence
    )
    assert run.verdict.status(success=False, accepted=False) == 1  # a failure stays one


def test_a_lane_whose_numbers_could_not_go_on_is_doubtful():
    many = rollout(load("rimless-wheel", duration=0.5), {"leg.stiffness": [15e3, 1e300]})
    assert list(many.outcome.values) == ["reached_end", "diverged"]
    assert many.verdict.values[0] == "sound" and "numerical_end" in many.verdict.values[1]


def test_clamped_feet_tip_at_a_low_speed_and_pull_at_a_high_one():
    """The ground's force stays above zero below 0.184 m/s; the edge of the step tips a free foot
    even at rest.
    """
    many = rollout(load("two-leg-step"), {"gait.speed": [0.05, 0.15, 0.2, 0.5]})
    assert list(many.verdict.values) == ["tips_unless_held"] * 2 + ["contact_pulls"] * 2
    np.testing.assert_array_equal(
        many.least_pressure.values < 0, many.verdict.values == "contact_pulls"
    )


def test_a_verdict_shows_as_its_sentence():
    assert (
        repr(Verdict()) == "sound"
        and repr(Verdict((Doubt("shy", "it hid"),))) == "doubtful: it hid"
    )


# --- where it is told -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def doubtful():
    """One step of the two-leg walker at 0.5 m/s: the ground would have to pull by 25 N."""
    experiment = load("two-leg-single-step", ["gait.speed=0.5 m/s"])
    return simulate(experiment.system, experiment.start, experiment.plan)


def test_the_verdict_is_in_the_files_of_a_run(doubtful, tmp_path):
    write_parquet(doubtful, tmp_path / "run.parquet")
    with (tmp_path / "run.mcap").open("wb") as stream:
        write_mcap(doubtful, stream)
    with (tmp_path / "run.mcap").open("rb") as stream:
        (notes,) = [found.metadata for found in make_reader(stream).iter_metadata()]
    told = [
        pq.read_schema(tmp_path / "run.parquet").metadata[b"verdict"],
        notes["verdict"],
        json.dumps(summarise(doubtful).verdict),
    ]
    for text in told:
        (doubt,) = json.loads(text)["doubts"]
        assert doubt["name"] == "contact_pulls" and "25 N" in doubt["sentence"]


def test_the_verdict_is_in_the_titles_of_pictures(doubtful, tmp_path, monkeypatch):
    texts, write = [], Axes.text
    sound = dataclasses.replace(doubtful, doubts=())
    for style in STYLES.values():  # a paper has no title, and says this all the same
        for run in (doubtful, sound):
            page = plot_page(run, summarise(run), title="step", style=style)
            header = [text.get_text() for axes in page.axes for text in axes.texts]
            assert ("doubtful: contact pulls" in header) is (run is doubtful)
    monkeypatch.setattr(
        Axes,
        "text",
        lambda self, x, y, s, **more: (texts.append(s), write(self, x, y, s, **more))[1],
    )
    write_animation(doubtful, tmp_path / "run.gif", longest=0.2)
    assert "doubtful: contact pulls" in texts


def test_the_verdict_is_in_the_legend_of_two_runs(doubtful):
    sound = dataclasses.replace(doubtful, doubts=())
    labels = [text.get_text() for text in compare(sound, doubtful).legends[0].get_texts()]
    assert "doubtful" not in labels[0] and labels[1].endswith("(doubtful: contact pulls)")


@pytest.mark.parametrize(("sound", "success", "accepted", "status"), [
    (True, True, False, 0), (False, True, False, 3), (False, True, True, 0), (False, False, True, 1), (True, False, False, 1),
])  # fmt: skip
def test_a_doubtful_success_is_status_3_unless_accepted(sound, success, accepted, status):
    one = Verdict() if sound else Verdict((Doubt("shy", "it hid"),))
    assert one.status(success=success, accepted=accepted) == status


def test_many_results_share_one_verdict():
    shy, late = (
        Verdict((Doubt("shy", "it hid"),)),
        Verdict((Doubt("late", "at 3"), Doubt("shy", "again"))),
    )
    assert together([Verdict(), Verdict()], "runs").sound
    assert together([Verdict(), shy, late], "runs").lines == [
        "doubtful: 2 of 3 runs: it hid",
        "doubtful: 1 of 3 runs: at 3",
    ]


def test_an_estimate_at_the_edge_of_the_search_is_doubtful():
    inside = fitting.Estimate("motor.torque_constant", "N m/A", 0.03, 1e-4, 0.034, at_bound=False)
    edge = fitting.Estimate("drivetrain.viscous", "N m s/rad", 0.06, 1e-3, 0.0, at_bound=True)
    assert fitting.Fit((inside,), (), 1.0, (1.0, 9.0), 0.6, 441).verdict.sound
    found = fitting.Fit((inside, edge), (), 1.0, (1.0, 9.0), 0.6, 441).verdict
    assert (
        found.word == "estimate_at_edge" and "drivetrain.viscous = 0.06 N m s/rad" in found.sentence
    )


# --- what is shipped ------------------------------------------------------------------------------

#: Scenarios that are doubtful as they are, and say so in `look_for`.
KNOWN = {"two-leg-step": "tips_unless_held"}


@pytest.mark.slow
def test_shipped_scenarios_are_sound_or_say_what_they_are():
    from footfall.scenario.catalog import shipped_scenarios

    for name in shipped_scenarios():
        experiment = load(name)
        run = simulate(experiment.system, experiment.start, experiment.plan)
        assert run.verdict.word == KNOWN.get(name, "sound"), (name, run.verdict.sentence)
        assert run.outcome.name in experiment.about.success
        assert name not in KNOWN or "doubtful" in experiment.about.look_for
