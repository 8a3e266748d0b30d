"""The firmware's C core against the Python programs: the same bits from the law, the same bytes
from the program, whatever comes.

Also the shells around the core: the program for this machine, and the sketch, run on a board in
memory."""

import ctypes
import dataclasses
import functools
import itertools
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

from footfall.machines.control import decimal_text
from footfall.machines.control.driver_lines import by_board, current_lines
from footfall.machines.control.framing import (
    FrameReader,
    checksum_of,
    down_format,
    encode,
    up_format,
)
from footfall.machines.control.mid import MidProgram
from footfall.machines.control.pid import PidGains, PidMemory, cleared, pid_update
from footfall.realtime import firmware_build
from footfall.realtime.controller_c import pid_files
from footfall.realtime.firmware_build import (
    FLAGS,
    config_header,
    core_sources,
    firmware_folder,
    host_program,
)
from footfall.realtime.plant import stack_settings
from footfall.realtime.serial_port import PtyPort, SerialPort
from footfall.scenario.load import load
from support.firmware import FirmwareLaw, FirmwareMid, bits, core, fixed, lines_of
from support.stack_cases import EVERY, ONE_MOTOR, ROBOT, WALKING

SUPPORT = Path(__file__).resolve().parents[1] / "support"
ZEROS = current_lines(ROBOT, [0.0, 0.0])
single = functools.partial(st.floats, width=32)

# The law

GAINS = st.builds(
    PidGains,
    proportional=single(0, 1000),
    integral=single(0, 1000),
    derivative=single(0, 100),
    integral_limit=single(0.125, 50),
    output_limit=single(0.125, 1000),
    filter_time=st.one_of(st.just(0.0), single(0, 1)),
    period_us=st.sampled_from([1, 250, 997, 1000, 10_000, 2**20]),
)
#: How far the clock goes on in periods, and microseconds more: early, on time, late.
CALLS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.5, 1.0, 1.0, 1.0, 3.7]),
        st.integers(0, 2),
        st.one_of(st.just(0.6), single(-1.5703125, 1.5703125)),  # jumps of the set point
        st.one_of(single(-3.140625, 3.140625), st.just(0.5)),
    ),
    max_size=60,
)
STARTS = st.sampled_from([0, 2**31 - 3000, 2**32 - 3000, 123])


@given(GAINS, STARTS, CALLS)
@settings(max_examples=300)
def test_the_law_in_c_equals_the_python_law_in_single_precision_bit_for_bit(gains, start, calls):
    gains = gains.of_type(np.float32)
    law, memory, now = FirmwareLaw(gains), cleared(np.float32), start
    for periods, more, setpoint, measured in calls:
        now += int(periods * gains.period_us) + more
        memory, calculated = pid_update(
            gains, memory, now, np.float32(setpoint), np.float32(measured)
        )
        assert law.update(now, setpoint, measured) == calculated
        assert bits(memory[2:]) == bits(
            [getattr(law.memory, name) for name in PidMemory._fields[2:]]
        )
        assert law.memory.last_us == memory.last_us % 2**32 or not memory.started


def test_without_an_integral_the_two_agree_but_for_the_sign_of_zero():
    """Clamped to +-0, C keeps the sign and NumPy's is that of the CPU's instruction; it cannot
    reach the output's text.
    """
    gains = WALKING._replace(integral_limit=0.0).of_type(np.float32)
    law, memory = FirmwareLaw(gains), cleared(np.float32)
    for k, measured in enumerate(np.linspace(-1, 1, 101, dtype=np.float32)):
        memory, _ = pid_update(gains, memory, k * 1000, np.float32(0.1), measured)
        law.update(k * 1000, 0.1, float(measured))
        assert law.memory.integral == memory.integral == 0.0
        assert bits([memory.output]) == bits([law.memory.output])


@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="asks for x86's merged multiply-add by name"
)
@pytest.mark.skipif(
    "fma" not in Path("/proc/cpuinfo").read_text(), reason="this CPU has no merged multiply-add"
)
def test_the_bits_stay_the_same_with_a_compiler_left_to_merge_products_and_sums():
    """As the Arduino IDE leaves it: no flag of ours. src/exact_floats.h must do it alone. The same
    source without it gives other bits, or this test would show nothing."""
    merging = (
        *(flag for flag in FLAGS if flag not in ("-std=c99", "-ffp-contract=off")),
        "-std=gnu99",
        "-mfma",
    )
    guarded, draw = FirmwareLaw(WALKING, merging), np.random.default_rng(1)
    plain, bare = FirmwareLaw(WALKING), _law_without_guard(merging)
    differ = 0
    for k, (setpoint, measured) in enumerate(
        draw.uniform(-1.5, 1.5, (500, 2)).astype(np.float32).tolist()
    ):
        for law in (guarded, plain, bare):
            law.update(k * 1000, setpoint, measured)
        assert bytes(guarded.memory) == bytes(plain.memory)
        differ += bytes(bare.memory) != bytes(plain.memory)
    assert differ > 100


def _law_without_guard(flags: tuple[str, ...]) -> FirmwareLaw:
    law = FirmwareLaw(WALKING)
    with tempfile.TemporaryDirectory() as place:
        for name, text in core_sources().items():
            (Path(place) / name).write_text("" if name == "exact_floats.h" else text)
        command = [
            *firmware_build.find_compiler().command,
            *flags,
            "-fPIC",
            "-shared",
            "pid.c",
            "-o",
            "bare.so",
        ]
        subprocess.run(command, cwd=place, check=True, timeout=240)
        library = ctypes.CDLL(f"{place}/bare.so")
    known = core().ff_pid_update
    library.ff_pid_update.restype, library.ff_pid_update.argtypes = known.restype, known.argtypes
    law._core = library
    return law


ULP = float(np.finfo(np.float32).eps)


@given(GAINS.filter(lambda gains: gains.period_us >= 250), CALLS)
@settings(max_examples=60)
def test_the_compiled_law_in_single_precision_is_within_4_ulp_of_the_largest_term_of_each_sum(
    gains, calls
):
    """From the same memory each time, one call. A sum whose terms cancel is only as exact as its
    largest term; so that is the unit. XLA may merge products and sums."""
    gains = gains.of_type(np.float32)
    memory, now = cleared(np.float32), 0
    for periods, _, setpoint, measured in calls:
        now += int(max(periods, 1.0) * gains.period_us)
        before, setpoint, measured = memory, np.float32(setpoint), np.float32(measured)
        memory, _ = pid_update(gains, before, now, setpoint, measured)
        traced, calculated = _compiled(
            *jax.tree.map(jnp.asarray, (gains, before)), jnp.asarray(now), setpoint, measured
        )
        assert calculated
        assert {leaf.dtype for leaf in traced[2:]} == {np.dtype(np.float32)}
        sample_time = gains.period_us * 1e-6
        share = sample_time / (gains.filter_time + sample_time)
        error = abs(setpoint - measured)
        slope = abs(measured - before.previous) / sample_time if before.started else 0.0
        terms = {
            "integral": (abs(before.integral), gains.integral * error * sample_time),
            "derivative": (abs(before.derivative), share * slope, share * abs(before.derivative)),
        }
        terms["output"] = (
            gains.proportional * error,
            *terms["integral"],
            *(gains.derivative * term for term in terms["derivative"]),
        )
        for name, sizes in terms.items():
            apart = abs(float(getattr(traced, name)) - float(getattr(memory, name)))
            # The last: below the normal numbers.
            assert apart <= 4 * ULP * max(map(float, sizes)) + 1e-38, name


_compiled = jax.jit(pid_update)

# The program

STEP = st.tuples(
    st.sampled_from(
        [1, 100, 250, 250, 999, 1000, 1001, 5000, 10_000, 99_000, 100_000, 2**31]
    ),  # us until then
    st.one_of(
        st.just(b""),
        st.tuples(
            single(-1.5, 1.5), st.booleans(), single(-3.125, 3.125), single(-5, 5)
        ),  # a frame
        st.tuples(single(-1.5, 1.5), st.just(True), single(-3.125, 3.125), single(-5, 5)),
        st.binary(max_size=8),
        st.sampled_from(
            [
                b"<",
                b">",
                b"<0.6,1,0.5",
                b",0>",
                b"<e*65>",
                b"<e>",
                b"<e*66><ee>",
                b"<0.6,0,0.5><0.6,1,0.5>",
                b"<0.6,0,0.5,1><0.6,1,0.5,-1>",
            ]
        ),
    ),
    st.one_of(
        st.none(), st.none(), st.none(), st.tuples(st.integers(0, 40), st.integers(1, 255))
    ),  # a byte altered
    st.sampled_from([*[None] * 12, "reset", "nan"]),
)


@pytest.mark.parametrize("make", [MidProgram, FirmwareMid])
@pytest.mark.parametrize("frame", [(-9.0, 0.1, 0.0), (0.6, -9.0, 0.0), (0.6, 0.1, -9.0)])
def test_a_number_below_its_range_is_rejected_as_one_above(make, frame):
    program, form = make(ROBOT), down_format(ROBOT)
    wide = form._replace(fields=tuple(field._replace(limit=99.0) for field in form.fields))
    for sign in (1.0, -1.0):
        setpoint, pitch, steer = (sign * value for value in frame)
        program.receive(encode(wide, (setpoint, 0.0, pitch, steer)), 0)
    program.receive(encode(form, (0.6, 1.0, 0.1, 0.0)), 0)
    assert program.rejected_frames == 2 and not program.on  # so no frame has said off


@pytest.mark.parametrize("make", [MidProgram, FirmwareMid])
def test_a_current_that_is_no_number_is_never_sent_and_trips(make):
    program = make(ROBOT)
    for on, steer in ((False, 0.0), (True, 0.0)):
        program.take(0.6, on, 0.5, steer, 0)
    program.step(0)
    assert program.on
    program.take(0.6, True, 0.5, float("nan"), 1000)
    assert program.step(1000).to_driver == current_lines(ROBOT, [0.0, 0.0])
    assert program.watchdog_tripped and not program.on
    program.take(0.6, True, 0.5, 0.0, 2000)  # sound again, and off all the same
    program.step(2000)
    assert not program.on


def test_a_half_is_rounded_to_even_as_in_python():
    for value in (k / 128 for k in range(-9, 10)):  # 1/128 is 7812.5e-6
        assert fixed(value, 6) == decimal_text.fixed(np.float32(value), 6)


@given(st.sampled_from(sorted(EVERY)), STARTS, st.lists(STEP, max_size=80))
@settings(max_examples=400)
def test_fed_the_same_bytes_at_the_same_times_firmware_and_python_program_send_the_same_bytes(
    name, start, steps
):
    stack = EVERY[name]
    programs, form, now = (MidProgram(stack), FirmwareMid(stack)), down_format(stack), start
    for program in programs:  # so that most of what follows finds it armed
        program.receive(encode(form, (0.6, False, 0.5, 0.0)[: len(form.fields)]), now)
    for wait, said, alteration, event in steps:
        now += wait
        data = bytearray(
            said if isinstance(said, bytes) else encode(form, said[: len(form.fields)])
        )
        if alteration and data:
            place, mask = alteration
            data[place % len(data)] ^= mask
        for program in programs:
            if event == "reset":
                program.reset()
            if event == "nan":
                program.take(0.6, True, float("nan"), 0.0, now)
            program.receive(bytes(data), now)
        ours, theirs = (program.step(now) for program in programs)
        assert ours == theirs
        seen = [(p.on, p.watchdog_tripped, p.rejected_frames, *bits([p.output])) for p in programs]
        assert seen[0] == seen[1]


@pytest.mark.parametrize("name", EVERY)
def test_ten_seconds_of_walking_give_the_same_bytes(name):
    """Pitch as in a gait, frames every 10 ms, 2 % of bytes altered, a silence, the counter's wrap:

    40 000 steps.
    """
    stack, draw = EVERY[name], np.random.default_rng(7)
    programs, form, total = (MidProgram(stack), FirmwareMid(stack)), down_format(stack), 0
    for k in range(40_000):
        now, t = 2**32 - 3_000_000 + 250 * k, 250e-6 * k
        if k % 40 == 0 and not 6 < t < 6.2:
            values = (
                0.6,
                t > 0.02 and not 6 < t < 6.3,
                0.6 + 0.05 * np.sin(24 * t) + 1e-3 * draw.normal(),
                np.sin(t),
            )
            data = np.frombuffer(encode(form, values[: len(form.fields)]), np.uint8)
            data = (
                np.where(draw.random(data.size) < 0.02, draw.integers(0, 256, data.size), data)
                .astype(np.uint8)
                .tobytes()
            )
            for program in programs:
                program.receive(data, now)
        ours, theirs = (program.step(now) for program in programs)
        assert ours == theirs
        total += len(ours.to_driver)
    assert total > 10_000 * 10 * stack.motors, "it did drive"
    assert programs[0].rejected_frames == programs[1].rejected_frames > 100


# Teensyduino's.
CORTEX_M7 = (
    "-mcpu=cortex-m7",
    "-mfloat-abi=hard",
    "-mfpu=fpv5-d16",
    "-mthumb",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
)


@pytest.mark.skipif(
    not (shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm")),
    reason="apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm",
)
@pytest.mark.parametrize("name", EVERY)
def test_on_an_emulated_chip_of_the_teensys_kind_it_sends_the_same_bytes(name, tmp_path):
    """Compiler, flags and C library as Teensyduino has them.

    A contracted product, a strtod that rounds differently would show here.
    """
    stack, draw = EVERY[name], np.random.default_rng(3)
    for file, text in (core_sources() | {"footfall_config.h": config_header(stack)}).items():
        (tmp_path / file).write_text(text)
    shutil.copytree(SUPPORT / "cortex_m7", tmp_path, dirs_exist_ok=True)
    units = sorted(path.name for path in tmp_path.glob("*.c"))
    linked = ("--specs=rdimon.specs", "-Wl,--section-start=.vectors=0")
    subprocess.run(
        ["arm-none-eabi-gcc", *CORTEX_M7, *linked, *units, "-o", "chip"],
        cwd=tmp_path,
        check=True,
        timeout=60,
    )
    program, form, steps, expected, now = (
        MidProgram(stack),
        down_format(stack),
        bytearray(),
        bytearray(),
        2**32 - 2_000_000,
    )
    for k in range(8000):
        now += int(
            draw.choice(
                [100, 250, 999, 1000, 1001, 5000, 120_000],
                p=[0.1, 0.4, 0.1, 0.2, 0.1, 0.099, 0.001],
            )
        )
        data = b""
        if k % 4 == 0:
            values = (
                draw.uniform(-1.5, 1.5),
                draw.random() < 0.97,
                draw.uniform(-3, 3),
                draw.uniform(-5, 5),
            )[: len(form.fields)]
            texts = [
                b"%d" % value if field.flag else repr(float(value)).encode()
                for field, value in zip(form.fields, values, strict=True)
            ]
            payload = b",".join(texts)  # all 17 digits where they fit: strtod's hard cases
            data = (
                encode(form, values)
                if len(payload) > 48
                else b"<" + payload + (checksum_of(payload) if form.checksum else b"") + b">"
            )
            if draw.random() < 0.05:
                data = data[: draw.integers(len(data))]
        if reset := draw.random() < 0.001:
            program.reset()
        else:
            program.receive(data, now)
        steps += (now % 2**32).to_bytes(4, "little") + (
            b"\xff" if reset else bytes([len(data)]) + data
        )
        sent = program.step(now)
        expected += bytes([len(sent.to_high), len(sent.to_driver)]) + sent.to_high + sent.to_driver
    (tmp_path / "steps.bin").write_bytes(steps)
    board = ("-M", "mps2-an500", "-nographic", "-monitor", "none", "-serial", "none")
    files = ("-semihosting-config", "enable=on,target=native")
    subprocess.run(
        ["qemu-system-arm", *board, *files, "-kernel", "chip"], cwd=tmp_path, check=True, timeout=60
    )
    assert (tmp_path / "sent.bin").read_bytes() == expected


# What it is built from


def test_the_constants_in_the_tree_are_what_the_generator_makes_of_the_shipped_robot():
    assert core_sources()["footfall_config.h"] == config_header(
        stack_settings(load("rimless-wheel-closed-loop").system)
    )
    assert config_header(ROBOT) == core_sources()["footfall_config.h"], (
        "and it is the robot of these tests"
    )


def test_the_law_in_the_tree_is_what_the_generator_makes_of_the_python_law():
    """`make format` writes it."""
    assert (core_sources()["pid.h"], core_sources()["pid.c"]) == pid_files()


def test_constants_in_the_header_are_the_settings_to_the_last_bit():
    text = config_header(ONE_MOTOR)
    values = dict(re.findall(r"#define FF_(\w+) (?:UINT32_C\()?([-+.\de]+)", text))
    for name in PidGains._fields[:-1]:
        assert bits([float(values[name.upper()])]) == bits([getattr(ONE_MOTOR.gains, name)])
    assert (values["PERIOD_US"], values["STEERING"], values["MOTORS"], values["SIGN_LEFT"]) == (
        "250",
        "0",
        "1",
        "-1.0",
    )
    assert float(values["TORQUE_CONSTANT"]) == 0.034


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"gains": WALKING._replace(proportional=float("nan"))},
            "gains.proportional = nan: the firmware holds finite numbers",
        ),
        ({"gains": WALKING._replace(output_limit=1e7)}, "output_limit = 10000000.0"),
        ({"torque_constant": 1e5}, "a motor is told 4e+06 N m; a line has room for less"),
        ({"gains": WALKING._replace(period_us=0)}, "gains.period_us = 0"),
        ({"watchdog_us": 2**31}, "watchdog_us = 2147483648"),
        ({"gains": WALKING._replace(filter_time=-0.1)}, "neither is negative"),
        ({"steer_limit": 1e8, "setpoint_limit": 1e8, "measured_limit": 1e8}, "at most 48 are read"),
    ],
)
def test_settings_the_firmware_cannot_be_built_for_are_refused_in_words(change, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        config_header(dataclasses.replace(ROBOT, **change))


def test_without_any_compiler_the_error_says_what_to_install(monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(firmware_build.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(firmware_build.CannotBuild, match="apt-get install gcc"):
        firmware_build.find_compiler()


def test_a_source_that_does_not_compile_is_an_error_with_the_compilers_words():
    with pytest.raises(firmware_build.CannotBuild, match="error"):
        firmware_build._built("broken", {"main.c": "int main(void) { return 0 }"}, FLAGS)


def test_a_program_that_others_could_have_written_is_built_again(tmp_path, monkeypatch):
    monkeypatch.setattr(firmware_build, "_private_folder", lambda: tmp_path)
    program = host_program(ONE_MOTOR)
    program.write_bytes(b"not a program")
    program.chmod(0o722)
    assert host_program(ONE_MOTOR).read_bytes().startswith(b"\x7fELF")
    assert not program.stat().st_mode & 0o022


def test_the_core_allocates_nothing_and_prints_nothing():
    text = "\n".join(core_sources().values())
    assert not re.search(r"\b(malloc|calloc|realloc|free|printf|snprintf|sprintf|new)\s*\(", text)


@pytest.mark.parametrize("name", EVERY)
def test_each_board_gets_the_lines_of_its_motors_in_c_and_in_python(name):
    stack = EVERY[name]
    lines = current_lines(stack, [1.5, -2.5][: stack.motors])
    own = by_board(stack, lines)
    assert own == [lines_of(stack, lines, board) for board in range(stack.boards)]
    assert b"".join(own) == lines and all(own)
    assert by_board(stack, b"") == [lines_of(stack, b"", 0)] * stack.boards


# The program for this machine


class Rig:
    """The host program, or another by its command, between a motor driver and a high level that the test plays."""

    def __init__(self, folder: Path, command: Sequence[str | Path] = ()):
        self.driver, self.reset, self.high_name = (
            PtyPort(folder / "driver"),
            folder / "reset",
            folder / "teensy",
        )
        self.reset.write_bytes(b"1")
        names = ("--high", self.high_name, "--driver", folder / "driver", "--reset", self.reset)
        self.process = subprocess.Popen(
            [*(command or [host_program(ROBOT)]), *names],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        until(self.high_name.is_symlink)
        self.lines = b""

    def open_high(self) -> SerialPort:
        return SerialPort(self.high_name)

    def hear(self) -> bytes:
        self.lines += self.driver.read()
        return self.lines

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        self.driver.close()


@pytest.fixture
def rig(tmp_path):
    rig = Rig(tmp_path)
    yield rig
    rig.close()


def until(true, seconds: float = 20.0):
    """Wait for something to become true. The limit only ends a test that has failed."""
    end = time.monotonic() + seconds
    while not (result := true()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)
    return result


def drive(rig: Rig, high: SerialPort, expected: bytes) -> None:
    """Say on, again and again, until the driver hears a nonzero current."""
    form = down_format(ROBOT)

    def heard() -> bool:
        high.write(encode(form, (0.6, True, 0.5, 0.0)))
        return expected in rig.hear()

    high.write(encode(form, (0.6, False, 0.5, 0.0)))
    until(heard)


def test_the_host_program_drives_reports_survives_its_high_level_resets_and_ends_with_0_a(rig):
    until(lambda: ZEROS in rig.hear())
    high, reader = rig.open_high(), FrameReader(up_format(ROBOT))
    until(lambda: reader.feed(high.read()))
    drive(
        rig, high, b"\nc 0 0.055"
    )  # Kp 0.1 = 1.634 A at 0.034 N m/A, and an integral that has hardly begun

    high.close()  # the high level goes away: the watchdog, and the program lives on
    rig.lines = b""
    until(lambda: rig.hear().endswith(ZEROS))
    high = rig.open_high()
    drive(rig, high, b"\nc 0 0.055")

    rig.reset.write_bytes(b"0")  # held in reset: silence
    time.sleep(0.05)
    rig.hear()
    rig.lines = b""
    time.sleep(0.05)
    assert rig.hear() == b""
    rig.reset.write_bytes(b"1")
    until(lambda: ZEROS in rig.hear())
    high.write(encode(down_format(ROBOT), (0.6, True, 0.5, 0.0)))  # no 0 before it
    time.sleep(0.05)
    assert set(rig.hear().splitlines()) == set(ZEROS.splitlines())
    drive(rig, high, b"\nc 0 0.055")

    rig.process.send_signal(signal.SIGTERM)
    assert rig.process.wait(20) == 0
    assert rig.hear().endswith(ZEROS)
    assert not rig.high_name.is_symlink()
    high.close()


def test_the_program_in_python_ends_with_0_a_too(tmp_path):
    told = tmp_path / "settings.json"
    told.write_text(ROBOT.to_json())
    command = [sys.executable, "-m", "footfall.realtime.mid_process", "--settings", told]
    rig = Rig(tmp_path, command)
    try:
        until(lambda: ZEROS in rig.hear())
        high = rig.open_high()
        drive(rig, high, b"\nc 0 0.055")
        high.close()
        rig.process.send_signal(signal.SIGTERM)
        assert rig.process.wait(20) == 0
        assert not rig.hear().endswith(ZEROS * 2) and rig.hear().endswith(ZEROS)
    finally:
        rig.close()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), b"--high, --driver and --reset are needed"),
        (("--high",), b"--high needs a value"),
        (("--speed", "9"), b"--speed is no argument"),
        (("--high", "h", "--driver", "/nowhere", "--reset", "r"), b"/nowhere cannot be opened"),
        (
            ("--high", "h", "--reset", "r", *("--driver", "a") * 3),
            b"--driver came 3 times; this was built for boards = 1",
        ),
    ],
)
def test_the_host_program_says_what_is_wrong_with_its_arguments(tmp_path, arguments, words):
    done = subprocess.run(
        [host_program(ROBOT), *arguments], cwd=tmp_path, capture_output=True, timeout=20
    )
    assert done.returncode != 0
    assert words in done.stderr


# The sketch


@pytest.fixture(scope="module")
def board(tmp_path_factory) -> ctypes.CDLL:
    """The sketch, compiled as the Arduino IDE would, on a board in memory."""
    place = tmp_path_factory.mktemp("sketch")
    shutil.copytree(firmware_folder() / "footfall_mid" / "src", place / "src")
    sketch = (firmware_folder() / "footfall_mid" / "footfall_mid.ino").read_text()
    (place / "sketch.cpp").write_text('#include "Arduino.h"\n' + sketch)
    shutil.copy(SUPPORT / "arduino" / "Arduino.h", place)
    shutil.copy(SUPPORT / "arduino" / "board.cpp", place)
    c = firmware_build.find_compiler().command
    cxx = (*c[:-1], "c++") if "ziglang" in c else os.environ.get("CXX", "c++").split()
    warned = ("-O2", "-Wall", "-Wextra", "-Werror", "-fPIC")
    units = sorted(path.name for path in (place / "src").glob("*.c"))
    for unit in units:
        subprocess.run([*c, *warned, "-c", f"src/{unit}"], cwd=place, check=True, timeout=240)
    objects = [unit.replace(".c", ".o") for unit in units]
    command = [
        *cxx,
        *warned,
        "-std=c++17",
        "-I.",
        "-shared",
        "-o",
        "board.so",
        "sketch.cpp",
        "board.cpp",
        *objects,
    ]
    subprocess.run(command, cwd=place, check=True, timeout=240)
    library = ctypes.CDLL(str(place / "board.so"))
    library.board_take.restype = ctypes.c_size_t
    library.board_baud.restype = ctypes.c_uint32
    library.board_setup()
    return library


def taken(board: ctypes.CDLL, line: int) -> bytes:
    buffer = ctypes.create_string_buffer(1 << 16)
    length = board.board_take(line, buffer)
    return buffer.raw[:length]


def start_anew(board: ctypes.CDLL) -> None:
    """The reset pin pulled low for a moment. It sends 0 A, and what it had heard is forgotten."""
    taken(board, HIGH), taken(board, DRIVER)
    board.board_hold_reset(3)


HIGH, DRIVER = 0, 1


def test_the_sketch_passes_bytes_between_its_ports_and_the_program_and_nothing_else(board):
    start_anew(board)
    program, form = MidProgram(ROBOT), down_format(ROBOT)
    to_high = to_driver = b""
    for k in range(2000):
        now = 2**32 - 100_000 + 100 * k
        if k % 100 == 5:
            data = encode(form, (0.6, k > 100, 0.5 + 1e-5 * k, 0.5))
            board.board_give(data, len(data))
            program.receive(data, now)
        board.board_loop(ctypes.c_uint32(now))
        sent = program.step(now)
        to_high, to_driver = to_high + sent.to_high, to_driver + sent.to_driver
    assert taken(board, HIGH) == to_high
    # The first: on being reset.
    assert taken(board, DRIVER) == ZEROS + to_driver
    assert to_driver.count(ZEROS) < 200, "it did drive"


def test_the_sketch_never_waits_for_a_full_line_and_never_sends_half_a_message(board):
    start_anew(board)
    board.board_fill(DRIVER, 10)
    board.board_loop(1_000_000)
    assert taken(board, DRIVER) == b""
    board.board_fill(DRIVER, 64)
    board.board_loop(1_001_000)
    assert taken(board, DRIVER) == ZEROS


def test_the_sketch_in_reset_says_0_a_until_a_full_port_has_taken_it(board):
    taken(board, DRIVER)
    board.board_be_busy(DRIVER, 50)  # looks
    board.board_hold_reset(3)
    board.board_loop(2_000_000)
    assert taken(board, DRIVER) == ZEROS + ZEROS  # then the program's own, which has started anew


def test_the_sketch_looks_at_so_many_bytes_a_turn_and_no_more(board):
    start_anew(board)
    board.board_loop(3_000_000)
    frame = encode(down_format(ROBOT), (0.6, False, 0.5, 0.0))
    flood = b"?" * 512 + frame + encode(down_format(ROBOT), (0.6, True, 0.5, 0.0))
    board.board_give(flood, len(flood))
    board.board_loop(3_000_100)
    assert board.board_waiting() == len(flood) - 512
    board.board_loop(3_000_200)
    assert board.board_waiting() == 0


def test_the_sketch_talks_to_the_driver_fast_enough_for_the_law(board):
    # Bits: two lines of 18 bytes, ten bits each, a thousand times a second.
    needed = 2 * 18 * 10 * 1000
    assert board.board_baud(DRIVER) >= 460_800 > needed


def test_bytes_said_to_a_sketch_in_reset_are_lost(board):
    start_anew(board)
    data = encode(down_format(ROBOT), (0.6, False, 0.5, 0.0)) + encode(
        down_format(ROBOT), (0.6, True, 0.5, 0.0)
    )
    board.board_give(data, len(data))
    board.board_loop(5_000_000)
    taken(board, DRIVER)
    for now in itertools.islice(itertools.count(5_001_000, 1000), 5):
        board.board_loop(now)
    assert taken(board, DRIVER) == ZEROS * 5


def test_a_sketch_that_drives_starts_off_after_a_reset_until_it_is_told_off_and_on(board):
    start_anew(board)
    form, now = down_format(ROBOT), 6_000_000
    board.board_loop(now)
    for on in (False, True, True):
        data = encode(form, (0.6, on, 0.5, 0.0))
        board.board_give(data, len(data))
        board.board_loop(now := now + 1000)
    assert not taken(board, DRIVER).endswith(ZEROS), "it drives"
    board.board_hold_reset(3)
    board.board_give(data, len(data))
    board.board_loop(now := now + 1000)  # in reset: what it is told then is lost
    for _ in range(5):
        board.board_give(data, len(data))
        board.board_loop(now := now + 1000)
    said = taken(board, DRIVER)
    assert said.count(ZEROS) >= 6 and not said.replace(ZEROS, b"")
