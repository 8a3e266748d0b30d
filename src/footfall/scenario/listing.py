"""scenarios(): what can be loaded by name."""

from footfall.scenario.catalog import shipped_scenarios
from footfall.scenario.load import read_toml


class Scenarios(dict[str, str]):
    """Names and what they are: a dictionary that prints as a list."""

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:{width}}  {about}" for name, about in self.items())


def scenarios() -> Scenarios:
    """The scenarios that come with footfall, by name, with a sentence about each.

    Returns a dictionary from names (for `ff.load`) to sentences, which prints as a list.

    >>> import footfall as ff
    >>> ff.scenarios()["passive-wheel"]
    'A rigid ten-spoked wheel coasts down a slope of 0.08 rad.'
    """
    return Scenarios(
        {
            name: _first_sentence(read_toml(path).get("about", ""))
            for name, path in shipped_scenarios().items()
        }
    )


def _first_sentence(text: str) -> str:
    first, stop, _ = text.partition(". ")
    return first + stop.strip()
