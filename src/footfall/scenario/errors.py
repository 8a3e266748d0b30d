"""One kind of error for everything a user can write wrong."""


class ScenarioError(Exception):
    """Bad input: where, what came, what was expected, what to try. Shown as it is, without a stack trace."""
