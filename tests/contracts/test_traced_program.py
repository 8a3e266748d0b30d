"""What kernels read from a traced program is the same whichever JAX traced it, and a form not known
is refused, never a failure.

The forms of two JAX are written down here as they were printed (0.10.2, and 0.11.2 and 0.12.0); the
installed one is traced for real."""

import shutil
from types import SimpleNamespace as Made

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from footfall.engines.kernels import traced_program
from footfall.engines.kernels.cpp_source import cpp_source
from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.kernels.target import Target
from footfall.engines.kernels.targets.simd.cpp_kernel import build_cpp
from footfall.engines.lanes import batch_program
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.lanes.resident import ResidentLane
from support.toys import Ball, Height

BODY = object()
ANY = Target("any", "", 8)  # no header: nothing here is compiled


class Group(tuple):
    """A FlatTree of JAX 0.11, as far as one is read.

    It unpacks into groups, and each has a length.
    """

    def unpack(self):
        return tuple(self)


def equation(name, inputs, outputs, **params):
    return Made(
        primitive=Made(name=name), params=params, invars=[None] * inputs, outvars=[None] * outputs
    )


# 0.10.2.
COUNTED = {
    "reverse": False,
    "length": 3,
    "jaxpr": BODY,
    "num_consts": 2,
    "num_carry": 1,
    "unroll": 1,
}
# 0.11.2, with ft_in and ft_out.
GROUPED = {"reverse": False, "length": 3, "jaxpr": BODY, "unroll": 1}


def grouped(consts, carried, reads, writes):
    groups = [(None,) * n for n in (consts, carried, reads)]
    return GROUPED | {"ft_in": Group(groups), "ft_out": Group([groups[1], (None,) * writes])}


@pytest.mark.parametrize("reads, writes", [(0, 0), (1, 2)])
@pytest.mark.parametrize("form", ["counted", "grouped"])
def test_a_scan_has_the_same_parts_in_both_forms(form, reads, writes):
    params = COUNTED if form == "counted" else grouped(2, 1, reads, writes)
    loop = traced_program.counted_loop(equation("scan", 3 + reads, 1 + writes, **params))
    assert loop == (2, 1, reads, writes, 3, BODY)


@pytest.mark.parametrize(
    "params",
    [
        {"length": 3, "jaxpr": BODY, "groups": (2, 1)},
        {name: value for name, value in COUNTED.items() if name != "length"},
        GROUPED | {"ft_in": (2, 1, 0), "ft_out": (1, 0)},
        grouped(1, 1, 0, 0),
    ],
    ids=["other names", "one missing", "other types", "counts that do not add up"],
)
def test_an_unknown_scan_is_refused_by_name(params):
    with pytest.raises(CannotFuse, match=rf"scan: has a form .*{jax.__version__}") as refusal:
        traced_program.counted_loop(equation("scan", 3, 1, **params))
    assert refusal.value.primitive == "scan"


def test_unknown_loops_branches_and_calls_are_refused_by_name():
    for read, name in (
        (traced_program.while_loop, "while"),
        (traced_program.branches, "cond"),
        (traced_program.called, "custom_jvp_call"),
    ):
        with pytest.raises(CannotFuse, match=f"^{name}: "):
            read(equation(name, 1, 1, renamed=BODY))


def test_a_call_holds_its_program_under_any_known_name():
    for name in ("jaxpr", "call_jaxpr", "fun_jaxpr"):
        assert traced_program.called(equation("jit", 1, 1, **{name: BODY}, inline=False)) is BODY


def test_programs_are_opened_closed_or_bare():
    bare = Made(eqns=[])
    assert traced_program.opened(bare) == (bare, ())
    assert traced_program.opened(Made(jaxpr=bare, consts=[1.0])) == (bare, [1.0])
    traced = jax.make_jaxpr(lambda x: x * jnp.arange(3.0))(1.0)
    equations, consts = traced_program.opened(traced)
    assert len(equations.constvars) == len(consts)


@jax.custom_jvp
def doubled(x):
    return 2 * x


doubled.defjvp(lambda primals, tangents: (doubled(*primals), 2 * tangents[0]))


def everything(x, n):
    """Every form that holds another program, and the derivative of a loop, as the installed JAX
    writes them.
    """
    looped = lax.fori_loop(0, 3, lambda i, v: v * 0.5 + x, x)
    _, slope = jax.jvp(
        lambda y: lax.fori_loop(0, 2, lambda i, v: v * y, y), (x,), (jnp.ones_like(x),)
    )
    counted = lax.while_loop(lambda v: jnp.max(v) < 40.0, lambda v: v + 1.0 + jnp.abs(x), x)
    chosen = lax.cond(n > 0, lambda v: v + x, lambda v: v - x, counted)
    one_of = lax.switch(n, [lambda v: v, lambda v: -v, lambda v: v * 2.0], chosen)
    return looped, slope, one_of, jax.jit(doubled)(x), jax.checkpoint(lambda v: v + 1.0)(x)


@pytest.mark.skipif(
    not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="kernels need a C++ compiler"
)
def test_the_installed_jax_is_read_as_it_runs():
    x, n = np.array([0.25, 1.5, -2.0]), np.int32(1)
    ours = build_cpp(everything, [True, False], [x.dtype, n.dtype], real=np.dtype("float64"))(
        [x, n]
    )
    # Sums of a few products: one rounding of a product skipped here and not there.
    for a, b in zip(ours, jax.jit(everything)(x, n), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.fixture
def another_jax(monkeypatch):
    """A JAX whose loops hold something footfall has never seen."""

    def renamed(read):
        def reader(eqn):
            return read(
                Made(
                    primitive=eqn.primitive,
                    invars=eqn.invars,
                    outvars=eqn.outvars,
                    params={"another": 1},
                )
            )

        return reader

    for name in ("counted_loop", "while_loop"):
        monkeypatch.setattr(traced_program, name, renamed(getattr(traced_program, name)))
    batch_program._cpp.cache_clear()
    yield
    batch_program._cpp.cache_clear()


def test_a_program_of_another_jax_runs_through_xla_with_a_note(another_jax):
    start, plan = Ball.begin(Height(x=np.array([0.5, 1.0]), v=0.0)), BatchPlan(1.0, step=0.1)
    result = run_batch(Ball(restitution=1.0), start, plan)
    assert result.path.startswith("XLA")
    assert (
        len(result.notes) == 1
        and "while: has a form that footfall does not know (JAX" in result.notes[0]
    )
    alone = ResidentLane(Ball(restitution=1.0), Ball.begin(Height(x=np.array([0.5]), v=0.0)), 0.1)
    assert alone.path.startswith("XLA")
    alone.advance(10)
    # the same program for one robot and for two: compiled for other widths, the same sums
    np.testing.assert_allclose(alone.lane.x[0], result.end.x.x[0], rtol=1e-12)


def test_what_an_equation_lacks_is_refused_and_not_a_failure():
    traced = jax.make_jaxpr(lambda x: x[1:] + x[:-1])(jnp.ones((3, 8191)))
    assert "l < 2" in cpp_source(traced, [True], target=ANY, real=np.dtype("float64"), rows=[3])
    renamed = [
        Made(
            primitive=e.primitive,
            invars=e.invars,
            outvars=e.outvars,
            params={"begin": 1} if e.primitive.name == "slice" else e.params,
        )
        for e in traced.jaxpr.eqns
    ]
    program = Made(
        eqns=renamed, invars=traced.jaxpr.invars, outvars=traced.jaxpr.outvars, constvars=[]
    )
    with pytest.raises(CannotFuse, match=r"slice: has a form .*start_indices"):
        cpp_source(program, [True], target=ANY, real=np.dtype("float64"), rows=[3])
