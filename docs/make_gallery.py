"""Makes the gallery: a page of every robot, and a picture of each for the documentation.

    python docs/make_gallery.py            # all of them
    python docs/make_gallery.py water-runner rimless-wheel

Pages and an index.html, in which they are opened by a click, are written to build/gallery/;
pictures to docs/pictures/, and docs/gallery.md shows them. Needs the front end (make web), the
compiler (ziglang), and for pictures playwright and Chromium.
"""

import html
import io
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

import footfall as ff
from footfall.engines.analysis.summary import summarise
from footfall.pages.gait import gait_page
from footfall.pages.html_file import write_page
from footfall.pages.live import live_page
from footfall.pages.replay import replay_page, with_ghost
from footfall.scenario.gait import gait_of
from footfall.scenario.load import load

HERE = Path(__file__).parent
PICTURES, BUILT, TEXT = HERE / "pictures", HERE.parent / "build" / "gallery", HERE / "gallery.md"
DESK, PHONE = (1280, 800), (390, 844)


class Shown(NamedTuple):
    """A page, and the moment of its picture."""

    scenario: str
    at: float  #: s
    how: str = "live"  #: "live", "replay", "gait" or "ghosts"
    settings: tuple[str, ...] = ()  #: of a ghost
    size: tuple[int, int] = DESK
    dark: bool = False
    of: str = ""  #: the page that is shown, where it is that of another entry

    @property
    def command(self) -> str:
        """What makes this page."""
        runs = "footfall share runs/SLOW runs/FAST"
        return {
            "live": f"footfall share {self.scenario}",
            "replay": f"footfall run {self.scenario} --page {self.scenario}.html",
            "gait": f"footfall gait {self.scenario} --page gait.html",
            "ghosts": runs,
        }[self.how]


#: Name of the page -> what it shows.
PAGES = {
    "rimless-wheel": Shown("rimless-wheel", 8.05),
    "passive-wheel": Shown("passive-wheel", 8.1),
    "rimless-wheel-turning": Shown("rimless-wheel-turning", 14.2),
    "rimless-wheel-closed-loop": Shown("rimless-wheel-closed-loop", 9.1),
    "water-runner": Shown("water-runner", 3.02),
    "water-runner-ground": Shown("water-runner-ground", 4.6),
    "centipede": Shown("centipede", 14.0),
    "centipede-gap": Shown("centipede-gap", 6.0, dark=True),
    "two-leg-step": Shown("two-leg-step", 27.0, "replay"),
    "urchin-walk": Shown("urchin-walk", 6.0, "replay"),
    "urchin-roll": Shown("urchin-roll", 3.0, "replay"),
    "urchin-spike": Shown("urchin-spike", 3.0),
    "urchin-kick": Shown("urchin-kick", 0.1),
    "gait": Shown("rimless-wheel", 3.9, "gait"),
    "ghosts": Shown("rimless-wheel", 1.0, "ghosts", ("torso.pitch_setpoint=1.0",)),
    "phone": Shown("water-runner", 3.02, size=PHONE, of="water-runner"),
}
#: Pictures of pages that are films too: the first of the README.
FILMS = ("page-rimless-wheel.png",)
#: A film: how many pictures, the time between them [s], how slow it is shown, its size.
FRAMES, FILM_STEP, SLOWER, FILM_SIZE = 30, 0.5247 / 30, 3, (800, 500)
#: Words of pages that are no robot's own.
WORDS = {
    "gait": "A gait, disturbed along its slowest mode: what is left of it step by step, beside what"
    " the multiplier says.",
    "ghosts": "Two recorded runs as one and its ghost.",
    "phone": "The same pages on a phone.",
}


def main(names: list[str]) -> None:
    wanted = {name: PAGES[name] for name in names or PAGES}
    BUILT.mkdir(parents=True, exist_ok=True)
    for name, shown in wanted.items():
        if not shown.of:
            write_page(BUILT / f"{name}.html", page_of(shown))
            print(f"{name}: {(BUILT / f'{name}.html').stat().st_size / 1e6:.2f} MB", flush=True)
    with browser() as opened:
        for name, shown in wanted.items():
            photograph(opened, BUILT / f"{shown.of or name}.html", shown, PICTURES / picture(name))
    if not names:
        TEXT.write_text(text())
        shutil.copytree(PICTURES, BUILT / "pictures", dirs_exist_ok=True)
        (BUILT / "index.html").write_text(index())


def page_of(shown: Shown) -> dict[str, Any]:
    """What the page holds."""
    if shown.how == "ghosts":
        pages = [recorded(shown.scenario, list(settings)) for settings in ((), shown.settings)]
        return with_ghost(pages[0], pages[1], ("as it is", ", ".join(shown.settings)))
    experiment = load(shown.scenario)
    if shown.how == "live":
        return live_page(experiment)
    if shown.how == "gait":
        return gait_page(experiment, gait_of(experiment))
    return recorded(shown.scenario, [])


def recorded(name: str, settings: list[str]) -> dict[str, Any]:
    experiment = load(name, settings)
    run = experiment.run()
    return replay_page(experiment, run, summarise(run, experiment.name, experiment.plan.settle))


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    quiet = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with sync_playwright() as started:
        yield started.chromium.launch(executable_path=found, args=quiet)


def photograph(opened: Any, file: Path, shown: Shown, path: Path) -> None:
    """The page at its moment, standing."""
    width, height = shown.size
    context = opened.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if shown.dark else "light",
        has_touch=shown.size == PHONE,
    )
    tab = context.new_page()
    wrong: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    tab.on("request", lambda asked: wrong.append(asked.url) if is_far(asked.url) else None)
    tab.goto(file.absolute().as_uri())
    tab.wait_for_selector("body[data-ready=yes]", timeout=60_000)
    if shown.how == "gait":
        tab.get_by_role("button", name="disturb it along mode 1").click()
    stand(tab, shown.at)
    tab.screenshot(path=str(path))
    if path.name in FILMS:
        film(tab, shown.at, path.with_suffix(".gif"))
    context.close()
    if wrong:
        raise SystemExit(f"{file.name}: {'; '.join(wrong)}")
    # Few colours: a third of the size, and no difference that an eye sees.
    few = Image.open(path).convert("RGB").quantize(255, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB", flush=True)


def is_far(url: str) -> bool:
    """Whether this is not in the file itself."""
    return not url.startswith(("file:", "blob:", "data:"))


def stand(tab: Any, t: float) -> None:
    """A page at a moment [s], paused, drawn with all its pixels."""
    deed = "live.runTo" if tab.evaluate("!!footfall.live") else "source.seek"
    tab.evaluate(f"footfall.{deed}({t})")
    tab.evaluate("footfall.source.pause()")
    tab.evaluate("footfall.scene.stand()")
    for _ in range(60):
        tab.wait_for_timeout(500)
        if tab.evaluate("footfall.scene.sharp"):
            break
    tab.wait_for_timeout(500)


def film(tab: Any, begin: float, path: Path) -> None:
    """A page in motion from a moment on: two steps of the wheel, over and over."""
    frames = []
    tab.evaluate("footfall.scene.orbit(0, 0, 0.93)")
    for k in range(FRAMES):
        stand(tab, begin + k * FILM_STEP)
        shot = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
        frames.append(shot.resize(FILM_SIZE, Image.Resampling.LANCZOS))
    # One palette for all frames: what stands still stays the same to the bit.
    few = frames[-1].quantize(96, dither=Image.Dither.NONE)
    first, *rest = (frame.quantize(palette=few, dither=Image.Dither.NONE) for frame in frames)
    pause = round(1000 * FILM_STEP * SLOWER)
    first.save(path, save_all=True, append_images=rest, duration=pause, loop=0, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB", flush=True)


def picture(name: str) -> str:
    return f"page-{name}.png"


def title_of(name: str, shown: Shown) -> tuple[str, str]:
    """Title and sentence."""
    experiment_words = ff.scenarios()
    page = json.loads(data_of(BUILT / f"{shown.of or name}.html"))
    if name in WORDS:
        return {"gait": "A gait", "ghosts": "Ghosts", "phone": "A phone"}[name], WORDS[name]
    return page["title"], experiment_words[shown.scenario]


def data_of(file: Path) -> str:
    return file.read_text(encoding="utf-8").partition('id="page">')[2].partition("</script>")[0]


def text() -> str:
    """docs/gallery.md."""
    lines = [
        "# Gallery",
        "A page of every robot: one HTML file each, live where the robot has a kernel"
        " ([how](how-to/pages.md)).",
        "`make gallery` makes all of them, with an index to open them by a click, in"
        " build/gallery/, and this page.",
        "",
    ]
    for name, shown in PAGES.items():
        title, words = title_of(name, shown)
        lines += [f"## {title}", words, "", f"    {shown.command}", ""]
        lines += [f"![{title}](pictures/{picture(name)})", ""]
    return "\n".join(lines)


def index() -> str:
    """A page of all pages."""
    cards = []
    for name, shown in PAGES.items():
        title, words = map(html.escape, title_of(name, shown))
        cards.append(
            f'<a href="{shown.of or name}.html"><img src="pictures/{picture(name)}" alt="" '
            f'loading="lazy"><b>{title}</b><span>{words}</span></a>'
        )
    colours = (HERE.parent / "src/footfall/pages/start/colours.css").read_text()
    dark = colours.partition(':root[data-theme="dark"] {')[2].partition("}")[0]
    return INDEX.format(colours=colours, dark=dark, cards="\n".join(cards))


INDEX = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>footfall: gallery</title>
<style>
{colours}
@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}
body {{ margin: 0; padding: 40px clamp(16px, 4vw, 56px);
  color: var(--ink); background: var(--back); }}
h1 {{ font-size: 28px; letter-spacing: -0.02em; margin: 0 0 4px; }}
p {{ color: var(--muted); margin: 0 0 28px; }}
main {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 22px; }}
a {{ display: grid; gap: 4px; align-content: start; padding: 12px; border-radius: 14px;
  text-decoration: none; color: inherit; background: var(--card); border: 1px solid var(--line); }}
a:hover, a:focus-visible {{ border-color: var(--accent); }}
img {{ width: 100%; aspect-ratio: 16 / 10; object-fit: cover; object-position: top left;
  border-radius: 8px; margin-bottom: 8px; background: var(--well); }}
span {{ color: var(--muted); font-size: 13px; }}
</style>
<h1>footfall</h1>
<p>Unconventional legged robots, each simulated in its own page. A click opens one.</p>
<main>
{cards}
</main>
</html>
"""


if __name__ == "__main__":
    main(sys.argv[1:])
