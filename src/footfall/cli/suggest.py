"""What to try next, as commands.

The robot's own ideas, a cure first after a bad end or a doubtful one, and never the command just
run.
"""

import shlex
from collections.abc import Sequence

from footfall.engines.plan import StepEngine
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.suggestion import Suggestion, cure
from footfall.record.verdict import Verdict
from footfall.scenario.load import Experiment

MOST = 5  # a few ideas are read, a page is not
SOUND = Verdict()
#: Doubts that finer steps or tolerances settle.
NUMERICAL = {"books_open", "loss_creates_energy", "step_unstable", "step_inaccurate"}
#: Doubts that are about what would really have ended the run: its cures are theirs.
MEANS = {
    "contact_pulls": Outcome.lifted_off,
    "support_invalid": Outcome.lifted_off,
    "tips_unless_held": Outcome.tipped_over,
}


def commands(
    experiment: Experiment,
    outcome: Outcome,
    settings: Sequence[str],
    duration: str | None,
    at_start: bool = False,
    verdict: Verdict = SOUND,
) -> list[str]:
    """Lines to type, each of which does something else than the run that has just been made.

    One that ended `at_start` needs another start, one with a doubtful `verdict` what would settle
    the doubt.
    """
    name, well = experiment.origin, outcome.name in experiment.about.success
    cures = (
        _settling(experiment, verdict)
        if well
        else [
            *_cures(experiment, outcome),
            *(i for i in experiment.system.suggestions(outcome) if i.cure),
        ]
    )
    starts = (
        [text for text in settings if _is_start(experiment, text)] if at_start and not well else []
    )
    if starts:
        cures = [cure("", "the start of the file")] if len(starts) < len(settings) else []
    ideas = [idea for idea in experiment.system.suggestions(outcome) if not idea.cure]
    if not well and settings:
        ideas.insert(0, Suggestion("", "as it is in the file"))
    if not ideas:
        ideas = [Suggestion("--duration 30"), Suggestion(f"--animate {experiment.name}.gif")]
    given = {_plain(text) for text in settings} | ({f"duration={duration}"} if duration else set())
    lines = []
    for idea in (*cures, *ideas):
        wanted = _asked(idea.options)
        if (
            idea.verb == "run"
            and wanted <= given
            and (wanted or not given)
            and not (idea.cure and starts)
        ):
            continue  # that is what was run
        kept = (
            _kept([text for text in settings if text not in starts], idea.options)
            if idea.cure
            else ""
        )
        lines.append(_line(name, idea, kept))
    return [*lines[: MOST - 1], f"footfall show {shlex.quote(name)}"]


def _is_start(experiment: Experiment, text: str) -> bool:
    """Whether a setting is of the start, by whichever end of its path it is named."""
    named = tuple(text.partition("=")[0].strip().split("."))
    return any(path[0] == "start" and path[-len(named) :] == named for path in experiment.overrides)


def _cures(experiment: Experiment, outcome: Outcome) -> list[Suggestion]:
    """Of ends that have nothing to do with the robot, by the keys that its engine has."""
    plan, keys = experiment.plan, experiment.document["sim"]
    by = plan.engine_for(*experiment.system.engines)
    match outcome:
        case Outcome.diverged if "solver" not in keys:
            return [
                cure(
                    f"--set sim.step={0.5 * (by.step or experiment.system.usual_step):g}",
                    "half the step",
                )
            ]
        case Outcome.diverged:
            return [cure("--set sim.solver=kvaerno5 --set sim.step=auto", "for stiff equations")]
        case Outcome.too_many_jumps if "max_jumps" in keys:
            return [cure(f"--set sim.max_jumps={10 * plan.max_jumps}")]
        case Outcome.reached_end:
            return [cure(f"--duration {2 * plan.duration:g}", "more time to get there")]
        case _:
            return []


def _settling(experiment: Experiment, verdict: Verdict) -> list[Suggestion]:
    """What would settle the doubts of a run that ended well.

    Finer numbers, or what the robot knows against such an end.
    """
    by, keys, doubts = (
        experiment.plan.engine_for(*experiment.system.engines),
        experiment.document["sim"],
        [doubt.name for doubt in verdict.doubts],
    )
    found: list[Suggestion] = []
    if not NUMERICAL.isdisjoint(doubts):
        if "solver" not in keys:
            found.append(
                cure(
                    f"--set sim.step={0.5 * (by.step or experiment.system.usual_step):g}",
                    "half the step",
                )
            )
        elif isinstance(by, StepEngine):
            found.append(cure(f"--set sim.batch_step={0.5 * by.step:g}", "half the step"))
        elif by.step is not None:
            found.append(
                cure(
                    "--set sim.solver=dopri8 --set sim.step=auto", "steps as short as they must be"
                )
            )
            found.append(cure(f"--set sim.step={0.5 * by.step:g}", "half the step"))
        else:
            found.append(
                cure(f"--set sim.rtol={max(0.01 * by.rtol, 1e-14):g}", "a finer tolerance")
            )
    as_if = [MEANS[name] for name in doubts if name in MEANS]
    found += [idea for end in as_if for idea in experiment.system.suggestions(end) if idea.cure]
    return list(dict.fromkeys(found))


def _asked(options: str) -> set[str]:
    """What a run would be asked for by these options, without pictures: those make no other run."""
    words = shlex.split(options)
    pairs = list(zip(words[::2], words[1::2], strict=True))
    return {_plain(value) for word, value in pairs if word == "--set"} | {
        f"duration={value}" for word, value in pairs if word == "--duration"
    }


def _plain(text: str) -> str:
    key, _, value = text.partition("=")
    return f"{key.strip()}={value.strip().strip(chr(34))}".replace(" ", "")


def _kept(settings: Sequence[str], options: str) -> str:
    """The settings of the run that a cure does not change.

    The cure may name a key by another end of its path.
    """
    changed = {text.partition("=")[0].rpartition(".")[2] for text in _asked(options)}
    rest = [
        text
        for text in settings
        if text.partition("=")[0].strip().rpartition(".")[2] not in changed
    ]
    return " ".join(f"--set {shlex.quote(text)}" for text in rest)


def _line(name: str, idea: Suggestion, kept: str) -> str:
    words = " ".join(
        part for part in ("footfall", idea.verb, shlex.quote(name), kept, idea.options) if part
    )
    return f"{words}   # {idea.why}" if idea.why else words
