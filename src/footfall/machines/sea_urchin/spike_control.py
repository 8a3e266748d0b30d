"""Laws that make a spike follow its joints' targets.

PID joint by joint, and a stiffness of the foot in space.
"""

import abc
from typing import Any, ClassVar

import jax.numpy as jnp

from footfall.hybrid.fields import Parametric, choice, param
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_kinematics import Vector, ball_jacobian
from footfall.numerics.scalar import Scalar

#: hinge P, I, D; slide P, I, D
GAINS = {
    "recommended": (40.0, 0.0, 0.5, 1e4, 0.0, 100.0),
    "source": (10.0, 10.0, 10.0, 1e4, 1e3, 100.0),
}


class AbstractSpikeControl(Parametric):
    """A continuous law of a spike's efforts (torque, torque, force).

    From joints, targets and an integral of the error that the caller carries.

    Pure and elementwise, for one spike or an array of them. `effort` is affine in v with the slope
    -`damping` until a limit cuts it, so that an integrator may take v = 0 here and put the damping
    in implicitly. The spike is needed for its lengths and weights, where a law uses them.
    """

    torque_limit: Scalar | None = param(
        None, unit="N m", doc="largest torque of a hinge; none when not given", gt=0
    )
    force_limit: Scalar | None = param(
        None, unit="N", doc="largest force of the slide; none when not given", gt=0
    )
    feed_forward: str = choice(
        "none", options=("none", "gravity"), doc="whether the spike's own weight is added"
    )

    @abc.abstractmethod
    def wanted(
        self, q: Vector, v: Vector, q_d: Vector, v_d: Vector, integral: Vector, spike: Spike | None
    ) -> Vector:
        """Efforts before the feed-forward and the limits."""

    @property
    @abc.abstractmethod
    def damping(self) -> Vector:
        """Gains of the rates: N m s/rad, N m s/rad, N s/m."""

    @property
    @abc.abstractmethod
    def uses_integral(self) -> bool:
        """Whether the integral of the error matters: a caller need not carry it where not."""

    def effort(
        self,
        q: Vector,
        v: Vector,
        q_d: Vector,
        v_d: Vector,
        integral: Vector,
        spike: Spike | None = None,
        gravity: Scalar = 9.81,
    ) -> Vector:
        """Efforts on the joints."""
        free = self._unlimited(q, v, q_d, v_d, integral, spike, gravity)
        return tuple(_cut(e, limit) for e, limit in zip(free, self._limits, strict=True))

    def integral_rate(
        self,
        q: Vector,
        v: Vector,
        q_d: Vector,
        v_d: Vector,
        integral: Vector,
        spike: Spike | None = None,
        gravity: Scalar = 9.81,
    ) -> Vector:
        """d(integral)/dt: the error.

        Nothing where the effort is at its limit and the error would press on.
        """
        errors = _minus(q_d, q)
        if all(limit is None for limit in self._limits):
            return errors
        free = self._unlimited(q, v, q_d, v_d, integral, spike, gravity)
        return tuple(
            _unwound(e, f, limit) for e, f, limit in zip(errors, free, self._limits, strict=True)
        )

    def _unlimited(
        self,
        q: Vector,
        v: Vector,
        q_d: Vector,
        v_d: Vector,
        integral: Vector,
        spike: Spike | None,
        gravity: Scalar,
    ) -> Vector:
        wanted = self.wanted(q, v, q_d, v_d, integral, spike)
        if self.feed_forward == "none":
            return wanted
        return _plus(wanted, _needed(spike, "the gravity feed-forward").gravity_load(q, gravity))

    @property
    def _limits(self) -> tuple[Scalar | None, Scalar | None, Scalar | None]:
        return self.torque_limit, self.torque_limit, self.force_limit


class SpikePid(AbstractSpikeControl):
    """Each joint on its own: effort = P e + I int(e) + D e',   e = q_d - q            (spike.16)

    The source's gains creep: D = 10 N m s/rad against P = 10 lets an error of the hinges decay with
    P/D = 1 s, on an inertia of 1e-4 kg m^2 whose own time is 1e-5 s, so that an explicit integrator
    needs steps below 2 J/D. The recommended ones have no integral.
    """

    nickname: ClassVar[str] = "pid"  #: what --set controller= may call it

    gains: str = choice(
        "recommended", options=tuple(GAINS), doc="where gains that are not given come from"
    )
    hinge_proportional: Scalar | None = param(
        None, unit="N m/rad", doc="P of both hinges; auto: by `gains`", ge=0
    )
    hinge_integral: Scalar | None = param(
        None, unit="N m/rad/s", doc="I of both hinges; auto: by `gains`", ge=0
    )
    hinge_derivative: Scalar | None = param(
        None, unit="N m s/rad", doc="D of both hinges; auto: by `gains`", ge=0
    )
    slide_proportional: Scalar | None = param(
        None, unit="N/m", doc="P of the slide; auto: by `gains`", ge=0
    )
    slide_integral: Scalar | None = param(
        None, unit="N/m/s", doc="I of the slide; auto: by `gains`", ge=0
    )
    slide_derivative: Scalar | None = param(
        None, unit="N s/m", doc="D of the slide; auto: by `gains`", ge=0
    )

    def _table(self) -> tuple[Scalar, ...]:
        given = (
            self.hinge_proportional,
            self.hinge_integral,
            self.hinge_derivative,
            self.slide_proportional,
            self.slide_integral,
            self.slide_derivative,
        )
        return tuple(
            usual if own is None else own
            for own, usual in zip(given, GAINS[self.gains], strict=True)
        )

    @property
    def proportional(self) -> Vector:
        p, _, _, slide, _, _ = self._table()
        return p, p, slide

    @property
    def integral(self) -> Vector:
        _, i, _, _, slide, _ = self._table()
        return i, i, slide

    @property
    def damping(self) -> Vector:
        _, _, d, _, _, slide = self._table()
        return d, d, slide

    @property
    def uses_integral(self) -> bool:
        return not all(isinstance(gain, int | float) and gain == 0.0 for gain in self.integral)

    def wanted(
        self, q: Vector, v: Vector, q_d: Vector, v_d: Vector, integral: Vector, spike: Spike | None
    ) -> Vector:
        del spike
        rows = zip(
            self.proportional,
            self.integral,
            self.damping,
            _minus(q_d, q),
            integral,
            _minus(v_d, v),
            strict=True,
        )
        return tuple(p * e + i * past + d * rate for p, i, d, e, past, rate in rows)


class StiffnessControl(AbstractSpikeControl):
    """The foot as on springs along the axes of S, after Salisbury (1980).

    With J of the ball's centre:

    effort = J^T K J (q_d - q) + K_v (q_d' - q')                                          (spike.17)

    y is down: a soft `stiffness_y` spares the spike on rough ground, and lets the body sag by W/(n
    K_y) on n feet; see `least_stiffness`. The source names neither K nor K_v: these are ours.
    """

    stiffness_x: Scalar = param(2000.0, unit="N/m", doc="radial stiffness of the foot", ge=0)
    stiffness_y: Scalar = param(3000.0, unit="N/m", doc="vertical stiffness of the foot", ge=0)
    stiffness_z: Scalar = param(
        2000.0, unit="N/m", doc="stiffness of the foot along the ring", ge=0
    )
    hinge_damping: Scalar = param(0.05, unit="N m s/rad", doc="damping K_v of both hinges", ge=0)
    slide_damping: Scalar = param(20.0, unit="N s/m", doc="damping K_v of the slide", ge=0)

    @property
    def damping(self) -> Vector:
        return self.hinge_damping, self.hinge_damping, self.slide_damping

    @property
    def uses_integral(self) -> bool:
        return False

    def wanted(
        self, q: Vector, v: Vector, q_d: Vector, v_d: Vector, integral: Vector, spike: Spike | None
    ) -> Vector:
        del integral
        rows = ball_jacobian(_needed(spike, "stiffness control").shape, *q)
        error = _minus(q_d, q)
        stiffness = (self.stiffness_x, self.stiffness_y, self.stiffness_z)
        forces = [
            k * (row[0] * error[0] + row[1] * error[1] + row[2] * error[2])
            for k, row in zip(stiffness, rows, strict=True)
        ]
        pulled = tuple(
            sum(row[j] * force for row, force in zip(rows, forces, strict=True)) for j in range(3)
        )
        return tuple(
            p + d * rate for p, d, rate in zip(pulled, self.damping, _minus(v_d, v), strict=True)
        )


class HeldEffort(AbstractSpikeControl):
    """The same efforts whatever happens: what somebody else decides, held."""

    torque_1: Scalar = param(0.0, unit="N m", doc="torque of joint 1")
    torque_2: Scalar = param(0.0, unit="N m", doc="torque of joint 2")
    force: Scalar = param(0.0, unit="N", doc="force of the slide")

    @property
    def damping(self) -> Vector:
        return 0.0, 0.0, 0.0

    @property
    def uses_integral(self) -> bool:
        return False

    def wanted(
        self, q: Vector, v: Vector, q_d: Vector, v_d: Vector, integral: Vector, spike: Spike | None
    ) -> Vector:
        del v, q_d, v_d, integral, spike
        return tuple(
            own + 0.0 * place
            for own, place in zip((self.torque_1, self.torque_2, self.force), q, strict=True)
        )


def _needed(spike: Spike | None, what: str) -> Spike:
    if spike is None:
        raise TypeError(f"{what} needs the spike: effort(q, v, q_d, v_d, integral, spike)")
    return spike


def _minus(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _plus(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _cut(effort: Scalar, limit: Scalar | None) -> Any:
    return effort if limit is None else jnp.clip(effort, -limit, limit)


def _unwound(error: Scalar, effort: Scalar, limit: Scalar | None) -> Any:
    if limit is None:
        return error
    winding_up = (effort >= limit) & (error > 0) | (effort <= -limit) & (error < 0)
    return jnp.where(winding_up, 0.0, error)
