"""What `footfall sweep` was asked for, and whether it makes sense."""

import dataclasses

from footfall.cli.extras import require
from footfall.scenario.errors import ScenarioError
from footfall.sweep.executors import require_worker_count
from footfall.sweep.plan_sweep import require_compiler, require_gpu, require_quantity


@dataclasses.dataclass(frozen=True)
class SweepRequest:
    """What was written on the command line."""

    name: str | None
    vary: list[str]
    sample: str | None = None
    seed: int | None = None
    designs: str | None = None
    settings: list[str] = dataclasses.field(default_factory=list)
    out: str | None = None
    duration: str | None = None
    step: str | None = None
    rtol: float | None = None
    method: str | None = None
    precision: str | None = None
    track: list[str] = dataclasses.field(default_factory=list)
    path: str | None = None
    shard_size: int | None = None
    workers: int | None = None
    scheduler: str | None = None
    metric: str | None = None
    resume: bool = False
    force: bool = False
    as_json: bool = False
    plots: bool = True
    style: str = "screen"
    accept_doubt: bool = False

    @property
    def names_designs(self) -> bool:
        return bool(self.vary or self.sample or self.designs)


def require_sense(request: SweepRequest) -> None:
    """Everything that can be known to be wrong before anything is loaded."""
    if request.resume and request.force:
        raise ScenarioError("--resume goes on with a sweep and --force overwrites it: choose one.")
    if request.resume and request.out is None:
        raise ScenarioError("--resume needs the folder of the sweep: --out FOLDER.")
    if request.name is None and (
        not request.resume or request.settings or request.duration or request.names_designs
    ):
        raise ScenarioError(
            "name the scenario to sweep, such as: footfall sweep rimless-wheel --vary"
            " leg.stiffness=8e3:4e4:50:log"
        )
    if request.designs and (request.vary or request.sample):
        raise ScenarioError(
            "--designs lists the designs; --vary and --sample make them: choose one."
        )
    if request.seed is not None and request.sample is None:
        raise ScenarioError("--seed is for --sample; a grid has nothing random in it.")
    if request.seed is not None and request.seed < 0:
        raise ScenarioError(f"--seed {request.seed}: it must be 0 or larger.")
    if request.workers is not None and request.scheduler is not None:
        raise ScenarioError(
            "--workers starts workers here, --scheduler uses those of a cluster: choose one."
        )
    if request.shard_size is not None and request.shard_size < 1:
        raise ScenarioError(
            f"--shard-size {request.shard_size}: a shard holds at least one design."
        )
    if request.workers is not None:
        require_worker_count(request.workers)
    if request.workers is not None or request.scheduler is not None:
        require("distributed", "cluster", "Without it, a sweep runs here, on all cores.")
    elif request.path == "gpu":
        require_gpu()
    if request.path == "cpp":
        require_compiler()
    if request.metric is not None:
        require_quantity(request.metric)
    if request.sample is not None:
        require("scipy", "sweep")
