"""How a run goes, while it goes: a panel on a terminal, a line a second elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from footfall.machines.control.settings import StackSettings

Status = dict[str, dict[str, Any]]
LINE_EVERY = 1.0  # s
RATE_OVER = 0.5  # s at least: over less, two late words make a loop look twice as fast as it is
_LOOPS = (("high", "supervisor", "cycle"), ("mid", "mid", "due"), ("low", "robot", "ticks"))


class Rates:
    """How fast each loop turned [1/s].

    From words of its program that lie at least RATE_OVER apart.
    """

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, float]] = {}
        self.now: dict[str, float] = {}

    def take(self, status: Status) -> None:
        for loop, program, counter in _LOOPS:
            figures = status[program]
            if "now" not in figures or counter not in figures:
                continue
            moment, count = figures["now"], figures[counter]
            before = self._before.setdefault(loop, (moment, count))
            if moment - before[0] >= RATE_OVER:
                self.now[loop] = (count - before[1]) / (moment - before[0])
                self._before[loop] = (moment, count)


class Dashboard:
    """Use as a context around the run; `show` as often as you like."""

    def __init__(self, console: Console, title: str, settings: StackSettings):
        self._console, self._title, self._settings = console, title, settings
        self._rates = Rates()
        self._live = (
            Live(console=console, refresh_per_second=8, transient=True)
            if console.is_terminal
            else None
        )
        self._line_at = time.monotonic() + LINE_EVERY

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()

    def show(self, status: Status) -> None:
        self._rates.take(status)
        if self._live:
            self._live.update(panel(self._title, self._settings, status, self._rates.now))
        elif (now := time.monotonic()) >= self._line_at:
            self._line_at = now + LINE_EVERY
            self._console.print(line(status, self._rates.now), soft_wrap=True, markup=False)


def line(status: Status, rates: dict[str, float]) -> str:
    """One second in one line."""
    high, mid, robot = status["supervisor"], status["mid"], status["robot"]
    if "t" not in high:
        return "starting"
    loops = " ".join(f"{loop} {rates[loop]:.0f}" for loop, *_ in _LOOPS if loop in rates)
    said = f"t {high['t']:6.1f} s | " + (f"{loops} Hz | " if loops else "")
    said += f"missed {mid.get('missed', '-')} | pitch {_number(high['pitch'], '.3f')} rad"
    said += (
        f" of {high['pitch_setpoint']:.3f} | {_pair(high)} turns/s |"
        f" {_number(high['pid_output'], '.2f')} A"
    )
    said += (
        f" | {_number(high['bus_voltage'], '.1f')} V | records {high['records']} dropped"
        f" {high['dropped_records']}"
    )
    said += f" | FAULT: {high['fault']}" if high["fault"] else ""
    return said + (f" | ROBOT: {_lies(robot)}" if robot.get("failure") else "")


def panel(title: str, settings: StackSettings, status: Status, rates: dict[str, float]) -> Panel:
    """The same as a person at a terminal wants it."""
    high, mid, robot = status["supervisor"], status["mid"], status["robot"]
    table = Table(box=None, show_header=False, padding=(0, 2))
    nominal = {
        "high": settings.high_period_us,
        "mid": settings.mid_period_us,
        "low": settings.low_period_us,
    }
    for loop, period_us in nominal.items():
        if loop in rates:
            table.add_row(
                f"{loop} level",
                f"{rates[loop]:8.1f} Hz",
                f"of {1e6 / period_us:.0f}",
                _timing(loop, status),
            )
    if "t" in high:
        table.add_row("time", f"{high['t']:8.2f} s")
        table.add_row(
            "pitch",
            f"{_number(high['pitch'], '8.4f')} rad",
            f"set point {high['pitch_setpoint']:.4f}",
        )
        table.add_row("motor speed", f"{_pair(high)} turns/s", f"limit {settings.speed_limit:g}")
        table.add_row(
            "PID output",
            f"{_number(high['pid_output'], '8.3f')} A",
            "on" if high["setpoint_on"] else "off",
        )
        table.add_row(
            "battery",
            f"{_number(high['bus_voltage'], '8.2f')} V",
            f"{_number(high['bus_current'], '.2f')} A",
            _currents(robot),
        )
        table.add_row("frames", f"{high['rejected_frames']:8d}", "rejected by the supervisor")
        table.add_row("records", f"{high['records']:8d}", f"dropped {high['dropped_records']}")
        fault = high["fault"]
        table.add_row(
            "motors",
            Text(fault, style="bold red") if fault else Text("on" if high["motors_on"] else "off"),
        )
        if robot.get("failure"):
            table.add_row("robot", Text(_lies(robot), style="bold red"))
    else:
        table.add_row("starting", "..." if not mid else "checks")
    return Panel(table, title=title, title_align="left", expand=False)


def _timing(loop: str, status: Status) -> str:
    match loop:
        case "high":
            return f"late {status['supervisor'].get('late_cycles', 0)}"
        case "mid":
            return f"missed by over 1 ms: {status['mid'].get('missed', 0)}"
    return f"left out {status['robot'].get('slipped', 0)}"


def _currents(robot: dict[str, Any]) -> str:
    currents = robot.get("currents", ())
    return "motors " + ", ".join(f"{current:.2f} A" for current in currents) if currents else ""


def _lies(robot: dict[str, Any]) -> str:
    return f"{robot['failure']}; it lies still until the next run"


def _pair(high: dict[str, Any]) -> str:
    speeds = (high["motor_vel_l"], high["motor_vel_r"])
    return " ".join(_number(speed, "6.2f") for speed in speeds if speed is not None) or "unknown"


def _number(value: float | None, form: str) -> str:
    return "unknown" if value is None else format(value, form)
