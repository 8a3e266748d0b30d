"""The emulated robot.

Plant, motor driver and pitch sensor in one process, each device behind a line of its own.

One process, because the driver's current loop meets the plant 4000 times a second, closer than a
general-purpose system couples two. The plant's time follows the machine's: every turn does the
ticks that have come due.

    python -m footfall.realtime.robot_process --scenario rimless-wheel --folder RUN
"""

from __future__ import annotations

import argparse
import dataclasses
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from footfall.hybrid.outcome import Outcome
from footfall.machines.control.electrics import Battery, Winding
from footfall.machines.control.odrive_emulator import OdriveEmulator
from footfall.machines.control.pitch_sensor import SensorEmulator
from footfall.machines.control.settings import StackSettings
from footfall.machines.control.virtual_bench import PlantStepper
from footfall.realtime.faults import FaultSwitches
from footfall.realtime.names import RunFolder
from footfall.realtime.parent_watch import begin, die_with
from footfall.realtime.real_clock import keep_time, now_us
from footfall.realtime.serial_port import open_device
from footfall.realtime.status_line import EVERY, prepare_to_say, say


class Plant(PlantStepper, Protocol):
    """A robot that may also fail."""

    @property
    def outcome(self) -> Outcome: ...


#: A plant by its scenario's name and the settings changed in it, and what is built around it.
PlantFactory = Callable[
    [str, Sequence[str]], tuple[Plant, StackSettings, Sequence[Winding], Battery]
]

TURN_US = 1000  #: the longest sleep; bytes from the mid or the high level end it sooner
#: Ticks further behind than this are left out and counted: after a pause of the machine the robot
#: stood still, it does not rush.
MOST_BEHIND_US = 50_000
# of real-time scheduling where it is permitted: a robot does not wait either, but the programs come
# first
PRIORITY = 10
FLOWING = 0.01  #: A; less is no current


@dataclasses.dataclass
class Tally:
    """What the robot process says of itself."""

    ticks: int = 0
    slipped: int = 0  #: ticks left out
    latest_us: int = 0  #: how late the latest tick was
    commands: int = 0  #: lines from the mid level
    flowed: float | None = None  #: when current last flowed, on the machine's clock [s]
    currents: tuple[float, ...] = ()
    failure: str = ""  #: what became of the robot while its motors drove it; "" as long as it walks
    failed_at: float | None = None  #: when, on the machine's clock [s]


class Robot:
    """Plant and devices, moved by the machine's clock."""

    def __init__(
        self,
        uarts: Sequence[str],
        usbs: Sequence[str],
        imu: str,
        faults: Path,
        plant: Plant,
        driver: OdriveEmulator,
        sensor: SensorEmulator,
        period_us: int,
    ):
        """`uarts`, `usbs`: a line of each board to the mid and to the high level."""
        self._plant, self._driver, self._sensor, self._period_us = plant, driver, sensor, period_us
        self._uarts, self._usbs = list(map(open_device, uarts)), list(map(open_device, usbs))
        self._imu = open_device(imu)
        self._faults = FaultSwitches(faults, driver, sensor)
        self._next_us = now_us()
        self.tally = Tally()

    def turn(self) -> None:
        """What has come in, the ticks that are due, what goes out.

        Then sleep until something happens or a turn has passed.
        """
        now = now_us()
        self._listen(now)
        self._catch_up(now)
        if frame := self._sensor.step(now, self._plant.pitch):
            self._imu.write(frame)
        sleep_us = self._next_us + TURN_US - self._period_us - now_us()
        heard = [*self._uarts, *self._usbs, self._faults]
        select.select(heard, [], [], max(sleep_us, 0) * 1e-6)

    def close(self) -> None:
        for device in (*self._uarts, *self._usbs, self._imu, self._faults):
            device.close()

    def _listen(self, now: int) -> None:
        for board, (uart, usb) in enumerate(zip(self._uarts, self._usbs, strict=True)):
            if said := uart.read():
                self.tally.commands += said.count(b"\n")
                if answer := self._driver.uart(said, now, board):
                    uart.write(answer)
            if (asked := usb.read()) and (answer := self._driver.usb(asked, now, board)):
                usb.write(answer)
        for line in self._faults.obey():
            print(
                f"no such fault: {line[:80]!r}; the module footfall.realtime.faults lists them",
                file=sys.stderr,
            )

    def _catch_up(self, now: int) -> None:
        tally, plant, period = self.tally, self._plant, self._period_us
        behind = now - self._next_us
        tally.latest_us = max(tally.latest_us, behind)
        if behind > MOST_BEHIND_US:
            slipped = behind // period
            tally.slipped += slipped
            self._next_us += slipped * period
        while self._next_us <= now:
            tally.currents = self._driver.tick(self._next_us, plant.speeds, plant.positions)
            plant.advance(tally.currents, period)
            self._next_us += period
            tally.ticks += 1
        if any(abs(current) > FLOWING for current in tally.currents):
            tally.flowed = now * 1e-6
            if plant.outcome is not Outcome.running and not tally.failure:
                tally.failure, tally.failed_at = plant.outcome.meaning, now * 1e-6


def main(plant_factory: PlantFactory, arguments: Sequence[str] | None = None) -> None:
    """The program, for this make of plant."""
    asked = _arguments(arguments)
    # Nothing needs putting in order yet, and an exception raised out of a compiler's callback may
    # be lost: a signal just ends it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if asked.parent:
        die_with(asked.parent)
    plant, settings, windings, battery = plant_factory(asked.scenario, asked.set)
    begin(asked.parent)
    prepare_to_say()
    driver = OdriveEmulator(settings, windings, battery)
    sensor = SensorEmulator(settings, asked.sensor_noise, asked.seed)
    folder = RunFolder(Path(asked.folder))
    # Takes a moment where JAX is loaded: before the robot's time begins.
    granted = keep_time(PRIORITY if asked.priority else None, lock_memory=False)
    # Lines are handed down for as many boards as there may be, before it is known how many are.
    uarts, usbs = (
        [*(handed or map(str, named))][: settings.boards]
        for handed, named in ((asked.uart, folder.driver_uarts), (asked.usb, folder.driver_usbs))
    )
    imu = asked.imu or str(folder.imu)
    robot = Robot(uarts, usbs, imu, folder.faults, plant, driver, sensor, settings.low_period_us)
    try:
        folder.hand_out(settings)  # the sign that the devices are there
        say_at = 0.0
        while True:
            robot.turn()
            now = time.monotonic()
            if now >= say_at:
                state: dict[str, Any] = {
                    "pitch": plant.pitch,
                    "speeds": plant.speeds,
                    "granted": granted,
                }
                say("robot", now=now, **dataclasses.asdict(robot.tally), **state)
                robot.tally.latest_us = 0
                say_at = now + EVERY
    finally:
        robot.close()


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--scenario", required=True)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument(
        "--folder", required=True, help="of the run; the devices' names appear in it"
    )
    for name, what, action in (
        ("--uart", "motor driver's line to the mid level, for each board", "append"),
        ("--usb", "motor driver's line to the high level, for each board", "append"),
        ("--imu", "pitch sensor's line", "store"),
    ):
        parser.add_argument(
            name, action=action, help=f"{what}: fd:N,M; without it a pseudo-terminal in the folder"
        )
    parser.add_argument("--sensor-noise", type=float, default=0.0, help="rad, standard deviation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--priority", action="store_true", help="ask for real-time scheduling")
    parser.add_argument("--parent", type=int, default=0, help="end when this process does")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    from footfall.realtime.launcher import REFUSED
    from footfall.realtime.plant import load_plant
    from footfall.scenario.errors import ScenarioError

    try:
        main(lambda scenario, changes: load_plant(scenario, changes)[1:])
    except ScenarioError as error:
        print(error, file=sys.stderr)
        raise SystemExit(REFUSED) from None
