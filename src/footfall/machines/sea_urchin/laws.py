"""The laws of spike_control.py for twelve spikes at once.

In NumPy, on arrays that exist already.

The control parts are written for JAX: a call of theirs would take longer than a step of the engine.
A test holds both against each other. The term -damping * v is inside the actuators and is left out
here; limits are the actuators' too.
"""

from typing import Any

import numpy as np

from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_control import (
    AbstractSpikeControl,
    HeldEffort,
    SpikePid,
    StiffnessControl,
)


class _Weight:
    """Gravity feed-forward g(q) of a spike whose attachment is upright: (spike.14)."""

    def __init__(self, spike: Spike, gravity: float):
        drawn_in, out = spike.inertia(0.0), spike.inertia(1.0)
        self.first, self.rate, self.gravity = (
            float(drawn_in.first),
            float(out.first - drawn_in.first),
            gravity,
        )

    def add(self, q: np.ndarray, out: np.ndarray) -> None:
        s, c = np.sin(q[:, :2]), np.cos(q[:, :2])
        moment = self.gravity * (self.first + self.rate * q[:, 2])
        out[:, 0] -= moment * c[:, 0] * s[:, 1]
        out[:, 1] -= moment * s[:, 0] * c[:, 1]
        out[:, 2] -= self.gravity * self.rate * s[:, 0] * s[:, 1]


class PidLaw:
    """P e + I int(e) + D v_d, joint by joint."""

    def __init__(
        self,
        control: SpikePid,
        spike: Spike,
        gravity: float,
        step: float,
        q: np.ndarray,
        v: np.ndarray,
        out: np.ndarray,
    ):
        self.gains, self.v, self.q, self.out = (
            np.array([float(p) for p in control.proportional]),
            v,
            q,
            out,
        )
        self.integral_gains = (
            np.array([float(i) for i in control.integral]) if control.uses_integral else None
        )
        self.error, self.term, self.integral = (
            np.zeros_like(out),
            np.zeros_like(out),
            np.zeros_like(out),
        )
        self.step, self.weight = (
            step,
            _Weight(spike, gravity) if control.feed_forward == "gravity" else None,
        )
        self.damping = np.array([float(d) for d in control.damping])
        limits = (control.torque_limit, control.torque_limit, control.force_limit)
        self.limits = (
            None
            if all(m is None for m in limits)
            else np.array([np.inf if m is None else float(m) for m in limits])
        )

    def __call__(self, wanted: np.ndarray, feed: np.ndarray) -> None:
        """Controls for these joints and this damping * v_d."""
        error, out = self.error, self.out
        np.subtract(wanted, self.q, out=error)
        np.multiply(self.gains, error, out=out)
        out += feed
        if self.weight is not None:  # before the integral, whose limit is that of the whole effort
            self.weight.add(self.q, out)
        if self.integral_gains is not None:
            self._integrate(error)
            out += np.multiply(self.integral_gains, self.integral, out=self.term)

    def _integrate(self, error: np.ndarray) -> None:
        growth = np.multiply(error, self.step, out=self.term)
        # Where the effort is at its limit and the error would press on, nothing is added.
        if self.limits is not None:
            effort = self.out + self.integral_gains * self.integral - self.damping * self.v
            growth[(np.abs(effort) >= self.limits) & (effort * error > 0)] = 0.0
        self.integral += growth


class StiffnessLaw:
    """J^T K J e + K_v v_d with J of the ball's centre, whose columns are orthogonal.

    They are lam s2 e1, lam e2, z_2.
    """

    def __init__(
        self,
        control: StiffnessControl,
        spike: Spike,
        gravity: float,
        q: np.ndarray,
        out: np.ndarray,
    ):
        self.stiffness = np.array(
            [float(k) for k in (control.stiffness_x, control.stiffness_y, control.stiffness_z)]
        )[:, None]
        self.shortest, self.q, self.out = float(spike.shape.shortest), q, out
        self.error, self.jacobian = np.zeros_like(out), np.zeros((len(q), 3, 3))
        self.sine, self.cosine = np.zeros((len(q), 2)), np.zeros((len(q), 2))
        self.weight = _Weight(spike, gravity) if control.feed_forward == "gravity" else None

    def __call__(self, wanted: np.ndarray, feed: np.ndarray) -> None:
        q, error, jac = self.q, self.error, self.jacobian
        np.subtract(wanted, q, out=error)
        sine, cosine = np.sin(q[:, :2], out=self.sine), np.cos(q[:, :2], out=self.cosine)
        s1, s2, c1, c2 = sine[:, 0], sine[:, 1], cosine[:, 0], cosine[:, 1]
        lam = q[:, 2] + self.shortest
        across = lam * s2
        jac[:, 0, 0], jac[:, 1, 0] = -s1 * across, c1 * across
        along = lam * c2
        jac[:, 0, 1], jac[:, 1, 1], jac[:, 2, 1] = c1 * along, s1 * along, across
        jac[:, 0, 2], jac[:, 1, 2], jac[:, 2, 2] = c1 * s2, s1 * s2, -c2
        force = jac @ error[:, :, None]
        force *= self.stiffness
        np.add((jac.transpose(0, 2, 1) @ force)[:, :, 0], feed, out=self.out)
        if self.weight is not None:
            self.weight.add(q, self.out)


class HeldLaw:
    """The same efforts in all spikes, whatever happens."""

    def __init__(self, control: HeldEffort, out: np.ndarray):
        self.efforts = [float(v) for v in (control.torque_1, control.torque_2, control.force)]
        self.out = out

    def __call__(self, wanted: np.ndarray, feed: np.ndarray) -> None:
        del wanted, feed
        self.out[:] = self.efforts


def law_of(
    control: AbstractSpikeControl,
    spike: Spike,
    gravity: float,
    step: float,
    q: np.ndarray,
    v: np.ndarray,
    out: np.ndarray,
) -> Any:
    """The law of a control part, for all spikes.

    It reads the joints q, v (spikes, 3) and writes the controls into `out`.
    """
    if isinstance(control, SpikePid):
        return PidLaw(control, spike, gravity, step, q, v, out)
    if isinstance(control, StiffnessControl):
        return StiffnessLaw(control, spike, gravity, q, out)
    if isinstance(control, HeldEffort):
        return HeldLaw(control, out)
    raise TypeError(
        f"{type(control).__name__} has no form for the whole robot yet: add one to"
        " machines/sea_urchin/laws.py."
    )
