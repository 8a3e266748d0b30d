"""`footfall stack run`: the control stack against the clock.

On an emulated robot or on a real one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import shlex
import shutil
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from footfall.cli import stopping
from footfall.cli.folders import fresh_folder
from footfall.cli.phases import Phases
from footfall.cli.screen import err, fail, note, out
from footfall.machines.control.drive_table import DriveTable
from footfall.machines.control.operator_sources import SETPOINT_STEP
from footfall.machines.control.settings import StackSettings
from footfall.realtime.dashboard import Dashboard
from footfall.realtime.fall import falls_in_lockstep, why_it_fell
from footfall.realtime.joystick import require_layout
from footfall.realtime.launcher import (
    Emulation,
    LaunchError,
    Operation,
    Ports,
    StackProcesses,
    firmware_mid,
    program,
    python_mid,
)
from footfall.realtime.names import RunFolder
from footfall.realtime.ros_link import ros_missing
from footfall.realtime.serial_port import PortError
from footfall.realtime.stack_log import StackLog, StackLogError, read_stack_log
from footfall.record.run_folder import FolderError, require_writable
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import find_scenario, load, read_toml, with_computer
from footfall.scenario.own_code import names_code

SHORTEST = 2.0  # s: to switch on, to walk, to switch off
LONGEST_SCRIPT = 1_000_000  # bytes; a script is a page of text
#: Values of a scenario's `stack` that describe a simulated computer: here a real one keeps its own
#: time and loses its own messages.
LOCKSTEP_ONLY = frozenset(
    [
        "frame_loss",
        "command_loss",
        "pitch_noise",
        "pitch_delay",
        "pitch_step",
        "current_step",
        "high_jitter",
        "mid_jitter",
        "high_offset",
        "mid_offset",
        "switch_on",
        "steer_current",
        "seed",
        "queue",
        "resolution",
    ]
)


@dataclasses.dataclass(frozen=True)
class StackRequest:
    """What was asked for on the command line."""

    name: str
    settings: Sequence[str] = ()
    duration: float | None = None  #: s
    script: str | None = None
    joystick: str | None = None
    replay_operator: str | None = None
    ros: bool = False
    mid: str = "python"
    noise: float = 0.0
    sensor_noise: float = 0.0  #: rad
    seed: int = 0
    port: str | None = None
    imu_port: str | None = None
    driver_port: Sequence[str] = ()  #: one for each board of the motor driver
    driver_serial: Sequence[str] = ()
    reset_gpio: str | None = None
    priority: bool = True
    out: str | None = None
    force: bool = False
    as_json: bool = False
    dashboard: bool = True


def run_stack(request: StackRequest) -> int:
    """The command. 0: it ended as planned, without a fault."""
    _end_by_signals()
    check(request)
    operation = _operation(request)
    if unused := without_effect(request.settings):
        note(
            f"without effect here, lockstep only (`footfall run`): {', '.join(unused)}. Garble the"
            " line with --noise, the pitch with --sensor-noise; switch on and steer with --script."
        )
    folder = (
        Path(request.out)
        if request.out
        else fresh_folder("runs", f"stack-{Path(request.name).stem}")
    )
    require_writable(folder, force=request.force)
    stopping.begin()
    with _old_one_aside(folder):
        return _run(request, folder, operation)


def run_devices(request: StackRequest) -> int:
    """The emulated devices alone, until Ctrl-C; a supervisor is somebody else's."""
    _end_by_signals()
    check(request)
    folder = (
        Path(request.out)
        if request.out
        else fresh_folder("runs", f"devices-{Path(request.name).stem}")
    )
    require_writable(folder, force=False)
    stopping.begin()
    changes = [word for setting in request.settings for word in ("--set", setting)]
    try:
        with StackProcesses(
            folder,
            request.name,
            lambda run, settings: [],
            changes=request.settings,
            priority=request.priority,
        ) as processes:
            with Phases("starting the robot (the first time its equations are compiled)"):
                settings, ports = processes.start_devices(emulation(request, terminals=True))
            command = [
                *("footfall", "stack", "run", request.name, *changes),
                *("--port", ports.mid, "--imu-port", ports.imu),
                *(word for driver in ports.drivers for word in ("--driver-port", driver)),
                *("--reset-gpio", str(ports.reset)),
                *("--set", f"stack.reply_limit={ports.reply_limit}"),
            ]
            script = processes.folder.script
            script.write_text(built_in_script(20.0, settings))
            command += ["--script", str(script)]
            out.print(
                f"Emulated devices of {request.name}, until Ctrl-C. From another terminal:\n"
                f"    {shlex.join(command)}",
                soft_wrap=True,
                markup=False,
            )
            with contextlib.suppress(KeyboardInterrupt):
                while processes.lost is None:
                    processes.poll(0.2)
            lost = processes.lost
    except LaunchError as error:
        fail(str(error))
        return 2
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if lost is not None:
        fail(f"the {lost} process ended.")
    return 0 if lost is None else 1


def _end_by_signals() -> None:
    """As Ctrl-C does: a terminal that is closed must not leave a robot walking."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


@contextlib.contextmanager
def _old_one_aside(folder: Path) -> Iterator[None]:
    """A run folder that --force overwrites goes only once the new run has left something in its
    place.
    """
    old = folder.with_name(f".{folder.name}-old-{os.getpid()}")
    if folder.exists():
        folder.rename(old)
    try:
        yield
    finally:
        if old.exists() and not folder.exists():
            old.rename(folder)
        shutil.rmtree(old, ignore_errors=True)


def _run(request: StackRequest, folder: Path, operation: Operation) -> int:
    try:
        processes = StackProcesses(
            folder,
            request.name,
            operation,
            changes=request.settings,
            priority=request.priority,
            noise=request.noise,
            seed=request.seed,
        )
    except OSError as error:
        raise FolderError(f"{folder} cannot be made: {error.strerror}.") from None
    interrupted, lost = False, None
    try:
        with processes:
            with Phases("starting the robot (the first time its equations are compiled)"):
                settings = _start(request, processes)
            with Dashboard(err, f"{request.name}: {folder}", settings) as dashboard:
                try:
                    while processes.running:
                        processes.poll(0.1)
                        if request.dashboard:
                            dashboard.show(processes.status)
                    lost = processes.lost
                except KeyboardInterrupt:
                    interrupted = True
    except (LaunchError, ScenarioError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        fail(str(error))
        return 2
    except KeyboardInterrupt:  # before it began
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if lost is not None:
        fail(
            f"the {lost} process ended in the middle of the run:"
            f" {processes.children[lost].last_words() or 'without a word'}"
        )
    return _report(request, processes, interrupted)


def without_effect(settings: Sequence[str]) -> list[str]:
    """Of these KEY=VALUE, the keys that only lockstep knows."""
    keys = [text.partition("=")[0].strip() for text in settings]
    parts = {key: key.split(".") for key in keys}
    return [
        key
        for key, (*tables, name) in parts.items()
        if name in LOCKSTEP_ONLY and tables[-1:] in ([], ["stack"])
    ]


def check(request: StackRequest) -> None:
    """What can be said before anything is started."""
    _require_scenario(request.name, request.settings)
    sources = {
        "--script": request.script,
        "--joystick": request.joystick,
        "--replay-operator": request.replay_operator,
        "--ros": request.ros or None,
    }
    real = (
        request.port,
        request.imu_port,
        request.driver_port or None,
        request.driver_serial or None,
        request.reset_gpio,
    )
    if any(value is not None for value in real):
        if (
            request.port is None
            or request.imu_port is None
            or bool(request.driver_port) == bool(request.driver_serial)
        ):
            raise ScenarioError(
                "A real robot needs --port (Teensy), --imu-port (pitch sensor), and either"
                " --driver-port or --driver-serial."
            )
        if len(request.driver_serial) > 1 and "" in request.driver_serial:
            raise ScenarioError(
                "--driver-serial: of two boards each is named by its number; odrivetool tells it."
            )
        if request.noise or request.sensor_noise:
            raise ScenarioError(
                "--noise and --sensor-noise are for the emulated robot; a real one makes its own."
            )
        if all(source is None for source in sources.values()):
            raise ScenarioError(
                "A real robot needs somebody to operate it: --joystick DEVICE, or --script FILE"
                " with lines of your own (`0.3 motors-on`), or --ros. The built-in script, which"
                " switches the motors on by itself, is for the emulated one."
            )
    if sum(source is not None for source in sources.values()) > 1:
        raise ScenarioError(f"Only one of {', '.join(sources)} can operate the robot.")
    _require_operator(request)
    if request.mid not in ("python", "firmware"):
        raise ScenarioError(
            f"--mid {request.mid}: expected python, or firmware (the Teensy's program built for"
            " this machine)."
        )
    if not 0.0 <= request.noise < 1.0:
        raise ScenarioError(
            f"--noise {request.noise:g}: expected the share of bytes to garble, such as 0.01."
        )
    if not (math.isfinite(request.sensor_noise) and request.sensor_noise >= 0.0):
        raise ScenarioError(
            f"--sensor-noise {request.sensor_noise:g}: expected a standard deviation in rad, such"
            " as 0.002; 0 is none."
        )
    if request.duration is not None and not (
        math.isfinite(request.duration) and request.duration >= SHORTEST
    ):
        raise ScenarioError(
            f"--duration {request.duration:g}: expected seconds, at least {SHORTEST:g}."
        )


def _require_scenario(name: str, settings: Sequence[str]) -> None:
    """A scenario by this name or, shipped, the one with a computer.

    What is in it is for the robot process to judge; but whether code of somebody's own may run is
    asked here, where there is somebody to ask.
    """
    said = read_toml(find_scenario(with_computer(name)))
    if _names_code(said) or any(names_code(setting.partition("=")[2]) for setting in settings):
        load(with_computer(name), list(settings))


def _names_code(said: Any) -> bool:
    """Whether some part in a scenario's tables is of a file of code."""
    tables = [value for value in said.values() if isinstance(value, dict)]
    return names_code(said.get("kind")) or any(map(_names_code, tables))


def _require_operator(request: StackRequest) -> None:
    if request.ros and (missing := ros_missing()):
        raise ScenarioError(missing)
    try:
        if request.joystick is not None:
            require_layout(Path(request.joystick))
        if request.replay_operator is not None:
            read_stack_log(request.replay_operator)
    except PortError as error:
        raise ScenarioError(f"--joystick: {error}") from None
    except StackLogError as error:
        raise ScenarioError(f"--replay-operator: {error}") from None


def read_script(path: str) -> str:
    """The text of a script, or a ScenarioError.

    Read once and before anything is started: it may be a pipe.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(LONGEST_SCRIPT + 1)
        if len(data) > LONGEST_SCRIPT:
            raise ScenarioError(
                f"--script {path}: over {LONGEST_SCRIPT / 1e6:g} MB is too long for a script."
            )
        return data.decode()
    except FileNotFoundError:
        raise ScenarioError(f"--script {path}: there is no such file.") from None
    except (OSError, ValueError) as error:  # a folder, no permission; a name or a text that is none
        why = (
            "cannot be read"
            if not isinstance(error, UnicodeDecodeError)
            else "this is not a text file"
        )
        why += f" ({error.strerror})" if isinstance(error, OSError) else ""
        raise ScenarioError(
            f"--script {path}: {why}. Expected lines such as `0.3 motors-on`."
        ) from None


def _operation(request: StackRequest) -> Operation:
    """Who operates."""
    script = None if request.script is None else read_script(request.script)
    table = _drive_table(request) if request.ros else None

    def arguments(folder: RunFolder, settings: StackSettings) -> list[str]:
        limit = [] if request.duration is None else ["--duration", str(request.duration)]
        if request.joystick is not None:
            return ["--joystick", request.joystick, *limit]
        if request.replay_operator is not None:
            return ["--replay", request.replay_operator, *limit]
        if table is not None:
            folder.speeds.write_text(table.to_json())
            return ["--ros", str(folder.speeds), *limit]
        if script is not None:
            folder.script.write_text(script)
        else:
            folder.script.write_text(built_in_script(request.duration or 20.0, settings))
            limit = []  # it ends itself
        return ["--script", str(folder.script), *limit]

    return arguments


def _drive_table(request: StackRequest) -> DriveTable:
    """How fast the robot walks at each set point and steering current."""
    from footfall.realtime.drive_speeds import drive_table

    with Phases("walking at each set point, for the table of speeds"):
        return drive_table(load(with_computer(request.name), list(request.settings)))


def built_in_script(duration: float, settings: StackSettings) -> str:
    """Motors on, walk, a small change of the set point half way, stop."""
    changed = min(settings.setpoint + SETPOINT_STEP, settings.setpoint_limit)
    return f"0.3 motors-on\n0.6 run\n{duration / 2:g} setpoint {changed:g}\n{duration:g} stop\n"


def _start(request: StackRequest, processes: StackProcesses) -> StackSettings:
    if request.port is not None and request.imu_port is not None:
        from footfall.realtime.plant import load_plant

        settings = load_plant(request.name, request.settings).settings
        ports = Ports(
            request.port,
            request.imu_port,
            request.driver_port,
            request.driver_serial or ("",),
            reset=request.reset_gpio,
        )
        processes.start_on_hardware(settings, ports)
        return settings
    if request.as_json is False and not err.is_terminal:
        note("starting the emulated robot (the first time its equations are compiled)")
    return processes.start_emulated(emulation(request))


def emulation(request: StackRequest, *, terminals: bool = False) -> Emulation:
    """The devices asked for."""
    noise = ["--sensor-noise", str(request.sensor_noise), "--seed", str(request.seed)]
    robot = [*program("robot_process"), *noise]
    mid = firmware_mid if request.mid == "firmware" else python_mid
    return Emulation(robot, mid, terminals=terminals)


def _report(request: StackRequest, processes: StackProcesses, interrupted: bool) -> int:
    supervisor = processes.children["supervisor"]
    status = processes.exit_statuses()["supervisor"]
    if not processes.folder.log.exists():
        fail(
            supervisor.last_words() or f"the supervisor ended with status {status} before it began"
        )
        # Nothing ran: there is nothing to keep.
        shutil.rmtree(processes.folder.path, ignore_errors=True)
        return stopping.STATUS if interrupted else 2
    try:
        log, log_error = read_stack_log(processes.folder.log), ""
    except StackLogError as error:
        log, log_error = None, str(error)
    summary = summarise(request, processes, log)
    if log is None:
        summary["log_error"] = log_error
    processes.folder.summary.write_text(json.dumps(summary, indent=2, allow_nan=False) + "\n")
    if log is not None:
        _show_robot(request, log)
    if request.as_json:
        out.print(json.dumps(summary, allow_nan=False), soft_wrap=True, markup=False)
    else:
        _print(summary)
    for name, child in processes.children.items():
        if words := child.last_words():
            note(f"{name} said: {words}")
    if interrupted:
        return stopping.kept(f"the log, in {processes.folder.path}")
    planned = status == 0 and not summary.get("failure") and "log_error" not in summary
    return 0 if planned else max(status or 1, 1)


def _show_robot(request: StackRequest, log: StackLog) -> None:
    """Put the robot itself into the log, where viewers see it."""
    try:
        with Phases("putting the robot into its log"):
            from footfall.realtime.stack_poses import add_poses

            add_poses(log, load(with_computer(request.name), list(request.settings)))
    except (ScenarioError, OSError, ValueError) as error:
        note(f"the robot itself is not in the log, only its numbers: {error}")


def summarise(
    request: StackRequest, processes: StackProcesses, log: StackLog | None
) -> dict[str, Any]:
    """What the programs said of themselves, and what their log holds."""
    high, mid, robot = (processes.status[name] for name in ("supervisor", "mid", "robot"))
    summary: dict[str, Any] = {
        "scenario": request.name,
        "ending": high.get("ending", "the supervisor was killed"),
        "faults": high.get("faults", []),
        "cycles": high.get("cycles"),
        "late_cycles": high.get("late_cycles"),
        "dropped_records": high.get("dropped_records"),
        "priority": processes.priorities(),
        "log": str(processes.folder.log),
        "exit": processes.exit_statuses(),
    }
    if "due" in mid:
        summary["mid"] = {
            "program": request.mid,
            "deadlines": mid["due"],
            "missed_by_over_1_ms": mid["missed"],
        }
    if "ticks" in robot:
        summary["low"] = {"ticks": robot["ticks"], "left_out": robot["slipped"]}
        summary["failure"] = robot["failure"]
    if log is None:
        return summary
    summary["records"] = len(log)
    if processes.fall.fell_at is not None and "t" in high and len(log) > 1:
        summary["fall"] = _fall(request, processes, log, high["t"] - high["now"])
    if log["setpoint_on"].any():
        summary["walked"] = walked(log)
    return summary


def _fall(
    request: StackRequest, processes: StackProcesses, log: StackLog, log_less_clock: float
) -> dict[str, Any]:
    """When the robot fell, and whether for lateness or by its gait."""
    watch = processes.fall
    assert watch.fell_at is not None
    t = watch.fell_at + log_less_clock
    with Phases("asking whether it falls in lockstep too"):
        cause, why = why_it_fell(
            watch.lateness,
            falls_in_lockstep(log, request.name, request.settings, t),
            bool(request.noise or request.sensor_noise),
        )
    return {"t": t, "cause": cause, "why": why, **watch.lateness._asdict()}


def walked(log: StackLog) -> dict[str, Any]:
    """Figures of the cycles in which the law was on, of which there is one at least."""
    on = log["setpoint_on"]
    return {
        "seconds": int(on.sum()) * log.settings.high_period_us * 1e-6,
        "mean_motor_speed": [_mean(log["motor_vel_l"][on]), _mean(log["motor_vel_r"][on])][
            : log.settings.motors
        ],
        "mean_pitch": _mean(log["pitch"][on]),
        "mean_bus_current": _mean(log["bus_current"][on]),
        "rejected_frames": int(log["rejected_frames"][-1]),
    }


def _mean(values: Any) -> float | None:
    known = values[values == values]
    return float(known.mean()) if len(known) else None


_CAUSES = {
    "gait": "its gait",
    "lateness": "lateness",
    "noise": "the noise asked for",
    "unknown": "neither lateness nor its gait",
}


def _granted(priority: dict[str, bool]) -> str:
    lacking = [name for name, granted in priority.items() if not granted]
    if not lacking:
        return "granted"
    return "not granted" if len(lacking) == len(priority) else f"not to {', '.join(lacking)}"


def _print(summary: dict[str, Any]) -> None:
    table = Table(
        title=f"{summary['scenario']}: {summary['ending']}",
        title_justify="left",
        box=None,
        padding=(0, 2),
    )
    table.add_column("figure")
    table.add_column("value", justify="right")
    table.add_column("unit")
    for fault in summary["faults"]:
        table.add_row("[bold red]fault[/]", f"[bold red]{escape(fault)}[/]")
    if summary.get("failure"):
        table.add_row("[bold red]robot[/]", f"[bold red]{summary['failure']}[/]")
    if fall := summary.get("fall"):
        table.add_row("fell", f"{fall['t']:.2f}", "s")
        table.add_row("[bold red]because of[/]", f"[bold red]{_CAUSES[fall['cause']]}[/]")
    if summary["priority"]:
        table.add_row("real-time priority", _granted(summary["priority"]))
    table.add_row("cycles of the high level", f"{summary['cycles']}")
    table.add_row("late", f"{summary['late_cycles']}")
    table.add_row("records dropped", f"{summary['dropped_records']}")
    if mid := summary.get("mid"):
        share = mid["missed_by_over_1_ms"] / max(mid["deadlines"], 1)
        table.add_row(f"deadlines of the mid level ({mid['program']})", f"{mid['deadlines']}")
        table.add_row("missed by more than 1 ms", f"{mid['missed_by_over_1_ms']} ({share:.2%})")
    if low := summary.get("low"):
        table.add_row("ticks of the motor driver", f"{low['ticks']}")
        table.add_row("left out, the machine was busy", f"{low['left_out']}")
    if walking := summary.get("walked"):
        table.add_row("with the law on", f"{walking['seconds']:.2f}", "s")
        speeds = walking["mean_motor_speed"]
        names = (
            ("mean motor speed",)
            if len(speeds) == 1
            else ("mean motor speed, left", "mean motor speed, right")
        )
        for name, speed in zip(names, speeds, strict=True):
            if speed is not None:
                table.add_row(name, f"{speed:.4g}", "turns/s")
        if walking["mean_pitch"] is not None:
            table.add_row("mean pitch", f"{walking['mean_pitch']:.4g}", "rad")
        if walking["mean_bus_current"] is not None:
            table.add_row("mean current of the battery", f"{walking['mean_bus_current']:.4g}", "A")
        table.add_row("frames rejected by the supervisor", f"{walking['rejected_frames']}")
    out.print(table)
    if fall:
        out.print(f"{fall['why']}.", style="dim", markup=False)
    out.print(
        f"log: {escape(summary['log'])}\nnext: footfall stack replay {escape(summary['log'])}",
        soft_wrap=True,
    )
