"""Which number of a game pad does what, by what the pad says of itself.

The Linux joystick interface numbers buttons and axes in the order in which a driver has them, so
that button 1 is circle on one pad and square on another. It also tells which code of the kernel
each number has; pads that follow the kernel's gamepad rules (Documentation/input/gamepad.rst:
DualShock, Xbox and most others) are known by these codes, whatever their numbers.
"""

from __future__ import annotations

from typing import NamedTuple

from footfall.machines.control.operator_sources import DUALSHOCK3_BEFORE_4_12, Layout

# Codes of linux/input-event-codes.h.
BTN_SOUTH, BTN_EAST, BTN_C, BTN_NORTH = 0x130, 0x131, 0x132, 0x133
BTN_SELECT, BTN_START, BTN_MODE = 0x13A, 0x13B, 0x13C
BTN_DPAD_UP, BTN_DPAD_DOWN = 0x220, 0x221
BTN_TRIGGER = 0x120  # the first button of a joystick that is no gamepad
ABS_RX, ABS_HAT0Y = 0x03, 0x11

#: Action, the button that does it, and whether there is no operating without it.
_BUTTONS = (
    ("motors_on", BTN_SOUTH, "cross, or A", True),
    ("motors_off", BTN_EAST, "circle, or B", True),
    ("start", BTN_START, "start", True),
    ("calibrate", BTN_NORTH, "triangle, or X or Y", False),
    ("stop", BTN_MODE, "PS, or the guide button", False),
    ("up", BTN_DPAD_UP, "up", False),
    ("down", BTN_DPAD_DOWN, "down", False),
)


class Pad(NamedTuple):
    """A pad as its driver describes it: the code of each axis and of each button, in order."""

    name: str
    axes: tuple[int, ...]
    buttons: tuple[int, ...]


class UnknownPad(ValueError):
    """A pad whose controls are not known, with what it has."""


def layout_of(pad: Pad) -> Layout:
    """What its numbers do.

    >>> pad = Pad("some pad", (0, 1, 3), (BTN_EAST, BTN_SOUTH, BTN_START))
    >>> layout_of(pad).buttons, layout_of(pad).steer_axis
    ({1: 'motors_on', 0: 'motors_off', 2: 'start'}, 2)
    """
    if "PLAYSTATION(R)3" in pad.name and pad.buttons[:1] == (BTN_TRIGGER,):
        return DUALSHOCK3_BEFORE_4_12  # a kernel that did not tell what its buttons are
    missing = [f"{words} ({code:#x})" for _, code, words, needed in _BUTTONS
               if needed and code not in pad.buttons]  # fmt: skip
    if BTN_C in pad.buttons:
        raise UnknownPad(
            f"{pad.name or 'the joystick'} has a third button of its first row ({BTN_C:#x}), as no"
            " pad by the kernel's gamepad rules has: its driver counts buttons without knowing"
            " them, so that cross may be circle, and a trigger the stick. Load the pad's own driver"
            " (hid_playstation, hid_sony, xpad; `lsmod` tells), or operate by --script."
        )
    if ABS_RX not in pad.axes:
        missing.append(f"a right stick ({ABS_RX:#x})")
    if missing:
        raise UnknownPad(
            f"{pad.name or 'the joystick'} is not a pad whose buttons are known: it has no"
            f" {', no '.join(missing)}. Its buttons are {_codes(pad.buttons)}, its axes"
            f" {_codes(pad.axes)}. Take a pad that follows the kernel's gamepad rules (DualShock,"
            " Xbox), or operate by --script."
        )
    buttons = {
        pad.buttons.index(code): action
        for action, code, _, _ in _BUTTONS
        if code in pad.buttons
    }  # fmt: skip
    hat = pad.axes.index(ABS_HAT0Y) if ABS_HAT0Y in pad.axes else None
    return Layout(buttons, pad.axes.index(ABS_RX), None if BTN_DPAD_UP in pad.buttons else hat)


def _codes(codes: tuple[int, ...]) -> str:
    return " ".join(f"{code:#x}" for code in codes) or "none"
