"""What a robot says its outputs may be is asked of runs and of lanes alike, over the same part of
the motion.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from footfall import SimPlan, simulate
from footfall.engines.analysis.check_system import examine_system
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.plan import FixedSteps
from footfall.hybrid.bound import Bound
from footfall.hybrid.fields import param
from footfall.hybrid.system import Event, Jump, Rates
from support.cuda import run_cuda
from support.toys import AbstractToy, Count, NoPower, NoWork, Scalar1

#: What there is to see of a run of 3.5 s: 9 before the first count at 1 s, the time up to the last
#: at 3 s, then 20.
SEEN = {
    ("peak", "n"): 3.0,
    ("least", "n"): 1.0,
    ("mean", "n"): (4.0 + 0.5 * 20.0) / 2.5,
    ("peak", None): 20.0,
    ("least", None): 1.0,
    ("mean", None): (9.0 + 4.0 + 0.5 * 20.0) / 3.5,
}
WORDS = {f"{statistic}_{counter}": value for (statistic, counter), value in SEEN.items()}
#: Events lie within h/1000 of their time, h = 0.01 s, where the value changes by 1 per second; a
#: mean takes up to 17 times that over 2.5 s.
LOCATED = 2e-4
NO = 1e9


class Counting(AbstractToy):
    """x is the time, and it counts the seconds."""

    low: float = param(-NO, doc="how far below what there is to see the bounds are")
    high: float = param(NO, doc="how far above")

    @property
    def events(self):
        return (Event("second", "a second is over"),)

    def flow(self, t, x, m):
        return Rates(Scalar1(x=1.0 + 0.0 * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (jnp.asarray(m.n + 1, jnp.result_type(x.x)) - x.x,)

    def jump(self, t, x, m, k):
        return Jump(x, Count(n=m.n + 1), NoWork(none=0.0 * x.x))

    def outputs(self, t, x, m):
        value = jnp.where(m.n < 1, 9.0, jnp.where(m.n < 3, x.x, 20.0))
        return eqx.tree_at(lambda o: o.value.x, super().outputs(t, x, m), value)

    def bounds(self):
        return tuple(
            Bound(
                f"{statistic}_{counter}",
                "value.x",
                statistic,
                lambda found, t: f"{found:.3f} at {t:.3f} s",
                low=value + self.low,
                high=value + self.high,
                counter=counter,
            )
            for (statistic, counter), value in SEEN.items()
        )


START = Counting.begin(Scalar1(x=0.0))


@pytest.mark.parametrize("path", ["xla", "cpp", "cpp, in pieces", "cuda"])
def test_a_lane_is_doubted_beyond_its_own_bounds(path, monkeypatch):
    low, high = np.array(
        [(-NO, NO), (-NO, LOCATED), (-NO, -LOCATED), (-LOCATED, NO), (LOCATED, NO)]
    ).T
    robots = Counting(low=low, high=high)
    pieces = {"sample": ("value.x",), "sample_every": 7} if "pieces" in path else {}
    plan = BatchPlan(3.5, step=0.01, path="xla" if path == "cuda" else path[:3], **pieces)
    found = (
        run_cuda(robots, START, plan, monkeypatch)
        if path == "cuda"
        else run_batch(robots, START, plan)
    )
    assert found.path.lower().replace("+", "p").startswith(path[:3])
    for word in WORDS:
        assert found.doubts[word].tolist() == [False, False, True, False, True], word


# The step engine keeps no rows beside its events: there the value is up to 10 ms, 0.01, from what
# is between, and a mean by half a row of 17.
@pytest.mark.parametrize(("fixed", "off"), [(None, 1e-6), (FixedSteps(0.01), 0.06)])
def test_a_run_is_doubted_beyond_the_same_bounds(fixed, off):
    plan = SimPlan(duration=3.5, sample_rate=100.0, fixed=fixed)
    sound, above, below = (
        simulate(Counting(low=low, high=high), START, plan)
        for low, high in ((-off, off), (-NO, -off), (off, NO))
    )
    assert sound.verdict.sound
    for run in (above, below):
        assert [doubt.name for doubt in run.verdict.doubts] == list(WORDS)
    if fixed is None:
        assert (
            above.verdict.doubts[0].sentence == "3.000 at 3.000 s"
            and above.verdict.doubts[3].sentence == "20.000 at 3.000 s"
        )


def test_without_a_whole_step_only_what_needs_none_is_said():
    robot, one = Counting(low=np.array([NO, -NO])), Counting(low=NO)
    for duration, kinds in ((0.9, ("None",)), (1.5, ("None", "mean_n"))):
        said = [word for word in WORDS if word.endswith(kinds)]
        doubts = run_batch(robot, START, BatchPlan(duration, step=0.01, path="xla")).doubts
        assert [word for word in WORDS if doubts[word][0]] == said and not any(
            doubts[word][1] for word in WORDS
        )
        assert [
            doubt.name for doubt in simulate(one, START, SimPlan(duration=duration)).verdict.doubts
        ] == said


def test_of_two_bounds_with_one_word_the_one_missed_by_more_is_told():
    class Two(Counting):
        def bounds(self):
            one = super().bounds()[0]
            return (
                one._replace(high=2.9),
                one._replace(high=1.0, sentence=lambda value, t: "more"),
                one._replace(high=2.0),
            )

    assert simulate(Two(), START, SimPlan(duration=3.5)).verdict.sentence == "doubtful: more"


def test_the_check_knows_bounds_of_signals_that_do_not_exist():
    class Lost(Counting):
        def bounds(self):
            return tuple(
                bound._replace(output="value.y", counter="steps") for bound in super().bounds()
            )

    assert examine_system(Counting(), START).ok
    failed = [check for check in examine_system(Lost(), START).checks if not check.ok]
    assert [check.claim for check in failed] == ["bounds are of signals that exist"]
    assert "value.y, steps" in failed[0].detail
