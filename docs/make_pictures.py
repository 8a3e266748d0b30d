"""Draws the pictures of the README and docs from real runs: `make pictures`."""

from pathlib import Path

from footfall import load, simulate, summarise
from footfall.viewer.animate import write_animation
from footfall.viewer.plot_page import write_plot_page

PICTURES = Path(__file__).parent / "pictures"


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    for name in ("passive-wheel", "rimless-wheel", "rimless-wheel-turning"):
        experiment = load(name)
        run = simulate(experiment.system, experiment.start, experiment.plan)
        summary = summarise(run, name)
        write_plot_page(run, summary, PICTURES / f"{name}.png", title=experiment.about.title)
        write_animation(run, PICTURES / f"{name}.gif", longest=2.5)
        print(f"{name}: {run.ending.sentence}")


if __name__ == "__main__":
    main()
