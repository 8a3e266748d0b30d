"""A sketch for a scenario with its controller: what the page says, from ff.linearise to C."""

import ctypes
import dataclasses
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are

import footfall as ff
import footfall.scenario.trust as trusting
from footfall.machines.control.digital_pid import DigitalPid
from footfall.machines.control.framing import down_format, encode
from footfall.machines.control.settings import StackSettings
from footfall.realtime.firmware_build import FLAGS, CannotBuild, core_sources, find_compiler
from footfall.realtime.firmware_config import config_header
from footfall.realtime.firmware_sketch import sketch
from footfall.realtime.own_law import mid_program, require_prompt
from footfall.realtime.plant import stack_settings
from footfall.scenario.errors import ScenarioError
from support.commands import several

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-controller.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
ROBOT = "rimless-wheel-closed-loop"
CHIP = Path(__file__).parents[1] / "support" / "cortex_m7"
#: Teensyduino's.
CORTEX_M7 = (
    *("-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-d16", "-mthumb"),
    *("-O2", "-Wall", "-Wextra", "-Werror"),
)


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """The wheel with the LQR of the page, loaded, and its folder."""
    folder = tmp_path_factory.mktemp("lqr")
    (folder / "my_lqr.py").write_text(BLOCKS[-1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trusting, "cache_folder", lambda: folder / "cache")
        patch.setattr(trusting, "_here", {"folders": [], "code": []})
        patch.chdir(folder)
        yield ff.load(ROBOT, ["controller=my_lqr.py:Lqr"], trust=True, duration=4), folder


def written(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def test_the_gains_of_the_page_are_those_of_the_linearised_wheel():
    names = {}
    exec(BLOCKS[-2].replace("print(B.T @ P)", "K = B.T @ P"), names)
    told = np.array(eval(re.search(r"^K = np.array\((.*?)\)", BLOCKS[-1], re.M)[1]))
    np.testing.assert_allclose(names["K"], told, rtol=2e-3)
    assert solve_continuous_are is names["solve_continuous_are"]


@pytest.fixture(scope="module")
def walk(own):
    return ff.simulate(own[0])


def test_the_lqr_walks_the_wheel_in_lockstep(walk):
    assert walk.outcome.name == "reached_end" and len(walk.events_named("footfall")) > 12
    # At the set point of 0.6 rad the shipped law has 0.59 m/s (3 %).
    assert walk.metrics["mean_speed"] == pytest.approx(0.59, rel=0.08)


class Memory(ctypes.Structure):
    _fields_ = (
        ("own_started", ctypes.c_bool), *((f"own_{n}", ctypes.c_float) for n in ("rate", "previous", "summed")),
        ("last_us", ctypes.c_uint32), ("started", ctypes.c_bool), ("previous", ctypes.c_float),
        ("output", ctypes.c_float),
    )  # fmt: skip


def test_the_law_of_the_sketch_gives_the_bits_of_single_precision(own, tmp_path):
    experiment, _ = own
    folder = written(tmp_path / "lqr", sketch(experiment.system, "lqr"))
    assert (folder / "lqr.ino").exists()
    units = sorted(str(path) for path in (folder / "src").glob("*.c"))
    library = folder / "lqr.so"
    command = [*find_compiler().command, *FLAGS, "-fPIC", "-shared", "-o", str(library), *units]
    subprocess.run([*command, "-lm"], check=True, timeout=240)
    core = ctypes.CDLL(str(library))
    core.ff_pid_update.restype = ctypes.c_bool
    core.ff_pid_update.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_uint32] + [ctypes.c_float] * 2
    settings = stack_settings(experiment.system)
    gains = (ctypes.c_float * 5).in_dll(core, "ff_built_for")  # in the order of the header
    one, memory = np.float32, Memory()
    per_ampere = one(float(experiment.system.gains.per_ampere))
    assert list(gains) == [one(0.01), one(0.25), 14.0, per_ampere, settings.current_limit]
    core.ff_pid_clear(ctypes.byref(memory))
    draw, now, last = np.random.default_rng(5), 2**32 - 60_000, None
    rate, before, summed, output, calculations = one(0), None, one(0), one(0), 0
    for _ in range(400):
        now += int(draw.choice([250, 999, 1000, 1001, 2500]))
        wanted, measured = draw.normal(0.6, 0.05, 2).astype(np.float32)
        due = last is None or now - last >= 1000
        assert (
            core.ff_pid_update(
                ctypes.addressof(gains), ctypes.byref(memory), now % 2**32, wanted, measured
            )
            == due
        )
        if due:
            last, step = now, one(0.001)
            raw = one(0) if before is None else (measured - before) / step
            rate = rate + step / (one(0.01) + step) * (raw - rate)
            error, before = measured - wanted, measured
            summed = np.clip(summed + error * step, -one(0.25), one(0.25))
            torque = -(one(6.96) * error + one(0.541) * rate + one(7.75) * summed)
            output = np.clip(torque, -one(14), one(14)) / per_ampere
            calculations += 1
        assert (memory.output, memory.own_summed, memory.own_rate) == (output, summed, rate)
    assert calculations > 150 and now > 2**32, "the clock did wrap"


@pytest.fixture(scope="module")
def answered(own, walk, tmp_path_factory):
    """The sketch's folder, with the lockstep walk's pitches as frames, 100 a second (the law looks
    every millisecond), and what the program sent on this machine. And those steps, as pairs.
    """
    experiment, _ = own
    folder = written(tmp_path_factory.mktemp("sketch"), sketch(experiment.system, "lqr")) / "src"
    form = down_format(stack_settings(experiment.system))
    pitches = walk["computer.pitch"][np.searchsorted(walk.t, np.arange(0.0, 3.5, 0.01))]
    steps, now = [], 2**32 - 1_000_000
    for k, pitch in enumerate(pitches):
        frame = encode(form, (0.6, k > 3, float(pitch), 0.0)[: len(form.fields)])
        for tick in range(10):
            steps.append((now, b"" if tick else frame))
            now += 1000
    shutil.copy(CHIP / "main.c", folder)
    (folder / "steps.bin").write_bytes(
        b"".join(
            (now % 2**32).to_bytes(4, "little") + bytes([len(data)]) + data for now, data in steps
        )
    )
    units = sorted(path.name for path in folder.glob("*.c"))
    host = [*find_compiler().command, *FLAGS, *units, "-o", "host", "-lm"]
    subprocess.run(host, cwd=folder, check=True, timeout=240)
    subprocess.run([folder / "host"], cwd=folder, check=True, timeout=60)
    return folder, steps, (folder / "sent.bin").read_bytes()


def test_the_sketch_drives_as_the_lockstep_walk_did(answered, walk):
    folder, steps, sent = answered
    currents = [float(word) for word in re.findall(rb"c 0 (-?[\d.]+)", sent)]
    assert len(currents) == len(steps)  # one a millisecond, 0 A while it is off
    constants = (folder / "footfall_config.h").read_text()
    scale = float(re.search(r"FF_TORQUE_CONSTANT ([\d.]+)f", constants)[1])  # N m/A
    assert max(currents) == pytest.approx(scale * np.max(walk["computer.output"]), rel=0.3)


def test_the_program_in_python_sends_the_bytes_of_the_sketch(own, answered):
    _, steps, sent = answered
    # As it reaches another process: by the settings.
    settings = StackSettings.from_json(stack_settings(own[0].system).to_json())
    program, ours = mid_program(settings), bytearray()
    for now, data in steps:
        program.receive(data, now)
        up, down = program.step(now)
        ours += bytes([len(up), len(down)]) + up + down
    assert ours == sent


@pytest.mark.skipif(
    not (shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm")),
    reason="apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm",
)
def test_on_an_emulated_chip_the_sketch_answers_the_walk_as_on_this_machine(answered):
    folder, _, expected = answered
    units = sorted(path.name for path in folder.glob("*.c"))
    (folder / "sent.bin").unlink()
    shutil.copy(CHIP / "start.c", folder)
    linked = ("--specs=rdimon.specs", "-Wl,--section-start=.vectors=0")
    arm = ["arm-none-eabi-gcc", *CORTEX_M7, *linked, *units, "start.c", "-o", "chip"]
    subprocess.run(arm, cwd=folder, check=True, timeout=60)
    board = ("-M", "mps2-an500", "-nographic", "-monitor", "none", "-serial", "none")
    files = ("-semihosting-config", "enable=on,target=native")
    emulator = ["qemu-system-arm", *board, *files, "-kernel", "chip"]
    subprocess.run(emulator, cwd=folder, check=True, timeout=60)
    assert (folder / "sent.bin").read_bytes() == expected


def test_a_law_that_is_too_slow_for_its_period_is_refused(own):
    settings = stack_settings(own[0].system)
    require_prompt(settings)  # the page's takes microseconds
    law = settings.gains
    idle = "    for (volatile long k = 0; k < 2000000; k++) { }\n"  # a millisecond, at the least
    slow = law.source.replace("\n{\n", "\n{\n" + idle)
    assert slow != law.source
    slowed = dataclasses.replace(settings, gains=law._replace(source=slow))
    with pytest.raises(
        CannotBuild, match=r"Lqr in my_lqr.py: a call takes \d+ us .* every 1000 us"
    ):
        require_prompt(slowed)


def test_a_law_beyond_the_drivers_limit_is_held_at_it(own):
    """The frame that tells the output has room for no more."""
    settings = stack_settings(own[0].system)
    numbers = settings.gains.numbers | {"limit": 1e6}
    law = settings.gains._replace(numbers=numbers)
    program = mid_program(dataclasses.replace(settings, gains=law))
    for on in (False, True):
        program.take(1.5, on, -3.0, 0.0, 0)
    assert program.step(0).to_high and program.output == settings.current_limit == 40.0


@pytest.mark.parametrize(
    "change, words",
    [
        ({"numbers": {"gain": 1.0}}, "per_ampere, output_limit, period_us come last"),
        ({"numbers": None}, "come last"),
        ({"numbers": {"gain": "1"}}, r"gains.gain = 1: the law's C holds finite numbers"),
        ({"numbers": {"per_ampere": 0.0}}, "both are positive"),
        ({"memory": {"rate": "float64"}}, r"one of float32, int32, uint32, bool"),
        ({"source": 3}, "are texts"),
    ],
)
def test_settings_with_a_law_that_none_can_be_are_refused(own, change, words):
    told = json.loads(stack_settings(own[0].system).to_json())
    if (numbers := change.get("numbers")) and "come last" not in words:
        before = told["gains"]["numbers"]
        new = {name: value for name, value in numbers.items() if name not in before}
        change = {"numbers": new | before | numbers}
    with pytest.raises(ValueError, match=words):
        StackSettings.from_json(json.dumps(told | {"gains": told["gains"] | change}))


def test_the_shipped_law_gives_the_shipped_sources_and_the_scenarios_constants(own, tmp_path):
    system = ff.load(ROBOT, ["controller.proportional=5"]).system
    assert isinstance(system.controller, DigitalPid)
    files, core = sketch(system, "wheel"), core_sources()
    assert set(files) == {"wheel.ino", *(f"src/{name}" for name in core)}
    changed = {name for name, text in core.items() if files[f"src/{name}"] != text}
    assert changed == {"footfall_config.h"}
    assert files["src/footfall_config.h"] == config_header(stack_settings(system))


def test_a_parameter_with_a_name_of_the_firmwares_own_is_refused(own, monkeypatch):
    folder = own[1]
    monkeypatch.chdir(folder)
    text = BLOCKS[-1].replace("filter_time", "period_us")
    (folder / "clash.py").write_text(text)
    system = ff.load(ROBOT, ["controller=clash.py:Lqr"], trust=True).system
    with pytest.raises(ScenarioError, match=r"Lqr\.period_us is a name that the firmware's law"):
        sketch(system, "clash")


def test_the_command_writes_a_folder_once(tmp_path):
    command = ["stack", "firmware", "rimless-wheel", "--out"]
    done, again, odd = several(
        [[*command, "wheel"], [*command, "wheel"], [*command, "my sketch"]], tmp_path
    )
    assert done.status == 0, done.err
    assert (tmp_path / "wheel" / "wheel.ino").exists()
    assert (tmp_path / "wheel" / "src" / "footfall_config.h").exists()
    assert again.status == 2 and "is there already; nothing was written" in again.err
    assert odd.status == 2 and not (tmp_path / "my sketch").exists()
