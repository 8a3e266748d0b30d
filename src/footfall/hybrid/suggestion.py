"""What to try after a run: each robot knows its own knobs, and what may avoid a bad end."""

from typing import NamedTuple


class Suggestion(NamedTuple):
    """A command to try, and why.

    `footfall VERB SCENARIO OPTIONS   # why`. A `cure` is for a run that ended badly, and keeps what
    else was set.
    """

    options: str
    why: str = ""
    verb: str = "run"
    cure: bool = False


def cure(options: str, why: str = "") -> Suggestion:
    """What to change so that it does not end so again."""
    return Suggestion(options, why, cure=True)
