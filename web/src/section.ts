// A gait at its section: how far the robot is off the cycle just after each event, mode by mode. No DOM.

import type { Kernel, Numbers } from "./kernel";
import type { Gait } from "./page";

/** Events that are kept. */
const MOST = 60;

export class Section {
  /** Of each event since the start, how large each mode was; the first is the start itself. */
  readonly sizes: number[][] = [];
  private readonly copies: [from: Numbers, to: Numbers][];
  private events = 0;
  private jumps = 0;

  constructor(
    private readonly gait: Gait,
    private readonly robot: Kernel,
    private readonly back: Kernel | null,
  ) {
    const shared = Object.keys(back?.inputs ?? {}).filter((name) => name in robot.inputs);
    this.copies = shared.map((name) => [robot.inputs[name], back!.inputs[name]]);
  }

  /** Whether the event can be told from others. */
  get seen(): boolean {
    return this.back !== null && this.gait.counter !== null;
  }

  private get count(): number {
    return this.gait.counter ? this.robot.inputs[this.gait.counter][0] : 0;
  }

  /** At the start: the event has just been. */
  begin(): void {
    const { inputs } = this.robot;
    this.gait.disarmed.forEach((name, n) => {
      const room = inputs[name];
      // What the event restarts counts, where it is away from zero already.
      if (n === 0 || room[0] < Number.MIN_VALUE / Number.EPSILON) room[0] = Math.min(room[0], 0);
    });
    inputs["lane.outcome"][0] = 0;
    this.sizes.length = 0;
    [this.events, this.jumps] = [this.count, inputs["lane.jumps"][0]];
    this.keep((name, leg) => inputs[name][leg]);
  }

  /** Change the numbers along a mode. */
  disturb(mode: number, size: number): void {
    const { numbers, modes } = this.gait;
    numbers.forEach(({ name, leg }, n) => (this.robot.inputs[name][leg] += size * modes[mode].by[n]));
    this.sizes.length = 0;
    this.keep((name, leg) => this.robot.inputs[name][leg]);
  }

  /** After a step that ends at `time`: was the event in it? */
  look(time: number): void {
    const { inputs } = this.robot;
    const [events, jumps] = [this.count, inputs["lane.jumps"][0]];
    const [fresh, alone] = [events !== this.events, jumps === this.jumps + 1];
    [this.events, this.jumps] = [events, jumps];
    if (!fresh || this.sizes.length >= MOST) return;
    // After another jump in the same step there is no way back along the flow.
    if (!alone) return void this.sizes.push(this.gait.modes.map(() => NaN));
    for (const [from, to] of this.copies) to.set(from);
    this.back!.inputs["t"][0] = time;
    this.back!.inputs["span"][0] = time - inputs["lane.last.t"][0];
    this.back!.advance(0);
    this.keep((name, leg) => (this.back!.outputs[name] ?? inputs[name])[leg]);
  }

  private keep(value: (name: string, leg: number) => number): void {
    const off = this.gait.numbers.map(({ name, leg, value: own }) => value(name, leg) - own);
    const part = (weights: number[]): number => weights.reduce((sum, weight, n) => sum + weight * off[n], 0);
    this.sizes.push(this.gait.modes.map(({ told: [real, imaginary] }) => Math.hypot(part(real), part(imaginary))));
  }
}
