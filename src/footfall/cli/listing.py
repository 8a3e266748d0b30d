"""`footfall list`: what there is to run, and the parts to build it from.

Imports no robot: it answers at once.
"""

import itertools
import tomllib

from rich.padding import Padding
from rich.table import Table

from footfall.cli.screen import out
from footfall.scenario.files import classics, shipped_scenarios
from footfall.scenario.known_parts import kept_parts


def list_all() -> None:
    """Scenarios with a line each, and the kinds of parts by the slot they fit."""
    out.print("[bold]Scenarios[/]")
    abouts = {
        name: tomllib.loads(path.read_text(encoding="utf-8"))
        for name, path in sorted(shipped_scenarios().items())
    }
    out.print(_two_columns({name: given.get("title", "") for name, given in abouts.items()}))
    out.print("\n[bold]Parts[/], by the slot they fit and the robots that have it")
    for slot, groups in itertools.groupby(kept_parts(), key=lambda entry: entry.slot):
        out.print(f"\n[bold]\\[{slot}][/]")
        for group in groups:
            where = f"{'not ' if group.refused else ''}in {', '.join(group.robots)}"
            out.print(Padding(where, (0, 0, 0, 2)), style="dim")
            out.print(_two_columns(group.kinds))
    names = ", ".join(classics())
    out.print(f"\n[bold]Classics[/] to begin a robot with, footfall new --from NAME: {names}")
    out.print(
        "\nTry: footfall run rimless-wheel    All about it: footfall show rimless-wheel",
        markup=False,
    )


def _two_columns(rows: dict[str, str]) -> Table:
    table = Table(box=None, padding=(0, 2), show_header=False, pad_edge=True)
    table.add_column(no_wrap=True, min_width=18)
    table.add_column()
    for name, words in rows.items():
        table.add_row(name, words)
    return table
