"""What mends a spoked wheel with a torso that did not walk on."""

from footfall.hybrid.outcome import Outcome
from footfall.hybrid.suggestion import Suggestion, cure
from footfall.machines.rimless_wheel.footing import STUMBLED

_SHIPPED_SPOKES = cure(
    "--set leg.stiffness=15000 --set leg.damping=400", "the spokes it ships with"
)


def walking_cures(outcome: Outcome) -> tuple[Suggestion, ...]:
    """By how it ended; none for one that walked."""
    cures = {
        Outcome.rocked_back: (
            cure("--set torso.pitch_setpoint=0.6", "leans enough to pass over its feet"),
            _SHIPPED_SPOKES,
        ),
        Outcome.lifted_off: (
            _SHIPPED_SPOKES,
            cure("--set torso.pitch_setpoint=0.6", "slower: feet stay on the ground"),
        ),
        STUMBLED: (cure("--set terrain=flat", "nothing in its way"),),
        Outcome.fell: (_SHIPPED_SPOKES, cure("--set torso.pitch_setpoint=0.6")),
    }
    return cures.get(outcome, ())
