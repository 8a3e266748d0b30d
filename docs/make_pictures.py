"""Draws the pictures of the README and docs from real runs: `make pictures`."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import footfall as ff
from footfall import load, simulate, summarise
from footfall.pictures.animate import write_animation
from footfall.pictures.plot_page import write_plot_page

PICTURES = Path(__file__).parent / "pictures"
#: Robots whose plot page is shown, all of them as an animation.
PAGES = (
    "rimless-wheel", "rimless-wheel-turning", "water-runner", "two-leg-step", "centipede-gap",
    "urchin-walk",
)  # fmt: skip
#: Robots that rest at the end of their scenario are shown before [s].
UNTIL = {"urchin-roll": 5.5}


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    names = (
        "passive-wheel", "rimless-wheel", "rimless-wheel-turning", "rimless-wheel-closed-loop",
        "water-runner", "water-runner-ground", "two-leg-step", "centipede",
        "centipede-gap", "urchin-spike", "urchin-walk", "urchin-roll",
    )  # fmt: skip
    for name in names:
        experiment = load(name, duration=UNTIL.get(name))
        run = simulate(experiment.system, experiment.start, experiment.plan)
        summary = summarise(run, name)
        if name in PAGES:
            write_plot_page(run, summary, PICTURES / f"{name}.png", title=experiment.about.title)
        # So that a climb, a crossing or a roll can be followed.
        whole = run.outcome is ff.Outcome.arrived or name in UNTIL
        write_animation(run, PICTURES / f"{name}.gif", longest=5.0 if whole else 2.5)
        print(f"{name}: {run.ending.sentence}")
    draw_sweep(PICTURES / "sweep.png")
    draw_front(PICTURES / "two-leg-front.png")
    draw_crossings(PICTURES / "centipede-crossings.png")
    draw_replay(PICTURES / "stack-replay.png")
    draw_basin(PICTURES / "basin.png")


def footfall(*arguments: str) -> None:
    """A command that must not fail; a doubtful verdict is shown in its picture."""
    subprocess.run([sys.executable, "-m", "footfall.cli.main", *arguments], check=True)


def draw_sweep(path: Path) -> None:
    """The heat map of the README's sweep."""
    vary = ("--vary", "leg.stiffness=8e3:4e4:200:log", "--vary", "torso.pitch_setpoint=0.4:1.2:200")
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study"
        footfall("sweep", "rimless-wheel", *vary, "--accept-doubt", "--out", str(study))
        shutil.copy(study / "heatmap.png", path)


def draw_replay(path: Path) -> None:
    """A real-time run of the control stack and the same programs in lockstep."""
    with tempfile.TemporaryDirectory() as folder:
        run = str(Path(folder) / "stack")
        footfall("stack", "run", "rimless-wheel", "--duration", "12", "--out", run)
        footfall("stack", "replay", run, "--delay", "0.005", "--picture", str(path))


def draw_front(path: Path) -> None:
    """The best gaits of the two-leg walker."""
    with tempfile.TemporaryDirectory() as folder:
        best = Path(folder) / "best"
        limit = ("--set", "torque_limit=0.5", "--accept-doubt")
        two = ("--minimise", "electrical_energy", "--minimise", "t_end")
        footfall("design", "two-leg-step", *limit, *two, "--out", str(best))
        shutil.copy(best / "front.png", path)


def draw_crossings(path: Path, *options: str) -> None:
    """How often the centipede gets over gaps."""
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study"
        footfall("crossing", "centipede-gap", *options, "--accept-doubt", "--out", str(study))
        shutil.copy(study / "crossings.png", path)


def draw_basin(path: Path) -> None:
    """From which starts the wheel with a torso walks."""
    box = {"torso_angle": (0.0, 1.2), "spoke_rate": (-6.0, 0.0)}
    ff.basin(ff.load("rimless-wheel"), box).plot(path)


if __name__ == "__main__":
    main()
