"""The folder of a study: what may be there, what goes on, what is refused. A study without robots."""

import json
from pathlib import Path

import pytest

from footfall.hybrid.doubt import Doubt
from footfall.hybrid.fields import ParameterError, Parametric, numbers, param
from footfall.hybrid.study import AbstractStudy, Answer, request_of
from footfall.sweep.errors import SweepError
from footfall.sweep.study import StudyFolder, carry_out, results_of, verdict_of


class Subject:
    name, title, document, own_files = "toy", "Toy", {"sim": {"duration": 1.0}}, {}

    def to_toml(self):
        return ""


class Squares(AbstractStudy):
    """The squares of some numbers; one above ten is doubtful."""

    name, place, doing, file = "squares", "squares", "squaring", "squares"

    class Request(Parametric):
        of: tuple[float, ...] = numbers((1.0, 2.0, 3.0), unit="m", gt=0, doc="length")
        power: int = param(2, ge=1, doc="power", static=True)

    at_once = 2

    @property
    def cases(self):
        return [{"x": x} for x in self.request.of]

    def answers(self, places, before, progress):
        found = []
        for place in places:
            x = self.cases[place]["x"]
            doubts = (Doubt("large", "too large"),) if x > 10 else ()
            found.append(Answer({"x": x, "y": x**self.request.power, "verdict": ""}, doubts))
            progress(len(found) / len(places))
        return found

    def summary(self, found):
        return {"sum": sum(answer.row["y"] for answer in found.values())}

    def page(self, found, took):
        return ["squares"]


def study(**given):
    return Squares(request_of(Squares.Request, given), Subject())


def ask(path: Path, asked, *, cases=None, force=False):
    """Answer all, or stop once so many cases are kept; returns what is kept."""
    with StudyFolder(path, asked, force=force) as folder:
        found = folder.read()
        there = len(found)

        def keep(new):
            folder.keep(new)
            if cases is not None and there + len(new) >= cases:
                raise KeyboardInterrupt

        try:
            carry_out(asked, found, keep=keep)
        except KeyboardInterrupt:
            return found
        folder.finish(found, results_of(asked, found))
        return found


def test_a_cut_study_goes_on_only_for_the_same_question(tmp_path):
    ask(tmp_path / "a", study(), cases=2)
    with pytest.raises(SweepError, match=r"request.power: 2 there, 3 asked for.*--force"):
        ask(tmp_path / "a", study(power=3))
    assert len(ask(tmp_path / "a", study())) == 3
    with pytest.raises(SweepError, match="exists already"):
        ask(tmp_path / "a", study())
    assert len(ask(tmp_path / "a", study(power=3), force=True)) == 3
    assert json.loads((tmp_path / "a" / "results.json").read_text())["sum"] == 1 + 8 + 27


def test_an_empty_folder_is_a_place_for_a_study(tmp_path):
    (tmp_path / "made").mkdir()
    assert len(ask(tmp_path / "made", study())) == 3


def test_progress_counts_cases_also_within_those_that_are_answered_together():
    """Two at once: none, one, two; then the third."""
    told = []
    carry_out(study(), {}, progress=told.append)
    assert told == [0.0, 1.0, 2.0, 2.0, 3.0]


def test_nothing_but_a_study_is_overwritten_even_when_asked(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    for force in (False, True):
        with pytest.raises(SweepError, match="is no folder of a study"):
            ask(tmp_path / "mine", study(), force=force)
    (tmp_path / "file").write_text("")
    with pytest.raises(SweepError, match="is a file"):
        ask(tmp_path / "file", study())
    assert (tmp_path / "mine" / "thesis.tex").exists()


def test_two_processes_do_not_work_on_one_study(tmp_path):
    ask(tmp_path / "a", study(), cases=2)
    with (
        StudyFolder(tmp_path / "a", study()),
        pytest.raises(SweepError, match="another process is working"),
    ):
        StudyFolder(tmp_path / "a", study())


def test_the_verdict_of_a_study_counts_the_doubtful_cases():
    asked = study(of="1,20,30")
    verdict = verdict_of(asked, carry_out(asked, {}))
    assert [d.sentence for d in verdict.doubts] == ["2 of 3 runs: too large"]
    assert verdict.status(success=True, accepted=False) == 3


def test_a_study_that_has_no_doubts_of_its_own_answers_is_sound():
    """What it says of itself as a whole goes before what its cases say."""

    class Certain(Squares):
        def doubts(self):
            return ()

    asked = Certain(request_of(Squares.Request, {"of": "1,20,30"}), Subject())
    assert not verdict_of(asked, carry_out(asked, {})).doubts


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"of": "1 m, 20 cm,-3"}, "--of: -3 is no length; values are above zero, in m."),
        ({"of": " , "}, "--of: none is no length"),
        ({"of": "1 kg"}, '--of 1 kg: "1 kg" is in kg, but this needs m'),
        ({"power": 0}, "--power 0: at least one. It is the power."),
    ],
)
def test_a_request_says_which_option_is_wrong_and_what_would_be_right(given, words):
    with pytest.raises(ParameterError) as error:
        study(**given)
    assert words in str(error.value)
    assert study(of="1 m, 20 cm").request.of == (1.0, 0.2)
