"""Every kind of part by its class name, for robots put together in Python.

>>> import footfall as ff
>>> ff.robots.rimless_wheel(leg=ff.parts.SpringLeg(stiffness=2e4)).leg.stiffness
20000.0
"""

from typing import Any

from footfall.hybrid.fields import nearest
from footfall.scenario.catalog import PARTS

_CLASSES = {cls.__name__: cls for cls in PARTS.values()}


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        return _CLASSES[name]
    raise AttributeError(f"there is no part {name!r}.{nearest(name, _CLASSES)}")


def __dir__() -> list[str]:
    return sorted(_CLASSES)
