"""Why a robot fell: who was late before it, and what lockstep says."""

import pytest

from footfall.realtime.fall import FallWatch, Lateness, falls_in_lockstep, why_it_fell
from footfall.realtime.stack_log import read_stack_log
from support.stack_logs import bench_log

PUNCTUAL = Lateness(0, 0.2, 0, 0.3)
LATE = Lateness(7, 40.0, 0, 0.3)


def said(now, missed, latest_us, **more):
    return {"now": now, "missed": missed, "latest_us": latest_us, **more}


def test_only_the_second_before_the_fall_counts():
    watch = FallWatch()
    # Ten lines, 0.2 s apart: two deadlines missed in each; the first of the last second's is told
    # at 9.2, of those since 9.0.
    for k in range(10):
        now = 8.2 + 0.2 * k
        watch.take("mid", said(now, 2 * k, 1000 * k))
        watch.take("robot", {"now": now, "slipped": 0, "latest_us": 300, "failed_at": None})
    fallen = {"now": 10.1, "slipped": 3, "latest_us": 50_000, "failed_at": 10.05}
    watch.take("robot", fallen)
    watch.take("mid", said(10.2, 1000, 10**6))  # after it: no matter
    assert watch.fell_at == 10.05
    # Lines at 9.2, 9.4, 9.6, 9.8, 10.0, each of two more than the one before.
    assert watch.lateness == Lateness(10, 9.0, 3, 50.0)


def test_a_robot_that_did_not_fall_has_nothing_to_explain():
    watch = FallWatch()
    watch.take("robot", {"now": 1.0, "slipped": 0, "latest_us": 1, "failed_at": None})
    assert watch.fell_at is None


@pytest.mark.parametrize(
    ("lateness", "falls", "garbled", "cause"),
    [
        (PUNCTUAL, True, False, "gait"),
        (LATE, True, False, "gait"),  # it would have fallen anyway
        (LATE, False, False, "lateness"),
        (PUNCTUAL, False, True, "noise"),
        (PUNCTUAL, False, False, "unknown"),
    ],
)
def test_lockstep_decides_and_lateness_explains(lateness, falls, garbled, cause):
    found, why = why_it_fell(lateness, lambda: falls, garbled)
    assert found == cause
    assert ("walks on" in why) != falls
    assert str(lateness) in why


def test_lockstep_falls_where_the_gait_does_and_not_before(tmp_path):
    script = ("0.05 motors-on", "0.1 run", "0.3 setpoint 0.35", "0.5 setpoint -0.1")
    log = read_stack_log(bench_log(tmp_path / "stack.mcap", 1.5, script=script))
    falls = [falls_in_lockstep(log, "rimless-wheel", (), t)() for t in (0.1, 1.0)]
    assert falls == [False, True]
