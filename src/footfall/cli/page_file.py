"""The file of a page: where it may be written, and how it is opened."""

from pathlib import Path

from footfall.cli.screen import note
from footfall.pages.html_file import front_end
from footfall.record.run_folder import FolderError


def require_page(path: Path, option: str, *, force: bool) -> None:
    """A place where a page can be written, before anything is computed."""
    front_end()
    if path.suffix not in (".html", ".htm"):
        raise FolderError(f"{option} {path}: write it as an .html file.")
    if not path.absolute().parent.is_dir():
        raise FolderError(f"{option} {path}: there is no folder {path.absolute().parent}.")
    if path.is_dir() or (path.exists() and not force):
        raise FolderError(f"{option} {path} exists; --force overwrites it.")


def tell_page(path: Path) -> None:
    """Where it is, and how it is opened."""
    size = path.stat().st_size / 1e6
    note(f"page:       {path} ({size:.2f} MB)")
    note(f"            open it in any browser, by a double click or as file://{path.absolute()}")
