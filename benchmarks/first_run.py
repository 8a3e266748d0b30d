"""Where the time of a first run goes: import, load, trace, lower, compile, simulate, write, draw.
One process, an empty cache, then a warm one.

python benchmarks/first_run.py [SCENARIO] [--write]
"""

import json
import os
import subprocess
import sys
import tempfile

PHASES = ("import", "load", "trace", "lower", "compile", "simulate", "summarise", "write", "draw")
PROGRAM = """
import collections, json, sys, tempfile, time
from pathlib import Path
began = time.perf_counter()
seconds, programs = collections.Counter(), collections.Counter()
def lap(name):
    global began
    now = time.perf_counter()
    seconds[name] += now - began
    began = now
from footfall.cli.runtime import prepare
prepare()
import jax.monitoring, footfall.cli.run
from footfall.engines.analysis.summary import summarise
from footfall.record.run_folder import write_run
from footfall.scenario.load import load
from footfall.engines.simulate import simulate
lap("import")
WORDS = {"jaxpr_trace_duration": "trace", "jaxpr_to_mlir_module_duration": "lower",
"backend_compile_duration": "compile"}
def told(event, took, fun_name="", **_):
    if (name := WORDS.get(event.rpartition("/")[2])) is not None:
        seconds[name] += took
        programs[fun_name] += name == "compile"
jax.monitoring.register_event_duration_secs_listener(told)
experiment = load(sys.argv[1])
lap("load")
before = sum(seconds[name] for name in WORDS.values())
run = simulate(experiment)
lap("simulate")
seconds["simulate"] -= sum(seconds[name] for name in WORDS.values()) - before
summary = summarise(run, experiment.name)
lap("summarise")
with tempfile.TemporaryDirectory() as folder:
    write_run(Path(folder) / "a", run, summary.to_dict(), experiment.to_toml())
    lap("write")
    from footfall.pictures.plot_page import write_plot_page
    write_plot_page(run, summary, Path(folder) / "plots.png", title="")
    lap("draw")
print(json.dumps({"seconds": seconds, "programs": programs}))
"""


def measured(scenario: str, cache: str) -> dict:
    """Seconds by phase, and how often each program was compiled (or fetched), in a process of its
    own.
    """
    environment = os.environ | {"FOOTFALL_CACHE": cache, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, scenario],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def main() -> None:
    scenario = next((word for word in sys.argv[1:] if not word.startswith("-")), "rimless-wheel")
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = measured(scenario, cache), measured(scenario, cache)
    print(f"{scenario:12}{'first':>8}{'later':>8}   s")
    for name in PHASES:
        print(
            f"{name:12}{cold['seconds'].get(name, 0.0):8.2f}{warm['seconds'].get(name, 0.0):8.2f}"
        )
    print(f"{'in all':12}{sum(cold['seconds'].values()):8.2f}{sum(warm['seconds'].values()):8.2f}")
    print(
        "programs:",
        ", ".join(
            f"{name} x {count}" if count > 1 else name
            for name, count in cold["programs"].items()
            if count
        ),
    )
    if "--write" in sys.argv:
        from conditions import write

        figures = {
            f"{when}_{name}": found["seconds"].get(name, 0.0)
            for when, found in (("first", cold), ("later", warm))
            for name in PHASES
        }
        write(f"first_run_{scenario}", figures)


if __name__ == "__main__":
    main()
