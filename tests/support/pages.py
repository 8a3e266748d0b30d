"""Pages in tests: the page's own simulation in Node, and a browser of the system."""

import json
import shutil
import subprocess
from importlib import resources

import pytest

from support.browsers import node

BUNDLE = resources.files("footfall.pages").joinpath("bundle")
needs_bundle = pytest.mark.skipif(
    not BUNDLE.joinpath("page.html").is_file(), reason="the front end is not built: make web"
)
#: As quiet as a browser gets: nothing of its own goes over the network.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]

SIMULATE = """
import fs from "node:fs";
const [bundle, file, result] = process.argv.slice(2);
const { Simulation } = await import(bundle);
const { page, deeds } = JSON.parse(fs.readFileSync(file));
const sim = await Simulation.open(page);
const seen = [];
for (const [deed, given] of deeds) {
  if (deed === "set") Object.assign(sim.values, given);
  if (deed === "start") sim.start();
  if (deed === "adopt") sim.adopt();
  if (["push", "strike", "grab", "release", "disturb"].includes(deed)) sim[deed](...(given ?? []));
  if (deed === "advance") sim.advance(given);
  if (deed === "keep") sim.kept = sim.snapshot();
  if (deed === "back") sim.restore(sim.kept);
  const row = Object.fromEntries(sim.columns.map((name, n) => [name, sim.row()[n]]));
  const heights = deed === "heights" ? Array.from(sim.heights(given)) : null;
  seen.push({ row, heights, sketch: [...sim.sketch], outcome: sim.outcome, metrics: sim.metrics(), residual: sim.residual(), sizes: sim.section?.sizes.slice() });
}
fs.writeFileSync(result, JSON.stringify(seen));
"""


def chromium() -> str | None:
    """Where the system's Chromium is."""
    found = map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
    return next(filter(None, found), None)


def simulated(page, deeds, folder):
    """What the page's own simulation has to show after each deed: ("advance", 100), ..."""
    (folder / "simulate.mjs").write_text(SIMULATE)
    (folder / "asked.json").write_text(json.dumps({"page": page, "deeds": deeds}))
    files = [BUNDLE.joinpath("simulation.mjs"), folder / "asked.json", folder / "seen.json"]
    command = [node(), str(folder / "simulate.mjs"), *map(str, files)]
    subprocess.run(command, check=True, timeout=100)
    return json.loads((folder / "seen.json").read_text())
