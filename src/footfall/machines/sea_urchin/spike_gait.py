"""The gait of the sea urchin.

Six feet follow one path, each in its own frame and at its own time.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import ParameterError, Parametric, choice, numbers, param
from footfall.machines.sea_urchin.spike_kinematics import AZIMUTHS, SPIKES, Vector
from footfall.machines.sea_urchin.tripod_support import least_duty, supported_share
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos

#: Offsets of the leg phases, counter-clockwise from the body's x axis.
PATTERNS = {
    "tripod": (0.0, 1 / 2, 0.0, 1 / 2, 0.0, 1 / 2),
    "pairs": (0.0, 1 / 3, 2 / 3, 0.0, 1 / 3, 2 / 3),
    "wave": tuple(i / 6 for i in range(6)),
    "together": (0.0,) * 6,
}

STANDS, RISES, SINKS = 0, 1, 2  #: pieces of a foot's path


class Foothold(NamedTuple):
    """Where the contact point of a foot is in the middle of its stride.

    In S, and how far S is from the body's axis.
    """

    x: Scalar  #: outwards from the attachment [m]
    y: Scalar  #: down to the floor [m]
    #: Radius of the ring of attachments [m]; only an arc asks for it.
    ring: Scalar = 0.06 * math.sqrt(3.0) / 2.0

    @property
    def arm(self) -> Scalar:
        """Distance of the foothold from the body's axis."""
        return self.ring + self.x


class FootPath(NamedTuple):
    """A foot along its path, with first and second derivatives by time."""

    s: Scalar  #: along the path, positive ahead [m]
    rise: Scalar  #: above the floor, positive UP, so y = y_0 - rise [m]
    s_rate: Scalar
    rise_rate: Scalar
    s_second: Scalar
    rise_second: Scalar


class FootMotion(NamedTuple):
    """Contact points in their frames S: (x, y, z) each, y down."""

    position: Vector
    velocity: Vector
    acceleration: Vector


class SpikeGait(Parametric):
    """A straight stroke back on the floor at the speed V = R/T_s, and back ahead through the air:

        stance  s = R/2 - V t,  rise = 0
        swing   s: quintic from (-R/2, v, 0) to (R/2, v, 0) in T_t
                   (place, speed, acceleration)                                            (spike.7)
                rise: quintics 0 -> lift -> 0, each in T_t/2, at rest at all three knots   (spike.8)

    v = -V ("matched") makes speed and acceleration continuous over the whole cycle; the foot then
    overshoots both ends of its stride a little. v = 0 ("resting") is the source's: its speed jumps
    by V at lift-off and touch-down. The source also passes the highest point at `via_speed` = +2
    cm/s downwards, which with its times sends the foot 1.8 cm above the wanted height first and
    then 1.22 cm BELOW the floor.

    A foot lands when the fractional part of t/T + offset is 0. Walking goes to the azimuth
    `heading` of the body; turning strokes every foot along its ring, as the source does for what it
    calls walking; an arc carries the feet around a point beside the body.
    """

    pattern: str = choice("tripod", options=(*PATTERNS, "custom"), doc="which feet step together")
    offsets: tuple[float, ...] = numbers(
        (), doc="phases of the six legs as shares of a cycle, for pattern = custom"
    )
    motion: str = choice(
        "walk",
        options=("walk", "turn", "arc"),
        doc="straight ahead, on the spot, or around a point beside the body",
    )
    heading: Scalar = param(
        0.0,
        unit="rad",
        doc="azimuth of the body to which it walks, counter-clockwise from its x axis",
    )
    radius: Scalar = param(0.5, unit="m", doc="of the arc that the body's centre describes", gt=0)
    sense: str = choice("left", options=("left", "right"), doc="where turns and arcs go")
    stride: Scalar = param(0.03, unit="m", doc="length R of a stroke", gt=0)
    lift: Scalar = param(0.01, unit="m", doc="how high a foot is lifted", gt=0)
    stance_time: Scalar = param(3.0, unit="s", doc="time T_s on the floor", gt=0)
    swing_time: Scalar | None = param(
        None,
        unit="s",
        doc="time T_t in the air; when not given, as long as the pattern's support allows",
        gt=0,
    )
    swing_ends: str = choice(
        "matched",
        options=("matched", "resting"),
        doc="speed of a foot as it leaves and lands: the floor's, or none",
    )
    via_speed: Scalar = param(0.0, unit="m/s", doc="speed downwards at the highest point")
    support: str = choice(
        "required",
        options=("required", "ignored"),
        doc="whether the standing feet must always hold the body up",
    )

    def __check_init__(self) -> None:
        super().__check_init__()
        if self.pattern == "custom" and len(self.offsets) != SPIKES:
            raise ParameterError(
                f"pattern = custom needs {SPIKES} offsets, one to a leg, as shares of a cycle; got"
                f" {len(self.offsets)}.",
                "offsets",
            )
        if self.pattern != "custom" and self.offsets:
            raise ParameterError(
                f'offsets are for pattern = "custom"; the pattern {self.pattern} has its own.',
                "offsets",
            )
        if self.support == "required":
            self._check_support()

    def _check_support(self) -> None:
        least = self.least_duty
        if least >= 1.0:
            raise ParameterError(
                f"pattern = {self.pattern}: no duty below 1 keeps the body's centre inside the"
                ' standing feet. Choose another pattern, or set support = "ignored" to see what'
                " happens.",
                "pattern",
            )
        duty = self.duty
        if not isinstance(duty, int | float | np.ndarray | np.generic):
            return  # traced: checked at the door
        given = np.asarray(duty, dtype=float)
        enough = given >= least - 1e-9
        if np.all(enough):
            return
        bad = int(np.argmin(enough))
        raise ParameterError(
            f"each foot stands for {given.flat[bad]:.4g} of a cycle, and the pattern {self.pattern}"
            f" needs at least {least:.4g} for the standing feet to hold the body up all the time:"
            f" swing_time must be at most {(1.0 - least) / least:.4g} times stance_time. Shorten"
            ' the swing, or set support = "ignored" to see what happens.',
            "swing_time",
            bad if given.ndim else None,
        )

    # --- times ------------------------------------------------------------------------------------

    def offsets_of(self) -> tuple[float, ...]:
        """Phase of each leg at t = 0 as a share of the cycle, stance first."""
        return self.offsets if self.pattern == "custom" else PATTERNS[self.pattern]

    @property
    def least_duty(self) -> float:
        """Smallest T_s/T with the body's centre always inside the feet.               (spike.10)

        Standing feet: tripod 1/2, pairs 2/3, wave 5/6.
        """
        return least_duty(self.offsets_of(), AZIMUTHS)

    @property
    def air_time(self) -> Scalar:
        """T_t."""
        if self.swing_time is not None:
            return self.swing_time
        least = self.least_duty
        return self.stance_time * ((1.0 - least) / least if least < 1.0 else 1.0)

    @property
    def period(self) -> Scalar:
        """T = T_s + T_t."""
        return self.stance_time + self.air_time

    @property
    def duty(self) -> Scalar:
        """Share of the cycle on the floor."""
        return self.stance_time / self.period

    @property
    def stance_speed(self) -> Scalar:
        """V."""
        return self.stride / self.stance_time

    @property
    def ideal_speed(self) -> Scalar:
        """Speed of the body without slip.

        v for as long as the standing feet hold it up, all the time where support is required. Feet
        that all move together push it ahead and, as it sinks onto them while they swing, back
        again: 0.
        """
        if self.pattern == "together" or len(set(self.offsets_of())) == 1:
            return 0.0 * self.stance_speed
        if self.support == "required":
            return self.stance_speed
        return self.stance_speed * supported_share(self.offsets_of(), AZIMUTHS, float(self.duty))

    def turn_per_cycle(self, foothold: Sequence[Scalar]) -> Scalar:
        """Heading gained in a cycle without slip, counter-clockwise positive.

        2 R/arm for an alternating tripod that turns on the spot.
        """
        advance = self.ideal_speed * self.period * self._sign
        if self.motion == "walk":
            return 0.0 * advance
        return advance / (self.radius if self.motion == "arc" else Foothold(*foothold).arm)

    @property
    def _sign(self) -> float:
        return 1.0 if self.sense == "left" else -1.0

    # --- one foot ---------------------------------------------------------------------------------

    @property
    def stage_lengths(self) -> Vector:
        """Times that a foot stands, rises and sinks."""
        half = 0.5 * self.air_time
        return self.stance_time, half, half

    def stage(self, t: Scalar) -> tuple[Any, Scalar]:
        """Which piece of its path a foot is on, and since when.

        STANDS, RISES or SINKS, at the time t after one of its landings.
        """
        turns = t / self.period
        since = (turns - jnp.floor(turns)) * self.period
        stance, half, _ = self.stage_lengths
        stands, rises = since < stance, since < stance + half
        which = jnp.where(stands, STANDS, jnp.where(rises, RISES, SINKS))
        return which, jnp.where(
            stands, since, jnp.where(rises, since - stance, since - stance - half)
        )

    def path(self, t: Scalar) -> FootPath:
        """A foot at the time t after one of its landings; it repeats with the period.

        All pieces are computed and one is taken. To choose the piece first and how long it has
        lasted then is not safe: XLA may compute a time on the border of two twice, with and without
        a fused product, and a foot be on the floor in mid-swing.
        """
        turns = t / self.period
        since = (turns - jnp.floor(turns)) * self.period
        stance, half, _ = self.stage_lengths
        pieces = ((STANDS, since), (RISES, since - stance), (SINKS, since - stance - half))
        standing, rising, sinking = (self.path_in(which, so_long) for which, so_long in pieces)
        flying = (
            jnp.where(since < stance + half, up, down)
            for up, down in zip(rising, sinking, strict=True)
        )
        return FootPath(
            *(jnp.where(since < stance, on, off) for on, off in zip(standing, flying, strict=True))
        )

    def path_in(self, stage: Any, since: Scalar) -> FootPath:
        """A foot on a given piece of its path, a time `since` after its begin.

        Smooth also beyond its ends, which an event may be.
        """
        stands, sinks = stage == STANDS, stage == SINKS
        air, speed = self.air_time, self.stance_speed
        half = 0.5 * air
        end_speed = -speed if self.swing_ends == "matched" else 0.0 * speed
        out, out_rate, out_second = quintic(
            self.stride, end_speed, end_speed, air, jnp.where(sinks, since + half, since)
        )
        # Sinking is rising backwards in time but for the speed at the top, so one quintic does for
        # both.
        rise, rise_rate, rise_second = quintic(
            jnp.where(sinks, -self.lift, self.lift),
            jnp.where(sinks, -self.via_speed, 0.0),
            jnp.where(sinks, 0.0, -self.via_speed),
            half,
            since,
        )
        return FootPath(
            s=jnp.where(stands, 0.5 * self.stride - speed * since, out - 0.5 * self.stride),
            rise=jnp.where(stands, 0.0, jnp.where(sinks, self.lift + rise, rise)),
            s_rate=jnp.where(stands, -speed, out_rate),
            rise_rate=jnp.where(stands, 0.0, rise_rate),
            s_second=jnp.where(stands, 0.0, out_second),
            rise_second=jnp.where(stands, 0.0, rise_second),
        )

    def stands(self, t: Scalar) -> Any:
        """Whether a foot is meant to be on the floor at the time t after one of its landings."""
        return self.stage(t)[0] == STANDS

    def foot(
        self, t: Scalar, foothold: Sequence[Scalar], azimuth: Scalar, offset: Scalar
    ) -> FootMotion:
        """The contact point of one leg, or of several, in S.

        Azimuths and offsets of several have the shape to meet t.
        """
        return self.placed(self.path(t + offset * self.period), foothold, azimuth)

    def placed(self, path: FootPath, foothold: Sequence[Scalar], azimuth: Scalar) -> FootMotion:
        """A path put into the frame S of the leg at an azimuth of the body:

        walk  x = x_0 + s cos(u - theta_i),  z = s sin(u - theta_i);     turn  x = x_0,  z = s
        arc   the foothold turned by s/radius about the arc's centre, which lies beside the body,
              square to u                                                                  (spike.9)
        """
        place = Foothold(*foothold)
        s, s_rate, s_second = path.s, path.s_rate, path.s_second
        if self.motion == "arc":
            (x, vx, ax), (z, vz, az) = self._arc(place, azimuth, s, s_rate, s_second)
        else:
            along, across = (
                (0.0, self._sign) if self.motion == "turn" else sincos(self.heading - azimuth)[::-1]
            )
            (x, vx, ax), (z, vz, az) = ((f * s, f * s_rate, f * s_second) for f in (along, across))
        return FootMotion(
            (place.x + x, place.y - path.rise, z),
            (vx, -path.rise_rate, vz),
            (ax, -path.rise_second, az),
        )

    def _arc(
        self, place: Foothold, azimuth: Scalar, s: Scalar, s_rate: Scalar, s_second: Scalar
    ) -> tuple[Vector, Vector]:
        """Displacement along x and along z of S with rates, for feet that turn by s/radius about
        the centre of the arc.
        """
        radius, sign = self.radius, self._sign
        sin_u, cos_u = sincos(self.heading - azimuth)
        # From the centre to the foothold, in the axes (radial, tangential) of the leg.
        px, pz = place.arm + sign * radius * sin_u, -sign * radius * cos_u
        sine, cosine = sincos(sign * s / radius)
        rate, second = sign * s_rate / radius, sign * s_second / radius
        x, z = cosine * px - sine * pz, sine * px + cosine * pz
        return (
            (x - px, -rate * z, -second * z - rate * rate * x),
            (z - pz, rate * x, second * x - rate * rate * z),
        )

    def feet(
        self, t: Scalar, foothold: Sequence[Scalar], azimuths: Sequence[float] = AZIMUTHS
    ) -> FootMotion:
        """The contact points of all legs in their own frames.

        Each component has the legs first, then the shape of t.
        """
        rows = (-1, *[1] * np.ndim(t))
        offsets = np.asarray(self.offsets_of()).reshape(rows)
        motion = self.foot(
            jnp.asarray(t)[None], foothold, np.asarray(azimuths, dtype=float).reshape(rows), offsets
        )
        shape = (len(azimuths), *np.shape(t))

        def full(vector: Vector) -> Vector:
            x, y, z = (jnp.broadcast_to(v, shape) for v in vector)
            return x, y, z

        return FootMotion(full(motion.position), full(motion.velocity), full(motion.acceleration))

    def standing(self, t: Scalar) -> Any:
        """Which legs are meant to be on the floor: legs first, then the shape of t."""
        offsets = np.asarray(self.offsets_of()).reshape((-1, *[1] * np.ndim(t)))
        return self.stands(jnp.asarray(t)[None] + offsets * self.period)


def quintic(distance: Scalar, begin: Scalar, end: Scalar, duration: Scalar, t: Scalar) -> Vector:
    """Way gone at t, speed and acceleration on a quintic.

    Over `distance` in `duration` with these speeds and no acceleration at its ends.
    """
    u = t / duration
    a, b = begin * duration, end * duration
    # value = a u + c3 u^3 + c4 u^4 + c5 u^5, from the conditions at u = 1.
    c3 = 10.0 * distance - 6.0 * a - 4.0 * b
    c4 = -15.0 * distance + 8.0 * a + 7.0 * b
    c5 = 6.0 * distance - 3.0 * a - 3.0 * b
    square = u * u
    return (
        u * (a + square * (c3 + u * (c4 + u * c5))),
        (a + square * (3.0 * c3 + u * (4.0 * c4 + u * (5.0 * c5)))) / duration,
        u * (6.0 * c3 + u * (12.0 * c4 + u * (20.0 * c5))) / (duration * duration),
    )
