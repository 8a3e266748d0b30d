"""A page that simulates: the robot's kernel, and the programs that start it and draw its ground."""

import base64
import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.kernels.targets.wasm.wasm_module import WasmModule, build_wasm
from footfall.engines.lanes.browser_kernel import browser_kernel, browser_start
from footfall.engines.lanes.browser_push import browser_push
from footfall.engines.lanes.checked_batch import TIME_STEP, run_checked
from footfall.engines.lanes.lane_state import MOST_JUMPS
from footfall.engines.lanes.step_methods import METHODS
from footfall.hybrid.flatten import named_leaves, output_fields
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import HybridState
from footfall.pages.drawn import Numbers, bodies_of, ground_of, ground_said, shapes_said
from footfall.pages.page import charts_said, ledger_said, outputs_said, travel_said, words
from footfall.pages.parameters import Parameter, maker, moving, parameters
from footfall.record.columns import columns_of
from footfall.record.verdict import BOOKS_OPEN, STEPPED_OPEN, low_order
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment
from footfall.sweep.plan_sweep import plan_of

#: Longest step of a page [s]: slow motion shows its steps.
LONGEST = 1e-3
#: Of pushes, in the ledger of a page.
PUSH_WORK = "work.push"


def live_page(
    experiment: Experiment,
    *,
    step: float | None = None,
    start: HybridState | None = None,
    progress: Callable[[str], None] = lambda doing: None,
) -> dict[str, Any]:
    """Everything a page needs to simulate this experiment: see `page.py`.

    `step` is that of the kernel [s]; without it the one that sweeps would choose. It begins as the
    scenario says, or in the state `start` whatever the sliders are. Raises ScenarioError for a
    robot that no kernel can hold, and NoCompiler without the package ziglang.
    """
    system, state = experiment.system, experiment.start if start is None else start
    if "step" not in system.engines:
        raise ScenarioError(
            f"{experiment.name} cannot be simulated in a page: it is not stepped by footfall's own"
            f" engine.\n  A recorded run can be shown: footfall run {experiment.name} --page"
            " page.html."
        )
    plan = plan_of(experiment)
    if step is None:
        progress("looking for a step that is short enough")
        # As a sweep of this one design: a run that its books or a finer step contradict is repeated
        # with shorter steps.
        checked = run_checked(system, state, plan)
        step = float(checked.columns[TIME_STEP][0])
        step /= 2 ** max(0, math.ceil(math.log2(step / LONGEST)))
    found = parameters(experiment)
    if start is not None:
        found = [parameter for parameter in found if parameter.path[0] != "start"]
    chosen = moving(found)
    how = {"method": plan.method, "max_jumps": MOST_JUMPS}
    try:
        progress("building the robot's kernel")
        kernel = browser_kernel(system, state, step, **how)
        progress("building the program that starts it")
        starter, shapes = _start(experiment, start, chosen, step, how)
        progress("building its ground")
        ground = _ground(system)
        progress("building what a push does")
        push = _push(system, state, shapes, step, plan.method)
    except CannotFuse as error:
        raise ScenarioError(
            f"{experiment.name} cannot be simulated in a page: no kernel has a rule for {error}.\n"
            f"  A recorded run can be shown: footfall run {experiment.name} --page page.html."
        ) from None
    outputs = _flat_outputs(kernel, output_fields(system, state))
    open_above = STEPPED_OPEN if low_order(METHODS[plan.method].order) else BOOKS_OPEN
    return words(experiment, found) | {
        "scene": {"shapes": shapes, "ground": ground_said(ground_of(system.sketch()))},
        "outputs": outputs,
        "rates": _rates(state),
        "charts": charts_said(system.charts(), [output["name"] for output in outputs]),
        "travel": travel_said(system.travel()),
        "ledger": _ledger(columns_of(system, state.x, state.m).signals, open_above, push),
        "steered_by": [
            p.key for key in system.steered_by for p in chosen if f".{p.key}".endswith(f".{key}")
        ],
        "outcomes": _outcomes(system),
        "live": {
            "step": step,
            "method": plan.method,
            "kernel": module_said(kernel),
            "start": module_said(starter),
            "ground": None if ground is None else module_said(ground),
            "push": None if push is None else module_said(push),
        },
    }


def _start(
    experiment: Experiment,
    start: HybridState | None,
    chosen: list[Parameter],
    step: float,
    how: dict[str, Any],
) -> tuple[WasmModule, list[dict[str, Any]]]:
    """The module that starts the kernel, and the shapes, whose numbers it computes."""
    of_sliders = maker(experiment, chosen)

    def make(*given: Any) -> tuple[Any, Any]:
        system, state = of_sliders(*given)
        return system, state if start is None else start

    values = [np.float64(parameter.value) for parameter in chosen]
    said: list[dict[str, Any]] = []

    def sketched(system: Any) -> list[Any]:
        number = Numbers()
        said[:] = shapes_said(system.sketch(), number)
        return number.traced

    def with_shapes(*given: Any) -> tuple[Any, Any, list[Any]]:
        system, state = make(*given)
        return system, state, sketched(system)

    def alone(*given: Any) -> tuple[Any, Any, list[Any]]:
        return (*make(*given), [])

    try:
        _, _, numbers = jax.eval_shape(with_shapes, *values)
        program, names = with_shapes, [f"sketch.{n}" for n in range(len(numbers))]
    except jax.errors.JAXTypeError:  # its sketch wants plain numbers: it stays as it is
        program, names = alone, []
    keys = [parameter.key for parameter in chosen]
    module = browser_start(program, values, (keys, names), step, **how)
    if program is alone:
        said[:] = shapes_said(experiment.system.sketch(), Numbers())
    return module, list(said)


def _ground(system: Any) -> WasmModule | None:
    """z at x of the ground, from the kernel's own inputs; None where it does not follow them."""
    ground = ground_of(system.sketch())
    if ground is None or ground.height is None:
        return None
    system = jax.tree.map(lambda leaf: np.asarray(leaf, "float64"), system)
    leaves, tree = jax.tree.flatten(system)
    named = jax.tree_util.tree_leaves_with_path(system)
    paths = [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in named]

    def height(*values: Any) -> tuple[Any]:
        *given, x = values
        drawn = ground_of(jax.tree.unflatten(tree, given).sketch())
        assert drawn is not None and drawn.height is not None
        return (jax.numpy.broadcast_to(drawn.height(x), jax.numpy.shape(x)),)

    try:
        return build_wasm(
            height,
            [False] * len(leaves) + [True],
            [np.dtype("float64")] * (len(leaves) + 1),
            real=np.dtype("float64"),
            names=([*(f"system.{path}" for path in paths), "x"], ["z"]),
        )
    except (CannotFuse, jax.errors.JAXTypeError):
        return None


def _push(
    system: Any, state: Any, shapes: list[dict[str, Any]], step: float, method: str
) -> WasmModule | None:
    """What a force on a body that is drawn does; None where no program can say it."""
    if not _rates(state) or not (groups := bodies_of(shapes, output_fields(system, state))):
        return None
    try:
        return browser_push(system, state, groups, step, method=method)
    except (CannotFuse, jax.errors.JAXTypeError):
        return None


def _ledger(signals: Any, limit: float, push: WasmModule | None) -> dict[str, Any]:
    """The robot's own, and what pushes from outside do."""
    said = ledger_said(signals, limit)
    if push is not None:
        said["works"].append({"name": PUSH_WORK, "doc": "pushes from outside", "kind": "work"})
    return said


def module_said(module: WasmModule) -> dict[str, Any]:
    return {"code": base64.b64encode(module.code).decode(), "layout": module.layout}


def _flat_outputs(kernel: WasmModule, fields: Any) -> list[dict[str, str]]:
    """Every number of the kernel's outputs after `time`; of like legs one for each."""
    shapes = {place["name"]: place["shape"] for place in kernel.layout["outputs"]}
    flat = {}
    for name, info in fields.items():
        legs = shapes[name]
        flat |= {f"{name}.{leg}": info for leg in range(legs[0])} if legs else {name: info}
    return outputs_said(flat)


def _rates(state: Any) -> list[dict[str, str]]:
    """States whose values are rates of others: what a push changes."""
    return [
        {"name": f"x.{name}", "unit": info.unit, "doc": info.doc}
        for name, _, info in named_leaves(state.x)
        if info.rate_of is not None
    ]


def _outcomes(system: Any) -> dict[str, dict[str, str]]:
    """How it may end, in words; with the event, where only one leads there."""
    ending = [event for event in system.events if event.outcome is not None]
    said = {}
    for outcome in Outcome:
        events = [event.name for event in ending if event.outcome == outcome]
        event = events[0] if len(events) == 1 else ""
        said[str(int(outcome))] = {"name": outcome.name, "meaning": outcome.meaning, "event": event}
    return said
