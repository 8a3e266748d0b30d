"""The whole stack in virtual time: signatures; the body follows in minutes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class PlantStepper(Protocol):
    """A robot in front of the motor driver, moved in whole microseconds. Forward drive positive."""

    @property
    def pitch(self) -> float: ...  # rad

    @property
    def speeds(self) -> tuple[float, ...]: ...  # turns/s of each motor

    @property
    def positions(self) -> tuple[float, ...]: ...  # turns

    def advance(self, currents: Sequence[float], dt_us: int) -> None:
        """Move on with these currents [A] held."""
        ...
