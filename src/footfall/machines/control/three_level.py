"""The control computer of the differential-drive rimless wheel.

Three programs on three machines, and the lines between them.
"""

import numpy as np

from footfall.hybrid.fields import ParameterError, Parametric, choice, param
from footfall.machines.control.settings import LONGEST_TIMEOUT, MOST_COPIES
from footfall.numerics.scalar import Scalar
from footfall.numerics.units import TURN

MICRO = 1e-6
#: Sign of each motor, by how they are mounted.
MOUNTINGS = {
    "both-forward": (1.0, 1.0),
    "left-reversed": (-1.0, 1.0),
    "right-reversed": (1.0, -1.0),
    "both-reversed": (-1.0, -1.0),
}


class ThreeLevelStack(Parametric):
    """A high level (100 Hz), a mid level (1 kHz) and a low level (4 kHz), a program each.

    High level: safety, sensor, operator. Mid level: pitch law. Low level: motor currents.

    Programs start at ticks of one clock, `resolution` apart; periods, offsets and jitter are whole
    numbers of ticks. Chance (noise, loss, jitter) comes from a counter and the seed: the same seed
    gives the same run, in a batch as alone.
    """

    resolution: float = param(
        250e-6,
        unit="s",
        doc="time between ticks of the clock on which programs start",
        gt=0,
        le=1,
        static=True,
    )
    high_period: float = param(
        0.01,
        unit="s",
        doc="period of the high level, and of the pitch it sends",
        gt=0,
        le=1000,
        static=True,
    )
    mid_period: float = param(
        0.001,
        unit="s",
        doc="period of the mid level, where the pitch law is computed",
        gt=0,
        le=1000,
        static=True,
    )
    low_period: float = param(
        250e-6,
        unit="s",
        doc="period of the low level, where currents are set",
        gt=0,
        le=1000,
        static=True,
    )
    queue: int = param(
        2,
        doc="messages that may be under way at once from high to mid level",
        ge=1,
        le=8,
        static=True,
    )
    high_offset: Scalar = param(0.0, unit="s", doc="when the high level first runs", ge=0, le=1000)
    mid_offset: Scalar = param(0.0, unit="s", doc="when the mid level first runs", ge=0, le=1000)
    high_jitter: Scalar = param(
        0.0,
        unit="s",
        doc="most by which a cycle of the high level starts late; the next is not moved",
        ge=0,
    )
    mid_jitter: Scalar = param(
        0.0,
        unit="s",
        doc="most by which a cycle of the mid level starts late; those after it wait too",
        ge=0,
        le=1000,
    )
    pitch_delay: Scalar = param(
        0.01, unit="s", doc="from measuring the pitch to its use by the mid level", ge=0
    )
    frame_copies: int = param(
        2,
        doc="how often the high level sends each message: one that arrives is enough",
        ge=1,
        le=MOST_COPIES,
        static=True,
    )
    frame_loss: Scalar = param(
        0.0, doc="share of the copies of messages from high to mid level that are lost", ge=0, le=1
    )
    command_loss: Scalar = param(
        0.0, doc="share of current commands that do not reach the motor driver", ge=0, le=1
    )
    pitch_noise: Scalar = param(
        0.0, unit="rad", doc="standard deviation of the pitch sensor's noise", ge=0
    )
    pitch_step: Scalar = param(
        1e-6, unit="rad", doc="resolution of the pitch as it is sent; 0: exact", ge=0
    )
    current_step: Scalar = param(
        1e-4,
        unit="A",
        doc="resolution of the current commands (the programs: 1e-6 N m of a motor); 0: exact",
        ge=0,
    )
    current_bandwidth: Scalar | None = param(
        None,
        unit="rad/s",
        doc="bandwidth of the motors' current loop; auto: a new current flows at once",
        gt=0,
    )
    switch_on: Scalar = param(
        0.0, unit="s", doc="when the operator switches the pitch law on", ge=0, le=1e9
    )
    steer_current: Scalar = param(
        0.0, unit="A", doc="steering current: left + this, right - this; positive turns right"
    )
    speed_limit: Scalar = param(
        8.0 * TURN,
        unit="rad/s",
        doc="speed of a motor above which everything is switched off; 8 turns/s unless given",
        gt=0,
    )
    watchdog: Scalar = param(
        0.1,
        unit="s",
        doc="time without a message after which the mid level switches off",
        gt=0,
        le=LONGEST_TIMEOUT * MICRO,
    )
    driver_watchdog: Scalar = param(
        0.1,
        unit="s",
        doc="time without a command after which the motor driver switches off",
        gt=0,
        le=LONGEST_TIMEOUT * MICRO,
    )
    steer_limit: Scalar = param(
        5.0, unit="A", doc="largest steering current an operator can ask for (real time only)", gt=0
    )
    reply_limit: float = param(
        0.004,
        unit="s",
        doc="time the motor driver may take to answer the high level (real time only)",
        gt=0,
        le=LONGEST_TIMEOUT * MICRO,
        static=True,
    )
    mounting: str = choice(
        "both-forward",
        options=tuple(MOUNTINGS),
        doc="how the motors are mounted: which turn the other way round (real time only)",
    )
    boards: int = param(
        1,
        doc="boards of the motor driver: one for all motors, or one for each (real time only)",
        ge=1,
        le=2,
        static=True,
    )
    seed: Scalar = param(
        0.0, doc="whole number that chooses noise, losses and jitter", ge=0, le=2**31 - 1
    )

    def __check_init__(self) -> None:
        super().__check_init__()
        if (
            round(self.resolution / MICRO) < 1
            or abs(self.resolution / MICRO - round(self.resolution / MICRO)) > 1e-6
        ):
            raise ParameterError(
                f"resolution = {self.resolution:g} s is not a whole number of microseconds.",
                "resolution",
            )
        for name in ("high_period", "mid_period", "low_period"):
            ticks = getattr(self, name) / self.resolution
            if round(ticks) < 1 or abs(ticks - round(ticks)) > 1e-6 * ticks:
                raise ParameterError(
                    f"{name} = {getattr(self, name):g} s is not a whole number of ticks of"
                    f" {self.resolution:g} s (`resolution`).",
                    name,
                )
        self._require(
            self.high_jitter,
            self.high_period - self.resolution,
            "high_jitter",
            "a cycle would start after the next one",
        )
        # A message leaves the queue when `queue` later ones are sent; until then the mid level must
        # have looked.
        under_way = self._sum(self.pitch_delay, self.high_jitter, self.mid_jitter)
        self._require(
            under_way,
            self.queue * self.high_period - self.mid_period,
            "pitch_delay",
            "with the jitter of both levels more messages are under way than the `queue` holds;"
            " make it longer",
        )

    @staticmethod
    def _sum(*values: Scalar) -> Scalar | None:
        known = all(isinstance(value, int | float | np.ndarray | np.generic) for value in values)
        return sum(values) if known else None  # traced: checked at the door

    def _require(self, value: Scalar | None, most: float, name: str, why: str) -> None:
        if not isinstance(value, int | float | np.ndarray | np.generic):
            return  # traced: checked at the door
        values = np.asarray(value, float)
        if np.any(values > most * (1 + 1e-9)):
            worst = int(np.argmax(values))
            raise ParameterError(
                f"{name} = {values.flat[worst]:g} s is longer than {most:g} s: {why}.",
                name,
                worst if values.ndim else None,
            )

    @property
    def motor_signs(self) -> tuple[float, float]:
        """+1 or -1 for each motor."""
        return MOUNTINGS[self.mounting]

    @property
    def tick_us(self) -> int:
        """Microseconds from tick to tick."""
        return round(self.resolution / MICRO)

    def ticks(self, period: float) -> int:
        """A period in ticks."""
        return round(period / self.resolution)
