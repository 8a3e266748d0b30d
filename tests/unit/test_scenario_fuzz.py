"""Every text a person can write into a scenario, `--set` or `--vary` gets a run or an error of a
few lines with file and key.
"""

import pytest

from footfall.numerics.shown import LONGEST_LINE, LONGEST_WORD, bounded, clipped, shown
from support.scenario_grammar import MOST_LINES, answer, bad_answers, case

#: Cases with which the first version answered with a stack trace, a message without end, a warning,
#: or not at all.
ONCE_BAD = {
    "a value nested 900 deep, for a kind": (
        "rimless-wheel",
        [],
        "[robot.leg]\nkind = " + "{a=" * 400 + "1" + "}" * 400,
    ),
    "a key of 9000 dotted words": ("rimless-wheel", [], ".".join("a" * 9000) + " = 1"),
    "brackets nested 2000 deep in --set": ("rimless-wheel", ["wheel_mass=" + "[" * 2000], ""),
    "an integer of 5000 digits": ("rimless-wheel", [], "wheel_mass = 1" + "0" * 5000),
    "the same in hexadecimal": ("rimless-wheel", [], "wheel_mass = 0x" + "f" * 6000),
    "60 000 characters": ("rimless-wheel", [], f'wheel_mass = "{"x" * 60_000}"'),
    "a number far from its unit": ("rimless-wheel", [], f'wheel_mass = "1{" " * 60_000}x"'),
    "a list of 3000 mistakes": ("centipede", [], f"missing_legs = [{'nan, ' * 3000}]"),
    "bytes that are no text": ("rimless-wheel", ["leg=\udcff\udcfe"], ""),
    "a kind that is a number": ("rimless-wheel-closed-loop", ["stack.kind=61"], ""),
    "a robot file whose name is none": ("rimless-wheel", [], None),
    "a clock of 1e300 s": ("rimless-wheel-closed-loop", ["stack.resolution=1e300"], ""),
    "an offset beyond any counter": ("rimless-wheel-closed-loop", ["stack.mid_offset=1e200"], ""),
    "steps without number": ("rimless-wheel-closed-loop", ["sim.batch_step=1e-300"], ""),
    "a wheel as large as numbers go": ("passive-wheel", ["robot.leg.length=1.7e308"], ""),
    "a phase that overflows": ("centipede", ["gait.lag=-3.4e299"], ""),
}


@pytest.mark.parametrize(("kind", "settings", "more"), ONCE_BAD.values(), ids=ONCE_BAD)
def test_what_once_got_a_bad_answer_gets_a_good_one(tmp_path, kind, settings, more):
    file = (
        '[robot]\nkind = "x\\u0000.py:Y"\n'
        if more is None
        else f'[robot]\nkind = "{kind}"\n{more}\n'
    )
    assert (
        answer(
            case(0)._replace(file=file.encode(), settings=tuple(settings), vary=(), duration=None),
            tmp_path,
        )
        is None
    )


def test_texts_of_the_grammar_get_a_run_or_a_short_error(tmp_path):
    assert list(bad_answers(range(300), tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("piece", range(20))
def test_a_hundred_thousand_texts_get_a_run_or_a_short_error(tmp_path, piece):
    assert list(bad_answers(range(1000 + 5000 * piece, 1000 + 5000 * (piece + 1)), tmp_path)) == []


@pytest.mark.parametrize(
    "text",
    ["x" * 9999, "a b " * 9999, "\n" * 99, "  Known: " + "word, " * 999, "\x1b[2J\udcff" * 300, ""],
)
def test_a_message_is_a_few_lines_whatever_is_put_into_it(text):
    said = bounded(f"hill.toml: {text}")
    assert said.startswith("hill.toml:")
    assert len(said.split("\n")) <= MOST_LINES and max(map(len, said.split("\n"))) <= LONGEST_LINE
    assert all(c.isprintable() or c == "\n" for c in said)
    assert bounded(said) == said


def test_a_message_that_is_short_stays_as_it_is_and_a_long_one_breaks_between_sentences():
    short = 'hill.toml: [robot.leg] kind = "ark".\n  Known: arc, plate. Did you mean "arc"?'
    assert bounded(short) == short
    broken = bounded(f"hill.toml: {'word ' * 50}end. Try {'another ' * 10}way.").split("\n")
    assert (
        len(broken) == 2 and broken[0].endswith("end.") and broken[1].startswith("    Try another")
    )


def test_a_value_is_shown_short_and_can_be_recognised():
    assert shown("spring") == "'spring'" and shown([1, 2.5]) == "[1, 2.5]"
    assert shown("ab" * 500).startswith("'abab") and len(shown("ab" * 500)) < LONGEST_WORD
    assert shown(10**5000) == "a whole number of about 5001 digits"
    assert clipped("two\nlines") == "two\\nlines"
