"""How fast a robot walks at each set point and steering current; commands of a speed by that.

`/cmd_vel` of ROS asks for a speed and a yaw rate; what the stack takes is a set point and a
steering current. The table is computed from the scenario's own model (realtime/drive_speeds.py).
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import NamedTuple

import numpy as np

from footfall.machines.control.contracts import Operator
from footfall.machines.control.settings import StackSettings

#: A command differs from what is walked if they do by more than this share of the largest.
CLOSE = 0.02
#: s; a robot whose commands are older than this stops, as robots on ROS do.
STALE = 0.5
#: s in which the set point goes to that of rest before the law is off. Without a law a torso that
#: was held up swings faster than motors may turn, and the supervisor cuts them off for good; let
#: down at once it may lift a foot.
COMES_TO_REST = 1.0


class Drive(NamedTuple):
    """What a command of a speed becomes."""

    run: bool  #: False: it stops
    setpoint: float = 0.0  #: rad
    steer: float = 0.0  #: A
    speed: float = 0.0  #: m/s, what the table says comes of it
    yaw_rate: float = 0.0  #: rad/s
    words: str = ""  #: what of the command this robot cannot do


@dataclasses.dataclass(frozen=True)
class DriveTable:
    """Steady speeds and yaw rates; NaN where the robot does not walk.

    Steering currents are not negative, for the other way it is the mirror image.
    """

    setpoints: np.ndarray  #: (n,), rad, rising
    steers: np.ndarray  #: (m,), A, rising from 0
    speed: np.ndarray  #: (n, m), m/s
    yaw_rate: np.ndarray  #: (n, m), rad/s; not positive, for a positive current turns right
    rest: float = 0.0  #: rad, the set point at which it stands

    def drive(self, speed: float, yaw_rate: float) -> Drive:
        """The set point and current whose speeds come nearest: first the yaw rate, then the speed.

        A robot that is not told to go ahead stops.
        """
        if not (math.isfinite(speed) and math.isfinite(yaw_rate)):
            return Drive(False, words=f"stops: {speed:g} m/s and {yaw_rate:g} rad/s are no command")
        if speed <= 0.0:
            words = "it can neither walk backward nor turn where it stands"
            return Drive(False, words=f"stops: {words}" if speed or yaw_rate else "")
        columns = [c for c in range(len(self.steers)) if np.isfinite(self.speed[:, c]).any()]
        steers, found = self.steers[columns], [self._at_speed(speed, c) for c in columns]
        setpoints, speeds, rates = (np.array(row) for row in zip(*found, strict=True))
        # What swings from current to current, where the sides lock in step, is no way to steer.
        turns = np.maximum.accumulate(np.abs(rates))
        steer = float(np.interp(abs(yaw_rate), turns, steers))
        setpoint, walked, turned = (
            float(np.interp(steer, steers, row)) for row in (setpoints, speeds, turns)
        )
        side = -math.copysign(1.0, yaw_rate)
        words = self._words(speed, yaw_rate, walked, -side * turned)
        return Drive(True, setpoint, side * steer + 0.0, walked, -side * turned + 0.0, words)

    def _at_speed(self, speed: float, column: int) -> tuple[float, float, float]:
        """Set point, speed and yaw rate nearest to this speed, at one steering current."""
        rows = np.isfinite(self.speed[:, column])
        speeds = np.maximum.accumulate(self.speed[rows, column])
        setpoint = float(np.interp(speed, speeds, self.setpoints[rows]))
        there = self.setpoints[rows]
        return (
            setpoint,
            float(np.interp(setpoint, there, speeds)),
            float(np.interp(setpoint, there, self.yaw_rate[rows, column])),
        )

    def _words(self, speed: float, yaw_rate: float, walked: float, turned: float) -> str:
        far = [
            f"{given:.3g} {unit} where {asked:.3g} were asked for"
            for asked, given, unit, most in (
                (speed, walked, "m/s", np.nanmax(self.speed)),
                (yaw_rate, turned, "rad/s", np.nanmax(np.abs(self.yaw_rate))),
            )
            if abs(asked - given) > CLOSE * most
        ]
        return f"walks at {' and '.join(far)}: it can do no more, or no less" if far else ""

    def to_json(self) -> str:
        rows = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        rest = rows.pop("rest")
        return json.dumps({name: _nulls(v) for name, v in rows.items()} | {"rest": rest})

    @classmethod
    def from_json(cls, text: str) -> DriveTable:
        """What `to_json` wrote."""
        told = json.loads(text)
        rest = float(told.pop("rest"))
        return cls(**{name: np.array(v, float) for name, v in told.items()}, rest=rest)


class DrivenOperator:
    """Commands of a speed, as they come, to operators.

    The first that goes ahead switches the motors on, once: what cut them off later is lifted by
    nobody but a person who starts the programs anew. To stop is to let the set point go to that of
    rest, then the law off.
    """

    def __init__(self, settings: StackSettings, rest: float = 0.0):
        self._rest = rest
        # One reference, replaced as a whole: no lock is needed to read it.
        self._newest = Operator(setpoint=settings.setpoint, source="ROS bridge"), -math.inf

    def command(self, drive: Drive, now: float) -> None:
        """Obey from now on, for STALE at most."""
        before, until = self._newest
        if drive.run:
            wishes = {"setpoint": drive.setpoint, "steer": drive.steer, "motors_on": 1}
            self._newest = dataclasses.replace(before, run=True, **wishes), now + STALE
        else:
            self._newest = before, min(until, now)

    def gone(self) -> None:
        """Nobody will command any more."""
        before, until = self._newest
        self._newest = dataclasses.replace(before, run=False, present=False), until

    def at(self, now: float) -> Operator:
        """The operator at this time [s] of the clock by which commands came."""
        newest, until = self._newest
        if now <= until or not newest.run:
            return newest
        share = (now - until) / COMES_TO_REST
        setpoint = newest.setpoint + min(share, 1.0) * (self._rest - newest.setpoint)
        return dataclasses.replace(newest, setpoint=setpoint, steer=0.0, run=share <= 1.0)


def _nulls(values: np.ndarray) -> list:
    """As JSON has it, which has no word for NaN."""
    return [
        _nulls(value) if np.ndim(value) else float(value) if math.isfinite(value) else None
        for value in values
    ]
