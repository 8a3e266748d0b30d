"""`footfall bodies`: a robot of rigid bodies as a picture and as an MJCF file."""

import dataclasses
from pathlib import Path

from footfall.cli.extras import require
from footfall.cli.screen import err, note, out
from footfall.engines.simulate import simulate
from footfall.hybrid.rigid_bodies import AbstractRigidBodies
from footfall.numerics.units import UnitError, to_si
from footfall.record.run_folder import FolderError
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load


def show_bodies(
    name: str, settings: list[str], picture: str | None, mjcf: str | None, at: str
) -> int:
    """Write what was asked for, or say what the robot is made of."""
    require("mujoco", "mujoco")
    experiment = load(name, settings)
    system = experiment.system
    if not isinstance(system, AbstractRigidBodies):
        raise ScenarioError(
            f"{name}: this robot has equations of its own, no rigid bodies of MuJoCo. Try"
            " urchin-walk."
        )
    for option, file, ending in (("--picture", picture, ".png"), ("--mjcf", mjcf, ".xml")):
        if file is not None and (
            Path(file).suffix != ending or not Path(file).absolute().parent.is_dir()
        ):
            raise FolderError(
                f"{option} {file}: write it as a {ending} file into a folder that exists."
            )
    model = system.spec().compile()
    out.print(
        f"{name}: {model.nbody - 1} bodies, {model.nv} degrees of freedom, {model.nu} motors,"
        f" {model.body_mass.sum():.4g} kg",
        markup=False,
    )
    if mjcf is not None:
        system.write_mjcf(mjcf)
        note(f"MJCF:    {mjcf}")
    if picture is not None:
        require("matplotlib", "plots")
        from footfall.pictures.bodies_picture import write_picture

        with err.status("simulating", spinner="dots"):
            run = simulate(
                system,
                experiment.start,
                dataclasses.replace(experiment.plan, duration=_seconds(at), settle=None),
            )
        note(f"picture: {picture} ({write_picture(system, run, Path(picture))})")
    return 0


def _seconds(text: str) -> float:
    try:
        value = to_si(text, "s")
    except UnitError as error:
        raise ScenarioError(f"--at {text}: {error}") from None
    if not value > 0:
        raise ScenarioError(f"--at {text}: a time above zero.")
    return value
