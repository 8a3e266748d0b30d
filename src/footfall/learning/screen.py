"""A robot in a browser while a program of one's own moves it: `render_mode="human"`.

A page on loopback, behind a token, whose one picture changes as often as it is shown a new one.
"""

import hmac
import io
import secrets
import threading
import time
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from footfall.pages.server import ADDRESS

#: Between the pictures of a stream.
EDGE = "footfall"
PAGE = b"""<!doctype html><meta charset="utf-8"><title>footfall</title>
<link rel="icon" href="data:,">
<style>
body { margin: 0; background: #fff }
img { width: 100%; max-height: 100vh; object-fit: contain }
</style>
<img src="frames" alt="the robot as it is now">
"""
POLICY = (
    "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; frame-ancestors 'none'"
)


class Screen:
    """Shows pictures at their pace, or slower: `show` waits until the time of the next has come.

    The first one opens the browser, or prints the address where none can be opened.
    """

    def __init__(self, rate: float):
        self._period, self._due = 1.0 / rate, 0.0
        self._server = _Server((ADDRESS, 0), _Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self._opened = False

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self._server.server_port}/{self._server.token}/"

    def show(self, picture: np.ndarray) -> None:
        """`picture` is (height, width, 3)."""
        from matplotlib.image import imsave

        png = io.BytesIO()
        imsave(png, picture, format="png")
        self._server.put(png.getvalue())
        if not self._opened:
            self._opened = True
            if not webbrowser.open(self.url):
                print(f"The robot is shown at {self.url}", flush=True)
        now = time.monotonic()
        self._due = max(self._due + self._period, now)
        time.sleep(self._due - now)

    def close(self) -> None:
        """The page keeps its last picture."""
        self._server.put(None)
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.token = secrets.token_urlsafe(24)
        self._changed = threading.Condition()
        self._picture: bytes | None = b""
        self._count = 0

    def put(self, picture: bytes | None) -> None:
        """None: there will be no more."""
        with self._changed:
            self._picture, self._count = picture, self._count + 1
            self._changed.notify_all()

    def after(self, count: int) -> tuple[int, bytes | None]:
        """The newest picture once there is one that is not the `count`-th."""
        with self._changed:
            self._changed.wait_for(lambda: self._count != count)
            return self._count, self._picture


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        host = f"{ADDRESS}:{self.server.server_port}"
        token, _, name = self.path.removeprefix("/").partition("/")
        known = hmac.compare_digest(token.encode(), self.server.token.encode())
        if self.headers.get("Host") != host or not known or name not in ("", "frames"):
            self.send_error(403)
        elif name == "":
            self._begin("text/html; charset=utf-8")
            self.wfile.write(PAGE)
        else:
            self._begin(f"multipart/x-mixed-replace; boundary={EDGE}")
            self._stream()

    def _begin(self, kind: str) -> None:
        self.send_response(200)
        for header, value in {
            "Content-Type": kind,
            "Content-Security-Policy": POLICY,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        }.items():
            self.send_header(header, value)
        self.end_headers()

    def _stream(self) -> None:
        count, picture = self.server.after(0)
        try:
            self.wfile.write(f"--{EDGE}\r\n".encode())
            while picture is not None:
                head = f"Content-Type: image/png\r\nContent-Length: {len(picture)}\r\n\r\n"
                # A browser shows a picture when it sees where the next begins.
                self.wfile.write(head.encode() + picture + f"\r\n--{EDGE}\r\n".encode())
                count, picture = self.server.after(count)
        except ConnectionError:
            pass  # the page was closed

    def log_message(self, format: str, *args: object) -> None:
        pass
