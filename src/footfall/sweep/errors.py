"""What can go wrong with a sweep that was asked for rightly."""


class SweepError(Exception):
    """A sweep that cannot go on, why, and how to go on with it.

    Shown as it is, without a stack trace.
    """
