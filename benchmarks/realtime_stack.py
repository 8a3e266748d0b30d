"""How the control stack keeps time: a minute of `rimless-wheel` in real time, with the mid level in
Python and as firmware.

python benchmarks/realtime_stack.py [--seconds 60] [--write]

The targets: the 100 Hz loop makes 6000 +- 6 cycles a minute, the 1 kHz loop misses at most 0.5 % of
its deadlines by more than 1 ms, on two cores. Each is measured with real-time scheduling, if the
system grants it, and without."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from conditions import write
from footfall.realtime.launcher import Emulation, StackProcesses, firmware_mid, program, python_mid
from footfall.realtime.stack_log import read_stack_log

MOST_MISSED = 0.005


def measure(seconds: float, mid, priority: bool) -> dict:
    """One run."""

    def operation(folder, settings):
        folder.script.write_text("0.3 motors-on\n0.6 run\n")
        return ["--script", str(folder.script), "--duration", str(seconds)]

    with tempfile.TemporaryDirectory() as place:
        with StackProcesses(
            Path(place) / "run", "rimless-wheel", operation, priority=priority
        ) as stack:
            stack.start_emulated(Emulation(program("robot_process"), mid))
            while stack.running:
                stack.poll(0.2)
            load = os.getloadavg()
            lost = stack.lost
        high, level, low = (stack.status[name] for name in ("supervisor", "mid", "robot"))
        log = read_stack_log(Path(place) / "run")
    if lost or not len(log):
        sys.exit(f"the run did not come about: {stack.status}")
    return {
        "granted": level["granted"],
        "load_average": [round(value, 2) for value in load],
        "seconds": seconds,
        "high_cycles": high["cycles"],
        "high_late": high["late_cycles"],
        "high_work_mean_ms": 1e3 * float(log["work"].mean()),
        "high_work_worst_ms": 1e3 * float(log["work"].max()),
        "high_period_worst_ms": 1e3 * float(log["period"][1:].max()),
        "mid_deadlines": level["due"],
        "mid_missed_by_over_1_ms": level["missed"],
        "mid_missed_share": level["missed"] / level["due"],
        "low_ticks": low["ticks"],
        "low_left_out": low["slipped"],
        "dropped_records": high["dropped_records"],
        "faults": high["faults"],
        "mean_motor_speed": float(np.nanmean(log["motor_vel_l"][log["t"] > seconds / 2])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument(
        "--write", action="store_true", help="keep the figures in benchmarks/results"
    )
    asked = parser.parse_args()
    figures = {}
    for name, mid in (("python", python_mid), ("firmware", firmware_mid)):
        for priority in (True, False):
            key = f"{name}{'' if priority else '_without_priority'}"
            found = figures[key] = measure(asked.seconds, mid, priority)
            expected = 100 * asked.seconds
            kept = (
                abs(found["high_cycles"] - expected) <= 0.001 * expected
                and found["mid_missed_share"] <= MOST_MISSED
            )
            print(
                f"{key:28} cycles {found['high_cycles']} of {expected:.0f} (late"
                f" {found['high_late']}), 1 kHz missed by over 1 ms"
                f" {found['mid_missed_share']:.3%}, load {found['load_average'][0]}:"
                f" {'kept' if kept else 'NOT kept'}",
                flush=True,
            )
    if asked.write:
        write("realtime_stack", figures)


if __name__ == "__main__":
    main()
