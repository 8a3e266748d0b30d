"""What differs from firmware to firmware of the ODrive: an object each.

The driver speaks by it, the checks at start-up and `footfall stack setup-odrive` name the limits by
it, the emulator behaves by it. Which one is asked of the driver itself.

0.5.4 to 0.5.6 were read from the vendor's sources, and their parser was run. 0.6 is not published:
its names come from the vendor's package 0.6.11 and documentation, and are not tried on a device.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from footfall.machines.control.contracts import UnfitDriver
from footfall.machines.control.odrive_errors import (
    AXIS_05,
    AXIS_06,
    BOARD_05,
    CONTROLLER_05,
    ENCODER_05,
    MOTOR_05,
    Bits,
)

#: Major, minor, revision, as `fw_version_*` tells them.
Version = tuple[int, int, int]

#: Questions whose answers tell the version; every firmware since 0.4 has them.
VERSION_QUESTIONS = (b"r fw_version_major", b"r fw_version_minor", b"r fw_version_revision")

BAUD = 460_800  #: of the line from the mid level


class ErrorWord(NamedTuple):
    """Where the driver tells what is wrong."""

    source: str  #: whose it is, in words, with the motor's number put in
    path: str  #: of the property
    bits: Bits
    of_axis: bool = True  #: behind `axisN.`; else the board's own


@dataclasses.dataclass(frozen=True)
class Firmware:
    """What may be said to a range of versions, and what it means to them.

    Paths without `axisN.` before them are those of an axis, unless they are called a board's.
    """

    name: str
    first: Version
    before: Version  #: the first version that is another firmware
    axes: int  #: of a board
    #: Several questions may be under way. If not, an answer that falls due while the one before is
    #: still being sent is silently left out.
    pipelined: bool
    error: str  #: the word that is not 0 whenever the axis is off for a reason
    error_words: tuple[ErrorWord, ...]  #: all there are, the most telling last
    estimates_in_axis: bool  #: `axisN.pos_estimate`; else `axisN.encoder.pos_estimate`
    torque_constant: str
    current_limit: str
    #: Properties that let it flow without a trip: path, whether what they tell is a margin.
    current_rooms: tuple[tuple[str, bool], ...]
    watchdog_bit: int  #: of `error`
    clear: bytes = b"sc"  #: the line that clears all errors
    longest_answer: int = 9  #: characters; the value of a property is cut to so many


FIRMWARE_05 = Firmware(
    name="0.5.4 to 0.5.6",
    first=(0, 5, 4),
    before=(0, 6, 0),
    axes=2,
    pipelined=True,
    error="error",
    error_words=(
        ErrorWord("axis {}", "error", AXIS_05),
        ErrorWord("motor {}", "motor.error", MOTOR_05),
        ErrorWord("encoder {}", "encoder.error", ENCODER_05),
        ErrorWord("controller {}", "controller.error", CONTROLLER_05),
        ErrorWord("board", "error", BOARD_05, of_axis=False),
    ),
    estimates_in_axis=False,
    torque_constant="motor.config.torque_constant",
    current_limit="motor.config.current_lim",
    watchdog_bit=AXIS_05["WATCHDOG_TIMER_EXPIRED"],
    current_rooms=(
        ("motor.config.current_lim_margin", True),
        ("motor.config.requested_current_range", False),
    ),
)

FIRMWARE_06 = Firmware(
    name="0.6",
    first=(0, 6, 0),
    before=(0, 7, 0),
    axes=1,
    pipelined=False,
    error="active_errors",
    error_words=(
        ErrorWord("axis {}", "active_errors", AXIS_06),
        ErrorWord("axis {}, when it switched off", "disarm_reason", AXIS_06),
    ),
    estimates_in_axis=True,
    torque_constant="config.motor.torque_constant",
    current_limit="config.motor.current_soft_max",
    watchdog_bit=AXIS_06["WATCHDOG_TIMER_EXPIRED"],
    current_rooms=(("config.motor.current_hard_max", False),),
)

FIRMWARES = (FIRMWARE_05, FIRMWARE_06)


def firmware_of(version: Version) -> Firmware:
    """The firmware of this version. Raises UnfitDriver for one that these programs cannot drive."""
    for firmware in FIRMWARES:
        if firmware.first <= version < firmware.before:
            return firmware
    told = ".".join(map(str, version))
    if version == (0, 0, 0):
        why = "that is a build of one's own, which does not tell what it is"
    elif version < (0, 5, 1):
        why = "its commands are in amperes and encoder counts, not in newton metres and turns"
    elif version < FIRMWARES[0].first:
        why = "it answers `0d` for 0, so that its states and errors cannot be read"
    else:
        why = "it is newer than these programs"
    known = ", ".join(firmware.name for firmware in FIRMWARES)
    raise UnfitDriver(
        f"It has firmware {told}: {why}. Known are {known}.",
        "`odrivetool dfu`, which brings a board of version 3 to 0.5.6.",
    )


def firmware_of_all(versions: Sequence[Version]) -> Firmware:
    """The one firmware of all boards. Raises UnfitDriver."""
    kinds = [firmware_of(version) for version in versions]
    if len({kind.name for kind in kinds}) > 1:
        raise UnfitDriver(
            f"Its boards have firmware {kinds[0].name} and {kinds[1].name}.",
            "bring both to the same, with `odrivetool dfu`.",
        )
    return kinds[0]
