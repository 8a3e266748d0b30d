"""What a fused CPU kernel may be relied on for when values are arrays over like legs, (legs,
lanes): the same as for one number a lane.

The reference is `jax.jit` of the same function, to the bit for one operation; where products meet
sums a bound is stated (FMA)."""

import functools
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.kernels.targets.simd.cpp_kernel import build_cpp
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.hybrid.system import HybridState
from support.toys import Heights, ManyBalls, PerBall

if not any(map(shutil.which, ("c++", "g++", "clang++"))):
    pytest.skip("kernels need a C++ compiler", allow_module_level=True)

REALS = (np.float64, np.float32)
#: Every number of legs and either precision; not each with each, for every kernel compiles for
#: seconds.
CASES = [(1, np.float64), (4, np.float32), (12, np.float64), (60, np.float32)]
OTHERS = [(1, np.float32), (4, np.float64), (12, np.float32), (60, np.float64)]
I = np.int32


def build(program, real, inputs):
    """Arrays are (legs, lanes) or (lanes,); scalars are shared."""
    lane, rows = (
        [np.ndim(v) > 0 for v in inputs],
        [np.shape(v)[0] if np.ndim(v) == 2 else None for v in inputs],
    )
    return build_cpp(program, lane, [np.asarray(v).dtype for v in inputs], real=real, rows=rows)


def both(program, real, inputs):
    """Outputs of the kernel and of XLA, spread over the lanes."""
    ours, theirs = build(program, real, inputs)(inputs), jax.jit(program)(*inputs)
    lanes = next(np.shape(v)[-1] for v in inputs if np.ndim(v))
    wide = [
        np.asarray(b)[:, None] if a.ndim == 2 and np.ndim(b) == 1 else b
        for a, b in zip(ours, theirs, strict=True)
    ]
    return ours, [np.broadcast_to(v, (*np.shape(v)[:-1], lanes)) for v in wide]


def numbers(real, legs, lanes=37, seed=0):
    """Small multiples of 1/8.

    Sums and products of a few are exact in either precision, so that order does not matter.
    """
    random = np.random.default_rng([legs, seed])
    return (random.integers(-40, 40, (legs, lanes)) / 8).astype(real)


def per_leg(x):
    """A captured constant with a number for each leg."""
    return np.linspace(-1, 1, x.shape[0]).astype(x.dtype)[:, None]


#: of x, y (legs, lanes), i (legs, lanes) int32, t (legs, lanes) bool, w (lanes,) and a shared s
PROGRAMS = {
    "add": lambda x, y, i, t, w, s: x + y,
    "divide": lambda x, y, i, t, w, s: x / y,
    "a number per lane for all legs": lambda x, y, i, t, w, s: x - w,
    "a shared number": lambda x, y, i, t, w, s: s / x,
    "a literal": lambda x, y, i, t, w, s: x * 0.5,
    "a constant per leg": lambda x, y, i, t, w, s: x + per_leg(x),
    "a constant vector over legs": lambda x, y, i, t, w, s: x + jnp.asarray(per_leg(x)[:, 0])[:, None],
    "a function of constants per leg": lambda x, y, i, t, w, s: x * jnp.floor(3 * jnp.asarray(per_leg(x))),
    "leg numbers": lambda x, y, i, t, w, s: x + jnp.arange(x.shape[0], dtype=x.dtype)[:, None],
    "leg numbers, wide": lambda x, y, i, t, w, s: i + lax.broadcasted_iota(I, x.shape, 0),
    "only leg numbers": lambda x, y, i, t, w, s: jnp.arange(x.shape[0], dtype=I),
    "all legs alike": lambda x, y, i, t, w, s: jnp.broadcast_to(w, x.shape),
    "all lanes alike": lambda x, y, i, t, w, s: jnp.full_like(x, 3.0),
    "one row": lambda x, y, i, t, w, s: w[None],
    "one row and legs": lambda x, y, i, t, w, s: w[None] + x,
    "squeeze": lambda x, y, i, t, w, s: jnp.squeeze(x[:1], 0),
    "reshape": lambda x, y, i, t, w, s: jnp.reshape(x[:1], x.shape[1:]),
    "leg 0": lambda x, y, i, t, w, s: x[0],
    "the last leg": lambda x, y, i, t, w, s: x[-1],
    "all but the first": lambda x, y, i, t, w, s: x[1:] * 2,
    "all but the last": lambda x, y, i, t, w, s: x[:-1],
    "every second": lambda x, y, i, t, w, s: x[::2],
    "every second of the rest": lambda x, y, i, t, w, s: x[1:][::2],
    "every third from the end": lambda x, y, i, t, w, s: x[::-3],
    "a leg of a cut": lambda x, y, i, t, w, s: x[1:][-1] if x.shape[0] > 1 else x[0],
    "a cut of a sum": lambda x, y, i, t, w, s: (x + y)[x.shape[0] // 2 :],
    "turned round": lambda x, y, i, t, w, s: x[::-1] - x,
    "differences": lambda x, y, i, t, w, s: jnp.diff(x, axis=0),
    "shifted": lambda x, y, i, t, w, s: jnp.concatenate([x[:1], x[:-1]]) - x,
    "concatenate": lambda x, y, i, t, w, s: jnp.concatenate([y[-1:], x, x[:0], w[None], y[::-1]]),
    "roll": lambda x, y, i, t, w, s: jnp.roll(x, 1, axis=0),
    "pad": lambda x, y, i, t, w, s: jnp.pad(x, ((1, 2), (0, 0)), constant_values=7),
    "stack": lambda x, y, i, t, w, s: jnp.stack([w, x[0], y[-1]]),
    "split": lambda x, y, i, t, w, s: sum(jnp.split(jnp.concatenate([x, y]), 2)),
    "integers shifted": lambda x, y, i, t, w, s: jnp.concatenate([i[1:], i[:1]]) * i,
    "truths shifted": lambda x, y, i, t, w, s: jnp.concatenate([t[1:], t[:1]]) ^ t,
    "sum": lambda x, y, i, t, w, s: x.sum(0),
    "sum of what all legs share": lambda x, y, i, t, w, s: jnp.broadcast_to(w, x.shape).sum(0),
    "mean of squares": lambda x, y, i, t, w, s: (x * x).sum(0),
    "sum, kept": lambda x, y, i, t, w, s: x - x.sum(0, keepdims=True),
    "sum of a cut": lambda x, y, i, t, w, s: x[1:].sum(0),
    "product": lambda x, y, i, t, w, s: jnp.prod(jnp.sign(x) * 2, axis=0),
    "max": lambda x, y, i, t, w, s: x.max(0),
    "min": lambda x, y, i, t, w, s: jnp.minimum(x, w).min(0),
    "integer sum": lambda x, y, i, t, w, s: (i * I(2**28)).sum(0, dtype=I),
    "integer product": lambda x, y, i, t, w, s: jnp.prod(i | I(1), axis=0, dtype=I),
    "integer max": lambda x, y, i, t, w, s: i.max(0),
    "integer min": lambda x, y, i, t, w, s: i.min(0),
    "any": lambda x, y, i, t, w, s: t.any(0),
    "all": lambda x, y, i, t, w, s: t.all(0),
    "largest truth": lambda x, y, i, t, w, s: jnp.max(t, axis=0),
    "max of all": lambda x, y, i, t, w, s: jnp.full_like(w, 0) + jnp.max(jnp.abs(x) * 0 + per_leg(x)),
    "max of each leg's lanes": lambda x, y, i, t, w, s: x * 0 + jnp.max(x * 0 + per_leg(x), axis=1)[:, None],
    "cumulative sum": lambda x, y, i, t, w, s: jnp.cumsum(x, axis=0),
    "cumulative sum from the end": lambda x, y, i, t, w, s: lax.cumsum(x, axis=0, reverse=True),
    "cumulative max": lambda x, y, i, t, w, s: lax.cummax(i, axis=0),
    "where": lambda x, y, i, t, w, s: jnp.where(t, x, y),
    "where, by lane": lambda x, y, i, t, w, s: jnp.where(w > 0, x, 0.0),
    "where, by leg": lambda x, y, i, t, w, s: jnp.where(jnp.arange(x.shape[0])[:, None] % 2 == 0, x, y),
    "choose one of three": lambda x, y, i, t, w, s: lax.select_n(jnp.abs(i) % I(3), x, y, x + y),
    "clip": lambda x, y, i, t, w, s: jnp.clip(x, -1.5, w),
    "compare": lambda x, y, i, t, w, s: (x < y) & t,
    "to integers": lambda x, y, i, t, w, s: x.astype(I) + i,
    "from truths": lambda x, y, i, t, w, s: t.astype(x.dtype),
    "set a leg": lambda x, y, i, t, w, s: x.at[0].set(w),
    "multiply the last leg": lambda x, y, i, t, w, s: x.at[-1].multiply(-1.0),
    "add to a leg": lambda x, y, i, t, w, s: i.at[x.shape[0] // 2].add(1),
    "legs by number": lambda x, y, i, t, w, s: x[jnp.array([0, -1, 0])],
    "a leg by a number that is computed": lambda x, y, i, t, w, s: x[(s > 0).astype(I) * I(x.shape[0] - 1)],
    "legs from one that is computed": lambda x, y, i, t, w, s: lax.dynamic_slice_in_dim(x, s.astype(I), 1)[0],
    "a leg put where a number says": lambda x, y, i, t, w, s: lax.dynamic_update_index_in_dim(x, w, s.astype(I), 0),
    "nothing left": lambda x, y, i, t, w, s: (x[:0] * 2).sum(0) + w,
}  # fmt: skip


@functools.cache
def table(legs, real):
    x, y = (numbers(real, legs, seed=k) for k in (1, 2))
    y[y == 0] = 1
    inputs = [x, y, (8 * numbers(real, legs, seed=3)).astype(I), numbers(real, legs, seed=4) > 0]
    inputs += [numbers(real, 1, seed=5)[0], np.asarray(0.75, real)]
    programs = PROGRAMS.values()
    ours, theirs = both(lambda *v: tuple(f(*v) for f in programs), real, inputs)
    return dict(zip(PROGRAMS, zip(ours, theirs, strict=True), strict=True))


@pytest.mark.parametrize(("legs", "real"), CASES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_legs_give_what_jax_gives(name, legs, real):
    ours, theirs = table(legs, real)[name]
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("lanes", [1, 7, 16, 100])
def test_any_number_of_lanes_has_legs(lanes):
    x = numbers(np.float64, 12, lanes)
    (ours, mean), theirs = both(lambda x: (x[1:] + x[:-1], x.sum(0)), np.float64, [x])
    assert ours.shape == (11, lanes)
    np.testing.assert_array_equal(ours, theirs[0])
    np.testing.assert_array_equal(mean, theirs[1])


def test_a_vector_over_legs_may_be_an_input_that_lanes_share():
    x, k = numbers(np.float64, 5), np.arange(5.0)
    kernel = build_cpp(
        lambda x, k: (x * k[:, None], k), [True, False], [x.dtype] * 2, real=x.dtype, rows=[5, 5]
    )
    ours, wide = kernel([x, k])
    np.testing.assert_array_equal(ours, x * k[:, None])
    np.testing.assert_array_equal(wide, np.repeat(k[:, None], 37, 1))


def test_as_many_legs_as_a_block_has_lanes_are_not_taken_for_lanes():
    width = build(lambda x: (x,), np.float64, [np.ones(3)]).width
    x = numbers(np.float64, width)

    def program(x):
        number = jnp.arange(float(width))
        return x * number[:, None] + jnp.sum(number), x.sum(0)

    for a, b in zip(*both(program, np.float64, [x]), strict=True):
        np.testing.assert_array_equal(a, b)


# ---- loops and branches


def spread(x, c, fold):
    """One step of a chain of neighbours, with a branch, a sum and a shift."""
    left, right = jnp.concatenate([x[:1], x[:-1]]), jnp.concatenate([x[1:], x[-1:]])
    y = lax.cond(c > 2, lambda: left - x, lambda: x + fold(x))
    return 0.5 * (y + right), x  # the old value takes the other's place


@pytest.mark.parametrize(("legs", "real"), [(1, np.float64), (12, np.float32)])
def test_legs_are_carried_through_loops_and_branches(legs, real):
    def program(x, y, n):
        def body(state):
            k, x, y, z = state
            x, y = spread(x, k % I(5), lambda v: jnp.max(v[::2], axis=0))
            z = lax.switch(k % I(3), [lambda: z[::-1], lambda: z - y, lambda: jnp.minimum(x, z)])
            y, z = lax.fori_loop(0, 3, lambda _, v: (v[1][::-1], v[0] + 1), (y, z))
            return k + I(1), y, x, z

        def more(state):
            return (state[0] < n) & (jnp.max(jnp.abs(state[1])) < 1e9)

        _, x, y, z = lax.while_loop(more, body, (I(0), x, y, x + y))
        return x, y, z, lax.cond(n > 3, lambda: (x, z), lambda: (z, y))[0]

    # Sums of multiples of 1/8 and halves, 12 times at most: exact in float32.
    x, y = numbers(real, legs), numbers(real, legs, seed=1)
    for a, b in zip(*both(program, real, [x, y, I(10)]), strict=True):
        np.testing.assert_array_equal(a, b)


def turns(x, y, z):
    """Legs that are overwritten while others still want their old values.

    At other legs, a loop later, in a branch, in a loop inside.
    """

    def at_other_legs(_, v):
        x, y, z = v
        return x * 0.5 + 1, y - x[::-1], z + jnp.concatenate([x[1:], y[:1]])

    def later(_, v):
        x, y, z = v
        new = x + y
        return new, new[::-1] - x, z - x[:1] + new.max(0)

    def branch(k, v):
        x, y, z = lax.cond(
            k == 1, lambda v: (v[1] + 1, v[0][::-1], v[2]), lambda v: (v[0], v[1] - v[0], v[0]), v
        )
        return x, y + z, z - v[0]

    def inside(_, v):
        x, y, z = v
        new = lax.fori_loop(0, 3, lambda _, w: w[::-1] + x, x)
        return new, y + new[::-1], z

    values = (x, y, z)
    for body in (at_other_legs, later, branch, inside):
        values = tuple(tame(v) for v in lax.fori_loop(0, 3, body, values))
    return values


@pytest.mark.parametrize(("legs", "real"), [(3, np.float64), (12, np.float32)])
def test_legs_that_are_overwritten_were_read_before(legs, real):
    inputs = [numbers(real, legs, seed=k) for k in range(3)]
    for a, b in zip(*both(turns, real, inputs), strict=True):
        np.testing.assert_array_equal(a, b)


# ---- programs nobody would write


def tame(v):
    """Multiples of 1/8 up to 64.

    Whatever two of them do next is exact, so that FMA and the order of sums change nothing.
    """
    return jnp.clip(jnp.floor(v * 8) / 8, -64, 64)


UNARY = (
    lambda v: -v,
    jnp.abs,
    lambda v: v[::-1],
    lambda v: jnp.concatenate([v[:1], v[:-1]]),
    lambda v: jnp.concatenate([v[1:], jnp.zeros_like(v[:1])]),
    lambda v: jnp.pad(v, ((1, 0), (0, 0)))[:-1],
    lambda v: jnp.roll(v, 2, axis=0),
    lambda v: v - v[0],
    lambda v: v.at[v.shape[0] // 2].add(1.0),
    lambda v: jnp.broadcast_to(v[::2].max(0), v.shape),
    lambda v: jnp.minimum(v, v.min(0)) + v[-1],
    lambda v: v + 0.5 * jnp.arange(v.shape[0], dtype=v.dtype)[:, None],
    lambda v: v * jnp.cumsum(v * 0 + 1, axis=0),
    lambda v: v + v.sum(0),
    lambda v: jnp.where((v > 0).any(0), v, 3.0),
)
BINARY = (
    lambda a, b: a + b,
    lambda a, b: a - b[::-1],
    lambda a, b: a * b,
    jnp.maximum,
    lambda a, b: jnp.where(a > b, a, b - 1),
    lambda a, b: jnp.concatenate([a[1:], b[:1]]),
    lambda a, b: a + b[:1],
    lambda a, b: jnp.where((a.sum(0) > b.sum(0)), a, b),
)


def random_program(seed, depth=2):
    """A function of three values over legs, made of all of the above in random order, with loops
    and branches inside each other.
    """
    random = np.random.default_rng(seed)

    def block(depth, length):
        steps = []
        for _ in range(length):
            kind = random.choice(
                ["unary", "binary", "cond", "while", "fori"], p=[0.35, 0.35, 0.1, 0.1, 0.1]
            )
            a, b, to = (int(n) for n in random.integers(0, 3, 3))
            if kind == "unary" or (depth == 0 and kind != "binary"):
                steps.append(("unary", UNARY[random.integers(len(UNARY))], a, b, to))
            elif kind == "binary":
                steps.append(("binary", BINARY[random.integers(len(BINARY))], a, b, to))
            else:
                steps.append((kind, [block(depth - 1, 4), block(depth - 1, 3)], a, b, to))
        return steps

    def wide(which, state):
        return (state[0] < 3) & (jnp.max(jnp.abs(state[1][which])) > 1)

    def again(steps, state):
        return state[0] + I(1), tuple(run(steps, state[1]))

    def run(steps, values):
        for kind, what, a, b, to in steps:
            values = list(values)
            if kind == "unary":
                values[to] = tame(what(values[a]))
            elif kind == "binary":
                values[to] = tame(what(values[a], values[b]))
            elif kind == "cond":
                some = jnp.max(values[a]) > jnp.min(values[b]) + 30
                values = lax.cond(
                    some, *(lambda v, s=s: tuple(run(s, v)) for s in what), tuple(values)
                )
            elif kind == "fori":
                values = lax.fori_loop(
                    0, 2, lambda _, v, s=what[0]: tuple(run(s, v)), tuple(values)
                )
            else:
                going, turn = functools.partial(wide, a), functools.partial(again, what[0])
                _, values = lax.while_loop(going, turn, (I(0), tuple(values)))
        return values

    steps = block(depth, 12)
    return lambda *values: tuple(run(steps, values))


def blocks_by_xla(program, width, inputs):
    """What a program that looks across its block gives in XLA.

    Block by block, the last lane filling up the last.
    """
    lanes = inputs[0].shape[-1]
    blocks = -(-lanes // width)
    fill = [
        np.pad(v, ((0, 0), (0, blocks * width - lanes)), mode="edge").reshape(
            v.shape[0], blocks, width
        )
        for v in inputs
    ]
    theirs = jax.jit(jax.vmap(program, 1, 1))(*fill)
    return [np.reshape(v, (v.shape[0], -1))[:, :lanes] for v in theirs]


@pytest.mark.parametrize(("legs", "real"), OTHERS)
def test_programs_nobody_would_write_give_what_jax_gives(legs, real):
    program = random_program([legs, REALS.index(real)])
    inputs = [numbers(real, legs, 19, seed) for seed in range(3)]
    kernel = build(program, real, inputs)
    for a, b in zip(
        kernel(inputs, threads=1), blocks_by_xla(program, kernel.width, inputs), strict=True
    ):
        np.testing.assert_array_equal(a, b)


# ---- what is refused


@pytest.mark.parametrize(
    ("primitive", "program"),
    [
        ("sort", lambda x: jnp.sort(x, axis=0)),
        ("dot_general", lambda x: jnp.tensordot(np.ones(4), x, 1)),
        ("transpose", lambda x: x.T.sum(0)),
        ("reshape", lambda x: x.reshape(2, 2, -1).sum(0)),
        ("broadcast_in_dim", lambda x: jnp.repeat(x, 2, axis=0)),
        ("slice", lambda x: x[:, :3]),
        ("slice", lambda x: x[:, ::2]),
        ("concatenate", lambda x: jnp.concatenate([x, x], axis=1)),
        ("cumsum", lambda x: jnp.cumsum(x, axis=1)),
        ("rev", lambda x: x[:, ::-1]),
        ("iota", lambda x: x + jnp.arange(x.shape[1])),
        ("constant", lambda x: x + np.ones(x.shape)),
        ("scatter", lambda x: x.at[jnp.array([0, 2])].set(0.0)),
        ("pad", lambda x: lax.pad(x, 0.0, ((0, 0, 1), (0, 0, 0)))),
        ("scan", lambda x: lax.scan(lambda c, r: (c + r, c), x[0], x)[1]),
    ],
)
def test_what_mixes_lanes_or_has_no_rule_is_refused_by_name(primitive, program):
    with pytest.raises(CannotFuse) as refusal:
        build(lambda x: (program(x),), np.float64, [np.ones((4, 3))])
    assert refusal.value.primitive == primitive


@pytest.mark.parametrize("wrong", [np.ones(3), np.ones((3, 4)), np.ones((4, 3, 1))])
def test_inputs_with_another_number_of_legs_are_refused(wrong):
    kernel = build(lambda x: (x,), np.float64, [np.ones((4, 3))])
    with pytest.raises(ValueError, match="inputs"):
        kernel([wrong])


# ---- the step engine


def test_a_batch_with_legs_runs_as_a_kernel_and_ends_where_it_does_under_xla():
    """Parabolas and elastic bounces, so few roundings; a bounce is located to a few of them, and
    each turns a speed error into a height.
    """
    heights = np.random.default_rng(1).uniform(0.05, 0.5, (6, 11))
    start = HybridState(
        Heights(x=heights, v=0.0 * heights), PerBall(n=np.zeros(heights.shape, np.int32))
    )
    ours, theirs = (
        run_batch(ManyBalls(), start, BatchPlan(1.0, step=0.02, path=path))
        for path in ("cpp", "xla")
    )
    assert ours.path.startswith("C++")
    for name in ("outcome", "jumps"):
        np.testing.assert_array_equal(ours.columns[name], theirs.columns[name])
    np.testing.assert_array_equal(ours.end.m.n, theirs.end.m.n)
    np.testing.assert_allclose(ours.end.x.x, theirs.end.x.x, atol=200 * np.finfo(float).eps)
