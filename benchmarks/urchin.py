"""What the sea urchin costs per step of MuJoCo: the step itself, its controller, and our logging
and bookkeeping.

    python benchmarks/urchin.py [--rounds 7] [--seconds 10] [--write]

Four loops over the same walk, taken in turns so that a busy machine treats them alike, in processor
time of the thread; of each the least counts. *bare*: `mj_step` with the controls of a run made
before, copied in. *controlled*: the controller and `mj_step`. *kept*: the engine's loop as
`simulate` runs it, with every step's work summed and 50 samples a second of states, motors,
contacts and energies. *whole*: `simulate`, from an experiment to a Trajectory with some 400
columns, references and model included. Bookkeeping is kept - controlled; whole - kept is paid once
a run."""

import argparse
import importlib.metadata
import time

import mujoco
import numpy as np

import footfall as ff
from conditions import write
from footfall.engines.bodies.mujoco_engine import CHUNK, _advance, compiled, simulate_bodies
from footfall.engines.bodies.mujoco_record import BodiesRecord

SETTINGS = {
    "PID": [],
    "PID with integral (source)": ["controller.gains=source"],
    "stiffness": ["controller=stiffness"],
}
EVERY, STEP = 20, 1e-3  # 50 samples a second, as the scenario has it


def begun(experiment):
    model = compiled(experiment.system, STEP)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = experiment.start.x.qpos, experiment.start.x.qvel
    return model, data


def controlled(experiment, steps, keep=None):
    model, data = begun(experiment)
    driver = experiment.system.driver(model, data, steps)
    act, step = driver.act, mujoco.mj_step
    began = time.thread_time()
    if keep is None:
        for i in range(steps):
            act(i)
            step(model, data)
    else:
        for i in range(steps):
            act(i)
            keep[i] = data.ctrl
            step(model, data)
    return (time.thread_time() - began) / steps, data.qpos.copy()


def bare(experiment, steps, controls):
    model, data = begun(experiment)
    ctrl, step = data.ctrl, mujoco.mj_step
    began = time.thread_time()
    for i in range(steps):
        ctrl[:] = controls[i]
        step(model, data)
    return (time.thread_time() - began) / steps, data.qpos.copy()


def kept(experiment, steps):
    model, data = begun(experiment)
    driver = experiment.system.driver(model, data, steps)
    record = BodiesRecord(experiment.system, model, data, driver, steps, EVERY)
    began = time.thread_time()
    made = 0
    while made < steps:
        made = _advance(mujoco, model, data, driver, record, made, min(made + CHUNK, steps))
        record.look()
    return (time.thread_time() - began) / steps, data.qpos.copy()


def whole(experiment, steps):
    plan = ff.SimPlan(duration=steps * STEP, step=STEP, sample_rate=1.0 / (EVERY * STEP))
    began = time.thread_time()
    run = simulate_bodies(experiment.system, experiment.start, plan)
    return (time.thread_time() - began) / steps, run


def measure(settings, steps, rounds):
    experiment = ff.load("urchin-walk", settings)
    controls = np.zeros((steps, 36))
    _, end = controlled(experiment, steps, controls)
    times = {name: [] for name in ("bare", "controlled", "kept", "whole")}
    for _ in range(rounds):
        for name, run in (
            ("bare", lambda: bare(experiment, steps, controls)),
            ("controlled", lambda: controlled(experiment, steps)),
            ("kept", lambda: kept(experiment, steps)),
            ("whole", lambda: whole(experiment, steps)),
        ):
            seconds, state = run()
            if name != "whole":
                assert np.array_equal(state, end), (
                    "the loops must walk the same walk, to the last bit"
                )
            times[name].append(1e6 * seconds)
    least = {name: min(values) for name, values in times.items()}

    def share(a, b):
        return (least[a] - least[b]) / least["bare"]

    return {
        "microseconds_per_step": {name: round(value, 2) for name, value in least.items()},
        "controller_share_of_bare": round(share("controlled", "bare"), 4),
        "bookkeeping_share_of_bare": round(share("kept", "controlled"), 4),
        "once_a_run_share_of_bare": round(share("whole", "kept"), 4),
        "times_real_time": round(STEP * 1e6 / least["whole"], 1),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    steps = round(given.seconds / STEP)
    figures = {
        "mujoco": importlib.metadata.version("mujoco"),
        "steps": steps,
        "step": STEP,
        "sample_rate": 1.0 / (EVERY * STEP),
    }
    for name, settings in SETTINGS.items():
        figures[name] = measure(settings, steps, given.rounds)
        per = figures[name]["microseconds_per_step"]
        print(
            f"{name}: mj_step {per['bare']} us; controller"
            f" +{100 * figures[name]['controller_share_of_bare']:.1f} %, logging and bookkeeping"
            f" +{100 * figures[name]['bookkeeping_share_of_bare']:.1f} %, once a run"
            f" +{100 * figures[name]['once_a_run_share_of_bare']:.1f} %;"
            f" {figures[name]['times_real_time']} x real time"
        )
    if given.write:
        write("urchin", figures)


if __name__ == "__main__":
    main()
