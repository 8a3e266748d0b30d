"""A bench with a toy on it: a robot that shares its shape with the real one (a torso that a motor
on each side pitches and drives) and nothing else, and devices that write down what is asked of
them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from footfall.machines.control.contracts import Operator
from footfall.machines.control.electrics import Battery, Winding
from footfall.machines.control.mid import MidProgram
from footfall.machines.control.pid import PidGains
from footfall.machines.control.settings import StackSettings
from footfall.machines.control.virtual_bench import VirtualBench

#: The page's default gains, in amperes.
GAINS = PidGains(16.3, 27.2, 1.23, 5.0, 40.0, 0.010, 1000)
SETTINGS = StackSettings(GAINS, setpoint=0.6, motor_signs=(1.0, -1.0))
WINDING = Winding(torque_constant=0.034, resistance=0.1, current_limit=40.0, loop_share=1.0)
BATTERY = Battery(voltage=24.0, resistance=0.05)

#: Motors on, then the law, then nothing more.
WALK = ("0.1 motors-on", "0.2 run")


class Pendulum:
    """A damped torso that hangs: pitch'' = a (i_l + i_r) - b pitch' - c sin(pitch), and wheels that
    run with its motors.

    At rest at the set point it takes 2.8 A per motor: an output that is cut to zero shows.
    """

    PUSH, DAMPING, GRAVITY = 10.0, 20.0, 100.0  # 1/s^2 per A, 1/s, 1/s^2

    def __init__(self) -> None:
        self.pitch = 0.0
        self.speeds = (0.0, 0.0)
        self.positions = (0.0, 0.0)
        self._rate = 0.0

    def advance(self, currents: Sequence[float], dt_us: int) -> None:
        dt = dt_us * 1e-6
        pull = (
            self.PUSH * sum(currents)
            - self.DAMPING * self._rate
            - self.GRAVITY * math.sin(self.pitch)
        )
        self._rate += dt * pull
        self.pitch += dt * self._rate
        # 1.9 turns/s at 2.8 A.
        self.speeds = tuple(
            v + dt * (2.0 * i - 3.0 * v) for v, i in zip(self.speeds, currents, strict=True)
        )
        self.positions = tuple(x + dt * v for x, v in zip(self.positions, self.speeds, strict=True))


def bench(
    script: Sequence[str] = WALK, settings: StackSettings = SETTINGS, **choices: Any
) -> VirtualBench:
    windings = [WINDING] * settings.motors
    mid = choices.pop("mid", None) or MidProgram(settings)
    return VirtualBench(
        settings,
        choices.pop("plant", None) or Pendulum(),
        mid,
        windings,
        BATTERY,
        script,
        **choices,
    )


class Journal:
    """Calls in their order, by all devices that share it."""

    def __init__(self) -> None:
        self.entries: list[str] = []

    def of(self, device: Any, *names: str) -> Any:
        """The device, with calls of these names written down."""
        return _Watched(device, self.entries, names)


class _Watched:
    def __init__(self, device: Any, entries: list[str], names: tuple[str, ...]):
        self._device, self._entries, self._names = device, entries, names

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._device, name)
        if name not in self._names:
            return value

        def noted(*given: Any) -> Any:
            self._entries.append(name)
            return value(*given)

        return noted


class HandClock:
    """Time that moves when told to, and by sleeping."""

    def __init__(self) -> None:
        self.us = 0

    def now(self) -> float:
        return self.us * 1e-6

    def sleep_until(self, t: float) -> None:
        self.us = max(self.us, round(t * 1e6))


class Driver:
    """A MotorDriver of public fields, all well until one of them is changed."""

    def __init__(self, clock: HandClock | None = None, delay: float = 0.0):
        self.turning: tuple[float, ...] = (0.0, 0.0)
        self.error_words = (0, 0)
        self.wrong_limits: list[str] = []
        self.axis_states = (1, 1)
        self.voltage = 24.0
        self.arms = True
        self.trouble: Exception | None = None
        self._clock, self._delay = clock, delay

    def _answer(self, value: Any) -> Any:
        if self._clock is not None:
            self._clock.sleep_until(self._clock.now() + self._delay)
        if self.trouble is not None:
            raise self.trouble
        return value

    @property
    def watchdog_bit(self) -> int:
        return 0x800

    def explain(self) -> str:
        return ", ".join(f"{word:#x}" for word in self.error_words if word)

    def unmet_limits(self) -> tuple[list[str], list[str]]:
        return self.wrong_limits, []

    def speeds(self) -> tuple[float, ...]:
        return self._answer(self.turning)

    def positions(self) -> tuple[float, ...]:
        if self.trouble is not None:
            raise self.trouble
        return (0.0, 0.0)

    def bus(self) -> tuple[float, float]:
        if self.trouble is not None:
            raise self.trouble
        return self.voltage, 1.0

    def motors_off(self) -> None:
        if self.trouble is not None:
            raise self.trouble
        self.axis_states = (1, 1)

    def motors_on(self) -> None:
        if self.trouble is not None:
            raise self.trouble
        self.error_words = (0, 0)
        self.axis_states = (8, 8) if self.arms else (1, 1)

    def calibrate(self) -> None:
        self.axis_states = (3, 3)

    def states(self) -> tuple[int, ...]:
        return self.axis_states

    def errors(self) -> tuple[int, ...]:
        return self.error_words

    def close(self) -> None:
        pass


class Sensor:
    """A PitchSensor that always has this to say."""

    def __init__(self, pitch: float | None = 0.1):
        self.pitch = pitch
        self.trouble: Exception | None = None

    def newest(self) -> float | None:
        if self.trouble is not None:
            raise self.trouble
        return self.pitch

    def close(self) -> None:
        pass


class Hand:
    """An operator whose fields are set by a test."""

    def __init__(self, **wishes: Any):
        self.wishes: dict[str, Any] = {"setpoint": 0.6} | wishes

    def press(self, button: str) -> None:
        self.wishes[button] = self.wishes.get(button, 0) + 1

    def __call__(self) -> Operator:
        return Operator(**self.wishes)


def until_true(condition: Callable[[], bool], step: Callable[[], object], most: int) -> int:
    """How many steps it takes; fails after too many."""
    for count in range(most):
        if condition():
            return count
        step()
    raise AssertionError(f"not within {most} steps")
