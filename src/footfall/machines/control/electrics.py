"""The low level as a law: a current loop that has only the battery's voltage to work with.

Elementwise, for numbers and traced arrays.

Motors are taken as their DC equivalents: winding resistance R, and a back-EMF of the torque
constant K times the speed. Theory: docs/theory/control-stack.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from footfall.numerics.namespace import choose, clamp, namespace

if TYPE_CHECKING:
    from footfall.numerics.scalar import Scalar


class Battery(NamedTuple):
    """A voltage behind a resistance."""

    voltage: Scalar  #: V, without load
    resistance: Scalar  #: ohm


class Winding(NamedTuple):
    """One motor with its current loop."""

    torque_constant: Scalar  #: N m/A, and V s/rad
    resistance: Scalar  #: ohm; 0: not known, the voltage then limits nothing
    current_limit: Scalar  #: A
    #: Of the error that the current loop removes in one of its ticks; 1: all, at once.
    loop_share: Scalar


def loop_share(bandwidth: Scalar | None, period: float) -> Scalar:
    """What a first-order current loop of this bandwidth [rad/s] removes of its error in a tick.

    None: all of it.
    """
    return 1.0 if bandwidth is None else 1.0 - namespace(bandwidth).exp(-bandwidth * period)


def next_current(
    winding: Winding, bus_voltage: Scalar, speed: Scalar, wanted: Scalar, present: Scalar
) -> Scalar:
    """The current until the next tick of the loop. `speed` is the motor's own [rad/s].

    i* = clamp(wanted, +-i_lim), then inside (+-V - K w) / R;   i <- i + share (i* - i)    (stack.2)
    """
    asked = clamp(wanted, -winding.current_limit, winding.current_limit)
    emf = winding.torque_constant * speed
    known = winding.resistance > 0
    ohms = choose(known, winding.resistance, 1.0)
    most = choose(known, (bus_voltage - emf) / ohms, winding.current_limit)
    least = choose(known, (-bus_voltage - emf) / ohms, -winding.current_limit)
    held = clamp(asked, least, most)
    return present + winding.loop_share * (held - present)


def electrical_power(winding: Winding, current: Scalar, speed: Scalar) -> Scalar:
    """What one motor takes from the bus: winding heat and mechanical power.

    Negative: it brakes into the battery.
    """
    return winding.resistance * current * current + winding.torque_constant * current * speed


def bus(battery: Battery, power: Scalar) -> tuple[Scalar, Scalar]:
    """Voltage and current of the bus while this power is drawn.

    V = V0 - R_b I,  V I = P   so   V = (V0 + sqrt(V0^2 - 4 R_b P)) / 2                    (stack.3)

    The other root belongs to a battery nearly short-circuited. More than V0^2 / (4 R_b) cannot be
    drawn at all (`too_much`): there the voltage told is half, and whoever draws must let go.
    """
    xp = namespace(*battery, power)
    room = battery.voltage * battery.voltage - 4.0 * battery.resistance * power
    voltage: Any = 0.5 * (battery.voltage + xp.sqrt(xp.maximum(room, 0.0)))
    return voltage, power / voltage


def too_much(battery: Battery, power: Scalar) -> Any:
    """Whether this is more power than the battery can give at any voltage."""
    return 4.0 * battery.resistance * power > battery.voltage * battery.voltage


def bus_extremes(
    winding: Winding, motors: int, speed: float, voltage: float
) -> tuple[float, float]:
    """The most current that all motors together draw from a bus, and the most that they return.

    At speeds up to `speed` [rad/s] either way and currents up to their limit. Returned is most at
    the current K w / (2 R), above which braking heats the winding instead.
    """
    most, emf = float(winding.current_limit), float(winding.torque_constant) * speed
    ohms = float(winding.resistance)
    braking = min(most, emf / (2.0 * ohms)) if ohms > 0.0 else most
    drawn = electrical_power(winding, most, speed)
    returned = -electrical_power(winding, -braking, speed)
    return motors * float(drawn) / voltage, motors * float(returned) / voltage
