"""Tries a sweep over several Dask machines, each a network namespace of this one with its own
address, and breaks them: a worker is killed, a machine dies, a network is cut and healed.

    python tools/try_cluster.py FOLDER

FOLDER (new) gets the sweep, an undisturbed one to compare with, and the logs of all hosts. Needs
iproute2, util-linux and `distributed`, not root: it all happens in namespaces of its own, which end
with it. All hosts see one folder, as over a network file system without its delays.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from footfall.scenario.load import load
from footfall.sweep.begin_sweep import begin_sweep
from footfall.sweep.parse import parse_designs
from footfall.sweep.plan_sweep import plan_of
from footfall.sweep.read_back import open_sweep
from footfall.sweep.run_sweep import run_sweep

SCHEDULER = "10.77.0.1"
ADDRESS = f"tcp://{SCHEDULER}:8786"
SHARDS, SIZE = 200, 300
#: Dask gives a silent line 30 s, and a silent worker 5 minutes; nobody here waits that long.
QUICKER = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "12s",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "20s",
    "DASK_DISTRIBUTED__ADMIN__LOG_FORMAT": "%(asctime)s %(message)s",
}
SHORT, LONG = 3.0, 30.0  #: [s] below and above what Dask gives a silent line
PATIENCE = 900.0  #: s


def ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


class Host:
    """A machine with its own address on the bridge."""

    def __init__(self, name: str, address: str, logs: Path):
        self.name, self.line, self.log = name, f"to-{name}", logs / f"{name}.log"
        ip("netns", "add", name)
        ip("link", "add", self.line, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("link", "set", self.line, "master", "switch", "up")
        for words in (f"addr add {address}/24 dev eth0", "link set eth0 up", "link set lo up"):
            ip("-n", name, *words.split())

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            inside = ["ip", "netns", "exec", self.name, *command]
            environment = {**os.environ, **QUICKER}
            return subprocess.Popen(inside, stdout=log, stderr=log, env=environment)

    def worker(self) -> None:
        """A Dask worker of one thread, and the nanny that starts it anew when it dies."""
        options = ["--nthreads", "1", "--no-dashboard", "--name", self.name]
        self.start(sys.executable, "-m", "distributed.cli.dask_worker", ADDRESS, *options)

    def processes(self) -> list[int]:
        return [int(number) for number in ip("netns", "pids", self.name).split()]

    def kill_worker(self) -> None:
        """The youngest process: the one that computes."""
        os.kill(max(self.processes()), signal.SIGKILL)

    def die(self) -> None:
        """All of it at once, as without electricity: nobody says goodbye."""
        self.cut()
        for number in self.processes():
            os.kill(number, signal.SIGKILL)

    def cut(self) -> None:
        ip("link", "set", self.line, "down")

    def heal(self) -> None:
        ip("link", "set", self.line, "up")


def begin(folder: Path) -> Path:
    experiment = load("passive-wheel", duration=2.0)
    lengths = f"leg.length=0.2:0.4:{SHARDS}:log"
    designs = parse_designs(experiment, [f"terrain.angle=1 deg:9 deg:{SIZE}", lengths])
    begin_sweep(folder, experiment, designs, plan_of(experiment, step=2e-5), shard_size=SIZE)
    return folder


def done(folder: Path) -> int:
    return len(list((folder / "shards").glob("part-*.parquet")))


def seen() -> list[str]:
    """Names of the workers that the scheduler knows."""
    ask = (
        "import json; from distributed import Client\n"
        f"with Client({ADDRESS!r}, timeout=20) as c:\n"
        "    print(json.dumps(sorted(str(w['name']) for w in"
        " c.scheduler_info(n_workers=-1)['workers'].values())))"
    )
    inside = ["ip", "netns", "exec", "scheduler", sys.executable, "-c", ask]
    said = subprocess.run(inside, capture_output=True, text=True, timeout=60)
    return json.loads(said.stdout or "[]")


def disturb(folder: Path, hosts: dict[str, Host], logs: Path) -> list[dict[str, Any]]:
    """The sweep on the cluster while this and that happens; what happened."""
    told: list[dict[str, Any]] = []
    began = time.monotonic()

    def tell(what: str, **more: Any) -> None:
        told.append({"t": round(time.monotonic() - began, 1), "shards": done(folder), "what": what})
        told[-1] |= more
        print(json.dumps(told[-1]), flush=True)

    def cut(name: str, seconds: float) -> None:
        hosts[name].cut()
        tell(f"the line to {name} is cut", seconds=seconds)
        time.sleep(seconds)
        hosts[name].heal()
        tell(f"the line to {name} is healed", workers=seen())

    def cut_for_long() -> None:
        cut("a", LONG)
        hosts["a"].worker()  # Dask's ends when its scheduler is gone; who runs a cluster begins one
        tell("a worker of a is started again")

    def lose_a_machine() -> None:
        hosts["b"].die()
        tell("machine b dies")
        hosts["c"] = Host("c", "10.77.0.13", logs)
        hosts["c"].worker()
        tell("machine c takes its place")

    def kill() -> None:
        hosts["b"].kill_worker()
        tell("the worker of b is killed")

    def sweep() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "footfall", "sweep", "--resume", "--out", str(folder)]
        return hosts["sweep"].start(*command, "--scheduler", ADDRESS, "--no-plots")

    #: Shards that are there -> what happens then.
    story: list[tuple[int, Callable[[], None]]] = [
        (6, kill),
        (15, lambda: cut("a", SHORT)),
        (25, lose_a_machine),
        (35, cut_for_long),
        (150, lambda: cut("sweep", LONG)),
    ]
    process = sweep()
    while process.poll() is None or done(folder) < SHARDS:
        if process.poll() is not None:
            said = hosts["sweep"].log.read_text().strip().splitlines()
            tell("the sweep ends early, and is resumed", status=process.returncode, said=said[-3:])
            process = sweep()
        if story and done(folder) >= story[0][0]:
            story.pop(0)[1]()
        if time.monotonic() - began > PATIENCE:
            raise SystemExit(f"after {PATIENCE:g} s {done(folder)} of {SHARDS} shards are there")
        time.sleep(0.05)
    tell("all shards are there", status=process.returncode, workers=seen(), left=len(story))
    return told


def compare(folder: Path, whole: Path) -> dict[str, int]:
    """Counted: designs, missing, doubled, columns that differ by a bit."""
    ours, theirs = open_sweep(folder).columns(), open_sweep(whole).columns()
    wanted, numbers = set(range(SHARDS * SIZE)), ours["design"].tolist()
    differ = [
        name
        for name in theirs
        if not (
            np.array_equal(ours[name], theirs[name])
            if ours[name].dtype.kind == "O"
            else np.array_equal(ours[name].view(np.uint8), theirs[name].view(np.uint8))
        )
    ]
    return {
        "designs": len(wanted),
        "missing": len(wanted - set(numbers)),
        "doubled": len(numbers) - len(set(numbers)),
        "columns that differ": len(differ),
    }


def main(folder: Path) -> int:
    logs = folder / "logs"
    logs.mkdir(parents=True)
    whole = begin(folder / "undisturbed")
    run_sweep(whole)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)  # where `ip` keeps names
    ip("link", "add", "switch", "type", "bridge")
    ip("link", "set", "switch", "up")
    places = {"scheduler": SCHEDULER, "sweep": "10.77.0.2", "a": "10.77.0.11", "b": "10.77.0.12"}
    hosts = {name: Host(name, address, logs) for name, address in places.items()}
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    hosts["scheduler"].start(*scheduler, "--host", SCHEDULER, "--port", "8786")
    for name in ("a", "b"):
        hosts[name].worker()
    limit = time.monotonic() + PATIENCE
    while seen() != ["a", "b"]:
        if time.monotonic() > limit:
            raise SystemExit(f"the workers did not come up; {logs} says why")
    disturb(begin(folder / "study"), hosts, logs)
    counted = compare(folder / "study", whole)
    print(json.dumps(counted))
    return int(any(number for what, number in counted.items() if what != "designs"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if os.environ.get("FOOTFALL_TRY_INSIDE") != "yes":
        os.environ["FOOTFALL_TRY_INSIDE"] = "yes"
        apart = ["--map-root-user", "--mount", "--net", "--pid", "--fork", "--mount-proc"]
        os.execvp("unshare", ["unshare", *apart, "--kill-child", sys.executable, *sys.argv])
    sys.exit(main(Path(sys.argv[1]).absolute()))
