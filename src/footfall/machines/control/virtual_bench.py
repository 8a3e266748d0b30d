"""The whole stack on a bench of virtual time.

Every program and device as they are, one clock of whole microseconds, lines in memory.

What the supervisor takes for sleep is when the rest of the world moves: mid level, motor driver,
sensor and plant, in their order. A run is exact and repeats to the last bit; faults come at given
microseconds.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from footfall.machines.control.bench_lines import LifeLine, NoisyLine, SwitchedReset, UsbLine
from footfall.machines.control.contracts import MotorDriver, Operator, Record
from footfall.machines.control.driver_lines import by_board
from footfall.machines.control.electrics import Battery, Winding
from footfall.machines.control.microseconds import SECOND
from footfall.machines.control.mid import Sent
from footfall.machines.control.odrive_ascii import OdriveAscii
from footfall.machines.control.odrive_emulator import NEWEST_05, OdriveEmulator
from footfall.machines.control.odrive_firmware import Version
from footfall.machines.control.operator_sources import ScriptedOperator, Timeline
from footfall.machines.control.pitch_sensor import SensorEmulator, SerialPitchSensor
from footfall.machines.control.ports import pipe
from footfall.machines.control.settings import StackSettings
from footfall.machines.control.start_up import Connections, Devices, start_up
from footfall.machines.control.supervisor import Supervisor, run


class PlantStepper(Protocol):
    """A robot in front of the motor driver, moved in whole microseconds. Forward drive positive."""

    @property
    def pitch(self) -> float:
        """rad"""
        ...

    @property
    def speeds(self) -> Sequence[float]:
        """Turns/s of each motor."""
        ...

    @property
    def positions(self) -> Sequence[float]:
        """Turns of each motor."""
        ...

    def advance(self, currents: Sequence[float], dt_us: int) -> None:
        """Move on with these currents [A] held."""
        ...


class MidLevel(Protocol):
    """MidProgram, or its twin in C."""

    def receive(self, data: bytes, now_us: int) -> None: ...

    def step(self, now_us: int) -> Sent: ...

    def reset(self) -> None: ...


class Moment(NamedTuple):
    """What flowed from a tick of the motor driver to the next."""

    now_us: int
    currents: tuple[float, ...]  #: A


class Killed(BaseException):
    """The supervisor's process is no more.

    Not an Exception, as nothing in that process could catch it.
    """


class BenchClock:
    """A Clock whose sleep moves the bench."""

    def __init__(self, bench: VirtualBench):
        self._bench = bench

    def now(self) -> float:
        return self._bench.now_us / SECOND

    def sleep_until(self, t: float) -> None:
        self._bench.advance_to(round(t * SECOND))
        if not self._bench.supervisor_alive:
            raise Killed


class VirtualBench:
    """Settings, a plant and a mid level make a bench; `run` runs it.

    See its methods for what can go wrong on it, and `at` for when.

    Within one microsecond things happen in this order: faults, sensor, supervisor, mid level, motor
    driver and plant. So without `sensor_delay_us` a pitch reaches the mid level in the microsecond
    in which it was measured.
    """

    def __init__(
        self,
        settings: StackSettings,
        plant: PlantStepper,
        mid: MidLevel,
        windings: Sequence[Winding],
        battery: Battery,
        script: Sequence[str] | Timeline,
        *,
        mid_poll_us: int = 250,
        sensor_noise: float = 0.0,
        sensor_delay_us: int = 0,
        sensor_lead_us: int = 0,
        calibrated: bool = True,
        driver_version: Version = NEWEST_05,
        seed: int = 0,
        wrap_driver: Callable[[MotorDriver], MotorDriver] = lambda driver: driver,
    ):
        """`script`: lines as ScriptedOperator takes them, or an operator ready made.

        Its time zero where `run` is first called. `mid_poll_us`: how often the mid level's loop
        comes round. `sensor_delay_us`: from measuring a pitch to its arrival; `sensor_lead_us`: how
        long before each cycle of the supervisor it is measured. `wrap_driver`: to put something
        between supervisor and motor driver.
        """
        if mid_poll_us % settings.low_period_us:
            raise ValueError(
                f"mid_poll_us = {mid_poll_us}: a multiple of the low period,"
                f" {settings.low_period_us} us, is expected."
            )
        self.settings, self.plant, self.mid = settings, plant, mid
        self.now_us = 0
        self.clock = BenchClock(self)
        self.odrive = OdriveEmulator(
            settings, windings, battery, version=driver_version, calibrated=calibrated
        )
        self.sensor = SensorEmulator(settings, sensor_noise, seed)
        self.down_noise, self.up_noise = NoisyLine(seed + 1), NoisyLine(seed + 2)
        self.supervisor: Supervisor | None = None
        self.supervisor_alive = True
        self.disk_blocked = False
        self.records: list[Record] = []  #: that reached the disk
        self.flow: list[Moment] = []  #: every tick of the motor driver
        self.ended = ""  #: why the main loop ended
        self._script = (
            script if isinstance(script, Timeline) else ScriptedOperator(script, settings)
        )
        self._mid_poll_us, self._sensor_delay_us, self._sensor_lead_us = (
            mid_poll_us,
            sensor_delay_us,
            sensor_lead_us,
        )
        self._mid_silent = self._mid_held = False
        self._arriving: list[tuple[int, bytes]] = []  # from the sensor, not there yet
        self._plans: list[tuple[int, int, Callable[[], object]]] = []
        self._tick_us = settings.low_period_us
        # The newest tick whose first half (faults, sensor), and whose second half (all the rest),
        # has happened.
        self._begun_us = self._done_us = -self._tick_us
        self._mid_end, high_mid = pipe()
        self._sensor_end, high_sensor = pipe()
        usb = [
            LifeLine(UsbLine(self.odrive, lambda: self.now_us, board), self._alive)
            for board in range(settings.boards)
        ]
        self.reset_line = SwitchedReset(self.hold_mid)
        self._devices: Devices | None = None
        self._connections = Connections(
            mid=lambda: LifeLine(high_mid, self._alive),
            sensor=lambda: SerialPitchSensor(LifeLine(high_sensor, self._alive), settings),
            driver=lambda: wrap_driver(OdriveAscii.connect(usb, settings, self.clock)),
        )

    # Running

    def start_up(self) -> None:
        """The start-up checks, which take their time.

        Raises StartUpError. Without this call `run` begins with unchecked devices.
        """
        self._devices = start_up(self.settings, self.reset_line, self._connections, self.clock)

    def run(self, until: float) -> None:
        """The main loop until the bench's clock reads `until` [s].

        Should it end before that, the rest of the bench goes on. Once.
        """
        if self.supervisor is not None:
            raise RuntimeError(
                "This bench has been run: its supervisor is shut down. Make another."
            )
        connect = self._connections
        devices = self._devices or Devices(connect.driver(), connect.sensor(), connect.mid())
        period = self.settings.high_period_us
        self.advance_to(-(-self.now_us // period) * period)  # in step with the sensor
        operator: Callable[[], Operator] = self._script.following(self.clock)
        self.supervisor = Supervisor(
            self.settings,
            devices.driver,
            devices.sensor,
            devices.mid_port,
            operator,
            self._take,
            self.clock,
        )
        try:
            self.ended = run(self.supervisor, self.clock, until)
        except Killed:
            self.ended = "killed"
        self.advance_to(round(until * SECOND))

    def advance_to(self, t_us: int) -> None:
        """Move everything but the supervisor.

        What happens at t_us itself stops before the mid level: it is the supervisor's turn.
        """
        while True:
            if self._done_us < self._begun_us < t_us:
                self.now_us = self._done_us = self._begun_us
                self._second_half(self.now_us)
            elif self._done_us == self._begun_us and self._begun_us + self._tick_us <= t_us:
                self.now_us = self._begun_us = self._begun_us + self._tick_us
                self._first_half(self.now_us)
            else:
                break
        self.now_us = max(t_us, self.now_us)

    # What can go wrong

    def at(self, t: float, action: Callable[[], object]) -> None:
        """Do this at a time [s] of the bench's clock, at the first tick not before it."""
        heapq.heappush(self._plans, (round(t * SECOND), len(self._plans), action))

    def kill_supervisor(self) -> None:
        """As SIGKILL: nothing it does afterwards reaches a line."""
        self.supervisor_alive = False

    def silence_mid(self) -> None:
        """It neither hears nor speaks."""
        self._mid_silent = True

    def reset_mid(self) -> None:
        """A short press of its reset button."""
        self.reset_line.drive(False)
        self.reset_line.drive(True)

    def hold_mid(self, held: bool) -> None:
        """Keep it in reset, or let it go: it then starts anew."""
        self._mid_held = held
        self.mid.reset()

    def over_speed(self, motor: int, excess: float) -> None:
        """The encoder of a motor adds this many turns/s."""
        self.odrive.speed_offsets[motor] = excess

    def silence_usb(self) -> None:
        """The motor driver no longer answers the supervisor."""
        self.odrive.usb_silent = True

    def stall_sensor(self) -> None:
        self.sensor.stalled = True

    def confuse_sensor(self) -> None:
        """It says nan."""
        self.sensor.says_nan = True

    def block_disk(self, blocked: bool = True) -> None:
        """The log takes no record."""
        self.disk_blocked = blocked

    def corrupt_lines(self, rate: float) -> None:
        """Alter bytes between supervisor and mid level, both ways."""
        self.down_noise.rate = self.up_noise.rate = rate

    # The parts of a tick

    def _first_half(self, now_us: int) -> None:
        while self._plans and self._plans[0][0] <= now_us:
            heapq.heappop(self._plans)[2]()
        frame = self.sensor.step(now_us + self._sensor_lead_us, self.plant.pitch)
        if frame:
            self._arriving.append((now_us + self._sensor_delay_us, frame))
        while self._arriving and self._arriving[0][0] <= now_us:
            self._sensor_end.write(self._arriving.pop(0)[1])

    def _second_half(self, now_us: int) -> None:
        if now_us % self._mid_poll_us == 0:
            # Also by nobody, while the mid level does not run.
            heard = self.down_noise(self._mid_end.read())
            if not (self._mid_silent or self._mid_held):
                self.mid.receive(heard, now_us)
                sent = self.mid.step(now_us)
                self._mid_end.write(self.up_noise(sent.to_high))
                for board, lines in enumerate(by_board(self.settings, sent.to_driver)):
                    self.odrive.uart(lines, now_us, board)
        currents = self.odrive.tick(now_us, self.plant.speeds, self.plant.positions)
        self.flow.append(Moment(now_us, currents))
        self.plant.advance(currents, self._tick_us)

    def _alive(self) -> bool:
        return self.supervisor_alive

    def _take(self, record: Record) -> bool:
        if not self.disk_blocked:
            self.records.append(record)
        return not self.disk_blocked
