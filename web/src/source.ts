// Where rows come from: the simulation in its worker, or a recorded run. The rest of the page does not ask which.

import workerCode from "worker:./worker.ts";
import { History } from "./history";
import { bytesOf, movingValues, type Page, type Replay } from "./page";
import type { Grip, Vector } from "./push";
import type { Metrics } from "./simulation";
import type { Order, Report, State } from "./worker";

export interface Now {
  playing: boolean;
  /** Simulated seconds per second, measured. */
  pace: number;
  outcome: number;
  residual: { energy: number; share: number } | null;
  metrics: Metrics | null;
  /** How a pointer pulls it. */
  pulled?: { force: Vector; at: Vector } | null;
  sizes?: number[][] | null;
}

export interface Source {
  readonly history: History;
  /** Of another run that is seen beside this one. */
  readonly ghost: History | null;
  /** The moment that is shown [s]. */
  readonly time: number;
  /** The last moment there is [s]. */
  readonly end: number;
  /** Which row is shown. */
  shown: number;
  now: Now;
  play(speed: number): void;
  pause(): void;
  /** Show the moment t. */
  seek(t: number): void;
  heights(xs: Float64Array): Promise<Float64Array | null>;
  /** Called for each frame, before it is drawn. */
  frame(milliseconds: number): void;
  /** When there are new rows, when it began anew (fresh), when it has ended. */
  onChange: (what: { fresh: boolean; sketch: Float64Array | null }) => void;
}

/** The robot simulated here and now. */
export class LiveSource implements Source {
  history = new History(["t"]);
  readonly ghost = null;
  shown = 0;
  now: Now = { playing: false, pace: 0, outcome: 0, residual: null, metrics: null };
  onChange: Source["onChange"] = () => {};
  state: State | null = null;
  /** Numbers that shapes ask for. */
  sketch: Float64Array = new Float64Array();
  values: Record<string, number>;
  refined = 1;
  /** Groups of outputs that a force moves. */
  movable: string[] = [];
  private readonly worker: Worker;
  private readonly asked = new Map<number, (heights: Float64Array | null) => void>();
  private arrived: (() => void) | null = null;
  private scrubbed = false;

  private constructor(page: Page, values: Record<string, number>) {
    this.values = { ...movingValues(page), ...values };
    this.worker = new Worker(URL.createObjectURL(new Blob([workerCode], { type: "text/javascript" })));
  }

  static open(page: Page, values: Record<string, number>): Promise<LiveSource> {
    const source = new LiveSource(page, values);
    return new Promise((resolve, reject) => {
      source.worker.onerror = (event) => reject(new Error(event.message));
      source.worker.onmessage = ({ data }: MessageEvent<Report>) => {
        if (data.kind === "failed") reject(new Error(data.why));
        if (data.kind === "ready") [source.history, source.movable] = [new History(data.columns), data.movable];
        if (data.kind !== "rows") return;
        source.worker.onmessage = ({ data }: MessageEvent<Report>) => source.hear(data);
        source.hear(data);
        resolve(source);
      };
      source.order({ do: "open", page, values: source.values });
    });
  }

  get time(): number {
    return this.history.time(this.shown);
  }

  get end(): number {
    return this.history.end;
  }

  private order(order: Order): void {
    this.worker.postMessage(order);
  }

  private hear(report: Report): void {
    if (report.kind === "failed") throw new Error(report.why);
    if (report.kind === "ground") {
      this.asked.get(report.id)?.(report.heights);
      this.asked.delete(report.id);
    }
    if (report.kind !== "rows") return;
    const { rows, fresh, sketch, state } = report;
    if (fresh) this.history.clear();
    const width = this.history.columns.length;
    for (let n = 0; n < rows.length; n += width) this.history.push(rows.slice(n, n + width));
    this.state = this.now = state;
    if (sketch) this.sketch = sketch;
    if (!this.scrubbed) this.shown = this.history.length - 1;
    this.onChange({ fresh, sketch });
    if (report.done) {
      this.arrived?.();
      this.arrived = null;
    }
  }

  /** Go on from the moment that is shown. */
  private resume(): void {
    if (!this.scrubbed) return;
    this.scrubbed = false;
    if (this.shown >= this.history.length - 1) return;
    this.history.cut(this.shown);
    this.order({ do: "rewind", t: this.history.end });
  }

  play(speed: number): void {
    this.resume();
    this.order({ do: "play", speed });
  }

  pause(): void {
    this.order({ do: "pause" });
  }

  seek(t: number): void {
    this.pause();
    this.shown = this.history.rowAt(t);
    this.scrubbed = true;
  }

  /** As fast as it goes, up to t. */
  runTo(t: number): Promise<void> {
    this.resume();
    this.order({ do: "run_to", t });
    return new Promise((resolve) => (this.arrived = resolve));
  }

  start(): void {
    this.scrubbed = false;
    this.order({ do: "start", values: this.values, refined: this.refined });
  }

  /** A slider moved: what runs changes at once; what has not begun begins with it. */
  adopt(): void {
    if (this.history.end === 0 && !this.now.playing) this.start();
    else this.order({ do: "adopt", values: this.values });
  }

  push(name: string, by: number): void {
    this.resume();
    this.order({ do: "push", name, by });
  }

  /** Begin anew on the gait, off it along a mode. */
  disturb(mode: number, size: number): void {
    this.scrubbed = false;
    this.order({ do: "disturb", mode, size, values: this.values });
  }

  strike(grip: Grip, impulse: Vector): void {
    this.resume();
    this.order({ do: "strike", grip, impulse });
  }

  grab(grip: Grip, reach: number, target: Vector): void {
    this.resume();
    this.order({ do: "grab", grip, reach, target });
  }

  pullTo(target: Vector): void {
    this.order({ do: "pull", target });
  }

  release(): void {
    this.order({ do: "release" });
  }

  heights(xs: Float64Array): Promise<Float64Array | null> {
    const id = this.asked.size ? Math.max(...this.asked.keys()) + 1 : 0;
    this.order({ do: "ground", xs, id });
    return new Promise((resolve) => this.asked.set(id, resolve));
  }

  frame(): void {}
}

/** A recorded run. */
export class ReplaySource implements Source {
  shown = 0;
  now: Now = { playing: false, pace: 0, outcome: 0, residual: null, metrics: null };
  onChange: Source["onChange"] = () => {};
  time = 0;
  private last = 0;
  private speed = 1;

  private constructor(
    readonly history: History,
    readonly ghost: History | null,
  ) {
    this.time = history.begin;
  }

  static async open(page: Page): Promise<ReplaySource> {
    return new ReplaySource(await read(page.replay!), page.ghost ? await read(page.ghost.replay) : null);
  }

  /** Of the longer of the two. */
  get end(): number {
    const { begin, end } = this.history;
    return Math.max(end, this.ghost ? begin + this.ghost.end - this.ghost.begin : end);
  }

  play(speed: number): void {
    if (this.time >= this.end) this.time = this.history.begin;
    [this.speed, this.last] = [speed, performance.now()];
    this.now = { ...this.now, playing: true, pace: speed };
  }

  pause(): void {
    this.now = { ...this.now, playing: false };
  }

  seek(t: number): void {
    this.pause();
    this.time = Math.min(Math.max(t, this.history.begin), this.end);
    this.shown = this.history.rowAt(this.time);
  }

  frame(milliseconds: number): void {
    if (!this.now.playing) return;
    this.time += (this.speed * (milliseconds - this.last)) / 1000;
    this.last = milliseconds;
    if (this.time >= this.end) {
      this.time = this.end;
      this.pause();
    }
    this.shown = this.history.rowAt(this.time);
    this.onChange({ fresh: false, sketch: null });
  }

  heights(): Promise<null> {
    return Promise.resolve(null);
  }
}

/** The rows of a recorded run. */
async function read({ columns, rows, data }: Replay): Promise<History> {
  const stream = new Blob([bytesOf(data)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const numbers = new Float32Array(await new Response(stream).arrayBuffer());
  const history = new History(columns);
  for (let n = 0; n < rows; n++) history.push(Float64Array.from(columns, (_, c) => numbers[c * rows + n]));
  return history;
}
