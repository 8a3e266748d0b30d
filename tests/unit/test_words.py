"""Numbers in sentences."""

import pytest

from footfall.sweep.words import counted


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "1 step"),
        (1.0, "1 step"),
        (0, "0 steps"),
        (2, "2 steps"),
        (13.5, "13.5 steps"),
        (40000, "40 000 steps"),
    ],
)
def test_one_is_singular_and_what_is_not_whole_stays_so(number, words):
    assert counted(number, "step") == words
