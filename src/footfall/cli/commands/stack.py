"""The control stack against the clock."""

from typing import Annotated

import typer

from footfall.cli.calling import guarded, loading
from footfall.cli.options import Accept, Settings, Trust

app = typer.Typer(
    no_args_is_help=True,
    help="The control stack against the clock: three programs, serial lines, a log.",
)


@app.command("run")
def stack_run(
    name: Annotated[
        str,
        typer.Argument(
            help="A robot with a control computer, such as rimless-wheel, or a scenario file."
        ),
    ],
    settings: Settings = None,
    trust: Trust = False,
    duration: Annotated[
        float | None, typer.Option(help="Seconds (default: 20, or until the operator stops).")
    ] = None,
    script: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help=(
                "Operate by lines of time, action and value, such as `5 setpoint 0.7` (default:"
                " built in)."
            ),
        ),
    ] = None,
    joystick: Annotated[
        str | None,
        typer.Option(metavar="DEVICE", help="Operate by joystick, such as /dev/input/js0."),
    ] = None,
    replay_operator: Annotated[
        str | None, typer.Option(metavar="LOG", help="Operate as in the run that left this log.")
    ] = None,
    ros: Annotated[
        bool,
        typer.Option(
            "--ros",
            help=(
                "Operate by /cmd_vel of ROS 2, publish /joint_states, /imu/data, /battery_state:"
                " where rclpy is installed."
            ),
        ),
    ] = False,
    mid: Annotated[
        str,
        typer.Option(help="python, or firmware: the Teensy's own program built for this machine."),
    ] = "python",
    noise: Annotated[
        float,
        typer.Option(help="Share of bytes to garble on the line to the mid level, such as 0.01."),
    ] = 0.0,
    sensor_noise: Annotated[
        float,
        typer.Option(
            help="Standard deviation of the emulated pitch sensor, in rad, such as 0.002."
        ),
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of both kinds of noise.")] = 0,
    port: Annotated[
        str | None,
        typer.Option(help="Real robot: serial port of the Teensy, such as /dev/ttyACM0."),
    ] = None,
    imu_port: Annotated[
        str | None,
        typer.Option(
            help=(
                "Real robot: serial port of the pitch sensor; before it, with a colon, bno085-rvc"
                " or bno055, and pitch, -pitch, roll or -roll: bno085-rvc:-pitch:/dev/ttyUSB0."
            )
        ),
    ] = None,
    driver_port: Annotated[
        list[str] | None,
        typer.Option(help="Real robot: serial port of the motor driver; repeat for each board."),
    ] = None,
    driver_serial: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                'Real robot: serial number of the motor driver, by the vendor\'s package ("": any);'
                " repeat for each board."
            )
        ),
    ] = None,
    reset_gpio: Annotated[
        str | None,
        typer.Option(
            metavar="CHIP:LINE",
            help="Real robot: pin of the Teensy's reset line, such as gpiochip0:17.",
        ),
    ] = None,
    priority: Annotated[
        bool,
        typer.Option(
            "--priority/--no-priority",
            help="Ask the system for real-time scheduling; without it, go on.",
        ),
    ] = True,
    out: Annotated[
        str | None, typer.Option(help="Folder to write (default: runs/stack-<scenario>-<time>).")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite an existing run folder.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on standard output.")
    ] = False,
    dashboard: Annotated[
        bool, typer.Option("--dashboard/--no-dashboard", help="Show how it goes.")
    ] = True,
) -> None:
    """Run the three levels in real time.

    On an emulated robot, or on a real one over its ports.

    Status 0: it ended as planned, without a fault.
    """
    with loading():
        from footfall.cli.stack import StackRequest, run_stack

    request = StackRequest(
        name=name,
        settings=settings or [],
        duration=duration,
        script=script,
        joystick=joystick,
        replay_operator=replay_operator,
        ros=ros,
        mid=mid,
        noise=noise,
        sensor_noise=sensor_noise,
        seed=seed,
        port=port,
        imu_port=imu_port,
        driver_port=driver_port or (),
        driver_serial=driver_serial or (),
        reset_gpio=reset_gpio,
        priority=priority,
        out=out,
        force=force,
        as_json=as_json,
        dashboard=dashboard,
    )
    guarded(run_stack, request)


@app.command("setup-odrive")
def stack_setup_odrive(
    name: Annotated[
        str,
        typer.Argument(
            help="A robot with a control computer, such as rimless-wheel, or a scenario file."
        ),
    ],
    settings: Settings = None,
    trust: Trust = False,
    firmware: Annotated[
        str, typer.Option(help="Of the motor driver: 0.5.6, or 0.6.11; odrivetool tells it.")
    ] = "0.5.6",
) -> None:
    """Print what to type into odrivetool, once, for this robot: every limit that it needs.

    At its start `footfall stack run` reads them back and says which one is not so.
    """
    with loading():
        from footfall.cli.setup_odrive import print_setup

    guarded(print_setup, name, settings or [], firmware)


@app.command("devices")
def stack_devices(
    name: Annotated[
        str,
        typer.Argument(
            help="A robot with a control computer, such as rimless-wheel, or a scenario file."
        ),
    ],
    settings: Settings = None,
    trust: Trust = False,
    mid: Annotated[
        str,
        typer.Option(help="python, or firmware: the Teensy's own program built for this machine."),
    ] = "python",
    sensor_noise: Annotated[
        float,
        typer.Option(
            help="Standard deviation of the emulated pitch sensor, in rad, such as 0.002."
        ),
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of the noise.")] = 0,
    priority: Annotated[
        bool,
        typer.Option(
            "--priority/--no-priority",
            help="Ask the system for real-time scheduling; without it, go on.",
        ),
    ] = True,
    out: Annotated[
        str | None,
        typer.Option(
            help="Folder of the devices meanwhile (default: runs/devices-<scenario>-<time>)."
        ),
    ] = None,
) -> None:
    """Emulate a robot's devices, each behind a pseudo-terminal, until Ctrl-C.

    For a rehearsal of a real robot's command line, or a supervisor of your own.
    """
    with loading():
        from footfall.cli.stack import StackRequest, run_devices

    request = StackRequest(
        name=name,
        settings=settings or [],
        mid=mid,
        sensor_noise=sensor_noise,
        seed=seed,
        priority=priority,
        out=out,
    )
    guarded(run_devices, request)


@app.command("firmware")
def stack_firmware(
    name: Annotated[
        str,
        typer.Argument(
            help="A robot with a control computer, such as rimless-wheel, or a scenario file."
        ),
    ],
    settings: Settings = None,
    trust: Trust = False,
    out: Annotated[
        str | None, typer.Option(help="Folder of the sketch (default: NAME-firmware).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
) -> None:
    """Write a sketch for the Teensy that is ready to flash: constants, and the controller as C."""
    with loading():
        from footfall.cli.stack_firmware import write_firmware

    guarded(write_firmware, name, settings, out, force)


LogFile = Annotated[str, typer.Argument(metavar="LOG", help="stack.mcap of a run, or its folder.")]


LogScenario = Annotated[
    str | None, typer.Option(help="Scenario to compare with (default: the log's own).")
]


@app.command("replay")
def stack_replay(
    log: LogFile,
    scenario: LogScenario = None,
    settings: Settings = None,
    trust: Trust = False,
    delay: Annotated[
        float,
        typer.Option(
            help="Age of a pitch when it reaches the supervisor, in s; `stack fit` tells it."
        ),
    ] = 0.0,
    picture: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.png", help="Where to draw (default: replay.png beside the log)."
        ),
    ] = None,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw both.")] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on standard output.")
    ] = False,
    accept_doubt: Accept = False,
) -> None:
    """Compare a log with the same programs in lockstep under the same operator.

    The log may be of an emulated robot or of a real one.
    """
    with loading():
        from footfall.cli.stack_replay import replay_log

    guarded(replay_log, log, scenario, settings, delay, picture, plots, as_json, accept_doubt)


@app.command("fit")
def stack_fit(
    log: LogFile,
    scenario: LogScenario = None,
    settings: Settings = None,
    trust: Trust = False,
    picture: Annotated[
        str | None,
        typer.Option(metavar="FILE.png", help="Where to draw (default: fit.png beside the log)."),
    ] = None,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw what was found.")] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on standard output.")
    ] = False,
    accept_doubt: Accept = False,
) -> None:
    """Find friction, delay and motor constant with which the model walks as a log says."""
    with loading():
        from footfall.cli.stack_replay import fit_log

    guarded(fit_log, log, scenario, settings, picture, plots, as_json, accept_doubt)
