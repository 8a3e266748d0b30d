// A push: what a force at a point does to the rates of the robot that runs (engines/lanes/browser_push.py). No DOM.

import type { Kernel, Numbers } from "./kernel";

/** Where a robot is held: a group of outputs ("hub", "tip.3"), and a point of it in the group's own frame. */
export interface Grip {
  group: string;
  point: [number, number, number];
}

export type Vector = [number, number, number];

const AXES = ["x", "y", "z"] as const;

/** A rate whose inertia is this share of its own, beside what others take, has none of its own. */
const MASSLESS = 1e-12;

/** How a robot answers to impulses at a point, where it is now. */
export interface Answer {
  /** Velocity of the point along each axis for each rate: dv/du. */
  jacobian: Float64Array[];
  /** What an impulse [N s] changes of each rate. */
  impulse(push: Vector): Float64Array;
  /** The least mass that the point has along an axis [kg]; infinite where nothing moves it. */
  mass: number;
}

export class Pusher {
  /** Rates, counted one for each leg. */
  readonly count: number;
  private readonly rates: Numbers[];
  private readonly along: Numbers[];
  private readonly forces: Numbers[];
  private readonly inertia: Numbers[];
  private readonly copies: [from: Numbers, to: Numbers][];
  private readonly stores: [from: Numbers, to: Numbers][];

  constructor(
    robot: Kernel,
    private readonly module: Kernel,
    names: string[],
  ) {
    const { inputs, outputs } = module;
    this.rates = names.map((name) => robot.inputs[name]);
    const bare = names.map((name) => name.replace(/^x\./, ""));
    this.along = bare.map((name) => inputs[`along.${name}`]);
    this.forces = bare.map((name) => outputs[`force.${name}`]);
    this.inertia = bare.map((name) => outputs[`inertia.${name}`]);
    this.count = this.rates.reduce((sum, rate) => sum + rate.length, 0);
    const shared = Object.keys(inputs).filter((name) => /^(system|x|m)\./.test(name) && name in robot.inputs);
    this.copies = shared.map((name) => [robot.inputs[name], inputs[name]]);
    const kept = Object.keys(outputs).filter((name) => name.startsWith("store."));
    this.stores = kept.map((name) => [outputs[name], robot.inputs[name]]);
  }

  private look(time: number): void {
    for (const [from, to] of this.copies) to.set(from);
    this.module.inputs["t"][0] = time;
  }

  /** Add to the rates; the stores follow. The work done, and by how much the stores changed in all [J]. */
  kick(by: ArrayLike<number>, time: number): { work: number; through: number } {
    this.look(time);
    this.module.advance(0);
    const before = this.stores.map(([from]) => from[0]);
    let n = 0;
    for (const rate of this.rates) for (let leg = 0; leg < rate.length; leg++) rate[leg] += by[n++];
    this.look(time);
    this.module.advance(0);
    let [work, through] = [0, 0];
    this.stores.forEach(([from, to], k) => {
      // What is kept may be older than the moment (a slider moved): it changes by what the push did.
      const change = from[0] - before[k];
      to[0] += change;
      work += change;
      through += Math.abs(change);
    });
    return { work, through: through + Math.abs(work) };
  }

  /** How it answers at a grip. */
  answer(grip: Grip, time: number): Answer {
    const { inputs } = this.module;
    this.look(time);
    for (const name of Object.keys(inputs)) if (name.startsWith("at.")) inputs[name].fill(0);
    const [, group, leg] = /^(.*?)(?:\.(\d+))?$/.exec(grip.group)!;
    inputs[`at.${group}`][Number(leg ?? 0)] = 1;
    AXES.forEach((axis, n) => (inputs[`point.${axis}`][0] = grip.point[n]));
    const mass: Float64Array[] = [];
    const jacobian: Float64Array[] = [];
    // The n-th column of the inertia and the n-th axis of the force at once.
    for (let n = 0; n < Math.max(this.count, 3); n++) {
      AXES.forEach((axis, k) => (inputs[`force.${axis}`][0] = k === n ? 1 : 0));
      spread(this.along, n);
      this.module.advance(0);
      if (n < this.count) mass.push(gathered(this.inertia, this.count));
      if (n < 3) jacobian.push(gathered(this.forces, this.count));
    }
    const solve = solver(mass);
    const impulse = (push: Vector): Float64Array =>
      solve(Float64Array.from({ length: this.count }, (_, k) => jacobian.reduce((sum, row, axis) => sum + row[k] * push[axis], 0)));
    const light = jacobian.map((row) => solve(row).reduce((sum, change, k) => sum + change * row[k], 0));
    return { jacobian, impulse, mass: 1 / Math.max(...light) };
  }

  /** Where these rates are among all. */
  placeOf(names: string[], name: string): number[] {
    const at = names.indexOf(name);
    const first = this.rates.slice(0, at).reduce((sum, rate) => sum + rate.length, 0);
    return Array.from({ length: this.rates[at].length }, (_, leg) => first + leg);
  }
}

/** One at place n, zero elsewhere. */
function spread(into: Numbers[], n: number): void {
  let first = 0;
  for (const numbers of into) {
    for (let leg = 0; leg < numbers.length; leg++) numbers[leg] = first + leg === n ? 1 : 0;
    first += numbers.length;
  }
}

function gathered(from: Numbers[], count: number): Float64Array {
  const all = new Float64Array(count);
  let n = 0;
  for (const numbers of from) for (const value of numbers) all[n++] = value;
  return all;
}

/** Solves with a symmetric matrix (Cholesky); rates without inertia stay as they are. */
function solver(matrix: Float64Array[]): (right: ArrayLike<number>) => Float64Array {
  const n = matrix.length;
  const lower = matrix.map(() => new Float64Array(n));
  const heavy: boolean[] = [];
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) {
      if (!heavy[j]) continue;
      let sum = matrix[i][j];
      for (let k = 0; k < j; k++) sum -= lower[i][k] * lower[j][k];
      lower[i][j] = sum / lower[j][j];
    }
    const left = lower[i].reduce((sum, value) => sum - value * value, matrix[i][i]);
    heavy.push(left > MASSLESS * matrix[i][i]);
    lower[i][i] = heavy[i] ? Math.sqrt(left) : 0;
  }
  return (right) => {
    const x = Float64Array.from(right);
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < i; k++) x[i] -= lower[i][k] * x[k];
      x[i] = heavy[i] ? x[i] / lower[i][i] : 0;
    }
    for (let i = n - 1; i >= 0; i--) {
      for (let k = i + 1; k < n; k++) x[i] -= lower[k][i] * x[k];
      x[i] = heavy[i] ? x[i] / lower[i][i] : 0;
    }
    return x;
  };
}
