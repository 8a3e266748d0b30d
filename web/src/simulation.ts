// A robot in its kernel: started from the parameters, advanced by steps, seen as rows. No DOM: it runs in a worker and in Node.

import { member } from "./history";
import { open, type Kernel, type Numbers } from "./kernel";
import { movingValues, type Page, type Place } from "./page";
import { Pusher, type Grip, type Vector } from "./push";
import { Section } from "./section";

/** What pushes from outside did, among the works of the ledger. */
export const PUSHED = "work.push";
/** A pull is a kick every so often [s]: its impulse is that of the force since the last. */
const PULL_EVERY = 1e-3;
/** What has this many times the mass of the lightest body is held by the ground, but for rounding. */
const HEAVIEST = 1e9;
/** Standard gravity [m/s2]: a pull over its reach is the weight of what is pulled. */
const GRAVITY = 9.80665;

/** Where the robot was at a footfall. */
export interface Mark {
  t: number;
  distance: number;
  work: number;
  steps: number;
}

/** Over whole footsteps since `since`, as a sweep takes them; null where there are none yet. */
export interface Metrics {
  mean_speed: number;
  step_time: number;
  step_length: number;
  cost_of_transport: number;
  since: number;
}

/** Everything that is needed to go on from a moment. */
export interface Snapshot {
  steps: number;
  memory: Uint8Array;
  first: Mark | null;
  offset: number;
  through: number;
  reopen: boolean;
  values: Record<string, number>;
  pushed: number;
  kicked: number;
}

/** A sudden change of every rate, before the step of this number. */
interface Kick {
  steps: number;
  by: ArrayLike<number>;
}

/** A spring from a grip to a place: the pull of a pointer. */
interface Hold {
  grip: Grip;
  target: Vector;
  stiffness: number;
}

function blockOf(kernel: Kernel, places: Place[]): Uint8Array {
  const first = kernel.inputs[places[0].name];
  const last = kernel.inputs[places[places.length - 1].name];
  return new Uint8Array(first.buffer, first.byteOffset, last.byteOffset + last.byteLength - first.byteOffset);
}

/** Names of a place's numbers: one, or one for each leg. */
function flatNames({ name, shape }: Place): string[] {
  return shape.length ? Array.from({ length: shape[0] }, (_, leg) => `${name}.${leg}`) : [name];
}

export class Simulation {
  /** What a row holds: t, outputs, counters, books. */
  readonly columns: string[];
  /** Numbers that shapes ask for, in order. */
  readonly sketch: Float64Array;
  values: Record<string, number>;
  private factor = 1;
  private first: Mark | null = null;
  private stored = 0;
  private offset = 0;
  private through = 0;
  private reopen = false;
  private readonly pushed = new Float64Array(1);
  private kicks: Kick[] = [];
  private kicked = 0;
  private hold: Hold | null = null;
  /** The pull now: its force [N], and where. */
  pulled: { force: Vector; at: Vector } | null = null;
  private readonly pusher: Pusher | null;
  /** Of a page that plays a gait. */
  readonly section: Section | null;
  private readonly memory: Uint8Array;
  private readonly sources: Numbers[];
  private readonly copies: { system: boolean; from: Numbers; to: Numbers }[];
  private readonly ticks: { at: Numbers; count: number }[];

  private constructor(
    readonly page: Page,
    private readonly kernel: Kernel,
    private readonly starter: Kernel,
    private readonly ground: Kernel | null,
    push: Kernel | null,
    back: Kernel | null,
  ) {
    const { kernel: module, start } = page.live!;
    this.values = movingValues(page);
    this.memory = blockOf(kernel, module.layout.inputs);
    const seen = module.layout.outputs;
    const books = ["stores", "works", "jump_works"] as const;
    const entries = books.flatMap((kind) => page.ledger[kind].map((entry) => entry.name));
    const shown = new Set(seen.flatMap(flatNames));
    const { counters = [], contacts = [] } = page.travel ?? {};
    const discrete = [...counters, ...contacts].filter((name) => !shown.has(name)).map((name) => `m.${name}`);
    const kept = [...discrete, ...entries, "lane.through"];
    const missing = kept.find((name) => !this.book(name));
    if (missing) throw new Error(`the kernel has no input ${missing}`);
    this.pusher = push && new Pusher(kernel, push, page.rates.map(({ name }) => name));
    this.section = page.gait ? new Section(page.gait, kernel, back) : null;
    this.sources = [...seen.map(({ name }) => kernel.outputs[name]), ...kept.map((name) => this.book(name))];
    this.columns = ["t", ...seen.slice(1).flatMap(flatNames), ...kept.map((name) => name.replace(/^m\./, ""))];
    this.copies = start.layout.outputs
      .filter(({ name }) => name in kernel.inputs)
      .map(({ name }) => ({ system: name.startsWith("system."), from: starter.outputs[name], to: kernel.inputs[name] }));
    this.ticks = Object.keys(kernel.inputs)
      .filter((name) => name.startsWith("clock.tick_steps."))
      .map((name) => ({ at: kernel.inputs[name], count: kernel.inputs[name][0] }));
    this.sketch = new Float64Array(start.layout.outputs.filter(({ name }) => name.startsWith("sketch.")).length);
    this.start();
  }

  static async open(page: Page): Promise<Simulation> {
    const { kernel, start, ground, push } = page.live!;
    const maybe = (module: typeof ground): Promise<Kernel | null> => (module ? open(module) : Promise.resolve(null));
    return new Simulation(page, await open(kernel), await open(start), await maybe(ground), await maybe(push), await maybe(page.gait?.back ?? null));
  }

  get step(): number {
    return this.page.live!.step / this.factor;
  }

  get steps(): number {
    return this.kernel.inputs["steps"][0];
  }

  get time(): number {
    return this.kernel.outputs["time"][0];
  }

  /** 0 while it runs. */
  get outcome(): number {
    return this.kernel.inputs["lane.outcome"][0];
  }

  /** At rest at the start, with the parameters as they are now; steps are `refined` times shorter. */
  start(refined = this.factor): void {
    this.factor = refined;
    this.compute();
    for (const { from, to } of this.copies) to.set(from);
    this.kernel.inputs["clock.step"][0] = this.step;
    for (const { at, count } of this.ticks) at[0] = count * this.factor;
    this.kernel.inputs["steps"][0] = 0;
    this.section?.begin();
    this.kernel.advance(0);
    this.stored = this.sum("stores");
    this.first = null;
    this.offset = this.through = this.pushed[0] = 0;
    this.reopen = false;
    this.kicks = [];
    this.kicked = 0;
    this.release();
  }

  /** The parameters into the robot that runs: its start stays what it was. */
  adopt(): void {
    this.compute();
    for (const { system, from, to } of this.copies) if (system) to.set(from);
    this.kernel.advance(0);
    this.changed();
  }

  /** Begin anew on the gait, off it along a mode by so much of what the numbers change by in a step. */
  disturb(mode: number, size: number): void {
    this.start();
    this.section?.disturb(mode, size);
    this.kernel.advance(0);
    this.changed();
  }

  /** A push: so much more of a rate. */
  push(name: string, by: number): void {
    if (!this.pusher) return;
    const all = new Float64Array(this.pusher.count);
    for (const place of this.pusher.placeOf(this.page.rates.map((rate) => rate.name), name)) all[place] = by;
    this.kick(all);
  }

  /** A push: an impulse [N s] at a point. */
  strike(grip: Grip, impulse: Vector): void {
    if (this.pusher) this.kick(this.pusher.answer(grip, this.time).impulse(impulse));
  }

  /** Hold it at a point; a pull over `reach` metres is the weight of what is held. */
  grab(grip: Grip, reach: number, target: Vector): void {
    if (!this.pusher) return;
    const { mass } = this.pusher.answer(grip, this.time);
    this.hold = { grip, target, stiffness: Number.isFinite(mass) ? (mass * GRAVITY) / reach : 0 };
    this.pulled = this.pull();
  }

  /** Groups of outputs that a force moves: not a foot that stands, nor a target. */
  movable(): string[] {
    const masses = (this.page.live?.push?.layout.inputs ?? []).flatMap(({ name, shape }) => {
      if (!name.startsWith("at.")) return [];
      const group = `${name.slice(3)}${shape.length ? ".0" : ""}`;
      return [{ name: name.slice(3), mass: this.pusher!.answer({ group, point: [0, 0, 0] }, this.time).mass }];
    });
    const lightest = Math.min(...masses.map(({ mass }) => mass));
    return masses.flatMap(({ name, mass }) => (mass < HEAVIEST * lightest ? [name] : []));
  }

  /** Where the held point is pulled to. */
  pullTo(target: Vector): void {
    if (this.hold) [this.hold.target, this.pulled] = [target, this.pull()];
  }

  release(): void {
    this.hold = this.pulled = null;
  }

  /** The force of the spring now. */
  private pull(): { force: Vector; at: Vector } {
    const { grip, target, stiffness } = this.hold!;
    const at = this.placeOf(grip);
    return { at, force: at.map((from, n) => stiffness * (target[n] - from)) as Vector };
  }

  /** A point of a group of outputs, in the house frame. */
  placeOf({ group, point }: Grip): Vector {
    const columns = this.kernel.outputs;
    const [, , leg] = /^(.*?)(?:\.(\d+))?$/.exec(group)!;
    const base = leg === undefined ? group : group.slice(0, -leg.length - 1);
    const told = (name: string): number => columns[member(base, name)]?.[Number(leg ?? 0)] ?? 0;
    const turned = [...point];
    for (const [name, a, b] of [["roll", 1, 2], ["pitch", 2, 0], ["yaw", 0, 1]] as const) {
      const [c, s] = [Math.cos(told(name)), Math.sin(told(name))];
      [turned[a], turned[b]] = [c * turned[a] - s * turned[b], s * turned[a] + c * turned[b]];
    }
    return [told("x") + turned[0], told("y") + turned[1], told("z") + turned[2]];
  }

  /** Change the rates now; what was kept of later kicks is forgotten. */
  private kick(by: ArrayLike<number>): void {
    if (this.outcome !== 0) return;
    this.forget();
    this.kicks.push({ steps: this.steps, by });
    this.repeat();
  }

  /** Kicks that are due: the last one, or after going back those that were made here before. */
  private repeat(): void {
    while (this.kicked < this.kicks.length && this.kicks[this.kicked].steps <= this.steps) {
      const { work, through } = this.pusher!.kick(this.kicks[this.kicked++].by, this.time);
      this.pushed[0] += work;
      this.kernel.inputs["lane.through"][0] += through;
      this.kernel.advance(0);
      this.anew();
    }
  }

  /** What was pushed later than now is forgotten: it goes on otherwise. */
  forget(): void {
    this.kicks.length = this.kicked;
  }

  /** What came from outside is no part of the books, and metrics begin anew. */
  private changed(): void {
    this.reopen = true;
    this.anew();
  }

  private anew(): void {
    this.first = this.steps > 0 ? this.mark() : null;
  }

  private compute(): void {
    const { inputs, outputs } = this.starter;
    for (const [key, value] of Object.entries(this.values)) inputs[key][0] = value;
    inputs["clock.step"][0] = this.step;
    this.starter.advance(0);
    for (let n = 0; n < this.sketch.length; n++) this.sketch[n] = outputs[`sketch.${n}`][0];
  }

  /** By so many steps; it stays where it is once it has ended. */
  advance(count: number): void {
    const settle = Math.round(this.page.settle / this.step);
    while (count > 0) {
      const here = this.steps;
      const every = Math.max(1, Math.round(PULL_EVERY / this.step));
      this.repeat();
      if (this.hold && this.outcome === 0 && here % every === 0) {
        this.pulled = this.pull();
        this.strike(this.hold.grip, this.pulled.force.map((force) => force * every * this.step) as Vector);
      }
      // Where metrics begin, and where it is pushed, the march pauses: a call more or less changes no bit.
      const stops = [settle - here, (this.kicks[this.kicked]?.steps ?? 0) - here, this.hold ? every - (here % every) : 0, this.section?.seen ? 1 : 0];
      const now = Math.min(count, ...stops.filter((left) => left > 0));
      this.kernel.advance(now);
      count -= now;
      if (here + now === settle) this.first = this.mark();
      if (this.section?.seen) this.section.look(this.time);
    }
    if (this.reopen) {
      this.reopen = false;
      this.offset = this.balance();
      this.through = this.kernel.inputs["lane.through"][0];
    }
  }

  row(): Float64Array {
    const row = new Float64Array(this.columns.length);
    let n = 0;
    for (const numbers of this.sources) for (const value of numbers) row[n++] = value;
    return row;
  }

  /** A number of the books. */
  private book(name: string): Numbers {
    return name === PUSHED ? this.pushed : this.kernel.inputs[name];
  }

  private sum(kind: "stores" | "works" | "jump_works"): number {
    return this.page.ledger[kind].reduce((total, { name }) => total + this.book(name)[0], 0);
  }

  private balance(): number {
    return this.sum("stores") - this.stored - this.sum("works") - this.sum("jump_works");
  }

  /** What the books do not account for, since the last change from outside: joules, and as a share of the throughput. */
  residual(): { energy: number; share: number } {
    const energy = this.reopen ? 0 : this.balance() - this.offset;
    const through = this.kernel.inputs["lane.through"][0] - this.through;
    const measure = Math.max(through, 1e-9 * Math.abs(this.stored));
    return { energy, share: measure > 0 ? Math.abs(energy) / measure : Math.abs(energy) };
  }

  private last(): Mark | null {
    const inputs = this.kernel.inputs;
    if (!("lane.last.t" in inputs) || inputs["lane.last.steps"][0] < 0) return null;
    return {
      t: inputs["lane.last.t"][0],
      distance: inputs["lane.last.distance"][0],
      work: inputs["lane.last.work"][0],
      steps: inputs["lane.last.steps"][0],
    };
  }

  /** The last footfall; before the first, the place itself, from which no footsteps count. */
  private mark(): Mark | null {
    const travel = this.page.travel;
    if (!travel) return null;
    return this.last() ?? { t: this.time, distance: this.seen(travel.distance), work: NaN, steps: NaN };
  }

  private seen(name: string): number {
    return this.kernel.outputs[name][0];
  }

  metrics(): Metrics | null {
    const travel = this.page.travel;
    const last = this.last();
    const first = this.first;
    if (!travel || !first || !last || !(last.t > first.t) || this.outcome !== 0) return null;
    const time = last.t - first.t;
    const distance = last.distance - first.distance;
    const steps = (last.steps - first.steps) / travel.counters.length;
    return {
      mean_speed: distance / time,
      step_time: time / steps,
      step_length: distance / steps,
      cost_of_transport: (last.work - first.work) / (travel.weight * Math.abs(distance)),
      since: first.t,
    };
  }

  snapshot(): Snapshot {
    const { steps, first, offset, through, reopen, kicked } = this;
    const [pushed, values] = [this.pushed[0], { ...this.values }];
    return { steps, memory: this.memory.slice(), first, offset, through, reopen, values, pushed, kicked };
  }

  restore(kept: Snapshot): void {
    this.memory.set(kept.memory);
    [this.first, this.offset, this.through, this.reopen] = [kept.first, kept.offset, kept.through, kept.reopen];
    [this.pushed[0], this.kicked] = [kept.pushed, kept.kicked];
    this.kernel.advance(0);
  }

  /** Height of the ground at each x, of the robot that runs; null where the page has points instead. */
  heights(xs: ArrayLike<number>): Float64Array | null {
    if (!this.ground) return null;
    const { inputs, outputs } = this.ground;
    for (const [name, value] of Object.entries(inputs)) if (name !== "x") value.set(this.kernel.inputs[name]);
    return Float64Array.from(xs, (x) => {
      inputs["x"][0] = x;
      this.ground!.advance(0);
      return outputs["z"][0];
    });
  }
}
