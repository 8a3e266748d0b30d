"""What a kernel for browsers may be relied on for.

It gives the numbers of the CPU's kernel, needs nothing of its host, and keeps its robot in its own
memory.
"""

import base64
import gzip

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import footfall as ff
from footfall.engines.kernels.fuse_errors import CannotFuse, NoCompiler
from footfall.engines.kernels.targets.simd.cpp_kernel import build_cpp
from footfall.engines.kernels.targets.wasm import wasm_module
from footfall.engines.kernels.targets.wasm.wasm_module import build_wasm
from footfall.engines.lanes.browser_kernel import browser_kernel, image
from footfall.engines.lanes.resident import ResidentLane
from footfall.hybrid.flatten import named_leaves
from support.batches import optimised
from support.browsers import node, run_in_node

pytest.importorskip("ziglang")
needs_node = pytest.mark.skipif(node() is None, reason="needs Node")


# ---- any program


def program(x, legs, n, on):
    """Numbers, legs, an integer, a truth value; functions that no processor has."""

    def turn(i, carry):
        a, b = carry
        return a + 0.01 * b, b - 0.01 * jnp.sin(a) + 1e-3 * jnp.tanh(a) * jnp.arctan2(b, a)

    a, b = lax.fori_loop(0, n, turn, (x, jnp.where(on, x, -x)))
    return legs * a + jnp.roll(legs, 1, axis=0), a, n + 1, b > 0


KINDS = {
    "lane": [True, True, False, True],
    "dtypes": [np.float64, np.float64, np.int32, np.bool_],
    "real": np.float64,
    "rows": [None, 3, None, None],
}


@needs_node
def test_a_module_gives_what_the_cpu_gives_and_needs_nothing_of_its_host(tmp_path):
    """Twice, with its second output in the place of its first input, and its legs in theirs."""
    module = build_wasm(program, **KINDS, back=[(0, 1), (1, 0)], argument=2)
    x, legs, on = np.array([1.25]), np.array([[0.5], [-2.0], [3.0]]), np.array([True])
    kernel = build_cpp(program, **KINDS)
    expected = kernel([x, legs, np.int32(40), on])
    expected = kernel([expected[1], expected[0], np.int32(20), on])
    module.layout["start"] = base64.b64encode(
        image((x, legs, np.zeros((), np.int32), on), module.layout["inputs"])
    ).decode()
    inputs, outputs, report = run_in_node(module, [40, 20], tmp_path)
    assert report["imports"] == 0
    for ours, theirs in zip(outputs.values(), expected, strict=True):
        # 60 turns of a few roundings each
        np.testing.assert_allclose(ours, theirs[..., 0], rtol=0, atol=1e-13)
    np.testing.assert_array_equal(inputs["in1"], outputs["out0"])
    np.testing.assert_array_equal(inputs["in0"], outputs["out1"])
    assert inputs["in2"] == 20


def test_what_goes_back_must_fit():
    with pytest.raises(ValueError, match="out2 does not fit in the place of in0"):
        build_wasm(program, **KINDS, back=[(2, 0)])


def test_what_has_no_rule_is_refused_before_anything_is_compiled():
    with pytest.raises(CannotFuse, match="digamma"):
        build_wasm(lambda x: (lax.digamma(x),), [True], [np.float64], real=np.float64)


def test_without_ziglang_the_reason_is_told(monkeypatch):
    monkeypatch.setattr(wasm_module, "ziglang", lambda: None)
    with pytest.raises(NoCompiler, match=r"need ziglang .pip install \"footfall\[compiler\]"):
        build_wasm(lambda x: (x,), [True], [np.float64], real=np.float64)


# ---- robots


def moved(name, step, counts, folder, monkeypatch):
    """A robot's module, and what it holds after some steps; checked against the CPU's kernel."""
    experiment = ff.load(name)
    module = browser_kernel(experiment.system, experiment.start, step)
    inputs, outputs, report = run_in_node(module, counts, folder)
    optimised(monkeypatch, "-O0")  # run once
    native = ResidentLane(experiment.system, experiment.start, step)
    assert native.path.startswith("C++ kernel")
    for count in counts:
        native.advance(count)
    names = [n for n in inputs if not n.startswith(("system.", "clock.")) and n not in OURS]
    for key, theirs in zip(names, jax.tree.leaves(native.lane), strict=True):
        # Either compiler may skip the rounding of a product; what that becomes in these spans was
        # measured as 5e-12 over 10 s of the wheel.
        np.testing.assert_allclose(inputs[key], theirs[..., 0], rtol=5e-12, atol=5e-12, err_msg=key)
    assert inputs["steps"] == sum(counts)
    np.testing.assert_allclose(outputs["time"], sum(counts) * step, rtol=1e-14)
    assert report["imports"] == 0
    return experiment, module, inputs, outputs


OURS = ("steps", "count")


@needs_node
def test_the_wheel_rolls_in_a_browser_as_on_a_cpu(tmp_path, monkeypatch):
    experiment, module, inputs, outputs = moved(
        "rimless-wheel", 1e-3, [1, 2499, 2500], tmp_path, monkeypatch
    )
    assert inputs["lane.jumps"] > 5 and inputs["lane.outcome"] == 0
    assert len(module.code) <= 30_000 and len(gzip.compress(module.code)) < 12_000
    # What a page draws is what a trajectory holds.
    state = {
        part: jax.tree.unflatten(
            jax.tree.structure(getattr(experiment.start, part)),
            [inputs[key] for key in inputs if key.startswith(f"{part}.")],
        )
        for part in ("x", "m")
    }
    seen = experiment.system.outputs(outputs["time"], state["x"], state["m"])
    for key, value, _ in named_leaves(seen):
        np.testing.assert_allclose(outputs[key], value, rtol=1e-12, atol=1e-12, err_msg=key)


@needs_node
def test_a_module_goes_back_to_its_start_and_serves_every_number(tmp_path):
    experiment = ff.load("rimless-wheel")
    module = browser_kernel(experiment.system, experiment.start, 1e-3)
    once, _, _ = run_in_node(module, [300], tmp_path)
    again, _, _ = run_in_node(module, [700, "reset", 300], tmp_path)
    for key, value in once.items():
        np.testing.assert_array_equal(again[key], value, err_msg=key)
    stiffer = ff.load("rimless-wheel", ["leg.stiffness=30000"])
    other = browser_kernel(stiffer.system, stiffer.start, 1e-3)
    assert other.code == module.code
    there, _, _ = run_in_node(other, [300], tmp_path)
    assert (
        there["system.leg.stiffness"] == 30000.0 and there["x.spoke_angle"] != once["x.spoke_angle"]
    )


@needs_node
@pytest.mark.parametrize(
    ("name", "step", "counts"),
    [
        ("rimless-wheel-turning-closed-loop", 2.5e-4, [100, 300]),
        ("water-runner-biped", 2.5e-4, [100]),
        ("centipede", 2.5e-4, [100]),
    ],
)
def test_a_robot_that_fits_a_cpu_kernel_fits_a_browser(name, step, counts, tmp_path, monkeypatch):
    moved(name, step, counts, tmp_path, monkeypatch)
