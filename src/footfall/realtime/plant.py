"""The robot itself, in real time or virtual time.

A plant that is told motor currents and moves by a quarter of a millisecond.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from footfall.engines.lanes.resident import ResidentLane
from footfall.hybrid.outcome import Outcome
from footfall.machines.control.controller import SampledLaw
from footfall.machines.control.electrics import Battery, Winding, bus_extremes, loop_share
from footfall.machines.control.lockstep import ClosedLoop
from footfall.machines.control.microseconds import SECOND
from footfall.machines.control.pid import PidGains
from footfall.machines.control.settings import StackSettings
from footfall.numerics.units import TURN
from footfall.realtime.own_law_c import own_law
from footfall.realtime.stack_log import StackLog, StackLogError
from footfall.scenario.catalog import WITH_COMPUTER, shipped_scenarios
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, load, with_computer
from footfall.scenario.own_code import names_code

#: Until a motor is given this much current the robot is held at its start [A].
LETS_GO = 0.01
#: A hand holds the robot not exactly at the set point but below it by this [rad]: the law then has
#: something to do.
HELD_BELOW = 0.02


class StackPlant(NamedTuple):
    """A scenario made ready for the control stack."""

    experiment: Experiment
    stepper: "PlantStepper"
    settings: StackSettings
    windings: tuple[Winding, ...]
    battery: Battery


def load_plant(name: str, overrides: Sequence[str] = ()) -> StackPlant:
    """A scenario of a robot with a control computer, by name or path.

    Of "rimless-wheel" its "rimless-wheel-closed-loop".
    """
    experiment = load(with_computer(name), list(overrides))
    system = experiment.system
    if not isinstance(system, ClosedLoop):
        raise ScenarioError(
            f"{name}: this robot has no control computer. Scenarios that have one:"
            f" {', '.join(WITH_COMPUTER.values())}."
        )
    try:
        settings = stack_settings(system)
    except ValueError as error:
        raise ScenarioError(f"{name}: {error}") from None
    low = settings.low_period_us / SECOND
    bandwidth = system.stack.current_bandwidth
    share = loop_share(None if bandwidth is None else float(bandwidth), low)
    motor = system.motor
    winding = Winding(
        float(motor.torque_constant), float(motor.resistance), float(motor.current_limit), share
    )
    battery = Battery(float(system.battery.voltage), float(system.battery.resistance))
    return StackPlant(
        experiment, PlantStepper(experiment), settings, (winding,) * settings.motors, battery
    )


def plant_of_log(
    log: StackLog, scenario: str | None = None, overrides: Sequence[str] | None = None
) -> StackPlant:
    """The robot a log is of: the scenario and changes it names, unless others are given.

    A log may come from anybody, and a scenario file may name Python code to run: from a log only
    the name of a shipped scenario is taken. Its changes are values and kinds of parts that footfall
    has; they cannot choose a file or another robot."""
    if scenario is None and log.scenario not in shipped_scenarios():
        raise StackLogError(
            f"{log.path} is of {log.scenario[:60]!r}, which does not come with footfall, and a log"
            " is not trusted to name files. Give the scenario yourself: --scenario FILE.toml."
        )
    if overrides is None and any(names_code(change.partition("=")[2]) for change in log.changes):
        raise ScenarioError(
            f"{log.path} says that a part came from a file of code, and a log is not trusted to"
            " name one. Name it yourself: --set."
        )
    plant = load_plant(scenario or log.scenario, log.changes if overrides is None else overrides)
    if plant.settings.motors != log.settings.motors:
        raise StackLogError(
            f"{log.path} is of a robot with motors = {log.settings.motors}, and"
            f" {scenario or log.scenario} has {plant.settings.motors}. Give the scenario it was"
            " made with: --scenario."
        )
    return plant


def stack_settings(system: ClosedLoop) -> StackSettings:
    """What the three programs need to know of a robot.

    Raises ScenarioError for a controller of one's own that cannot be written as C.
    """
    stack, motor, joints = system.stack, system.motor, len(system.plant.joints)
    limit, law = float(motor.current_limit), system.gains
    if isinstance(law, SampledLaw):
        gains = own_law(law, limit)
    else:
        gains = PidGains(*(float(value) for value in law[:-1]), period_us=law.period_us)
    voltage = float(system.battery.voltage)
    band = (0.75 * voltage, 1.25 * voltage)
    drawn, returned = bus_extremes(system.winding, joints, float(stack.speed_limit), band[0])
    return StackSettings(
        gains=gains,
        setpoint=float(system.plant.setpoint),
        motors=joints,
        motor_signs=stack.motor_signs[:joints],
        steering=joints == 2,
        frame_copies=stack.frame_copies,
        high_period_us=round(stack.high_period * SECOND),
        mid_period_us=round(stack.mid_period * SECOND),
        low_period_us=round(stack.low_period * SECOND),
        report_period_us=round(stack.high_period * SECOND),
        watchdog_us=round(float(stack.watchdog) * SECOND),
        driver_watchdog_us=round(float(stack.driver_watchdog) * SECOND),
        reply_limit_us=round(stack.reply_limit * SECOND),
        speed_limit=float(stack.speed_limit) / TURN,
        current_limit=limit,
        bus_band=band,
        torque_constant=float(motor.torque_constant),
        steer_limit=float(stack.steer_limit),
        drawn_current=drawn,
        returned_current=returned,
        boards=stack.boards,
    )


class PlantStepper:
    """A plant that moves as it is told currents.

    Until the first current flows somebody holds it at its start.

    `pitch` [rad], `speeds` [turns/s] and `positions` [turns since the start] of the motors, forward
    drive positive; `outcome` says whether it still runs. A robot that has fallen lies still.
    """

    def __init__(self, experiment: Experiment, *, held: bool = True):
        """`held`: somebody holds it until the first current flows.

        Otherwise it moves from the first call on.
        """
        system = experiment.system
        assert isinstance(system, ClosedLoop) and experiment.start_options is not None
        plant, start = system.plant, experiment.start_options
        angle = plant.start_angle
        if held and angle is not None and getattr(start, angle) is None:
            start = dataclasses.replace(start, **{angle: float(plant.setpoint) - HELD_BELOW})
        self.step_us = round(system.stack.low_period * SECOND)
        self._robot = ResidentLane(plant, start.state(plant), self.step_us / SECOND)
        self._currents = [np.zeros(1) for _ in plant.joints]
        self._gear = float(system.motor.gear_ratio)

        def driven(plant: Any, x: Any, m: Any, *currents: Any) -> tuple:
            speeds = plant.senses(0.0, x, m).speeds
            return tuple(jax.tree.leaves(plant.driven(m, system.joint_torques(currents, speeds))))

        def sensed(plant: Any, x: Any, m: Any) -> tuple:
            seen = plant.senses(0.0, x, m)
            return (seen.angle, *seen.positions, *seen.speeds)

        self._drive, self._driven = self._robot.function(driven, *self._currents)
        self._sense, self._seen = self._robot.function(sensed)
        self._left_us, self.held = 0, held
        self._begun_at: tuple[float, ...] = (0.0,) * len(self._currents)
        self._look()
        self._begun_at = self.positions
        self._look()

    @property
    def outcome(self) -> Outcome:
        """`running` while it does."""
        return Outcome(self._robot.outcome)

    @property
    def time(self) -> float:
        """s since it was let go."""
        return self._robot.steps * self._robot.step

    @property
    def last_footfall(self) -> tuple[float, float, int] | None:
        """Time [s], distance gone [m] and number of the last footfall.

        None before the first, or for a robot without feet.
        """
        last = self._robot.lane.last
        return (
            None
            if last is None or last.steps[0] < 0
            else (float(last.t[0]), float(last.distance[0]), int(last.steps[0]))
        )

    def advance(self, currents: Sequence[float], dt_us: int) -> None:
        """Move under these motor currents [A], forward drive positive.

        Whole steps are made; the rest waits for the next call.
        """
        if self.held and max(abs(i) for i in currents) < LETS_GO:
            return
        self.held = False
        self._left_us += dt_us
        count, self._left_us = divmod(self._left_us, self.step_us)
        if self._robot.outcome or not count:
            return
        for place, current in zip(self._currents, currents, strict=True):
            place[0] = current
        self._drive()
        for view, new in zip(self._robot.lane.m, self._driven, strict=True):
            view[...] = new
        self._robot.advance(count)
        self._look()

    def _look(self) -> None:
        self._sense()
        joints = len(self._currents)
        seen = [float(value[0]) for value in self._seen]
        turns = self._gear / TURN
        still = self.held or bool(self._robot.outcome)
        self.pitch = seen[0]
        turned = (turns * value for value in seen[1 : 1 + joints])
        self.positions = tuple(
            now - begun for now, begun in zip(turned, self._begun_at, strict=True)
        )
        self.speeds = tuple(0.0 if still else turns * value for value in seen[1 + joints :])
