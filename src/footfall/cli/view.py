"""`footfall view`: a local page of scenarios, recorded runs and sweeps."""

import signal
import tempfile
import webbrowser
from pathlib import Path

from footfall.cli import stopping
from footfall.cli.screen import note, out
from footfall.pages.found import Found, named
from footfall.pages.html_file import front_end
from footfall.pages.server import ADDRESS, PageServer
from footfall.record.run_folder import FolderError
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load
from footfall.scenario.trust import answer_by


def view_pages(target: str | None, port: int, browser: bool, trust: bool) -> int:
    """Serve until Ctrl-C; what was started ends with it."""
    front_end()
    first = None if target is None else named(target)
    if trust:
        if first is None or first.kind != "scenario":
            raise ScenarioError("--trust: name the scenario file whose folder is to be trusted.")
        load(first.name)  # remembered for its folder; what the page starts asks nobody
    answer_by(lambda _: False)
    with tempfile.TemporaryDirectory(prefix="footfall-view-") as folder:
        try:
            server = PageServer(port, Found(Path.cwd(), first), Path(folder), first)
        except OSError as error:
            raise FolderError(
                f"--port {port}: {ADDRESS} does not take it: {error.strerror}.\n  Choose another,"
                " or leave it out for a free one."
            ) from None
        with server:
            out.print(server.url, markup=False, soft_wrap=True)
            note("only this machine can open it; Ctrl-C ends it")
            out.file.flush()
            _serve(server, browser)
    return stopping.stopped("the page is closed; runs are kept under runs/.")


def _serve(server: PageServer, browser: bool) -> None:
    """Until Ctrl-C, or until the process is told to end."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job
        # Still nothing here, but children do not inherit it, and cancelling is a SIGINT.
        signal.signal(signal.SIGINT, lambda *_: None)
    try:
        stopping.begin()
        if browser and not webbrowser.open(server.url):
            note("no browser could be opened: copy the address into one")
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        pass
    finally:
        stopping.hold()
        server.jobs.end()
