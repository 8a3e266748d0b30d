"""The sea urchin's computer: a program of walking and rolling, a control law, and kicks.

The program is a generator that is asked for the next target once a step: it reads as what it does,
and costs a tenth of a microsecond.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import numpy as np

from footfall.hybrid.rigid_bodies import AbstractDriver
from footfall.machines.sea_urchin.laws import law_of
from footfall.machines.sea_urchin.program import Action
from footfall.machines.sea_urchin.reference import walking_joints
from footfall.machines.sea_urchin.spike_kinematics import AZIMUTHS, SPIKES

if TYPE_CHECKING:
    from footfall.machines.sea_urchin.robot import UrchinRobot

#: Drawn in along the normals of the shell: the pose it rolls in. Bottom ring, then upper ring.
DRAWN_IN = np.array(
    [[math.pi / 6, math.pi / 2, 0.0]] * SPIKES + [[-math.pi / 6, math.pi / 2, 0.0]] * SPIKES
)
#: What the driver counts, in the order it is logged.
TALLY = ("mode", "strides", "faces", "kicks")
#: Modes, as logged.
HOLDING, WALKING, ROLLING, TIPPING, STUCK = range(5)
#: It lies still below these speeds [m/s, rad/s].
STILL = (0.01, 0.1)
#: Slides are out this near to the end of their stroke [m].
NEARLY = 5e-4
#: Angle below the horizon at which spikes push down to tip the body over [rad], time to move there
#: [s], how often it tries.
DOWNWARDS, MOVE_TIME, TRIES = math.radians(75.0), 0.4, 4


class Reference(NamedTuple):
    """Targets of a walk: joints and damping * rates, (steps, 12, 3)."""

    joints: np.ndarray
    feed: np.ndarray
    repeats: bool  #: they are one cycle, which goes round


def walk_reference(robot: "UrchinRobot", steps: int, step: float) -> Reference:
    """All that a walk of so many steps needs, in one batch.

    A cycle of it, where a cycle is a whole number of steps.
    """
    period = float(robot.gait.period)
    cycle = round(period / step)
    repeats = cycle < steps and abs(cycle * step - period) < 1e-9 * period
    t = step * np.arange(cycle if repeats else steps + 1)
    q, v = walking_joints(robot, t)
    wanted, feed = np.zeros((len(t), 2 * SPIKES, 3)), np.zeros((len(t), 2 * SPIKES, 3))
    wanted[:, :SPIKES], feed[:, :SPIKES] = (
        q,
        v * np.array([float(d) for d in robot.controller.damping]),
    )
    wanted[:, SPIKES:] = robot.upper_pose
    return Reference(wanted, feed, repeats)


class UrchinDriver(AbstractDriver):
    """One run's computer."""

    def __init__(
        self, robot: "UrchinRobot", model: Any, data: Any, steps: int, actions: Sequence[Action]
    ):
        self.robot, self.model, self.step = robot, model, float(model.opt.timestep)
        self.q, self.v = data.qpos[7:].reshape(-1, 3), data.qvel[6:].reshape(-1, 3)
        self.quat, self.body_speed, self.controls = (
            data.qpos[3:7],
            data.qvel[:6],
            data.ctrl.reshape(-1, 3),
        )
        self.law = law_of(
            robot.controller,
            robot.built_spike,
            float(robot.gravity),
            self.step,
            self.q,
            self.v,
            self.controls,
        )
        gains = np.tile([float(d) for d in robot.controller.damping], 2 * SPIKES)
        self.damping = np.concatenate([np.zeros(6), gains])
        self.inner = gains.copy()
        walks = any(action.verb == "walk" for action in actions)
        self.reference = walk_reference(robot, steps, self.step) if walks else None
        self.still_feed = np.zeros_like(DRAWN_IN)
        first = next((action.verb for action in actions if action.verb != "hold"), "walk")
        self.wanted = (
            self.reference.joints[0] if first == "walk" and self.reference is not None else DRAWN_IN
        )
        self.feed = self.still_feed
        self.kicking: tuple[int, ...] = ()
        self.kick_force = 0.0
        self.mode, self.strides, self.faces, self.kicks = HOLDING, 0, 0, 0
        self.steps, self.first_yaw, self.upright_since_start = steps, self._yaw(), first != "roll"
        self.script = self._program(actions)

    def act(self, i: int) -> None:
        next(self.script)
        self.law(self.wanted, self.feed)
        if self.kicking:
            for k in self.kicking:
                self.controls[k, 2] = self.kick_force

    def watch(self) -> Mapping[str, Any]:
        return {"wanted": self.wanted, "tally": (self.mode, self.strides, self.faces, self.kicks)}

    # ---- the program

    def _program(self, actions: Sequence[Action]) -> Iterator[None]:
        yield from self._hold(float(self.robot.wait))
        for action in actions:
            match action.verb:
                case "walk":
                    yield from self._walk(action.count)
                case "roll":
                    yield from self._roll(action.count)
                case "lie":
                    yield from self._tip(self._rear_feet, LYING_AXIS)
                case "rise":
                    yield from self._tip(self._lower_upper_pair, STANDING_AXIS)
                case "hold":
                    yield from self._hold(action.count)
            if self.mode == STUCK:
                break
        self.mode = self.mode if self.mode == STUCK else HOLDING
        while True:
            yield

    def _hold(self, seconds: float) -> Iterator[None]:
        self.mode, self.feed = HOLDING, self.still_feed
        left = seconds
        while left > 0.5 * self.step:
            yield
            left -= self.step

    def _move(self, target: np.ndarray, seconds: float) -> Iterator[None]:
        """Joints from where they are wanted to where they shall be, straight."""
        begin, steps = self.wanted.copy(), max(1, round(seconds / self.step))
        self.feed = self.still_feed
        if np.allclose(begin, target, atol=1e-12):
            return
        for k in range(1, steps + 1):
            self.wanted = begin + (target - begin) * (k / steps)
            yield

    def _walk(self, cycles: float) -> Iterator[None]:
        assert self.reference is not None
        reference = self.reference if self.upright_since_start else self._turned_reference()
        joints, feed, repeats = reference
        yield from self._move(joints[0], 2 * MOVE_TIME)
        self.mode = WALKING
        period, done, k = float(self.robot.gait.period), self.strides, 0
        last = math.inf if math.isinf(cycles) else round(cycles * period / self.step)
        while k < last:
            row = k % len(joints) if repeats else min(k, len(joints) - 1)
            self.wanted, self.feed = joints[row], feed[row]
            self.strides = done + int(k * self.step / period + 1e-9)
            yield
            k += 1
        self.strides, self.feed = done + int(cycles), self.still_feed

    def _yaw(self) -> float:
        axes = self._axes()
        return math.atan2(axes[1, 0], axes[0, 0])

    def _turned_reference(self) -> Reference:
        """After it has rolled, its body points elsewhere.

        The heading is kept in the house, not in the body.
        """
        heading = float(self.robot.gait.heading) + self.first_yaw - self._yaw()
        robot = eqx.tree_at(lambda r: r.gait.heading, self.robot, heading)
        return walk_reference(robot, self.steps, self.step)

    # ---- rolling

    def _axes(self) -> np.ndarray:
        """Body axes as columns, house frame."""
        w, x, y, z = self.quat.tolist()
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )

    def _until_still(self) -> Iterator[None]:
        """Until it has lain still for the gait's rest."""
        needed, still = float(self.robot.roll.rest), 0.0
        while still < needed:
            yield
            linear, turning = STILL
            quiet = (
                np.abs(self.body_speed[:3]).max() < linear
                and np.abs(self.body_speed[3:]).max() < turning
            )
            still = still + self.step if quiet else 0.0

    def _kick(self, spikes: tuple[int, ...], force: float) -> Iterator[None]:
        """A constant force until the slides are out and for the least time.

        Or until patience ends.
        """
        roll, stroke, t = self.robot.roll, float(self.robot.built_spike.stroke), 0.0
        slides = [3 * k + 2 for k in spikes]
        self.kicking, self.kick_force = spikes, force
        self.kicks += 1
        self._damp(slides, 0.0)
        while t < float(roll.patience):
            yield
            t += self.step
            if t >= float(roll.kick_time) and all(self.q[k, 2] >= stroke - NEARLY for k in spikes):
                break
        self._damp(slides, None)
        self.kicking = ()

    def _damp(self, slides: list[int], value: float | None) -> None:
        """The damping inside the actuators of these slides: a kick pushes freely."""
        damping = self.damping.copy()
        for k in slides:
            damping[6 + k] = self.inner[k] if value is None else value
            self.model.actuator_biasprm[k, 2] = -damping[6 + k]
        self.damping = damping

    def _columns(self) -> np.ndarray:
        """Direction of each of the six columns of spikes, house frame: (6, 3)."""
        axes = self._axes()
        return np.outer(np.cos(AZIMUTHS), axes[:, 0]) + np.outer(np.sin(AZIMUTHS), axes[:, 1])

    def _onward(self) -> np.ndarray:
        """The way it can roll, across its axis, nearest to the wanted direction."""
        axis, angle = self._axes()[:, 2], float(self.robot.roll.direction)
        across = np.array([axis[1], -axis[0], 0.0]) / max(math.hypot(axis[0], axis[1]), 1e-9)
        return across if across[0] * math.cos(angle) + across[1] * math.sin(angle) >= 0 else -across

    def _down_column(self) -> float:
        """Azimuth of the body that points down, as a share of a turn of six columns."""
        axes = self._axes()
        return math.atan2(-axes[2, 1], -axes[2, 0]) / (math.pi / 3.0)

    def _roll(self, faces: float) -> Iterator[None]:
        """Kick with the rear one of the two columns it lies on, side after side."""
        self.mode = ROLLING
        yield from self._move(DRAWN_IN, MOVE_TIME)
        goal, gone = self.faces + faces, 0.0
        onward = self._onward()
        # Rolling onward turns the down direction over the columns one way or the other, as the axis
        # points left or right.
        sense = math.copysign(1.0, float(np.cross(onward, [0.0, 0.0, 1.0]) @ self._axes()[:, 2]))
        last, begin, given_up = self._down_column(), self.faces, 0
        while self.faces < goal:
            yield from self._until_still()
            if abs(self._axes()[2, 2]) > 0.5:  # it stands on an end
                self.mode = STUCK
                return
            columns, onward = self._columns(), self._onward()
            low = np.argsort(columns[:, 2])[:2]
            rear = int(low[np.argmin(columns[low] @ onward)])
            before = self.faces
            for _ in self._track(self._kick((rear, rear + SPIKES), float(self.robot.roll.force))):
                here = self._down_column()
                gone += sense * ((here - last + 3.0) % 6.0 - 3.0)
                last, self.faces = here, begin + round(gone)
                yield
            given_up = given_up + 1 if self.faces == before else 0
            if given_up >= TRIES:
                self.mode = STUCK
                return

    def _track(self, kick: Iterator[None]) -> Iterator[None]:
        """A kick, and what comes of it until all is still."""
        yield from kick
        self.wanted = DRAWN_IN
        yield from self._until_still()

    # ---- between standing and lying

    def _rear_feet(self) -> tuple[int, ...]:
        """Two neighbouring bottom spikes that tip it over the two opposite feet.

        To the left of the direction it is to roll in, so that its axis then lies across it; as
        nearly as its six edges allow.
        """
        columns, angle = self._columns(), float(self.robot.roll.direction)
        leftward = columns @ np.array([-math.sin(angle), math.cos(angle), 0.0])
        both = leftward + np.roll(leftward, -1)
        first = int(np.argmin(both))
        return first, (first + 1) % SPIKES

    def _lower_upper_pair(self) -> tuple[int, ...]:
        """The upper spikes of the two columns it lies on: they tip it onto its bottom ring."""
        low = np.argsort(self._columns()[:, 2])[:2]
        return tuple(int(k) + SPIKES for k in low)

    def _tip(self, choose: Any, upright: float) -> Iterator[None]:
        """Kick with the chosen spikes until the axis is where it shall be."""
        self.mode, self.upright_since_start = TIPPING, False
        yield from self._move(DRAWN_IN, MOVE_TIME)
        for _ in range(TRIES):
            yield from self._until_still()
            if _axis_is(self._axes()[2, 2], upright):
                return
            spikes = choose()
            aimed = DRAWN_IN.copy()
            for k in spikes:
                aimed[k, 0] = math.copysign(DOWNWARDS if k < SPIKES else aimed[k, 0], aimed[k, 0])
            yield from self._move(aimed, MOVE_TIME)
            yield from self._kick(spikes, float(self.robot.roll.tip_force))
            yield from self._move(DRAWN_IN, 0.5 * MOVE_TIME)
        yield from self._until_still()
        if not _axis_is(self._axes()[2, 2], upright):
            self.mode = STUCK


LYING_AXIS, STANDING_AXIS = 0.0, 1.0


def _axis_is(up: float, wanted: float) -> bool:
    return abs(up - wanted) < 0.2
