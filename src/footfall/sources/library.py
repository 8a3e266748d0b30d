"""The source documents by their number or their robot."""

import importlib

from footfall.hybrid.fields import nearest
from footfall.scenario.errors import ScenarioError
from footfall.sources.item import Item, Source

#: Number -> the module with its items.
SOURCES = {
    "000": "water_runner",
    "001": "rimless_wheel",
    "002": "centipede",
    "003": "two_leg",
    "004": "sea_urchin",
}


def source(name: str) -> Source:
    """By number or robot. Raises ScenarioError for an unknown one."""
    module = SOURCES.get(name, name.replace("-", "_"))
    if module not in SOURCES.values():
        known = ", ".join(f"{code} ({robot.replace('_', '-')})" for code, robot in SOURCES.items())
        raise ScenarioError(
            f'"{name}" is not a source. There are {known}.{nearest(name, SOURCES.values())}'
        )
    return importlib.import_module(f"footfall.sources.{module}").SOURCE


def items_of(document: Source, names: list[str]) -> list[Item]:
    """Those that are asked for, all without names. Raises ScenarioError for an unknown one."""
    for name in names:
        if document.item(name) is None:
            known = [item.name for item in document.items]
            raise ScenarioError(
                f'source {document.code} has no "{name}".{nearest(name, known)}'
                f" It has {', '.join(known)}."
            )
    return [item for item in document.items if not names or item.name in names]
