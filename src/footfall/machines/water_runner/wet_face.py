"""What faces that push on water share: their part under water, and which way they must look."""

import equinox as eqx
import numpy as np

from footfall.hybrid.fields import ParameterError, signal
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import Event
from footfall.numerics.scalar import Scalar

OFF_ON = ("off", "on")
FACE_OVER = Event(
    "pad_over",
    "a pad turns its pushing face up: its rule of folding no longer holds",
    Outcome.outside_model,
)


class FaceSignals(eqx.Module):
    """What is to be seen of a face in water."""

    wetted: Scalar = signal(doc="share of the pad's diameter under water")


def require_looking_down(leg: str, cosine: Scalar) -> None:
    """Raise ParameterError where a face starts looking up; `cosine` is 1 for one laid flat."""
    down = np.asarray(cosine, float)
    if np.any(down <= 0):
        raise ParameterError(
            f"the {leg} pad starts upside down: its pushing face looks up, and the rule by"
            " which it folds means nothing then. Start with less pitch, nose down.",
            "pitch",
            int(np.argmin(down)) if down.ndim else None,
        )
