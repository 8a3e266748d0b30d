"""The verbs that ask a question: loaded, carried out, printed and written in one manner.

Every answer is kept as it comes: after Ctrl-C or a kill the same command, with the same folder,
goes on with what is missing.
"""

import dataclasses
import importlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from footfall.cli import stopping
from footfall.cli.extras import can_draw, require
from footfall.cli.folders import fresh_folder
from footfall.cli.page_file import require_page, tell_page
from footfall.cli.phases import Phases, told_by_jax
from footfall.cli.run import own_code, tell
from footfall.cli.screen import err, note, out
from footfall.cli.summary_table import verdict_lines
from footfall.hybrid.study import AbstractStudy, Answer, Sheet, request_of
from footfall.record.run_folder import FolderError
from footfall.record.verdict import Verdict
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, load
from footfall.scenario.open_run import open_run
from footfall.sweep.study import RESULTS, StudyFolder, carry_out, results_of, verdict_of
from footfall.sweep.subject import Subject

#: Verb -> its question and its picture.
STUDIES = {
    "design": ("footfall.sweep.design_study:DesignStudy", "footfall.pictures.design_plot"),
    "follow": ("footfall.sweep.follow_study:Follow", "footfall.pictures.branch_plot"),
    "gait": ("footfall.sweep.gait_study:Gait", "footfall.pictures.cycle_plot"),
    "compare-integrators": (
        "footfall.engines.analysis.compare_study:Compare",
        "footfall.pictures.compare_plot",
    ),
    "crossing": (
        "footfall.machines.centipede.crossing:Crossing",
        "footfall.pictures.crossing_plot",
    ),
    "compliance": (
        "footfall.machines.sea_urchin.compliance:Compliance",
        "footfall.pictures.compliance_plot",
    ),
    "basin": (
        "footfall.engines.analysis.basin_study:Basin",
        "footfall.pictures.basin_plot",
    ),
    "robust": (
        "footfall.engines.analysis.robust_study:Robust",
        "footfall.pictures.robust_plot",
    ),
}
#: Verb -> what makes its page of a study.
PAGES = {"gait": "footfall.pages.gait:study_page"}
#: What a picture is written as, by style; the first is usual.
_PICTURES = {"screen": (".png",), "paper": (".pdf", ".svg")}
#: What matplotlib could write as well, and we do not.
_OTHER_PICTURES = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".eps", ".gif")


@dataclasses.dataclass(frozen=True)
class Options:
    """What all these verbs can be told."""

    out: str | None = None
    as_json: bool = False
    plots: bool = True
    force: bool = False
    accept_doubt: bool = False
    style: str = "screen"
    page: str | None = None


def study_by_name(verb: str) -> type[AbstractStudy]:
    """The question of a verb."""
    module, _, name = STUDIES[verb][0].partition(":")
    return getattr(importlib.import_module(module), name)


def ask(
    verb: str,
    name: str | None,
    settings: list[str],
    given: Mapping[str, Any],
    options: Options,
    duration: str | None = None,
) -> int:
    """Ask, print, write.

    Status 0 when all was answered, whatever the answer; 3 when it is doubtful and nobody accepted
    that; 130 when Ctrl-C ended it.
    """
    kind = study_by_name(verb)
    for package in kind.needs:
        require(package, package)
    experiment = (
        load(name, settings, duration=duration)
        if name is not None
        else _of_run(str(given["run"]), settings)
    )
    with own_code(experiment):
        return answer(kind(request_of(kind.Request, given), Subject(experiment)), options)


def answer(study: AbstractStudy, options: Options) -> int:
    """Carry a study out, print what it says, write its folder; the status as of `ask`."""
    path, picture = _places(study, options)
    if options.page is not None:
        require_page(Path(options.page), "--page", force=options.force)
    # A picture that is asked for by its name is drawn anew, as any file is.
    again = str(options.out).endswith(_OTHER_PICTURES) and (path / RESULTS).exists()
    with StudyFolder(path, study, force=options.force or again) as folder:
        if folder.goes_on:
            stopping.at_once(f"what was computed is kept, in {path}.")
        return _carried_out(study, folder, picture, options)


def _of_run(folder: str, settings: list[str]) -> Experiment:
    """The scenario that a run folder keeps, by the name it had."""
    named = open_run(folder).provenance.get("scenario")
    experiment = load(Path(folder) / "scenario.toml", settings)
    return dataclasses.replace(experiment, name=named or experiment.name)


def _carried_out(
    study: AbstractStudy, folder: StudyFolder, picture: Path | None, options: Options
) -> int:
    if study.notice:
        note(study.notice)
    began, found = time.perf_counter(), dict[int, Answer]()
    with Phases(study.doing) as phases:
        study.prepare(phases.say)
        for warning in study.warnings:
            err.print(f"[bold yellow]warning:[/] {escape(warning)}", soft_wrap=True)
        total = len(study.cases)
        found |= folder.read()
        there = len(found)
        if there:
            note(f"going on: {there} of {total} {study.noun} are in {folder.path} already")
            stopping.hold()
        try:
            carry_out(study, found, keep=_keeping(folder), progress=_shown(phases, study, total))
        except KeyboardInterrupt:
            if not found:
                raise
    stopping.hold()
    took = None if there else time.perf_counter() - began
    verdict, results = verdict_of(study, found), results_of(study, found)
    if len(found) == total:
        with err.status("writing", spinner="dots"):
            folder.finish(found, results, lambda: _draw(study, found, picture, options.style))
        if options.page is not None:
            _write_page(study, Path(options.page))
    else:
        picture = None
    if options.as_json:
        more = {"folder": str(folder.path), "picture": str(picture) if picture else None}
        print(json.dumps(results | more, allow_nan=False), flush=True)
        tell(verdict)
    else:
        out.print(_page(study, found, verdict, took))
    if not verdict.sound and (advice := study.advice(found)):
        err.print(f"[bold yellow]warning:[/] {escape(advice)}", soft_wrap=True)
    if len(found) < total:
        return stopping.kept(
            f"{len(found)} of {total} {study.noun}, in {folder.path}; the same command with --out"
            f" {folder.path} goes on"
        )
    note(f"results: {folder.path}")
    note(f"table:   {folder.table}")
    if picture:
        note(f"picture: {picture}")
    if options.page is not None:
        tell_page(Path(options.page))
    return stopping.status(f"all of it, in {folder.path}") or verdict.status(
        success=True, accepted=options.accept_doubt
    )


def _places(study: AbstractStudy, options: Options) -> tuple[Path, Path | None]:
    """The folder, and the picture: in it, or where --out names the picture itself."""
    if options.out is None:
        path = fresh_folder(study.place, study.subject.name)
    else:
        path = Path(options.out)
    if study.name not in STUDIES:  # its pictures, if any, are files of its own
        return path, None
    known = _PICTURES[options.style]
    picture = path / f"{study.file}{known[0]}"
    if path.suffix in _OTHER_PICTURES and path.suffix not in known:
        vectors = "" if options.style == "paper" else " (--style paper writes .pdf and .svg)"
        named = " or ".join(known)
        raise FolderError(f"--out {path}: write it as a {named} file{vectors}, or name a folder.")
    if path.suffix in known:
        if not path.absolute().parent.is_dir():
            raise FolderError(f"--out {path}: there is no folder {path.absolute().parent}.")
        path, picture = path.with_suffix(""), path
        require("matplotlib", "plots", "Without it, --no-plots still prints the table.")
    return path, picture if options.plots and can_draw("picture") else None


def _keeping(folder: StudyFolder) -> Callable[[Mapping[int, Answer]], None]:
    def keep(answers: Mapping[int, Answer]) -> None:
        stopping.hold()  # from now on there is something to keep
        folder.keep(answers)

    return keep


def _shown(phases: Phases, study: AbstractStudy, total: int) -> Callable[[float], None]:
    def progress(done: float) -> None:
        phases.count(study.doing, done, total, f"{int(done)} of {total} {study.noun}")
        stopping.raise_if_asked()

    return progress


def _draw(
    study: AbstractStudy, found: Mapping[int, Answer], picture: Path | None, style: str
) -> None:
    if picture is not None and found:
        from footfall.pictures.style import style_of, styled

        module = importlib.import_module(STUDIES[study.name][1])
        with styled(style_of(style)):
            figure = module.draw(study, found, verdict_of(study, found), style_of(style))
        figure.savefig(picture)


def _write_page(study: AbstractStudy, path: Path) -> None:
    """What it found, as a page that moves."""
    from footfall.engines.kernels.fuse_errors import NoCompiler
    from footfall.pages.html_file import write_page

    module, _, name = PAGES[study.name].partition(":")
    with Phases("building the page") as phases, told_by_jax(phases, "compiling"):
        try:
            page = getattr(importlib.import_module(module), name)(study, phases.say)
        except NoCompiler as error:
            raise ScenarioError(f"--page: no page without a compiler: {error}.") from None
    write_page(path, page)


def _page(
    study: AbstractStudy, found: Mapping[int, Answer], verdict: Verdict, took: float | None
) -> RenderableType:
    first, *rest = study.page(found, took)
    subject = study.subject
    head = Text.assemble((subject.title, "bold"), f"  ({subject.name}): {first}")
    return Group(head, *verdict_lines(verdict), *map(_shown_part, rest))


#: Characters that the words at the end of a table's line have at least.
LEAST_ROOM = 20


def _shown_part(part: Sheet | str) -> RenderableType:
    if isinstance(part, str):
        return Text(part)
    title = Text(part.title) if part.title else None
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0))
    for place, column in enumerate(part.columns):
        left = place in part.left
        # Words at both ends of a line; those at its right end keep some room.
        last = place == len(part.columns) - 1
        room = min(max((len(row[place]) for row in part.rows), default=0), LEAST_ROOM)
        table.add_column(
            Text(column),
            justify="left" if left else "right",
            no_wrap=not (left and (last or not place)),
            min_width=room if left and last else None,
        )
    for row in part.rows:
        table.add_row(*map(Text, row))
    return table
