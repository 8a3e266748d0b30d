"""`footfall check`: is this file right, and does its robot keep the contract?"""

from rich.markup import escape

from footfall.cli.extras import require
from footfall.cli.phases import Phases, told_by_jax
from footfall.cli.screen import out
from footfall.engines.analysis.check_system import examine_system
from footfall.engines.bodies.mujoco_check import examine_bodies
from footfall.engines.lanes.batch import fits_kernels
from footfall.scenario.load import load


def check_scenario(name: str, settings: list[str]) -> int:
    """Status 0 when nothing is wrong, 1 when the robot breaks the contract.

    A bad file is status 2.

    An event that a short run does not come to is not wrong; that its jump was not looked at is said
    in yellow.
    """
    experiment = load(name, settings)
    out.print(f"{name}: the scenario is valid.", markup=False)
    bodies = "mujoco" in experiment.system.engines
    if bodies:
        require("mujoco", "mujoco")
    with Phases("examining the robot") as phases, told_by_jax(phases, "examining the robot"):
        if bodies:
            report = examine_bodies(experiment.system, experiment.start)
        else:
            report = examine_system(experiment.system, experiment.start, experiment.event_plan)
        phases.say("looking whether it fits a kernel")
        kernels = {} if bodies else fits_kernels(experiment.system, experiment.start)
    for check in report.checks:
        color = {True: "green", False: "bold red", None: "yellow"}[check.ok]
        words = escape(f"{check.claim}: ") + f"[dim]{escape(check.detail)}[/]"
        words = (
            f"[yellow]{escape(f'{check.claim}: {check.detail}')}[/]" if check.ok is None else words
        )
        out.print(f"  [{color}]{check.mark}[/]  {words}", soft_wrap=True)
    for kernel, verdict in kernels.items():
        words = "a sweep runs it as one" if verdict == "yes" else verdict
        out.print(
            f"  [dim]{'yes ' if verdict == 'yes' else 'no  '}[/]  {kernel}:"
            f" [dim]{escape(words)}[/]",
            soft_wrap=True,
        )
    kept = "keeps the contract" if report.whole else "keeps the contract as far as it was checked"
    out.print(f"{report.system} {kept if report.ok else 'breaks the contract'}.", markup=False)
    return 0 if report.ok else 1
