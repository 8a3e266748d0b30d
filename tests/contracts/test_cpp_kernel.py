"""What a fused CPU kernel may be relied on for: every primitive means what it means in JAX, for any
lane count and thread count.

The reference is `jax.jit` of the same function. One operation is one rounding in both, so
arithmetic, comparisons, choices and conversions must agree to the bit. Where products meet sums,
either compiler may or may not skip the rounding of the product (FMA); such tests state their bound.
Library functions are held to a wider type's value instead, because XLA's own are up to 300 ulp off.
"""

import functools
import shutil
import threading
import time

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from jax import lax

from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.kernels.targets.simd.cpp_kernel import build_cpp
from footfall.numerics import elementary

if not any(map(shutil.which, ("c++", "g++", "clang++"))):
    pytest.skip("kernels need a C++ compiler", allow_module_level=True)

REALS = (np.float64, np.float32)
I = np.int32
SPECIAL = [
    np.nan,
    np.inf,
    -np.inf,
    0.0,
    -0.0,
    1,
    -1,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3e9,
    -3e9,
    2.0**31,
    -(2.0**31),
    2.0**31 - 1,
    1e30,
    -1e30,
]
EDGES = [0, 1, -1, 2, -2, 31, 32, 33, -33, 7, 46341, 2**31 - 1, -(2**31), -(2**31) + 1]


def numbers(real, count=400, seed=0):
    """Numbers of all sizes, small ones twice, and every special against every other when paired
    with its mirror.
    """
    random = np.random.default_rng(seed)
    wide = random.normal(size=count) * 10.0 ** random.uniform(-3, 3, count)
    narrow = random.uniform(-1, 1, count)
    pairs = np.tile(SPECIAL, len(SPECIAL)) if seed == 0 else np.repeat(SPECIAL, len(SPECIAL))
    return np.concatenate([wide, narrow, pairs]).astype(real)


def integers(seed=0):
    random = np.random.default_rng(seed)
    pairs = np.tile(EDGES, len(EDGES)) if seed == 0 else np.repeat(EDGES, len(EDGES))
    return np.concatenate(
        [random.integers(-(2**31), 2**31, 300), random.integers(-40, 40, 300), pairs]
    ).astype(I)


def truths(seed):
    return np.random.default_rng(seed).integers(0, 2, 300).astype(bool)


def both(program, real, inputs, **options):
    """The program's outputs from the kernel and from XLA. Scalars are shared, vectors are lanes."""
    lane = [np.ndim(v) == 1 for v in inputs]
    kernel = build_cpp(program, lane, [np.asarray(v).dtype for v in inputs], real=real)
    ours, theirs = kernel(inputs, **options), jax.jit(program)(*inputs)
    return ours, [np.broadcast_to(v, ours[0].shape) for v in theirs]


def assert_same(ours, theirs):
    """To the bit, but for the sign of zero and of NaN."""
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)


# ---- one primitive at a time; each table is one kernel, so that it compiles once

UNARY = {
    "floor": lax.floor,
    "ceil": lax.ceil,
    "round away from zero": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    "round to even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    "sqrt": lax.sqrt,
    "abs": lax.abs,
    "neg": lax.neg,
    "sign": lax.sign,
    "square": lax.square,
    "cube": lambda x: lax.integer_pow(x, 3),
    "seventh power": lambda x: lax.integer_pow(x, 7),
    "zeroth power": lambda x: lax.integer_pow(x, 0),
    "inverse square": lambda x: lax.integer_pow(x, -2),
    "is finite": lax.is_finite,
    "to int32": lambda x: x.astype(I),
    "to bool": lambda x: x.astype(bool),
    "sign bit": jnp.signbit,
    "clip": lambda x: jnp.clip(x, -0.75, 2),
    "clamp": lambda x: lax.clamp(np.asarray(-1, x.dtype), x, np.asarray(0.5, x.dtype)),
    "maximum with a constant": lambda x: jnp.maximum(0.25, x),
    "relu, a custom derivative": jax.nn.relu,
    "add a constant": lambda x: x + 0.1,
    "divide a constant": lambda x: 0.3 / x,
    "copy": jnp.copy,
    "stop_gradient": lax.stop_gradient,
    "reshape": lambda x: jnp.reshape(x, x.shape),
    "checkpoint": jax.checkpoint(lambda x: jnp.abs(x) * 3),
    "minus zero in every lane": lambda x: jnp.copysign(jnp.ones_like(x), jnp.full_like(x, -0.0)),
    "a constant": lambda x: jnp.int32(-(2**31)),
}
BINARY = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "div": lax.div,
    "rem": lax.rem,
    "max": lax.max,
    "min": lax.min,
    "lt": lax.lt,
    "le": lax.le,
    "gt": lax.gt,
    "ge": lax.ge,
    "eq": lax.eq,
    "ne": lax.ne,
    "where": lambda a, b: jnp.where(a > b, b, 2.0),
    "choose between a lane and a shared value": lambda a, b: jnp.where(b > 0, a, b),
    "copysign": jnp.copysign,
    "remainder of Python": jnp.remainder,
    "nextafter": lambda a, b: lax.nextafter(a + 0.5, b),
}
INTEGER = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "div": lax.div,
    "rem": lax.rem,
    "floor divide": lambda a, b: a // b,
    "max": lax.max,
    "min": lax.min,
    "and": lax.bitwise_and,
    "or": lax.bitwise_or,
    "xor": lax.bitwise_xor,
    "not": lambda a, b: ~a,
    "neg": lambda a, b: -a,
    "abs": lambda a, b: abs(a),
    "sign": lambda a, b: lax.sign(a),
    "square": lambda a, b: lax.square(a),
    "fifth power": lambda a, b: lax.integer_pow(a, 5),
    "clamp": lambda a, b: lax.clamp(I(-5), a, I(9)),
    "shift left": lax.shift_left,
    "shift right": lax.shift_right_arithmetic,
    "shift right, zeros in": lax.shift_right_logical,
    "lt": lax.lt,
    "ge": lax.ge,
    "eq": lax.eq,
    "to bool": lambda a, b: a.astype(bool),
    "overflow, then compare": lambda a, b: (a + b > a) & (a * b < b),
    "choose by parity": lambda a, b: lax.select_n(a & I(1), a, a * b),
    "choose one of three": lambda a, b: lax.select_n(abs(a % I(3)), a, a + b, a - b),
}
TRUTH = {
    "and": lax.bitwise_and,
    "or": lax.bitwise_or,
    "xor": lax.bitwise_xor,
    "not": lambda a, b: ~a,
    "eq": lax.eq,
    "ne": lax.ne,
    "lt": lax.lt,
    "ge": lax.ge,
    "max": lax.max,
    "min": lax.min,
    "to int32": lambda a, b: a.astype(I),
    "choose": lambda a, b: jnp.where(a, ~b, b),
}


@functools.cache
def unary(real):
    x = numbers(real)
    return dict(
        zip(
            UNARY,
            zip(*both(lambda x: tuple(f(x) for f in UNARY.values()), real, [x]), strict=True),
            strict=True,
        )
    )


@functools.cache
def binary(kind, shared, real):
    """A table on two lanes, or with one of the two shared, or with both (then a lane input rides
    along unused).
    """
    table, first, second = {
        "number": (BINARY, numbers(real), numbers(real, seed=1)),
        "integer": (INTEGER, integers(), integers(1)),
        "truth": (TRUTH, truths(0), truths(1)),
    }[kind]
    one = np.asarray({"number": -0.3, "integer": -7, "truth": True}[kind], first.dtype)
    two = np.asarray({"number": 1.7, "integer": 3, "truth": False}[kind], first.dtype)
    inputs = {
        "neither": [first, second, first],
        "first": [one, second, first],
        "second": [first, two, first],
        "both": [one, two, first],
    }[shared]
    results = both(lambda a, b, _: tuple(f(a, b) for f in table.values()), real, inputs)
    return dict(zip(table, zip(*results, strict=True), strict=True))


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", UNARY)
def test_a_number_in_gives_what_jax_gives(name, real):
    assert_same(*unary(real)[name])


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("shared", ["neither", "first", "second", "both"])
@pytest.mark.parametrize("name", BINARY)
def test_two_numbers_give_what_jax_gives(name, shared, real):
    assert_same(*binary("number", shared, real)[name])


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("shared", ["neither", "second", "both"])
@pytest.mark.parametrize("name", INTEGER)
def test_int32_stays_int32_in_lanes_of_any_width(name, shared, real):
    assert_same(*binary("integer", shared, real)[name])


@pytest.mark.parametrize("shared", ["neither", "second", "both"])
@pytest.mark.parametrize("name", TRUTH)
def test_truth_values_are_not_numbers(name, shared):
    assert_same(*binary("truth", shared, np.float64)[name])


@pytest.mark.parametrize("real", REALS)
def test_integers_and_truth_values_become_numbers(real):
    def program(i, t, shared):
        return tuple(v.astype(real) for v in (i, t, shared, shared > 0))

    ours, theirs = both(program, real, [integers()[:300], truths(0), I(-7)])
    for a, b in zip(ours, theirs, strict=True):
        assert_same(a, b)


@pytest.mark.parametrize("real", REALS)
def test_products_and_sums_differ_from_jax_by_one_skipped_rounding_at_most(real):
    a, b, c = numbers(real)[:400], numbers(real, seed=1)[:400], numbers(real, seed=2)[:400]
    (ours,), (theirs,) = both(lambda a, b, c: (a * b + c,), real, [a, b, c])
    # Half an ulp of the product (rounded or not) and half an ulp of the sum, on either side.
    assert np.all(abs(ours - theirs) <= np.finfo(real).eps * (abs(a * b) + abs(theirs)))


LIBRARY = {
    "exp": (lax.exp, np.exp),
    "exp2": (lax.exp2, np.exp2),
    "expm1": (lax.expm1, np.expm1),
    "log": (lax.log, np.log),
    "log1p": (lax.log1p, np.log1p),
    "sin": (lax.sin, np.sin),
    "cos": (lax.cos, np.cos),
    "tan": (lax.tan, np.tan),
    "asin": (lax.asin, np.arcsin),
    "acos": (lax.acos, np.arccos),
    "atan": (lax.atan, np.arctan),
    "sinh": (lax.sinh, np.sinh),
    "cosh": (lax.cosh, np.cosh),
    "tanh": (lax.tanh, np.tanh),
    "tanh of our own": (elementary.tanh, np.tanh),
    "asinh": (lax.asinh, np.arcsinh),
    "acosh": (lax.acosh, np.arccosh),
    "atanh": (lax.atanh, np.arctanh),
    "cbrt": (lax.cbrt, np.cbrt),
    "rsqrt": (lax.rsqrt, lambda x: 1 / np.sqrt(x)),
    "logistic": (lax.logistic, lambda x: 1 / (1 + np.exp(-x))),
    "erf": (lax.erf, np.vectorize(lambda x: float(mpmath.erf(x)), otypes=[float])),
    "erfc": (lax.erfc, np.vectorize(lambda x: float(mpmath.erfc(x)), otypes=[float])),
}


def ulps(ours, exact):
    """How many units in the last place apart.

    What is too small for a normal number may come out as zero, as it does in XLA.
    """
    tiny, largest = np.finfo(ours.dtype).tiny, np.finfo(ours.dtype).max
    with np.errstate(all="ignore"):
        exact = np.where(abs(exact) > largest, np.copysign(np.inf, exact), exact)
        unit = np.spacing(np.clip(abs(exact), tiny, largest / 2).astype(ours.dtype))
        equal = (
            (ours == exact)
            | (np.isnan(ours) & np.isnan(exact))
            | ((abs(ours) < tiny) & (abs(exact) < tiny))
        )
        return np.where(equal, 0, abs(ours - exact) / unit)


@functools.cache
def library(real):
    x = numbers(real)
    kernel = build_cpp(
        lambda x: tuple(f(x) for f, _ in LIBRARY.values()), [True], [real], real=real
    )
    return x, dict(zip(LIBRARY, kernel([x]), strict=True))


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", LIBRARY)
def test_a_library_function_is_right_to_4_ulp(name, real):
    x, outputs = library(real)
    wider = x.astype(
        np.longdouble if real == np.float64 and not name.startswith("erf") else np.float64
    )
    with np.errstate(all="ignore"):
        assert np.all(ulps(outputs[name], LIBRARY[name][1](wider)) <= 4)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("shared", [False, True])
def test_a_library_function_of_two_numbers_is_right_to_4_ulp(shared, real):
    a, b = numbers(real), np.asarray(-1.3, real) if shared else numbers(real, seed=1)

    def program(a, b):
        whole = lax.clamp(I(-40), b.astype(I), I(40))
        return lax.atan2(a, b), elementary.atan2(a, b), lax.pow(a, b), lax.pow(a, whole)

    ours = build_cpp(program, [True, not shared], [real, real], real=real)([a, b])
    wider = np.longdouble if real == np.float64 else np.float64
    whole = np.asarray(lax.clamp(I(-40), jnp.asarray(b).astype(I), I(40)))
    with np.errstate(all="ignore"):
        angle = np.arctan2(a.astype(wider), b)
        exact = (
            angle,
            angle,
            np.power(a.astype(wider), b),
            np.power(a.astype(wider), whole.astype(wider)),
        )
    for v, w in zip(ours, exact, strict=True):
        assert np.all(ulps(v, w) <= 4)


# ---- loops, branches, whole blocks


def collatz(start, limit):
    """Steps to 1, per lane, and the highest value; the block goes on until its last lane is
    there.
    """

    def going(carry):
        turn, n, _, _ = carry
        return (turn < limit) & (jnp.max((n > 1).astype(I)) > I(0))

    def step(carry):
        turn, n, steps, top = carry
        odd = (n & I(1)) == I(1)
        after = jnp.where(odd, I(3) * n + I(1), n // I(2))
        live = n > I(1)
        n, steps = jnp.where(live, after, n), jnp.where(live, steps + I(1), steps)
        return turn + I(1), n, steps, jnp.maximum(top, n)

    return lax.while_loop(going, step, (I(0), start, jnp.zeros_like(start), start))[2:]


@pytest.mark.parametrize("real", REALS)
def test_a_while_loop_runs_until_every_lane_is_done(real):
    ours, theirs = both(collatz, real, [np.arange(1, 300, dtype=I), I(1000)])
    assert ours[0][26] == 111  # 27 is known for its long way
    for a, b in zip(ours, theirs, strict=True):
        assert_same(a, b)


@pytest.mark.parametrize("real", REALS)
def test_carried_values_may_change_places(real):
    def program(a, b, c):
        return lax.fori_loop(
            0, 7, lambda i, v: (v[1], v[0] + v[1], v[3], v[2] * 2, v[0]), (a, b, a, c, b)
        )

    ours, theirs = both(
        program, real, [np.arange(20).astype(real), np.ones(20, real), np.full(20, 3, real)]
    )
    for a, b in zip(ours, theirs, strict=True):
        assert_same(a, b)  # small integers: no rounding anywhere


def test_loops_and_branches_nest_and_hold_shared_and_lane_values():
    @jax.custom_vjp
    def twice(x):
        return 2 * x

    twice.defvjp(lambda x: (2 * x, None), lambda _, g: (2 * g,))

    def program(x, n):
        def outer(i, carry):
            x, total, count = carry
            odd = (i % 2) == 1
            x = lax.cond(
                odd,
                lambda: jax.jit(lambda y: y - 3)(x),
                lambda: lax.cond(count > 4, lambda: twice(x), lambda: x + total),
            )
            x = lax.switch(i % 3, [lambda y: y + 1, lambda y: -y, lambda y: jnp.abs(y)], x)
            inner = lax.fori_loop(0, count, lambda j, v: v + j, 0.0)
            return x, total + inner, count + 1

        x, total, count = lax.fori_loop(0, n, outer, (x, 0.5, I(0)))
        return x, total, count, jnp.where(count > I(3), x, total)

    ours, theirs = both(program, np.float64, [np.arange(-10.0, 11.0), I(9)])
    for a, b in zip(ours, theirs, strict=True):
        assert_same(a, b)


@pytest.mark.parametrize("real", REALS)
def test_a_reduction_looks_across_one_block_and_the_last_lane_fills_it_up(real):
    def program(x, i, t):
        seen = (
            x.max(),
            x.min(),
            jnp.sum(x),
            i.max(),
            i.min(),
            jnp.sum(i, dtype=I),
            t.any(),
            t.all(),
            jnp.max(t),
            i.min() + x.max(),
        )
        return tuple(jnp.broadcast_to(v, x.shape) for v in seen)

    lanes = 51
    x, i, t = np.round(numbers(real)[:lanes] * 8), integers()[:lanes], truths(0)[:lanes]
    t[:20], t[30:] = True, False
    kernel = build_cpp(program, [True] * 3, [real, I, bool], real=real)
    blocks = -(-lanes // kernel.width)
    fill = [
        np.pad(v, (0, blocks * kernel.width - lanes), mode="edge").reshape(blocks, -1)
        for v in (x, i, t)
    ]
    theirs = jax.jit(jax.vmap(program))(*fill)
    for a, b in zip(kernel([x, i, t]), theirs, strict=True):
        assert_same(a, np.reshape(b, -1)[:lanes])


def test_a_maximum_over_lanes_keeps_nan():
    x = np.array([1.0, np.nan])  # one block, however narrow
    kernel = build_cpp(
        lambda x: (jnp.broadcast_to(x.max(), x.shape), jnp.broadcast_to(x.min(), x.shape)),
        [True],
        [x.dtype],
        real=x.dtype,
    )
    assert np.all(np.isnan(kernel([x])))


# ---- any number of lanes, any number of threads


@functools.cache
def swing(real):
    """A pendulum, some lanes ending early, with a shared length, an int and a truth value per
    lane.
    """

    def program(angle, rate, turns, upside, length):
        def step(carry):
            k, a, w = carry
            live = k < turns
            w2 = w - real(0.01) / length * jnp.sin(a)
            return k + I(1), jnp.where(live, a + real(0.01) * w2, a), jnp.where(live, w2, w)

        start = jnp.where(upside, angle + real(3), angle)
        _, a, w = lax.while_loop(lambda c: jnp.any(c[0] < turns), step, (I(0), start, rate))
        return a, w, turns * I(2), (w > 0) ^ upside

    return program, build_cpp(program, [True] * 4 + [False], [real, real, I, bool, real], real=real)


def swings(real, lanes):
    random = np.random.default_rng(lanes)
    numbers = [random.normal(size=lanes).astype(real) for _ in range(2)]
    return [
        *numbers,
        random.integers(0, 300, lanes).astype(I),
        random.random(lanes) < 0.5,
        np.asarray(1.3, real),
    ]


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("lanes", ["1", "W - 1", "W", "W + 1", "1000"])
def test_any_number_of_lanes_runs(lanes, real):
    program, kernel = swing(real)
    lanes = eval(lanes, {"W": kernel.width})
    inputs = swings(real, lanes)
    ours, theirs = kernel(inputs), jax.jit(program)(*inputs)
    assert [v.dtype for v in ours] == [real, real, np.int32, np.bool_]
    # 300 steps of a smooth pendulum: each adds a few roundings (FMA, sin), and the angle's error
    # grows at most linearly here.
    for a, b in zip(ours[:2], theirs[:2], strict=True):
        np.testing.assert_allclose(a, b, atol=3000 * np.finfo(real).eps)
    assert_same(ours[2], np.asarray(theirs[2]))
    assert ours[3].shape == (lanes,)


@pytest.mark.parametrize("real", REALS)
def test_threads_do_not_change_a_bit(real):
    _, kernel = swing(real)
    inputs = swings(real, 1003)
    one, two, many = (kernel(inputs, threads) for threads in (1, 2, 50))
    for a, b, c in zip(one, two, many, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


def test_python_goes_on_while_a_kernel_runs():
    kernel = build_cpp(
        lambda x, n: (lax.fori_loop(I(0), n, lambda _, v: jnp.sin(v), x),),
        [True, False],
        [np.float64, I],
        real=np.float64,
    )
    x = np.ones(kernel.width)
    started = time.perf_counter()
    kernel([x, I(10000)], threads=1)
    turns = I(10000 * min(0.3 / (time.perf_counter() - started), 1e4))  # about 0.3 s of kernel
    runner = threading.Thread(target=kernel, args=([x, turns], 1))
    runner.start()
    moments = 0
    while runner.is_alive():
        time.sleep(0.002)
        moments += 1
    assert moments > 10  # one or two, were the interpreter's lock held


# ---- what is refused


@pytest.mark.parametrize(
    ("primitive", "program"),
    [
        ("sort", lambda x: jnp.sort(x)),
        ("dot_general", lambda x: jnp.dot(x, x)),
        ("cumsum", lambda x: jnp.cumsum(x)),
        ("concatenate", lambda x: jnp.concatenate([x, x])),
        ("broadcast_in_dim", lambda x: jnp.sum(x[:, None] * jnp.ones(3))),
        ("iota", lambda x: x + jnp.arange(x.size)),
        ("constant", lambda x: x + np.ones(x.shape)),
        ("scan", lambda x: lax.scan(lambda c, _: (c + x, c), x, None, length=3)[1].sum(0)),
        ("debug_callback", lambda x: (jax.debug.callback(lambda: None), x)[1]),
    ],
)
def test_what_has_no_rule_is_refused_by_name(primitive, program):
    with pytest.raises(CannotFuse, match=primitive) as refusal:
        build_cpp(lambda x: (program(x),), [True], [np.float64], real=np.float64)
    assert refusal.value.primitive == primitive


def test_a_wider_type_than_the_programs_is_refused_in_lanes():
    with pytest.raises(
        CannotFuse, match=r"convert_element_type.*float64 lanes in a float32 program"
    ):
        build_cpp(lambda x: (x.astype(jnp.float64) * 2,), [True], [np.float32], real=np.float32)


def test_what_is_not_used_need_not_have_a_rule():
    def program(x):
        jnp.sort(x)
        return (lax.fori_loop(0, 3, lambda _, v: (v[0] + 1, jnp.sort(v[1])), (x, x))[0],)

    (ours,), (theirs,) = both(program, np.float64, [np.arange(9.0)])
    assert_same(ours, theirs)


@pytest.mark.parametrize(
    "inputs",
    [
        [np.ones(3)],
        [np.ones(3), np.ones(4), 1.0],
        [np.ones(0), np.ones(0), 1.0],
        [np.ones(3), np.ones(3), np.ones(3)],
        [1.0, 1.0, 1.0],
    ],
)
def test_wrong_inputs_are_refused(inputs):
    kernel = build_cpp(
        lambda a, b, c: (a + b * c,), [True, True, False], [np.float64] * 3, real=np.float64
    )
    with pytest.raises(ValueError, match=r"inputs"):
        kernel(inputs)
