"""Sweeps that are killed, starved of disk, tampered with or asked to be another.

Nothing finished is lost, nothing is doubled.
"""

import concurrent.futures
import errno
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from pathlib import Path

import pytest

from footfall.cli.main import app
from footfall.sweep import begin_sweep as begin_sweep_module
from footfall.sweep import shards
from footfall.sweep.errors import SweepError
from footfall.sweep.evaluate import Means, evaluate_shard
from footfall.sweep.executors import remote_scheduler
from footfall.sweep.manifest import read_manifest
from footfall.sweep.read_back import open_sweep
from footfall.sweep.run_sweep import run_sweep
from support.sweeps import SHARDS, SIZE, assert_same_results, begin, shard_names

SCRIPT = str(Path(sys.executable).with_name("footfall"))
PATIENCE = 120  # s; a fresh cache on a busy machine

#: Compared, bit for bit, with what other processes made.
pytestmark = pytest.mark.as_compiled


@pytest.fixture(scope="module", autouse=True)
def wide_screen():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "200")
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A sweep that nothing happened to."""
    folder = begin(tmp_path_factory.mktemp("whole") / "study")
    report = run_sweep(folder)
    assert report.computed == SHARDS * SIZE and report.found == 0
    return folder


@pytest.fixture
def copy(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "copy")


# --- killed ---------------------------------------------------------------------------------------


def test_a_sweep_killed_in_the_middle_resumes_to_what_an_uninterrupted_one_gives(whole, tmp_path):
    folder = begin(tmp_path / "killed")
    program = [SCRIPT, "sweep", "--resume", "--out", str(folder), "--no-plots"]
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + PATIENCE
    while len(shard_names(folder)) < 2 and time.monotonic() < deadline:
        time.sleep(0.002)
    process.kill()
    process.wait()
    done = {name: (folder / "shards" / name).stat().st_mtime_ns for name in shard_names(folder)}
    assert 2 <= len(done) < SHARDS, "killed too early or too late"
    # As a kill while writing leaves it.
    (folder / "shards" / ".part-000007-1-deadbeef.tmp").write_bytes(b"half a shard")
    resumed = subprocess.run(program, capture_output=True, text=True, timeout=PATIENCE)
    assert resumed.returncode == 0, resumed.stderr
    assert "were there already" in resumed.stdout
    after = {name: (folder / "shards" / name).stat().st_mtime_ns for name in done}
    assert after == done  # what was finished has not been touched
    assert [p.name for p in (folder / "shards").iterdir() if p.name.startswith(".")] == []
    assert_same_results(folder, whole)


def test_ctrl_c_keeps_finished_shards_and_says_how_to_go_on(tmp_path):
    folder = begin(tmp_path / "stopped")
    program = [SCRIPT, "sweep", "--resume", "--out", str(folder), "--no-plots"]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE
    while not shard_names(folder) and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and "Traceback" not in err
    assert f"footfall sweep --resume --out {folder}" in err
    assert 1 <= len(shard_names(folder)) < SHARDS
    manifest = read_manifest(folder)
    for number in range(len(shard_names(folder))):
        assert shards.examine_shard(folder, manifest.id, number, SIZE).fault == ""


def test_a_worker_of_a_process_pool_killed_in_mid_sweep_loses_and_doubles_nothing(whole, tmp_path):
    folder = begin(tmp_path / "pool")
    pools, killed = [], []

    def make():
        spawn = multiprocessing.get_context("spawn")
        pools.append(ProcessPoolExecutor(1, mp_context=spawn))
        return pools[-1]

    def kill_one(standing):
        # A moment later, when the next shard has been given out: a worker that dies with work in
        # hand.
        if standing.done and not killed:
            killed.extend(list(pools[0]._processes)[:1])
            threading.Timer(0.05, os.kill, (killed[0], signal.SIGKILL)).start()

    report = run_sweep(folder, executor=make, threads=1, progress=kill_one)
    assert killed and len(pools) == 2
    assert report.computed == SHARDS * SIZE
    assert_same_results(folder, whole)


class BreakingPool(concurrent.futures.Executor):
    """Its worker dies over one shard, and the pool with it; others are computed."""

    _max_workers = 1

    def __init__(self, fatal):
        self.fatal = fatal

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        number = args[2]
        if number == self.fatal:
            future.set_exception(BrokenExecutor("a worker died"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_a_shard_that_kills_three_workers_is_named_and_the_others_are_kept(copy):
    for number in (2, 5):
        (copy / "shards" / f"part-{number:06d}.parquet").unlink()
    made = []
    with pytest.raises(
        SweepError,
        match=r"died 3 times while computing shard 5 .*Finished shards are kept.*__main__",
    ):
        run_sweep(copy, executor=lambda: made.append(1) or BreakingPool(5))
    assert len(made) == 3
    assert len(shard_names(copy)) == SHARDS - 1
    with pytest.raises(SweepError, match="a worker of the pool died"):
        run_sweep(copy, executor=BreakingPool(5))


def test_two_dask_workers_on_loopback_finish_also_when_one_is_killed(whole, tmp_path):
    distributed = pytest.importorskip("distributed")
    folder = begin(tmp_path / "dask")
    killed = []
    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "host": "127.0.0.1",
        "dashboard_address": None,
        "silence_logs": 50,
    }
    with distributed.LocalCluster(processes=True, **options) as cluster:
        assert cluster.scheduler_address.startswith("tcp://127.0.0.1:")

        def kill_one(standing):
            if standing.done and not killed:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)

        with remote_scheduler(cluster.scheduler_address) as executor:
            report = run_sweep(folder, executor=executor, threads=1, progress=kill_one)
    assert killed and report.computed == SHARDS * SIZE
    assert_same_results(folder, whole)


def test_a_scheduler_that_does_not_answer_is_said_so():
    pytest.importorskip("distributed")
    with (
        pytest.raises(SweepError, match=r"no Dask scheduler answers there.*dask scheduler"),
        remote_scheduler("127.0.0.1:9", 0.5),
    ):
        pass


def test_two_sweeps_do_not_work_in_one_folder_at_once(copy):
    fcntl = pytest.importorskip("fcntl")
    with (copy / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(SweepError, match="another process is working on this sweep"):
            run_sweep(copy)
    assert run_sweep(copy).computed == 0


# --- disk full ------------------------------------------------------------------------------------


def test_a_full_disk_is_one_line_and_finished_shards_stay(whole, tmp_path, monkeypatch):
    folder, write = begin(tmp_path / "full"), shards._write_table

    def fill_up(table, path, repetitive):
        write(table, path, repetitive)
        if len(shard_names(folder)) == 3:
            os.truncate(path, 1000)  # as far as it went
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shards, "_write_table", fill_up)
    with pytest.raises(SweepError) as caught:
        run_sweep(folder)
    said = str(caught.value)
    assert "the disk is full" in said and "--resume" in said and "\n" not in said
    assert len(shard_names(folder)) == 3
    assert [p.name for p in (folder / "shards").iterdir() if p.name.startswith(".")] == []
    monkeypatch.undo()
    report = run_sweep(folder)
    assert report.found == 3 * SIZE and report.mended == ()
    assert_same_results(folder, whole)


def test_a_really_full_disk(whole, tmp_path):
    """The same on a file system of 256 kB, in a name space of its own; where that is not permitted,
    the test above must do.
    """
    place = tmp_path / "small"
    place.mkdir()
    mount = f"mount -t tmpfs -o size=256k tmpfs {place}"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True).returncode != 0:
        pytest.skip("no name spaces here")
    shutil.copytree(
        whole, tmp_path / "study", ignore=shutil.ignore_patterns("*.parquet", "*.sha256")
    )
    sweep = f"{SCRIPT} sweep --resume --out {place / 'study'} --no-plots"
    program = (
        f"{mount} && cp -r {tmp_path / 'study'} {place} && {sweep}; echo status $?; ls -A"
        f" {place}/study/shards"
    )
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", program], capture_output=True, text=True, timeout=PATIENCE
    )
    assert "status 2" in done.stdout, done.stderr
    assert "the disk is full" in done.stderr and "Traceback" not in done.stderr
    listed = done.stdout.partition("status 2")[2].split()
    assert listed and all(name.startswith("part-") and name.endswith(".parquet") for name in listed)


# --- tampered with --------------------------------------------------------------------------------


def test_damaged_shards_are_found_and_computed_again_and_no_others(copy, whole):
    def part(number):
        return copy / "shards" / f"part-{number:06d}.parquet"

    flipped = bytearray(part(0).read_bytes())
    flipped[len(flipped) // 2] ^= 1
    part(0).write_bytes(flipped)
    part(1).write_bytes(part(1).read_bytes()[:-500])
    shutil.copy(part(6), part(2))  # a good shard, but of another place
    shutil.copy(
        copy / "checksums" / "part-000006.sha256", copy / "checksums" / "part-000002.sha256"
    )
    part(3).write_bytes(b"not parquet")
    part(4).unlink()
    (copy / "checksums" / "part-000005.sha256").unlink()
    kept = {n: part(n).stat().st_mtime_ns for n in (6, 7)}
    report = run_sweep(copy)
    assert [number for number, _ in report.mended] == [0, 1, 2, 3, 5]
    assert report.found == 2 * SIZE and report.computed == 6 * SIZE
    assert {n: part(n).stat().st_mtime_ns for n in kept} == kept
    assert_same_results(copy, whole)


def test_a_good_shard_of_another_sweep_is_not_taken_for_one_of_ours(copy, whole, tmp_path):
    other = begin(tmp_path / "other", settings=["mass=7.5"])
    evaluate_shard(str(other), read_manifest(other).id, 3, Means())
    for kind in ("shards", "checksums"):
        for file in (other / kind).iterdir():
            shutil.copy(file, copy / kind / file.name)
    report = run_sweep(copy)
    assert report.mended == ((3, "it belongs to another sweep or another place"),)
    assert_same_results(copy, whole)


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        (
            "sweep.json",
            lambda text: text.replace('"step": 0.0005', '"step": 0.0006'),
            "changed by hand",
        ),
        (
            "sweep.json",
            lambda text: text.replace('"count": 2400', '"count": 600'),
            "changed by hand",
        ),
        (
            "sweep.json",
            lambda text: text.replace("terrain.angle", "terrain.angel"),
            "changed by hand",
        ),
        ("sweep.json", lambda text: text[:200], "damaged"),
        ("sweep.json", lambda text: text.replace('"format": 2', '"format": 99'), "another version"),
        ("scenario.toml", lambda text: text.replace("6.91", "6.92"), "has been changed since"),
    ],
)
def test_a_changed_manifest_or_scenario_is_refused(copy, file, change, said):
    text = (copy / file).read_text()
    assert change(text) != text
    (copy / file).write_text(change(text))
    with pytest.raises(SweepError, match=said):
        run_sweep(copy)


@pytest.mark.parametrize("where", ["write_manifest", "read_manifest"])
def test_a_sweep_that_cannot_begin_leaves_no_folder_that_nothing_would_take(
    tmp_path, monkeypatch, where
):
    def full(*_):
        raise SweepError("the disk is full")

    monkeypatch.setattr(begin_sweep_module, where, full)
    with pytest.raises(SweepError, match="the disk is full"):
        begin(tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_a_file_that_is_no_shard_of_the_sweep_is_not_read_as_one(copy):
    shutil.copy(copy / "shards" / "part-000000.parquet", copy / "shards" / "part-000099.parquet")
    sweep = open_sweep(copy)
    assert sweep.complete and len(sweep.to_pandas(["design"])) == SHARDS * SIZE
    (copy / "shards" / "part-000001.parquet").unlink()
    assert not sweep.complete and len(sweep.to_pandas(["design"])) == (SHARDS - 1) * SIZE


def test_a_lock_that_is_a_link_is_not_followed(copy, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    (copy / ".lock").unlink(missing_ok=True)
    (copy / ".lock").symlink_to(precious)
    with pytest.raises(SweepError, match=r"\.lock could not be written"):
        run_sweep(copy)
    assert precious.read_text() == "keep me"


# --- asked to be another --------------------------------------------------------------------------

SAME = (
    "passive-wheel",
    "--vary",
    "terrain.angle=1 deg:9 deg:120",
    "--vary",
    "leg.length=0.2:0.4:20:log",
    "--duration",
    "2",
)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--set", "mass=7"), "robot.mass: 6.91 here, 7.0 asked for"),
        (("--duration", "3"), "sim.duration: 2.0 here, 3.0 asked for"),
        (("--step", "1 ms"), "step: 0.0005 here, 0.001 asked for"),
        (("--precision", "float32"), "precision: float64 here, float32 asked for"),
        (("--method", "rk2"), "method: rk4 here, rk2 asked for"),
        (("--track", "foot.fz"), "track: nothing here, foot.fz asked for"),
        (("--shard-size", "64"), "shard size: 300 here, 64 asked for"),
        (
            ("--vary", "start.spoke_rate=-3,-4"),
            "start.spoke_rate: varied in what is asked for only",
        ),
    ],
)
def test_resume_refuses_what_differs_and_names_it(whole, capsys, arguments, said):
    before = {p: p.stat().st_mtime_ns for p in whole.rglob("*")}
    with pytest.raises(SystemExit) as end:
        app(["sweep", *SAME, *arguments, "--resume", "--out", str(whole), "--no-plots"])
    err = " ".join(capsys.readouterr().err.split())
    assert end.value.code == 2 and said in err, err
    assert "--resume --out" in err
    assert {p: p.stat().st_mtime_ns for p in whole.rglob("*")} == before


def test_resume_takes_the_same_request_however_it_is_spelled(copy, capsys):
    again = (
        "passive-wheel",
        "--vary",
        "angle=1 deg:9 deg:120",
        "--vary",
        "robot.leg.length=20 cm:40 cm:20:log",
        "--duration",
        "2 s",
    )
    with pytest.raises(SystemExit) as end:
        app(["sweep", *again, "--step", "0.5 ms", "--resume", "--out", str(copy), "--no-plots"])
    assert not end.value.code, capsys.readouterr().err
