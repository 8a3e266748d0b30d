"""What the commands print with. Results go to standard output, everything else to standard error."""

from rich.console import Console
from rich.markup import escape

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def fail(message: str) -> None:
    """An error, as it is."""
    err.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)


def note(message: str) -> None:
    """Something worth knowing that is not the result."""
    err.print(f"[dim]{escape(message)}[/]", soft_wrap=True)
