"""One board of an emulated motor driver: its axes, its limits, and the ASCII protocol.

The answers are those of the firmware's own parser: tests/support/odrive_answers.py has what that
said to the same lines.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

from footfall.machines.control.driver_lines import strip_checksum
from footfall.machines.control.odrive_axis import Axis, AxisError, Command, Mode
from footfall.machines.control.odrive_firmware import BAUD, Firmware, Version
from footfall.machines.control.odrive_properties import Property, axis_properties, error_word
from footfall.machines.control.odrive_text import Kind, answer, scan, single, words
from footfall.machines.control.settings import StackSettings

TRAJECTORY = 5  #: input mode
_READS_0_AS_0D = (0, 5, 4)  # firmware before this one, where a number is unsigned and 32 bits wide
_UNKNOWN, _MALFORMED, _NO_PROPERTY, _NOT_WRITTEN = (
    b"unknown command",
    b"invalid command format",
    b"invalid property",
    b"not implemented",
)
_HELP = (
    b"Please see documentation for more details",
    b"",
    b"Available commands syntax reference:",
    b"Position: q axis pos vel-lim I-lim",
    b"Position: p axis pos vel-ff I-ff",
    b"Velocity: v axis vel I-ff",
    b"Torque: c axis T",
    b"",
    b"Properties start at odrive root, such as axis0.requested_state",
    b"Read: r property",
    b"Write: w property value",
    b"",
    b"Save config: ss",
    b"Erase config: se",
    b"Reboot: sr",
)
_HARDWARE = (3, 6, 56)
_SERIAL = 0x123456789ABC


class Lines:
    """Bytes in pieces of any size to whole lines; CR, LF and `!` each end one.

    A line longer than LONGEST is dropped whole; memory is bounded.
    """

    LONGEST = 255

    def __init__(self) -> None:
        self.overlong = 0  #: lines dropped
        self._partial = bytearray()
        self._dropping = False

    def feed(self, data: bytes) -> list[bytes]:
        whole: list[bytes] = []
        *finished, rest = data.replace(b"\r", b"\n").replace(b"!", b"\n").split(b"\n")
        for piece in finished:
            self._collect(piece)
            if not self._dropping:
                whole.append(bytes(self._partial))
            self._partial.clear()
            self._dropping = False
        self._collect(rest)
        return whole

    def _collect(self, piece: bytes) -> None:
        if self._dropping:
            return
        self._partial += piece[: self.LONGEST + 1]
        if len(self._partial) > self.LONGEST:
            self.overlong += 1
            self._dropping = True
            self._partial.clear()


@dataclasses.dataclass
class BoardConfig:
    """What a board is set to. The defaults are those of a 56 V board as it comes."""

    least_voltage: float = 8.0  #: V
    most_voltage: float = 59.92  #: V
    drawn_current: float = math.inf  #: A
    returned_current: float = -0.01  #: A, negative
    baud: int = 115_200
    uart: bool = True
    test: int = 0  #: for whoever wants to try a line


class Board:
    """One board: `talk` on either of its lines."""

    def __init__(
        self,
        settings: StackSettings,
        axes: Sequence[Axis],
        firmware: Firmware,
        version: Version,
        voltage: Callable[[], float],
    ):
        self.axes, self.firmware, self.version = axes, firmware, version
        # As `footfall stack setup-odrive` sets it.
        self.config = BoardConfig(returned_current=-settings.returned_current, baud=BAUD)
        self.current = 0.0  #: A
        self.uart, self.usb = Lines(), Lines()
        self.wrong_checksums = 0
        self._voltage = voltage
        self._now_us = 0
        self._answers: list[bytes] = []
        self._properties = self._all_properties()
        self._commands: dict[bytes, Callable[[bytes], None]] = {
            b"p": self._take_position,
            b"q": self._take_limited_position,
            b"v": self._take_velocity,
            b"c": self._take_torque,
            b"t": self._take_goal,
            b"f": self._feedback,
            b"h": lambda _: self._answers.extend(_HELP),
            b"i": self._tell_versions,
            b"s": self._control,
            b"r": self._read,
            b"w": self._write,
            b"u": self._feed,
            b"e": self._encoder,
        }

    @property
    def ignored_lines(self) -> int:
        """Lines with a wrong checksum, and lines too long."""
        return self.wrong_checksums + self.uart.overlong + self.usb.overlong

    def talk(self, lines: Lines, data: bytes, now_us: int) -> bytes:
        """What is answered to these bytes.

        A firmware that is not pipelined is still sending its first answer when the others fall due:
        they are left out.
        """
        self._now_us = now_us
        answers = [told for line in lines.feed(data) for told in self._answered(line)]
        return b"".join(answers if self.firmware.pipelined else answers[:1])

    def check_bus(self) -> None:
        """Off, if the bus is outside what the board is set to."""
        voltage, config = self._voltage(), self.config
        error = AxisError(0)
        if voltage < config.least_voltage:
            error = AxisError.UNDER_VOLTAGE
        elif voltage > config.most_voltage:
            error = AxisError.OVER_VOLTAGE
        elif self.current > config.drawn_current:
            error = AxisError.OVER_CURRENT
        elif self.current < config.returned_current:
            error = AxisError.OVER_RETURN
        if error:
            for axis in self.axes:
                axis.fail(error)

    def as_it_comes(self) -> None:
        """Everything as on a board that nobody has set up."""
        for field in dataclasses.fields(BoardConfig):
            setattr(self.config, field.name, field.default)
        for axis in self.axes:
            axis.as_it_comes()

    def _answered(self, line: bytes) -> list[bytes]:
        told = line.partition(b";")[0]
        text = strip_checksum(line)
        if text is None:
            self.wrong_checksums += 1
            return []
        self._answers = []
        self._commands.get(text[:1], lambda _: self._say(_UNKNOWN))(text[1:])
        checked = len(text) < len(told)
        return [answer(said, checked) for said in self._answers]

    def _say(self, text: bytes) -> None:
        self._answers.append(text)

    def _axis(self, number: float) -> Axis | None:
        if number < len(self.axes):
            return self.axes[int(number)]
        self._say(b"invalid motor %d" % number)
        return None

    def _wanted(self, text: bytes, kinds: str, least: int) -> tuple[Axis | None, list[float]]:
        """The axis that a command is for and its numbers, of which some may be left out."""
        number, *amounts = scan(text, kinds) or [-1.0]
        if len(amounts) + 1 < least or number < 0:
            self._say(_MALFORMED)
            return None, []
        return self._axis(number), amounts

    def _take_torque(self, text: bytes) -> None:
        axis, amounts = self._wanted(text, "uf", 2)
        if axis is not None:
            current = axis.amperes(amounts[0])
            axis.take(axis.command._replace(mode=Mode.CURRENT, current=current), self._now_us)

    def _take_velocity(self, text: bytes) -> None:
        axis, amounts = self._wanted(text, "uff", 2)
        if axis is not None:
            velocity, torque = [*amounts, None][:2]
            self._take(axis, Mode.VELOCITY, None, velocity, torque)

    def _take_position(self, text: bytes) -> None:
        axis, amounts = self._wanted(text, "ufff", 2)
        if axis is not None:
            position, velocity, torque = [*amounts, None, None][:3]
            self._take(axis, Mode.POSITION, position, velocity, torque)

    def _take_limited_position(self, text: bytes) -> None:
        axis, amounts = self._wanted(text, "ufff", 2)
        if axis is not None:
            position, speed, torque = [*amounts, None, None][:3]
            if speed is not None:
                axis.set(speed_limit=speed)
            if torque is not None:
                axis.config.torque_limit = torque
            self._take(axis, Mode.POSITION, position)

    def _take_goal(self, text: bytes) -> None:
        axis, amounts = self._wanted(text, "uf", 2)
        if axis is not None:
            axis.config.input_mode = TRAJECTORY
            self._take(axis, Mode.POSITION, amounts[0])

    def _take(
        self,
        axis: Axis,
        mode: Mode,
        position: float | None,
        velocity: float | None = None,
        torque: float | None = None,
    ) -> None:
        """What is left out stays as it was."""
        before = axis.command
        axis.take(
            Command(
                mode,
                before.position if position is None else position,
                before.velocity if velocity is None else velocity,
                before.current if torque is None else axis.amperes(torque),
            ),
            self._now_us,
        )

    def _feed(self, text: bytes) -> None:
        axis, _ = self._wanted(text, "u", 1)
        if axis is not None:
            axis.feed(self._now_us)

    def _feedback(self, text: bytes) -> None:
        axis, _ = self._wanted(text, "u", 1)
        if axis is not None:
            self._say(b"%f %f" % (single(axis.position), single(axis.speed)))

    def _encoder(self, text: bytes) -> None:
        numbers = scan(text[2:], "uu") if text[:2] == b"sl" else []
        if len(numbers) < 2:
            self._say(_MALFORMED)
        elif (axis := self._axis(numbers[0])) is not None:
            count = int(numbers[1])
            axis.set_count(count - 2**32 if count >= 2**31 else count)
            axis.feed(self._now_us)
            self._say(b"encoder set to %d" % count)

    def _tell_versions(self, text: bytes) -> None:
        del text
        self._say(b"Hardware version: %d.%d-%dV" % _HARDWARE)
        self._say(b"Firmware version: %d.%d.%d" % self.version)
        self._say(b"Serial number: %X" % _SERIAL)

    def _control(self, text: bytes) -> None:
        """Saving, erasing and restarting all end in a restart."""
        if text[:1] == b"c":
            for axis in self.axes:
                axis.clear_errors()
        elif text[:1] in (b"s", b"e", b"r") and text[:1]:
            if text[:1] == b"e":
                self.as_it_comes()
            for axis in self.axes:
                axis.restart(self._now_us)

    def _read(self, text: bytes) -> None:
        name = words(text, 1)
        if not name:
            return self._say(_MALFORMED)
        prop = self._properties.get(name[0])
        if prop is None:
            return self._say(_NO_PROPERTY)
        return self._say(prop.text(b"d" if self.version < _READS_0_AS_0D else b""))

    def _write(self, text: bytes) -> None:
        name, *value = words(text, 2) or [None]
        if name is None:
            return self._say(_MALFORMED)
        prop = self._properties.get(name)
        if prop is None:
            return self._say(_NO_PROPERTY)
        written = bool(value) and prop.write(value[0], self._now_us)
        return None if written else self._say(_NOT_WRITTEN)

    def _all_properties(self) -> dict[bytes, Property]:
        config = self.config
        own = {
            b"vbus_voltage": Property(Kind.FLOAT, self._voltage),
            b"ibus": Property(Kind.FLOAT, lambda: self.current),
            b"serial_number": Property(Kind.WIDE, lambda: _SERIAL),
            b"config.dc_bus_undervoltage_trip_level": Property.of(config, "least_voltage"),
            b"config.dc_bus_overvoltage_trip_level": Property.of(config, "most_voltage"),
            b"config.dc_max_positive_current": Property.of(config, "drawn_current"),
            b"config.dc_max_negative_current": Property.of(config, "returned_current"),
            b"test_property": Property.of(config, "test", Kind.UNSIGNED),
            b"config.enable_uart_a": Property.of(config, "uart", Kind.FLAG),
            b"config.uart_a_baudrate": Property.of(config, "baud", Kind.UNSIGNED),
        }
        for name, number in zip(("major", "minor", "revision"), self.version, strict=True):
            own[b"fw_version_" + name.encode()] = _constant(number)
        for name, number in zip(("major", "minor", "variant"), _HARDWARE, strict=True):
            own[b"hw_version_" + name.encode()] = _constant(number)
        if self.firmware.axes > 1:
            own[b"error"] = Property(Kind.UNSIGNED, self._board_word, self._write_board_word)
        for k, axis in enumerate(self.axes):
            own |= {
                b"axis%d.%s" % (k, name): prop
                for name, prop in axis_properties(axis, self.firmware).items()
            }
        return own

    def _board_word(self) -> int:
        word = 0
        for axis in self.axes:
            word |= error_word(axis, "board", self.firmware)
        return word

    def _write_board_word(self, value: float, now_us: int) -> None:
        del now_us
        for axis in self.axes:
            axis.write_error("board", int(value))


def _constant(number: int) -> Property:
    return Property(Kind.BYTE, lambda: number)
