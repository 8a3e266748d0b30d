"""`footfall show`."""

from rich.table import Table

from footfall.cli.screen import out
from footfall.hybrid.fields import FieldInfo, describe
from footfall.scenario.catalog import kinds_for
from footfall.scenario.document import slot_path, slot_types
from footfall.scenario.load import load
from footfall.scenario.schema import SimTable

#: A longer value, such as a route, is broken into lines: its meaning needs the room.
WIDEST_VALUE = 24


def show_scenario(name: str, settings: list[str]) -> int:
    """Every key with value, unit, range and meaning.

    Read from the same declarations the loader checks against.
    """
    experiment = load(name, settings)
    system, document, about = experiment.system, experiment.document, experiment.about
    idle_parts = experiment.idle_parts()
    out.print(f"[bold]{about.title or experiment.name}[/]")
    for text in (about.about, about.look_for and f"Look for: {about.look_for}"):
        if text:
            out.print(text, markup=False)
    _section("robot", document["robot"], describe(system), f"kind = {document['robot']['kind']}")
    for slot, slot_type in slot_types(type(system)).items():
        path = slot_path(slot)
        values = document["robot"][slot] if path[0] == "robot" else document[slot]
        others = [k for k in kinds_for(slot_type, type(system)) if k != values["kind"]]
        more = f"   (or: {', '.join(others)})" if others else ""
        idle = f"   (no effect: {idle_parts[slot]})" if slot in idle_parts else ""
        _section(
            ".".join(path),
            values,
            describe(getattr(system, slot)),
            f"kind = {values['kind']}{more}{idle}",
        )
    _section("start", document["start"], describe(type(system).Start), "")
    _section("sim", document["sim"], SimTable.describe(), "")
    out.print(
        "\nChange any of these with --set, such as --set KEY=VALUE; any unique end of a path"
        " will do.",
        markup=False,
    )
    return 0


def _section(title: str, values: dict, infos: dict[str, FieldInfo], kind: str) -> None:
    out.print(f"\n[bold]\\[{title}][/] {kind}")
    table = Table(box=None, padding=(0, 2), show_header=False)
    for column in range(4):
        table.add_column(no_wrap=column == 0, max_width=WIDEST_VALUE if column == 1 else None)
    for key, value in values.items():
        if key == "kind" or isinstance(value, dict):
            continue
        info = infos.get(key)
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        if info is None:
            table.add_row(key, shown)
        else:
            limits = ", ".join(info.options) or info.bounds()
            table.add_row(
                key, f"{shown} {info.unit}".strip() if value != "auto" else shown, info.doc, limits
            )
    out.print(table)
