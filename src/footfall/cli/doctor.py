"""`footfall doctor`: what this machine has of what footfall can use, and what adds the rest."""

import getpass
import importlib.metadata
import json
import os
import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from packaging.requirements import Requirement
from rich.table import Table
from rich.text import Text

from footfall.cli.screen import err, out
from footfall.engines.kernels.cache_folder import cache_folder
from footfall.engines.kernels.fuse_errors import NoCompiler

#: What each group of optional packages is for; `pip install "footfall[NAME]"` gets it.
EXTRAS = {
    "plots": "pictures and animations",
    "tables": "tables for pandas and xarray",
    "mujoco": "the whole sea urchin, of rigid bodies",
    "sweep": "Sobol' designs",
    "design": "footfall design",
    "compiler": "a C++ compiler by pip; live pages",
    "cluster": "sweeps over several machines",
    "learn": "robots as environments of Gymnasium",
    "stack": "a real robot's motor driver and reset line",
}

State = Literal["ok", "without", "broken"]
MARKS = {"ok": ("ok", "green"), "without": ("-", "dim"), "broken": ("BROKEN", "bold red")}


class Finding(NamedTuple):
    """One thing that footfall needs ("broken" without it) or can use ("without")."""

    group: str
    name: str
    state: State
    found: str
    advice: str = ""


def diagnose(as_json: bool = False) -> int:
    """Print what there is; 1 if something is broken that every run needs."""
    findings: list[Finding] = []
    with err.status("looking around, compiling something small"):
        for look in (_python, _optional, _compilers, _devices, _places, _real_time):
            findings += look()
    broken = [finding.name for finding in findings if finding.state == "broken"]
    if as_json:
        out.print_json(json.dumps([finding._asdict() for finding in findings]))
        return int(bool(broken))
    _show(findings)
    if broken:
        out.print(f"[bold red]Broken:[/] {', '.join(broken)}.")
    else:
        out.print("Everything that a run needs is here.")
    return int(bool(broken))


def _show(findings: list[Finding]) -> None:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for wrapped in (False, False, True):
        table.add_column(no_wrap=not wrapped, overflow="fold")
    group = ""
    for finding in findings:
        if finding.group != group:
            group = finding.group
            table.add_row(Text(group, style="bold"))
        mark, style = MARKS[finding.state]
        told = Text(finding.found)
        if finding.advice:
            told.append(f"; {finding.advice}", style="dim")
        table.add_row(Text(f"  {finding.name}"), Text(mark, style=style), told)
    out.print(table)


def _python() -> Iterator[Finding]:
    from footfall.record.provenance import commit

    group = "Python"
    yield Finding(group, "Python", "ok", f"{platform.python_version()}, {platform.platform()}")
    known = commit()
    version = importlib.metadata.version("footfall")
    told = f"{version}, commit {known[:12]}" if known else version
    yield Finding(group, "footfall", "ok", f"{told}, in {Path(__file__).parents[1]}")
    for requirement in _requirements(""):
        fits, told = _installed(requirement)
        advice = "" if fits else f'pip install "{requirement}"'
        yield Finding(group, requirement.name, "ok" if fits else "broken", told, advice)


def _optional() -> Iterator[Finding]:
    for extra, purpose in EXTRAS.items():
        needed = {requirement.name: _installed(requirement) for requirement in _requirements(extra)}
        every = all(fits for fits, _ in needed.values())
        told = ", ".join(f"{name} {told}" for name, (_, told) in needed.items())
        advice = "" if every else f'pip install "footfall[{extra}]"'
        yield Finding(
            "Optional", extra, "ok" if every else "without", f"{purpose} ({told})", advice
        )


def _requirements(extra: str) -> list[Requirement]:
    """What footfall names for this system, of an extra; "" is what it cannot do without."""
    needed = []
    for line in importlib.metadata.requires("footfall") or []:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None:
            mine = not extra
        else:  # true with the extra, and false without
            mine = marker.evaluate({"extra": extra}) and not (
                extra and marker.evaluate({"extra": ""})
            )
        if mine:
            requirement.marker = None
            needed.append(requirement)
    return needed


def _installed(requirement: Requirement) -> tuple[bool, str]:
    """Whether a version that fits is here, and what is."""
    try:
        version = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return False, "missing"
    fits = requirement.specifier.contains(version, prereleases=True)
    return fits, version if fits else f"{version}, not {requirement.specifier}"


def _compilers() -> Iterator[Finding]:
    from footfall.engines.kernels.run_compiler import ziglang
    from footfall.engines.kernels.targets.simd.compiler import find_compiler

    group = "Compilers"
    slow = "sweeps and single runs go through XLA, many times slower"
    try:
        compiler = find_compiler()
        found = f"{compiler.version} ({' '.join(compiler.command)})"
        yield Finding(group, "C++", "ok", found)
        yield Finding(group, "a kernel", "ok", _compiled())
    except NoCompiler as error:
        yield Finding(group, "C++", "without", str(error), slow)
    zig = ziglang()
    advice = "" if zig else 'pip install "footfall[compiler]"'
    told = "kernels for browsers: `footfall share`"
    yield Finding(group, "WebAssembly", "ok" if zig else "without", told, advice)


def _compiled() -> str:
    """Compile a kernel, run it, and say what it took. Raises NoCompiler."""
    import jax
    import numpy as np

    from footfall.engines.kernels.targets.simd.cpp_kernel import build_cpp

    with jax.enable_x64(True):
        kernel = build_cpp(lambda x: (2.0 * x,), [True], [np.dtype(float)], real=np.dtype(float))
    (twice,) = kernel([np.arange(5.0)])
    if not np.array_equal(twice, 2.0 * np.arange(5.0)):
        raise NoCompiler(f"a kernel that doubles 0 to 4 gives {twice}")
    return (
        "kept from before; it gives the right numbers"
        if kernel.from_cache
        else f"compiled in {kernel.compile_seconds:.1f} s; it gives the right numbers"
    )


def _devices() -> Iterator[Finding]:
    import jax

    group = "Devices"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield Finding(group, "CPU", "ok", f"{cores} cores for this process")
    gpus = [device for device in jax.devices() if device.platform == "gpu"]
    if not gpus:
        advice = 'with an NVIDIA card: pip install "footfall[gpu]"'
        yield Finding(group, "GPU", "without", "JAX sees none", advice)
        return
    from footfall.engines.kernels.targets.cuda.nvrtc import find_nvrtc

    yield Finding(group, "GPU", "ok", ", ".join(device.device_kind for device in gpus))
    try:
        yield Finding(group, "CUDA compiler", "ok", find_nvrtc())
    except NoCompiler as error:
        yield Finding(group, "CUDA compiler", "without", str(error))


def _places() -> Iterator[Finding]:
    from footfall.pages.html_file import front_end
    from footfall.scenario.errors import ScenarioError

    group, folder = "Places", cache_folder()
    name = "kept programs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        yield Finding(group, name, "ok", f"{folder}, {size / 1e6:.0f} MB; may be deleted")
    except OSError as error:
        advice = "each process compiles anew; set FOOTFALL_CACHE to a folder you can write"
        yield Finding(group, name, "without", f"{folder}: {error.strerror or error}", advice)
    try:
        size = len(front_end())
        yield Finding(group, "front end of pages", "ok", f"{size / 1e3:.0f} kB")
    except ScenarioError as error:
        yield Finding(group, "front end of pages", "without", str(error))


def _real_time() -> Iterator[Finding]:
    group, name = "Control stack", "real-time priority"
    if not hasattr(os, "sched_setscheduler"):
        yield Finding(group, name, "without", "this system has none")
        return
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.sched_setscheduler(0, *before)
        yield Finding(group, name, "ok", "granted")
    except OSError:
        advice = f'a line "{getpass.getuser()} - rtprio 50" in a file of /etc/security/limits.d'
        yield Finding(group, name, "without", "not permitted", advice)
