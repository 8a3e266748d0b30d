"""A motor driver that is not there.

Two motors behind the ODrive's ASCII protocol, on two lines at once, in front of any plant.

Opens nothing: bytes and times go in, bytes and currents come out. The protocol is that of
control-stack.md, section 6, with the answers of the ODrive's firmware 0.5: `unknown command`,
`invalid command format`, `invalid motor`, `invalid property`, and `not implemented` for a value
that cannot be written. An answer carries a checksum if the question did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from footfall.machines.control.axis_step import loaded
from footfall.machines.control.decimal_text import number
from footfall.machines.control.driver_lines import strip_checksum, with_checksum
from footfall.machines.control.electrics import Battery, Winding
from footfall.machines.control.odrive_axis import Axis, AxisError, Command, Mode
from footfall.machines.control.odrive_properties import Property, axis_properties
from footfall.machines.control.settings import StackSettings
from footfall.numerics.units import TURN

_UNKNOWN, _MALFORMED = b"unknown command", b"invalid command format"


class Lines:
    """Bytes in pieces of any size to whole lines.

    A line longer than LONGEST is dropped whole; memory is bounded.
    """

    LONGEST = 256

    def __init__(self) -> None:
        self.overlong = 0  #: lines dropped
        self._partial = bytearray()
        self._dropping = False

    def feed(self, data: bytes) -> list[bytes]:
        whole: list[bytes] = []
        *finished, rest = data.replace(b"\r", b"\n").split(b"\n")
        for piece in finished:
            self._collect(piece)
            if not self._dropping and self._partial:
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


class _Request(NamedTuple):
    words: list[bytes]
    now_us: int


class OdriveEmulator:
    """Driver and motors as mounted.

    Lines speak in each motor's own sign, `tick` in the robot's: forward drive positive.

    Faults for tests: `speed_offsets`, `usb_silent`, `uart_silent`.
    """

    def __init__(
        self,
        settings: StackSettings,
        windings: Sequence[Winding],
        battery: Battery,
        *,
        calibrated: bool = True,
        calibration_us: int = 2_000_000,
    ):
        """`calibrated`: motors whose calibration was saved in the driver.

        Else closed loop is refused before a calibration.
        """
        if len(windings) != settings.motors:
            raise ValueError(f"{len(windings)} windings came for {settings.motors} motors.")
        self.axes = tuple(
            Axis(settings, winding, calibrated, calibration_us) for winding in windings
        )
        self._by_number = {b"%d" % k: axis for k, axis in enumerate(self.axes)}
        #: Turns/s that the encoders add, forward drive positive.
        self.speed_offsets = [0.0] * settings.motors
        self.usb_silent = self.uart_silent = False  #: nothing is heard, nothing is answered
        self.wrong_checksums = 0
        self.bus_voltage, self.bus_current = float(battery.voltage), 0.0
        self.least_voltage, self.most_voltage = 8.0, 59.92  #: V, the trip levels of a 56 V board
        self._battery = battery
        self._signs = settings.motor_signs
        self._in_torque = settings.command_in_torque
        self._uart, self._usb = Lines(), Lines()
        self._properties = self._all_properties()
        self._answers: dict[bytes, Callable[[_Request], bytes]] = {
            b"c": self._take_current,
            b"v": self._take_velocity,
            b"p": self._take_position,
            b"u": self._feed,
            b"f": self._feedback,
            b"r": self._read,
            b"w": self._write,
            b"sc": self._clear_errors,
        }

    @property
    def ignored_lines(self) -> int:
        """Lines with a wrong checksum, and lines too long."""
        return self.wrong_checksums + self._uart.overlong + self._usb.overlong

    def uart(self, data: bytes, now_us: int) -> bytes:
        """Bytes from the mid level; what is answered."""
        return b"" if self.uart_silent else self._talk(self._uart, data, now_us)

    def usb(self, data: bytes, now_us: int) -> bytes:
        """Bytes from the high level; what is answered."""
        return b"" if self.usb_silent else self._talk(self._usb, data, now_us)

    def tick(
        self, now_us: int, speeds: Sequence[float], positions: Sequence[float]
    ) -> tuple[float, ...]:
        """The currents [A] that flow until the next tick.

        Given the motors' speeds [turns/s] and positions [turns].

        All three are the robot's, forward drive positive: hand the plant's in, hand the result on
        to the plant, without a sign.
        """
        self._check_bus()
        known = tuple(
            zip(self.axes, self._signs, speeds, self.speed_offsets, positions, strict=False)
        )
        for axis, sign, speed, offset, position in known:
            axis.tick(now_us, self.bus_voltage, sign * (speed + offset), sign * position)
        turning = [sign * speed * TURN for _, sign, speed, _, _ in known]
        windings, memories = (
            [axis.numbers.winding for axis in self.axes],
            [axis.memory for axis in self.axes],
        )
        fed, voltage, current = loaded(self._battery, windings, memories, turning)
        for axis, memory in zip(self.axes, fed, strict=True):
            axis.memory = memory
        self.bus_voltage, self.bus_current = float(voltage), float(current)
        return tuple(
            float(sign * axis.memory.current) if axis.memory.current else 0.0
            for axis, sign, *_ in known
        )

    def _check_bus(self) -> None:
        error = AxisError(0)
        if self.bus_voltage < self.least_voltage:
            error = AxisError.UNDER_VOLTAGE
        elif self.bus_voltage > self.most_voltage:
            error = AxisError.OVER_VOLTAGE
        if error:
            for axis in self.axes:
                axis.fail(error)

    # The protocol

    def _talk(self, lines: Lines, data: bytes, now_us: int) -> bytes:
        answers = (self._answer(line, now_us) for line in lines.feed(data))
        return b"".join(answer + b"\n" for answer in answers if answer)

    def _answer(self, line: bytes, now_us: int) -> bytes:
        text = strip_checksum(line)
        if text is None:
            self.wrong_checksums += 1
            return b""
        words = text.split()
        if not words:
            return b""
        answer = self._answers.get(words[0], lambda request: _UNKNOWN)(_Request(words[1:], now_us))
        checked = b"*" in line.partition(b";")[0]
        return with_checksum(answer) if checked and answer else answer

    def _command(self, request: _Request, most: int, command: Callable[..., Command]) -> bytes:
        """Motor number and one to `most` numbers, to that motor."""
        motor, *amounts = request.words or [b""]
        numbers = [number(word) for word in amounts]
        if not 1 <= len(numbers) <= most or None in numbers:
            return _MALFORMED
        axis = self._axis(motor)
        if axis is None:
            return b"invalid motor"
        axis.take(command(axis, *numbers), request.now_us)
        return b""

    def _take_current(self, request: _Request) -> bytes:
        return self._command(
            request,
            1,
            lambda axis, torque: Command(Mode.CURRENT, current=self._amperes(axis, torque)),
        )

    def _take_velocity(self, request: _Request) -> bytes:
        def wish(axis: Axis, velocity: float, torque: float = 0.0) -> Command:
            return Command(Mode.VELOCITY, velocity=velocity, current=self._amperes(axis, torque))

        return self._command(request, 2, wish)

    def _take_position(self, request: _Request) -> bytes:
        def wish(
            axis: Axis, position: float, velocity: float = 0.0, torque: float = 0.0
        ) -> Command:
            return Command(Mode.POSITION, position, velocity, self._amperes(axis, torque))

        return self._command(request, 3, wish)

    def _amperes(self, axis: Axis, amount: float) -> float:
        return amount / axis.numbers.winding.torque_constant if self._in_torque else amount

    def _feed(self, request: _Request) -> bytes:
        axis = self._axis(*request.words) if len(request.words) == 1 else None
        if axis is None:
            return b"invalid motor"
        axis.feed(request.now_us)
        return b""

    def _feedback(self, request: _Request) -> bytes:
        axis = self._axis(*request.words) if len(request.words) == 1 else None
        return b"invalid motor" if axis is None else b"%f %f" % (axis.position, axis.speed)

    def _read(self, request: _Request) -> bytes:
        if len(request.words) != 1:
            return _MALFORMED
        prop = self._properties.get(request.words[0])
        return b"invalid property" if prop is None else prop.text()

    def _write(self, request: _Request) -> bytes:
        if len(request.words) != 2:
            return _MALFORMED
        prop = self._properties.get(request.words[0])
        if prop is None:
            return b"invalid property"
        value = number(request.words[1])
        return (
            b"" if value is not None and prop.write(value, request.now_us) else b"not implemented"
        )

    def _clear_errors(self, request: _Request) -> bytes:
        for axis in self.axes:
            axis.clear_errors()
        return b""

    def _axis(self, word: bytes) -> Axis | None:
        return self._by_number.get(word)

    def _all_properties(self) -> dict[bytes, Property]:
        own = {
            b"vbus_voltage": Property(lambda: self.bus_voltage),
            b"ibus": Property(lambda: self.bus_current),
            b"config.dc_bus_undervoltage_trip_level": Property.of(self, "least_voltage"),
            b"config.dc_bus_overvoltage_trip_level": Property.of(self, "most_voltage"),
        }
        for k, axis in enumerate(self.axes):
            own |= {b"axis%d.%s" % (k, name): prop for name, prop in axis_properties(axis).items()}
        return own
