// The start page of `footfall view`: what there is, what was started, a sweep as a heat map.
// Addresses are relative, so each carries the token of the page's own.
"use strict";

const dark = matchMedia("(prefers-color-scheme: dark)");
const dress = () => (document.documentElement.dataset.theme = dark.matches ? "dark" : "light");
dress();
dark.addEventListener("change", dress);

const find = (id) => document.getElementById(id);
const LISTS = { scenario: "scenarios", run: "runs", sweep: "sweeps" };
const EMPTY = { scenario: "none", run: "none yet: run a scenario", sweep: "none yet: footfall sweep makes one" };
const ASK_EVERY = 300; // ms
// What `footfall share` says of a robot that cannot be simulated in a page.
const NO_KERNEL = /cannot be simulated in a page|no page without a compiler/;
// Cividis, which people tell apart whatever their colour vision.
const SCALE = [[0, 34, 78], [66, 78, 107], [124, 123, 120], [186, 174, 107], [254, 232, 56]];

let listing = { entries: [], jobs: [], first: null };
let chosen = null;

function make(tag, words, attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = words ?? "";
  Object.assign(element, attributes);
  return element;
}

async function ask(address, body) {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(address, options);
  } catch {
    throw new Error("footfall view has ended. Start it again and open the new address.");
  }
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error);
  return said;
}

/** A job that another has replaced is not opened. */
let newest = 0;

function complain(error) {
  find("chosen").hidden = false;
  find("complaint").hidden = !error;
  find("complaint").textContent = error ? error.message : "";
}

// The list.

async function refresh() {
  listing = await ask("list");
  find("folder").textContent = listing.folder;
  showList();
}

function showList() {
  const wanted = find("filter").value.trim().toLowerCase();
  for (const [kind, id] of Object.entries(LISTS)) {
    const entries = listing.entries.filter((e) => e.kind === kind && `${e.name} ${e.title}`.toLowerCase().includes(wanted));
    const items = entries.map((entry) => {
      const button = make("button", "", { type: "button", title: entry.title });
      button.append(make("span", entry.name), make("small", kind === "scenario" ? entry.title : entry.about));
      if (chosen && chosen.kind === kind && chosen.name === entry.name) button.setAttribute("aria-current", "true");
      button.addEventListener("click", () => choose(entry));
      const item = document.createElement("li");
      item.append(button);
      return item;
    });
    const list = find(id).querySelector("ul");
    list.replaceChildren(...items);
    if (!items.length) list.append(make("li", wanted ? "none of this name" : EMPTY[kind], { className: "none" }));
  }
}

function choose(entry) {
  chosen = entry;
  sessionStorage.setItem("chosen", JSON.stringify([entry.kind, entry.name]));
  complain(null);
  find("title").textContent = entry.title;
  find("about").textContent = entry.kind === "scenario" ? entry.about : `${entry.name}, ${entry.about}`;
  find("scenario").hidden = entry.kind !== "scenario";
  find("recorded").hidden = entry.kind !== "run";
  find("sweep").hidden = entry.kind !== "sweep";
  if (entry.kind === "scenario") {
    find("settings").value = sessionStorage.getItem(`set ${entry.name}`) ?? "";
    showParts(entry).catch(complain);
  }
  if (entry.kind === "run") offerGhosts(entry);
  if (entry.kind === "sweep") showMap({});
  showList();
}

// Parts: a choice for each slot, which is a setting like any other.

async function showParts(entry) {
  const box = find("parts");
  box.hidden = true;
  box.replaceChildren(); // those of another scenario
  const { parts } = await ask(`parts?${new URLSearchParams({ name: entry.name })}`);
  if (chosen !== entry || !parts.length) return;
  box.hidden = false;
  box.replaceChildren(make("h2", "Parts"), ...parts.map((slot) => partRow(slot)));
}

function partRow(slot) {
  const row = make("div", "", { className: "part" });
  const words = make("small", "");
  const select = make("select", "", { id: `part-${slot.key}` });
  select.append(...Object.keys(slot.kinds).map((kind) => make("option", kind, { value: kind })));
  if (!(slot.now in slot.kinds)) select.append(make("option", slot.now, { value: slot.now }));
  const refused = Object.entries(slot.refused);
  if (refused.length) {
    const group = make("optgroup", "", { label: "not in this robot" });
    group.append(...refused.map(([kind, why]) => make("option", kind, { value: kind, disabled: true, title: why })));
    select.append(group);
  }
  const show = () => (words.textContent = slot.kinds[select.value] ?? "");
  select.value = settingOf(slot.key) ?? slot.now;
  show();
  select.addEventListener("change", () => {
    show();
    setPart(slot, select.value);
    rebuild();
  });
  row.append(make("label", slot.key.replaceAll("_", " "), { htmlFor: select.id }), select, words);
  return row;
}

const isOf = (line, key) => line.replace(/^\s*(--set[\s=])?\s*/, "").split("=")[0].replace(/\.kind$/, "").trim() === key;

function settingOf(key) {
  const line = find("settings").value.split("\n").findLast((each) => isOf(each, key));
  return line?.slice(line.lastIndexOf("=") + 1).trim();
}

function setPart(slot, kind) {
  const others = find("settings").value.split("\n").filter((line) => line.trim() && !isOf(line, slot.key));
  find("settings").value = [...others, ...(kind === slot.now ? [] : [`${slot.key}=${kind}`])].join("\n");
  find("settings").dispatchEvent(new Event("input"));
}

/** The page with the parts as they are now; one that is still being built for other parts is not needed. */
async function rebuild() {
  for (const job of (await ask("list")).jobs)
    if (job.state === "running" && job.kind === "live" && job.name === chosen.name) await ask(`jobs/${job.job}/cancel`, {});
  startJob("live");
}

function offerGhosts(entry) {
  const others = listing.entries.filter((e) => e.kind === "run" && e.name !== entry.name);
  const same = [...others.filter((e) => e.title === entry.title), ...others.filter((e) => e.title !== entry.title)];
  find("ghost").replaceChildren(
    make("option", "no other run", { value: "" }),
    ...same.map((e) => make("option", `${e.name.replace(/^runs\//, "")} (${e.title})`, { value: e.name })),
  );
  find("ghost").disabled = !others.length;
}

// Jobs.

async function begin(asked) {
  complain(null);
  try {
    watch(await ask("jobs", asked), true);
  } catch (error) {
    complain(error);
  }
}

function watch(job, open) {
  const card = make("div", "", { className: "job" });
  find("jobs").prepend(card);
  if (open) newest = job.job;
  let waited = false;
  const step = async () => {
    showJob(card, job);
    if (job.state !== "running") {
      if (waited) await refresh();
      if (open && job.state === "done" && job.job === newest) location.assign(`pages/${job.job}`);
      return;
    }
    waited = true;
    await new Promise((done) => setTimeout(done, ASK_EVERY));
    job = await ask(`jobs/${job.job}`);
    await step();
  };
  step().catch(complain);
}

function showJob(card, job) {
  const head = document.createElement("header");
  head.append(make("b", [`${job.kind}: ${job.name}`, ...job.settings].join("  ")), make("small", job.state === "running" ? job.doing : job.state));
  const parts = [head];
  card.dataset.state = job.state;
  if (job.state === "running") {
    const stop = make("button", "Cancel", { type: "button" });
    stop.addEventListener("click", () => ask(`jobs/${job.job}/cancel`, {}).catch(complain));
    head.append(stop);
    const bar = document.createElement("progress");
    if (job.share > 0) bar.value = job.share;
    parts.push(bar);
  }
  if (job.page) {
    const link = make("button", job.state === "done" ? "Open" : "Open what there is", { type: "button" });
    link.addEventListener("click", () => location.assign(`pages/${job.job}`));
    head.append(link);
  }
  if (job.state === "failed") {
    parts.push(make("pre", job.words || "it ended without a word.", { className: "words" }));
    const entry = listing.entries.find((e) => e.kind === "scenario" && e.name === job.name);
    if (job.kind === "live" && entry && NO_KERNEL.test(job.words)) {
      const instead = make("button", "Run it and replay", { type: "button" });
      instead.addEventListener("click", () => begin({ kind: "run", name: job.name, settings: job.settings.join("\n") }));
      head.append(instead);
    }
  } else if (job.state !== "running") {
    if (job.state === "cancelled") parts.push(make("pre", job.words, { className: "words" }));
    if (job.summary) parts.push(make("pre", job.summary));
  }
  // While it runs the button under the pointer stays the same one.
  if (card.dataset.shown === "running" && job.state === "running") {
    card.querySelector("small").textContent = job.doing;
    if (job.share > 0) card.querySelector("progress").value = job.share;
    return;
  }
  card.dataset.shown = job.state;
  card.replaceChildren(...parts);
}

// The heat map.

async function showMap(asked) {
  const entry = chosen;
  try {
    const map = await ask(`map?${new URLSearchParams({ name: entry.name, ...asked })}`);
    if (chosen === entry) drawMap(map);
  } catch (error) {
    find("map").replaceChildren();
    complain(error);
  }
}

function drawMap(map) {
  const units = Object.fromEntries([...map.keys, ...map.metrics].map((k) => [k.name, k.unit.replace("^2", "²").replace("^3", "³")]));
  const named = (name) => (units[name] ? `${name} [${units[name]}]` : name);
  offer("x", map.keys.map((k) => k.name), map.x, named);
  offer("y", map.keys.map((k) => k.name).filter((k) => k !== map.x), map.y, named);
  offer("metric", map.metrics.map((m) => m.name), map.metric, named);
  const values = map.cells.map((c) => c.value).filter((v) => v !== null);
  const least = Math.min(...values), most = Math.max(...values);
  const grid = find("map"), rows = map.rows.length, columns = map.columns.length;
  const height = Math.max(14, Math.min(44, Math.floor(420 / rows)));
  grid.style.gridTemplateColumns = `max-content repeat(${columns}, minmax(0, 1fr))`;
  grid.style.gridTemplateRows = `repeat(${rows}, ${height}px) auto`;
  const every = (count, room) => Math.max(1, Math.ceil(count / room));
  const made = [];
  map.rows.forEach((label, row) => {
    const side = make("span", row % every(rows, 14) === 0 ? shown(label) : "", { className: "side" });
    place(side, 1, rows - row);
    made.push(side);
  });
  map.columns.forEach((label, column) => {
    const foot = make("span", column % every(columns, 10) === 0 ? shown(label) : "");
    place(foot, column + 2, rows + 1);
    made.push(foot);
  });
  for (const cell of map.cells) {
    const words = [
      `${named(map.x)} = ${shown(map.columns[cell.column])}`,
      ...(map.y ? [`${named(map.y)} = ${shown(map.rows[cell.row])}`] : []),
      `${named(map.metric)} = ${cell.value === null ? "none" : shown(cell.value)}`,
      cell.outcome + (cell.sound ? "" : ", doubtful"),
      cell.designs > 1 ? `design ${cell.design}, the median of ${cell.designs} here` : `design ${cell.design}`,
    ].join("; ");
    const button = make("button", columns <= 10 && cell.value !== null ? shown(cell.value, 3) : "", { type: "button", title: `${words}. Click: live.` });
    button.setAttribute("aria-label", words);
    button.className = [cell.value === null ? "none" : "", cell.sound ? "" : "doubtful"].join(" ").trim();
    if (cell.value !== null) {
      const share = most > least ? (cell.value - least) / (most - least) : 0.5;
      button.style.backgroundColor = colour(share);
      button.style.color = share < 0.55 ? "#fff" : "#111";
    }
    for (const event of ["mouseenter", "focus"]) button.addEventListener(event, () => (find("cell").textContent = words));
    button.addEventListener("click", () => begin({ sweep: chosen.name, design: cell.design }));
    place(button, cell.column + 2, rows - cell.row);
    made.push(button);
  }
  grid.replaceChildren(...made);
  find("least").textContent = values.length ? shown(least) : "no values";
  find("most").textContent = values.length ? shown(most) : "";
  find("cell").textContent = "A click on a cell opens its design live.";
  find("note").textContent = [
    `${map.count} designs`,
    ...(map.stride > 1 ? [`every ${map.stride}th is shown`] : []),
    ...(map.complete ? [] : ["the sweep is not finished"]),
    "framed: doubtful; hatched: no value",
  ].join("; ");
  const pen = find("scale").getContext("2d");
  for (let i = 0; i < 160; i++) {
    pen.fillStyle = colour(i / 159);
    pen.fillRect(i, 0, 1, 10);
  }
}

function place(element, column, row) {
  element.style.gridColumn = String(column);
  element.style.gridRow = String(row);
}

function offer(id, names, now, named) {
  const select = find(id);
  select.replaceChildren(...names.map((name) => make("option", named(name), { value: name, selected: name === now })));
  select.disabled = names.length < 2;
}

function shown(value, digits = 4) {
  return typeof value === "number" ? String(Number(value.toPrecision(digits))) : String(value);
}

function colour(share) {
  const at = share * (SCALE.length - 1), below = Math.min(Math.floor(at), SCALE.length - 2);
  const mixed = SCALE[below].map((v, i) => Math.round(v + (at - below) * (SCALE[below + 1][i] - v)));
  return `rgb(${mixed.join(" ")})`;
}

// The beginning.

function startJob(kind) {
  begin({ kind, name: chosen.name, settings: find("settings").value });
}

find("filter").addEventListener("input", showList);
find("settings").addEventListener("input", () => sessionStorage.setItem(`set ${chosen.name}`, find("settings").value));
find("live").addEventListener("click", () => startJob("live"));
find("run").addEventListener("click", () => startJob("run"));
find("replay").addEventListener("click", () => {
  const ghost = find("ghost").value;
  begin({ kind: "replay", name: chosen.name, ...(ghost ? { ghost } : {}) });
});
for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());
find("x").addEventListener("change", () => showMap({ x: find("x").value, metric: find("metric").value }));
for (const id of ["y", "metric"])
  find(id).addEventListener("change", () => showMap({ x: find("x").value, y: find("y").value, metric: find("metric").value }));

async function open() {
  await refresh();
  for (const job of [...listing.jobs].reverse()) watch(job, false);
  const first = listing.first;
  const [kind, name] = JSON.parse(sessionStorage.getItem("chosen") ?? "null") ?? [first?.kind ?? "scenario", first?.name];
  const entry = listing.entries.find((e) => e.kind === kind && e.name === name) ?? listing.entries.find((e) => e.kind === "scenario");
  if (entry) choose(entry);
  document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest" });
  // What the command named is opened, once.
  if (first && !sessionStorage.getItem(`opened ${location.pathname}`) && !listing.jobs.length) {
    sessionStorage.setItem(`opened ${location.pathname}`, "yes");
    if (first.kind === "run") begin({ kind: "replay", name: first.name });
    if (first.kind === "scenario") begin({ kind: "live", name: first.name, settings: "" });
  }
}

open().catch(complain);
