"""The orientation sensor: signatures; the body follows in minutes."""

from __future__ import annotations

from footfall.stack.ports import Port
from footfall.stack.settings import StackSettings


class SensorEmulator:
    """100 Hz frames. `stalled`, `says_nan`: bool attributes, for faults."""

    def __init__(self, settings: StackSettings, noise: float = 0.0, seed: int = 0): ...

    def step(self, now_us: int, pitch: float) -> bytes:
        """What the sensor sends now: a frame if one is due (every high period, on its grid), else nothing. May be called at any rate."""
        raise NotImplementedError


class SerialPitchSensor:
    """Implements PitchSensor. `.rejected`: frames refused."""

    def __init__(self, port: Port, settings: StackSettings): ...
