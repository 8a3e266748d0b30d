"""Plant and control computer in lockstep: again a hybrid system, whose ticks are jumps.

Deterministic, exact, traceable, batchable.

What the programs decide is the text that the real ones run (safety_step.py, mid_step.py,
axis_step.py); what surrounds it there as bytes on lines is here the effect of those lines:
rounding, delay, loss, jitter. Theory: docs/theory/control-stack.md.
"""

import abc
import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from footfall.hybrid.bound import Bound
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.fields import ParameterError
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.plant import AbstractPlant, Senses
from footfall.hybrid.suggestion import Suggestion
from footfall.hybrid.system import AbstractHybridSystem, Event, HybridState, Jump, Rates, Travel
from footfall.machines.control.axis_step import (
    AxisMemory,
    AxisNumbers,
    Command,
    loaded,
    rested,
    ticked,
)
from footfall.machines.control.chance import (
    COMMAND_LOSS,
    FRAME_LOSS,
    HIGH_JITTER,
    MID_JITTER,
    PITCH_NOISE,
    bell,
    uniform,
)
from footfall.machines.control.controller import AbstractLaw, SampledLaw
from footfall.machines.control.electrics import Battery, Winding, bus, electrical_power, loop_share
from footfall.machines.control.loop_states import (
    ComputerMemory,
    ComputerSignals,
    LoopMemory,
)
from footfall.machines.control.messages import Message, counted_from, empty, received, sent
from footfall.machines.control.microseconds import SECOND
from footfall.machines.control.mid_step import SIDES, Frame, MidMemory, heard, stepped
from footfall.machines.control.pid import PidGains
from footfall.machines.control.safety_step import SafetyMemory, may_run, over_speed, sensed, watched
from footfall.machines.control.three_level import ThreeLevelStack
from footfall.machines.parts.actuators.battery import BatteryPack
from footfall.machines.parts.actuators.drivetrain import DriveTrain
from footfall.machines.parts.actuators.motors import DcMotor
from footfall.numerics.namespace import choose
from footfall.numerics.scalar import Scalar
from footfall.numerics.units import TURN
from footfall.scene.labels import Label
from footfall.scene.sketch import Chart, Shape

#: Numbers of the stack that make a robot's steps differ, or seem not to depend on each other.
ROUNDING = ("pitch_step", "current_step")
CHANCE = ("pitch_noise", "frame_loss", "command_loss", "high_jitter", "mid_jitter")


class Now(NamedTuple):
    """The moment a tick happens."""

    ticks: Scalar
    us: Scalar  #: microseconds, wrapping
    real: Any  #: floating type of the engine


class ClosedLoop(AbstractHybridSystem):
    """A plant and the three-level computer that drives it.

    `with_computer` makes a robot class of this kind for a class of plants.

    At a tick, programs run in the order high, mid, low: what one sends without delay the next one
    has. Not modelled: the time a program takes, corrupted messages that pass for good ones (the
    checksum lets about one in 256 corruptions through; see machines/control/virtual_bench.py for
    real bytes).
    """

    motor: eqx.AbstractVar[DcMotor]
    controller: eqx.AbstractVar[AbstractLaw]
    stack: eqx.AbstractVar[ThreeLevelStack]
    battery: eqx.AbstractVar[BatteryPack]
    drivetrain: eqx.AbstractVar[DriveTrain]

    def __check_init__(self) -> None:
        steer = self.stack.steer_current
        if (
            len(self.plant.joints) == 1
            and isinstance(steer, int | float | np.ndarray | np.generic)
            and np.any(np.asarray(steer))
        ):
            raise ParameterError(
                "a robot with one driven joint cannot be steered: steer_current must be 0.",
                "steer_current",
            )

    @property
    @abc.abstractmethod
    def plant(self) -> AbstractPlant:
        """The robot without its computer."""

    @property
    def setpoint_key(self) -> str:
        """Where a scenario says the angle to hold."""
        return self.plant.setpoint_key

    @property
    def steered_by(self) -> tuple[str, ...]:  # type: ignore[override]
        """What an operator moves: the set point, and of two driven joints the steering current."""
        return (self.setpoint_key, "stack.steer_current")[: len(self.plant.joints)]

    # --- numbers of the programs ------------------------------------------------------------------

    @property
    def gains(self) -> PidGains | SampledLaw:
        """The law with its numbers in amperes for each motor."""
        per_ampere = len(self.plant.joints) * self.motor.torque_per_ampere
        return self.controller.in_amperes(per_ampere, round(self.stack.mid_period * SECOND))

    @property
    def winding(self) -> Winding:
        bandwidth, motor = self.stack.current_bandwidth, self.motor
        share = loop_share(bandwidth, self.stack.low_period)
        return Winding(motor.torque_constant, motor.resistance, motor.current_limit, share)

    @property
    def pack(self) -> Battery:
        return Battery(self.battery.voltage, self.battery.resistance)

    # --- the hybrid system ------------------------------------------------------------------------

    def begin(self, start: Any) -> HybridState:
        x, m = start.state(self.plant)
        no, zero = np.bool_(False), np.int32(0)
        computer = ComputerMemory(
            ticks=zero,
            high_cycles=zero,
            mid_cycles=zero,
            mid_next=np.floor(self.stack.mid_offset / self.stack.resolution + 0.5).astype(np.int32),
            switched_on=no,
            cut_off=no,
            queue=empty(self.stack.queue),
            heard_us=zero,
            asked=no,
            armed=np.bool_(True),  # the start-up of the high level has sent a message that says off
            on=no,
            pitch=self.plant.setpoint,  # until the first message tells
            law=self.controller.begun(),
            commanded_us=zero,
            tripped=no,
            wanted_1=0.0,
            wanted_2=0.0,
            current_1=0.0,
            current_2=0.0,
            bus_voltage=self.battery.voltage,
        )
        return HybridState(x, LoopMemory(m, computer))

    @property
    def events(self) -> tuple[Event, ...]:
        tick = Event(
            "control_tick",
            "a tick of the clock on which programs start",
            period=self.stack.resolution,
        )
        return (*self.plant.events, tick)

    @property
    def clock_period(self) -> float:
        """[s] From when all three programs start together to when they do again."""
        stack = self.stack
        periods = (stack.high_period, stack.mid_period, stack.low_period)
        return math.lcm(*(stack.ticks(float(p)) for p in periods)) * float(stack.resolution)

    def flow(self, t: Scalar, x: Any, m: LoopMemory) -> Rates:
        return self.plant.flow(t, x, m.plant)

    def guards(self, t: Scalar, x: Any, m: LoopMemory) -> tuple[Scalar, ...]:
        """Those of the plant, then [s] time left before the next tick."""
        rooms = self.plant.guards(t, x, m.plant)
        real = jnp.result_type(*rooms)
        return (*rooms, jnp.asarray(m.programs.ticks, real) * self.stack.resolution - t)

    def jump(self, t: Scalar, x: Any, m: LoopMemory, k: int, *leg: Any) -> Jump:
        plant = self.plant
        if k < len(plant.events):
            jumped = plant.jump(t, x, m.plant, k, *leg)
            return Jump(jumped.x, LoopMemory(jumped.m, m.programs), jumped.work)
        computer, torques = self._ticked(plant.senses(t, x, m.plant), m.programs)
        return Jump(x, LoopMemory(plant.driven(m.plant, torques), computer))

    def together(self, t: Scalar, x: Any, m: LoopMemory, k: int) -> dict[int, Scalar]:
        return self.plant.together(t, x, m.plant, k) if k < len(self.plant.events) else {}

    def jump_alone(self, t: Scalar, x: Any, m: LoopMemory, k: int, *leg: Any) -> Jump:
        if k >= len(self.plant.events):
            return self.jump(t, x, m, k)
        jumped = self.plant.jump_alone(t, x, m.plant, k, *leg)
        return Jump(jumped.x, LoopMemory(jumped.m, m.programs), jumped.work)

    def restarted(self, m: LoopMemory) -> LoopMemory:
        """The next tick is at zero, and every program begins there as at the start of a run.

        high_offset and mid_offset are then times after the event. Memories stay; messages under way
        have the time left that they had before the next tick.
        """
        self._require_repeatable()
        stack, c = self.stack, m.programs
        passed_us = c.ticks * stack.tick_us
        mid_first = _integer(stack.mid_offset / stack.resolution + 0.5, c.pitch)
        computer = dataclasses.replace(
            c,
            ticks=0 * c.ticks,
            high_cycles=0 * c.high_cycles,
            mid_cycles=0 * c.mid_cycles,
            mid_next=mid_first,
            queue=counted_from(c.queue, passed_us),
            heard_us=c.heard_us - passed_us,
            # The law's first call must not be early, however short ago the last one was.
            law=dataclasses.replace(
                c.law, last_us=mid_first * stack.tick_us - self.gains.period_us
            ),
            commanded_us=c.commanded_us - passed_us,
        )
        return LoopMemory(self.plant.restarted(m.plant), computer)

    def _require_repeatable(self) -> None:
        """Whether a step can be exactly like the one before, as a derivative sees it.

        Traced numbers were checked at the door.
        """
        reasons = dict.fromkeys(ROUNDING, "what is rounded has no derivative") | dict.fromkeys(
            CHANCE, "chance does not repeat"
        )
        for name, why in reasons.items():
            value = getattr(self.stack, name)
            if isinstance(value, int | float | np.ndarray | np.generic) and np.any(
                np.asarray(value) > 0
            ):
                raise ValueError(
                    f"stack.{name} = {float(np.max(value)):g}: {why}, so there is no gait to be"
                    f" found that repeats step by step. Set stack.{name} = 0 for a gait search;"
                    " simulate to see what it does."
                )

    def stores(self, t: Scalar, x: Any, m: LoopMemory) -> Any:
        return self.plant.stores(t, x, m.plant)

    # --- the programs -----------------------------------------------------------------------------

    def _ticked(
        self, senses: Senses, m: ComputerMemory
    ) -> tuple[ComputerMemory, tuple[Scalar, ...]]:
        """What the programs do at one tick of the clock, and the joint torques that follow."""
        now = Now(m.ticks, m.ticks * self.stack.tick_us, jnp.result_type(senses.angle))
        before = m
        m = self._high(senses, m, now)
        m = self._mid(m, now)
        m = self._low(senses, m, now)
        m = dataclasses.replace(m, ticks=m.ticks + 1)
        # Plain numbers must not change what a number is from tick to tick: loops carry it.
        m = jax.tree.map(lambda new, old: jnp.asarray(new, jnp.result_type(old)), m, before)
        return m, self.joint_torques(
            (m.current_1, m.current_2)[: len(senses.speeds)], senses.speeds
        )

    def joint_torques(
        self, currents: tuple[Scalar, ...], speeds: tuple[Scalar, ...]
    ) -> tuple[Scalar, ...]:
        """What reaches the joints of the motors' torques.

        torque = G K i - b w - c tanh(w / w_0)                                             (stack.4)
        """
        each = self.motor.torque_per_ampere
        return tuple(
            each * current - self.drivetrain.drag(speed)
            for current, speed in zip(currents, speeds, strict=True)
        )

    def _late(self, cycles: Scalar, jitter: Scalar, stream: int, like: Scalar) -> Scalar:
        """Ticks by which a cycle starts late."""
        most = _whole(jitter / self.stack.resolution, like)
        return jnp.floor(uniform(self.stack.seed, stream, cycles, like) * (most + 1.0)).astype(
            jnp.int32
        )

    def _high(self, senses: Senses, m: ComputerMemory, now: Now) -> ComputerMemory:
        """The operator, the pitch sensor, the supervisor's rules, and a message to the mid level.

        Its driver always answers.
        """
        stack, like = self.stack, senses.angle
        # Absolute deadlines: a cycle that starts late does not move the next.
        nominal = _integer(
            stack.high_offset / stack.resolution + 0.5, like
        ) + m.high_cycles * stack.ticks(stack.high_period)
        due = now.ticks == nominal + self._late(m.high_cycles, stack.high_jitter, HIGH_JITTER, like)
        reached = (
            jnp.asarray(now.ticks, now.real) * stack.resolution
            >= stack.switch_on - 0.5 * stack.resolution
        )
        switched_on = m.switched_on | reached
        noise = stack.pitch_noise * bell(stack.seed, PITCH_NOISE, m.high_cycles, like)
        pitch = _rounded(senses.angle + noise, stack.pitch_step)
        # The motors were armed before the run, and nobody arms them again.
        armed = ~m.cut_off
        safety = SafetyMemory(m.cut_off, armed, armed, m.cut_off)
        fast = over_speed(
            [self.motor.gear_ratio * speed for speed in senses.speeds], stack.speed_limit
        )
        safety, _ = sensed(watched(safety, _any(fast), False), True, pitch, math.inf, 0, now.us)
        message = Message(
            arrival_us=now.us + _microseconds(stack.pitch_delay, like),
            under_way=now.ticks >= 0,
            on=may_run(safety, switched_on),
            pitch=safety.pitch,
        )
        lost = (
            uniform(stack.seed, FRAME_LOSS, m.high_cycles, like)
            < stack.frame_loss**stack.frame_copies
        )
        return dataclasses.replace(
            m,
            switched_on=switched_on,
            cut_off=choose(due, safety.latched, m.cut_off),
            queue=sent(m.queue, message, due & ~lost),
            high_cycles=m.high_cycles + due,
        )

    def _mid(self, m: ComputerMemory, now: Now) -> ComputerMemory:
        """What arrived, the program of the mid level, and the way of its commands to the motor
        driver.
        """
        stack, like = self.stack, m.pitch
        # The law counts its sample time from its last call: a cycle that starts late moves all that
        # follow.
        due = now.ticks == m.mid_next
        after_next = (
            now.ticks
            + stack.ticks(stack.mid_period)
            + self._late(m.mid_cycles, stack.mid_jitter, MID_JITTER, like)
        )
        queue, got, message = received(m.queue, now.us)
        remembered = self.controller.carried_as
        steer = stack.steer_current if len(self.plant.joints) == 2 else 0.0
        before = MidMemory(
            frame=Frame(m.asked, self.plant.setpoint, m.pitch, steer),
            # Until its first message the high level starts up, and the watchdog does not count.
            heard_us=choose(m.asked | (m.heard_us > 0), m.heard_us, now.us),
            armed=m.armed,
            tripped=False,
            law=remembered(*(getattr(m.law, name) for name in remembered._fields)),
            blind=False,
            still=False,  # a call comes once a period: off, each commands 0 A
            still_us=0,
        )
        told = heard(before, before.frame._replace(on=message.on, pitch=message.pitch), now.us)
        watchdog_us = _microseconds(stack.watchdog, like)
        after, commands = stepped(
            self.gains, watchdog_us, len(SIDES), choose(got, told, before), now.us
        )
        lost = uniform(stack.seed, COMMAND_LOSS, m.mid_cycles, like) < stack.command_loss
        commanded = commands.due & ~lost
        wanted = [_rounded(current, stack.current_step) for current in commands.currents]
        done = dataclasses.replace(
            m,
            queue=queue,
            heard_us=choose(got, now.us, m.heard_us),
            asked=after.frame.on,
            armed=after.armed,
            on=after.on,
            pitch=after.frame.pitch,
            law=self.controller.shown_as(*after.law),
            commanded_us=jnp.where(commanded, now.us, m.commanded_us),
            wanted_1=jnp.where(commanded, wanted[0], m.wanted_1),
            wanted_2=jnp.where(commanded, wanted[1], m.wanted_2),
            mid_cycles=m.mid_cycles + 1,
            mid_next=after_next,
        )
        return _if_due(due, done, m)

    def _low(self, senses: Senses, m: ComputerMemory, now: Now) -> ComputerMemory:
        """The motor driver.

        Its own speed limit and its trip levels of the bus are out of the way.
        """
        stack, idle = self.stack, m.tripped | m.cut_off
        due = lax.rem(now.ticks, jnp.int32(stack.ticks(stack.low_period))) == 0
        numbers = AxisNumbers(self.winding, _microseconds(stack.driver_watchdog, m.pitch), turn=1.0)
        # Its watchdog counts from when the mid level runs.
        fed_us = choose(m.mid_cycles > 0, m.commanded_us, now.us)
        speeds = [self.motor.gear_ratio * speed for speed in senses.speeds]
        axes = []
        for speed, wanted, present in zip(
            speeds, (m.wanted_1, m.wanted_2), (m.current_1, m.current_2), strict=False
        ):
            axis = AxisMemory(~idle, fed_us, wanted, present)
            axis = choose(idle, rested(axis), axis)  # an idle axis is switched off, not braked
            axes.append(
                ticked(numbers, axis, Command(current=wanted), now.us, m.bus_voltage, speed)
            )
        axes, voltage, _ = loaded(self.pack, [self.winding] * len(axes), axes, speeds)
        error = axes[0].error | axes[-1].error
        done = dataclasses.replace(
            m,
            tripped=m.tripped | (error != 0),  # for good: nobody arms it again
            current_1=axes[0].current,
            current_2=axes[1].current if len(axes) > 1 else m.current_2,
            bus_voltage=voltage,
        )
        return _if_due(due, done, m)

    # --- what is seen -----------------------------------------------------------------------------

    def outputs(self, t: Scalar, x: Any, m: LoopMemory) -> Any:
        plant, c = self.plant, m.programs
        senses, zero = plant.senses(t, x, m.plant), 0.0 * c.pitch
        speeds = [self.motor.gear_ratio * speed for speed in senses.speeds]
        currents = (c.current_1, c.current_2)
        drawn_each = tuple(
            electrical_power(self.winding, i, w) for i, w in zip(currents, speeds, strict=False)
        )
        drawn = sum(drawn_each)
        voltage, current = bus(self.pack, drawn)
        seen = ComputerSignals(
            setpoint=plant.setpoint + zero,
            pitch=senses.angle,
            known_pitch=c.pitch,
            output=c.law.output,
            current_1=c.current_1,
            current_2=c.current_2 if len(speeds) > 1 else None,
            motor_speed_1=speeds[0],
            motor_speed_2=speeds[1] if len(speeds) > 1 else None,
            bus_voltage=voltage,
            bus_current=current,
            bus_power=drawn,
            on=jnp.where(c.on, 1.0, zero),
            cut_off=jnp.where(c.cut_off | c.tripped, 1.0, zero),
        )
        metered = plant.metered(plant.outputs(t, x, m.plant), currents[: len(speeds)], drawn_each)
        return dataclasses.replace(metered, computer=seen)

    def suggestions(self, outcome: Outcome) -> tuple[Suggestion, ...]:
        gains = "--vary controller.proportional=2:12:21 --vary controller.derivative=0.1:0.9:17"
        return (
            *(idea for idea in self.plant.suggestions(outcome) if idea.cure),
            Suggestion(
                "--set stack.pitch_noise=0.002 --set stack.frame_loss=0.2 --set"
                " stack.frame_copies=1",
                "a worse computer",
            ),
            *(
                (
                    Suggestion("--duration 10", "the same programs in real time", verb="stack run"),
                    Suggestion(gains, verb="sweep"),
                )
                if isinstance(self.gains, PidGains)
                else ()
            ),
        )

    def remarks(self, t: np.ndarray, columns: Mapping[str, np.ndarray]) -> list[str]:
        """What the computer did that a fall alone does not tell."""
        said = []
        names = ("programs.cut_off", "programs.tripped", "programs.on")
        cut, tripped, on = (np.asarray(columns[name]) > 0 for name in names)
        first = int(np.argmax(cut | tripped))  # what came later came of it
        if tripped[first]:
            said.append(
                f"The motor driver switched off at t = {t[first]:.4g} s, for good: no command"
                f" reached it for {float(self.stack.driver_watchdog):g} s, or its bus broke down."
            )
        elif cut[first]:
            speeds = [
                abs(float(v[first]))
                for name, v in columns.items()
                if name.startswith("computer.motor_speed_")
            ]
            said.append(
                f"The supervisor cut the motors off at t = {t[first]:.4g} s, for good: a motor at"
                f" {max(speeds) / TURN:.3g} turns/s, {float(self.stack.speed_limit) / TURN:.3g} are"
                " allowed (stack.speed_limit). What followed is a robot without drive."
            )
        if not on.any():
            said.append("The pitch law was never on.")
        elif not on[-1] and not said:
            said.append(
                "The mid level switched the law off at t ="
                f" {t[len(on) - int(np.argmax(on[::-1]))]:.4g} s: no message for too long."
            )
        return said

    def bounds(self) -> tuple[Bound, ...]:
        counted = ((bound, bound.counter) for bound in self.plant.bounds())
        return tuple(
            bound if name is None else bound._replace(counter=f"plant.{name}")
            for bound, name in counted
        )

    def doubts(self, t: Any, columns: Mapping[str, np.ndarray]) -> list[Doubt]:
        return self.plant.doubts(
            t, {name.removeprefix("plant."): values for name, values in columns.items()}
        )

    def sketch(self) -> tuple[Shape, ...]:
        return self.plant.sketch()

    def close_ups(self) -> dict[str, tuple[Shape, ...]]:
        return self.plant.close_ups()

    def labels(self) -> tuple[Label, ...]:
        return self.plant.labels()

    def charts(self) -> tuple[Chart, ...]:
        two = len(self.plant.joints) > 1
        pitches = ("computer.pitch", "computer.known_pitch", "computer.setpoint")
        known = ("of the robot", "as the mid level knows it", "wanted")
        motors = ("first motor", "second motor") if two else ("motor",)
        both = ("computer.current_1", "computer.current_2") if two else ("computer.current_1",)
        speeds = (
            ("computer.motor_speed_1", "computer.motor_speed_2")
            if two
            else ("computer.motor_speed_1",)
        )
        return (
            Chart("Pitch", pitches, "whole", main=True, names=known),
            Chart("Pitch, the last steps", pitches, names=known),
            Chart(
                "Currents of the motors",
                (*both, "computer.output"),
                main=True,
                names=(*motors, "asked by the law"),
            ),
            Chart("Speeds of the motors", speeds, main=True, names=motors),
            Chart("Voltage of the bus", ("computer.bus_voltage",), "whole"),
            *(chart._replace(main=False) for chart in self.plant.charts()),
        )

    def travel(self) -> Travel | None:
        travel = self.plant.travel()
        return travel and travel._replace(
            step_counters=tuple(f"plant.{name}" for name in travel.step_counters)
        )


def _any(flags: list[Any]) -> Any:
    found = flags[0]
    for flag in flags[1:]:
        found = found | flag
    return found


def _if_due(due: Scalar, after: ComputerMemory, before: ComputerMemory) -> ComputerMemory:
    """What a program did, at its own ticks only."""
    return jax.tree.map(lambda new, old: choose(due, new, old), after, before)


def _whole(value: Scalar, like: Scalar) -> Scalar:
    """The largest whole number not above it.

    Tolerates 1e-4, because 0.001 / 0.00025 may be 3.9999.
    """
    return jnp.floor(jnp.asarray(value, jnp.result_type(like)) + 1e-4)


def _integer(value: Scalar, like: Scalar) -> Scalar:
    return jnp.asarray(_whole(value, like), jnp.int32)


def _microseconds(seconds: Scalar, like: Scalar) -> Scalar:
    return _integer(seconds * SECOND + 0.5, like)


def _rounded(value: Scalar, step: Scalar) -> Scalar:
    """To the nearest multiple of a step; 0: as it is."""
    safe = jnp.where(step > 0, step, 1.0 + 0.0 * value)
    return jnp.where(step > 0, jnp.floor(value / safe + 0.5) * safe, value)
