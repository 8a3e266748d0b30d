"""`footfall view` as a person has it, asked as its page asks.

The command, a live page, a run with its progress, cancelled and replayed, Ctrl-C.
"""

import http.client
import json
import signal
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from footfall.pages.found import Found
from footfall.pages.server import PageServer
from footfall.scenario.errors import ScenarioError
from support.commands import COMMAND, PATIENCE, environment
from support.fake_sweep import FakeSweep
from support.pages import QUIET, chromium, needs_bundle

pytest.importorskip("ziglang")
pytestmark = needs_bundle


class View:
    """The command, running."""

    def __init__(self, folder, *arguments):
        self.folder = folder
        self.process = subprocess.Popen(
            [*COMMAND, "view", "--no-browser", *arguments],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.url = urlsplit(self.process.stdout.readline().strip())

    def ask(self, address, body=None):
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=60)
        how = ("GET", None) if body is None else ("POST", json.dumps(body))
        connection.request(how[0], self.url.path + address, how[1])
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        assert answer.status == 200, text
        return text

    def begin(self, **asked):
        return json.loads(self.ask("jobs", asked))["job"]

    def wait(self, job, until):
        """What it says when `until` holds, and everything it was doing before."""
        seen, end = [], time.monotonic() + PATIENCE
        while time.monotonic() < end:
            said = json.loads(self.ask(f"jobs/{job}"))
            seen.append(said["doing"])
            if until(said):
                return said, seen
            assert said["state"] == "running", said
            time.sleep(0.15)
        raise AssertionError(seen[-1])

    def finished(self, job):
        return self.wait(job, lambda said: said["state"] != "running")


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    running = View(tmp_path_factory.mktemp("view"))
    yield running
    if running.process.poll() is None:
        running.process.kill()
        running.process.wait()


def page_of(view, job):
    """The data of a page that a job made."""
    text = view.ask(f"pages/{job}")
    before = text.index('type="application/json"')
    return json.loads(text[text.index(">", before) + 1 : text.index("</script>", before)])


def test_what_footfall_brings_is_listed(view):
    entries = json.loads(view.ask("list"))["entries"]
    assert "Passive rimless wheel" in [entry["title"] for entry in entries]


def test_a_scenario_opens_live_with_its_settings(view):
    said, seen = view.finished(
        view.begin(kind="live", name="passive-wheel", settings="terrain.angle=0.1\n")
    )
    assert said["state"] == "done", said
    assert len(set(seen)) > 2  # it says what it is doing
    page = page_of(view, said["job"])
    values = {p["key"]: p["value"] for p in page["parameters"]}
    assert page["live"]["kernel"]["code"] and values["terrain.angle"] == 0.1


def test_a_bad_value_is_told_as_the_command_line_does(view):
    said, _ = view.finished(view.begin(kind="run", name="passive-wheel", settings="terrain.angl=1"))
    assert said["state"] == "failed" and not said["page"]
    assert said["words"].startswith('--set terrain.angl=1: there is no key "terrain.angl"')


def test_a_run_tells_how_far_it_is_and_what_is_cancelled_is_kept_and_replayed(view):
    # So long that nobody waits for its end: a million seconds, a thousand rows.
    settings = "sim.duration=1e6\nsim.sample_rate=0.001"
    job = view.begin(kind="run", name="passive-wheel", settings=settings)
    said, _ = view.wait(job, lambda said: said["share"] > 0)
    assert "simulating: t = " in said["doing"]
    view.ask(f"jobs/{job}/cancel", {})
    said, _ = view.finished(job)
    assert said["state"] == "cancelled" and "is kept" in said["words"], said
    assert page_of(view, job)["replay"]["rows"] > 1
    (run,) = [e["name"] for e in json.loads(view.ask("list"))["entries"] if e["kind"] == "run"]
    said, _ = view.finished(view.begin(kind="replay", name=run))
    assert said["state"] == "done", said
    # It was loaded from another place; the rest is the same page.
    elsewhere = {"name": "", "command": ""}
    assert page_of(view, said["job"]) | elsewhere == page_of(view, job) | elsewhere


def test_ctrl_c_ends_it_and_what_it_started(view):
    view.begin(kind="run", name="passive-wheel", settings="sim.duration=1e6")
    tasks = Path(f"/proc/{view.process.pid}/task")  # of Linux; a thread's own children each
    started = [pid for kept in tasks.glob("*/children") for pid in kept.read_text().split()]
    assert started or not tasks.exists()
    view.process.send_signal(signal.SIGINT)
    _, err = view.process.communicate(timeout=60)
    assert view.process.returncode == 130
    assert "stopped: the page is closed" in err
    for child in started:
        assert not Path(f"/proc/{child}").exists()


@pytest.mark.skipif(chromium() is None, reason="needs Chromium: apt-get install chromium")
def test_in_a_browser_scenarios_parts_runs_and_cells_of_a_sweep_are_picked(tmp_path, monkeypatch):
    """The start page itself; what it asks for is written down instead of done."""
    playwright = pytest.importorskip("playwright.sync_api")
    a, b = (axis.ravel() for axis in np.meshgrid([0.1, 0.2, 0.3], [1.0, 2.0], indexing="ij"))
    sweep = FakeSweep(a=a, b=b, mean_speed=a * b)
    (tmp_path / "sweeps" / "grid").mkdir(parents=True)
    (tmp_path / "sweeps" / "grid" / "sweep.json").write_text('{"name": "grid"}')
    monkeypatch.setattr("footfall.pages.server.open_sweep", lambda folder: sweep)
    for name in ("first", "second", "a-longer-name-than-a-phone-is-wide-20260101-120000"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "provenance.json").write_text('{"scenario": "a-robot"}')
    asked = []

    def refuse(*job):
        asked.append(job)
        raise ScenarioError("what the command line says")

    with PageServer(0, Found(tmp_path), tmp_path) as server:
        server.jobs.begin = refuse
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        with playwright.sync_playwright() as started:
            browser = started.chromium.launch(executable_path=chromium(), args=QUIET)
            tab, wrong = browser.new_page(), []
            tab.on("pageerror", lambda error: wrong.append(str(error)))
            tab.goto(server.url)
            tab.get_by_role("button", name="passive-wheel").click()
            tab.fill("#settings", "terrain.angle=0.1\nrobot.mass=2")
            tab.click("#run")
            tab.get_by_text("what the command line says").wait_for()
            tab.get_by_role("button", name="sweeps/grid").click()
            tab.get_by_role("button", name="a [m] = 0.3; b [m] = 2; mean_speed [m/s] = 0.6").click()
            tab.get_by_text("what the command line says").wait_for()
            # Another part: the page is made anew. By the keyboard alone, in a window of a phone.
            tab.set_viewport_size({"width": 390, "height": 844})
            tab.get_by_role("button", name="passive-wheel").focus()
            tab.keyboard.press("Enter")
            tab.get_by_label("terrain", exact=True).focus()
            with tab.expect_response("**/jobs"):
                tab.keyboard.press("ArrowDown")  # from the slope
            tab.get_by_text("goes up and down in steps").wait_for()
            assert tab.evaluate("document.documentElement.scrollWidth") <= 390
            tab.get_by_role("button", name="runs/first").focus()
            tab.keyboard.press("Enter")
            tab.get_by_label("beside").select_option("runs/second")
            assert tab.evaluate("document.querySelector('main').scrollWidth") <= 390
            with tab.expect_response("**/jobs"):
                tab.locator("#replay").press("Enter")
            browser.close()
        server.shutdown()
    assert not wrong
    assert asked[2:] == [
        ("live", ["passive-wheel"], ["terrain.angle=0.1", "robot.mass=2", "terrain=steps"]),
        ("replay", ["runs/first", "runs/second"], []),
    ]
    assert asked[:2] == [
        ("run", ["passive-wheel"], ["terrain.angle=0.1", "robot.mass=2"]),
        ("live", ["sweeps/grid/scenario.toml"], ["a=0.3", "b=2.0"]),
    ]
