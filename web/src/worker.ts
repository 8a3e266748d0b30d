// The simulation in a thread of its own: at real time times a speed, never behind by more than a moment.

import type { Page } from "./page";
import type { Grip, Vector } from "./push";
import { Simulation, type Metrics, type Snapshot } from "./simulation";

export type Order =
  | { do: "open"; page: Page; values: Record<string, number> }
  | { do: "play"; speed: number }
  | { do: "pause" }
  | { do: "start"; values: Record<string, number>; refined?: number }
  | { do: "adopt"; values: Record<string, number> }
  | { do: "push"; name: string; by: number }
  | { do: "strike"; grip: Grip; impulse: Vector }
  | { do: "grab"; grip: Grip; reach: number; target: Vector }
  | { do: "pull"; target: Vector }
  | { do: "release" }
  | { do: "disturb"; mode: number; size: number; values: Record<string, number> }
  | { do: "rewind"; t: number }
  | { do: "run_to"; t: number }
  | { do: "ground"; xs: Float64Array; id: number };

export interface State {
  time: number;
  step: number;
  outcome: number;
  playing: boolean;
  /** Simulated seconds per second, measured. */
  pace: number;
  residual: { energy: number; share: number };
  metrics: Metrics | null;
  pulled: { force: Vector; at: Vector } | null;
  /** Of a gait: how large each mode was at each event since the start. */
  sizes: number[][] | null;
}

export type Report =
  | { kind: "ready"; columns: string[]; movable: string[] }
  | { kind: "rows"; rows: Float64Array; fresh: boolean; sketch: Float64Array | null; state: State; done?: boolean }
  | { kind: "ground"; id: number; xs: Float64Array; heights: Float64Array | null }
  | { kind: "failed"; why: string };

const TICK = 1000 / 60; // ms
const BUDGET = 12; // ms of a tick, at most
const ROWS_PER_TICK = 40;
const FINEST_ROWS = 0.005; // s between rows at real time
const MOST_SNAPSHOTS = 500;

let simulation: Simulation;
let playing = false;
let speed = 1;
let debt = 0;
let last = 0;
let goal = Infinity;
let pace = 0;
let rows: Float64Array[] = [];
let snapshots: Snapshot[] = [];
let fresh = false;
let sketched = true;

function report(message: Report, transfer: Transferable[] = []): void {
  (self as unknown as { postMessage(m: Report, t: Transferable[]): void }).postMessage(message, transfer);
}

function send(done = false): void {
  const width = simulation.columns.length;
  const block = new Float64Array(rows.length * width);
  rows.forEach((row, n) => block.set(row, n * width));
  const sketch = sketched ? simulation.sketch.slice() : null;
  const { time, step, outcome, pulled } = simulation;
  const sizes = simulation.section?.sizes ?? null;
  const state = { time, step, outcome, playing, pace, pulled, sizes, residual: simulation.residual(), metrics: simulation.metrics() };
  report({ kind: "rows", rows: block, fresh, sketch, state, done }, [block.buffer]);
  rows = [];
  fresh = sketched = false;
}

function keep(): void {
  snapshots.push(simulation.snapshot());
  if (snapshots.length > MOST_SNAPSHOTS) snapshots = snapshots.filter((_, n) => n % 2 === 0 || n > MOST_SNAPSHOTS / 2);
}

function see(): void {
  rows.push(simulation.row());
}

function begin(): void {
  rows = [];
  snapshots = [];
  fresh = sketched = true;
  debt = 0;
  keep();
  see();
  send();
}

/** Steps between rows: some for each frame, whatever the speed. */
function stride(): number {
  const shown = goal < Infinity ? FINEST_ROWS : Math.max(Math.min(FINEST_ROWS, speed / 60), speed / 60 / ROWS_PER_TICK);
  return Math.max(1, Math.round(shown / simulation.step));
}

function tick(): void {
  if (!playing) return;
  const now = performance.now();
  const past = Math.min(now - last, 100) / 1000;
  last = now;
  const before = simulation.time;
  const hurried = goal < Infinity;
  debt = hurried ? Infinity : Math.min(debt + past * speed, 0.25 * speed);
  const each = stride();
  while (debt >= each * simulation.step && simulation.outcome === 0 && performance.now() - now < (hurried ? 4 : 1) * BUDGET) {
    const left = Math.round(goal / simulation.step) - simulation.steps;
    if (left <= 0) break;
    const count = Math.min(each - (simulation.steps % each), left);
    simulation.advance(count);
    debt -= count * simulation.step;
    see();
    const kept = snapshots[snapshots.length - 1];
    if ((simulation.steps - kept.steps) * simulation.step > Math.max(0.25, speed / 4)) keep();
  }
  pace += 0.1 * ((simulation.time - before) / Math.max(past, 1e-3) - pace);
  const arrived = hurried && simulation.steps >= Math.round(goal / simulation.step);
  if (simulation.outcome !== 0 || arrived) {
    playing = false;
    goal = Infinity;
    debt = 0;
    send(true);
    return;
  }
  send();
  setTimeout(tick, hurried ? 0 : Math.max(1, TICK - (performance.now() - now)));
}

function play(): void {
  last = performance.now();
  if (playing) return;
  playing = simulation.outcome === 0;
  pace = speed;
  tick();
}

function rewind(t: number): void {
  simulation.release();
  const wanted = Math.round(t / simulation.step);
  while (snapshots.length > 1 && snapshots[snapshots.length - 1].steps > wanted) snapshots.pop();
  const kept = snapshots[snapshots.length - 1];
  simulation.restore(kept);
  simulation.advance(Math.max(0, wanted - simulation.steps));
  simulation.forget();
  // What was moved since then holds from here on.
  if (Object.entries(simulation.values).some(([key, value]) => kept.values[key] !== value)) {
    simulation.adopt();
    keep();
  }
  debt = 0;
}

async function obey(order: Order): Promise<void> {
  switch (order.do) {
    case "open":
      simulation = await Simulation.open(order.page);
      Object.assign(simulation.values, order.values);
      simulation.start();
      report({ kind: "ready", columns: simulation.columns, movable: simulation.movable() });
      return begin();
    case "play":
      speed = order.speed;
      goal = Infinity;
      return play();
    case "run_to":
      goal = order.t;
      return simulation.outcome === 0 ? play() : send(true);
    case "pause":
      playing = false;
      goal = Infinity;
      return send();
    case "start":
      Object.assign(simulation.values, order.values);
      simulation.start(order.refined);
      return begin();
    case "adopt":
      Object.assign(simulation.values, order.values);
      simulation.adopt();
      keep();
      sketched = true;
      return send();
    case "push":
    case "strike":
      if (order.do === "push") simulation.push(order.name, order.by);
      else simulation.strike(order.grip, order.impulse);
      keep();
      see();
      return send();
    case "disturb":
      Object.assign(simulation.values, order.values);
      simulation.disturb(order.mode, order.size);
      return begin();
    case "grab":
      simulation.grab(order.grip, order.reach, order.target);
      return send();
    case "pull":
      simulation.pullTo(order.target);
      return playing ? undefined : send();
    case "release":
      simulation.release();
      return send();
    case "rewind":
      rewind(order.t);
      sketched = true;
      return send();
    case "ground": {
      const heights = simulation.heights(order.xs);
      return report({ kind: "ground", id: order.id, xs: order.xs, heights });
    }
  }
}

self.onmessage = ({ data }: MessageEvent<Order>) => {
  obey(data).catch((error: unknown) => report({ kind: "failed", why: String(error) }));
};
