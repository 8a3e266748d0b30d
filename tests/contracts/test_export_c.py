"""Controllers as C: bit for bit what NumPy gives, nothing undefined, and refused in words."""

import ctypes
import functools
import re
import subprocess
from pathlib import Path

import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from tests.support.commands import several

import footfall.scenario.trust as trusting
from footfall import load
from footfall.hybrid.plant import Senses
from footfall.machines.control.controller import AbstractController, of_types
from footfall.machines.control.pid import PidGains, PidMemory, cleared, pid_update
from footfall.realtime.controller_c import exported
from footfall.realtime.firmware_build import find_compiler
from footfall.realtime.plant import stack_settings
from footfall.scenario.errors import ScenarioError
from footfall.scenario.own_code import OwnCode, with_defaults
from support.firmware import FirmwareLaw

STRICT = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O2")
#: What is undefined ends the program.
UNDEFINED = ("-fsanitize=undefined,float-cast-overflow", "-fsanitize-undefined-trap-on-error")
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-controller.md"
HEAD = """\
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from footfall.authoring import AbstractController, Scalar, choose, clamp, param, signal


class Memory(eqx.Module):
    count: Scalar = signal(doc="calls /* so far */ (how many??)")
    level: Scalar = signal(unit="rad", doc="a level")


class Own(AbstractController):
    gain: Scalar = param(2.0, doc="gain")

    def rest(self):
        return Memory(count=0, level=0.0)

    def update(self, memory, setpoint, measured, sample_time):
"""


@pytest.fixture
def trusted(tmp_path, monkeypatch):
    """A folder whose code may run, and nothing is remembered of it."""
    monkeypatch.setattr(trusting, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(trusting, "_here", {"folders": [], "code": []})
    return tmp_path


def made(folder: Path, text: str, name: str = "own") -> tuple[AbstractController, Path]:
    """The one controller of a file with this text."""
    (folder / f"{name}.py").write_text(text)
    found = OwnCode(folder, "a test", trust=True).all_in(
        f"{name}.py", AbstractController, "controller"
    )
    (own,) = found.values()
    return with_defaults(own), own.file


def compiled(folder: Path, output: str, *flags: str) -> Path:
    units = sorted(path.name for path in folder.glob("*.c"))
    command = [*find_compiler().command, *flags, "-o", output, *units]
    subprocess.run(command, cwd=folder, check=True, timeout=240)
    return folder / output


def write(folder: Path, controller: AbstractController, file: Path) -> None:
    files = exported(controller, file).files
    for suffix, text in zip(("h", "c"), files, strict=True):
        (folder / f"{file.stem}.{suffix}").write_text(text)


def same(a: np.ndarray, b: np.ndarray, *, zeros: bool = True) -> bool:
    """Bit for bit; whatever bits a NaN has it is one. `zeros`: 0 and -0 differ."""
    a, b = np.asarray(a, np.float32), np.asarray(b, np.float32)
    both = np.isnan(a) & np.isnan(b)
    equal = a.view(np.uint32) == b.view(np.uint32) if zeros else a == b
    return bool(np.all(both | equal))


# The example of the page


class DampedMemory(ctypes.Structure):
    _fields_ = (("started", ctypes.c_bool), ("rate", ctypes.c_float), ("previous", ctypes.c_float))


def test_the_controller_of_the_page_runs_and_gives_numpys_bits_in_c(tmp_path):
    (tmp_path / "my_controller.py").write_text(
        re.search(r"```python\n(.*?)```", PAGE.read_text(), re.S)[1]
    )
    (tmp_path / "two.py").write_text(
        HEAD.replace("class Own", "class Other") + "        pass\n\n\n"
    )
    with (tmp_path / "two.py").open("a") as file:
        file.write("class Third(Other):\n    pass\n")
    run = ["run", "urchin-spike-closed-loop", "--set", "controller=my_controller.py:Damped"]
    run += ["--set", "sim.engine=step", "--set", "sim.batch_step=250 us", "--duration", "0.05"]
    export = ["export-c", "my_controller.py"]
    told, again, forced, missing, unclear, pid, ran = several(
        [
            [*export, "--trust"],
            export,
            [*export, "--force"],
            ["export-c", "my_contoller.py"],
            ["export-c", "two.py"],
            ["export-c", "--out", "shipped"],
            [*run, "--no-plots", "--out", "one", "--json"],
        ],
        tmp_path,
    )
    assert [a.status for a in (told, forced, pid)] == [0, 0, 0], told.err + forced.err + pid.err
    assert again.status == 2 and "my_controller.h and my_controller.c" in again.err
    assert missing.status == 2 and "there is no file my_contoller.py" in missing.err
    assert unclear.status == 2 and "Other, Third. Name one" in unclear.err
    assert ran.status in (0, 1) and ran.said["outcome"], ran.err
    call = [line.strip() for line in told.out.splitlines() if line.startswith("  ")]
    assert len(call) == 3 and all(line in PAGE.read_text() for line in call)
    assert "pid.c" in pid.out and "no C library" in pid.out
    compiled(tmp_path / "shipped", "pid.so", *STRICT, "-fPIC", "-shared")

    compiled(tmp_path, "strict.so", *STRICT, "-nostdlib", "-fPIC", "-shared")
    # Outside ISO mode a compiler may merge products and sums: the file itself forbids it.
    merging = ("-std=gnu99", "-O2", "-march=native", "-nostdlib", "-fPIC", "-shared")
    library = ctypes.CDLL(str(compiled(tmp_path, "own.so", *merging)))
    library.damped_update.restype = ctypes.c_float
    numbers = (ctypes.c_float * 4).in_dll(library, "damped_defaults")
    namespace: dict = {}
    exec((tmp_path / "my_controller.py").read_text(), namespace)
    controller = namespace["Damped"](*map(np.float32, numbers))
    ours, theirs, draw = of_types(controller.rest(), np.float32), DampedMemory(), draws()
    library.damped_rest(ctypes.byref(theirs))
    limited = 0
    for setpoint, measured in draw.normal(0.0, 1.5, (1000, 2)).astype(np.float32):
        ours, torque = controller.update(ours, setpoint, measured, np.float32(1e-3))
        told = library.damped_update(
            numbers,
            ctypes.byref(theirs),
            *(ctypes.c_float(float(x)) for x in (setpoint, measured, np.float32(1e-3))),
        )
        assert same([torque, ours.rate, ours.previous], [told, theirs.rate, theirs.previous])
        limited += abs(told) == 14.0
    assert 100 < limited < 1000, "both kinds of torque were seen"


def draws() -> np.random.Generator:
    return np.random.default_rng(5)


# The shipped law, whatever comes

ANY = st.one_of(
    st.floats(width=32), st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan, 3e38, 1e-45])
)
GAINS = st.builds(
    PidGains,
    *[st.one_of(st.floats(0, 1000, width=32), st.sampled_from([0.0, 1e-45, 3e38]))] * 6,
    period_us=st.sampled_from([1, 1000, 2**31 - 1]),
)


@given(GAINS, st.lists(st.tuples(st.integers(0, 2**32 - 1), ANY, ANY), max_size=12))
@settings(max_examples=300)
def test_the_law_in_c_gives_numpys_bits_for_every_number_there_is(gains, calls):
    """Saturated, infinite, none, tiny, minus zero; times that go anywhere."""
    gains = gains.of_type(np.float32)
    law, memory, now = FirmwareLaw(gains), cleared(np.float32), 0
    for later, setpoint, measured in calls:
        now += later
        with np.errstate(all="ignore"):
            memory, calculated = pid_update(
                gains, memory, now, np.float32(setpoint), np.float32(measured)
            )
        assert law.update(now, setpoint, measured) == calculated
        names = PidMemory._fields[2:]
        assert same(memory[2:], [getattr(law.memory, name) for name in names])


# Every rule

KINDS = """\
import equinox as eqx
import jax
import jax.numpy as jnp
from footfall.authoring import AbstractController, Scalar, choose, clamp, param, signal


class Memory(eqx.Module):
    count: Scalar = signal(doc="calls")
    wrapped: Scalar = signal(doc="their square and more")
    shared: Scalar = signal(doc="a quotient of integers")
    rest: Scalar = signal(doc="and what is left of it")
    whole: Scalar = signal(doc="a float as an integer")
    flag: Scalar = signal(doc="some comparisons")
    first: Scalar = signal(doc="two that change places")
    second: Scalar = signal(doc="two that change places")
    size: Scalar = signal(doc="absolute value")
    sign: Scalar = signal(doc="its sign")
    floor: Scalar = signal(doc="rounded down")
    ceiling: Scalar = signal(doc="rounded up")
    larger: Scalar = signal(doc="the larger")
    limited: Scalar = signal(doc="between limits")
    power: Scalar = signal(doc="a power")
    root: Scalar = signal(doc="a root")
    branch: Scalar = signal(doc="one of two branches")
    nearest: Scalar = signal(doc="the nearest whole number")


class Kinds(AbstractController):
    gain: Scalar = param(0.7, doc="gain")

    def rest(self):
        return Memory(0, 0, 0, 0, 0, False, *[0.0] * 12)

    def update(self, memory, setpoint, measured, sample_time):
        count = memory.count + 1
        a, b = setpoint, measured
        positive = (a > 0) | (b != b) & ~(a >= b) ^ (count == 3)
        new = Memory(
            count=count,
            wrapped=count * count - abs(count),
            shared=jax.lax.div(count, memory.count),
            rest=jax.lax.rem(count, memory.count),
            whole=jnp.astype(a, jnp.int32),
            flag=positive & jnp.isfinite(b),
            first=a - (b - sample_time),
            second=memory.first,
            size=abs(a),
            sign=jnp.sign(a),
            floor=jnp.floor(a),
            ceiling=jnp.ceil(a),
            larger=jnp.minimum(jnp.maximum(a, b), jnp.inf),
            limited=clamp(a, -self.gain, self.gain),
            power=-(-(a**3)) / b**-2,
            root=jnp.sqrt(abs(a)),
            branch=jax.lax.cond(positive, lambda x: x + 1.0, lambda x: x * 2.0, b),
            nearest=jnp.round(a),
        )
        return new, choose(memory.flag, memory.second, self.gain * a + b * memory.count)
"""
MAIN = """\
#include <stdio.h>
#include "kinds.h"

int main(void)
{
    float in[3];
    int32_t count;
    while (fread(in, 4, 3, stdin) == 3 && fread(&count, 4, 1, stdin) == 1) {
        struct kinds_memory memory;
        kinds_rest(&memory);
        memory.count = count;
        memory.first = in[1];
        memory.second = in[0];
        memory.flag = count > 7;
        float torque = kinds_update(&kinds_defaults, &memory, in[0], in[1], in[2]);
        int32_t flag = memory.flag;
        int32_t whole[] = {memory.count, memory.wrapped, memory.shared, memory.rest, memory.whole, flag};
        fwrite(whole, 4, 6, stdout);
        fwrite(&memory.first, 4, 12, stdout);
        fwrite(&torque, 4, 1, stdout);
    }
    return 0;
}
"""
#: None below the normal numbers, which XLA takes for 0.
SPECIAL = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 1e9, -1e9, 2.0**31, -(2.0**31), 3e38, -3e38)


def test_every_rule_gives_what_jax_gives_and_nothing_is_undefined(trusted):
    controller, file = made(trusted, KINDS, "kinds")
    write(trusted, controller, file)
    (trusted / "main.c").write_text(MAIN)
    text = (trusted / "kinds.c").read_text()
    assert "<math.h>: sqrtf, rintf. */" in text, "both are exact: nothing is said of digits"
    program = compiled(trusted, "kinds", "-std=c99", "-O1", *UNDEFINED, "-lm")
    draw, special = draws(), np.array([*SPECIAL, np.inf, -np.inf, np.nan])
    a, b = (x.ravel() for x in np.meshgrid(special, special))
    a = np.concatenate([a, draw.normal(0, 3, 500)]).astype(np.float32)
    b = np.concatenate([b, draw.normal(0, 3, 500)]).astype(np.float32)
    h = np.full(a.size, 1e-3, np.float32)
    count = np.resize(np.array([0, 1, 2, 7, 8, -1, 2**31 - 1, -(2**31), 46341], np.int32), a.size)
    records = np.stack([a, b, h, count.view(np.float32)], axis=1)
    done = subprocess.run([program], input=records.tobytes(), capture_output=True, timeout=60)
    assert done.returncode == 0, "something is undefined"
    table = np.frombuffer(done.stdout, np.float32).reshape(a.size, 19)
    kind = type(controller.rest())
    memory = kind(count, *[0 * count] * 4, count > 7, b, a, *[np.zeros_like(a)] * 10)
    ours = type(controller)(gain=np.float32(0.7))
    given = jax.tree.map(jnp.asarray, (memory, a, b, h))
    memory, torque = jax.vmap(ours.update)(*given)  # operation by operation: nothing is merged
    names = [*kind.__dataclass_fields__, "torque"]
    for i, name in enumerate(names):
        expected = np.asarray(torque if name == "torque" else getattr(memory, name))
        if i < 6:
            assert np.array_equal(table[:, i].view(np.int32), expected.astype(np.int32)), name
        else:  # which zero a maximum is, is XLA's own
            assert same(table[:, i], expected, zeros=name not in ("larger", "limited")), name


OBSERVER = """\
import equinox as eqx
import jax.numpy as jnp
import numpy as np
from footfall.authoring import AbstractController, Scalar, choose, clamp, param, signal

A = np.array([[0.5, 0.01, -0.3], [0.1, 0.4, 0.2], [-0.4, 0.05, 0.3]])
K = np.array([[3.0, -2.0, 0.5]])


class Memory(eqx.Module):
    a: Scalar = signal(doc="")
    b: Scalar = signal(doc="")
    c: Scalar = signal(doc="")
    calls: Scalar = signal(doc="of 32 bits, which wrap")


class Observer(AbstractController):
    gain: Scalar = param(0.3, doc="of the observer")

    def rest(self):
        return Memory(0.1, -0.2, 0.3, np.uint32(4294967294))

    def update(self, memory, setpoint, measured, sample_time):
        x = jnp.stack([memory.a, memory.b, memory.c])
        ours, law = jnp.asarray(A, x.dtype), jnp.asarray(K, x.dtype)
        new = ours @ x + self.gain * (measured - x[0]) * jnp.ones_like(x)
        new = jnp.where(new > 2.0, 2.0, new) + 0.25 * x[::-1]
        torque = (law @ new[:, None])[0, 0] + jnp.max(new) - setpoint
        calls = memory.calls + np.uint32(1)
        return Memory(new[0], new[1], new[2], calls), torque + (calls // np.uint32(3)) * 0.0
"""


class ObserverMemory(ctypes.Structure):
    _fields_ = (*((name, ctypes.c_float) for name in "abc"), ("calls", ctypes.c_uint32))


def test_matrices_are_written_out_and_summed_from_the_first_to_the_last(trusted):
    """A 2-D constant by a vector, a vector by a matrix, slices, a maximum; whole numbers that wrap.

    Against loops in single precision, bit for bit.
    """
    controller, file = made(trusted, OBSERVER, "observer")
    write(trusted, controller, file)
    library = ctypes.CDLL(str(compiled(trusted, "observer.so", *STRICT, "-fPIC", "-shared")))
    library.observer_update.restype = ctypes.c_float
    library.observer_update.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_float] * 3
    numbers = ctypes.addressof(ctypes.c_float.in_dll(library, "observer_defaults"))
    memory = ObserverMemory()
    library.observer_rest(ctypes.byref(memory))
    one = np.float32
    a, k = (
        np.array(rows, one)
        for rows in ([[0.5, 0.01, -0.3], [0.1, 0.4, 0.2], [-0.4, 0.05, 0.3]], [3.0, -2.0, 0.5])
    )
    x, calls, draw = [one(v) for v in (0.1, -0.2, 0.3)], 4294967294, draws()
    for wanted, measured in draw.normal(0, 1, (300, 2)).astype(np.float32):
        torque = library.observer_update(numbers, ctypes.byref(memory), wanted, measured, 0.001)
        off = one(0.3) * (measured - x[0])
        new = [a[i, 0] * x[0] + a[i, 1] * x[1] + a[i, 2] * x[2] + off for i in range(3)]
        new = [min(v, one(2.0)) + one(0.25) * w for v, w in zip(new, x[::-1], strict=True)]
        expected = k[0] * new[0] + k[1] * new[1] + k[2] * new[2] + max(new) - wanted
        calls = (calls + 1) % 2**32
        x = new
        assert same([torque, memory.a, memory.b, memory.c], [expected, *new])
        assert memory.calls == calls
        assert np.isfinite(expected)
    assert calls < 300, "it did wrap"
    assert "for (" not in (trusted / "observer.c").read_text()


def test_a_sine_of_the_c_library_is_declared(trusted):
    text = HEAD + "        return memory, jnp.sin(measured) + jnp.inf * self.gain\n"
    source = exported(*made(trusted, text)).files.source
    assert "#include <math.h>" in source and "Of the C library's <math.h>: sinf." in source
    assert "The last digit of sinf is the library's own" in source
    assert "sinf(measured) + INFINITY * numbers->gain" in source


def test_comments_and_unused_arguments_do_not_break_the_text(trusted):
    endless = HEAD.replace("level=0.0", "level=-np.inf")
    write(trusted, *made(trusted, endless + "        return memory, 0.0\n"))
    compiled(trusted, "own.so", *STRICT, "-fPIC", "-shared")
    bare = HEAD.replace("Memory(count=0, level=0.0)", "None").replace(
        "gain: Scalar = param(2.0", "n: int = param(2, static=True"
    )
    write(trusted, *made(trusted, bare + "        return None, measured * self.n\n"))
    compiled(trusted, "own.so", *STRICT, "-fPIC", "-shared")
    assert "own_update(float setpoint" in (trusted / "own.h").read_text()


# What cannot be written

LOOP = "jax.lax.while_loop(lambda v: v < 3.0, lambda v: v + 1.0, measured)"


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ("(0.0, 0.0)", "rest() gives back a tuple; a struct of signal fields"),
        ("Memory(0, jnp.zeros(3))", "rest() begins with memory.level = Array"),
        ("Memory(0, self.gian)", "line 17: AttributeError"),
    ],
)
def test_a_memory_that_is_none_is_refused(trusted, rest, words):
    text = HEAD.replace("Memory(count=0, level=0.0)", rest) + "        return memory, 0.0\n"
    with pytest.raises(ScenarioError, match=re.escape(words)):
        exported(*made(trusted, text))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("if measured > 0: pass", ["line 20", "choose(flag, a, b)"]),
        (f"return memory, {LOOP}", ["while: has no C rule (line 20)"]),
        ("return memory, jnp.sort(jnp.stack([measured, setpoint]))[0]", ["sort: has no C rule (line 20)"]),
        ("return memory, jnp.tile(measured, 5000).sum()", ["makes 5000 numbers at once"]),
        ("return memory, self.gian * measured", ["line 20: AttributeError", "gian"]),
        ("return memory", ["gives back a Memory; expected: memory, torque"]),
        ("return (1.0, 2.0), 0.0", ["memory of type tuple", "rest one of type Memory"]),
        ("return Memory(memory.count, measured * np.float64(2)), 0.0", ["memory.level is float64", "plain number"]),
        ("return Memory(memory.count + 0.5, 0.0), 0.0", ["memory.count is float", "was int32"]),
        ("return Memory(0, jnp.zeros(3)), 0.0", ["memory.level has shape (3,)"]),
        ("return memory, np.random.default_rng().random() * measured", ["another function each time"]),
        ("self.gain = 3.0", ["line 20: FrozenInstanceError"]),
    ],
)  # fmt: skip
def test_what_cannot_be_c_is_refused_with_its_place(trusted, body, words):
    with pytest.raises(ScenarioError) as caught:
        exported(*made(trusted, HEAD + f"        {body}\n"))
    assert [word for word in words if word not in str(caught.value)] == [], caught.value
    assert "own.py" in str(caught.value) and str(caught.value).count("\n") < 6


def test_a_parameter_that_is_a_word_of_c_is_refused(trusted):
    text = HEAD.replace("gain:", "double:") + "        return memory, 0.0\n"
    with pytest.raises(ScenarioError, match="double: is no name in C"):
        exported(*made(trusted, text))


# The same controller in lockstep

PID = """\
import equinox as eqx

from footfall.authoring import AbstractController, Scalar, choose, clamp, param, signal
from footfall.machines.control.pid import PidGains, PidMemory, pid_update


class Memory(eqx.Module):
    started: Scalar = signal(doc="")
    integral: Scalar = signal(doc="")
    derivative: Scalar = signal(doc="")
    previous: Scalar = signal(doc="")


class Own(AbstractController):
    \"\"\"digital-pid once more.\"\"\"

    def rest(self):
        return Memory(False, 0.0, 0.0, 0.0)

    def update(self, memory, setpoint, measured, sample_time):
        gains = PidGains(6.0, 10.0, 0.45, 1.836, 14.688, 0.01, round(sample_time * 1e6))
        before = PidMemory(0, memory.started, memory.integral, memory.derivative, memory.previous, 0.0)
        after, _ = pid_update(gains, before, gains.period_us, setpoint, measured)
        return Memory(after.started, after.integral, after.derivative, after.previous), after.output
"""


def test_lockstep_runs_a_controller_of_ones_own_as_it_runs_the_shipped_one(trusted, monkeypatch):
    (trusted / "own.py").write_text(PID)
    monkeypatch.chdir(trusted)
    rounding = ["stack.current_step=0", "stack.switch_on=20 ms"]
    shipped = load("rimless-wheel-closed-loop", rounding)
    own = load("rimless-wheel-closed-loop", [*rounding, "controller=own.py:Own"], trust=True)
    pitches = 0.6 + 0.3 * np.sin(0.02 * np.arange(400)) + 0.05 * draws().normal(size=400)
    seen = [currents(experiment, pitches) for experiment in (shipped, own)]
    assert np.max(np.abs(seen[0])) > 1.0, "it did drive"
    # Torques by amperes, or amperes from gains by them: a few roundings apart.
    np.testing.assert_allclose(seen[0], seen[1], rtol=1e-12, atol=1e-13)
    assert stack_settings(own.system).gains.title == "Own in own.py"


def currents(experiment, pitches):
    """What the mid level wants, tick by tick."""
    system = experiment.system

    @functools.partial(jax.jit)
    def run(m, pitches):
        def tick(m, pitch):
            m, _ = system._ticked(Senses(pitch, (0.0, 0.0), (0.0 * pitch,) * 2), m)
            return m, (m.wanted_1, m.law.output, m.on)

        return jax.lax.scan(tick, m, pitches)[1]

    return np.stack(
        run(jax.tree.map(jnp.asarray, experiment.start.m.programs), jnp.asarray(pitches))
    )
