"""The rules of `footfall view`: who may ask, what can be asked for, what a command is made of."""

import http.client
import json
import re
import socket
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import footfall.cli.view as cli_view
import footfall.scenario.trust as trusting
from footfall.cli.main import app
from footfall.pages.found import Found, named
from footfall.pages.heat_map import MOST_CELLS, heat_map, settings_for
from footfall.pages.jobs import Jobs, _last_words, command_of, settings_of
from footfall.pages.parts import parts_of
from footfall.pages.server import ADDRESS, MOST_ASKED, PageServer
from footfall.scenario.errors import ScenarioError
from footfall.sweep.errors import SweepError
from support.fake_sweep import FakeSweep
from support.pages import needs_bundle

ROOT = Path(__file__).parents[2]
MINE = """
from pathlib import Path
Path(__file__).with_name("ran").touch()
from footfall.machines.rimless_wheel.rigid_wheel import RigidWheel
class Mine(RigidWheel):
    pass
"""
SCENARIO = 'title = "Mine"\n[robot]\nkind = "rimless-wheel"\n'


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A working folder with a scenario and a run, and a run outside that a link leads to."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "mine.toml").write_text(SCENARIO)
    (folder / "pyproject.toml").write_text('[project]\nname = "none"\n')
    outside = tmp_path_factory.mktemp("outside")
    for run in (folder / "runs" / "kept", outside):
        run.mkdir(parents=True, exist_ok=True)
        (run / "provenance.json").write_text('{"scenario": "passive-wheel"}')
    (folder / "runs" / "link").symlink_to(outside)
    return folder


@pytest.fixture(scope="module")
def server(root, tmp_path_factory):
    with PageServer(0, Found(root), tmp_path_factory.mktemp("pages")) as opened:
        thread = threading.Thread(target=opened.serve_forever, args=(0.02,))
        thread.start()
        yield opened
        opened.shutdown()
        thread.join()


def ask(server, address, *, method="GET", token=None, body=None, **headers):
    connection = http.client.HTTPConnection(ADDRESS, server.server_port, timeout=20)
    path = f"/{server.token if token is None else token}/{address}"
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return SimpleNamespace(status=answer.status, text=text, headers=answer.headers)


def test_it_listens_on_this_machine_alone(server):
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("address", ["", "list", "start.js", "map?name=x", "jobs/1", "pages/1"])
@pytest.mark.parametrize("token", ["", "x", "%2e%2e", "x" * 32])
def test_nothing_is_answered_without_the_token(server, address, token):
    assert ask(server, address, token=token).status == 403


def test_nothing_is_started_without_the_token(server):
    body = json.dumps({"kind": "run", "name": "passive-wheel"})
    assert ask(server, "jobs", method="POST", token="x", body=body).status == 403
    assert server.jobs.listed() == []


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1"]
)
def test_another_host_is_refused(server, host):
    assert ask(server, "list", Host=host.format(port=server.server_port)).status == 403


def test_our_own_names_are_hosts(server):
    for host in server.hosts:
        assert ask(server, "list", Host=host).status == 200


def test_another_site_is_refused(server):
    assert ask(server, "list", Origin="http://evil.example").status == 403
    assert ask(server, "list", Origin=f"http://{server.hosts[0]}").status == 200


@pytest.mark.parametrize(
    "address",
    [
        "../list",
        "..%2f..%2fetc/passwd",
        "start/../../page.py",
        "start.js/..",
        "pages/../1.html",
        "pages/1.html",
        "jobs/-1",
        "jobs/%C2%B2",
        "/etc/passwd",
        "runs/kept/provenance.json",
    ],
)
def test_no_path_is_made_from_an_address(server, address):
    assert ask(server, address).status == 404


@pytest.mark.parametrize(
    "name", ["../outside", "/etc", "runs/link", "runs/../runs/kept", "kept", ""]
)
def test_what_is_not_listed_cannot_be_opened(server, name):
    answer = ask(server, "jobs", method="POST", body=json.dumps({"kind": "replay", "name": name}))
    assert answer.status == 422
    assert "there is no run" in json.loads(answer.text)["error"]
    assert ask(server, f"map?name={name}").status == 422


@pytest.mark.parametrize("body", ["", "[]", "{", '{"kind": "share"}', " " * (MOST_ASKED + 1)])
def test_a_request_that_makes_no_sense_is_refused(server, body):
    assert ask(server, "jobs", method="POST", body=body).status == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS"])
def test_there_are_no_other_methods(server, method):
    assert ask(server, "list", method=method).status == 501


def test_answers_forbid_what_they_do_not_need(server):
    headers = ask(server, "").headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"  # the address has the token


def test_scenarios_and_runs_are_listed(server):
    entries = json.loads(ask(server, "list").text)["entries"]
    names = [(entry["kind"], entry["name"]) for entry in entries]
    assert names[0] == ("scenario", "mine.toml")
    assert ("scenario", "passive-wheel") in names
    assert [name for kind, name in names if kind == "run"] == ["runs/kept"]
    assert ("scenario", "pyproject.toml") not in names


def test_a_file_that_is_broken_is_told_and_the_page_goes_on(server, root):
    broken = root / "sweeps" / "broken"
    broken.mkdir(parents=True)
    (broken / "sweep.json").write_text("[")
    answer = ask(server, "map?name=sweeps/broken")
    assert answer.status in (422, 500) and json.loads(answer.text)["error"]
    assert ask(server, "list").status == 200


def test_after_the_end_nothing_is_begun(root, tmp_path):
    jobs = Jobs(root, tmp_path)
    jobs.end()
    with pytest.raises(ScenarioError, match="is ending"):
        jobs.begin("run", ["passive-wheel"], [])


def test_the_argument_is_a_run_a_sweep_or_a_scenario(root):
    assert named(str(root / "runs" / "kept")).kind == "run"
    assert named("passive-wheel").kind == named(str(root / "mine.toml")).kind == "scenario"
    for wrong in (str(root), "no-such-thing", str(root / "pyproject.toml")):
        with pytest.raises(ScenarioError):
            named(wrong)


@needs_bundle
def test_trust_is_said_once_for_the_folder_of_a_scenario(tmp_path, monkeypatch):
    """What the page starts asks nobody: code that was not trusted before does not run."""
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(trusting, "_here", {"folders": [], "code": []})
    monkeypatch.setattr(trusting, "_ask", trusting._never)
    served = []
    monkeypatch.setattr(cli_view, "_serve", lambda server, browser: served.append(server.first))
    scenario = tmp_path / "mine.toml"
    scenario.write_text('[robot]\nkind = "mine.py:Mine"\n')
    (tmp_path / "mine.py").write_text(MINE)
    asked = CliRunner().invoke(app, ["view", "--trust", "--no-browser"])
    assert asked.exit_code == 2 and "name the scenario file" in asked.stderr and not served
    assert CliRunner().invoke(app, ["view", str(scenario), "--no-browser"]).exit_code == 130
    assert not (tmp_path / "ran").exists()  # listed, not loaded
    CliRunner().invoke(app, ["view", str(scenario), "--trust", "--no-browser"])
    assert (tmp_path / "ran").exists() and len(served) == 2
    trusted = json.loads((tmp_path / "cache" / trusting.NAME).read_text())
    assert str(tmp_path) in trusted["folders"]


@needs_bundle
def test_the_port_is_chosen_and_one_that_is_taken_is_told(server, monkeypatch):
    ports = []
    monkeypatch.setattr(cli_view, "_serve", lambda made, browser: ports.append(made.server_port))
    with socket.socket() as free:
        free.bind((ADDRESS, 0))
        port = free.getsockname()[1]
    asked = CliRunner().invoke(app, ["view", "--no-browser", "--port", str(port)])
    assert ports == [port] and f"http://{ADDRESS}:{port}/" in asked.stdout
    taken = CliRunner().invoke(app, ["view", "--no-browser", "--port", str(server.server_port)])
    assert taken.exit_code == 2 and f"--port {server.server_port}" in taken.stderr
    assert "leave it out" in " ".join(taken.stderr.split())


def test_a_setting_can_be_no_option_of_the_command():
    settings = settings_of("  a=1\n\n# a remark\n--set b=2\n--set=c=3\n--trust\n")
    assert settings == ["a=1", "b=2", "c=3", "--trust"]
    command = command_of("run", ["--trust"], settings, Path("page.html"))
    assert command[-2:] == ["--", "--trust"]
    assert command[-6:-2] == ["--set=a=1", "--set=b=2", "--set=c=3", "--set=--trust"]
    assert command[1] == "-P"  # nothing is imported from the working folder


def test_words_of_a_failure_begin_with_its_error():
    assert _last_words(["a remark", "error: no key", "  Try: x"]) == "no key\n  Try: x"
    assert _last_words(["a remark", "stopped: kept."]) == "stopped: kept."
    assert _last_words(["a traceback"]) == "a traceback"


def test_colours_stand_once_for_all_pages(server):
    """In colours.css, which both style sheets take; and nowhere else."""
    start = ROOT / "src/footfall/pages/start"
    assert "--accent: #" in ask(server, "colours.css").text
    assert 'href="colours.css"' in ask(server, "").text
    page = (ROOT / "web/src/style.css").read_text()
    assert "pages/start/colours.css" in page
    for text in (page, (start / "start.css").read_text()):
        assert not re.findall(r"--[a-z-]+: *#", text)


def test_words_stand_out_from_what_they_are_on():
    """As much as WCAG 2 asks of small letters, in light and in dark: 4.5 to 1."""
    colours = (ROOT / "src/footfall/pages/start/colours.css").read_text()
    for theme in (":root {", ':root[data-theme="dark"] {'):
        block = colours.partition(theme)[2].partition("}")[0]
        found = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+);", block))
        pairs = [(ink, on) for ink in ("ink", "muted") for on in ("card", "back", "well")]
        pairs += [(ink, "card") for ink in ("faint", "warn", "accent")]
        for ink, on in [*pairs, ("accent", "back"), ("on-accent", "accent")]:
            assert contrast(found[ink], found[on]) >= 4.5, (theme, ink, on)


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour):
    """Of #rgb or #rrggbb, from 0 to 1."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    red, green, blue = (int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4))
    linear = [
        v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (red, green, blue)
    ]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def test_parts_of_a_scenario_are_listed_with_their_sentences(server, root):
    (parts,) = json.loads(ask(server, "parts?name=passive-wheel").text).values()
    (ground,) = [slot for slot in parts if slot["key"] == "terrain"]
    assert ground["now"] == "slope" and len(ground["kinds"]["steps"]) > 10
    assert "water" in ground["refused"] and "water" not in ground["kinds"]
    own = root / "own.toml"
    own.write_text('[robot]\nkind = "mine.py:Mine"\n')
    (root / "mine.py").write_text("raise SystemExit('this was run')\n")
    assert parts_of(own) == []  # to find out would run its code
    assert ask(server, "parts?name=../own.toml").status == 422


def test_a_grid_is_shown_cell_by_cell():
    a, b = (axis.ravel() for axis in np.meshgrid([1.0, 2.0, 3.0], [10.0, 20.0], indexing="ij"))
    made = heat_map(FakeSweep(a=a, b=b, mean_speed=a + b))
    assert (made["columns"], made["rows"], made["metric"]) == ([1, 2, 3], [10, 20], "mean_speed")
    assert len(made["cells"]) == 6
    for cell in made["cells"]:
        x, y = made["columns"][cell["column"]], made["rows"][cell["row"]]
        assert cell["value"] == x + y
        assert (a[cell["design"]], b[cell["design"]]) == (x, y)


def test_a_cell_shows_the_value_of_the_design_it_opens():
    a = np.linspace(0, 1, 1000)
    speed = np.where(a < 0.2, np.nan, np.cos(9 * a))
    made = heat_map(FakeSweep(a=a, mean_speed=speed))
    assert len(made["columns"]) == MOST_CELLS
    assert sum(cell["designs"] for cell in made["cells"]) == 1000
    for cell in made["cells"]:
        assert cell["value"] == (None if np.isnan(v := speed[cell["design"]]) else v)
        assert abs(a[cell["design"]] - made["columns"][cell["column"]]) <= 0.5 / MOST_CELLS + 1e-12


def test_words_are_an_axis_too_and_doubts_are_told():
    made = heat_map(
        FakeSweep(
            a=np.array(["rigid", "springy"]),
            mean_speed=np.array([1.0, 2.0]),
            verdict=np.array(["sound", "doubtful: step"]),
        )
    )
    assert (made["columns"], made["rows"]) == (["rigid", "springy"], [""])
    assert [cell["sound"] for cell in made["cells"]] == [True, False]


def test_a_design_is_set_to_the_last_bit():
    sweep = FakeSweep(a=np.array([0.1 + 0.2, 1.0]), b=np.array(["rigid", "springy"]))
    (key, value), kind = (s.split("=") for s in settings_for(sweep, 0))
    assert (key, float(value), kind) == ("a", 0.1 + 0.2, ["b", "rigid"])
    with pytest.raises(SweepError):
        settings_for(sweep, 2)
    with pytest.raises(SweepError, match="no key"):
        heat_map(sweep, x="c", metric="design")
