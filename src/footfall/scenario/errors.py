"""One kind of error for everything a user can write wrong."""

from footfall.numerics.shown import bounded


class ScenarioError(Exception):
    """Bad input: where, what came, what was expected, what to try.

    Shown as it is, without a stack trace.

    However long or odd what came was, the message is a few lines that any terminal can print.
    """

    def __init__(self, message: str):
        super().__init__(bounded(message))
