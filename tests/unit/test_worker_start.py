"""Workers that are being started do not hear Ctrl-C; whoever starts them does, as soon as they are
there.
"""

import signal
import subprocess
import sys
import threading

import pytest

from footfall.sweep.executors import _deaf_children, local_workers

LOOK = (
    "print([line.split()[1] for line in open('/proc/self/status') if line.startswith(('SigBlk',"
    " 'SigIgn'))])"
)


@pytest.fixture(autouse=True)
def hears_ctrl_c():
    """However the tests were started: a shell lets what it starts in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def deaf(words):
    return any(int(mask, 16) >> (signal.SIGINT - 1) & 1 for mask in eval(words))


def test_ctrl_c_while_workers_start_is_heard_once_they_have_started():
    """It was ignored, and lost."""
    done = []
    with pytest.raises(KeyboardInterrupt), _deaf_children():
        # Another thread would take it at its own time.
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        done.append("started")
    assert done == ["started"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc")
def test_what_is_started_meanwhile_is_deaf_and_what_is_started_later_is_not():
    said = []

    def start():
        said.append(
            subprocess.run(
                [sys.executable, "-c", LOOK], capture_output=True, text=True, check=True
            ).stdout
        )

    with _deaf_children():
        thread = threading.Thread(target=start)  # as Dask does
        thread.start()
        thread.join()
    start()
    assert deaf(said[0]) and not deaf(said[1])


def listening():
    """Addresses at which this process and those it started wait for others."""
    psutil = pytest.importorskip("psutil")
    own = psutil.Process()
    found = set()
    for process in (own, *own.children(recursive=True)):
        for line in process.net_connections(kind="inet"):
            if line.status == psutil.CONN_LISTEN:
                found.add((process.pid, line.laddr.ip, line.laddr.port))
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="others ask for rights")
def test_workers_of_this_machine_are_reached_from_it_alone():
    """No pickled program can come over the network; and each computes with one thread."""
    pytest.importorskip("distributed")
    before = listening()
    with local_workers(1) as executor:
        opened = {ip for _, ip, _ in listening() - before}
        threads = list(executor._client.nthreads().values())
    assert opened == {"127.0.0.1"}
    assert threads == [1]
