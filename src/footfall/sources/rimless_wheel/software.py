"""Section 3: the three programs, their rates and lines, drawn from the stack's own table."""

import functools
from collections.abc import Iterable

from footfall.machines import robots
from footfall.machines.control.settings import StackSettings
from footfall.pictures.block_diagram import Block, Wire, block_diagram
from footfall.pictures.style import Style
from footfall.realtime.plant import stack_settings
from footfall.realtime.task_table import DEVICES, Line, Task, lines, rate_words, tasks
from footfall.sources.item import Made, Value

#: Printed rates of lines [Hz], by their ends.
_RATES = {
    ("high", "mid"): 100.0,
    ("mid", "high"): 100.0,
    ("high", "low"): 100.0,
    ("low", "high"): 100.0,
    ("mid", "low"): 1000.0,
}


@functools.cache
def _settings() -> StackSettings:
    return stack_settings(robots.rimless_wheel_3d_closed_loop())


def rates(style: Style) -> Made:
    """How often each level runs."""
    del style
    stack = robots.rimless_wheel_3d_closed_loop().stack
    rows = (
        ("high level, Raspberry Pi", stack.high_period, 100.0, 0.5),
        ("mid level, Teensy", stack.mid_period, 1000.0, 0.5),
        ("low level, ODrive (around 4 kHz)", stack.low_period, 4000.0, 500.0),
    )
    return Made(
        tuple(
            Value(what, 1.0 / period, "Hz", said, tolerance)
            for what, period, said, tolerance in rows
        )
    )


def _of(program: str) -> list[Task]:
    return [task for task in tasks(_settings()) if task.program == program]


def _numbered(steps: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{k}. {words}" for k, words in enumerate(steps, 1))


def _wire_words(line: Line) -> str:
    rate = "" if line.period_us is None else f", {rate_words(line.period_us)}"
    return f"{line.carries}\n{line.medium}{rate}"


def hierarchy(style: Style) -> Made:
    """Figure 4."""
    settings = _settings()
    periods = {
        "high": settings.high_period_us,
        "mid": settings.mid_period_us,
        "low": settings.low_period_us,
    }
    kinds = {"once": "", "loop": ""}
    does = {p: [t.name + kinds.get(t.kind, f", a {t.kind}") for t in _of(p)] for p in DEVICES}
    does["low"] = [f"{li.carries} of the {li.end}" for li in lines(settings) if li.end == "motors"]
    blocks = {
        program: Block(
            f"{program} level: {device}, {rate_words(periods[program])}",
            (0.0, float(row)),
            tuple(does[program]),
            ("leg", "target", "motor")[row],
            0.9,
            0.34 + 0.1 * len(does[program]),
        )
        for row, (program, device) in enumerate(DEVICES.items())
    }
    wires = [Wire("high", "mid"), Wire("mid", "high"), Wire("mid", "low")]
    title = "Fig 4. Software hierarchy"
    narrow = style._replace(width=0.45 * style.width)
    return Made(picture=block_diagram(blocks, wires, title, narrow, row=1.4))


def communication(style: Style) -> Made:
    """Figure 5, with what each line carries, how often, and how many bytes that is."""
    every = lines(_settings())
    places = {
        "joystick": ("Joystick", (0.0, -0.1), "mark"),
        "imu": ("Orientation sensor", (0.0, 1.1), "mark"),
        "high": (DEVICES["high"], (1.3, 0.5), "leg"),
        "mid": (DEVICES["mid"], (2.9, -0.35), "target"),
        "low": (DEVICES["low"], (2.9, 1.35), "motor"),
        "motors": ("Motors", (4.0, 1.35), "joint"),
    }
    blocks = {
        name: Block(title, place, (), color, 0.72, 0.24)
        for name, (title, place, color) in places.items()
    }
    regular = [line for line in every if line.carries != "reset"]
    wires = [Wire(line.start, line.end, _wire_words(line)) for line in regular]
    values = []
    for line in regular:
        if line.period_us is None or (line.start, line.end) not in _RATES:
            continue
        name = f"{line.carries}, {places[line.start][0]} to {places[line.end][0]}"
        said = _RATES[line.start, line.end]
        values.append(Value(f"{name}: rate", 1e6 / line.period_us, "Hz", said, 0.5))
        if line.example:
            values.append(Value(f"{name}: sent", line.bytes_per_second, "bytes/s"))
        if line.load is not None:
            values.append(Value(f"share of its {line.baud} baud", line.load))
    title = "Fig 5. Communication"
    return Made(tuple(values), block_diagram(blocks, wires, title, style, row=1.7))


def _task_block(task: Task, place: tuple[float, float], color: str, wide: float) -> Block:
    kind = f"a {task.kind}" if task.kind in ("thread", "process") else task.kind
    title = f"{task.name[0].upper()}{task.name[1:]}, {task.rate if task.period_us else kind}"
    steps = _numbered(step.words for step in task.steps)
    return Block(title, place, steps, color, wide, 0.22 + 0.085 * len(steps))


def pi_program(style: Style) -> Made:
    """Figure 6."""
    start, loop, joystick, log = _of("high")
    blocks = {
        "start": _task_block(start, (1.0, 0.0), "target", 0.8),
        "loop": _task_block(loop, (1.0, 0.95), "leg", 0.8),
        "joystick": _task_block(joystick, (0.0, 0.95), "mark", 0.72),
        "log": _task_block(log, (2.0, 0.95), "motor", 0.72),
    }
    wires = [
        Wire("start", "loop", "all well"),
        Wire("joystick", "loop", "wishes"),
        Wire("loop", "log", "records"),
    ]
    title = "Fig 6. Program of the Raspberry Pi"
    return Made(picture=block_diagram(blocks, wires, title, style, row=2.2))


def teensy_program(style: Style) -> Made:
    """Figure 7."""
    settings = _settings()
    loop, messages = _of("mid")
    down, up, commands = (
        next(one for one in lines(settings) if (one.start, one.end) == ends and one.example)
        for ends in (("high", "mid"), ("mid", "high"), ("mid", "low"))
    )
    blocks = {
        "messages": _task_block(messages, (1.15, 0.0), "target", 0.8),
        "loop": _task_block(loop, (1.15, 0.62), "leg", 0.8),
        "high": Block(DEVICES["high"], (-0.35, 0.3), (), "quiet", 0.5, 0.2),
        "low": Block(DEVICES["low"], (2.3, 0.62), (), "quiet", 0.4, 0.2),
    }
    one = down.example[: len(down.example) // settings.frame_copies]
    wires = [
        Wire("high", "messages", one.decode()),
        Wire("messages", "loop", "newest whole message"),
        Wire("loop", "high", up.example.decode()),
        Wire("loop", "low", commands.example.decode().strip().replace("\n", "\\n ")),
    ]
    title = "Fig 7. Program of the Teensy"
    values = (
        Value("PID period", settings.mid_period_us * 1e-6, "s", 1e-3, 0.0),
        Value("bytes of a message to the Teensy", float(len(one))),
        Value("bytes of two commands", float(len(commands.example))),
    )
    return Made(values, block_diagram(blocks, wires, title, style, row=2.0))
