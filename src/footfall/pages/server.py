"""The local page of `footfall view`: who may ask, for what, and the answers.

It listens on 127.0.0.1 only. Every address begins with a random token, without which nothing is
answered; so other users of the machine and pages of other sites are kept out. The Host a request
names must be ours: a site whose name was made to lead here (DNS rebinding) is refused. Everything
is answered to GET, and POST starts and cancels jobs. What can be asked for is what `found.py`
lists and the pages that jobs wrote; no path is made from an address.
"""

import hmac
import json
import secrets
import threading
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from footfall.pages.found import FILE, Entry, Found
from footfall.pages.heat_map import heat_map, settings_for
from footfall.pages.jobs import Job, Jobs, settings_of
from footfall.pages.parts import parts_of
from footfall.record.run_folder import FolderError
from footfall.scenario.errors import ScenarioError
from footfall.sweep.errors import SweepError
from footfall.sweep.read_back import open_sweep

ADDRESS = "127.0.0.1"
#: The largest request body [bytes]: a few settings.
MOST_ASKED = 65_536
#: The start page's own files.
FILES = {
    "": ("index.html", "text/html; charset=utf-8"),
    "start.js": ("start.js", "text/javascript; charset=utf-8"),
    "start.css": ("start.css", "text/css; charset=utf-8"),
    "colours.css": ("colours.css", "text/css; charset=utf-8"),
}
#: Of the start page. A robot's page brings its own policy (web/src/page.html), to which this adds.
START_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE_POLICY = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
#: Kinds of jobs, and of what.
KINDS = {"live": "scenario", "run": "scenario", "replay": "run"}


class Refused(Exception):
    """A request that is not answered: status and words."""

    def __init__(self, status: HTTPStatus, words: str):
        super().__init__(words)
        self.status = status


class PageServer(ThreadingHTTPServer):
    """Serves what is found; jobs write their pages into `folder`. `first` is opened at once."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int, found: Found, folder: Path, first: Entry | None = None):
        super().__init__((ADDRESS, port), _Handler)
        self.token = secrets.token_urlsafe(24)
        self.found, self.first = found, first
        self.jobs = Jobs(found.root, folder)
        self.reading = threading.Lock()  # one sweep at a time is in memory

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a browser that was sent here calls us."""
        return f"{ADDRESS}:{self.server_port}", f"localhost:{self.server_port}"

    def listing(self) -> dict[str, Any]:
        first = None if self.first is None else {"kind": self.first.kind, "name": self.first.name}
        return {
            "folder": str(self.found.root),
            "first": first,
            "entries": [entry.said() for entry in self.found.listed()],
            "jobs": self.jobs.listed(),
        }

    def begin(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Start what was asked for: {kind, name, settings}, of two runs with the name of the second
        as `ghost`, or {sweep, design}.
        """
        if "sweep" in asked:
            entry = self.found.entry("sweep", str(asked["sweep"]))
            sweep = open_sweep(entry.path)
            if not isinstance(asked.get("design"), int):
                raise Refused(HTTPStatus.BAD_REQUEST, "design: its number is expected.")
            settings = settings_for(sweep, asked["design"])
            return self.jobs.begin("live", [f"{entry.name}/{FILE}"], settings).said()
        kind, settings = str(asked.get("kind")), settings_of(str(asked.get("settings", "")))
        if kind not in KINDS:
            raise Refused(HTTPStatus.BAD_REQUEST, f"kind: one of {', '.join(KINDS)} is expected.")
        names = [asked.get("name"), *([asked["ghost"]] if "ghost" in asked else [])]
        entries = [self.found.entry(KINDS[kind], str(name)) for name in names]
        return self.jobs.begin(kind, [entry.name for entry in entries], settings).said()

    def map_of(self, query: Mapping[str, str]) -> dict[str, Any]:
        entry = self.found.entry("sweep", query.get("name", ""))
        with self.reading:
            axes = (query.get(key) or None for key in ("x", "y", "metric"))
            return heat_map(open_sweep(entry.path), *axes)

    def job(self, number: str) -> Job:
        job = self.jobs.job(int(number)) if number.isascii() and number.isdigit() else None
        if job is None:
            raise Refused(HTTPStatus.NOT_FOUND, "there is no such job.")
        return job


class _Handler(BaseHTTPRequestHandler):
    server: PageServer  # type: ignore[assignment]
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "footfall", ""
    timeout = 60  # s without a word, after which a connection is closed

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """The terminal is for what the user asked for."""

    def _answer(self, how: Any) -> None:
        """The answer, or in words why there is none: of bad input those of the command line."""
        try:
            how(self._allowed())
        except Refused as refused:
            self._send_json({"error": str(refused)}, refused.status)
        except (ScenarioError, SweepError, FolderError) as error:
            self._send_json({"error": str(error)}, HTTPStatus.UNPROCESSABLE_ENTITY)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        except Exception as error:  # a file that is not what it should be; the page goes on
            words = f"{type(error).__name__}: {error}"
            self._send_json({"error": words}, HTTPStatus.INTERNAL_SERVER_ERROR)

    def _allowed(self) -> str:
        """The address without its token, of one who may ask."""
        # An answer that leaves a body unread must not be followed by another on this connection.
        self.close_connection = self.close_connection or self.command != "GET"
        if self.headers.get_all("Host", []) not in [[host] for host in self.server.hosts]:
            raise Refused(HTTPStatus.FORBIDDEN, "this page is asked for by another name.")
        origin = self.headers.get("Origin")
        if origin is not None and origin not in [f"http://{host}" for host in self.server.hosts]:
            raise Refused(HTTPStatus.FORBIDDEN, "this page answers no other site.")
        token, slash, rest = self.path.removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()) or not slash:
            raise Refused(
                HTTPStatus.FORBIDDEN, "the token is missing: open the address that was printed."
            )
        return rest

    def _get(self, address: str) -> None:
        parts = urlsplit(address)
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        match parts.path.split("/"):
            case [name] if name in FILES:
                file, kind = FILES[name]
                body = resources.files("footfall.pages").joinpath("start", file).read_bytes()
                self._send(body, kind, START_POLICY)
            case ["list"]:
                self._send_json(self.server.listing())
            case ["parts"]:
                entry = self.server.found.entry("scenario", query.get("name", ""))
                self._send_json({"parts": parts_of(entry.path)})
            case ["map"]:
                self._send_json(self.server.map_of(query))
            case ["jobs", number]:
                self._send_json(self.server.job(number).said())
            case ["pages", number]:
                job = self.server.job(number)
                if job.running or not job.page.is_file():
                    raise Refused(HTTPStatus.NOT_FOUND, "there is no page of this job.")
                self._send(job.page.read_bytes(), "text/html; charset=utf-8", PAGE_POLICY)
            case _:
                raise Refused(HTTPStatus.NOT_FOUND, "there is no such page.")

    def _post(self, address: str) -> None:
        match address.split("/"):
            case ["jobs"]:
                self._send_json(self.server.begin(self._body()))
            case ["jobs", number, "cancel"]:
                job = self.server.job(number)
                job.cancel()
                self._send_json(job.said())
            case _:
                raise Refused(HTTPStatus.NOT_FOUND, "there is nothing to start here.")

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and int(length) <= MOST_ASKED):
            raise Refused(
                HTTPStatus.BAD_REQUEST, f"a body of at most {MOST_ASKED} bytes is expected."
            )
        try:
            asked = json.loads(self.rfile.read(int(length)))
        except ValueError:
            asked = None
        if not isinstance(asked, dict):
            raise Refused(HTTPStatus.BAD_REQUEST, "a JSON object is expected.")
        return asked

    def _send_json(self, said: Mapping[str, Any], status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(json.dumps(said).encode(), "application/json", START_POLICY, status)

    def _send(
        self, body: bytes, kind: str, policy: str, status: HTTPStatus = HTTPStatus.OK
    ) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": policy,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
        }.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
