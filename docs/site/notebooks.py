"""Notebooks as pages: executed when the site is built, their outputs below their cells.

In git a notebook has no outputs; a cell that raises fails the build.
"""

import tempfile
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

#: Notebook -> its page, and the text it was made of: `mkdocs serve` builds again and again.
_made: dict[Path, tuple[str, str]] = {}


def page_of(path: Path) -> str:
    """The page of a notebook, in Markdown."""
    text = path.read_text()
    if _made.get(path, ("", ""))[0] != text:
        notebook = nbformat.reads(text, as_version=4)
        with tempfile.TemporaryDirectory() as sockets:
            line = {"transport": "ipc", "ip": f"{sockets}/kernel"}
            kernel = AsyncKernelManager(kernel_name="python3", **line)
            NotebookClient(notebook, km=kernel, timeout=600).execute(cleanup_kc=True)
        cells = [_cell(cell) for cell in notebook.cells]
        get = f"[This page as a notebook]({path.name}){{ download }}"
        _made[path] = text, "\n\n".join([*cells, get, ""])
    return _made[path][1]


def _cell(cell: Any) -> str:
    if cell.cell_type == "markdown":
        return cell.source
    return "\n\n".join([f"```python\n{cell.source}\n```", *map(_output, cell.outputs)])


def _output(output: Any) -> str:
    """What a browser would be shown of it: a page, a picture, or text."""
    if output.output_type == "stream":
        if output.name == "stderr":
            raise ValueError(f"a notebook's cell warns: {output.text}")
        return _shown(f"<pre>{escape(output.text)}</pre>")
    data = output.data
    if "text/html" in data:
        return _shown(data["text/html"])
    if "image/png" in data:
        return _shown(f'<img alt="" src="data:image/png;base64,{data["image/png"].strip()}">')
    return _shown(f"<pre>{escape(data['text/plain'])}</pre>")


def _shown(html: str) -> str:
    # Without blank lines, at which Markdown would end the block.
    lines = [line or "&#8203;" for line in html.strip().split("\n")]
    return '<div class="output">' + "\n".join(lines) + "</div>"
