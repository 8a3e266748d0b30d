"""What the library says: of what was typed, in the words it was typed in."""

import dataclasses

import numpy as np
import pytest

import footfall as ff
from footfall.numerics.units import to_si
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import with_settings
from support.toys import Ball, Height


def test_an_error_about_a_dictionary_does_not_speak_of_the_command_line():
    for make in (
        lambda s: ff.load("passive-wheel", s),
        lambda s: with_settings(ff.load("passive-wheel"), s),
    ):
        with pytest.raises(ScenarioError) as of_dictionary:
            make({"masss": 3})
        with pytest.raises(ScenarioError) as of_text:
            make(["masss=3"])
        assert str(of_dictionary.value).startswith("masss=3") and str(of_text.value).startswith(
            "--set masss=3"
        )


def test_a_metric_that_is_none_is_told_which_there_are():
    run = ff.simulate(ff.load("passive-wheel", duration=1))
    with pytest.raises(KeyError, match='no metric "speed"; there are: mean_speed, '):
        run.metrics["speed"]
    assert run.metrics.get("speed") is None and "speed" not in run.metrics


@pytest.mark.parametrize(
    ("count", "words"),
    [(1000, 'fewer than 1000 "touchdown" events within 1 s'), (1, 'no "touchdown" event')],
)
def test_too_few_events_are_told_in_words(count, words):
    wheel = ff.load("passive-wheel")
    with pytest.raises(ScenarioError, match=words):
        ff.gradient(
            lambda end: end.t,
            wheel,
            wrt=["terrain.angle"],
            event="touchdown",
            count=count,
            duration=1 if count > 1 else 0.1,
        )


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2 minutes", 120.0), ("30 seconds", 30.0), ("1 hour", 3600.0), ("0.5 hours", 1800.0)],
)
def test_times_may_be_written_out(text, seconds):
    assert to_si(text, "s") == seconds


def test_one_guard_is_not_called_guards_by_number():
    found = str(ff.check_system(Ball(), Ball.begin(Height(x=0.5, v=-1.0))))
    assert "1 guards" not in found and "guards: 1; events: bounce" in found


def test_a_way_that_is_only_rounding_is_none():
    run = ff.simulate(ff.load("passive-wheel", duration=1))
    way = run.travel.distance
    for scale, still in ((1e-16, True), (1e-3, False)):
        shrunk = {**run.columns, way: scale * np.asarray(run[way])}
        events = tuple(e for e in run.events if not hasattr(e, "distance"))
        speed = ff.summarise(dataclasses.replace(run, columns=shrunk, events=events)).metrics[
            "mean_speed"
        ]
        assert (speed == 0.0) is still
