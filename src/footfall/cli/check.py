"""`footfall check`: is this file right, and does its robot keep the contract?"""

from rich.markup import escape

from footfall.cli.extras import require
from footfall.cli.phases import Phases, told_by_jax
from footfall.cli.screen import out
from footfall.engines.bodies.mujoco_check import examine_bodies
from footfall.engines.lanes.batch import fits_kernels
from footfall.hybrid.conformance import examine_system
from footfall.hybrid.rigid_bodies import AbstractRigidBodies
from footfall.scenario.load import load


def check_scenario(name: str, settings: list[str]) -> int:
    """Status 0 when all holds, 1 when the robot breaks the contract (a bad file is status 2)."""
    experiment = load(name, settings)
    out.print(f"{name}: the scenario is valid.", markup=False)
    bodies = isinstance(experiment.system, AbstractRigidBodies)
    if bodies:
        require("mujoco", "mujoco")
    with Phases("examining the robot") as phases, told_by_jax(phases, "examining the robot"):
        report = (examine_bodies if bodies else examine_system)(experiment.system, experiment.start)
        phases.say("looking whether it fits a kernel")
        kernels = {} if bodies else fits_kernels(experiment.system, experiment.start)
    for check in report.checks:
        mark = "[green]ok  [/]" if check.ok else "[bold red]FAIL[/]"
        out.print(f"  {mark}  {escape(check.claim)}: [dim]{escape(check.detail)}[/]", soft_wrap=True)
    for kernel, verdict in kernels.items():
        words = "a sweep runs it as one" if verdict == "yes" else verdict
        out.print(f"  [dim]{'yes ' if verdict == 'yes' else 'no  '}[/]  {kernel}: [dim]{escape(words)}[/]", soft_wrap=True)
    out.print(f"{report.system} keeps the contract." if report.ok else f"{report.system} breaks the contract.", markup=False)
    return 0 if report.ok else 1
