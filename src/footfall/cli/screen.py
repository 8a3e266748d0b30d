"""What the commands print with.

Results go to standard output, everything else to standard error.
"""

import sys

from rich.console import Console
from rich.markup import escape

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def fail(message: str) -> None:
    """An error, as it is."""
    err.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)


def ask_whether_to_run(question: str) -> bool:
    """On a terminal a person says whether code may run; elsewhere nobody does."""
    if not (sys.stdin.isatty() and err.is_terminal):
        return False
    err.print(f"[bold yellow]{escape(question)}[/]", soft_wrap=True)
    err.print("Run code from this folder, now and later? [bold]y[/]es / [bold]N[/]o ", end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def note(message: str) -> None:
    """Something worth knowing that is not the result."""
    err.print(f"[dim]{escape(message)}[/]", soft_wrap=True)
