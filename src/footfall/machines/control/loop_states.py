"""Discrete state of a robot with a control computer, and what can be seen of the computer."""

from typing import Any

import equinox as eqx

from footfall.hybrid.fields import signal
from footfall.machines.control.messages import Queue
from footfall.numerics.scalar import Scalar


class LawMemory(eqx.Module):
    """What the pitch law remembers (PidMemory, as signals)."""

    last_us: Scalar = signal(doc="when it last calculated, in microseconds that wrap")
    started: Scalar = signal(doc="whether it has calculated since it was switched on")
    integral: Scalar = signal(unit="A", doc="integral part")
    derivative: Scalar = signal(unit="rad/s", doc="filtered derivative")
    previous: Scalar = signal(unit="rad", doc="pitch of the last calculation")
    output: Scalar = signal(unit="A", doc="current asked of each motor")


class ControllerMemory(eqx.Module):
    """What the mid level remembers of a controller of one's own (SampledMemory, as signals)."""

    own: Any
    last_us: Scalar = signal(doc="when it last calculated, in microseconds that wrap")
    started: Scalar = signal(doc="whether it has calculated since it was switched on")
    previous: Scalar = signal(unit="rad", doc="pitch of the last calculation")
    output: Scalar = signal(unit="A", doc="current asked of each motor")


class ComputerMemory(eqx.Module):
    """Discrete state of the three programs and the lines between them."""

    queue: Queue
    law: Any  # LawMemory or ControllerMemory
    ticks: Scalar = signal(doc="ticks of the clock so far")
    high_cycles: Scalar = signal(doc="cycles of the high level so far")
    mid_cycles: Scalar = signal(doc="cycles of the mid level so far")
    mid_next: Scalar = signal(doc="tick at which the mid level runs next")
    switched_on: Scalar = signal(doc="1 once the operator has switched the pitch law on")
    cut_off: Scalar = signal(doc="1 once the high level has switched everything off")
    heard_us: Scalar = signal(doc="when the mid level last got a message")
    asked: Scalar = signal(doc="1 while the last message wants the pitch law")
    armed: Scalar = signal(doc="0 after the mid level's watchdog, until a message says off")
    on: Scalar = signal(doc="1 while the pitch law runs")
    pitch: Scalar = signal(unit="rad", doc="pitch as the mid level knows it")
    commanded_us: Scalar = signal(doc="when the motor driver last got a command")
    tripped: Scalar = signal(
        doc="1 once the motor driver has switched off: its watchdog, or a bus that broke down"
    )
    wanted_1: Scalar = signal(unit="A", doc="current commanded, first motor")
    wanted_2: Scalar = signal(unit="A", doc="current commanded, second motor")
    current_1: Scalar = signal(unit="A", doc="current that flows, first motor")
    current_2: Scalar = signal(unit="A", doc="current that flows, second motor")
    bus_voltage: Scalar = signal(unit="V", doc="voltage of the bus")


class LoopMemory(eqx.Module):
    """Discrete state of plant and computer."""

    plant: Any
    programs: ComputerMemory


class ComputerSignals(eqx.Module):
    """What can be seen of the control computer."""

    setpoint: Scalar = signal(unit="rad", doc="pitch to be held")
    pitch: Scalar = signal(unit="rad", doc="pitch of the plant")
    known_pitch: Scalar = signal(unit="rad", doc="pitch as the mid level knows it")
    output: Scalar = signal(unit="A", doc="current the pitch law asks of each motor")
    current_1: Scalar = signal(unit="A", doc="current that flows, first motor")
    current_2: Scalar = signal(unit="A", doc="current that flows, second motor")
    motor_speed_1: Scalar = signal(unit="rad/s", doc="speed of the first motor itself")
    motor_speed_2: Scalar = signal(unit="rad/s", doc="speed of the second motor itself")
    bus_voltage: Scalar = signal(unit="V", doc="voltage of the bus")
    bus_current: Scalar = signal(unit="A", doc="current of the battery")
    bus_power: Scalar = signal(unit="W", doc="power the motors take from the bus")
    on: Scalar = signal(doc="1 while the pitch law runs")
    cut_off: Scalar = signal(doc="1 once something has switched the motors off for good")
