"""Which orientation sensor is at the end of a line: PORT, KIND:PORT or KIND:ANGLE:PORT."""

from __future__ import annotations

from footfall.machines.control.bno_sensors import ANGLES, BAUD, KINDS, Mounting
from footfall.machines.control.pitch_sensor import SerialPitchSensor
from footfall.machines.control.settings import StackSettings
from footfall.realtime.serial_port import open_port


def split_line(where: str) -> tuple[str | None, Mounting, str]:
    """Kind (None: our own frames), mounting and port.

    >>> split_line("bno085-rvc:-roll:/dev/ttyUSB0")
    ('bno085-rvc', Mounting(angle='roll', sign=-1.0), '/dev/ttyUSB0')
    >>> split_line("/dev/ttyUSB0")[0] is None
    True
    """
    kind, colon, rest = where.partition(":")
    if not colon or kind not in KINDS:
        return None, Mounting(), where
    angle, colon, port = rest.partition(":")
    if colon and angle.removeprefix("-") in ANGLES:
        return kind, Mounting.of(angle), port
    return kind, Mounting(), rest


def open_sensor(where: str, settings: StackSettings):
    """The PitchSensor at the end of this line."""
    kind, mounting, port = split_line(where)
    if kind is None:
        return SerialPitchSensor(open_port(port), settings)
    return KINDS[kind](open_port(port, BAUD), mounting)
