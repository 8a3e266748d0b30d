// The page: reads its data, opens its source, and keeps everything that is seen in step with it.

import { find, make, shown, words } from "./dom";
import { Footfalls } from "./footfalls";
import { LedgerView } from "./ledger";
import { fromHash, toCommand, toHash, toToml } from "./link";
import { ModesView } from "./modes";
import { NumbersView } from "./numbers";
import { FORMAT, type Page } from "./page";
import { dark, setTheme, usePalette } from "./palette";
import { Panel } from "./panel";
import { pushes } from "./pushes";
import { Plots } from "./plots";
import { SceneView } from "./scene";
import { LiveSource, ReplaySource, type Source } from "./source";
import { Steering } from "./steering";
import { Timeline } from "./timeline";

/** Plots and footfalls look back by so many footsteps, at most so many seconds [s]. */
const [FOOTSTEPS, WINDOW] = [12, 6];
const PLOTS_EVERY = 90; // ms

/** A setting in words: --set KEY=VALUE or KEY=VALUE, the value perhaps in quotes. */
const SETTING = /((?:--set )?[\w.-]+=(?:"[^"]*"|[^\s.,;:()"]+(?:\.\d+)?)+)/;

async function open(page: Page): Promise<void> {
  if (page.format !== FORMAT) throw new Error(`this page has format ${page.format}; its front end reads format ${FORMAT}`);
  usePalette(page.palette);
  document.title = `${page.title} · footfall`;
  find("title").textContent = page.title;
  find("about").textContent = page.about;
  // A setting stays in one piece.
  find("look").append(...page.look_for.split(SETTING).map((piece, n) => (n % 2 ? make("span", { className: "setting" }, piece) : piece)));
  if (page.ghost) find("head").append(make("p", { id: "pair" }, make("b", {}, page.name), make("span", {}, `ghost: ${page.ghost.name}`)));
  // Under `footfall view`: the way back to what it is made of.
  find("home").hidden = !/^http/.test(location.protocol) || !/\/pages\/\d+$/.test(location.pathname);
  const live = page.live ? await LiveSource.open(page, fromHash(page, location.hash)) : null;
  const source: Source = live ?? (await ReplaySource.open(page));
  document.body.dataset.kind = live ? "live" : "replay";
  const timeline = new Timeline(source);
  const pace = page.replay?.metrics.find(({ name }) => name === "step_time")?.value;
  let footstep = pace ?? WINDOW / FOOTSTEPS;
  const lookBack = (): number => {
    const found = source.now.metrics?.step_time;
    if (found && Number.isFinite(found)) footstep = found;
    return Math.min(FOOTSTEPS * footstep, WINDOW) * Math.max(1, timeline.speed);
  };
  const history = (): typeof source.history => source.history;
  const scene = new SceneView(page, source.history, find("scene"), (xs) => source.heights(xs), source.ghost);
  const plots = new Plots(page, history, find("signals"), lookBack, (t) => source.seek(t), source.ghost);
  const footfalls = page.travel ? new Footfalls(page, history, find("footfalls"), lookBack) : null;
  find("footfalls").hidden = !footfalls;
  const ledger = new LedgerView(page, history, find("ledger"));
  const numbers = new NumbersView(page, find("metrics"));
  const values = live?.values ?? {};
  const panel = new Panel(page, values, find("parameters"), () => {
    live?.adopt();
    remember();
  });
  await scene.begin(live?.sketch ?? []);
  let ended = "";

  function remember(): void {
    const hash = toHash(page, values);
    globalThis.history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
    find("reset-all").hidden = !hash;
  }

  function restart(): void {
    find("outcome").hidden = true;
    if (live) live.start();
    else source.seek(source.history.begin);
    source.play(timeline.speed);
  }

  function tell(): void {
    const said = live ? outcomeOf(page, live) : source.time >= source.end ? endings(page) : "";
    const good = live ? page.success.includes(page.outcomes[String(live.now.outcome)]?.name) : (page.replay?.success ?? false);
    if (said === ended) return;
    if (said.trim() && live && timeline.slowDown()) return restart();
    ended = said;
    find("outcome").hidden = !said;
    find("outcome").classList.toggle("good", good);
    find("sentence").textContent = said;
  }

  source.onChange = ({ fresh, sketch }) => {
    if (sketch) scene.rebuild(sketch);
    if (fresh) ended = " ";
  };
  if (!live) timeline.slowDown();

  find("restart").addEventListener("click", restart);
  find("again").addEventListener("click", restart);
  const whole = find<HTMLButtonElement>("whole");
  whole.hidden = !live;
  whole.title = `compute the scenario's ${shown(page.duration)} s at once`;
  whole.addEventListener("click", () => void live?.runTo(page.duration));
  const theme = find<HTMLButtonElement>("theme");
  theme.addEventListener("click", () => setTheme(dark() ? "light" : "dark"));
  const follow = find<HTMLInputElement>("follow");
  follow.addEventListener("change", () => ((scene.follow = follow.checked), follow.checked && scene.home()));
  const forces = find<HTMLInputElement>("forces");
  forces.addEventListener("change", () => scene.showForces(forces.checked));
  const told = (button: HTMLElement, text: string): void => {
    const before = button.textContent;
    void copied(text).then((done) => {
      button.textContent = done ? "copied" : "copy by hand";
      if (!done) prompt("copy this", text);
      setTimeout(() => (button.textContent = before), 1200);
    });
  };
  find("toml").addEventListener("click", () => told(find("toml"), toToml(page, values)));
  find("command").addEventListener("click", () => told(find("command"), toCommand(page, values)));
  find("link").addEventListener("click", () => told(find("link"), location.href));
  find("reset-all").addEventListener("click", () => {
    for (const p of page.parameters) if (p.kind !== "text") values[p.key] = p.value as number;
    panel.showAll();
    live?.adopt();
    remember();
  });
  if (live) steps(live);
  const push = live ? pushes(page, live) : () => {};
  const steered = (key: string, done: boolean): void => {
    panel.show(key);
    live?.adopt();
    if (done) remember();
  };
  const steering = new Steering(page, values, steered, { play: () => timeline.toggle(), reset: restart, push });
  [scene.drag.to, scene.drag.groups] = [live, new Set(live?.movable)];
  const modes = live && page.gait ? new ModesView(page, live, find("gait"), () => source.play(timeline.speed)) : null;
  remember();
  addEventListener("hashchange", () => {
    Object.assign(values, Object.fromEntries(page.parameters.filter((p) => p.kind !== "text").map((p) => [p.key, p.value as number])), fromHash(page, location.hash));
    panel.showAll();
    live?.adopt();
  });
  keys({ timeline, restart, scene, follow, forces, push });

  let plotted = 0;
  function frame(milliseconds: number): void {
    steering.frame(milliseconds);
    source.frame(milliseconds);
    scene.draw(source.shown, milliseconds / 1000, { time: source.time, pulled: source.now.pulled });
    timeline.update();
    tell();
    if (milliseconds - plotted > PLOTS_EVERY) {
      plotted = milliseconds;
      plots.update(source.shown);
      footfalls?.update(source.shown);
      ledger.update(source.shown, source.now);
      numbers.update(source);
      modes?.update();
    }
    requestAnimationFrame(frame);
  }
  requestAnimationFrame(frame);
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) source.play(timeline.speed);
  document.body.dataset.ready = "yes";
  // For the console, and for tests.
  Object.assign(globalThis, { footfall: { page, source, live, scene, timeline, opened: performance.now(), toToml: () => toToml(page, values) } });
}

/** How the recorded runs ended. */
function endings({ name, replay, ghost }: Page): string {
  return ghost ? `${name}: ${replay!.sentence} ${ghost.name}: ${ghost.replay.sentence}` : (replay?.sentence ?? "");
}

function outcomeOf(page: Page, live: LiveSource): string {
  if (!live.now.outcome || live.shown < live.history.length - 1) return "";
  const { name, meaning, event } = page.outcomes[String(live.now.outcome)];
  return `${words(name)} at t = ${shown(live.history.end, 6)} s${event ? ` (event "${event}")` : ""}: ${meaning}.`;
}

/** Halve or double the step: for who doubts the books. */
function steps(live: LiveSource): void {
  const box = find("steps");
  const said = make("b", {});
  const show = (): void => void (said.textContent = `${shown((1e3 * (live.state?.step ?? 0)) , 4)} ms`);
  const button = (text: string, label: string, change: () => void): HTMLElement => {
    const made = make("button", { type: "button", title: label, aria: { label } }, text);
    made.addEventListener("click", () => {
      change();
      live.start();
      setTimeout(show, 100);
    });
    return made;
  };
  show();
  box.append(
    make("span", {}, "step"),
    button("½", "halve the step and begin anew", () => (live.refined = Math.min(64, live.refined * 2))),
    said,
    button("2", "double the step again and begin anew", () => (live.refined = Math.max(1, live.refined / 2))),
  );
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", { value: text });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

interface Keyed {
  timeline: Timeline;
  restart: () => void;
  scene: SceneView;
  follow: HTMLInputElement;
  forces: HTMLInputElement;
  push: (sign: number) => void;
}

function keys({ timeline, restart, scene, follow, forces, push }: Keyed): void {
  const deeds: Record<string, () => void> = {
    " ": () => timeline.toggle(),
    r: restart,
    ",": () => timeline.stepRow(-1),
    ".": () => timeline.stepRow(1),
    "[": () => timeline.nudge(-1),
    "]": () => timeline.nudge(1),
    ArrowLeft: () => scene.orbit(-0.12, 0),
    ArrowRight: () => scene.orbit(0.12, 0),
    ArrowUp: () => scene.orbit(0, 0.08),
    ArrowDown: () => scene.orbit(0, -0.08),
    "+": () => scene.orbit(0, 0, 0.87),
    "-": () => scene.orbit(0, 0, 1.15),
    h: () => scene.home(),
    f: () => follow.click(),
    v: () => forces.click(),
    j: () => push(-1),
    l: () => push(1),
    "?": () => find<HTMLDialogElement>("keys").showModal(),
  };
  addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const typing = target.matches("input:not([type=checkbox]), select, textarea");
    const pressing = event.key === " " && target.matches("button, summary, [type=checkbox]");
    if (typing || pressing || event.ctrlKey || event.metaKey || event.altKey) return;
    const deed = deeds[event.key];
    if (!deed) return;
    event.preventDefault();
    deed();
  });
  find("help").addEventListener("click", () => find<HTMLDialogElement>("keys").showModal());
}

setTheme(null);
open(JSON.parse(find("page").textContent!) as Page).catch((error: unknown) => {
  find("outcome").hidden = false;
  find("sentence").textContent = `This page cannot be shown: ${error instanceof Error ? error.message : error}`;
  document.body.dataset.ready = "failed";
  console.error(error);
});
