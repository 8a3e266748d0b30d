"""`footfall export`: a robot as MJCF or URDF, a run as a table."""

import io
from pathlib import Path
from typing import Any

from footfall.cli import stopping
from footfall.cli.extras import require
from footfall.cli.screen import err, note
from footfall.engines.bodies.urdf import urdf_of
from footfall.engines.simulate import simulate
from footfall.hybrid.fields import ParameterError, nearest
from footfall.hybrid.rigid_bodies import AbstractRigidBodies
from footfall.record.export import write_csv, write_netcdf, write_parquet
from footfall.record.mcap_log import write_mcap
from footfall.record.run_folder import FolderError
from footfall.record.trajectory import Trajectory
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, load
from footfall.scenario.open_run import open_run

ROBOTS = {"mjcf": ".xml", "urdf": ".urdf"}
RUNS = {"csv": ".csv", "mcap": ".mcap", "parquet": ".parquet", "netcdf": ".nc"}


def export(
    name: str, kind: str, out: str | None, settings: list[str], duration: str | None, force: bool
) -> int:
    """Write one file, never over one that is there, unless told."""
    endings = ROBOTS | RUNS
    if kind not in endings:
        known = ", ".join(endings)
        raise ScenarioError(f"--format {kind}: known are {known}.{nearest(kind, endings)}")
    if kind in ROBOTS and duration:
        raise ScenarioError(f"--duration is of a run, and --format {kind} writes a robot.")
    path = Path(out or f"{Path(name).name.removesuffix('.toml')}{endings[kind]}")
    if path.exists() and not force:
        raise FolderError(f"{path} is there already. Add --force, or write elsewhere: --out FILE.")
    if not path.absolute().parent.is_dir():
        raise FolderError(f"--out {path}: there is no folder {path.parent}.")
    made = _robot(name, kind, settings) if kind in ROBOTS else _run(name, kind, settings, duration)
    stopping.hold()
    try:
        path.write_bytes(made)
    except OSError as error:
        raise FolderError(f"{path} could not be written: {error.strerror}.") from None
    note(f"{kind}: {path} ({len(made) / 1e3:.0f} kB)")
    return 0


def _robot(name: str, kind: str, settings: list[str]) -> bytes:
    """The robot as bodies; one with equations of its own by the tree they are checked with."""
    require("mujoco", "mujoco")
    if Path(name).is_dir():
        raise ScenarioError(f"{name} is a run. --format {kind} takes a scenario's name.")
    experiment = load(name, settings)
    spec, left_out = _bodies(experiment)
    model = spec.compile()
    if kind == "mjcf":
        text = spec.to_xml()
    else:
        text = urdf_of(model, spec.modelname)
        if model.ntendon:
            left_out = f"{left_out}; its springs, for which URDF has no word"
    if left_out:
        note(f"left out: {left_out}")
    return text.encode()


def _bodies(experiment: Experiment) -> tuple[Any, str]:
    system = experiment.system
    if isinstance(system, AbstractRigidBodies):
        return system.spec(), ""
    try:
        twin = system.twin()
    except ParameterError as error:
        raise ScenarioError(f"{experiment.name}: {error}") from None
    if twin is None:
        raise ScenarioError(
            f"{experiment.name}: nobody has built {type(system).__name__} as rigid bodies. Its"
            " runs can be exported: --format csv, mcap, parquet or netcdf."
        )
    return twin.spec, twin.left_out


def _run(name: str, kind: str, settings: list[str], duration: str | None) -> bytes:
    run = _trajectory(name, settings, duration)
    if kind == "netcdf":
        require("scipy", "sweep")
    stream = io.BytesIO()
    {"csv": write_csv, "mcap": write_mcap, "parquet": write_parquet, "netcdf": write_netcdf}[kind](
        run, stream
    )
    return stream.getvalue()


def _trajectory(name: str, settings: list[str], duration: str | None) -> Trajectory:
    if Path(name).is_dir():
        if settings or duration:
            raise ScenarioError(
                f"{name} is a run that was made; --set and --duration make another."
            )
        return open_run(name)
    experiment = load(name, settings, duration=duration)
    if "mujoco" in experiment.system.engines:
        require("mujoco", "mujoco")
    with err.status("simulating", spinner="dots"):
        return simulate(experiment)
